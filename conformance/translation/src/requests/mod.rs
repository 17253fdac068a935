//! Requests of each API as questions, and back, by the page of the API.

mod form;
mod page;
mod reading;
mod values;
mod writing;

pub use reading::NO_ID;
pub use values::lower_types;

use serde_json::Value;
use spec::Api;

use super::question::{Part, Question, Reasoning, Role, Turn};
use page::Page;

impl Question {
    /// Reads the request of an API. It leaves out what it cannot read, and lists the names of members without
    /// counterpart, see [`Question::others`].
    pub fn read(api: &Api, request: &Value) -> Self {
        reading::read(Page::of(api.name), request)
    }

    /// Returns the request of an API that asks the same, except for what [`Question::unsaid`] lists.
    pub fn write(&self, api: &Api) -> Value {
        writing::write(&Page::of(api.name).write, self.clone()).0
    }

    /// Returns what [`Question::write`] leaves out or changes, as the API cannot carry it: names of members of questions,
    /// turns and parts. Those in [`Question::others`] are never written, and not listed.
    pub fn unsaid(&self, api: &Api) -> Vec<&'static str> {
        writing::write(&Page::of(api.name).write, self.clone()).1
    }
}

/// A conversation that grows.
#[derive(Debug, Default)]
struct Turns {
    list: Vec<Turn>,
}

/// Each part is in a turn of the right role, and what is empty is dropped.
impl FromIterator<Turn> for Turns {
    fn from_iter<I: IntoIterator<Item = Turn>>(all: I) -> Self {
        let mut turns = Self::default();
        for Turn { role, parts } in all {
            for part in parts {
                turns.push(role, part);
            }
        }
        turns
    }
}

impl Turns {
    fn push(&mut self, role: Role, part: Part) {
        let role = match &part {
            Part::Text(text) | Part::Refusal(text) if text.is_empty() => return,
            Part::Reasoning(reasoning) if *reasoning == Reasoning::default() => return,
            Part::Call(_) | Part::Reasoning(_) => Role::Assistant,
            Part::Result(_) => Role::User,
            _ => role,
        };
        match self.list.last_mut() {
            Some(last) if last.role == role => last.parts.push(part),
            _ => self.list.push(Turn { role, parts: vec![part] }),
        }
    }

    /// The thoughts may not be shown.
    fn seal_last(&mut self, seal: String) {
        let last = self.list.last_mut().filter(|turn| turn.role == Role::Assistant);
        match last.and_then(|turn| turn.parts.last_mut()) {
            Some(Part::Reasoning(reasoning)) if reasoning.seal.is_none() => reasoning.seal = Some(seal),
            _ => {
                let reasoning = Reasoning { seal: Some(seal), ..Reasoning::default() };
                self.push(Role::Assistant, Part::Reasoning(reasoning));
            }
        }
    }
}

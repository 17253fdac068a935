//! Requests of each API as questions, and back.

mod chat;
mod gemini;
mod members;
mod messages;
mod parts;
mod responses;

pub use gemini::NO_ID;
pub use parts::lower_types;
use serde_json::{Map, Value};
use spec::Api;

use super::question::{Part, Question, Role, Turn};

/// Number of output tokens where an API requires a limit and the question has none.
const USUAL_LIMIT: u64 = 4096;

/// Number of names in [`Question::others`], and of characters in each. A request may have any number.
const MOST_OTHERS: usize = 64;

impl Question {
    /// Reads the request of an API. It leaves out what it cannot read, and lists the names of members without
    /// counterpart, see [`Question::others`].
    pub fn read(api: &Api, request: &Value) -> Self {
        let mut reader = Reader::default();
        if let Some(request) = request.as_object() {
            match api.name {
                "messages" => messages::read(&mut reader, request),
                "chat" => chat::read(&mut reader, request),
                "gemini" => gemini::read(&mut reader, request),
                _ => responses::read(&mut reader, request),
            }
        }
        Self { turns: reader.turns.list, ..reader.question }
    }

    /// Returns the request of an API that asks the same, except for what [`Question::unsaid`] lists.
    pub fn write(&self, api: &Api) -> Value {
        Value::Object(Writer::of(self, api).body)
    }

    /// Returns what [`Question::write`] leaves out or changes, as the API cannot carry it: names of members of questions,
    /// turns and parts. Those in [`Question::others`] are never written, and not listed.
    pub fn unsaid(&self, api: &Api) -> Vec<&'static str> {
        Writer::of(self, api).unsaid
    }

    /// Each part is in a turn of the right role, and empty texts are dropped.
    fn usual_turns(&self) -> Vec<Turn> {
        let mut turns = Turns::default();
        for turn in &self.turns {
            for part in &turn.parts {
                turns.push(turn.role, part.clone());
            }
        }
        turns.list
    }
}

/// A conversation that grows.
#[derive(Debug, Default)]
struct Turns {
    list: Vec<Turn>,
}

impl Turns {
    fn push(&mut self, role: Role, part: Part) {
        let role = match part {
            Part::Text(text) | Part::Refusal(text) if text.is_empty() => return,
            Part::Call(_) | Part::Reasoning(_) => Role::Assistant,
            Part::Result(_) => Role::User,
            _ => role,
        };
        match self.list.last_mut() {
            Some(last) if last.role == role => last.parts.push(part),
            _ => self.list.push(Turn { role, parts: vec![part] }),
        }
    }
}

/// A question that is read from a request.
#[derive(Debug, Default)]
struct Reader {
    question: Question,
    turns: Turns,
}

impl Reader {
    /// Members without counterpart are noted.
    fn other(&mut self, name: &str) {
        let name: String = name.chars().take(MOST_OTHERS).collect();
        let others = &mut self.question.others;
        if others.len() < MOST_OTHERS && !others.contains(&name) {
            others.push(name);
        }
    }

    /// The member is inside of something.
    fn inner(&mut self, place: &str, name: &str) {
        self.other(&format!("{place}.{name}"));
    }

    /// Members without a meaning for the reply are not noted.
    fn rest(&mut self, name: &str, value: &Value) {
        if !members::is_silent(name, value) {
            self.other(name);
        }
    }

    fn instruct(&mut self, text: &str) {
        if !self.turns.list.is_empty() {
            self.turns.push(Role::System, Part::Text(text.to_owned()));
        } else if !text.is_empty() {
            self.question.instructions.push(text.to_owned());
        }
    }
}

/// A request that is written.
#[derive(Debug, Default)]
struct Writer {
    body: Map<String, Value>,
    unsaid: Vec<&'static str>,
}

impl Writer {
    fn of(question: &Question, api: &Api) -> Self {
        let mut writer = Self::default();
        match api.name {
            "messages" => messages::write(&mut writer, question),
            "chat" => chat::write(&mut writer, question),
            "gemini" => gemini::write(&mut writer, question),
            _ => responses::write(&mut writer, question),
        }
        writer
    }

    fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.body.insert(name.to_owned(), value.into());
    }

    fn set_some(&mut self, name: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.set(name, value);
        }
    }

    /// The API cannot carry the member.
    fn lose(&mut self, name: &'static str) {
        if !self.unsaid.contains(&name) {
            self.unsaid.push(name);
        }
    }

    /// Noted only if the member is there.
    fn lose_if(&mut self, is_there: bool, name: &'static str) {
        if is_there {
            self.lose(name);
        }
    }
}

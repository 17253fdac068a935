//! The questions of a test: the page's, and questions that continue its answers.

use serde_json::Value;
use translation::{Output, Part, Question, Reply, Role, Turn};

use crate::evidence::{Exchanged, Test};

/// The questions of a client, one for each turn.
pub(crate) struct Questions<'t> {
    test: &'t Test,
    question: Question,
}

/// Some clients continue an answer.
pub(crate) const fn has_turns(test: &Test) -> bool {
    test.case.answers.len() > 1
}

impl<'t> Questions<'t> {
    pub(crate) fn new(test: &'t Test, mark: &str) -> Self {
        let json = test.case.question.replace("{mark}", mark);
        // A test reads all pages.
        let question: Question = serde_json::from_str(&json).unwrap_or_default();
        let question = Question { model: test.model.clone(), is_stream: !test.case.is_whole, ..question };
        Self { test, question }
    }

    pub(crate) fn body(&self) -> String {
        let body: Value = self.question.write(self.test.front.api);
        body.to_string()
    }

    /// The results of the calls are sent. False if there is no answer to continue.
    pub(crate) fn go_on(&mut self, before: &Exchanged, turn: usize) -> bool {
        let Some(response) = &before.response else { return false };
        let content_type = response.header("content-type");
        let reply = Reply::read(self.test.front, content_type, response.status, &response.body());
        if reply.parts.is_empty() {
            return false;
        }
        let output = self.test.case.results.get(turn - 1).copied().unwrap_or("Nothing.");
        self.question.turns.extend(continued(reply.parts, output));
        true
    }
}

/// An answer, and the results of its calls; without any, the next text of the user.
pub(crate) fn continued(answer: Vec<Part>, output: &str) -> [Turn; 2] {
    let results = answer.iter().filter_map(|part| match part {
        Part::Call(call) => {
            Some(Part::Result(Output { id: call.id.clone(), text: output.to_owned(), is_error: false }))
        }
        _ => None,
    });
    let mut next: Vec<Part> = results.collect();
    if next.is_empty() {
        next.push(Part::Text(output.to_owned()));
    }
    [Turn { role: Role::Assistant, parts: answer }, Turn { role: Role::User, parts: next }]
}

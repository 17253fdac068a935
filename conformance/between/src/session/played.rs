//! A session that the suite plays as an agent: each request is built from the answers that came back.

use catalogue::{AgentProfile, SessionCase};
use serde_json::Value;
use translation::{Part, Question, Reply, Role, Turn};

use super::RecordedRequest;
use super::asking::{Asking, Said, text_of};
use crate::content::COMPACTION;
use crate::evidence::{Exchanged, Response, Test};
use crate::question::continued;

/// Agents that share a session: the main one, and a helper.
pub(crate) struct PlayedSession<'t> {
    test: &'t Test,
    case: &'static SessionCase,
    asking: Asking,
    histories: [History; 2],
    is_refused: bool,
}

/// The memory of an agent: the first text of the user, and the turns after it.
#[derive(Debug, Clone, Default)]
struct History {
    first: String,
    /// The item that stands for the history before it.
    compaction: Option<Value>,
    turns: Vec<Turn>,
    /// The phases of its messages of the model.
    phases: Vec<Option<String>>,
}

impl<'t> PlayedSession<'t> {
    pub(crate) fn new(test: &'t Test, case: &'static SessionCase, profile: &'static AgentProfile) -> Self {
        let json = test.case.question.replace("{mark}", &test.mark);
        // A test reads all pages.
        let question: Question = serde_json::from_str(&json).unwrap_or_default();
        let parts = || question.turns.iter().flat_map(|turn| &turn.parts);
        let first = text_of(parts()).collect();
        let images: Vec<Part> = parts().filter(|part| matches!(part, Part::Image(_))).cloned().collect();
        let task = case.helper_task.unwrap_or_default().replace("{mark}", &test.mark);
        let mut histories = [first, task].map(|first| History { first, ..History::default() });
        if !images.is_empty() {
            histories[0].turns.push(Turn { role: Role::User, parts: images });
        }
        let asking = Asking::new(profile, test.front.api, &test.mark);
        Self { test, case, asking, histories, is_refused: false }
    }

    pub(crate) fn len(&self) -> usize {
        self.test.case.answers.len() + usize::from(self.test.fault.is_some())
    }

    fn agent_at(&self, turn: usize) -> usize {
        let answer = self.test.answer_at(turn);
        usize::from(self.case.helper.iter().any(|own| *own as usize == answer))
    }

    pub(crate) fn request(&self, turn: usize) -> RecordedRequest {
        let agent = self.agent_at(turn);
        let History { first, compaction, turns, phases } = &self.histories[agent];
        let answer = self.test.answer_at(turn);
        let has_moved = self.case.moves_at.is_some_and(|at| at as usize <= answer);
        let other = self.test.declared.other_model.as_ref().filter(|_| has_moved);
        self.asking.request(&Said {
            model: other.unwrap_or(&self.test.model),
            first,
            compaction: compaction.as_ref(),
            turns,
            phases,
            case: Some(self.case),
            then: self.case.then.as_ref().filter(|_| self.is_refused),
            is_helper: agent > 0,
            is_trigger: self.case.triggers && self.case.compacts_at.is_some_and(|at| at as usize == answer),
        })
    }

    /// After a failure, the agent asks the same again.
    pub(crate) fn go_on(&mut self, before: &Exchanged, turn: usize) {
        let (answer, agent) = (self.test.answer_at(turn), self.agent_at(turn));
        let reply = before.response.as_ref().map(|response| {
            let content_type = response.header("content-type");
            Reply::read(self.test.front, content_type, response.status, &response.body())
        });
        let is_good = |reply: &Reply| reply.error.is_none() && reply.is_ended && !reply.parts.is_empty();
        let is_compacted = self.case.compacts_at.is_some_and(|at| at as usize == answer);
        if let Some(item) = before.response.as_ref().filter(|_| is_compacted).and_then(compaction)
            && let Some(history) = self.histories.get_mut(agent)
        {
            *history = History {
                first: std::mem::take(&mut history.first),
                compaction: Some(item),
                ..History::default()
            };
            return;
        }
        let Some(reply) = reply.filter(is_good) else {
            if before.response.as_ref().is_some_and(|response| response.status >= 400) && !self.is_refused {
                self.is_refused = true;
                let says = self.case.then.as_ref().and_then(|then| then.says);
                self.says(agent, says);
            }
            return;
        };
        let Some(History { first, turns, phases: all, .. }) = self.histories.get_mut(agent) else { return };
        if is_compacted {
            *first = [std::mem::take(first), text_of(reply.parts.iter()).collect()].join("\n\n");
            turns.clear();
            all.clear();
            return;
        }
        all.extend(before.response.iter().flat_map(phases));
        let output = self.test.case.results.get(answer).copied().unwrap_or_default();
        turns.extend(continued(reply.parts, output));
        let interrupts = self.case.interjects_at.is_some_and(|at| at as usize == answer);
        self.says(agent, self.case.interjection.filter(|_| interrupts));
    }

    /// The user says more.
    fn says(&mut self, agent: usize, text: Option<&str>) {
        let last = self.histories.get_mut(agent).and_then(|history| history.turns.last_mut());
        if let (Some(turn), Some(text)) = (last, text) {
            turn.parts.push(Part::Text(text.to_owned()));
        }
    }
}

/// The item of a response that stands for the history before it.
fn compaction(response: &Response) -> Option<Value> {
    response.values().into_iter().find_map(|mut event| {
        let item = event.get_mut("item").filter(|item| item["type"] == COMPACTION)?;
        item["encrypted_content"].is_string().then(|| item.take())
    })
}

fn phases(response: &Response) -> Vec<Option<String>> {
    let events = response.values().into_iter().filter(|event| event["type"] == "response.output_item.done");
    let messages = events.map(|mut event| event["item"].take()).filter(|item| item["type"] == "message");
    messages.map(|item| item["phase"].as_str().map(str::to_owned)).collect()
}

//! A session that the suite plays as an agent: each request is built from the answers that came back.

use std::fmt::Write as _;

use catalogue::{AgentProfile, SessionCase};
use gateway::without_path;
use serde_json::{Value, json};
use translation::{Part, Question, Reply, Turn};

use super::RecordedRequest;
use crate::evidence::{Exchanged, Test};
use crate::mark::letters_of;
use crate::question::continued;

/// The word for reasoning that an agent leaves out after a refusal, among names of members.
const REASONING: &str = "reasoning";

/// Agents that share a session: the main one, and a helper.
pub(crate) struct PlayedSession<'t> {
    test: &'t Test,
    case: &'static SessionCase,
    profile: &'static AgentProfile,
    id: String,
    histories: [History; 2],
    is_refused: bool,
}

/// The memory of an agent: the first text of the user, and the turns after it.
#[derive(Debug, Clone, Default)]
struct History {
    first: String,
    turns: Vec<Turn>,
}

impl<'t> PlayedSession<'t> {
    pub(crate) fn new(test: &'t Test, case: &'static SessionCase, profile: &'static AgentProfile) -> Self {
        let json = test.case.question.replace("{mark}", &test.mark);
        // A test reads all pages.
        let question: Question = serde_json::from_str(&json).unwrap_or_default();
        let first = question.turns.iter().flat_map(|turn| text_of(&turn.parts)).collect();
        let task = case.helper_task.unwrap_or_default().replace("{mark}", &test.mark);
        let histories = [first, task].map(|first| History { first, turns: Vec::new() });
        let id = letters_of(&test.mark).bytes().fold(String::new(), |mut id, byte| {
            let _ = write!(id, "{byte:02x}");
            id
        });
        let id = format!("5e551011-0000-4000-8000-{id:0>12}");
        Self { test, case, profile, id, histories, is_refused: false }
    }

    /// The number of its requests.
    pub(crate) fn len(&self) -> usize {
        self.test.case.answers.len() + usize::from(self.test.fault.is_some())
    }

    fn agent_at(&self, turn: usize) -> usize {
        let answer = self.test.answer_at(turn);
        usize::from(self.case.helper.iter().any(|own| *own as usize == answer))
    }

    /// The request of a turn.
    pub(crate) fn request(&self, turn: usize) -> RecordedRequest {
        let (api, profile, agent) = (self.test.front.api, self.profile, self.agent_at(turn));
        let History { first, turns } = &self.histories[agent];
        let template = if agent == 0 { profile.request } else { profile.helper_request };
        let mut request: Value = serde_json::from_str(template).unwrap_or_default();
        self.complete(&mut request, first);
        let drops = |name: &str| self.is_refused && self.case.drops.contains(&name);
        let mut turns = turns.clone();
        if drops(REASONING) {
            for turn in &mut turns {
                turn.parts.retain(|part| !matches!(part, Part::Reasoning(_)));
            }
        }
        if let Some(members) = request.as_object_mut() {
            members.retain(|name, _| !drops(name));
        }
        let name = api.request.input;
        let is_first = turns.is_empty();
        let mut written: Value = Question { turns, ..Question::default() }.write(api);
        if let Some(Value::Array(all)) = request.get_mut(name) {
            if let Some(Value::Array(rest)) = written.get_mut(name).filter(|_| !is_first) {
                all.append(rest);
            }
            mark_last(all, profile.marked as usize);
        }
        let (at, body) = without_path(api, request);
        let mut headers: Vec<(String, String)> = profile
            .headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.replace("{session}", &self.id)))
            .collect();
        headers.extend(
            profile.helper.filter(|_| agent > 0).map(|name| (name.to_owned(), "helper-1".to_owned())),
        );
        let query = profile.query.map(str::to_owned);
        RecordedRequest { at, query, headers, body: body.to_string(), ..RecordedRequest::default() }
    }

    /// After a failure, the agent asks the same again.
    pub(crate) fn go_on(&mut self, before: &Exchanged, turn: usize) {
        let (answer, agent) = (self.test.answer_at(turn), self.agent_at(turn));
        let reply = before.response.as_ref().map(|response| {
            let content_type = response.header("content-type");
            Reply::read(self.test.front, content_type, response.status, &response.body())
        });
        let is_good = |reply: &Reply| reply.error.is_none() && reply.is_ended && !reply.parts.is_empty();
        let Some(reply) = reply.filter(is_good) else {
            self.is_refused |= before.response.as_ref().is_some_and(|response| response.status >= 400);
            return;
        };
        let Some(History { first, turns }) = self.histories.get_mut(agent) else { return };
        if self.case.compacts_at.is_some_and(|at| at as usize == answer) {
            *first = [std::mem::take(first), text_of(&reply.parts).collect()].join("\n\n");
            turns.clear();
            return;
        }
        let output = self.test.case.results.get(answer).copied().unwrap_or_default();
        turns.extend(continued(reply.parts, output));
    }

    fn complete(&self, value: &mut Value, first: &str) {
        match value {
            Value::String(text) => *text = self.completed(text, first),
            Value::Array(entries) => entries.iter_mut().for_each(|entry| self.complete(entry, first)),
            Value::Object(members) => {
                members.values_mut().for_each(|member| self.complete(member, first));
            }
            _ => {}
        }
    }

    fn completed(&self, text: &str, first: &str) -> String {
        let named = text.replace("{session}", &self.id).replace("{model}", &self.test.model);
        let filled = named.split_once("{fill ").and_then(|(before, rest)| {
            let (count, after) = rest.split_once('}')?;
            Some([before, &fill(count.parse().ok()?), after].concat())
        });
        filled.unwrap_or(named).replace("{first}", first)
    }
}

fn text_of(parts: &[Part]) -> impl Iterator<Item = &str> {
    parts.iter().filter_map(|part| if let Part::Text(text) = part { Some(text.as_str()) } else { None })
}

/// Texts of different lengths have different beginnings.
fn fill(count: usize) -> String {
    let mut text = String::new();
    for number in count.. {
        if text.len() >= count {
            break;
        }
        let _ = write!(text, "{number}. Read what is there, do what was asked, and say what was done. ");
    }
    text.truncate(count.saturating_sub(1));
    text + "."
}

/// Marks on the last blocks of the last messages that are not the system's.
fn mark_last(messages: &mut [Value], count: usize) {
    let own = messages.iter_mut().rev().filter(|message| message["role"] != "system");
    for message in own.take(count) {
        let block = message.get_mut("content").and_then(|content| content.as_array_mut()?.last_mut());
        if let Some(Value::Object(block)) = block {
            block.insert("cache_control".to_owned(), json!({"type": "ephemeral"}));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filler_has_its_length() {
        for count in [1, 2, 62, 7065] {
            assert_eq!(fill(count).len(), count);
        }
        assert_ne!(fill(700)[..20], fill(701)[..20]);
    }
}

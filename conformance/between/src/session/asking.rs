//! The requests of an agent, as its profile has them.

use std::fmt::Write as _;

use catalogue::{AfterRefusal, AgentProfile, SessionCase};
use gateway::without_path;
use serde_json::{Map, Value, json};
use spec::Api;
use translation::{Part, Question, Turn};

use super::RecordedRequest;
use crate::content::TRIGGER;
use crate::mark::letters_of;

/// Words for parts that an agent leaves out after a refusal, among names of members.
const REASONING: &str = "reasoning";
const IMAGES: &str = "images";
const INNER_INSTRUCTIONS: &str = "inner instructions";

/// The conversation of a session before a request.
#[derive(Default)]
pub(super) struct Said<'s> {
    pub(super) model: &'s str,
    /// The first text of the user.
    pub(super) first: &'s str,
    /// The item that stands for the history before it.
    pub(super) compaction: Option<&'s Value>,
    pub(super) turns: &'s [Turn],
    /// The phases of the messages of the model, if it has any.
    pub(super) phases: &'s [Option<String>],
    /// The case, for what it adds to the profile.
    pub(super) case: Option<&'static SessionCase>,
    /// The changes since a refusal.
    pub(super) then: Option<&'static AfterRefusal>,
    pub(super) is_helper: bool,
    pub(super) is_trigger: bool,
}

pub(super) struct Asking {
    profile: &'static AgentProfile,
    api: &'static Api,
    id: String,
}

impl Asking {
    /// The id of the session comes from a mark.
    pub(super) fn new(profile: &'static AgentProfile, api: &'static Api, mark: &str) -> Self {
        let id = letters_of(mark).bytes().fold(String::new(), |mut id, byte| {
            let _ = write!(id, "{byte:02x}");
            id
        });
        Self { profile, api, id: format!("5e551011-0000-4000-8000-{id:0>12}") }
    }

    pub(super) fn request(&self, said: &Said<'_>) -> RecordedRequest {
        let Said { model, first, compaction, turns, phases, case, then, is_helper, is_trigger } = *said;
        let drops = then.map_or(&[][..], |then| then.drops);
        let (api, profile) = (self.api, self.profile);
        let template = if is_helper { profile.helper_request } else { profile.request };
        let mut request: Value = serde_json::from_str(template).unwrap_or_default();
        self.complete(&mut request, [model, first]);
        let mut turns = turns.to_vec();
        for turn in &mut turns {
            turn.parts.retain(|part| match part {
                Part::Reasoning(_) => !drops.contains(&REASONING),
                Part::Image(_) => !drops.contains(&IMAGES),
                _ => true,
            });
        }
        turns.retain(|turn| !turn.parts.is_empty());
        if let Some(members) = request.as_object_mut() {
            members.retain(|name, _| !drops.contains(&&**name));
            members.extend(members_of(case.map_or("", |case| case.adds)));
            members.extend(members_of(then.map_or("", |then| then.members)));
        }
        let name = api.request.input;
        let is_first = turns.is_empty();
        let mut written: Value = Question { turns, ..Question::default() }.write(api);
        if profile.is_phased {
            phase(&mut written[name], phases);
        }
        if let Some(Value::Array(all)) = request.get_mut(name) {
            if drops.contains(&INNER_INSTRUCTIONS) {
                all.retain(|message| message["role"] != "system");
            }
            all.extend(compaction.cloned());
            if let Some(Value::Array(rest)) = written.get_mut(name).filter(|_| !is_first) {
                all.append(rest);
            }
            mark_last(all, profile.marked as usize);
            if is_trigger {
                all.push(json!({"type": TRIGGER}));
            }
        }
        let (at, body) = without_path(api, request);
        let mut headers: Vec<(String, String)> = profile
            .headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), without(drops, &value.replace("{session}", &self.id))))
            .collect();
        for (name, value) in case.map_or(&[][..], |case| case.adds_headers) {
            match headers.iter_mut().find(|(known, _)| known == name) {
                Some((_, list)) => *list = [&**list, value].join(","),
                None => headers.push(((*name).to_owned(), (*value).to_owned())),
            }
        }
        headers.extend(
            profile.helper.filter(|_| is_helper).map(|name| (name.to_owned(), "helper-1".to_owned())),
        );
        let query = profile.query.map(str::to_owned);
        RecordedRequest { at, query, headers, body: body.to_string(), ..RecordedRequest::default() }
    }

    fn complete(&self, value: &mut Value, said: [&str; 2]) {
        match value {
            Value::String(text) => *text = self.completed(text, said),
            Value::Array(entries) => entries.iter_mut().for_each(|entry| self.complete(entry, said)),
            Value::Object(members) => {
                members.values_mut().for_each(|member| self.complete(member, said));
            }
            _ => {}
        }
    }

    fn completed(&self, text: &str, [model, first]: [&str; 2]) -> String {
        let filled = text.split_once("{fill ").and_then(|(before, rest)| {
            let (count, after) = rest.split_once('}')?;
            Some([before, &fill(count.parse().ok()?), after].concat())
        });
        let filled = filled.unwrap_or_else(|| text.to_owned());
        filled.replace("{session}", &self.id).replace("{model}", model).replace("{first}", first)
    }
}

/// The model's messages have their phases, as they came.
fn phase(entries: &mut Value, phases: &[Option<String>]) {
    let own = entries.as_array_mut().into_iter().flatten().filter(|entry| entry["role"] == "assistant");
    for (entry, phase) in own.zip(phases) {
        if let Some(phase) = phase {
            entry["phase"] = json!(phase);
        }
    }
}

/// A list in a header without some of its values.
fn without(drops: &[&str], list: &str) -> String {
    let kept: Vec<&str> = list.split(',').filter(|value| !drops.contains(&value.trim())).collect();
    kept.join(",")
}

fn members_of(json: &str) -> Map<String, Value> {
    serde_json::from_str(json).unwrap_or_default()
}

pub(super) fn text_of<'p>(parts: impl Iterator<Item = &'p Part>) -> impl Iterator<Item = &'p str> {
    parts.filter_map(|part| if let Part::Text(text) = part { Some(text.as_str()) } else { None })
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

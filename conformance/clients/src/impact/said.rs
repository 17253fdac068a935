//! The content of a response when it is read leniently, and a response that keeps the rules and has the same content.

use std::collections::BTreeMap;

use catalogue::Level;
use checker::{Answer, Checker, ToolCall};
use gateway::{Act, End};
use memchr::memmem;
use recordings::goldens::{GOLDENS, Golden};
use serde_json::{Value, json};
use spec::Dialect;
use translation::{Part, Question, Reply, Tool, Translator};

use crate::cases::case::without_stream;
use crate::cases::played::Played;

/// Creation time of mended responses.
const NOW: u64 = 1_785_000_000;
/// Maximum number of tools that a request offers.
const TOOLS: usize = 32;

pub(super) struct Said {
    pub(super) dialect: &'static Dialect,
    /// The readings of its content: of its deltas, and of its last event. They differ where it contradicts itself.
    pub(super) readings: Vec<Answer>,
    /// Whether it is a body, and not a stream.
    pub(super) is_body: bool,
    pub(super) is_cut: bool,
    pub(super) has_error: bool,
    reply: Reply,
    body: Vec<u8>,
}

impl Said {
    pub(super) fn of(act: &Act, dialect: &'static Dialect) -> Self {
        let body = act.body();
        let is_body = !is_stream(act, &body);
        let played = if is_body { Played::body(&body, dialect) } else { Played::stream(&body, dialect) };
        let mut reply = if is_body {
            Reply::of_body(dialect, act.status, &body)
        } else {
            Reply::of_stream(dialect, &body)
        };
        if !is_body {
            complete(&mut reply, &played);
        }
        let mut readings = vec![Answer::from(reply.clone())];
        if !is_body && weight(played.content()) > weight(&readings[0]) {
            readings = vec![played.content().clone()];
        }
        // Some clients count input from a cache, too, and others do not.
        let tokens = if is_body { None } else { played.content().tokens };
        let counted = Answer { tokens, ..readings[0].clone() };
        readings.extend(tokens.map(|_| counted));
        // Where no event repeats the response, there is but one reading.
        readings.extend(played.last().filter(|_| is_body || !dialect.api.list.is_empty()).cloned());
        readings.dedup();
        let says_end = played.is_at_end() || reply.is_ended || reply.word.is_some();
        let has_failed = |answer: &Answer| answer.status.as_deref() == Some(dialect.api.status.failed);
        Self {
            dialect,
            is_body,
            is_cut: act.end != End::Whole || !is_body && !says_end,
            has_error: act.status >= 400 || reply.error.is_some() || played.last().is_some_and(has_failed),
            readings,
            reply,
            body,
        }
    }

    pub(super) fn has_id(&self, id: &str) -> bool {
        let has = |text: &str| memmem::find(&self.body, text.as_bytes()).is_some();
        match id {
            // Other strings are empty, too.
            "" => has("id\":\"\"") || has("id\": \"\""),
            id => has(&Value::from(id).to_string()),
        }
    }

    pub(super) fn request(&self) -> Value {
        let api = self.dialect.api;
        let mut request = gateway::request("Say it.", api);
        if let Some(model) = usual_model(self.dialect) {
            request["model"] = model;
        }
        let asked = self.question().write(api);
        for name in ["tools", "reasoning", "generationConfig"] {
            if let Some(value) = asked.get(name) {
                request[name] = value.clone();
            }
        }
        if asked.get("thinking").is_some() {
            // Models of today refuse a budget.
            request["thinking"] = json!({"type": "adaptive"});
        }
        without_stream(request)
    }

    /// Asks for reasoning if there is some, with the tools that are called.
    fn question(&self) -> Question {
        let mut question = Question { model: "default".to_owned(), is_stream: true, ..Question::default() };
        for answer in &self.readings {
            for ToolCall { name, .. } in &answer.calls {
                let is_known = question.tools.iter().any(|tool| tool.name == *name);
                if !is_known && !name.is_empty() && question.tools.len() < TOOLS {
                    let parameters =
                        json!({"type": "object", "properties": {}, "additionalProperties": true});
                    let description = Some("A tool of the application.".to_owned());
                    question.tools.push(Tool { name: name.clone(), description, parameters });
                }
            }
            if !answer.reasoning.is_empty() {
                question.effort = Some("low".to_owned());
            }
        }
        question
    }

    /// A stream that keeps the rules and has the same content, as far as it goes.
    pub(super) fn mended(&self) -> Act {
        let reply = Reply { error: None, is_ended: true, ..self.reply.clone() };
        let question = self.question();
        let request = question.write(self.dialect.api);
        let mut translator = Translator::new(self.dialect, self.dialect, &question, &request, NOW);
        if self.is_body {
            return Act::new(200, "application/json", translator.reply(&reply).to_string());
        }
        Act::new(200, "text/event-stream", translator.write(reply.deltas()))
    }

    /// If a mended response still breaks the rule, the content itself is the damage.
    pub(super) fn is_still_broken(&self, mended: &Act, rules: &[String]) -> bool {
        if self.is_body {
            return false;
        }
        let mut checker = Checker::new(self.dialect);
        checker.push(&mended.body());
        checker.finish();
        let must = checker.findings().iter().filter(|finding| finding.level == Level::Must);
        must.into_iter().any(|finding| rules.iter().any(|rule| *rule == finding.rule))
    }
}

/// Clients know this model, and its abilities.
fn usual_model(dialect: &Dialect) -> Option<Value> {
    let of_api = |golden: &&Golden| {
        spec::dialect(golden.dialect).is_some_and(|known| known.api.name == dialect.api.name)
    };
    let request = |golden: &Golden| catalogue::request(&format!("{}/{}", golden.dialect, golden.name));
    let request: Value = serde_json::from_str(GOLDENS.iter().filter(of_api).find_map(request)?).ok()?;
    request.get("model").cloned()
}

/// The other reader may read what one cannot.
fn weight(answer: &Answer) -> usize {
    let calls = answer.calls.iter().map(|call| call.id.len() + call.name.len() + call.arguments.len());
    answer.text().len() + answer.refusal.len() + answer.reasoning.len() + calls.sum::<usize>()
}

/// Most clients join names that come in pieces. Another reader may have found the arguments.
fn complete(reply: &mut Reply, played: &Played) {
    let mut names: BTreeMap<String, (Option<String>, String)> = BTreeMap::new();
    for (_, event) in played.events() {
        let calls = event.pointer("/choices/0/delta/tool_calls").and_then(Value::as_array);
        for call in calls.into_iter().flatten() {
            let index = call.get("index").map(Value::to_string).unwrap_or_default();
            let (id, name) = names.entry(index).or_default();
            let told = call.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
            let piece = call.pointer("/function/name").and_then(Value::as_str).unwrap_or_default();
            // Some vendors repeat the id, and some the whole name.
            if id.is_some() && (told.is_some() || piece == name) {
                continue;
            }
            *id = id.take().or_else(|| told.map(str::to_owned));
            *name += piece;
        }
    }
    let read = &played.content().calls;
    for part in &mut reply.parts {
        let Part::Call(call) = part else { continue };
        if let Some((_, whole)) = names.values().find(|(id, _)| id.as_ref() == Some(&call.id)) {
            call.name.clone_from(whole);
        }
        let same = read.iter().find(|same| same.id == call.id);
        if let Some(same) = same.filter(|same| same.arguments.len() > call.arguments.len()) {
            call.arguments.clone_from(&same.arguments);
        }
    }
}

/// The content type may be wrong.
fn is_stream(act: &Act, body: &[u8]) -> bool {
    let first = body.trim_ascii_start().first();
    let is_named = act.headers.iter().any(|(name, value)| {
        name.eq_ignore_ascii_case("content-type") && value.trim_start().starts_with("text/event-stream")
    });
    is_named || act.status < 400 && first.is_some_and(|first| b":edir\xef".contains(first))
}

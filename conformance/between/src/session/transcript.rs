//! Transcripts of agents: what was said, without requests. These come from a profile, with the turns of the transcript.

use std::io;
use std::mem::take;

use catalogue::{AGENT_PROFILES, AgentProfile};
use harness::hash;
use serde_json::{Value, json};
use spec::{Api, Dialect};
use translation::{Part, Question, Reply, Role, Stop, Translator, Turn, Usage};

use super::asking::{Asking, Said, text_of};
use super::form::LARGEST_BODIES;
use super::{RecordedRequest, Session};
use crate::dialects::front_dialect;

/// Number of characters of the mark that the id of the session comes from.
const MARK: usize = 6;
/// The time of the answers.
const NOW: u64 = 1_785_000_000;

#[derive(Debug, Default)]
pub(super) struct Transcript {
    profile: &'static str,
    api: &'static str,
    steps: Vec<Step>,
    /// Entries after the last answer.
    pending: Vec<Value>,
    restarts: bool,
    /// Rows of other agents, and errors of the agent's own.
    left_out: usize,
}

/// An answer of the model, with what was said before it.
#[derive(Debug, Default)]
struct Step {
    id: String,
    model: String,
    before: Vec<Value>,
    answer: Vec<Value>,
    usage: Usage,
    /// The history before it was replaced by what was said.
    restarts: bool,
}

/// The transcript of a file, if it is one.
pub(super) fn read(text: &str) -> Option<Transcript> {
    if let Ok(document) = serde_json::from_str::<Value>(text) {
        let is_export = document["info"].is_object() && document["messages"].is_array();
        return is_export.then(|| opencode(&document)).filter(|it| !it.steps.is_empty());
    }
    let row = |line| serde_json::from_str::<Value>(line).ok().filter(Value::is_object);
    let rows = || text.lines().filter_map(row);
    let first = rows().next()?;
    let transcript = if first["sessionId"].is_string() {
        claude_code(rows())
    } else if first["payload"].is_object() && first["timestamp"].is_string() {
        codex(rows())
    } else {
        return None;
    };
    Some(transcript).filter(|it| !it.steps.is_empty())
}

impl Transcript {
    fn new(profile: &'static str) -> Self {
        Self { profile, api: catalogue::group(profile), ..Self::default() }
    }

    fn said(&mut self, entry: Value) {
        self.pending.push(entry);
    }

    /// An entry can be the next part of the last answer.
    fn answered(&mut self, id: &str, model: &str, entry: Value) {
        match self.steps.last_mut() {
            // Results of a call may stand before the next part of its answer.
            Some(last) if last.id == id => last.answer.push(entry),
            _ => self.steps.push(Step {
                id: id.to_owned(),
                model: model.to_owned(),
                before: take(&mut self.pending),
                answer: vec![entry],
                restarts: take(&mut self.restarts),
                ..Step::default()
            }),
        }
    }

    fn counted(&mut self, usage: Usage) {
        if let Some(last) = self.steps.last_mut() {
            last.usage = usage;
        }
    }

    /// The session of an agent that said the same; of the transcript's own agent if none is named.
    pub(super) fn session(self, agent: Option<&'static AgentProfile>) -> io::Result<Session> {
        let wrong = |problem: &str| io::Error::other(problem.to_owned());
        let usual = || AGENT_PROFILES.iter().find(|known| known.id == self.profile);
        let profile = agent.or_else(usual).ok_or_else(|| wrong("this build has no profile of its agent"))?;
        let api =
            |name: &str| spec::spoken().find(|api| api.name == name).ok_or_else(|| wrong("unknown API"));
        let (own, front) = (api(self.api)?, front_dialect(api(profile.api())?));
        let front = front.ok_or_else(|| wrong("no dialect of this API is usual"))?;
        let ids: String = self.steps.iter().map(|step| &*step.id).collect();
        let digest = hash(ids.as_bytes());
        let mark = digest.get(..MARK).unwrap_or_default();
        let (mut first, mut turns, mut requests) = (String::new(), Vec::new(), Vec::new());
        let mut size = 0;
        for step in self.steps {
            let mut said = turns_of(own, &step.before);
            if step.restarts || requests.is_empty() {
                // The profile has the first words of the agent itself.
                let texts: Vec<String> =
                    said.iter().map(|turn| text_of(turn.parts.iter()).collect()).collect();
                first = texts.into_iter().rfind(|text| !text.is_empty()).unwrap_or_default();
                turns.clear();
                said.clear();
            }
            turns.extend(said);
            let asking = Asking::new(profile, front.api, mark);
            let request =
                asking.request(&Said { model: &step.model, first: &first, turns: &turns, ..Said::default() });
            let answer = turns_of(own, &step.answer);
            let parts = answer.into_iter().flat_map(|turn| turn.parts).collect();
            let reply = reply(&step.id, step.model, parts, step.usage);
            let request = answered(request, front, &reply);
            size += request.body.len();
            if size > LARGEST_BODIES {
                return Err(wrong(&format!("its requests are larger than {LARGEST_BODIES} bytes")));
            }
            requests.push(request);
            turns.push(Turn { role: Role::Assistant, parts: reply.parts });
        }
        Ok(Session { name: String::new(), front, requests, left_out: self.left_out, made_as: Some(profile) })
    }
}

fn turns_of(api: &Api, entries: &[Value]) -> Vec<Turn> {
    Question::read(api, &json!({ api.request.input: entries })).turns
}

fn reply(id: &str, model: String, parts: Vec<Part>, usage: Usage) -> Reply {
    let has_calls = parts.iter().any(|part| matches!(part, Part::Call(_)));
    Reply {
        id: Some(id.to_owned()),
        model: Some(model),
        parts,
        stop: Some(if has_calls { Stop::Calls } else { Stop::Ended }),
        usage: Some(usage),
        is_ended: true,
        ..Reply::default()
    }
}

/// The request with its answer, as a stream of the client's API.
fn answered(request: RecordedRequest, front: &'static Dialect, reply: &Reply) -> RecordedRequest {
    let asked: Value = serde_json::from_str(&request.body).unwrap_or_default();
    let question = Question::read(front.api, &asked);
    let stream = Translator::new(front, front, &question, &asked, NOW).write(reply.deltas());
    RecordedRequest {
        status: 200,
        response_headers: vec![("content-type".to_owned(), "text/event-stream".to_owned())],
        response: String::from_utf8_lossy(&stream).into_owned(),
        ..request
    }
}

fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Token counts by the names of their members; of the input, all that count.
fn usage(counts: &Value, input: &[&str], cached: &str, output: &str) -> Usage {
    let count = |name: &str| counts.pointer(name).and_then(Value::as_u64);
    let sum = input.iter().filter_map(|name| count(name)).fold(0, u64::saturating_add);
    Usage {
        input: Some(sum),
        cached: count(cached),
        output: Some(count(output).unwrap_or_default()),
        reasoning: None,
    }
}

/// A row has one block of a message, or what the user and the tools said.
fn claude_code(rows: impl Iterator<Item = Value>) -> Transcript {
    let mut transcript = Transcript::new("messages/claude-code");
    for mut row in rows {
        let is_of = |name: &str| row[name] == Value::Bool(true);
        let kind = text(&row, "/type").to_owned();
        if !["user", "assistant"].contains(&&*kind) {
            continue;
        }
        if is_of("isSidechain") || is_of("isApiErrorMessage") {
            transcript.left_out += 1;
            continue;
        }
        transcript.restarts |= is_of("isCompactSummary");
        let message = row["message"].take();
        if kind == "user" {
            transcript.said(message);
            continue;
        }
        let counts = &message["usage"];
        let input = ["/input_tokens", "/cache_read_input_tokens", "/cache_creation_input_tokens"];
        let usage = usage(counts, &input, "/cache_read_input_tokens", "/output_tokens");
        let ids = [text(&message, "/id"), text(&row, "/requestId"), text(&row, "/uuid")];
        let id = ids.into_iter().find(|id| !id.is_empty()).unwrap_or_default().to_owned();
        let model = text(&message, "/model").to_owned();
        transcript.answered(&id, &model, message);
        transcript.counted(usage);
    }
    transcript
}

/// Rows are items of the API. Those of an answer follow each other, and its token counts end it.
fn codex(rows: impl Iterator<Item = Value>) -> Transcript {
    let mut transcript = Transcript::new("responses/codex");
    let (mut model, mut id) = (String::new(), 0);
    let mut is_answer = false;
    for mut row in rows {
        let kind = text(&row, "/type").to_owned();
        let mut payload = row["payload"].take();
        match &*kind {
            "turn_context" => text(&payload, "/model").clone_into(&mut model),
            "token_usage_record" | "event_msg" => {
                let counts = payload.pointer("/usage").or_else(|| payload.pointer("/info/last_token_usage"));
                if let Some(counts) = counts {
                    let input = ["/input_tokens"];
                    transcript.counted(usage(counts, &input, "/cached_input_tokens", "/output_tokens"));
                }
            }
            "compacted" => {
                transcript.restarts = true;
                transcript.pending = match payload.get_mut("replacement_history").map(Value::take) {
                    Some(Value::Array(history)) => history,
                    _ => vec![json!({"role": "user", "content": text(&payload, "/message")})],
                };
                is_answer = false;
            }
            "response_item" => {
                let is_output = text(&payload, "/type").ends_with("_output");
                match text(&payload, "/role") {
                    "developer" | "system" => {}
                    role if role == "user" || is_output => {
                        is_answer = false;
                        transcript.said(payload);
                    }
                    _ => {
                        id += u32::from(!std::mem::replace(&mut is_answer, true));
                        transcript.answered(&format!("resp_{id}"), &model, payload);
                    }
                }
            }
            _ => {}
        }
    }
    transcript
}

/// A message has its parts, and calls have their results.
fn opencode(document: &Value) -> Transcript {
    let mut transcript = Transcript::new("messages/opencode");
    for message in document["messages"].as_array().into_iter().flatten() {
        let (info, parts) = (&message["info"], message["parts"].as_array());
        let of_kind =
            |kind: &'static str| parts.into_iter().flatten().filter(move |part| part["type"] == kind);
        let texts = of_kind("text").map(|part| json!({"type": "text", "text": part["text"]}));
        if text(info, "/role") == "user" {
            transcript.said(json!({"role": "user", "content": texts.collect::<Vec<_>>()}));
            continue;
        }
        let thoughts = of_kind("reasoning").map(|part| {
            let seal = text(part, "/metadata/anthropic/signature");
            json!({"type": "thinking", "thinking": part["text"], "signature": seal})
        });
        let calls = of_kind("tool").map(|part| {
            let (id, name, input) = (&part["callID"], &part["tool"], &part["state"]["input"]);
            json!({"type": "tool_use", "id": id, "name": name, "input": input})
        });
        let content: Vec<Value> = thoughts.chain(texts).chain(calls).collect();
        if content.is_empty() {
            transcript.left_out += 1;
            continue;
        }
        let model = text(info, "/modelID");
        transcript.answered(text(info, "/id"), model, json!({"role": "assistant", "content": content}));
        let input = ["/input", "/cache/read", "/cache/write"];
        transcript.counted(usage(&info["tokens"], &input, "/cache/read", "/output"));
        if info["summary"] == Value::Bool(true) {
            transcript.restarts = true;
            transcript.said(json!({"role": "user", "content": content}));
        }
        let results: Vec<Value> = of_kind("tool")
            .map(|part| {
                let (state, id) = (&part["state"], &part["callID"]);
                let is_error = state["status"] == "error";
                let content = if is_error { &state["error"] } else { &state["output"] };
                json!({"type": "tool_result", "tool_use_id": id, "content": content, "is_error": is_error})
            })
            .collect();
        if !results.is_empty() {
            transcript.said(json!({"role": "user", "content": results}));
        }
    }
    transcript
}

//! Conversion of plans to events by the tables of the dialect; undefined events are omitted.

use serde_json::{Map, Value, json};
use spec::table::{EventLine, Marker, Role};
use spec::{Dialect, EventInfo, Scope, Slot};

use super::fit::fit;
use super::items::entries;
use super::order::{Moment, order};
use super::parts::logprobs;
use super::response::{FAILURE, Resource};
use super::steps::{Entry, Step};
use super::style::DialectStyle;
use crate::content::plan::{Ending, ResponsePlan};

/// A response, ready to be sent as a stream or as JSON.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderedResponse {
    /// The events, as server-sent events.
    pub events: Vec<String>,
    /// The queued, the running and the final response.
    pub snapshots: [Value; 3],
}

impl RenderedResponse {
    /// Returns the whole stream.
    pub fn stream(&self) -> String {
        self.events.concat()
    }

    /// Returns the final response.
    pub const fn response(&self) -> &Value {
        let [_, _, ended] = &self.snapshots;
        ended
    }
}

/// Returns the planned response to a request.
pub fn render(
    request: &Value,
    plan: &ResponsePlan,
    dialect: &'static Dialect,
    seed: u64,
) -> RenderedResponse {
    let style = DialectStyle::of(dialect, seed);
    let plan = &fit(plan, dialect, style);
    let mut entries = entries(plan);
    entries.retain(|entry| style.knows(kind(&entry.opened)));
    let mut emitter = Emitter { dialect, style, plan, events: Vec::new() };
    let resource = Resource::new(request, plan, dialect, style);
    emitter.begin(&resource);
    let output = emitter.items(&entries);
    let mut ended = resource.ended(&output);
    if style == DialectStyle::EuGpt {
        ended["output_text"] = json!(spoken(&entries));
    }
    emitter.end(&ended);
    if dialect.framing.done == Marker::Required {
        emitter.events.push("data: [DONE]\n\n".to_owned());
    }
    let snapshots = [resource.pending("queued"), resource.pending("in_progress"), ended];
    RenderedResponse { events: emitter.events, snapshots }
}

fn kind(item: &Value) -> &str {
    item.get("type").and_then(Value::as_str).unwrap_or_default()
}

/// Returns all streamed text.
fn spoken(entries: &[Entry]) -> String {
    let steps = entries.iter().flat_map(|entry| &entry.steps);
    let texts = steps.filter(|step| step.scope == Scope::Text && step.role == Role::Final);
    texts.filter_map(|step| step.value.as_str()).collect()
}

struct Emitter<'p> {
    dialect: &'static Dialect,
    style: DialectStyle,
    plan: &'p ResponsePlan,
    events: Vec<String>,
}

impl Emitter<'_> {
    fn begin(&mut self, resource: &Resource<'_>) {
        let first = if self.plan.is_background { "queued" } else { "in_progress" };
        let created = resource.pending(first);
        self.lifecycle("response.created", &created);
        if self.plan.is_background {
            self.lifecycle("response.queued", &created);
        }
        self.lifecycle("response.in_progress", &resource.pending("in_progress"));
        if self.plan.has_keepalive {
            self.push("keepalive", Map::new());
        }
        if self.plan.is_routed {
            let routing = json!({"model_id": "reference-1", "category": "general", "source": "router",
                "reasoning": "There is no other model"});
            self.push("response.routing.completed", object(routing));
        }
    }

    /// Emits the events of items, and returns the closed items in the order of the output.
    fn items(&mut self, entries: &[Entry]) -> Vec<Value> {
        let last = match self.plan.ending {
            Ending::Failed(after) => after,
            _ => usize::MAX,
        };
        let mut closed = vec![None; entries.len()];
        let begun = self.events.len();
        for (index, moment) in order(entries, self.plan.is_interleaved) {
            if self.events.len() - begun >= last {
                break;
            }
            let Some(entry) = entries.get(index) else { continue };
            match moment {
                Moment::Open => {
                    let full = if self.style == DialectStyle::EuGpt { &entry.closed } else { &entry.opened };
                    let item = self.style.item(full, Role::Open);
                    self.item(Role::Open, index, item);
                }
                Moment::Step(step) => self.step(entry, index, step),
                Moment::Close => {
                    let item = self.style.item(&entry.closed, Role::Close);
                    if let Some(place) = closed.get_mut(index) {
                        *place = Some(item.clone());
                    }
                    self.item(Role::Close, index, item);
                }
            }
        }
        closed.into_iter().flatten().collect()
    }

    fn item(&mut self, role: Role, index: usize, item: Value) {
        let step = Step { scope: Scope::Item, role, phase: None, index: None, annotation: None, value: item };
        self.send(&step, index, &[]);
    }

    fn step(&mut self, entry: &Entry, index: usize, step: &Step) {
        let is_text_end = step.scope == Scope::Text && step.role == Role::Final;
        if is_text_end && self.plan.is_rewritten {
            self.push("response.rewrite.in_progress", Map::new());
        }
        let texts = |role: Role| {
            let same = move |other: &&Step| other.scope == step.scope && other.index == step.index;
            entry.steps.iter().filter(same).filter(move |other| other.role == role)
        };
        let spelled = (step.scope == Scope::Text).then(|| match (self.plan.has_logprobs, step.role) {
            (false, _) => json!([]),
            (true, Role::Final) => {
                let deltas = texts(Role::Delta).filter_map(|step| step.value.as_str().map(str::to_owned));
                logprobs(&deltas.collect::<Vec<_>>())
            }
            (true, _) => logprobs(&step.value.as_str().map(str::to_owned).into_iter().collect::<Vec<_>>()),
        });
        let mut added = Vec::new();
        // Events of shell commands have no item id.
        if step.scope != Scope::ShellCommand {
            added.push(("item_id", entry.opened.get("id").cloned().unwrap_or_default()));
        }
        if matches!(self.style, DialectStyle::Vllm(_)) && step.phase == Some("completed") {
            added.push(("output", entry.closed.get("output").cloned().unwrap_or_default()));
        }
        added.extend(spelled.map(|logprobs| ("logprobs", logprobs)));
        self.send(step, index, &added);
    }

    /// Emits the event for a step, if the dialect has one.
    fn send(&mut self, step: &Step, index: usize, added: &[(&str, Value)]) {
        let Some(info) = find(self.dialect, step) else { return };
        let mut data = Map::with_capacity(8);
        for slot in info.level.key {
            let value = match slot {
                Slot::OutputIndex => json!(index),
                Slot::AnnotationIndex => json!(step.annotation.unwrap_or(0)),
                _ => json!(step.index.unwrap_or(0)),
            };
            data.insert(slot.name().to_owned(), value);
        }
        data.extend(added.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        if let Some(name) = info.value.and_then(|pointer| pointer.strip_prefix('/')) {
            data.insert(name.to_owned(), step.value.clone());
        }
        if self.plan.is_obfuscated && step.role == Role::Delta && step.value.is_string() {
            data.insert("obfuscation".to_owned(), json!("k3Rw9ZtQ1xL"));
        }
        let data = self.style.event(info.name, data);
        self.push(info.name, data);
    }

    fn end(&mut self, ended: &Value) {
        let name = match self.plan.ending {
            Ending::Incomplete(_) if self.dialect.event("response.incomplete").is_some() => {
                "response.incomplete"
            }
            Ending::Completed | Ending::Incomplete(_) => "response.completed",
            Ending::Failed(_) => {
                self.fail();
                "response.failed"
            }
        };
        self.lifecycle(name, ended);
    }

    fn fail(&mut self) {
        let (code, message) = FAILURE;
        let nested = json!({"error": {"type": code, "code": code, "message": message, "param": null}});
        let flat = match self.style {
            DialectStyle::OpenAi | DialectStyle::OpenResponses => nested,
            DialectStyle::Wave => json!({"code": code, "message": message, "param": null}),
            _ => json!({"code": code, "message": message}),
        };
        self.push("error", object(flat));
    }

    fn lifecycle(&mut self, name: &str, response: &Value) {
        let data = if self.style == DialectStyle::Aitronos {
            let mut data = object(response.clone());
            if name != "response.created" {
                data.shift_remove("id");
            }
            if name == "response.failed" {
                data.insert("error".to_owned(), json!({"message": FAILURE.1, "code": FAILURE.0}));
            }
            data
        } else {
            Map::from_iter([("response".to_owned(), response.clone())])
        };
        self.push(name, data);
    }

    fn push(&mut self, name: &str, data: Map<String, Value>) {
        if self.dialect.event(name).is_none() {
            return;
        }
        let mut whole = Map::with_capacity(data.len() + 2);
        if self.style.is_typed() {
            whole.insert("type".to_owned(), json!(name));
        }
        whole.extend(data);
        if self.style.is_numbered(name) {
            whole.insert("sequence_number".to_owned(), json!(self.events.len()));
        }
        let line = match self.dialect.framing.event_line {
            EventLine::AlwaysMessage => "message",
            EventLine::EqualsType | EventLine::Discriminator | EventLine::DiscriminatorIfUntyped => name,
        };
        // Keys are strings, so serialization cannot fail.
        let data = serde_json::to_string(&whole).unwrap_or_default();
        self.events.push(["event: ", line, "\ndata: ", &data, "\n\n"].concat());
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// Returns the event of the dialect for a step.
fn find(dialect: &'static Dialect, step: &Step) -> Option<&'static EventInfo> {
    let is_meant =
        |info: &&EventInfo| info.scope == step.scope && info.role == step.role && info.phase == step.phase;
    dialect.events.iter().find(is_meant)
}

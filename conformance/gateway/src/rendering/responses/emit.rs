//! Conversion of plans to events by the tables of the dialect; undefined events are omitted.

use serde_json::{Map, Value, json};
use spec::table::{Marker, RenderMoment, Role};
use spec::{Dialect, EventInfo, Scope, Slot};

use super::fit::fit;
use super::items::entries;
use super::order::{Moment, order};
use super::parts::logprobs;
use super::response::{FAILURE, Resource};
use super::steps::{Entry, Step};
use crate::content::plan::{Ending, ResponsePlan};
use crate::content::text;
use crate::rendering::RenderedResponse;
use translation::pen::edits::{Edited, Edits};

pub(in crate::rendering) fn render(
    request: &Value,
    plan: &ResponsePlan,
    dialect: &'static Dialect,
    seed: u64,
) -> RenderedResponse {
    let edits = Edits::of(dialect, seed);
    let mut plan = fit(plan, dialect);
    let mut entries = entries(&plan);
    let kinds = dialect.render.items;
    let is_known = |item: &Value| text(item, "type").is_some_and(|kind| kinds.contains(&kind));
    entries.retain(|entry| kinds.is_empty() || is_known(&entry.opened));
    if entries.is_empty() {
        // A response without items has no output tokens.
        (plan.items, plan.output_tokens) = (Vec::new(), None);
    }
    let plan = &plan;
    let mut emitter = Emitter { dialect, edits, plan, events: Vec::new() };
    let resource = Resource::new(request, plan, dialect, edits);
    let snapshots = [resource.pending("queued"), resource.pending("in_progress")];
    emitter.begin(&snapshots);
    let output = emitter.items(&entries);
    let ended = resource.ended(&output, &streamed_text(&entries));
    emitter.end(&ended);
    if dialect.framing.done == Marker::Required {
        emitter.events.push("data: [DONE]\n\n".to_owned());
    }
    let [queued, in_progress] = snapshots;
    RenderedResponse { events: emitter.events, snapshots: [queued, in_progress, ended], status: 200 }
}

fn streamed_text(entries: &[Entry]) -> String {
    let steps = entries.iter().flat_map(|entry| &entry.steps);
    let texts = steps.filter(|step| step.scope == Scope::Text && step.role == Role::Final);
    texts.filter_map(|step| step.value.as_str()).collect()
}

struct Emitter<'p> {
    dialect: &'static Dialect,
    edits: Edits,
    plan: &'p ResponsePlan,
    events: Vec<String>,
}

impl Emitter<'_> {
    fn begin(&mut self, [queued, in_progress]: &[Value; 2]) {
        let created = if self.plan.is_background { queued } else { in_progress };
        self.lifecycle("response.created", created);
        if self.plan.is_background {
            self.lifecycle("response.queued", created);
        }
        self.lifecycle("response.in_progress", in_progress);
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
                    let begun = RenderMoment::Begun;
                    let item = self.edits.apply_to_item(begun, &entry.opened, &entry.closed);
                    self.item(entry, Role::Open, index, item);
                }
                Moment::Step(step) => self.step(entry, index, step),
                Moment::Close => {
                    let ended = RenderMoment::Ended;
                    let item = self.edits.apply_to_item(ended, &entry.closed, &entry.closed);
                    if let Some(place) = closed.get_mut(index) {
                        *place = Some(item.clone());
                    }
                    self.item(entry, Role::Close, index, item);
                }
            }
        }
        closed.into_iter().flatten().collect()
    }

    fn item(&mut self, entry: &Entry, role: Role, index: usize, item: Value) {
        let step = Step { scope: Scope::Item, role, phase: None, index: None, annotation: None, value: item };
        self.send(entry, &step, index, &[]);
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
        added.extend(spelled.map(|logprobs| ("logprobs", logprobs)));
        self.send(entry, step, index, &added);
    }

    /// Emits the event for a step, if the dialect has one.
    fn send(&mut self, entry: &Entry, step: &Step, index: usize, added: &[(&str, Value)]) {
        let Some(info) = find(self.dialect, step) else { return };
        let mut data = Map::with_capacity(8);
        for slot in info.level.key {
            let value = match slot {
                Slot::OutputIndex => json!(index),
                Slot::AnnotationIndex => json!(step.annotation.unwrap_or(0)),
                _ => json!(step.index.unwrap_or(0)),
            };
            data.insert(self.dialect.member(*slot).to_owned(), value);
        }
        data.extend(added.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        if let Some(name) = info.value.and_then(|pointer| pointer.strip_prefix('/')) {
            data.insert(name.to_owned(), step.value.clone());
        }
        if self.plan.is_obfuscated && step.role == Role::Delta && step.value.is_string() {
            data.insert("obfuscation".to_owned(), json!("k3Rw9ZtQ1xL"));
        }
        if let Some(part) = data.get_mut("part") {
            self.edits.apply(Edited::part(), part);
        }
        self.push_edited(info.name, data, Some(&entry.closed));
    }

    fn end(&mut self, ended: &Value) {
        let name = match self.plan.ending {
            Ending::Incomplete(_) if self.dialect.ending("incomplete").is_some() => "response.incomplete",
            Ending::Completed | Ending::Paused | Ending::Incomplete(_) => "response.completed",
            Ending::Failed(_) => {
                self.fail();
                "response.failed"
            }
        };
        self.lifecycle(name, ended);
    }

    fn fail(&mut self) {
        let (code, message) = FAILURE;
        let error = json!({"type": code, "code": code, "message": message, "param": null});
        self.push("error", Map::from_iter([("error".to_owned(), error)]));
    }

    fn lifecycle(&mut self, name: &str, response: &Value) {
        self.push(name, Map::from_iter([("response".to_owned(), response.clone())]));
    }

    fn push(&mut self, name: &str, data: Map<String, Value>) {
        self.push_edited(name, data, None);
    }

    fn push_edited(&mut self, name: &str, data: Map<String, Value>, closed: Option<&Value>) {
        if self.dialect.event(name).is_none() {
            return;
        }
        let mut whole = Map::with_capacity(data.len() + 2);
        whole.insert("type".to_owned(), json!(name));
        whole.extend(data);
        whole.insert("sequence_number".to_owned(), json!(self.events.len()));
        let mut whole = Value::Object(whole);
        self.edits.apply(Edited::event(name, closed), &mut whole);
        // The number stays last if an edit has added members.
        if let Some((name, number)) =
            whole.as_object_mut().and_then(|all| all.shift_remove_entry("sequence_number"))
        {
            whole[name] = number;
        }
        let line = self.dialect.framing.event_field(name).map(|field| format!("event: {field}\n"));
        self.events.push(format!("{}data: {whole}\n\n", line.unwrap_or_default()));
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

fn find(dialect: &'static Dialect, step: &Step) -> Option<&'static EventInfo> {
    let is_meant =
        |info: &&EventInfo| info.scope == step.scope && info.role == step.role && info.phase == step.phase;
    dialect.effects().find(is_meant)
}

//! Streams of events.

use std::fmt::Write as _;

use serde_json::{Map, Value};
use spec::Slot;
use spec::table::{Content, CountPlace, EventInfo, Marker, Role, Scope, ScopeInfo, UsagePlaces};

use crate::grammar::Grammar;
use crate::step::{Key, Move, Nesting, Step, place};

impl Grammar {
    /// Writes a stream as server-sent events.
    pub fn write(&self, moves: &[Move]) -> String {
        self.frame(&self.events(moves))
    }

    /// Writes events as server-sent events.
    pub fn frame(&self, events: &[(&str, Value)]) -> String {
        let mut text = String::new();
        let framing = self.dialect.framing;
        for (name, event) in events {
            if let Some(field) = framing.event_field(name) {
                let _ = writeln!(text, "event: {field}");
            }
            let _ = write!(text, "data: {event}\n\n");
        }
        if framing.done == Marker::Required {
            text += "data: [DONE]\n\n";
        }
        text
    }

    /// Returns the events of a stream, with their types.
    pub fn events(&self, moves: &[Move]) -> Vec<(&'static str, Value)> {
        let mut writer = Writer { grammar: self, moves, nodes: Vec::new() };
        let name = |steps: &Move| steps.first().map_or("", |step| step.effect.name);
        let mut events: Vec<_> = moves.iter().map(|steps| (name(steps), writer.event(steps))).collect();
        self.number(&mut events);
        events
    }

    /// Numbers the events that have a sequence number, from 0.
    pub fn number(&self, events: &mut [(&str, Value)]) {
        let number = self.dialect.pointer(Slot::SequenceNumber);
        let numbers = events.iter_mut().filter_map(|(_, event)| event.pointer_mut(number));
        for (number, place) in (0_u64..).zip(numbers.filter(|place| place.is_number())) {
            *place = number.into();
        }
    }
}

struct Writer<'w> {
    grammar: &'w Grammar,
    moves: &'w [Move],
    nodes: Vec<Node>,
}

struct Node {
    scope: Scope,
    key: Key,
    nesting: Nesting,
    opening: Value,
    text: String,
    fragments: usize,
    value: Option<Value>,
    /// The last phase of something inside.
    end: Option<&'static str>,
}

impl Writer<'_> {
    fn event(&mut self, steps: &[Step]) -> Value {
        let Some(template) = steps.first().and_then(|step| self.grammar.templates.event(step.effect)) else {
            return Value::Null;
        };
        let (dialect, api) = (self.grammar.dialect, self.grammar.dialect.api);
        let mut event = template.clone();
        for step in steps {
            self.number_indices(&mut event, step);
            let mut at = place(step.effect.value.unwrap_or_default());
            if let Some(mut value) = self.value(step) {
                if let Some(when) = step.effect.when.filter(|_| step.effect.role == Role::Close) {
                    at = format!("{at}/{when}");
                    value = value.get(when).cloned().unwrap_or_default();
                }
                put(&mut event, &at, value);
            }
            self.name(&mut event, step);
            if step.effect.role == Role::Terminal
                && let Some(snapshot) = api.snapshot.and_then(|slot| event.pointer_mut(dialect.pointer(slot)))
            {
                self.fill(snapshot, api.root, step.key);
                count_few(snapshot, &api.usage);
            }
        }
        event
    }

    fn number_indices(&mut self, event: &mut Value, step: &Step) {
        let dialect = self.grammar.dialect;
        for (slot, index) in step.effect.level.key.iter().zip(step.key.indices()) {
            put(event, &place(dialect.pointer(*slot)), (*index).into());
        }
    }

    /// An event repeats ids and names of the container around it.
    fn name(&self, event: &mut Value, step: &Step) {
        let (api, dialect) = (self.grammar.dialect.api, self.grammar.dialect);
        let length = self.grammar.level(api.container).key.len();
        let Some(container) = self.node(api.container, step.key.shortened(length)) else { return };
        if let (Some(slot), Some(id)) = (api.id, container.opening.get("id")) {
            replace(event, dialect.pointer(slot), id.clone());
        }
        if let Some(call) = &api.client_call
            && step.effect.level.parent == Some(api.container)
            && let Some(name) = container.opening.pointer(call.name)
        {
            replace(event, call.name, name.clone());
        }
    }

    /// `None` if the template's value stays.
    fn value(&mut self, step: &Step) -> Option<Value> {
        let template = self.grammar.templates.event(step.effect)?;
        let given = step.effect.value.and_then(|pointer| template.pointer(&place(pointer))).cloned();
        match step.effect.role {
            Role::Open => {
                let nesting = self.nesting(step);
                let mut value = self.grammar.templates.pair(nesting, None).map(|pair| pair.opening.clone());
                if let Some(value) = &mut value {
                    self.identify(value, step);
                    self.answer(value, step);
                }
                let at = self.ensure(step);
                let node = self.nodes.get_mut(at)?;
                node.nesting = nesting;
                node.opening = value.clone().unwrap_or_default();
                if step.effect.level.is_root { None } else { value }
            }
            Role::Delta => {
                let fragment = self.fragment(step);
                let at = self.ensure(step);
                let node = self.nodes.get_mut(at)?;
                node.text += &fragment;
                node.fragments += 1;
                if given.as_ref().is_some_and(Value::is_string) { Some(fragment.into()) } else { given }
            }
            Role::Final => {
                let is_delta =
                    |effect: &EventInfo| effect.scope == step.effect.scope && effect.role == Role::Delta;
                let has_text = given.as_ref().is_some_and(Value::is_string)
                    && self.grammar.effects.iter().any(|effect| is_delta(effect));
                let at = self.ensure(step);
                let node = self.nodes.get_mut(at)?;
                let value = if has_text { Some(node.text.clone().into()) } else { given };
                node.value.clone_from(&value);
                value
            }
            Role::Point => {
                if step.effect.level.own_index.is_some() {
                    let at = self.ensure(step);
                    self.nodes.get_mut(at)?.value.clone_from(&given);
                }
                None
            }
            Role::Close => {
                let value = self.closing(step.effect.scope, step.key);
                let at = self.ensure(step);
                let node = self.nodes.get_mut(at)?;
                node.value.clone_from(&value);
                value.or_else(|| self.with_stop(step, given?))
            }
            Role::Phase => {
                let outer = self.grammar.around(step.effect.scope, step.key);
                if let Some((scope, key)) = outer.filter(|_| step.effect.ends_scope()) {
                    let mut nodes = self.nodes.iter_mut();
                    nodes.find(|node| node.scope == scope && node.key == key)?.end = step.effect.phase;
                }
                self.with_stop(step, given?)
            }
            Role::Terminal => None,
        }
    }

    /// The value in the template, with the streamed content.
    fn closing(&self, scope: Scope, key: Key) -> Option<Value> {
        let node = self.node(scope, key)?;
        let pair = self.grammar.templates.pair(node.nesting, node.end)?;
        let mut value = pair.closing.clone()?;
        for name in ["id", self.grammar.dialect.api.call.id] {
            if let Some(id) = node.opening.get(name) {
                replace(&mut value, &format!("/{name}"), id.clone());
            }
        }
        self.fill(&mut value, scope, key);
        Some(value)
    }

    fn fill(&self, value: &mut Value, scope: Scope, key: Key) {
        let kind = self.node(scope, key).and_then(|node| node.nesting.kind);
        let is_inner = |level: &&ScopeInfo| level.parent == Some(scope) && level.can_be_in(kind);
        for level in self.grammar.dialect.api.scopes().filter(is_inner) {
            let usual = if level.is_container { level.in_response } else { level.in_parent };
            let Some(pointer) = usual else { continue };
            let inner = self
                .nodes
                .iter()
                .filter(|node| node.scope == level.scope && node.key.shortened(key.indices().len()) == key);
            let mut inner: Vec<&Node> = inner.collect();
            if level.own_index.is_some() {
                let Some((list, _)) = pointer.rsplit_once('/') else { continue };
                if value.pointer(list).is_none() {
                    continue;
                }
                inner.sort_by_key(|node| node.key.indices().last().copied());
                let values = inner.iter().filter_map(|node| node.value.clone());
                replace(value, list, values.collect());
            } else if let Some(node) = inner.first() {
                replace(value, pointer, node.value.clone().unwrap_or_else(|| node.text.clone().into()));
            } else if let Some(initial) = self.node(scope, key).and_then(|node| node.opening.pointer(pointer))
            {
                replace(value, pointer, initial.clone());
            }
        }
    }

    /// The stop reason depends on whether there is a call.
    fn with_stop(&self, step: &Step, mut value: Value) -> Option<Value> {
        let api = self.grammar.dialect.api;
        let (scope, member) = api.stop?;
        if scope != step.effect.scope || value.get(member).is_none() {
            return Some(value);
        }
        let call = api.client_call.as_ref()?;
        let is_call = |node: &Node| {
            let kind = node.nesting.kind.unwrap_or_default();
            node.scope == call.scope
                && (call.types.is_empty() || call.types.contains(&kind))
                && node.key.shortened(step.key.indices().len()) == step.key
        };
        let word = if self.nodes.iter().any(is_call) {
            api.usual_stops.get(1)?
        } else if self.nodes.iter().any(|node| self.is_unanswered(node)) {
            api.order.unanswered
        } else {
            api.usual_stops.first()?
        };
        replace(&mut value, &format!("/{member}"), word.into());
        Some(value)
    }

    fn answer(&self, value: &mut Value, step: &Step) {
        let Some(answered) = self.grammar.answered(step.kind) else { return };
        let is_it = |node: &&Node| node.nesting.kind == Some(answered) && self.is_unanswered(node);
        if let Some(id) = self.nodes.iter().find(is_it).and_then(|node| node.opening.get("id")) {
            replace(value, &format!("/{}", self.grammar.dialect.api.order.answers_by), id.clone());
        }
    }

    /// The occurrence needs an answer, and has none.
    fn is_unanswered(&self, node: &Node) -> bool {
        let order = self.grammar.dialect.api.order;
        let is_due = order.answers.iter().any(|(_, answered)| node.nesting.kind == Some(answered));
        let id = node.opening.get("id");
        is_due && self.nodes.iter().all(|other| other.opening.get(order.answers_by) != id)
    }

    fn identify(&self, value: &mut Value, step: &Step) {
        let api = self.grammar.dialect.api;
        let indices: Vec<String> = step.key.indices().iter().map(u64::to_string).collect();
        let suffix = indices.join("_");
        let places = ["/id".to_owned(), format!("/{}", api.call.id)];
        for pointer in places.into_iter().chain(api.client_call.as_ref().map(|call| call.id.to_owned())) {
            if let Some(Value::String(id)) = value.pointer_mut(&pointer) {
                let _ = write!(id, "_{suffix}");
            }
        }
    }

    /// The fragments of arguments join to an empty object.
    fn fragment(&self, step: &Step) -> String {
        let is_it = |other: &&Step| other.effect.number == step.effect.number && other.key == step.key;
        let count = self.moves.iter().flatten().filter(is_it).count();
        let at = self.node(step.effect.scope, step.key).map_or(0, |node| node.fragments);
        if step.effect.level.content != Some(Content::Arguments) {
            return format!("{}{at} ", step.effect.level.name.chars().next().unwrap_or('a'));
        }
        match (at, count) {
            (0, 1) => "{}".to_owned(),
            (0, _) => "{".to_owned(),
            (at, count) if at + 1 == count => "}".to_owned(),
            _ => " ".to_owned(),
        }
    }

    fn nesting(&self, step: &Step) -> Nesting {
        let scope = step.effect.scope;
        let outer = self.grammar.around(scope, step.key);
        let outer = outer.and_then(|(scope, key)| self.node(scope, key)?.nesting.kind);
        Nesting { scope, outer, kind: step.kind }
    }

    fn node(&self, scope: Scope, key: Key) -> Option<&Node> {
        self.nodes.iter().find(|node| node.scope == scope && node.key == key)
    }

    /// Begins the occurrence if necessary.
    fn ensure(&mut self, step: &Step) -> usize {
        let (scope, key) = (step.effect.scope, step.key);
        if let Some(at) = self.nodes.iter().position(|node| node.scope == scope && node.key == key) {
            return at;
        }
        let nesting = self.nesting(step);
        let opening = Value::Object(Map::new());
        self.nodes.push(Node {
            scope,
            key,
            nesting,
            opening,
            text: String::new(),
            fragments: 0,
            value: None,
            end: None,
        });
        self.nodes.len() - 1
    }
}

/// Output tokens of a response beside its reasoning: so few that it may say nothing.
const FEW: u64 = 4;

/// The content differs from stream to stream, so the token counts are lowered.
fn count_few(snapshot: &mut Value, places: &UsagePlaces) {
    let Some(usage) = snapshot.get_mut(places.member).filter(|usage| usage.is_object()) else { return };
    let pointer = |(member, inner): CountPlace| {
        format!("/{member}{}", inner.map_or(String::new(), |name| format!("/{name}")))
    };
    let count =
        |usage: &Value, place| usage.pointer(&pointer(place)).and_then(Value::as_u64).unwrap_or_default();
    let output = count(usage, places.reasoning) + FEW;
    let total = count(usage, places.input) + output;
    replace(usage, &pointer(places.output), output.into());
    replace(usage, &pointer(places.total), total.into());
}

fn replace(root: &mut Value, pointer: &str, value: Value) {
    if let Some(old) = root.pointer_mut(pointer).filter(|_| !pointer.is_empty()) {
        *old = value;
    }
}

fn put(root: &mut Value, pointer: &str, value: Value) {
    let Some((parent, member)) = pointer.rsplit_once('/') else { return };
    if root.pointer(parent).is_none() {
        let empty = if member == "0" { Value::Array(Vec::new()) } else { Value::Object(Map::new()) };
        put(root, parent, empty);
    }
    match root.pointer_mut(parent) {
        Some(Value::Object(members)) => {
            members.insert(member.to_owned(), value);
        }
        Some(Value::Array(entries)) => match entries.get_mut(member.parse().unwrap_or(usize::MAX)) {
            Some(entry) => *entry = value,
            None => entries.push(value),
        },
        _ => {}
    }
}

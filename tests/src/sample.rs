//! A sample of the legal streams of an API, with what a client asks for to get them.

use std::collections::{BTreeMap, BTreeSet};
use std::{fs, iter};

use catalogue::Level;
use checker::{Checker, Frame, Observer, sse};
use grammar::{Bounds, Grammar, Lifecycle, Move, Step, Streams, Walk, Window, renumbered};
use serde::Deserialize;
use serde_json::Value;
use spec::Dialect;
use spec::table::Role;

use crate::corpus;

/// What is sampled of a dialect.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sampled {
    /// The API.
    pub api: String,
    /// The dialect.
    pub dialect: String,
    /// The enumerations whose events are sought side by side.
    pub bounds: Vec<Bounds>,
    /// The goldens whose requests ask for a type of value, or for what has a scope; that of no name is always asked for.
    pub asked: BTreeMap<String, String>,
    /// Unusual reasons to stop.
    #[serde(default)]
    pub stops: Vec<String>,
}

/// A class of legal streams on which clients disagree, or one fails.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    /// Its case.
    pub case: String,
    /// What is special in it.
    pub what: String,
}

/// The sample, and what it showed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Samples {
    /// What is sampled.
    pub sampled: Vec<Sampled>,
    /// The classes, by API.
    pub classes: BTreeMap<String, Vec<Class>>,
}

impl Samples {
    /// Reads tests/legal/clients.toml.
    pub fn read() -> Self {
        let text = fs::read_to_string(corpus::repository().join("tests/legal/clients.toml"));
        toml::from_str(&text.expect("it is there")).expect("it is as it should be")
    }
}

/// A legal stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Legal {
    /// Its events.
    pub moves: Vec<Move>,
    /// Whether an empty delta comes before each delta.
    pub has_empty_deltas: bool,
    /// The reason to stop, if it is an unusual one.
    pub stop: Option<String>,
}

/// What a stream can have that others lack.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Two transitions in a row of a container, or of the stream around them.
    Pair(Window),
    /// Two events in a row, of one container or of two.
    Neighbours(String),
    /// Two types of containers in a row.
    Types(Option<&'static str>, Option<&'static str>),
}

/// Returns a stream in words.
pub fn words(moves: &[Move]) -> String {
    moves.iter().map(grammar::words).collect::<Vec<_>>().join("; ")
}

/// Returns the rules that a stream breaks, as a SHOULD or a MUST, with what is wrong.
pub fn broken(checker: &Checker) -> BTreeMap<String, String> {
    let binding = checker.findings().iter().filter(|finding| finding.level >= Level::Should);
    binding.map(|finding| (finding.rule.to_string(), finding.message.clone())).collect()
}

/// Shows a stream to an observer. Returns the rules that it breaks.
pub fn observed(
    dialect: &'static Dialect,
    stream: &[u8],
    observer: &mut dyn Observer,
) -> BTreeMap<String, String> {
    let (mut checker, mut parser) = (Checker::new(dialect), sse::Parser::default());
    let mut show = |frame: Frame<'_>| {
        checker.frame_seen_by(&frame, observer);
    };
    parser.push(stream, &mut show);
    parser.finish(&mut show);
    checker.finish();
    broken(&checker)
}

/// Returns the index of the container of an event.
fn container(steps: &Move) -> Option<u64> {
    steps.first()?.key.indices().first().copied()
}

impl Legal {
    const fn new(moves: Vec<Move>) -> Self {
        Self { moves, has_empty_deltas: false, stop: None }
    }

    /// Returns the stream in words.
    pub fn words(&self) -> String {
        let empty = if self.has_empty_deltas { "; with empty deltas" } else { "" };
        let stop = self.stop.as_ref().map(|stop| format!("; stopped by {stop}")).unwrap_or_default();
        format!("{}{empty}{stop}", words(&self.moves))
    }

    /// Writes the stream.
    pub fn write(&self, grammar: &Grammar) -> String {
        let mut events = Vec::new();
        for (steps, (name, mut event)) in self.moves.iter().zip(grammar.events(&self.moves)) {
            if let (Some(stop), Some((scope, member))) = (&self.stop, grammar.dialect.api.stop) {
                for step in steps.iter().filter(|step| step.effect.scope == scope) {
                    let place = step.effect.value.unwrap_or_default().replace('*', "0");
                    let word = event.pointer_mut(&format!("{place}/{member}"));
                    word.filter(|word| word.is_string())
                        .into_iter()
                        .for_each(|word| *word = stop.as_str().into());
                }
            }
            if self.has_empty_deltas && steps.iter().all(|step| step.effect.role == Role::Delta) {
                let mut empty = event.clone();
                for step in steps {
                    let pointer = step.effect.value.unwrap_or_default().replace('*', "0");
                    if let Some(text) = empty.pointer_mut(&pointer).filter(|value| value.is_string()) {
                        *text = "".into();
                    }
                }
                events.push((name, empty));
            }
            events.push((name, event));
        }
        grammar.number(&mut events);
        grammar.frame(&events)
    }

    /// Returns what a client sends to get the stream. `request` returns that for a golden.
    pub fn request(&self, sampled: &Sampled, request: &dyn Fn(&str) -> Option<Value>) -> Value {
        let names = |step: &Step| [step.kind, Some(step.effect.level.name), Some("")];
        let names: BTreeSet<&str> = self.moves.iter().flatten().flat_map(names).flatten().collect();
        let mut whole = Value::Object(serde_json::Map::new());
        for (_, golden) in sampled.asked.iter().filter(|(name, _)| names.contains(name.as_str())) {
            let asked = request(golden).unwrap_or_else(|| panic!("{golden} has a request"));
            for (member, value) in asked.as_object().into_iter().flatten() {
                match (whole.get_mut(member), value) {
                    (None, _) => whole[member] = value.clone(),
                    (Some(Value::Array(tools)), Value::Array(more)) if member == "tools" => {
                        tools.extend(more.iter().cloned());
                        tools.dedup();
                    }
                    _ => {}
                }
            }
        }
        let choices = self.moves.iter().flatten().filter(|step| step.effect.level.name == "choice");
        let choices = choices.filter_map(|step| step.key.indices().first()).max().copied();
        if let Some(last) = choices.filter(|last| *last > 0) {
            whole["n"] = (last + 1).into();
        }
        whole
    }

    /// Returns the legal streams that lack some of its events.
    pub fn smaller(&self, grammar: &Grammar) -> Vec<Self> {
        let mut all = Vec::new();
        let plain = [Self { has_empty_deltas: false, ..self.clone() }, Self { stop: None, ..self.clone() }];
        all.extend(plain.into_iter().filter(|stream| stream != self && stream.parts(grammar).is_some()));
        let mut add = |moves: Vec<Move>| {
            let stream = Self { moves: renumbered(&moves), ..self.clone() };
            if grammar.accepts(&stream.moves).is_ok() && stream.parts(grammar).is_some() {
                all.push(stream);
            }
        };
        for index in self.moves.iter().filter_map(container).collect::<BTreeSet<_>>() {
            add(self.moves.iter().filter(|steps| container(steps) != Some(index)).cloned().collect());
        }
        for from in 0..self.moves.len() {
            for to in from + 1..=self.moves.len() {
                add([&self.moves[..from], &self.moves[to..]].concat());
            }
            for at in 0..self.moves[from].len() {
                let mut moves = self.moves.clone();
                moves[from].remove(at);
                if !moves[from].is_empty() {
                    add(moves);
                }
            }
        }
        all
    }

    /// Returns what it has; none if it breaks a rule, as no order shows which block answers which.
    fn parts(&self, grammar: &Grammar) -> Option<BTreeSet<Part>> {
        let mut walk = Walk::default();
        if !observed(grammar.dialect, self.write(grammar).as_bytes(), &mut walk).is_empty() {
            return None;
        }
        let bare = |steps: &Move| {
            let bare = |step: &Step| Step { key: grammar::Key::default(), ..*step };
            words(&[steps.iter().map(bare).collect()])
        };
        let neighbours = self.moves.windows(2).map(|two| {
            let sign = if container(&two[0]) == container(&two[1]) { "then" } else { "beside" };
            Part::Neighbours(format!("{} {sign} {}", bare(&two[0]), bare(&two[1])))
        });
        let opens = |step: &&Step| step.effect.role == Role::Open && step.effect.level.is_container;
        let types: Vec<_> = self.moves.iter().flatten().filter(opens).map(|step| step.kind).collect();
        let types = types.windows(2).map(|two| Part::Types(two[0], two[1]));
        let pairs = walk.observed.windows.iter().map(|(_, window)| Part::Pair(*window));
        Some(pairs.chain(neighbours).chain(types).collect())
    }
}

/// Returns legal streams that together have each pair of transitions, and each two events side by side of the streams within
/// the bounds; with the parts that they have. A stream has a part that no shorter one has, or is one of these with empty deltas or
/// an unusual reason to stop.
pub fn sample(grammar: &Grammar, sampled: &Sampled) -> (Vec<Legal>, BTreeSet<Part>) {
    let of_steps = |steps: &Vec<Step>| steps.iter().map(|step| vec![*step]).collect();
    let mut shortest: Vec<Vec<Move>> =
        Lifecycle::of(grammar.dialect).windows.values().map(of_steps).collect();
    shortest.sort_by_key(Vec::len);
    let enumerated = sampled.bounds.iter().flat_map(|bounds| Streams::new(grammar, bounds.clone()));
    let (mut streams, mut known) = (Vec::new(), BTreeSet::new());
    let stopped = |moves: Vec<Move>| {
        let stops = iter::once(None).chain(sampled.stops.iter().cloned().map(Some));
        let mut streams = stops.map(|stop| Legal { stop, ..Legal::new(moves.clone()) });
        streams.find_map(|stream| Some((stream.parts(grammar)?, stream)))
    };
    for (parts, stream) in shortest.into_iter().chain(enumerated).filter_map(stopped) {
        if !parts.is_subset(&known) {
            known.extend(parts);
            streams.push(stream);
        }
    }
    let mut deltas = BTreeSet::new();
    let is_new = |stream: &&Legal| {
        let of_stream = stream.moves.iter().flatten().filter(|step| step.effect.role == Role::Delta);
        of_stream.filter(|step| deltas.insert(step.effect.number)).count() > 0
    };
    let bases: Vec<Legal> = streams.iter().filter(is_new).cloned().collect();
    for stop in &sampled.stops {
        let stopped = bases.iter().map(|stream| Legal { stop: Some(stop.clone()), ..stream.clone() });
        streams.extend(stopped.filter(|stream| stream.parts(grammar).is_some()));
    }
    streams.extend(bases.into_iter().map(|stream| Legal { has_empty_deltas: true, ..stream }));
    (streams, known)
}

//! The steps of the containers in any stream of a dialect.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::rc::Rc;
use std::sync::Mutex;

use spec::table::Role;
use spec::{Dialect, ListedValue};

use crate::bounds::Bounds;
use crate::grammar::Grammar;
use crate::known::{PerDialect, known};
use crate::state::{Settled, StreamState};
use crate::step::Step;
use crate::walk::enumerations;
use crate::window::{Stage, Window, inner, outer};

/// The steps of the containers of a stream, and of the stream around them.
#[derive(Debug)]
pub struct Lifecycle {
    /// Each step with the two before it, and the shortest stream that has them.
    pub windows: BTreeMap<Window, Vec<Step>>,
    /// The enumeration values of all members that have one in a golden.
    pub values: BTreeSet<&'static ListedValue>,
    /// How many goldens have a step with the two before it.
    pub(crate) goldens: BTreeMap<Window, u64>,
}

/// Those of the dialects that were asked for.
static KNOWN: PerDialect<Lifecycle> = Mutex::new(Vec::new());

impl Lifecycle {
    /// Returns the lifecycle of a dialect, which is explored once.
    pub fn of(dialect: &'static Dialect) -> &'static Self {
        known(&KNOWN, dialect, Self::explored)
    }

    fn explored(dialect: &'static Dialect) -> Self {
        let grammar = Grammar::of(dialect);
        let api = dialect.api;
        let mut kinds: Vec<_> = grammar
            .templates
            .nestings
            .iter()
            .filter(|of| of.scope == api.container)
            .map(|of| of.kind)
            .collect();
        if kinds.is_empty() {
            kinds.push(None);
        }
        let mut windows = BTreeMap::new();
        let explored = kinds.into_iter().map(|kind| {
            let name = kind.unwrap_or(api.scope(api.container).name);
            (Exploration::new(&grammar, kind, Around::Container).run(name, &mut windows), kind)
        });
        // Around containers, it does not matter what is in them.
        let (_, simplest) = explored.min().unwrap_or_default();
        Exploration::new(&grammar, simplest, Around::Stream).run(api.scope(api.root).name, &mut windows);
        let mut values = enumerations(dialect).all();
        values.retain(|value| grammar.templates.members.contains(&*value.member));
        Self { windows, values, goldens: grammar.templates.windows }
    }
}

/// The owner of the steps: one container, or the stream around two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Around {
    Container,
    Stream,
}

/// A situation of a stream, with the last steps of what is followed.
struct Situation {
    /// The number of its state.
    state: usize,
    last: [Option<Stage>; 2],
    /// Number of steps to it.
    depth: usize,
    /// The places before it, the nearest first, each with the step from there.
    before: Vec<(usize, Step)>,
}

/// A search of all situations of streams with containers of one type. Counts are forgotten, so that there are few.
struct Exploration<'g> {
    grammar: &'g Grammar,
    kind: Option<&'static str>,
    around: Around,
    bounds: Bounds,
    states: States<'g>,
    places: Vec<Situation>,
}

/// The states that were found, each once, as many places have the same.
#[derive(Default)]
struct States<'g> {
    all: Vec<StreamState<'g>>,
    known: HashMap<Settled, usize>,
    /// The steps that may come next, each with the state after it, of the states that were asked for it.
    steps: HashMap<usize, Rc<[(Step, usize)]>>,
}

impl<'g> States<'g> {
    fn add(&mut self, mut state: StreamState<'g>) -> usize {
        *self.known.entry(state.settle()).or_insert_with(|| {
            self.all.push(state);
            self.all.len() - 1
        })
    }
}

impl<'g> Exploration<'g> {
    fn new(grammar: &'g Grammar, kind: Option<&'static str>, around: Around) -> Self {
        let (containers, siblings) = if around == Around::Container { (1, 2) } else { (2, 1) };
        let bounds = Bounds {
            events: usize::MAX,
            containers,
            siblings,
            fragments: u64::MAX,
            points: u64::MAX,
            effects: 1,
            combined: false,
            interleaved: true,
            kinds: Vec::new(),
        };
        Self { grammar, kind, around, bounds, states: States::default(), places: Vec::new() }
    }

    /// Only streams that can end have windows. Returns the number of situations.
    fn run(mut self, lane: &'static str, windows: &mut BTreeMap<Window, Vec<Step>>) -> usize {
        let mut known = HashMap::new();
        let state = self.states.add(StreamState::new(self.grammar));
        self.places.push(Situation { state, last: [None; 2], depth: 0, before: Vec::new() });
        let mut at = 0;
        while let Some(Situation { state, last, depth, .. }) = self.places.get(at) {
            let (state, last, depth) = (*state, *last, depth + 1);
            for (step, after) in self.next(state).iter().copied() {
                let last = self.followed(&step).map_or(last, |stage| [last[1], Some(stage)]);
                let next = *known.entry((after, last)).or_insert_with(|| {
                    self.places.push(Situation { state: after, last, depth, before: Vec::new() });
                    self.places.len() - 1
                });
                self.places[next].before.push((at, step));
            }
            at += 1;
        }
        self.walk_back(lane, windows);
        at
    }

    fn next(&mut self, state: usize) -> Rc<[(Step, usize)]> {
        if let Some(steps) = self.states.steps.get(&state) {
            return Rc::clone(steps);
        }
        let before = self.states.all[state].clone();
        let steps = before.steps_of(&self.bounds, |step| self.is_due(step)).into_iter().map(|step| {
            let mut after = before.clone();
            after.take(&step);
            (step, self.states.add(after))
        });
        let steps: Rc<[_]> = steps.collect();
        self.states.steps.insert(state, Rc::clone(&steps));
        steps
    }

    /// Begins where streams may end, with the nearest step.
    fn walk_back(self, lane: &'static str, windows: &mut BTreeMap<Window, Vec<Step>>) {
        // For each place, the number of steps to the nearest end, and the next place with the step to it.
        let mut left: Vec<Option<usize>> =
            self.places.iter().map(|place| self.states.all[place.state].may_end().then_some(0)).collect();
        let mut ways: Vec<Option<(usize, Step)>> = vec![None; self.places.len()];
        let mut due: VecDeque<usize> = (0..self.places.len()).filter(|at| left[*at].is_some()).collect();
        let mut edges = Vec::new();
        while let Some(at) = due.pop_front() {
            let steps = left[at].unwrap_or_default();
            for (from, step) in &self.places[at].before {
                if left[*from].is_none() {
                    left[*from] = Some(steps + 1);
                    ways[*from] = Some((at, *step));
                    due.push_back(*from);
                }
                edges.push((self.places[*from].depth + steps, *from, *step, at));
            }
        }
        edges.sort_by_key(|(length, ..)| *length);
        for (_, from, step, to) in edges {
            let Some(stage) = self.followed(&step) else { continue };
            windows.entry(Window::new(lane, self.places[from].last, stage)).or_insert_with(|| {
                let mut stream = vec![step];
                let mut at = from;
                while let Some((before, step)) = self.places[at].before.first().filter(|_| at != 0) {
                    stream.push(*step);
                    at = *before;
                }
                stream.reverse();
                at = to;
                while let Some((next, step)) = ways[at] {
                    stream.push(step);
                    at = next;
                }
                stream
            });
        }
    }

    /// Skips steps that can come at any time around a container, and steps that containers do not need.
    fn is_due(&self, step: &Step) -> bool {
        let dialect = self.grammar.dialect;
        if step.effect.scope == dialect.api.container
            && step.effect.role == Role::Open
            && step.kind != self.kind
        {
            return false;
        }
        let is_aside = step.effect.role == Role::Point
            || step.effect.name == dialect.error
            || step.effect.phase == Some(dialect.api.status.failed);
        let name = self.grammar.level(step.effect.scope).name;
        let order = dialect.api.order;
        let is_needed = || {
            let firsts = order.needed.iter().filter_map(|names| names.first());
            step.effect.scope == dialect.api.container
                || firsts.chain(order.first).any(|needed| *needed == name)
        };
        self.followed(step).is_some()
            || match self.around {
                Around::Container => !is_aside,
                Around::Stream => is_needed(),
            }
    }

    fn followed(&self, step: &Step) -> Option<Stage> {
        match self.around {
            Around::Container => inner(self.grammar.dialect, step),
            Around::Stream => outer(self.grammar.dialect, step),
        }
    }
}

//! Table automata: objects have states, and each row of a table says what an event does to an object in some of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use catalogue::Level;
use tests::corpus;

use super::event::Event;

const ABSENT: &str = "absent";

/// The indices by which events name an object of a kind.
pub(crate) type Key = (u64, u64);

/// What an event does to one object.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) kind: &'static str,
    pub(crate) key: Key,
    pub(crate) does: &'static str,
}

/// The states of objects that events have named.
pub(crate) type Objects = BTreeMap<(&'static str, Key), &'static str>;

/// What the documentation of an API says about the objects of its streams.
pub(crate) trait Model: Clone + Default {
    /// The name of the API, and of its table.
    const API: &'static str;

    /// Returns what an event does, or the end of the stream.
    fn steps(&mut self, event: Option<&Event>, objects: &Objects) -> Vec<Step>;
}

/// The transitions that a wrong model has in place of others.
pub(crate) type Wrong = BTreeMap<usize, Row>;

/// A transition.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    /// The states that it starts in; none is any state.
    pub(crate) from: Vec<&'static str>,
    /// The state after; none is the state before.
    pub(crate) to: Option<&'static str>,
    /// The level that a stream breaks which takes it.
    pub(crate) breaks: Level,
    /// The sentence that it follows from.
    pub(crate) sentence: &'static str,
}

/// The transitions of an API, by kind of object and event. The first one that fits is taken.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    at: BTreeMap<(&'static str, &'static str), Vec<usize>>,
    /// The transitions, with their kind and event.
    pub(crate) rows: Vec<(&'static str, &'static str, Row)>,
}

impl Table {
    /// Reads the table of an API. Its texts leak, which is acceptable in tests.
    pub(crate) fn read(api: &str) -> Self {
        type Cells = BTreeMap<String, BTreeMap<String, Vec<(String, String, String)>>>;
        let file = corpus::repository().join(format!("tests/model/{api}.toml"));
        let text = fs::read_to_string(&file).expect("each API has a table");
        let kinds: Cells =
            toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let mut table = Self { at: BTreeMap::new(), rows: Vec::new() };
        for (kind, events) in kinds {
            let kind: &'static str = kind.leak();
            for (does, rows) in events {
                let does: &'static str = does.leak();
                let first = table.rows.len();
                table.rows.extend(rows.into_iter().map(|row| (kind, does, Row::of(row))));
                table.at.insert((kind, does), (first..table.rows.len()).collect());
            }
        }
        table
    }

    /// Returns the name of a transition.
    pub(crate) fn name(&self, at: usize) -> String {
        let (kind, does, row) = &self.rows[at];
        let from = if row.from.is_empty() { "*".to_owned() } else { row.from.join(", ") };
        format!("{kind}.{does} from {from}")
    }

    /// Returns the models that are wrong in one transition, each with what it has there. Either what a stream may do breaks
    /// a MUST, and the other way around, or the object stays in its state.
    pub(crate) fn wrong(&self) -> Vec<Wrong> {
        let mut wrong = Vec::new();
        for (at, (.., row)) in self.rows.iter().enumerate() {
            let turned = Row {
                breaks: if row.breaks == Level::Off { Level::Must } else { Level::Off },
                ..row.clone()
            };
            wrong.push(BTreeMap::from([(at, turned)]));
            if row.to.is_some_and(|to| row.from != [to]) {
                wrong.push(BTreeMap::from([(at, Row { to: None, ..row.clone() })]));
            }
        }
        wrong
    }

    /// Returns the model that allows these transitions.
    pub(crate) fn allowing(&self, names: &[String]) -> Wrong {
        let allow = |name: &String| {
            let at = (0..self.rows.len()).find(|at| self.name(*at) == *name);
            let at = at.unwrap_or_else(|| panic!("there is no transition {name:?}"));
            (at, Row { breaks: Level::Off, ..self.rows[at].2.clone() })
        };
        names.iter().map(allow).collect()
    }

    fn find(&self, step: &Step, state: &str) -> usize {
        let at = self.at.get(&(step.kind, step.does));
        let fits = |at: &&usize| {
            let from = &self.rows[**at].2.from;
            from.is_empty() || from.contains(&state)
        };
        *at.and_then(|at| at.iter().find(fits)).unwrap_or_else(|| panic!("no row for {step:?} in {state}"))
    }
}

impl Row {
    fn of((states, level, sentence): (String, String, String)) -> Self {
        let states: &'static str = states.leak();
        let (from, to) = states.split_once(" -> ").unwrap_or_else(|| panic!("{states}: no arrow"));
        let breaks = match level.as_str() {
            "may" => Level::Off,
            "should" => Level::Should,
            "must" => Level::Must,
            other => panic!("{states}: {other} is no level"),
        };
        let from = from.split(", ").filter(|state| *state != "*").collect();
        Self { from, to: Some(to).filter(|to| *to != "="), breaks, sentence: sentence.leak() }
    }
}

/// A run of a model over a stream.
#[derive(Debug, Clone)]
pub(crate) struct Run<'t, M> {
    table: &'t Table,
    wrong: Option<&'t Wrong>,
    model: M,
    objects: Objects,
    /// The transitions that were taken.
    pub(crate) taken: Vec<usize>,
    /// The highest level that the stream breaks.
    pub(crate) worst: Level,
}

impl<'t, M: Model> Run<'t, M> {
    pub(crate) fn new(table: &'t Table) -> Self {
        let (model, objects, taken) = (M::default(), Objects::new(), Vec::new());
        Self { table, wrong: None, model, objects, taken, worst: Level::Off }
    }

    /// Takes an event, or the end of the stream. What follows a broken MUST is not judged.
    pub(crate) fn take(&mut self, event: Option<&Event>) {
        if self.worst == Level::Must {
            return;
        }
        for step in self.model.steps(event, &self.objects) {
            let state = self.objects.entry((step.kind, step.key)).or_insert(ABSENT);
            let at = self.table.find(&step, state);
            let row = self.wrong.and_then(|wrong| wrong.get(&at)).unwrap_or(&self.table.rows[at].2);
            *state = row.to.unwrap_or(state);
            self.worst = self.worst.max(row.breaks);
            self.taken.push(at);
        }
    }

    /// Runs a model over a whole stream, or a wrong model.
    pub(crate) fn over(table: &'t Table, wrong: Option<&'t Wrong>, events: &[Event]) -> Self {
        let mut run = Self { wrong, ..Self::new(table) };
        events.iter().map(Some).chain([None]).for_each(|event| run.take(event));
        run
    }

    /// Returns the level that the stream breaks and the transitions that do so, and the sentence of the first.
    pub(crate) fn verdict(&self) -> (String, &'static str) {
        let breaks = |at: &&usize| self.worst > Level::Off && self.table.rows[**at].2.breaks == self.worst;
        let broken: BTreeSet<usize> = self.taken.iter().filter(breaks).copied().collect();
        let names = broken
            .iter()
            .fold(self.worst.name().to_owned(), |names, at| format!("{names}; {}", self.table.name(*at)));
        let first = self.taken.iter().find(breaks);
        (names, first.map_or("", |at| self.table.rows[*at].2.sentence))
    }
}

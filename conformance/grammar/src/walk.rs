//! The steps of the containers of a stream, without indices.

use std::collections::BTreeSet;
use std::sync::Mutex;

use checker::{Observer, Payload, Seen};
use spec::{Dialect, Enumerations, ListedValue};

use crate::known::{PerDialect, known};
use crate::read::step;
use crate::step::{Key, Step};
use crate::window::{Stage, Window, inner, outer};

/// The last steps of a container, or of the stream around them.
#[derive(Debug)]
struct Lane {
    /// The indices of the container; none of the stream.
    key: Option<Key>,
    name: &'static str,
    last: [Option<Stage>; 2],
}

/// Observations of streams, by dialect.
#[derive(Debug, Clone, Default)]
pub struct Observed {
    /// The steps of containers, and of the streams around them.
    pub windows: BTreeSet<(&'static str, Window)>,
    /// The enumeration values in their events.
    pub values: BTreeSet<(&'static str, &'static ListedValue)>,
}

impl Observed {
    /// Adds what was observed of other streams.
    pub fn add(&mut self, other: &Self) {
        self.windows.extend(&other.windows);
        self.values.extend(&other.values);
    }
}

impl<'o> FromIterator<&'o Self> for Observed {
    fn from_iter<I: IntoIterator<Item = &'o Self>>(all: I) -> Self {
        all.into_iter().fold(Self::default(), |mut sum, observed| {
            sum.add(observed);
            sum
        })
    }
}

/// Observes what the containers of streams go through, and the enumeration values in their events.
#[derive(Debug, Default)]
pub struct Walk {
    /// The observations.
    pub observed: Observed,
    /// The containers of the stream at hand, and the stream around them, by the lane of its WebSocket.
    lanes: Vec<(Option<String>, Lane)>,
}

impl Walk {
    /// Maximum number of containers that are followed at once.
    const MOST: usize = 1000;

    /// Forgets the stream at hand, as the next event begins another one.
    pub fn end_stream(&mut self) {
        self.lanes.clear();
    }

    fn take(&mut self, dialect: &'static Dialect, socket: Option<&str>, step: &Step) {
        let api = dialect.api;
        let container = api.scope(api.container);
        if let Some(stage) = inner(dialect, step) {
            let name = step.kind.filter(|_| step.effect.scope == api.container).unwrap_or(container.name);
            self.go(dialect, socket, Some(step.key.shortened(container.key.len())), name, stage);
        }
        if let Some(stage) = outer(dialect, step) {
            self.go(dialect, socket, None, api.scope(api.root).name, stage);
        }
    }

    fn go(
        &mut self,
        dialect: &Dialect,
        socket: Option<&str>,
        key: Option<Key>,
        name: &'static str,
        stage: Stage,
    ) {
        let is_it = |(of, lane): &(Option<String>, Lane)| of.as_deref() == socket && lane.key == key;
        let at = self.lanes.iter().position(is_it).unwrap_or_else(|| {
            if self.lanes.len() == Self::MOST {
                self.lanes.remove(0);
            }
            self.lanes.push((socket.map(str::to_owned), Lane { key, name, last: [None; 2] }));
            self.lanes.len() - 1
        });
        let Some((_, lane)) = self.lanes.get_mut(at) else { return };
        let window = Window::new(lane.name, lane.last, stage);
        lane.last = window.before_next();
        self.observed.windows.insert((dialect.name, window));
    }
}

/// The enumerations of the dialects that were asked for.
static ENUMERATIONS: PerDialect<Enumerations> = Mutex::new(Vec::new());

pub(crate) fn enumerations(dialect: &'static Dialect) -> &'static Enumerations {
    known(&ENUMERATIONS, dialect, Enumerations::of)
}

impl Observer for Walk {
    fn record(&mut self, seen: &Seen<'_>) {
        if let (Some((_, event)), Some(data)) = (seen.record.known, &seen.record.frame.data) {
            let (of, values) = (seen.dialect.name, &mut self.observed.values);
            enumerations(seen.dialect).each_of(event.name, data, |value| {
                values.insert((of, value));
            });
        }
        if seen.record.payload == Payload::Done {
            self.end_stream();
        }
        for effect in seen.effects() {
            if effect.info.is_opening() {
                // Steps before it belong to an earlier stream, except those that may come at any time.
                let is_early = |lane: &Lane| lane.last.iter().flatten().all(|stage| stage.effect.early);
                self.lanes.retain(|(socket, lane)| socket.as_deref() != seen.lane || is_early(lane));
            }
            if let Some(step) = step(&effect) {
                self.take(seen.dialect, seen.lane, &step);
            }
        }
    }
}

//! Timelines of exchanges, built by an observer of the checker, which knows the subject of each effect of an event.
//!
//! Events that are too early, repeated or too late are included.

use std::collections::HashMap;
use std::time::Duration;

use spec::json::{at, string};
use spec::table::{EventInfo, Marker, Role, Scope, ScopeInfo};
use spec::{Api, Count, Dialect, Slot, View};

use crate::capture::{Exchange, Frame, Loss, Recorder, Transport};
use checker::{Counts, Observer, Occurrence, Payload, Record, Seen, SeenEffect, stop_word};
use results::{Bar, EventRow, FaultyEvent, Pace, Phase, Piece, RequestSummary, Silence, Timeline};

/// Maximum number of bars of an exchange.
const BARS: usize = 400;
/// Maximum number of times.
const TIMES: usize = 64;
/// Maximum number of phases of a bar.
const PHASES: usize = 8;
/// Maximum number of faulty events, and of bytes of each.
const FAULTY: usize = 24;
const EVENT_BYTES: usize = 2_000;
/// Maximum number of bytes of a request or a non-streaming response.
const BODY_BYTES: usize = 6_000;
/// Maximum number of rows, of bytes of text in a row, and of bytes of text in all rows.
const ROWS: usize = 300;
const ROW_BYTES: usize = 400;
const ROWS_BYTES: usize = 24_000;
/// Maximum length of names and ids.
const NAME: usize = 64;

#[derive(Debug)]
pub(super) struct TimelineBuilder {
    api: &'static Api,
    /// The scopes that have an opening event in the dialect, and those with a closing one.
    opens: Vec<bool>,
    closes: Vec<bool>,
    /// Scopes whose values are each in one event: they have no bar.
    values: Vec<bool>,
    /// Whether only the marker ends the root.
    needs_marker: bool,
    timeline: Timeline,
    lane_name: String,
    lane: Lane,
    /// The other lanes of a WebSocket.
    lanes: HashMap<String, Lane>,
    last_time: Option<u64>,
    /// Bytes of text left for rows.
    text_left: usize,
}

/// One lane of a WebSocket. Any other stream has a single lane.
#[derive(Debug, Default)]
struct Lane {
    /// The bar of the current response.
    response: Option<usize>,
    /// The latest response of the checker, by its id.
    last_response: Option<u64>,
    /// Bars by the ids of the checker.
    occurrences: HashMap<u64, usize>,
    /// The last bar of each address.
    addresses: HashMap<Address, usize>,
}

/// The position of a node in the root, by its indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Address {
    scope: Scope,
    indices: [Option<u64>; Scope::MOST_KEYS],
}

impl Address {
    fn of(level: &ScopeInfo, view: &View<'_>) -> Self {
        let mut indices = [None; Scope::MOST_KEYS];
        for (index, slot) in indices.iter_mut().zip(level.key) {
            *index = view.count(*slot).as_ref().and_then(Count::whole);
        }
        Self { scope: level.scope, indices }
    }

    fn parent(self, api: &Api) -> Option<Self> {
        let scope = api.scope(self.scope).parent?;
        let mut indices = self.indices;
        indices.iter_mut().skip(api.scope(scope).key.len()).for_each(|index| *index = None);
        Some(Self { scope, indices })
    }
}

/// The event number and time of a change.
#[derive(Debug, Clone, Copy)]
struct Moment {
    event: u64,
    time: Option<u64>,
}

impl TimelineBuilder {
    pub(super) fn new(dialect: &'static Dialect) -> Self {
        Self {
            api: dialect.api,
            opens: having(dialect, |event| event.role == Role::Open),
            closes: having(dialect, EventInfo::ends_scope),
            values: is_value(dialect),
            needs_marker: dialect.api.marker_ends && dialect.framing.done == Marker::Required,
            timeline: Timeline { pace: Pace { every: 1, times_ms: Vec::new() }, ..Timeline::default() },
            lane_name: String::new(),
            lane: Lane::default(),
            lanes: HashMap::new(),
            last_time: None,
            text_left: ROWS_BYTES,
        }
    }

    pub(super) fn exchange(&mut self, exchange: &Exchange<'_>) {
        let recorder = Recorder::new();
        self.timeline.exchange.clone_from(&exchange.label);
        self.timeline.status = exchange.status;
        self.timeline.request = exchange.request.as_ref().map(|request| RequestSummary {
            method: request.method.chars().take(NAME).collect(),
            url: recorder.url(&request.url),
            body: request.body.as_deref().map(|body| piece(&recorder.body(body), BODY_BYTES)),
        });
    }

    pub(super) fn lost(&mut self, loss: &Loss<'_>) {
        self.timeline.lost = Some(loss.to_string().chars().take(4 * NAME).collect());
    }

    pub(super) fn body(&mut self, frame: &Frame<'_>) {
        let text = frame.data.as_deref().unwrap_or_default();
        self.timeline.body.get_or_insert_with(|| piece(text, BODY_BYTES));
    }

    pub(super) fn finish(mut self) -> Timeline {
        // Without a closing event in the dialect, a bar ends with its last event.
        let never = Scope::ALL.iter().zip(&self.closes).filter(|(_, closes)| !**closes);
        // The marker ends the root, and its absence is not drawn if it is not required.
        let never = never.filter(|(scope, _)| **scope != self.api.root || !self.needs_marker);
        let never: Vec<&str> = never.map(|(scope, _)| self.api.scope(*scope).name).collect();
        for bar in &mut self.timeline.bars {
            if never.contains(&bar.scope.as_str()) {
                bar.closed = Some(bar.events[1]);
            }
        }
        self.timeline
    }

    fn pace(&mut self, now: Moment) {
        let Some(time) = now.time else { return };
        if let Some(before) = self.last_time {
            let ms = time.saturating_sub(before);
            if ms > self.timeline.silence.map_or(0, |longest| longest.ms) {
                self.timeline.silence = Some(Silence { after: now.event - 1, ms });
            }
        }
        self.last_time = Some(time);
        self.timeline.duration_ms = Some(time);
        let pace = &mut self.timeline.pace;
        if (now.event - 1).is_multiple_of(pace.every) {
            pace.times_ms.push(time);
            if pace.times_ms.len() > TIMES {
                pace.times_ms = pace.times_ms.iter().copied().step_by(2).collect();
                pace.every *= 2;
            }
        }
    }

    fn turn(&mut self, name: Option<&str>) {
        let name = name.unwrap_or_default();
        if name != self.lane_name {
            let lane = self.lanes.remove(name).unwrap_or_default();
            let before = std::mem::replace(&mut self.lane, lane);
            self.lanes.insert(std::mem::replace(&mut self.lane_name, name.to_owned()), before);
        }
    }

    /// One more delta of the same thing belongs to the last row.
    fn list(
        &mut self,
        record: &Record<'_>,
        effect: Option<&SeenEffect<'_>>,
        about: Option<usize>,
        now: Moment,
    ) {
        let is_delta = effect.is_some_and(|effect| effect.info.role == Role::Delta);
        let has_text =
            |effect: &&SeenEffect<'_>| matches!(effect.info.role, Role::Delta | Role::Final | Role::Close);
        let text = effect.filter(has_text).and_then(|effect| string(effect.view.raw(Slot::Value)?));
        let event_type = record.event_type.as_deref();
        let rows = &mut self.timeline.rows;
        let last = rows
            .last_mut()
            .filter(|last| is_delta && last.bar == about && last.event_type.as_deref() == event_type);
        if let Some(last) = last {
            last.count += 1;
            if let (Some(kept), Some(text)) = (&mut last.text, text) {
                // After a cut, the rest of a text is cut too.
                let room = if kept.cut > 0 { 0 } else { ROW_BYTES.saturating_sub(kept.text.len()) };
                let more = piece(&text, room.min(self.text_left));
                self.text_left -= more.text.len();
                kept.text += &more.text;
                kept.cut += more.cut;
            }
            return;
        }
        if rows.len() >= ROWS {
            self.timeline.unlisted += 1;
            return;
        }
        let text = text.map(|text| piece(&text, ROW_BYTES.min(self.text_left)));
        self.text_left -= text.as_ref().map_or(0, |text| text.text.len());
        rows.push(EventRow {
            event: now.event,
            count: 1,
            event_type: event_type.map(short),
            bar: about,
            time_ms: now.time,
            text,
        });
    }

    fn take(&mut self, seen: &Seen<'_>, now: Moment) {
        let record = seen.record;
        self.turn(seen.lane);
        let effects: Vec<SeenEffect<'_>> = seen.effects().collect();
        self.begin(seen, &effects, now);
        if let Some(counts) = Counts::of_event(self.api, record)
            && let Some(root) = self.lane.response.and_then(|at| self.timeline.bars.get_mut(at))
        {
            let ([input, output], counts) = (root.tokens.unwrap_or_default(), counts.tokens(self.api));
            root.tokens = Some([counts.input.unwrap_or(input), counts.output.unwrap_or(output)]);
        }
        if effects.is_empty() {
            self.list(record, None, None, now);
            return self.feed(self.lane.response, None, now);
        }
        // Points beside others are no rows of their own.
        let are_points = effects.iter().all(|effect| self.is_point(effect.info));
        for effect in &effects {
            let at = if effect.info.level.is_root {
                self.lane.response
            } else {
                let at = self.place(effect, now);
                if !self.is_point(effect.info) {
                    self.learn(at, effect);
                }
                at
            };
            if are_points || !self.is_point(effect.info) {
                self.list(record, Some(effect), at, now);
            }
            self.feed(at, Some(effect), now);
        }
    }

    /// Only the event that begins the root adds its bar.
    fn begin(&mut self, seen: &Seen<'_>, effects: &[SeenEffect<'_>], now: Moment) {
        let creates = effects.iter().any(|effect| effect.info.is_opening());
        let is_over = self.lane.response.and_then(|at| self.bar(at)).is_some_and(|bar| bar.closed.is_some());
        let response = effects.iter().find_map(|effect| effect.about).map(|about| about.response().id());
        let is_another = response.zip(self.lane.last_response).is_some_and(|(now, before)| now != before);
        self.lane.last_response = response.or(self.lane.last_response);
        let is_on_socket = seen.record.frame.transport == Transport::WebSocket;
        if self.lane.response.is_none() || is_another || creates && (is_over || is_on_socket) {
            (self.lane.occurrences, self.lane.addresses) = (HashMap::new(), HashMap::new());
            let value = seen.record.view.snapshot(self.api).unwrap_or_default();
            let opened = creates || self.api.first_event_opens;
            self.lane.response = self.add(self.api.scope(self.api.root), value, None, opened, now);
            self.timeline.folded += u64::from(self.lane.response.is_none());
        }
    }

    /// The value is one of its parent, and so has no bar.
    fn is_point(&self, info: &EventInfo) -> bool {
        info.role == Role::Point || self.values.get(info.scope as usize) == Some(&true)
    }

    /// The checker knows the bar, unless the event is too late: then it is the last bar at this address.
    fn place(&mut self, effect: &SeenEffect<'_>, now: Moment) -> Option<usize> {
        let info = effect.info;
        let address = Address::of(info.level, &effect.view);
        let opens = info.role == Role::Open;
        let fits =
            |at: &usize| !opens || self.bar(*at).is_some_and(|bar| !bar.opened && bar.closed.is_none());
        let there = match effect.about {
            Some(about) => self.lane.occurrences.get(&about.id()),
            None => self.lane.addresses.get(&address),
        };
        if let Some(at) = there.copied().filter(fits) {
            return Some(at);
        }
        let around = self.implied_parent(effect, address, now);
        // A point is about its subject, or if that has no bar, about what is around it.
        let own = effect.about.filter(|_| info.role == Role::Point);
        let parent = match (own, effect.about.and_then(|about| about.parent())) {
            (Some(about), _) => self.bar_of(Some(about)),
            (None, Some(parent)) => self.bar_of(Some(parent)),
            (None, None) => self.bar_above(address),
        };
        let parent = around.or(parent);
        if self.is_point(info) {
            return parent;
        }
        let has_opening = self.opens.get(info.scope as usize) == Some(&true);
        let value = effect.view.raw(Slot::Value).unwrap_or_default();
        let Some(at) = self.add(info.level, value, parent, opens || !has_opening, now) else {
            // Count each one once.
            self.timeline.folded += u64::from(if has_opening { opens } else { info.ends_scope() });
            return None;
        };
        self.lane.addresses.insert(address, at);
        if let Some(about) = effect.about {
            self.lane.occurrences.insert(about.id(), at);
        }
        Some(at)
    }

    /// A parent without an opening event, such as a choice, begins with its content.
    fn implied_parent(&mut self, effect: &SeenEffect<'_>, address: Address, now: Moment) -> Option<usize> {
        let address = address.parent(self.api)?;
        let scope = address.scope as usize;
        let is_implied = self.closes.get(scope) == Some(&true) && self.opens.get(scope) == Some(&false);
        if !is_implied || address.scope == self.api.root || effect.info.role == Role::Point {
            return None;
        }
        let about = effect.about.and_then(|about| about.parent()).map(|parent| parent.id());
        let there = about.and_then(|id| self.lane.occurrences.get(&id)).or(self.lane.addresses.get(&address));
        if let Some(at) = there {
            return Some(*at);
        }
        let level = self.api.scope(address.scope);
        let at = self.add(level, "", self.bar_above(address), true, now)?;
        self.lane.addresses.insert(address, at);
        self.lane.occurrences.extend(about.map(|id| (id, at)));
        if let Some(bar) = self.timeline.bars.get_mut(at) {
            bar.index = level.key.len().checked_sub(1).and_then(|last| *address.indices.get(last)?);
        }
        Some(at)
    }

    fn bar_of(&self, occurrence: Option<Occurrence<'_>>) -> Option<usize> {
        let mut around = std::iter::successors(occurrence, Occurrence::parent);
        around.find_map(|one| self.lane.occurrences.get(&one.id()).copied()).or(self.lane.response)
    }

    fn bar_above(&self, address: Address) -> Option<usize> {
        let mut around = std::iter::successors(address.parent(self.api), |address| address.parent(self.api));
        around.find_map(|one| self.lane.addresses.get(&one).copied()).or(self.lane.response)
    }

    /// Any event that opens or closes a container has its index and id. Other bars have theirs from the start.
    fn learn(&mut self, bar: Option<usize>, effect: &SeenEffect<'_>) {
        let Some(bar) = bar.and_then(|at| self.timeline.bars.get_mut(at)) else { return };
        let (level, view) = (effect.info.level, &effect.view);
        let index = level.own_index.and_then(|slot| view.count(slot)?.whole());
        bar.index = bar.index.or(index);
        if level.is_container && bar.id.is_none() {
            let own = view.raw(Slot::Value).and_then(|value| at(value, "/id"));
            let named = || self.api.id.and_then(|slot| view.raw(slot)).and_then(string);
            let id = own.and_then(string).or_else(named);
            bar.id = id.map(|id| short(&id));
        }
    }

    /// There is a limit on bars.
    fn add(
        &mut self,
        level: &ScopeInfo,
        value: &str,
        parent: Option<usize>,
        opened: bool,
        now: Moment,
    ) -> Option<usize> {
        if self.timeline.bars.len() >= BARS {
            return None;
        }
        let depth = parent.and_then(|at| self.bar(at)).map_or(0, |parent| parent.depth + 1);
        let is_value = value.starts_with('{');
        let text = |pointer| member(value, pointer).filter(|_| is_value).map(|text| short(&text));
        let call = self.api.client_call.filter(|call| call.scope == level.scope);
        self.timeline.bars.push(Bar {
            scope: level.name.to_owned(),
            kind: text("/type"),
            name: text(call.map_or("/name", |call| call.name)),
            id: text("/id"),
            index: None,
            depth,
            parent,
            events: [now.event; 2],
            times_ms: now.time.map(|time| [time; 2]),
            count: 0,
            characters: 0,
            stop: None,
            tokens: None,
            opened,
            closed: None,
            phases: Vec::new(),
        });
        Some(self.timeline.bars.len() - 1)
    }

    /// The effect counts for its bar and all ancestors.
    fn feed(&mut self, about: Option<usize>, effect: Option<&SeenEffect<'_>>, now: Moment) {
        let mut at = about.or(self.lane.response);
        if let Some(bar) = at.and_then(|at| self.timeline.bars.get_mut(at)) {
            bar.count += 1;
            reach(bar, now);
            let is_own = |effect: &&SeenEffect<'_>| about.is_some() && effect.info.level.name == bar.scope;
            if let Some(SeenEffect { info, view, .. }) = effect.filter(is_own) {
                let is_phase = info.role == Role::Phase && bar.phases.len() < PHASES;
                let phase = info.phase.filter(|_| is_phase);
                bar.phases.extend(phase.map(|name| Phase { name: name.to_owned(), event: now.event }));
                if info.ends_scope() {
                    bar.closed.get_or_insert(now.event);
                }
                if info.role == Role::Delta && info.level.content.is_some() {
                    let text = view.raw(Slot::Value).and_then(string).unwrap_or_default();
                    bar.characters += text.chars().count() as u64;
                }
                if info.role != Role::Open {
                    bar.stop = stop_word(self.api, info, view).map(|word| short(&word)).or(bar.stop.take());
                }
            }
            at = bar.parent;
        }
        while let Some(bar) = at.and_then(|at| self.timeline.bars.get_mut(at)) {
            if bar.closed.is_none() {
                reach(bar, now);
            }
            at = bar.parent;
        }
    }

    fn bar(&self, at: usize) -> Option<&Bar> {
        self.timeline.bars.get(at)
    }
}

impl Observer for TimelineBuilder {
    fn record(&mut self, seen: &Seen<'_>) {
        let record = seen.record;
        if record.payload == Payload::Done {
            let root = self.lane.response.and_then(|at| self.timeline.bars.get_mut(at));
            if let Some(root) = root.filter(|_| self.api.marker_ends) {
                root.closed.get_or_insert(root.events[1]);
            }
            return;
        }
        self.timeline.events += 1;
        let now = Moment { event: self.timeline.events, time: record.frame.time.map(milliseconds) };
        self.pace(now);
        if seen.is_faulty && self.timeline.faulty.len() < FAULTY {
            let data = piece(record.data(), EVENT_BYTES);
            self.timeline.faulty.push(FaultyEvent { event: now.event, data });
        }
        if record.payload == Payload::Object {
            self.take(seen, now);
        } else {
            self.list(record, None, None, now);
        }
    }
}

/// Scopes whose dialect has only final values, and clients no content.
fn is_value(dialect: &Dialect) -> Vec<bool> {
    let finals = having(dialect, |event| event.role == Role::Final);
    let others = having(dialect, |event| event.role != Role::Final);
    let is_value = |scope: &Scope| {
        let at = *scope as usize;
        finals[at] && !others[at] && dialect.api.scope(*scope).content.is_none()
    };
    Scope::ALL.iter().map(is_value).collect()
}

fn having(dialect: &Dialect, is_it: fn(&EventInfo) -> bool) -> Vec<bool> {
    let mut scopes = vec![false; Scope::ALL.len()];
    dialect.effects().filter(|event| is_it(event)).for_each(|event| scopes[event.scope as usize] = true);
    scopes
}

fn reach(bar: &mut Bar, now: Moment) {
    bar.events[1] = now.event;
    if let (Some(times), Some(time)) = (&mut bar.times_ms, now.time) {
        times[1] = time;
    }
}

fn member(value: &str, pointer: &str) -> Option<String> {
    at(value, pointer).and_then(string).map(std::borrow::Cow::into_owned)
}

fn short(text: &str) -> String {
    let mut short: String = text.chars().take(NAME).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// At most `most` bytes.
fn piece(text: &str, most: usize) -> Piece {
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    let kept = text.get(..end.unwrap_or_default()).unwrap_or_default();
    Piece { text: kept.to_owned(), cut: (text.len() - kept.len()) as u64 }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;

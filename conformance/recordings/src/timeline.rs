//! Timelines of exchanges, built by an observer of the checker, which knows the item or part of each event.
//!
//! Events that are too early, repeated or too late are included.

use std::collections::HashMap;
use std::time::Duration;

use spec::json::{at, string};
use spec::table::{EventInfo, Role, Scope, ScopeInfo};
use spec::{Api, Count, Dialect, Slot, View};

use crate::capture::{Exchange, Frame, Loss, Recorder, Transport};
use checker::{Observer, Occurrence, Payload, Record, Seen};
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

/// The timeline of an exchange while it is read.
#[derive(Debug)]
pub(super) struct TimelineBuilder {
    api: &'static Api,
    /// The scopes that have an opening event in the dialect, and those with a closing one.
    opens: Vec<bool>,
    closes: Vec<bool>,
    timeline: Timeline,
    /// The lane of the current event.
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

/// The position of an item or part in a response, by its indices.
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

    /// Returns the address of the parent.
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
        let has = |is_it: fn(&EventInfo) -> bool| {
            let has = |scope: &Scope| dialect.effects().any(|event| event.scope == *scope && is_it(event));
            Scope::ALL.iter().map(has).collect()
        };
        Self {
            api: dialect.api,
            opens: has(|event| event.role == Role::Open),
            closes: has(EventInfo::ends_scope),
            timeline: Timeline { pace: Pace { every: 1, times_ms: Vec::new() }, ..Timeline::default() },
            lane_name: String::new(),
            lane: Lane::default(),
            lanes: HashMap::new(),
            last_time: None,
            text_left: ROWS_BYTES,
        }
    }

    /// Starts an exchange.
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

    /// Records a lost connection.
    pub(super) fn lost(&mut self, loss: &Loss<'_>) {
        self.timeline.lost = Some(loss.to_string().chars().take(4 * NAME).collect());
    }

    /// Records a non-streaming response.
    pub(super) fn body(&mut self, frame: &Frame<'_>) {
        let text = frame.data.as_deref().unwrap_or_default();
        self.timeline.body.get_or_insert_with(|| piece(text, BODY_BYTES));
    }

    /// Returns the timeline.
    pub(super) fn finish(mut self) -> Timeline {
        // Without a closing event in the dialect, a bar ends with its last event.
        let never = Scope::ALL.iter().zip(&self.closes).filter(|(_, closes)| !**closes);
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

    /// Switches to a lane.
    fn turn(&mut self, name: Option<&str>) {
        let name = name.unwrap_or_default();
        if name != self.lane_name {
            let lane = self.lanes.remove(name).unwrap_or_default();
            let before = std::mem::replace(&mut self.lane, lane);
            self.lanes.insert(std::mem::replace(&mut self.lane_name, name.to_owned()), before);
        }
    }

    /// Adds an event to the rows, or to the last row if it is one more delta of the same thing.
    fn list(&mut self, record: &Record<'_>, about: Option<usize>, now: Moment) {
        let info = record.known.map(|(_, info)| info);
        let is_delta = info.is_some_and(|info| info.role == Role::Delta);
        let is_final = info.is_some_and(|info| matches!(info.role, Role::Final | Role::Close));
        let value = record.view.raw(Slot::Value).filter(|_| is_delta || is_final);
        let text = value.and_then(string);
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
        let info = record.known.map(|(_, info)| info);
        let creates = info.is_some_and(EventInfo::is_opening);
        let is_over = self.lane.response.and_then(|at| self.bar(at)).is_some_and(|bar| bar.closed.is_some());
        let response = seen.about.map(|about| about.response().id());
        let is_another = response.zip(self.lane.last_response).is_some_and(|(now, before)| now != before);
        self.lane.last_response = response.or(self.lane.last_response);
        let is_next = is_another || creates && (is_over || record.frame.transport == Transport::WebSocket);
        if self.lane.response.is_none() || is_next {
            (self.lane.occurrences, self.lane.addresses) = (HashMap::new(), HashMap::new());
            let value = record.view.snapshot(self.api).unwrap_or_default();
            let opened = creates || self.api.first_event_opens;
            self.lane.response = self.add(self.api.scope(self.api.root), value, None, opened, now);
            self.timeline.folded += u64::from(self.lane.response.is_none());
        }
        let Some(info) = info else {
            self.list(record, None, now);
            return self.feed(self.lane.response, None, now);
        };
        let about = if info.level.is_root {
            self.lane.response
        } else {
            let at = self.place(seen, info, now);
            if info.role != Role::Point {
                self.learn(at, record, info);
            }
            at
        };
        self.list(record, about, now);
        self.feed(about, Some(info), now);
    }

    /// Returns the bar of an event. The checker knows it, unless the event is too late: then it is the last
    /// bar at this address.
    fn place(&mut self, seen: &Seen<'_>, info: &EventInfo, now: Moment) -> Option<usize> {
        let record = seen.record;
        let address = Address::of(info.level, &record.view);
        let opens = info.role == Role::Open;
        let fits =
            |at: &usize| !opens || self.bar(*at).is_some_and(|bar| !bar.opened && bar.closed.is_none());
        let there = match seen.about {
            Some(about) => self.lane.occurrences.get(&about.id()),
            None => self.lane.addresses.get(&address),
        };
        if let Some(at) = there.copied().filter(fits) {
            return Some(at);
        }
        let parent = match seen.about {
            Some(about) if info.role == Role::Point => self.bar_of(Some(about)),
            Some(about) => self.bar_of(about.parent()),
            None => self.bar_above(address),
        };
        if info.role == Role::Point {
            return parent;
        }
        let has_opening = self.opens.get(info.scope as usize) == Some(&true);
        let value = record.view.raw(Slot::Value).unwrap_or_default();
        let Some(at) = self.add(info.level, value, parent, opens || !has_opening, now) else {
            // Count each one once.
            self.timeline.folded += u64::from(if has_opening { opens } else { info.ends_scope() });
            return None;
        };
        self.lane.addresses.insert(address, at);
        if let Some(about) = seen.about {
            self.lane.occurrences.insert(about.id(), at);
        }
        Some(at)
    }

    /// Returns the bar of an occurrence, or of its nearest ancestor with a bar.
    fn bar_of(&self, occurrence: Option<Occurrence<'_>>) -> Option<usize> {
        let mut around = std::iter::successors(occurrence, Occurrence::parent);
        around.find_map(|one| self.lane.occurrences.get(&one.id()).copied()).or(self.lane.response)
    }

    /// Returns the bar of the parent of an address.
    fn bar_above(&self, address: Address) -> Option<usize> {
        let mut around = std::iter::successors(address.parent(self.api), |address| address.parent(self.api));
        around.find_map(|one| self.lane.addresses.get(&one).copied()).or(self.lane.response)
    }

    /// Sets the index and id of an item from any event that opens or closes it. Other bars have theirs from
    /// the start.
    fn learn(&mut self, bar: Option<usize>, record: &Record<'_>, info: &EventInfo) {
        let Some(bar) = bar.and_then(|at| self.timeline.bars.get_mut(at)) else { return };
        let index = info.level.own_index.and_then(|slot| record.view.count(slot)?.whole());
        bar.index = bar.index.or(index);
        if info.level.is_container && bar.id.is_none() {
            let own = record.view.raw(Slot::Value).and_then(|value| at(value, "/id"));
            let named = || self.api.id.and_then(|slot| record.view.raw(slot)).and_then(string);
            let id = own.and_then(string).or_else(named);
            bar.id = id.map(|id| short(&id));
        }
    }

    /// Adds a bar, unless there are too many.
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
        self.timeline.bars.push(Bar {
            scope: level.name.to_owned(),
            kind: text("/type"),
            name: text("/name"),
            id: text("/id"),
            index: None,
            depth,
            parent,
            events: [now.event; 2],
            times_ms: now.time.map(|time| [time; 2]),
            count: 0,
            opened,
            closed: None,
            phases: Vec::new(),
        });
        Some(self.timeline.bars.len() - 1)
    }

    /// Counts an event for its bar and all ancestors.
    fn feed(&mut self, about: Option<usize>, info: Option<&EventInfo>, now: Moment) {
        let mut at = about.or(self.lane.response);
        if let Some(bar) = at.and_then(|at| self.timeline.bars.get_mut(at)) {
            bar.count += 1;
            reach(bar, now);
            if let Some(info) = info.filter(|info| about.is_some() && info.level.name == bar.scope) {
                let is_phase = info.role == Role::Phase && bar.phases.len() < PHASES;
                let phase = info.phase.filter(|_| is_phase);
                bar.phases.extend(phase.map(|name| Phase { name: name.to_owned(), event: now.event }));
                if info.ends_scope() {
                    bar.closed.get_or_insert(now.event);
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
            self.list(record, None, now);
        }
    }
}

/// Extends a bar to now.
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

/// Returns the start of a text, limited to `most` bytes.
fn piece(text: &str, most: usize) -> Piece {
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    let kept = text.get(..end.unwrap_or_default()).unwrap_or_default();
    Piece { text: kept.to_owned(), cut: (text.len() - kept.len()) as u64 }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::check_with_timelines;
    use crate::goldens;
    use checker::Rules;
    use results::CaptureReport;

    fn checked(dialect: &str, recording: &[u8]) -> CaptureReport {
        let dialect = spec::dialect(dialect).unwrap();
        check_with_timelines("a", &mut { recording }, None, &Rules::of(dialect))
    }

    fn told(timeline: &Timeline) -> String {
        let mut out = String::new();
        for bar in &timeline.bars {
            let indent = "  ".repeat(usize::try_from(bar.depth).unwrap());
            let [from, to] = bar.events;
            let kind = bar.kind.as_deref().unwrap_or_default();
            let index = bar.index.map(|index| index.to_string()).unwrap_or_default();
            let _ = write!(out, "{indent}{} {index} {kind} {from}..{to}", bar.scope);
            let _ = match bar.closed {
                Some(closed) if closed != to => write!(out, " closed at {closed}"),
                Some(_) => Ok(()),
                None => write!(out, " never closed"),
            };
            let phases: Vec<_> =
                bar.phases.iter().map(|phase| format!(" {}@{}", phase.name, phase.event)).collect();
            let _ = writeln!(out, "{}{}", if bar.opened { "" } else { " not opened" }, phases.concat());
        }
        out.replace("  ", " ").replace(" \n", "\n")
    }

    fn stream(events: &[&str]) -> Vec<u8> {
        events.iter().flat_map(|event| format!("data: {event}\n\n").into_bytes()).collect()
    }

    #[test]
    fn a_good_stream_has_a_bar_for_all_that_is_in_it() {
        let golden = goldens::golden("openai/parallel-function-calls").unwrap();
        let report = checked("openai", golden.bytes);
        insta::assert_snapshot!(told(&report.timelines[0]));
    }

    #[test]
    fn events_are_counted_as_findings_count_them() {
        for golden in goldens::GOLDENS {
            let report = checked(golden.dialect, golden.bytes);
            let drawn: u64 = report.timelines.iter().map(|timeline| timeline.events).sum();
            assert_eq!(drawn, report.events, "{}", golden.name);
            for timeline in &report.timelines {
                let open = timeline.bars.iter().filter(|bar| bar.closed.is_none()).count();
                let breaks_off =
                    ["failed", "incomplete", "error"].iter().any(|name| golden.name.contains(name));
                // Hosted tools of Azure have no last phase.
                let marker_ends =
                    spec::dialect(golden.dialect).is_some_and(|dialect| dialect.api.marker_ends);
                let is_whole = open == 0 || golden.dialect == "azure" || marker_ends;
                assert!(is_whole || breaks_off, "{}:\n{}", golden.name, told(timeline));
                // Codex starts with an additional event, and a stream can begin with its error.
                let is_early = golden.dialect == "codex" || golden.name == "error-first";
                let is_opened = is_early || timeline.bars.iter().all(|bar| bar.opened);
                assert!(is_opened, "{}:\n{}", golden.name, told(timeline));
                assert!(timeline.faulty.is_empty(), "{}", golden.name);
            }
        }
    }

    #[test]
    fn what_is_broken_is_drawn_as_it_came() {
        let recording = stream(&[
            r#"{"type":"response.created","response":{"id":"r"}}"#,
            r#"{"type":"response.output_text.delta","item_id":"m","output_index":0,"content_index":0,"delta":"a"}"#,
            r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"m"}}"#,
            r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"f","name":"get"}}"#,
            r#"{"type":"response.function_call_arguments.delta","item_id":"f","output_index":0,"delta":"{"}"#,
            r#"{"type":"response.output_text.delta","item_id":"m","output_index":0,"content_index":0,"delta":"a"}"#,
            r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"m"}}"#,
            "[1]",
            r#"{"type":"response.output_text.done","item_id":"m","output_index":0,"content_index":0,"text":"a"}"#,
        ]);
        let report = checked("openai", &recording);
        insta::assert_snapshot!(told(&report.timelines[0]));
        assert_eq!(report.timelines[0].events, report.events);
        let faulty: Vec<u64> = report.timelines[0].faulty.iter().map(|event| event.event).collect();
        assert!(faulty.contains(&4) && faulty.contains(&8), "{faulty:?}");
        let finding = |event: u64| report.findings.iter().any(|finding| finding.place.event == event);
        assert!(finding(4) && finding(8), "{:#?}", report.findings);
    }

    #[test]
    fn deltas_that_follow_each_other_are_one_row() {
        let delta = |item: &str, text: &str| {
            format!(
                r#"{{"type":"response.output_text.delta","item_id":"{item}","output_index":0,"content_index":0,"delta":"{text}"}}"#
            )
        };
        let mut events = vec![r#"{"type":"response.created","response":{"id":"r"}}"#.to_owned()];
        events.push(
            r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"m"}}"#
                .to_owned(),
        );
        events.extend(["Hel", "lo", " you"].map(|text| delta("m", text)));
        events.push("[1]".to_owned());
        events.push(delta("m", &"x".repeat(1000)));
        events.push(delta("m", "never kept"));
        let events: Vec<&str> = events.iter().map(String::as_str).collect();
        let report = checked("openai", &stream(&events));
        let rows = &report.timelines[0].rows;
        let told: Vec<_> = rows.iter().map(|row| (row.event, row.count, row.event_type.as_deref())).collect();
        let delta = Some("response.output_text.delta");
        let expected = [
            (1, 1, Some("response.created")),
            (2, 1, Some("response.output_item.added")),
            (3, 3, delta),
            (6, 1, None),
            (7, 2, delta),
        ];
        assert_eq!(told, expected);
        assert_eq!(rows[2].text, Some(Piece { text: "Hello you".to_owned(), cut: 0 }));
        assert_eq!(rows[4].text.as_ref().map(|text| (text.text.len(), text.cut)), Some((ROW_BYTES, 610)));
        assert_eq!(rows[2].bar.map(|bar| report.timelines[0].bars[bar].scope.as_str()), Some("text"));
    }

    /// Timelines are bounded, and the rest is counted.
    #[test]
    fn timelines_are_bounded() {
        let mut recording = stream(&[r#"{"type":"response.created","response":{"id":"r"}}"#]);
        for item in 0..1000 {
            let long = "x".repeat(200);
            recording.extend(stream(&[
                &format!(r#"{{"type":"response.output_item.added","output_index":{item},"item":{{"type":"function_call","id":"f{item}{long}","name":"{long}"}}}}"#),
                &format!(r#"{{"type":"response.function_call_arguments.delta","item_id":"f{item}{long}","output_index":{item},"delta":"{long}"}}"#),
                &format!(r#"{{"type":"unknown_{item}"}}"#),
                &format!(r#"{{"type":"response.function_call_arguments.done","item_id":"f{item}{long}","output_index":{item},"arguments":7}}"#),
            ]));
        }
        let report = checked("openai", &recording);
        let timeline = &report.timelines[0];
        assert_eq!((timeline.events, timeline.bars.len(), timeline.folded), (4001, BARS, 2001 - BARS as u64));
        assert_eq!(timeline.faulty.len(), FAULTY);
        assert_eq!((timeline.rows.len(), timeline.unlisted), (ROWS, 4001 - ROWS as u64));
        let size = serde_json::to_string(timeline).unwrap().len();
        assert!(size < 200_000, "{size} bytes");
        let names = timeline.bars.iter().filter_map(|bar| bar.name.as_deref());
        assert_eq!(names.map(|name| name.chars().count()).max(), Some(NAME + 1));
        let mut many = Vec::new();
        for number in 0..TURNS {
            many.extend(format!("{{\"exchange\":1,\"request\":{{\"url\":\"/{number}\"}},\"response\":{{\"status\":200}}}}\n{{\"at\":1,\"text\":\"x\"}}\n{{\"at\":1,\"end\":\"closed\"}}\n").into_bytes());
        }
        let report = checked("openai", &many);
        assert_eq!(report.timelines.len() as u64 + report.undrawn, TURNS);
        assert!(report.undrawn > 0);
    }

    const TURNS: u64 = 120;

    #[test]
    fn times_show_the_pace_in_few_numbers() {
        let mut recording = String::from(
            "{\"exchange\":1,\"request\":{\"method\":\"POST\",\"url\":\"/\"},\"response\":{\"status\":200,\"headers\":[[\"content-type\",\"text/event-stream\"]]}}\n",
        );
        for number in 0..1000 {
            let at = number + if number > 700 { 5000 } else { 0 };
            let _ = writeln!(recording, "{{\"at\":{at},\"text\":\"data: {{}}\\n\\n\"}}");
        }
        recording += "{\"at\":6000,\"end\":\"lost\",\"reason\":\"reset\"}\n";
        let report = checked("openai", recording.as_bytes());
        let timeline = &report.timelines[0];
        assert_eq!(timeline.pace.every, 16);
        assert_eq!(timeline.pace.times_ms.len(), 63);
        assert_eq!((timeline.pace.times_ms[1], timeline.pace.times_ms[50]), (16, 5800));
        assert_eq!(timeline.silence, Some(Silence { after: 701, ms: 5001 }));
        assert_eq!((timeline.duration_ms, timeline.lost.as_deref()), (Some(5999), Some("reset")));
    }

    #[test]
    fn secrets_of_a_request_are_not_told() {
        let har = r#"{"log":{"entries":[{"request":{"method":"POST","url":"https://a.test/v1/responses?key=sk-4711","headers":[],"postData":{"mimeType":"application/json","text":"{\"api_key\":\"sk-4711\",\"input\":\"Hi\"}"}},"response":{"status":200,"headers":[],"content":{"mimeType":"application/json","text":"{}"}}}]}}"#;
        let report = checked("openai", har.as_bytes());
        let told = serde_json::to_string(&report).unwrap();
        assert!(told.contains("input") && told.contains("[redacted]"), "{told}");
        assert!(!told.contains("4711"), "{told}");
    }
}

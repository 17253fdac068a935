//! Causes of findings.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use catalogue::Level;
use serde::{Deserialize, Serialize};
use spec::table::{Role, Scope};
use spec::{Dialect, Slot};

use super::capture::CaptureReport;
use super::live::{CaseReport, Transport};
use checker::{Finding, LevelName};

/// A group of findings of one rule, about one event type and one value, that differ in the same way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Cause {
    /// Stable id: the rule and the difference.
    pub id: String,
    /// The rule, `group/name`.
    pub rule: String,
    /// The worst level of its findings: at least a warning if a known client breaks.
    #[serde(with = "LevelName")]
    pub level: Level,
    /// The message of its first finding.
    pub message: String,
    /// The event type, if all findings share it.
    pub event_type: Option<String>,
    /// JSON pointer to the value, with `*` for an index.
    pub pointer: Option<String>,
    /// Clients that it breaks.
    pub clients: Vec<String>,
    /// Number of findings.
    pub times: u64,
    /// Number of recordings.
    pub captures: u64,
    /// The scenarios whose responses have it, if an endpoint was tested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cases: Vec<String>,
    /// Its earliest place in the simplest recording: index of the capture, index of the finding.
    pub first: [usize; 2],
    /// All its findings, in the form of `first`.
    pub findings: Vec<[usize; 2]>,
}

/// The common properties of the findings of a cause.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key<'f> {
    rule: &'f str,
    event: Option<&'f str>,
    pointer: Option<String>,
    difference: String,
}

/// The values that several events of a dialect carry.
struct Carriers<'d> {
    dialect: &'d Dialect,
    /// The places of the values: the response, and what events open.
    places: BTreeSet<&'static str>,
}

/// The findings of one cause.
#[derive(Default)]
struct Found<'f> {
    places: Vec<[usize; 2]>,
    level: Option<Level>,
    clients: BTreeSet<&'static str>,
    events: BTreeSet<Option<&'f str>>,
    times: u64,
}

impl Cause {
    /// Returns the causes of all findings: those that break most clients first, then by level, then by
    /// simplicity of the recording.
    pub(super) fn all(captures: &[CaptureReport], cases: &[CaseReport], dialect: &Dialect) -> Vec<Self> {
        let carriers = Carriers::of(dialect);
        let mut groups: BTreeMap<Key<'_>, Found<'_>> = BTreeMap::new();
        for (of, capture) in captures.iter().enumerate() {
            for (at, finding) in capture.findings.iter().enumerate() {
                let found = groups.entry(Key::of(finding, &carriers)).or_default();
                found.places.push([of, at]);
                found.level = found.level.max(Some(finding.severity()));
                found.clients.extend(finding.broken_clients().into_iter().map(|(client, _)| client));
                found.events.insert(finding.place.event_type.as_deref());
                found.times += finding.count;
            }
        }
        let mut ids = BTreeMap::new();
        let demands = demands(captures.len(), cases);
        let mut all: Vec<Self> = groups
            .into_iter()
            .filter_map(|(key, found)| Self::of(&key, found, captures, (cases, &demands), &mut ids))
            .collect();
        // The sort is stable: equal causes stay in the order of rules.
        all.sort_by_cached_key(|cause| {
            let [capture, at] = cause.first;
            let capture = captures.get(capture);
            let event =
                capture.and_then(|capture| capture.findings.get(at)).map(|finding| finding.place.event);
            let simple = (demands.get(cause.first[0]), capture.map(|capture| capture.events));
            (Reverse(cause.clients.len()), Reverse(cause.level), simple, event)
        });
        all
    }

    fn of(
        key: &Key<'_>,
        found: Found<'_>,
        captures: &[CaptureReport],
        (cases, demands): (&[CaseReport], &[(usize, usize)]),
        ids: &mut BTreeMap<String, usize>,
    ) -> Option<Self> {
        let simplest = |[of, at]: &[usize; 2]| {
            let capture = captures.get(*of)?;
            Some((demands.get(*of), capture.events, *of, capture.findings.get(*at)?.place.event, *at))
        };
        let first = found.places.iter().copied().min_by_key(simplest)?;
        let finding = captures.get(first[0])?.findings.get(first[1])?;
        let shown: BTreeSet<usize> = found.places.iter().map(|[of, _]| *of).collect();
        let is_shown_by = |case: &&CaseReport| case.attempts.iter().any(|attempt| shown.contains(attempt));
        Some(Self {
            id: unique(key.id(), ids),
            rule: key.rule.to_owned(),
            level: found.level?,
            message: finding.message.clone(),
            event_type: finding.place.event_type.clone().filter(|_| found.events.len() == 1),
            pointer: key.pointer.clone(),
            clients: found.clients.into_iter().map(str::to_owned).collect(),
            times: found.times,
            captures: shown.len() as u64,
            cases: cases.iter().filter(is_shown_by).map(|case| case.name.clone()).collect(),
            first,
            findings: found.places,
        })
    }
}

impl<'d> Carriers<'d> {
    fn of(dialect: &'d Dialect) -> Self {
        let opening = dialect.events.iter().filter(|info| info.role == Role::Open);
        let opened = opening.filter_map(|info| info.value?.strip_prefix('/'));
        Self { dialect, places: opened.chain([dialect.member(Slot::SNAPSHOT)]).collect() }
    }

    /// Returns whether a pointer leads into a value that several events carry.
    fn has(&self, pointer: &str) -> bool {
        let holder = pointer.strip_prefix('/').and_then(|pointer| pointer.split_once('/'));
        holder.is_some_and(|(holder, _)| self.places.contains(holder))
    }

    /// Returns the family of an event: all events with a snapshot of the response share one.
    fn family<'e>(&self, event: &'e str) -> &'e str {
        let is_snapshot = self.dialect.event(event).is_some_and(|info| {
            info.scope == Scope::ROOT && info.role != Role::Point && event != self.dialect.error
        });
        if is_snapshot { Scope::ROOT.info().name } else { event }
    }
}

impl<'f> Key<'f> {
    fn of(finding: &'f Finding, carriers: &Carriers<'_>) -> Self {
        let pointer = finding.pointer.as_deref().filter(|pointer| !pointer.is_empty()).map(starred);
        let event = finding.place.event_type.as_deref();
        let is_of_schema = finding.group() == "schema";
        // A value in several events is wrong for the same reason.
        let is_carried = pointer.as_deref().is_some_and(|pointer| carriers.has(pointer));
        // At which event a stream or a response goes wrong as a whole is chance.
        let is_of_stream = !is_of_schema
            && catalogue::rule(&finding.rule)
                .is_none_or(|rule| rule.scopes.iter().all(|scope| *scope == Scope::ROOT));
        Self {
            rule: &finding.rule,
            event: event
                .filter(|_| !(is_of_stream || is_of_schema && is_carried))
                .map(|event| carriers.family(event)),
            difference: difference(finding),
            pointer,
        }
    }

    /// Returns an id that is stable across runs.
    fn id(&self) -> String {
        let mut id = self.rule.to_owned();
        let difference = (self.rule.starts_with("schema/")).then_some(self.difference.as_str());
        for part in [self.event, self.pointer.as_deref(), difference].into_iter().flatten() {
            let words = part.split(|character: char| !character.is_ascii_alphanumeric());
            let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
            if !words.is_empty() {
                id.push('.');
                id.extend(words.join("-").chars().take(60));
            }
        }
        id
    }
}

/// Returns how many features the scenario of each capture needs, and how long its request is: what shows in a plain
/// scenario is shown there.
fn demands(captures: usize, cases: &[CaseReport]) -> Vec<(usize, usize)> {
    let mut demands = vec![(0, 0); captures];
    for case in cases {
        let scenario = catalogue::scenario(Transport::scenario(&case.name));
        for at in &case.attempts {
            if let (Some(demand), Some(scenario)) = (demands.get_mut(*at), scenario) {
                *demand = (scenario.features.len(), scenario.request.len());
            }
        }
    }
    demands
}

/// Returns the id, numbered if it is not unique.
fn unique(id: String, ids: &mut BTreeMap<String, usize>) -> String {
    let times = ids.entry(id.clone()).or_default();
    *times += 1;
    if *times == 1 { id } else { format!("{id}~{times}") }
}

/// Returns a JSON pointer with `*` for every index.
pub fn starred(pointer: &str) -> String {
    let is_index = |segment: &str| !segment.is_empty() && segment.bytes().all(|byte| byte.is_ascii_digit());
    let segments = pointer.split('/').map(|segment| if is_index(segment) { "*" } else { segment });
    segments.collect::<Vec<_>>().join("/")
}

/// Returns how the actual value differs from the expected one, without values of this stream.
fn difference(finding: &Finding) -> String {
    let text = |value: &Option<String>| value.as_deref().unwrap_or_default().to_owned();
    match &*finding.rule {
        "schema/type-known" => text(&finding.actual),
        "schema/event-known" => text(&finding.expected),
        _ if finding.group() == "schema" => format!("{} {}", text(&finding.expected), finding.form),
        _ => format!("{} {}", text(&finding.missing), finding.form),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use checker::Location;

    fn finding(rule: &'static str, event: &str, pointer: &str, message: &str) -> Finding {
        let place = Location { event: 3, event_type: Some(event.to_owned()), ..Location::default() };
        Finding {
            rule: rule.into(),
            level: Level::Must,
            message: message.to_owned(),
            exchange: None,
            exchange_number: None,
            place,
            pointer: (!pointer.is_empty()).then(|| pointer.to_owned()),
            missing: None,
            expected: Some("an object".to_owned()),
            actual: Some("null".to_owned()),
            form: "null".into(),
            related: None,
            spared: Vec::new(),
            count: 1,
        }
    }

    fn openai() -> &'static Dialect {
        spec::dialect("openai").unwrap()
    }

    fn causes(findings: Vec<Finding>) -> Vec<Cause> {
        let capture = CaptureReport { events: 9, findings, ..CaptureReport::default() };
        Cause::all(&[capture], &[], openai())
    }

    #[test]
    fn what_is_carried_by_several_events_has_one_cause() {
        let events = ["response.created", "response.in_progress", "response.completed"];
        let of = |event| finding("schema/event-valid", event, "/response/output/1/text", "x");
        let causes = causes(events.map(of).to_vec());
        assert_eq!(causes.len(), 1, "{causes:#?}");
        assert_eq!(causes[0].pointer.as_deref(), Some("/response/output/*/text"));
        assert_eq!((causes[0].event_type.as_deref(), causes[0].times), (None, 3));
        assert_eq!(causes[0].findings, [[0, 0], [0, 1], [0, 2]]);
    }

    #[test]
    fn what_differs_has_causes_of_its_own() {
        let differing = vec![
            finding("schema/event-valid", "response.created", "/response/text", "x"),
            finding("schema/event-valid", "response.created", "/response/error", "x"),
            finding("schema/event-valid", "response.output_text.done", "", "x"),
            finding("schema/event-valid", "response.output_text.delta", "", "x"),
            finding("item/key-mismatch", "response.output_text.delta", "/item_id", "it is \"a\" (msg_1)"),
            finding("item/key-mismatch", "response.output_text.delta", "/item_id", "it is \"b\" (msg_2)"),
        ];
        let causes = causes(differing);
        assert_eq!(causes.len(), 5, "{causes:#?}");
        let ids: BTreeSet<&str> = causes.iter().map(|cause| cause.id.as_str()).collect();
        assert_eq!(ids.len(), 5);
    }

    #[test]
    fn rules_about_the_whole_stream_have_one_cause_for_all_events() {
        let of = |event| finding("sequence/present", event, "", "the event has no sequence_number");
        let causes = causes(vec![of("response.created"), of("response.output_text.delta")]);
        assert_eq!(causes.iter().map(|cause| cause.id.as_str()).collect::<Vec<_>>(), ["sequence/present"]);
    }

    #[test]
    fn a_response_that_does_not_end_has_one_cause_wherever_its_stream_ends() {
        let of = |event| finding("response/one-terminal", event, "", "the stream is over");
        let causes = causes(vec![of("response.output_item.done"), of("response.output_text.delta")]);
        assert_eq!(causes.len(), 1, "{causes:#?}");
    }

    #[test]
    fn what_breaks_clients_comes_first() {
        let mut note = finding("schema/event-known", "response.heartbeat", "/type", "x");
        note.level = Level::May;
        let causes = causes(vec![finding("sequence/present", "x", "", "y"), note]);
        assert_eq!(causes[0].rule, "schema/event-known");
        assert_eq!(causes[0].level, Level::Should);
        assert!(causes[0].clients.iter().any(|client| client == "openai-node stream()"));
    }

    #[test]
    fn the_plainest_scenario_shows_a_cause() {
        let capture = |events| CaptureReport {
            events,
            findings: vec![finding("sequence/present", "response.created", "", "x")],
            ..CaptureReport::default()
        };
        let case = |(at, name): (usize, &str)| CaseReport {
            name: name.to_owned(),
            title: String::new(),
            missed: 0,
            attempts: vec![at],
            trials: Vec::new(),
        };
        let cases: Vec<CaseReport> =
            ["background/cut", "crowd/words", "text/hello"].into_iter().enumerate().map(case).collect();
        let found = Cause::all(&[capture(3), capture(9), capture(9)], &cases, openai());
        assert_eq!(found[0].first, [2, 0]);
    }

    #[test]
    fn causes_do_not_depend_on_messages() {
        let of = |message, form: &'static str| {
            let found = finding("wire/event-line", "response.completed", "", message);
            Finding { form: form.into(), ..found }
        };
        let found = causes(vec![of("one", "none"), of("another", "none"), of("one", "other")]);
        assert_eq!(found.iter().map(|cause| cause.times).collect::<Vec<_>>(), [2, 1]);
    }
}

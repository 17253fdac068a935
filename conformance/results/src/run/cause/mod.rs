//! Causes of findings.

mod effect;
mod key;
mod lack;
mod layer;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use catalogue::Level;
use serde::{Deserialize, Serialize};
use spec::Dialect;

pub use self::key::starred;
use self::key::{Key, Places};
use self::lack::Lack;
pub use self::layer::Layer;
use crate::{CaptureReport, CaseReport, FailOn, PlayedResponse, Transport};
use checker::LevelName;

/// Findings with one reason: of one rule, about one value or the properties that one object lacks, in streams and in
/// responses that are not streamed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Cause {
    /// Stable id: the rule and the difference.
    pub id: String,
    /// The rule of its first finding, `group/name`.
    pub rule: String,
    /// The layer of the rule. Causes of a lower layer come first.
    #[serde(default)]
    pub layer: Layer,
    /// The worst level of its findings.
    #[serde(with = "LevelName")]
    pub level: Level,
    /// Why its findings fail the run, if any does: the level, and the clients that the finding breaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fails: Option<String>,
    /// The fault: the message of its first finding, or all that an object lacks.
    pub message: String,
    /// How to mend it, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// The event type, if all findings share it.
    pub event_type: Option<String>,
    /// JSON pointer to the value in its first finding, with `*` for an index.
    pub pointer: Option<String>,
    /// The missing properties, if that is the fault.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// Clients that it breaks.
    pub clients: Vec<String>,
    /// The outcomes of clients with the response of `first`, if it was played to them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub played: Option<PlayedResponse>,
    /// Number of occurrences.
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
    /// The id of the cause that all its findings follow from: it ends with that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follows_from: Option<String>,
}

/// Returns what the findings of a cause have in common: the rule, and the difference.
pub fn cause_id(finding: &checker::Finding, dialect: &'static Dialect) -> String {
    Key::of(finding, Some(&Places::of(dialect))).id()
}

/// Returns what is wrong by findings of one cause: the message of the first, or all that an object lacks.
pub fn cause_message(findings: &[&checker::Finding]) -> String {
    let mut lack = Lack::default();
    for finding in findings {
        lack.add(finding);
    }
    let first = findings.first();
    first.map(|first| lack.message(first).unwrap_or_else(|| first.message.clone())).unwrap_or_default()
}

#[derive(Default)]
struct CauseFindings<'f> {
    places: Vec<[usize; 2]>,
    level: Option<Level>,
    /// Why the worst of them fails.
    fails: Option<(Level, String)>,
    clients: BTreeSet<&'static str>,
    events: BTreeSet<Option<&'f str>>,
    times: u64,
    lack: Lack<'f>,
}

impl Cause {
    /// In the order for mending them: by layer, then those that break most clients, then by level, then by simplicity of the
    /// recording. Notes that fail nothing come after them, and effects of others last.
    pub(super) fn all(
        captures: &mut [CaptureReport],
        cases: &[CaseReport],
        dialects: &[&'static Dialect],
        fail_on: FailOn,
    ) -> Vec<Self> {
        effect::mark_other_protocols(captures);
        let captures = &*captures;
        let places: Vec<(&str, Places<'_>)> =
            dialects.iter().map(|dialect| (dialect.name, Places::of(dialect))).collect();
        // A run of one dialect does not repeat it in its findings.
        let places_of = |finding: &checker::Finding| {
            let own = places.iter().find(|(name, _)| *name == finding.dialect);
            own.or(places.first()).map(|(_, places)| places)
        };
        let mut groups: BTreeMap<Key<'_>, CauseFindings<'_>> = BTreeMap::new();
        for (of, capture) in captures.iter().enumerate() {
            for (at, finding) in capture.findings.iter().enumerate() {
                let found = groups.entry(Key::of(finding, places_of(finding))).or_default();
                found.places.push([of, at]);
                found.level = found.level.max(Some(finding.level));
                if found.fails.as_ref().is_none_or(|(level, _)| *level < finding.level) {
                    found.fails =
                        fail_on.reason(finding).map(|why| (finding.level, why)).or(found.fails.take());
                }
                found.clients.extend(finding.broken_clients().into_iter().map(|(client, _)| client));
                found.events.insert(finding.place.event_type.as_deref());
                found.times += finding.count;
                found.lack.add(finding);
            }
        }
        let mut ids = BTreeMap::new();
        let demands = demands(captures.len(), cases);
        let mut all: Vec<Self> = groups
            .into_iter()
            .filter_map(|(key, found)| Self::of(&key, found, captures, (cases, &demands), &mut ids))
            .collect();
        effect::resolve(&mut all, captures);
        // The sort is stable: equal causes stay in the order of rules.
        all.sort_by_cached_key(|cause| {
            let [capture, at] = cause.first;
            let capture = captures.get(capture);
            let event =
                capture.and_then(|capture| capture.findings.get(at)).map(|finding| finding.place.event);
            let simple = (demands.get(cause.first[0]), capture.map(|capture| capture.events));
            let order = (cause.follows_from.is_some(), !cause.is_shown(Level::Should), cause.layer);
            (order, Reverse(cause.clients.len()), Reverse(cause.level), simple, event)
        });
        all
    }

    /// Returns whether it is shown from a level on: one that fails is shown whatever its level is.
    pub fn is_shown(&self, from: Level) -> bool {
        self.level >= from || self.fails.is_some()
    }

    fn of(
        key: &Key<'_>,
        found: CauseFindings<'_>,
        captures: &[CaptureReport],
        (cases, demands): (&[CaseReport], &[(usize, usize)]),
        ids: &mut BTreeMap<String, usize>,
    ) -> Option<Self> {
        let simplest = |[of, at]: &[usize; 2]| {
            let capture = captures.get(*of)?;
            let event = capture.findings.get(*at)?.place.event;
            // A finding of a stream and of its twin is shown in the stream.
            Some((event == 0, demands.get(*of), capture.events, *of, event, *at))
        };
        let first = found.places.iter().copied().min_by_key(simplest)?;
        let finding = captures.get(first[0])?.findings.get(first[1])?;
        let shown: BTreeSet<usize> = found.places.iter().map(|[of, _]| *of).collect();
        let is_shown_by = |case: &&CaseReport| case.attempts.iter().any(|attempt| shown.contains(attempt));
        let lack = &found.lack;
        Some(Self {
            id: unique(key.id(), ids),
            rule: finding.rule.to_string(),
            layer: Layer::of(&finding.rule),
            level: found.level?,
            fails: found.fails.map(|(_, why)| why),
            message: lack.message(finding).unwrap_or_else(|| finding.message.clone()),
            fix: lack.fix(finding).or_else(|| finding.fix().map(Into::into)),
            event_type: finding.place.event_type.clone().filter(|_| found.events.len() == 1),
            pointer: finding.pointer.as_deref().filter(|pointer| !pointer.is_empty()).map(starred),
            missing: lack.properties(),
            clients: found.clients.into_iter().map(str::to_owned).collect(),
            played: None,
            times: found.times,
            captures: shown.len() as u64,
            cases: cases.iter().filter(is_shown_by).map(|case| case.name.clone()).collect(),
            first,
            findings: found.places,
            follows_from: None,
        })
    }
}

/// The number of features that the scenario of each capture needs, and the length of its request: what shows in a plain
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

fn unique(id: String, ids: &mut BTreeMap<String, usize>) -> String {
    let times = ids.entry(id.clone()).or_default();
    *times += 1;
    if *times == 1 { id } else { format!("{id}~{times}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use checker::{Finding, Location, Supply};

    fn finding(rule: &'static str, event: &str, pointer: &str, message: &str) -> Finding {
        let place = Location { event: 3, event_type: Some(event.to_owned()), ..Location::default() };
        Finding {
            message: message.to_owned(),
            place,
            pointer: (!pointer.is_empty()).then(|| pointer.to_owned()),
            member: Some(pointer.to_owned()).filter(|pointer| !pointer.is_empty()),
            expected: Some("an object".to_owned()),
            actual: Some("null".to_owned()),
            form: "null".into(),
            ..crate::parts::fail_on::tests::finding(rule, Level::Must)
        }
    }

    fn openai() -> &'static Dialect {
        spec::dialect("openai").unwrap()
    }

    fn causes(findings: Vec<Finding>) -> Vec<Cause> {
        let capture = CaptureReport { events: 9, findings, ..CaptureReport::default() };
        Cause::all(&mut [capture], &[], &[openai()], FailOn::default())
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
    fn what_breaks_clients_comes_first_in_its_layer() {
        let mut note = finding("schema/event-known", "response.heartbeat", "/type", "x");
        note.level = Level::May;
        note.form = "".into();
        let causes = causes(vec![finding("schema/whole-numbers", "x", "", "y"), note]);
        assert_eq!(causes[0].rule, "schema/event-known");
        assert_eq!(causes[0].level, Level::May);
        assert!(
            causes[0].fails.as_ref().is_some_and(|why| why.starts_with("MAY, and breaks ")),
            "{causes:?}"
        );
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
        let found =
            Cause::all(&mut [capture(3), capture(9), capture(9)], &cases, &[openai()], FailOn::default());
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

    fn lacking(rule: &'static str, event: &str, pointer: &str, property: &str) -> Finding {
        let supply = Supply { holder: None, value: "null".to_owned(), misnomer: None };
        let mut found = finding(rule, event, "", &format!("{pointer} lacks property \"{property}\""));
        found.pointer = Some(pointer.to_owned());
        (found.missing, found.supply) = (Some(property.to_owned()), Some(Box::new(supply)));
        found
    }

    #[test]
    fn what_an_object_lacks_is_one_cause_wherever_it_is_carried() {
        let rule = "schema/event-valid";
        let mut body = lacking("schema/body-valid", "", "/output/0/content/0", "logprobs");
        (body.place.event, body.place.event_type) = (0, None);
        let found = causes(vec![
            lacking(rule, "response.content_part.added", "/part", "annotations"),
            lacking(rule, "response.content_part.added", "/part", "logprobs"),
            lacking(rule, "response.output_item.done", "/item/content/0", "annotations"),
            lacking(rule, "response.completed", "/response/output/0/content/0", "logprobs"),
            body,
        ]);
        assert_eq!(found.len(), 1, "{found:#?}");
        assert_eq!(
            found[0].message,
            "/part lacks 2 properties: annotations, logprobs (also in /item/content/*, /response/output/*/content/*)"
        );
        assert_eq!(found[0].fix.as_deref(), Some("add to /part: \"annotations\": null, \"logprobs\": null"));
    }

    #[test]
    fn what_events_of_a_scope_lack_is_one_cause() {
        let of = |event, property| lacking("schema/event-valid", event, "", property);
        let found = causes(vec![
            of("response.output_text.delta", "logprobs"),
            of("response.output_text.done", "logprobs"),
            of("response.output_text.done", "text"),
            of("response.function_call_arguments.done", "item_id"),
        ]);
        let messages: Vec<&str> = found.iter().map(|cause| cause.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                " lacks property \"item_id\"",
                "response.output_text.delta lacks logprobs; response.output_text.done lacks logprobs, text",
            ]
        );
    }

    #[test]
    fn lower_layers_come_first() {
        let rules = [
            "schema/event-valid",
            "item/reopened",
            "sequence/grows",
            "wire/event-line",
            "wire/event-stream-content-type",
        ];
        let found = causes(rules.map(|rule| finding(rule, "response.created", "", "x")).to_vec());
        let order: Vec<&str> = found.iter().map(|cause| cause.rule.as_str()).collect();
        assert_eq!(order, rules.into_iter().rev().collect::<Vec<_>>());
    }

    #[test]
    fn another_protocol_hides_what_follows_from_it_in_its_stream_alone() {
        let at = |mut found: Finding, event, exchange: &str| {
            (found.place.event, found.place.line) = (event, event);
            found.exchange = Some(exchange.to_owned());
            found
        };
        let foreign = || finding("schema/foreign-protocol", "chunk", "", "x");
        let ends = || finding("response/one-terminal", "chunk", "", "the stream is over");
        let found = causes(vec![
            at(foreign(), 1, "1"),
            at(ends(), 9, "1"),
            at(finding("wire/event-stream-content-type", "chunk", "", "x"), 1, "1"),
        ]);
        let effects: Vec<_> =
            found.iter().map(|cause| (&*cause.rule, cause.follows_from.as_deref())).collect();
        assert_eq!(
            effects,
            [
                ("wire/event-stream-content-type", None),
                ("schema/foreign-protocol", None),
                ("response/one-terminal", Some("schema/foreign-protocol.null")),
            ]
        );
        // Where it stands alone, too, or another protocol is only mixed in, it stays.
        for found in [
            vec![at(foreign(), 1, "1"), at(ends(), 9, "1"), at(ends(), 9, "2")],
            vec![at(foreign(), 4, "1"), at(ends(), 9, "1")],
        ] {
            assert!(causes(found).iter().all(|cause| cause.follows_from.is_none()));
        }
    }
}

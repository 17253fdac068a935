//! Findings in recorded streams. The corpus is not part of the repository.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use catalogue::Level;
use conformance::results::Finding;
use serde::Deserialize;
use spec::Verdict;
use tests::corpus::{self, Fired, Index, Recording, starred};

/// Since that day OpenAI's streams have all the fields that its schema requires.
const TODAY: &str = "2026-01-13";

/// Returns the vendor, and whether the recording is recent.
fn group(recording: &Recording) -> String {
    let Recording { vendor, class, .. } = recording;
    let era = if recording.is_since(TODAY) { "since" } else { "before" };
    let class = if class == "real" { String::new() } else { format!(", {class}") };
    format!("{vendor}{class}, {era} {TODAY}")
}

/// Findings in the streams of one group.
#[derive(Default)]
struct Tally {
    streams: BTreeSet<String>,
    events: usize,
    valid: usize,
    unknown: BTreeMap<String, usize>,
    /// By event, place and expectation: events and streams.
    faults: BTreeMap<String, (usize, BTreeSet<String>)>,
}

fn tally(dialect: &str) -> BTreeMap<String, Tally> {
    let recordings = corpus::required();
    let dialect = corpus::dialect(dialect);
    let index = Index::read(&recordings);
    let mut groups: BTreeMap<String, Tally> = BTreeMap::new();
    let events = ["real", "handmade"].map(|part| {
        corpus::events(&recordings.join(part))
            .into_iter()
            .map(move |event| (format!("{part}/{}", event.file.display()), event))
    });
    for (file, event) in events.into_iter().flatten() {
        let tally = groups.entry(group(index.of(&file))).or_default();
        tally.streams.insert(file.clone());
        tally.events += 1;
        let name = event.event_type();
        match dialect.check_event(&name, &event.data) {
            Verdict::Valid => tally.valid += 1,
            Verdict::Unknown if name.is_empty() => {
                *tally.unknown.entry("(none at all)".into()).or_default() += 1;
            }
            Verdict::Unknown => *tally.unknown.entry(name).or_default() += 1,
            Verdict::NotJson(problem, _) => tally.add(format!("not JSON: {problem}"), &file),
            Verdict::Invalid(faults, _) => {
                let kinds: BTreeSet<String> = faults
                    .iter()
                    .map(|fault| {
                        // Many events contain the same response.
                        let name = if fault.pointer.starts_with("/response") { "response.*" } else { &name };
                        format!("{name} {}: {}", starred(&fault.pointer), shortened(&fault.kind.to_string()))
                    })
                    .collect();
                for kind in kinds {
                    tally.add(kind, &file);
                }
            }
        }
    }
    groups
}

impl Tally {
    fn add(&mut self, kind: String, file: &str) {
        let (events, streams) = self.faults.entry(kind).or_default();
        *events += 1;
        streams.insert(file.to_owned());
    }
}

fn shortened(expected: &str) -> String {
    match expected.char_indices().nth(90) {
        Some((end, _)) => format!("{}…", &expected[..end]),
        None => expected.to_owned(),
    }
}

fn report(groups: &BTreeMap<String, Tally>) -> String {
    let mut text = String::new();
    for (name, Tally { streams, events, valid, unknown, faults }) in groups {
        let other: usize = unknown.values().sum();
        let invalid = events - valid - other;
        _ = writeln!(
            text,
            "{name}: {} streams, {events} events, {valid} valid, {invalid} invalid",
            streams.len()
        );
        for (kind, (events, streams)) in faults {
            _ = writeln!(text, "  {events} events ({} streams)  {kind}", streams.len());
        }
        for (name, count) in unknown {
            _ = writeln!(text, "  {count} events of no known type  {name}");
        }
    }
    text
}

#[cfg_attr(not(corpus), ignore = "needs the corpus of recordings: set CONFORMANCE_CORPUS")]
#[test]
fn faults_under_openai() {
    let groups = tally("openai");
    for vendor in ["openai", "azure"] {
        let today = &groups[&format!("{vendor}, since {TODAY}")];
        assert!(today.events > 300, "{vendor}: {} events", today.events);
        assert!(today.faults.is_empty() && today.unknown.is_empty(), "{}", report(&groups));
    }
    insta::assert_snapshot!(report(&groups));
}

#[cfg_attr(not(corpus), ignore = "needs the corpus of recordings: set CONFORMANCE_CORPUS")]
#[test]
fn faults_under_open_responses() {
    let groups = tally("open-responses");
    insta::assert_snapshot!(report(&groups));
}

/// A fault that a vendor's streams are known to have.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    dialects: Vec<String>,
    vendor: String,
    #[serde(default = "valid")]
    rule: String,
    pointer: Option<String>,
    /// The properties that are missing.
    #[serde(default)]
    lacks: Vec<String>,
    /// The start of the expected value.
    #[serde(default)]
    expected: String,
    /// Streams of that day or later do not have it.
    before: Option<String>,
}

fn valid() -> String {
    "schema/event-valid".to_owned()
}

impl Known {
    /// Returns the known faults of `known.toml`, one for each missing property.
    fn all() -> Vec<Self> {
        let mut lists: BTreeMap<String, Vec<Self>> =
            toml::from_str(include_str!("known.toml")).expect("it is as its type says");
        let each = |known: Self| {
            let of = |name: &String| Self { expected: format!("property \"{name}\""), ..known.clone() };
            if known.lacks.is_empty() { vec![known] } else { known.lacks.iter().map(of).collect() }
        };
        lists.remove("known").into_iter().flatten().flat_map(each).collect()
    }

    fn is_met(&self, dialect: &str, recording: &Recording, finding: &Finding) -> bool {
        let pointer = finding.pointer.as_deref().map(starred);
        self.dialects.iter().any(|of| of == dialect)
            && self.vendor == recording.vendor
            && self.rule == finding.rule
            && (self.pointer.is_none() || self.pointer == pointer)
            && finding.expected.as_deref().unwrap_or_default().starts_with(&self.expected)
            && self.before.as_ref().is_none_or(|day| recording.recorded.as_ref().is_some_and(|of| of < day))
    }
}

/// Checks the streams of real vendors, and returns the table of findings.
fn rules(dialect: &'static str) -> String {
    let recordings = corpus::required();
    let index = Index::read(&recordings);
    let (mut fired, all_known) = (Fired::default(), Known::all());
    let (mut unexpected, mut met) = (String::new(), BTreeSet::new());
    for (file, report) in
        corpus::check(&recordings.join("real"), &["sse", "ndjson"], corpus::dialect(dialect))
    {
        assert!(report.error.is_none() && report.events > 0, "{file}: {:?}", report.error);
        let recording = index.of(&format!("real/{file}"));
        fired.add(&group(recording), &file, &report);
        let is_today = recording.is_since(TODAY) && ["openai", "azure"].contains(&recording.vendor.as_str());
        for finding in &report.findings {
            let known = all_known.iter().position(|known| known.is_met(dialect, recording, finding));
            met.extend(known);
            if known.is_none() || dialect == "openai" && is_today {
                let Finding { rule, message, pointer, .. } = finding;
                let _ = writeln!(unexpected, "{file}: {rule}: {message} {pointer:?}");
            }
            if finding.rule == "schema/event-known" {
                let name = finding.actual.as_deref().unwrap_or_default();
                assert!(corpus::dialect("openai").event(name).is_some(), "{file}: who sends {name}?");
            }
        }
        let has_marker_fault = report.findings.iter().any(|finding| finding.rule == "wire/done-marker");
        let is_framed = Path::new(&file).extension().is_some_and(|extension| extension == "sse");
        assert_eq!(has_marker_fault, is_framed && dialect == "open-responses", "{file}: [DONE]");
    }
    assert!(unexpected.is_empty(), "not known of these vendors:\n{unexpected}");
    let is_of_dialect = |known: &Known| known.dialects.iter().any(|of| of == dialect);
    for (number, known) in all_known.iter().enumerate().filter(|(_, known)| is_of_dialect(known)) {
        let Known { vendor, rule, pointer, expected, .. } = known;
        assert!(met.contains(&number), "no stream has that any more: {vendor} {rule} {pointer:?} {expected}");
    }
    fired.table()
}

#[cfg_attr(not(corpus), ignore = "needs the corpus of recordings: set CONFORMANCE_CORPUS")]
#[test]
fn rules_under_openai() {
    let table = rules("openai");
    insta::assert_snapshot!(table);
}

#[cfg_attr(not(corpus), ignore = "needs the corpus of recordings: set CONFORMANCE_CORPUS")]
#[test]
fn rules_under_open_responses() {
    let table = rules("open-responses");
    insta::assert_snapshot!(table);
}

/// Detects recordings that were edited or shortened by hand.
#[cfg_attr(not(corpus), ignore = "needs the corpus of recordings: set CONFORMANCE_CORPUS")]
#[test]
fn handmade_streams_are_found_out() {
    const BROKEN: [(&str, &[&str]); 4] = [
        // Only ids were replaced, consistently, so there is nothing to find.
        ("pydai__test_openai_conversation_id_streaming_provider_details.1.sse", &[]),
        // Deltas and a whole item were cut out, and most of the response.
        (
            "vercel-openai__openai-phase.1.ndjson",
            &[
                "item/index-gap",
                "output/at-its-index",
                "schema/event-valid",
                "sequence/by-one",
                "text/deltas-joined",
            ],
        ),
        // Deltas were removed, and the sequence numbers adjusted.
        ("vercel-openai__openai-shell-container.1.ndjson", &["text/deltas-joined"]),
        // Two lines are no JSON, and the others have no numbers.
        ("vercel-openai__parallel-tool-call-wrapper.1.ndjson", &["sequence/present", "wire/json-object"]),
    ];
    let recordings = corpus::required();
    let reports = corpus::check(&recordings.join("handmade"), &["sse", "ndjson"], corpus::dialect("openai"));
    let found: Vec<(&str, Vec<&str>)> = reports
        .iter()
        .map(|(file, report)| {
            let rules: BTreeSet<&str> = report.findings.iter().map(|finding| finding.rule.as_ref()).collect();
            (file.as_str(), rules.into_iter().collect())
        })
        .collect();
    let expected: Vec<(&str, Vec<&str>)> =
        BROKEN.iter().map(|(file, rules)| (*file, rules.to_vec())).collect();
    assert_eq!(found, expected);
}

/// The examples that the dialects of single products were written from, all as goldens.
#[test]
fn examples_of_products_are_clean() {
    let goldens = corpus::repository().join("spec/apis/responses/goldens");
    let is_of_product = |dialect: &&&spec::Dialect| goldens.join(dialect.name).is_dir();
    let products: Vec<_> = spec::DIALECTS.iter().filter(is_of_product).collect();
    assert!(products.len() > 8, "{} dialects have goldens", products.len());
    for dialect in products {
        let name = dialect.name;
        let reports = corpus::check(&goldens.join(name), &["sse"], dialect);
        assert!(!reports.is_empty(), "{name} has no goldens");
        for (file, report) in reports {
            let found: Vec<_> = report.findings.iter().filter(|finding| finding.level > Level::May).collect();
            assert!(report.events > 0 && found.is_empty(), "{name}/{file}: {found:?}");
        }
    }
}

/// Gateways that proxy a vendor may have the accepted findings of that vendor.
#[cfg_attr(not(corpus), ignore = "needs the corpus of recordings: set CONFORMANCE_CORPUS")]
#[test]
fn recordings_of_a_vendor_are_clean_in_its_dialect() {
    let recordings = corpus::required().join("real");
    for (vendor, streams) in [("azure", 10), ("xai", 5)] {
        let reports = corpus::check(&recordings.join(vendor), &["sse", "ndjson"], corpus::dialect(vendor));
        assert_eq!(reports.len(), streams, "{vendor}");
        for (file, report) in reports {
            let found: Vec<_> = report.findings.iter().collect();
            assert!(report.events > 0 && found.is_empty(), "{vendor}/{file}: {found:?}");
        }
    }
    let strict = corpus::check(&recordings.join("xai"), &["sse", "ndjson"], corpus::dialect("openai"));
    let is_faulty = |report: &conformance::results::CaptureReport| !report.findings.is_empty();
    assert_eq!(strict.iter().filter(|(_, report)| is_faulty(report)).count(), 4);
}

/// Formats of recorders in tests of other projects: the entries of each, with their lines.
#[cfg_attr(not(corpus), ignore = "needs the corpus of recordings: set CONFORMANCE_CORPUS")]
#[test]
fn recorders_of_other_projects_are_read() {
    let folder = corpus::required().join("formats");
    let rules = conformance::Rules::of(corpus::dialect("openai"));
    let mut table = String::new();
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = std::fs::read(&file).expect("a file");
        let mut checking = conformance::recordings::Checking::new(&rules, false);
        checking.pass_over_other_apis(true);
        let report = checking.check(name.clone(), &mut &*bytes, None);
        assert_eq!(report.error, None, "{name}");
        let lines: Vec<&str> = std::str::from_utf8(&bytes).expect("text").lines().collect();
        for finding in &report.findings {
            let line = usize::try_from(finding.place.line).ok().and_then(|line| lines.get(line - 1));
            let event = finding.place.event_type.as_deref().unwrap_or_default();
            assert!(line.is_some_and(|line| line.contains(event)), "{name}:{}: {event}", finding.place.line);
        }
        let _ = writeln!(
            table,
            "{name}: {} streams, {} events, {} bodies, others {:?}",
            report.streams, report.events, report.bodies, report.other_apis
        );
    }
    insta::assert_snapshot!(table);
}

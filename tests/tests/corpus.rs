//! What the validators say of recorded streams. The corpus is not part of the repository: where it does
//! not lie beside it, nothing is tested.

#![expect(clippy::print_stdout, reason = "figures, for those who ask for the output")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

use spec::Verdict;
use tests::corpus;

/// Since that day OpenAI's streams have all the fields that its schema requires.
const TODAY: &str = "2026-01-13";

/// What is known of a recording, by its file.
struct Index(BTreeMap<String, (String, String)>);

impl Index {
    fn read(folder: &Path) -> Self {
        let text = fs::read_to_string(folder.join("INDEX.tsv")).expect("the corpus has an index");
        let rows = text.lines().skip(1).filter_map(|line| {
            let mut columns = line.split('\t');
            let (file, vendor) = (columns.next()?, columns.next()?);
            let (class, recorded) = (columns.next()?, columns.next()?);
            let vendor = if class == "real" { vendor.to_owned() } else { format!("{vendor}, {class}") };
            Some((file.to_owned(), (vendor, recorded.to_owned())))
        });
        Self(rows.collect())
    }

    /// Who sent it, and whether it was recorded today or before.
    fn group(&self, file: &str) -> String {
        let (vendor, recorded) = &self.0.get(file).unwrap_or_else(|| panic!("{file} is not in the index"));
        let era = if recorded.as_str() >= TODAY && recorded != "?" { "since" } else { "before" };
        format!("{vendor}, {era} {TODAY}")
    }
}

/// What is wrong with the streams of one group.
#[derive(Default)]
struct Tally {
    streams: BTreeSet<String>,
    events: usize,
    valid: usize,
    unknown: BTreeMap<String, usize>,
    /// By event, place and expectation: events and streams.
    faults: BTreeMap<String, (usize, BTreeSet<String>)>,
}

fn tally(dialect: &str) -> Option<BTreeMap<String, Tally>> {
    let Some(recordings) = corpus::recordings() else {
        println!("corpus: not there, skipped");
        return None;
    };
    let dialect =
        spec::DIALECTS.iter().find(|known| known.name == dialect).expect("the build has the dialect");
    let index = Index::read(&recordings);
    let mut groups: BTreeMap<String, Tally> = BTreeMap::new();
    let events = ["real", "handmade"].map(|part| {
        corpus::events(&recordings.join(part))
            .into_iter()
            .map(move |event| (format!("{part}/{}", event.file.display()), event))
    });
    for (file, event) in events.into_iter().flatten() {
        let group = groups.entry(index.group(&file)).or_default();
        group.streams.insert(file.clone());
        group.events += 1;
        let name = event.event_type();
        match dialect.check_event(&name, &event.data) {
            Verdict::Valid => group.valid += 1,
            Verdict::Unknown if name.is_empty() => {
                *group.unknown.entry("(none at all)".into()).or_default() += 1;
            }
            Verdict::Unknown => *group.unknown.entry(name).or_default() += 1,
            Verdict::NotJson(problem, _) => group.add(format!("not JSON: {problem}"), &file),
            Verdict::Invalid(faults, _) => {
                let kinds: BTreeSet<String> = faults
                    .iter()
                    .map(|fault| {
                        // The same response stands in many events.
                        let name = if fault.pointer.starts_with("/response") { "response.*" } else { &name };
                        format!("{name} {}: {}", starred(&fault.pointer), shortened(&fault.expected))
                    })
                    .collect();
                for kind in kinds {
                    group.add(kind, &file);
                }
            }
        }
    }
    Some(groups)
}

impl Tally {
    fn add(&mut self, kind: String, file: &str) {
        let (events, streams) = self.faults.entry(kind).or_default();
        *events += 1;
        streams.insert(file.to_owned());
    }
}

/// A pointer with a star for every index.
fn starred(pointer: &str) -> String {
    let segments =
        pointer.split('/').map(|segment| if segment.parse::<u32>().is_ok() { "*" } else { segment });
    segments.collect::<Vec<_>>().join("/")
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

#[test]
fn faults_under_openai() {
    let Some(groups) = tally("openai") else { return };
    for vendor in ["openai", "azure"] {
        let today = &groups[&format!("{vendor}, since {TODAY}")];
        assert!(today.events > 300, "{vendor}: {} events", today.events);
        assert!(today.faults.is_empty() && today.unknown.is_empty(), "{}", report(&groups));
    }
    insta::assert_snapshot!(report(&groups));
}

#[test]
fn faults_under_open_responses() {
    let Some(groups) = tally("open-responses") else { return };
    insta::assert_snapshot!(report(&groups));
}

//! Defects of gateways are found in their recordings. The recordings are not part of the repository; without them, the
//! tests are ignored.

#![expect(clippy::print_stdout, reason = "what no rule finds, for those who ask for the output")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;

use conformance::results::CaptureReport;
use serde::Deserialize;
use tests::corpus;

/// `gateways.toml`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    #[serde(rename = "defect")]
    defects: Vec<Defect>,
    #[serde(rename = "doubt", default)]
    doubts: Vec<Doubt>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Defect {
    what: String,
    recordings: Vec<String>,
    #[serde(default = "open_responses")]
    dialect: String,
    #[serde(default)]
    rules: Vec<String>,
    pointer: Option<String>,
    unseen: Option<String>,
    wanted: Option<String>,
    gap: Option<String>,
}

/// A finding that should not be there.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Doubt {
    recordings: Vec<String>,
    rule: String,
    why: String,
}

fn open_responses() -> String {
    "open-responses".to_owned()
}

fn listed() -> Listed {
    toml::from_str(include_str!("../../gateways.toml")).expect("the list can be read")
}

fn folder() -> PathBuf {
    corpus::required().join("gateways")
}

const DIALECTS: [&str; 2] = ["open-responses", "openai"];

/// The reports of the recordings of the gateways, by dialect and recording.
struct Checked(BTreeMap<&'static str, BTreeMap<String, CaptureReport>>);

impl Checked {
    fn all() -> Self {
        let folder = folder();
        let checked = DIALECTS.map(|name| {
            let reports = corpus::check(&folder, &["http", "jsonl"], corpus::dialect(name));
            let named = reports.into_iter().map(|(file, report)| match file.rsplit_once('.') {
                Some((stem, _)) => (stem.to_owned(), report),
                None => (file, report),
            });
            (name, named.collect())
        });
        Self(checked.into())
    }

    fn report(&self, dialect: &str, recording: &str) -> &CaptureReport {
        let reports = self.0.get(dialect).unwrap_or_else(|| panic!("{dialect} is not checked"));
        reports.get(recording).unwrap_or_else(|| panic!("there is no recording {recording}"))
    }

    /// Returns whether a rule has findings in a recording.
    fn finds(&self, dialect: &str, recording: &str, rule: &str) -> bool {
        assert!(
            catalogue::RULES.iter().any(|known| known.id == rule),
            "there is no rule {rule}: see gateways.toml"
        );
        self.report(dialect, recording).findings.iter().any(|finding| finding.rule == rule)
    }
}

#[test]
fn one_thing_is_said_of_each_defect() {
    for defect in listed().defects {
        let Defect { what, recordings, rules, pointer, unseen, wanted, gap, .. } = &defect;
        let said = [!rules.is_empty(), unseen.is_some(), gap.is_some()];
        assert_eq!(said.iter().filter(|said| **said).count(), 1, "{what}");
        assert_eq!(wanted.is_some(), gap.is_some(), "{what}");
        assert!(pointer.is_none() || rules.len() == 1, "{what}");
        assert!(!recordings.is_empty() || unseen.is_some(), "{what}");
    }
}

#[cfg_attr(not(corpus), ignore = "needs the corpus of recordings: set CONFORMANCE_CORPUS")]
#[test]
fn defects_are_found() {
    let checked = Checked::all();
    let mut missed = String::new();
    for Defect { what, recordings, dialect, rules, pointer, .. } in &listed().defects {
        for recording in recordings {
            for rule in rules {
                let is_there = checked.finds(dialect, recording, rule)
                    && pointer.as_deref().is_none_or(|wanted| {
                        checked
                            .report(dialect, recording)
                            .findings
                            .iter()
                            .filter(|finding| finding.rule == rule.as_str())
                            .filter_map(|finding| finding.pointer.as_deref())
                            .any(|found| corpus::starred(found) == wanted)
                    });
                if !is_there {
                    let _ = writeln!(missed, "{recording}: {rule} does not find that: {what}");
                }
            }
        }
    }
    assert!(missed.is_empty(), "{missed}");
}

#[cfg_attr(not(corpus), ignore = "needs the corpus of recordings: set CONFORMANCE_CORPUS")]
#[test]
fn what_is_not_found_is_still_not_found() {
    let checked = Checked::all();
    let mut stale = String::new();
    for Defect { what, recordings, dialect, unseen, wanted, gap, .. } in &listed().defects {
        if let Some(why) = unseen {
            println!("unseen: {what} {why}");
        }
        for recording in recordings {
            // Asserts that the recording exists.
            checked.report(dialect, recording);
            let (Some(wanted), Some(gap)) = (wanted, gap) else { continue };
            println!("gap: {recording}: {what} {gap}");
            if checked.finds(dialect, recording, wanted) {
                let _ = writeln!(stale, "{recording}: {wanted} finds now, and is to be listed: {what}");
            }
        }
    }
    for Doubt { recordings, rule, why } in &listed().doubts {
        for recording in recordings {
            println!("doubt: {recording}: {rule}: {why}");
            if !DIALECTS.iter().any(|dialect| checked.finds(dialect, recording, rule)) {
                let _ = writeln!(stale, "{recording}: {rule} is silent now, and no doubt is left");
            }
        }
    }
    assert!(stale.is_empty(), "{stale}");
}

/// Exchanges without a recording are documented; all others can be read.
#[cfg_attr(not(corpus), ignore = "needs the corpus of recordings: set CONFORMANCE_CORPUS")]
#[test]
fn recordings_can_be_read() {
    let checked = Checked::all();
    for reports in checked.0.values() {
        let unread =
            reports.iter().filter(|(_, report)| report.error.is_some()).map(|(name, _)| name.as_str());
        let empty = ["aimock-chaos-disconnect/text", "aimock-chaos-disconnect/text_nostream"];
        let expected: BTreeSet<_> = ["aimock/upstream_midstream_drop"].into_iter().chain(empty).collect();
        assert_eq!(unread.collect::<BTreeSet<_>>(), expected);
    }
}

fn table(dialect: &str) -> String {
    let checked = Checked::all();
    let mut fired = corpus::Fired::default();
    for (recording, report) in &checked.0[dialect] {
        let gateway = recording.split('/').next().unwrap_or_default();
        fired.add(gateway, recording, report);
    }
    fired.table()
}

#[cfg_attr(not(corpus), ignore = "needs the corpus of recordings: set CONFORMANCE_CORPUS")]
#[test]
fn rules_under_open_responses() {
    let table = table("open-responses");
    insta::assert_snapshot!(table);
}

#[cfg_attr(not(corpus), ignore = "needs the corpus of recordings: set CONFORMANCE_CORPUS")]
#[test]
fn rules_under_openai() {
    let table = table("openai");
    insta::assert_snapshot!(table);
}

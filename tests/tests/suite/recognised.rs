//! The dialects that are recognised in recordings of many vendors. The recordings are not part of the repository.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;

use catalogue::Level;
use conformance::Rules;
use conformance::checker::RuleSets;
use conformance::recordings::{Checking, check};
use conformance::results::CaptureReport;
use tests::corpus::{self, Recording};

fn broken(report: &CaptureReport) -> BTreeSet<String> {
    let musts = report.findings.iter().filter(|finding| finding.level == Level::Must);
    musts.map(|finding| finding.rule.to_string()).collect()
}

/// Returns how often each dialect is recognised, by vendor. The API is that of the folder, and a recording of the first
/// party breaks no MUST rule that it keeps in the dialect of its API.
fn table(folder: &Path, api: &str, usual: &str, first_party: &str) -> String {
    let (sets, rules) = (RuleSets::all(), Rules::of(corpus::dialect(usual)));
    let mut table: BTreeMap<(String, String, String), u64> = BTreeMap::new();
    for Recording { file, vendor, class, .. } in corpus::index(folder) {
        let open = || File::open(folder.join(&file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        let found = Checking::recognising(&sets, false).check(file.clone(), &mut open(), None);
        let stated = check(file.clone(), &mut open(), None, &rules);
        let names: BTreeSet<&str> = found.dialects.iter().map(|seen| &*seen.dialect).collect();
        for seen in &found.dialects {
            assert_eq!(seen.api, api, "{file}: {} by {}", seen.dialect, seen.by);
        }
        assert!(!names.is_empty(), "{file}: nothing is recognised");
        if class == "real" && vendor == first_party {
            let (found, stated) = (broken(&found), broken(&stated));
            assert!(found.is_subset(&stated), "{file}: {found:?}, but {stated:?} in {usual}");
        }
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        *table.entry((vendor, class, names)).or_default() += 1;
    }
    let mut text = String::new();
    for ((vendor, class, dialects), count) in table {
        let _ = writeln!(text, "{vendor}, {class}: {dialects} {count}");
    }
    text
}

#[cfg_attr(not(corpus), ignore = "needs the corpus of recordings: set CONFORMANCE_CORPUS")]
#[test]
fn streams_of_responses() {
    let table = table(&corpus::required(), "responses", "openai", "openai");
    insta::assert_snapshot!(table);
}

#[cfg_attr(not(neighbours), ignore = "needs recordings of other APIs: set CONFORMANCE_NEIGHBOURS")]
#[test]
fn streams_of_messages() {
    let table = table(&corpus::neighbours().join("messages"), "messages", "anthropic", "anthropic");
    insta::assert_snapshot!(table);
}

#[cfg_attr(not(neighbours), ignore = "needs recordings of other APIs: set CONFORMANCE_NEIGHBOURS")]
#[test]
fn streams_of_chat_completions() {
    let table = table(&corpus::neighbours().join("chat"), "chat", "chat", "openai");
    insta::assert_snapshot!(table);
}

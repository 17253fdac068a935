//! Number of recorded streams that conform to rules of another document: the figures that findings cite.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;

use catalogue::LooksAt;
use conformance::capture::{Frame, sse};
use conformance::checker::{Observer, Seen};
use conformance::{Checker, Rules};
use spec::table::Scope;
use tests::corpus::{self, Index};
use tests::generated::is_fresh;

const HEAD: &str = "\
# Recorded streams of OpenAI and Azure that keep each rule that stands on a sentence of Open Responses: dialect, rule,
# streams that keep it, streams that have something it is about. Written by
# BLESS=1 CONFORMANCE_CORPUS=... cargo test -p tests --test suite recorded
";

#[cfg_attr(not(corpus), ignore = "needs the corpus of recordings: set CONFORMANCE_CORPUS")]
#[test]
fn figures_are_fresh() {
    let recordings = corpus::required();
    let index = Index::read(&recordings);
    let dialect = corpus::dialect("openai");
    let mut scopes: BTreeMap<String, BTreeSet<Scope>> = BTreeMap::new();
    for event in corpus::events(&recordings.join("real")) {
        let found = dialect.event(&event.event_type()).map(|event| event.scope);
        let around = found.into_iter().flat_map(|scope| dialect.api.with_parents(scope));
        scopes.entry(event.file.display().to_string()).or_default().extend(around);
    }
    let mut counts: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for (file, report) in corpus::check(&recordings.join("real"), &["sse", "ndjson"], dialect) {
        if !["openai", "azure"].contains(&index.of(&format!("real/{file}")).vendor.as_str()) {
            continue;
        }
        let seen = scopes.get(&file).expect("it has events");
        let broken: BTreeSet<&str> = report.findings.iter().map(|finding| &*finding.rule).collect();
        for rule in Rules::of(dialect).iter() {
            let is_theirs = rule
                .in_dialect(dialect)
                .citation
                .source
                .to_lowercase()
                .replace(' ', "-")
                .starts_with("open-responses");
            let is_of_streams = rule.looks_at.contains(&LooksAt::Stream) || rule.looks_at.is_empty();
            // Hardly any of the streams reports an error, and none has its request.
            let is_of_few = matches!(rule.group(), "error" | "request");
            let is_about = rule.scopes.is_empty() || rule.scopes.iter().any(|scope| seen.contains(scope));
            if is_theirs && is_of_streams && !is_of_few && is_about {
                let (kept, streams) = counts.entry(rule.id).or_default();
                *streams += 1;
                *kept += u32::from(!broken.contains(rule.id));
            }
        }
    }
    assert!(counts.len() > 40 && counts["part/before-open"].1 > 100, "{counts:?}");
    let mut text = HEAD.to_owned();
    for (rule, (kept, streams)) in counts {
        let _ = writeln!(text, "openai {rule} {kept} {streams}");
    }
    is_fresh("spec/recorded.txt", &text, "recorded");
}

/// Sees every frame, so that none is taken the short way.
#[derive(Default)]
struct Watch(u64);

impl Observer for Watch {
    fn record(&mut self, _: &Seen<'_>) {
        self.0 += 1;
    }
}

/// Repeated deltas are compared with the last one instead of being parsed.
#[cfg_attr(not(corpus), ignore = "needs the corpus of recordings: set CONFORMANCE_CORPUS")]
#[test]
fn what_is_found_in_recordings_does_not_depend_on_the_way() {
    let mut streams = 0;
    for (api, dialect) in [("responses", "openai"), ("messages", "anthropic"), ("chat", "chat")] {
        let Some(folder) = corpus::of_api(api) else { continue };
        let dialect = corpus::dialect(dialect);
        for file in corpus::files(&folder, &["sse"]) {
            let bytes = fs::read(&file).expect("a recording");
            let [mut watched, mut whole, mut pieces] = [(); 3].map(|()| Checker::new(dialect));
            let mut watch = Watch::default();
            let mut take = |frame: Frame<'_>| {
                watched.frame_seen_by(&frame, &mut watch);
            };
            let mut parser = sse::Parser::default();
            parser.push(&bytes, &mut take);
            parser.finish(&mut take);
            whole.push(&bytes);
            bytes.chunks(997).for_each(|piece| {
                pieces.push(piece);
            });
            let [watched, others @ ..] = [watched, whole, pieces].map(|mut checker| {
                checker.finish();
                (checker.events(), checker.into_findings())
            });
            for other in others {
                assert_eq!(other, watched, "{}", file.display());
            }
            streams += usize::from(watch.0 > 0);
        }
    }
    assert!(streams > 100, "{streams} streams");
}

#[test]
fn figures_are_of_rules_that_exist() {
    let text = fs::read_to_string(corpus::repository().join("spec/recorded.txt")).expect("it is there");
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(lines.len() > 40, "{}", lines.len());
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        let [dialect, rule, ..] = words[..] else { panic!("{line}") };
        assert!(catalogue::rule(rule).is_some() && conformance::dialect(dialect).is_some(), "{line}");
        let recorded = catalogue::recorded(dialect, rule).expect("it can be read");
        assert!(recorded.kept <= recorded.streams && recorded.streams > 0, "{line}");
    }
    assert_eq!(catalogue::recorded("wave", "part/before-open"), None);
}

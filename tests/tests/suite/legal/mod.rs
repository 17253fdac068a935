//! Every legal stream within bounds keeps every rule, and every good stream is legal.

#![expect(clippy::print_stdout, reason = "prints figures, which `--nocapture` shows")]

mod clients;
mod data;
mod edits;
mod lanes;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::{fs, slice};

use checker::Checker;
use conformance::capture::Format;
use conformance::goldens::GOLDENS;
use grammar::{Enumeration, Grammar, Move, Steps};
use spec::Dialect;
use spec::table::Fallback;
use tests::corpus;
use tests::generated::is_part_fresh;
use tests::sample::{broken, observed, words};

use data::{Exceptions, Survivors};
use edits::Edit;

/// Returns the steps of a recording, and the rules that it breaks.
fn read(dialect: &'static Dialect, bytes: &[u8]) -> (Vec<Move>, BTreeMap<String, String>) {
    let mut steps = Steps::default();
    let broken = observed(dialect, bytes, &mut steps);
    (steps.0, broken)
}

/// Checks every stream of an enumeration. Returns a row of the page.
fn checked(of: &Enumeration, events: usize) -> String {
    let dialect = corpus::dialect(&of.dialect);
    let grammar = Grammar::of(dialect);
    let mut checker = Checker::new(dialect);
    let (mut count, mut total) = (0_u64, 0);
    for stream in of.streams(&grammar, events) {
        (count, total) = (count + 1, total + stream.len());
        checker.reset();
        checker.push(grammar.write(&stream).as_bytes());
        checker.finish();
        let broken = broken(&checker);
        assert!(broken.is_empty(), "{}#{count}, {}, breaks {broken:#?}", of.name, words(&stream));
    }
    format!("| `{}` | {} | {events} | {count} | {total} |\n", of.name, of.what)
}

fn all_checked(part: &str, events: impl Fn(&Enumeration) -> usize) {
    let mut rows =
        String::from("| name | what | most events | streams | events in them |\n|---|---|---|---|---|\n");
    for of in Enumeration::all() {
        rows += &checked(&of, events(&of));
    }
    println!("{rows}");
    let marks = (format!("<!-- {part} -->\n\n"), format!("\n<!-- /{part} -->"));
    is_part_fresh("docs/coverage.md", (&marks.0, &marks.1), &rows, "legal");
}

#[test]
fn legal_streams_keep_every_rule() {
    all_checked("legal", |of| of.bounds.events);
}

#[ignore = "takes minutes"]
#[test]
fn longer_legal_streams_keep_every_rule() {
    all_checked("legal-full", |of| of.full);
}

/// The page has the numbers of streams that were counted.
#[test]
fn streams_are_counted() {
    let page =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/coverage.md")).expect("it is there");
    let (_, part) = page.split_once("<!-- legal-full -->").expect("it has the part");
    for of in Enumeration::all() {
        let row = format!("| `{}` | {} | {} | {} |", of.name, of.what, of.full, of.count);
        assert!(part.contains(&row), "{row}: see enumerations.toml");
    }
}

/// The enumeration accepts what it makes, and reads it back as what it was.
#[test]
fn what_is_written_is_read() {
    for of in Enumeration::all() {
        let dialect = corpus::dialect(&of.dialect);
        let grammar = Grammar::of(dialect);
        for stream in of.streams(&grammar, of.bounds.events.min(7)) {
            let (mut read, _) = read(dialect, grammar.write(&stream).as_bytes());
            read.iter_mut().zip(&stream).for_each(|(read, written)| {
                read.sort_by_key(|step| written.iter().position(|other| other == step));
            });
            assert_eq!(read, stream, "{}: {}\n{}", dialect.name, words(&stream), words(&read));
            assert_eq!(grammar.accepts(&stream), Ok(()), "{}: {}", dialect.name, words(&stream));
        }
    }
}

#[test]
fn goldens_are_legal() {
    let mut exceptions = Exceptions::read().goldens;
    let mut unlike = Vec::new();
    // Nothing writes streams whose events are bodies.
    let written = |dialect: &&Dialect| !dialect.api.is_stream_of_bodies();
    for dialect in conformance::gateway::called_dialects().filter(written) {
        let grammar = Grammar::of(dialect);
        for golden in GOLDENS.iter().filter(|it| it.format == Format::Sse && it.holds_for(dialect.name)) {
            let (moves, _) = read(dialect, golden.bytes);
            let id = format!("{}/{}", golden.dialect, golden.name);
            if let Err(at) = grammar.accepts(&moves)
                && exceptions.remove(&id).is_none()
            {
                unlike.push(format!("{id} in {}, event {at:?}: {}", dialect.name, words(&moves)));
            }
        }
    }
    assert!(unlike.is_empty(), "the grammar does not have {unlike:#?}");
    assert!(exceptions.is_empty(), "the grammar has {exceptions:#?}");
}

/// The recordings of the first parties: API, vendor, dialect.
const RECORDED: [(&str, &str, &str); 4] = [
    ("responses", "openai", "openai"),
    ("responses", "azure", "azure"),
    ("messages", "anthropic", "anthropic"),
    ("chat", "openai", "chat"),
];

#[cfg_attr(
    not(all(corpus, neighbours)),
    ignore = "needs the recordings: set CONFORMANCE_CORPUS and CONFORMANCE_NEIGHBOURS"
)]
#[test]
fn recordings_are_legal() {
    let mut exceptions = Exceptions::read().recordings;
    let (mut unlike, mut lines) = (Vec::new(), String::new());
    for (api, vendor, name) in RECORDED {
        let dialect = corpus::dialect(name);
        let (grammar, mut legal, mut excepted) = (Grammar::of(dialect), 0, 0);
        for path in corpus::real(api, vendor) {
            let (moves, broken) = read(dialect, &fs::read(&path).expect("it is there"));
            if !broken.is_empty() || moves.is_empty() {
                continue;
            }
            let Err(at) = grammar.accepts(&moves) else {
                legal += 1;
                continue;
            };
            let file = path.file_name().unwrap_or_default().display().to_string();
            if exceptions.remove(&file).is_some() {
                excepted += 1;
            } else {
                let event = at.and_then(|at| moves.get(at)).map(|steps| words(slice::from_ref(steps)));
                unlike.push(format!("{file}, event {at:?}: {event:?}"));
            }
        }
        let _ = writeln!(
            lines,
            "- {name}: {legal} recordings without a finding are legal, {excepted} are excepted."
        );
    }
    assert!(unlike.is_empty(), "the grammar does not have {unlike:#?}");
    assert!(exceptions.is_empty(), "the grammar has {exceptions:#?}");
    let marks = ("<!-- legal-recordings -->\n\n", "\n<!-- /legal-recordings -->");
    is_part_fresh("docs/coverage.md", marks, &lines, "legal");
}

/// What became of the edits of a kind.
#[derive(Debug, Default)]
struct Fate {
    found: u64,
    /// The edited stream is legal.
    legal: u64,
    survived: u64,
    /// The first that survived.
    first: String,
}

/// Makes every single edit of the streams of an enumeration.
fn edited(of: &Enumeration, fates: &mut BTreeMap<String, Fate>) {
    let dialect = corpus::dialect(&of.dialect);
    let grammar = Grammar::of(dialect);
    let mut checker = Checker::new(dialect);
    let mut number = 0;
    for stream in of.streams(&grammar, of.edited) {
        let events = grammar.events(&stream);
        for edit in Edit::all(&grammar, &events) {
            number += 1;
            if number % of.sampled != 0 {
                continue;
            }
            let text = grammar.frame(&edit.make(&grammar, &events));
            checker.reset();
            checker.push(text.as_bytes());
            checker.finish();
            let fate = fates.entry(edit.kind(&events)).or_default();
            if !broken(&checker).is_empty() {
                fate.found += 1;
            } else if edit.is_of_order() && grammar.accepts(&read(dialect, text.as_bytes()).0).is_ok() {
                fate.legal += 1;
            } else {
                fate.survived += 1;
                if fate.first.is_empty() {
                    fate.first = words(&stream);
                }
            }
        }
    }
}

/// Returns a row of the page about a dialect, and adds the kinds of edits that survive and are not decided, and the decisions
/// about none. What is decided for the first party holds for every dialect of the API.
fn decided(dialect: &str, fates: &BTreeMap<String, Fate>, faults: &mut Vec<String>) -> String {
    let api = corpus::dialect(dialect).api.name;
    let is_first = |of: &&&Dialect| of.fallback != Fallback::None && of.api.name == api;
    let first = spec::DIALECTS.iter().find(is_first).map_or("", |first| first.name);
    let [own, inherited] = Survivors::of(dialect, first);
    let mut rows = BTreeMap::<&str, u64>::new();
    let mut undecided: BTreeMap<&String, &Fate> =
        fates.iter().filter(|(_, fate)| fate.survived > 0).collect();
    for decision in own.iter().chain(&inherited) {
        for (edit, pattern) in decision.patterns() {
            let before = undecided.len();
            undecided.retain(|kind, fate| {
                let is_meant = pattern.is_match(kind);
                *rows.entry(&decision.decided).or_default() += if is_meant { fate.survived } else { 0 };
                !is_meant
            });
            let is_own = own.iter().any(|own| std::ptr::eq(own, decision));
            if is_own && undecided.len() == before {
                faults.push(format!("{dialect}: no edit like {edit:?} survives: {}", decision.reason));
            }
        }
    }
    faults.extend(undecided.iter().map(|(kind, fate)| format!("{dialect}: {kind:?} survives: {fate:?}")));
    let sum = |count: fn(&Fate) -> u64| fates.values().map(count).sum::<u64>();
    let (found, legal, survived) =
        (sum(|fate| fate.found), sum(|fate| fate.legal), sum(|fate| fate.survived));
    let all = found + legal + survived;
    let of = |name: &str| rows.get(name).copied().unwrap_or_default();
    let rate = 1000 * found / (all - legal - of("free"));
    format!(
        "| {dialect} | {all} | {legal} | {found} | {}.{} % | {} | {} | {} | {} |\n",
        rate / 10,
        rate % 10,
        of("free"),
        of("open"),
        of("tolerated"),
        of("unseen"),
    )
}

#[test]
fn edits_are_found() {
    let mut all = BTreeMap::<&str, BTreeMap<String, Fate>>::new();
    let enumerations = Enumeration::all();
    for of in &enumerations {
        edited(of, all.entry(&of.dialect).or_default());
    }
    let mut faults = Vec::new();
    let mut rows = String::from(
        "| dialect | edits | legal, too | found | found of those that are wrong | free | open | tolerated | unseen |\n|---|---|---|---|---|---|---|---|---|\n",
    );
    for (dialect, fates) in &all {
        rows += &decided(dialect, fates, &mut faults);
    }
    assert!(faults.is_empty(), "{faults:#?}");
    is_part_fresh(
        "docs/coverage.md",
        ("<!-- legal-edits -->\n\n", "\n<!-- /legal-edits -->"),
        &rows,
        "legal",
    );
}

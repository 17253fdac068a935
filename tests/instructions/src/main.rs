//! Kinds of work on streams of a dialect, one after the other: `instructions DIALECT STREAMS WORK...`. `.ci/instructions`
//! counts what each executes, which is the same in every run, unlike its time. The streams are `goldens`, `damaged`, `many` or the
//! files of a folder. `kinds` prints the kinds of their events, and `of:KIND` checks all, of which `counted_kind` takes those of one kind.

mod streams;

use std::collections::BTreeMap;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};

use checker::{Checker, RuleSets, Rules};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use spec::Dialect;

/// Number of items of a stream of many: what grows with the square of them costs more than all else.
const MANY: usize = 2_000;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (Some(dialect), Some(what)) = (arguments.next(), arguments.next()) else { return };
    let dialect = spec::dialect(&dialect).expect("a dialect");
    let goldens = goldens(dialect);
    let streams = match &*what {
        "goldens" => recorded(&goldens),
        "damaged" => {
            recorded(&goldens).iter().flat_map(|golden| streams::damaged([&**golden].into_iter())).collect()
        }
        "many" => vec![many(dialect, &goldens)],
        folder => recorded(Path::new(folder)),
    };
    let (events, rules, sets) = (events(&streams), Rules::of(dialect), RuleSets::all());
    for work in arguments {
        let work: &dyn Fn() -> usize = match &*work {
            "read" => &|| read::<Value>(&events),
            "grammar" => &|| read::<IgnoredAny>(&events),
            "validate" => &|| validate(dialect, &events),
            "check" => &|| check(Checker::with_rules(&rules), &streams),
            "recognise" => &|| check(Checker::recognising(&sets), &streams),
            "kinds" => return print_kinds(dialect, &events),
            one if one.starts_with("of:") => {
                return check_of_kind(Checker::with_rules(&rules), dialect, &streams, &one["of:".len()..]);
            }
            other => panic!("there is no work {other}"),
        };
        // The first time, some is done that is not done again.
        black_box(work());
        black_box(counted(work));
    }
}

/// Does what is counted. The script finds it by its name.
#[inline(never)]
fn counted(work: &dyn Fn() -> usize) -> usize {
    work()
}

fn goldens(dialect: &Dialect) -> PathBuf {
    let spec = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec"));
    spec.join("apis").join(dialect.api.name).join("goldens").join(dialect.name)
}

/// The streams in the files of a folder.
fn recorded(folder: &Path) -> Vec<Vec<u8>> {
    let files = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<_> = files.filter(|file| file.extension().is_some_and(|it| it == "sse")).collect();
    files.sort();
    files.iter().map(|file| fs::read(file).expect("a file")).collect()
}

fn many(dialect: &Dialect, goldens: &Path) -> Vec<u8> {
    let pattern =
        streams::PATTERNS.iter().find(|pattern| pattern.dialect == dialect.name).expect("a pattern");
    let file = goldens.join(pattern.golden).with_extension("sse");
    let golden = fs::read_to_string(file).expect("the golden");
    let mut stream = Vec::new();
    let mut keep = |frame: &str| stream.extend_from_slice(frame.as_bytes());
    pattern.many(&golden, MANY, false, &|_| true, &mut keep);
    stream
}

/// Returns the data of all events.
fn events(streams: &[Vec<u8>]) -> Vec<&str> {
    let text = streams.iter().filter_map(|stream| std::str::from_utf8(stream).ok());
    text.flat_map(str::lines)
        .filter_map(|line| line.strip_prefix("data: "))
        .filter(|data| data.starts_with('{'))
        .collect()
}

fn read<'e, T: Deserialize<'e>>(events: &[&'e str]) -> usize {
    events.iter().filter(|data| serde_json::from_str::<T>(data).is_ok()).count()
}

fn validate(dialect: &Dialect, events: &[&str]) -> usize {
    let is_valid = |data: &&&str| {
        streams::event_of(dialect, data).is_some_and(|event| dialect.check_event(event.name, data).is_valid())
    };
    events.iter().filter(is_valid).count()
}

/// The type of an event, with the effects of a list that take place.
fn kind(dialect: &Dialect, data: &str) -> Option<String> {
    let event = streams::event_of(dialect, data)?;
    let (_, _, matches) = dialect.read_event(event.name, data);
    let mut effects: Vec<_> = matches.effects(event).filter_map(|effect| effect.effect).collect();
    effects.dedup();
    Some([event.name].into_iter().chain(effects).collect::<Vec<_>>().join("+"))
}

/// Prints the kinds of events, each with their number.
#[expect(clippy::print_stdout, reason = "it is the output of a program")]
fn print_kinds(dialect: &Dialect, events: &[&str]) {
    let mut counts = BTreeMap::<_, usize>::new();
    for kind in events.iter().filter_map(|data| kind(dialect, data)) {
        *counts.entry(kind).or_default() += 1;
    }
    for (kind, count) in counts {
        println!("{kind} {count}");
    }
}

fn check_of_kind(mut checker: Checker, dialect: &Dialect, streams: &[Vec<u8>], wanted: &str) {
    // The first time, some is done that is not done again.
    for is_counted in [false, true] {
        for stream in streams.iter().filter_map(|stream| std::str::from_utf8(stream).ok()) {
            checker.reset();
            for frame in frames(stream) {
                let data = frame.lines().find_map(|line| line.strip_prefix("data: ")).unwrap_or_default();
                if is_counted && kind(dialect, data).is_some_and(|kind| kind == wanted) {
                    counted_kind(&mut checker, frame);
                } else {
                    checker.push(frame.as_bytes());
                }
            }
            checker.finish();
        }
    }
}

/// The frames of a stream, with the line ends of any system.
fn frames(stream: &str) -> impl Iterator<Item = &str> {
    let end = if stream.contains("\r\n\r\n") { "\r\n\r\n" } else { "\n\n" };
    stream.split_inclusive(end)
}

/// Checks an event of the kind that is counted. The script finds it by its name.
#[inline(never)]
fn counted_kind(checker: &mut Checker, frame: &str) {
    black_box(checker.push(frame.as_bytes()).len());
}

fn check(mut checker: Checker, streams: &[Vec<u8>]) -> usize {
    let mut found = 0;
    for stream in streams {
        checker.reset();
        checker.push(stream);
        checker.finish();
        found += checker.findings().len();
    }
    found
}

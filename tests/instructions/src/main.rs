//! Kinds of work on streams of a dialect, one after the other: `instructions DIALECT STREAMS WORK...`. `.ci/instructions`
//! counts what each executes, which is the same in every run, unlike its time.

mod streams;

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};

use checker::{Checker, RuleSets, Rules};
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
            "read" => &|| read(&events),
            "validate" => &|| validate(dialect, &events),
            "check" => &|| check(Checker::with_rules(&rules), &streams),
            "recognise" => &|| check(Checker::recognising(&sets), &streams),
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

fn read(events: &[&str]) -> usize {
    events.iter().filter(|data| serde_json::from_str::<Value>(data).is_ok()).count()
}

fn validate(dialect: &Dialect, events: &[&str]) -> usize {
    let is_valid = |data: &&&str| {
        streams::event_of(dialect, data).is_some_and(|event| dialect.check_event(event.name, data).is_valid())
    };
    events.iter().filter(is_valid).count()
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

//! The lifecycle of each API, written a second time from its documentation, and compared with the checker.
//!
//! `tests/model/<api>.toml` has the transitions of a model, and its module says what events do. A disagreement is a fault of
//! one of them, which is mended, or a question about the documents, which `tests/model/compared.toml` decides.

#![expect(clippy::print_stdout, reason = "prints what was compared, which `--nocapture` shows")]

mod chat;
mod compare;
mod event;
mod machine;
mod messages;
mod responses;
mod traces;

use std::env;
use std::fs;
use std::path::PathBuf;

use catalogue::Level;
use conformance::capture::Format;
use conformance::goldens;
use grammar::{Bounds, Grammar, Move, Streams};
use spec::Dialect;
use tests::corpus;
use tests::decided::Compared;
use tests::generated::is_part_fresh;
use tests::random::Xorshift;

use chat::Chat;
use compare::Comparison;
use event::Event;
use machine::{Model, Run};
use messages::Messages;
use responses::Responses;
use traces::{Edit, edited_twice, walk};

/// How many streams are compared for each API.
#[derive(Clone, Copy)]
struct Amount {
    /// One of so many single edits is made.
    step: usize,
    /// The number of pairs of edits, and of random walks.
    random: usize,
}

const USUAL: Amount = Amount { step: 2, random: 300 };

/// Returns the goldens of an API, and those that are edited.
fn goldens_of(compared: &Compared) -> [Vec<Vec<Event>>; 2] {
    let is_own =
        |golden: &&goldens::Golden| golden.dialect == compared.dialect && golden.format == Format::Sse;
    let is_edited = |golden: &&goldens::Golden| !compared.unedited.contains_key(golden.name);
    let all = || goldens::GOLDENS.iter().filter(is_own);
    let events = |golden: &goldens::Golden| Event::all(golden.bytes);
    [all().map(events).collect(), all().filter(is_edited).map(events).collect()]
}

/// Returns all streams with one edit.
fn edited(goldens: &[Vec<Event>]) -> impl Iterator<Item = Vec<u8>> {
    let of_golden = |golden: &Vec<Event>| {
        let edit = |edit: &Edit| {
            let mut events = golden.clone();
            edit.make(&mut events);
            Event::stream(&events)
        };
        Edit::all(golden).iter().map(edit).collect::<Vec<_>>()
    };
    goldens.iter().flat_map(of_golden)
}

/// Returns legal streams, as the tables of the suite have them, and each with an edit.
fn legal(dialect: &'static Dialect, amount: Amount) -> Vec<Vec<u8>> {
    let bounds = Bounds {
        events: 8,
        containers: 2,
        siblings: 2,
        fragments: 1,
        points: 1,
        effects: 1,
        combined: false,
        interleaved: true,
        kinds: Vec::new(),
    };
    let (grammar, mut random) = (Grammar::of(dialect), Xorshift::new(39));
    let streams = Streams::new(&grammar, bounds).step_by(amount.step * 7).take(amount.random.min(5_000));
    let twice = |moves: Vec<Move>| {
        let stream = grammar.write(&moves).into_bytes();
        let mut events = Event::all(&stream);
        random.pick(&Edit::all(&events)).make(&mut events);
        [stream, Event::stream(&events)]
    };
    streams.flat_map(twice).collect()
}

/// Compares a model with the checker. Returns a row of the page.
fn compared<M: Model>(amount: Amount) -> String {
    let mut comparison = Comparison::of::<M>();
    let [all, goldens] = goldens_of(&comparison.compared);
    let table = comparison.table.clone();
    let mut random = Xorshift::new(38);
    let mut counts =
        vec![table.rows.len(), comparison.compare::<M>(all.iter().map(|events| Event::stream(events)))];
    counts.push(comparison.compare::<M>(edited(&goldens).step_by(amount.step)));
    let pairs =
        (0..amount.random).map(|_| Event::stream(&edited_twice(random.pick(&goldens).clone(), &mut random)));
    counts.push(comparison.compare::<M>(pairs));
    let walks = (0..amount.random).map(|_| Event::stream(&walk::<M>(&table, &goldens, &mut random)));
    counts.push(comparison.compare::<M>(walks));
    let legal = legal(corpus::dialect(&comparison.compared.dialect), amount);
    counts.push(comparison.compare::<M>(legal.into_iter()));
    let (undecided, unused) = (comparison.undecided(), comparison.unused());
    assert!(undecided.is_empty(), "{}: {} undecided\n{}", M::API, undecided.len(), undecided.join("\n"));
    assert!(unused.is_empty(), "{}: no stream is as decided: {unused:#?}", M::API);
    let agreed = |level| comparison.agreed.get(&level).copied().unwrap_or_default();
    counts.extend([Level::Off, Level::Should, Level::Must].map(agreed));
    counts.push(comparison.compared.decided.len());
    let title = corpus::dialect(&comparison.compared.dialect).api.title;
    let counts = counts.iter().map(usize::to_string).collect::<Vec<_>>().join(" | ");
    let taken = comparison.taken();
    format!("| {title} | {taken} of {counts} | {} of {} |\n", comparison.refuted(), comparison.mistakes)
}

/// Compares all models, and checks what the page says of it.
fn all_compared(part: &str, amount: impl Fn(usize) -> Amount) {
    let mut rows = String::from(
        "| API | transitions taken | goldens | edits | pairs of edits | random walks | legal streams | break nothing | break a SHOULD | break a MUST | decided | wrong models rejected |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    rows += &compared::<Messages>(amount(1));
    rows += &compared::<Chat>(amount(2));
    rows += &compared::<Responses>(amount(0));
    println!("{rows}");
    let marks = (format!("<!-- {part} -->\n\n"), format!("\n<!-- /{part} -->"));
    is_part_fresh("docs/coverage.md", (&marks.0, &marks.1), &rows, "model");
}

#[test]
fn the_models_agree_with_the_checker() {
    all_compared("model", |_| USUAL);
}

#[ignore = "compares a million streams, or `MODEL_TRACES`"]
#[test]
fn the_models_agree_on_a_million_streams() {
    let wanted = env::var("MODEL_TRACES").ok().and_then(|number| number.parse().ok()).unwrap_or(1_000_000);
    all_compared("model-million", |_| Amount { step: 1, random: wanted / 6 });
}

/// Compares a model with the checker on recordings. Returns a line of the page.
fn compared_on_recordings<M: Model>(files: &[PathBuf]) -> String {
    let mut comparison = Comparison::of::<M>();
    let stream = |file: &PathBuf| {
        let text = fs::read_to_string(file).expect("it is there");
        let framed = |line: &str| format!("data: {line}\n\n");
        let is_framed = file.extension().is_some_and(|extension| extension == "sse");
        let text = if is_framed { text } else { text.lines().map(framed).collect() };
        Event::stream(&Event::all(text.as_bytes()))
    };
    let count = comparison.compare::<M>(files.iter().map(stream));
    let undecided = comparison.undecided();
    assert!(undecided.is_empty(), "{}: {} undecided\n{}", M::API, undecided.len(), undecided.join("\n"));
    let good = comparison.agreed.get(&Level::Off).copied().unwrap_or_default();
    let title = corpus::dialect(&comparison.compared.dialect).api.title;
    format!("- {title}: {count} recordings, {good} of which break nothing.\n")
}

#[cfg_attr(
    not(all(corpus, neighbours)),
    ignore = "needs the recordings: set CONFORMANCE_CORPUS and CONFORMANCE_NEIGHBOURS"
)]
#[test]
fn the_models_agree_on_recordings() {
    let neighbours = |api| corpus::files(&corpus::neighbours().join(api), &["sse", "ndjson"]);
    let lines = [
        compared_on_recordings::<Messages>(&neighbours("messages")),
        compared_on_recordings::<Chat>(&neighbours("chat")),
        compared_on_recordings::<Responses>(&corpus::files(&corpus::required(), &["sse", "ndjson"])),
    ];
    is_part_fresh(
        "docs/coverage.md",
        ("<!-- model-recordings -->\n\n", "\n<!-- /model-recordings -->"),
        &lines.concat(),
        "model",
    );
}

/// Returns whether some stream shows that a model is wrong.
fn is_rejected<M: Model>(allowed: &[String]) -> bool {
    let mut comparison = Comparison::of::<M>();
    let ([_, goldens], table) = (goldens_of(&comparison.compared), comparison.table.clone());
    let wrong = table.allowing(allowed);
    let mut streams = goldens.iter().map(|events| Event::stream(events)).chain(edited(&goldens));
    streams.any(|stream| {
        let run = Run::<M>::over(&table, Some(&wrong), &Event::all(&stream));
        run.worst < Level::Must && comparison.level(&stream) == Level::Must
    })
}

#[test]
fn wrong_models_are_rejected() {
    for (api, compared) in Compared::all() {
        for (name, allowed) in &compared.wrong {
            let is_rejected = match api.as_str() {
                Responses::API => is_rejected::<Responses>(allowed),
                Messages::API => is_rejected::<Messages>(allowed),
                _ => is_rejected::<Chat>(allowed),
            };
            assert!(is_rejected, "{api}: no stream shows that this is wrong: {name}");
        }
    }
}

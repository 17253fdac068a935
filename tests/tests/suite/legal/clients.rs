//! The sample of legal streams that clients were played, and the classes of those on which they disagree, or one fails.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use clients::PlayedCase;
use codegen::catalogue::Catalogue;
use codegen::formats::{MeasuredFile, Outcome};
use conformance::goldens::golden;
use conformance::results::Transport;
use grammar::{Grammar, Lifecycle};
use spec::Dialect;
use tests::corpus;
use tests::generated::is_part_fresh;
use tests::sample::{Class, Part, Sampled, Samples, sample, words};

use super::read;

/// The kinds of failure.
const FAILURES: [Outcome; 3] = [Outcome::Exception, Outcome::Wrong, Outcome::Silent];

/// Returns the clients that fail on the case of a class in one way.
fn failing<'m>(measured: &'m MeasuredFile, class: &Class, failure: Outcome) -> Vec<&'m str> {
    let outcomes = measured.outcomes(&class.case);
    let clients = measured.measured().zip(outcomes).filter(|(_, outcome)| *outcome == failure);
    clients.map(|(client, _)| client.name.as_str()).collect()
}

/// Returns a row of the page about the sample of an API, after asserting that it is legal and has each pair of transitions.
fn row(sampled: &Sampled, classes: &[Class], measured: &MeasuredFile) -> String {
    let dialect = corpus::dialect(&sampled.dialect);
    let grammar = Grammar::of(dialect);
    let (streams, parts) = sample(&grammar, sampled);
    for stream in &streams {
        let (_, broken) = read(dialect, stream.write(&grammar).as_bytes());
        assert!(broken.is_empty(), "{} breaks {broken:#?}", stream.words());
        assert_eq!(grammar.accepts(&stream.moves), Ok(()), "{}", stream.words());
    }
    let events: usize = streams.iter().map(|stream| stream.moves.len()).sum();
    let pairs = &Lifecycle::of(dialect).windows;
    assert!(pairs.keys().all(|pair| parts.contains(&Part::Pair(*pair))), "{}", dialect.name);
    let neighbours = parts.iter().filter(|part| matches!(part, Part::Neighbours(_))).count();
    let ways = classes.iter().flat_map(|class| FAILURES.map(|failure| failing(measured, class, failure)));
    let ways: Vec<Vec<&str>> = ways.filter(|clients| !clients.is_empty()).collect();
    let clients: BTreeSet<&str> = ways.iter().flatten().copied().collect();
    format!(
        "| {} | {} | {events} | {} | {neighbours} | {} | {} | {} of {} |\n",
        dialect.api.title,
        streams.len(),
        pairs.len(),
        classes.len(),
        ways.len(),
        clients.len(),
        measured.measured().count(),
    )
}

/// Returns a row of the page about a class, after asserting that its case is legal, and that a client fails on it.
fn class_row(dialect: &'static Dialect, class: &Class, measured: &MeasuredFile) -> String {
    let is_it = |case: &&PlayedCase| case.name == class.case && case.transport == Transport::Sse;
    let played = || clients::cases(dialect).iter().find(is_it).map(|case| case.responses().remove(0).bytes);
    let golden = class.case.strip_prefix("sound/").and_then(golden).map(|golden| golden.bytes.to_vec());
    let stream = golden.or_else(played).unwrap_or_else(|| panic!("there is no case {}", class.case));
    let (moves, broken) = read(dialect, &stream);
    assert!(broken.is_empty(), "{} breaks {broken:#?}", class.case);
    assert_eq!(Grammar::of(dialect).accepts(&moves), Ok(()), "{}: {}", class.case, words(&moves));
    let failed = FAILURES.map(|failure| failing(measured, class, failure));
    assert!(failed.iter().any(|clients| !clients.is_empty()), "no client fails on {}", class.case);
    let failed = failed.map(|clients| clients.join(", "));
    format!("| `{}` | {} | {} |\n", class.case, class.what, failed.join(" | "))
}

#[test]
fn each_class_of_legal_streams_has_a_case() {
    let file = Samples::read();
    let (catalogue, errors) = Catalogue::load(&corpus::repository().join("spec"));
    assert!(errors.is_empty(), "{errors:?}");
    let mut text = String::from(
        "| API | streams | events in them | pairs of transitions, all of them | neighbours | special streams | classes: each with a kind of failure | clients that fail |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    let mut tables = String::new();
    for sampled in &file.sampled {
        let (classes, measured) = (&file.classes[&sampled.api], &catalogue.measured[&sampled.api]);
        let cases: BTreeSet<&str> = classes.iter().map(|class| class.case.as_str()).collect();
        assert_eq!(cases.len(), classes.len(), "{}: each class has a case of its own", sampled.api);
        text += &row(sampled, classes, measured);
        let dialect = corpus::dialect(&sampled.dialect);
        let title = dialect.api.title;
        let _ = write!(
            tables,
            "\n{title}:\n\n| case | what is special | raise an error | return something else | report no error |\n|---|---|---|---|---|\n"
        );
        for class in classes {
            tables += &class_row(dialect, class, measured);
        }
    }
    let marks = ("<!-- legal-clients -->\n\n", "\n<!-- /legal-clients -->");
    is_part_fresh("docs/coverage.md", marks, &(text + &tables), "legal");
}

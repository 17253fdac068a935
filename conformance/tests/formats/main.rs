//! Every format of a report: of a good run, of a bad one, of a hostile one and of a huge one.
#![cfg(feature = "cli")]

mod differs;
mod hostile;
mod huge;
mod live;
mod matrix;
mod runs;
mod schemas;
mod xml;

use catalogue::Level;
use conformance::reports::{Form, Screen, Style, render};
use conformance::results::{ClientState, FailOn, Outcome, Run};

/// All formats, with the endings of their snapshots; pages for browsers have tests of their own.
const FORMS: [(Form, &str); 7] = [
    (Form::Human, "human"),
    (Form::Json, "json"),
    (Form::Junit, "junit"),
    (Form::Sarif, "sarif"),
    (Form::Github, "github"),
    (Form::Markdown, "markdown"),
    (Form::Badge, "badge"),
];

fn rendered(run: &Run, form: Form) -> String {
    render(run, form, Level::Should, Style::Plain.into())
}

#[test]
fn every_format_tells_of_every_run() {
    for (name, run) in [("good", runs::good()), ("bad", runs::bad()), ("hostile", runs::hostile())] {
        for (form, ending) in FORMS {
            insta::assert_snapshot!(format!("{name}_{ending}"), rendered(&run, form));
        }
    }
}

/// An unknown event is only a note in the dialect, but breaks the stream for a client.
#[test]
fn what_breaks_a_client_is_told_in_every_format() {
    let run = runs::heartbeat(FailOn::Breaks);
    let client = "openai-node stream()";
    let broken = run.clients.iter().find(|known| known.name == client).expect("it is known");
    assert_eq!((broken.state, broken.captures), (ClientState::Fails, 1));
    for (form, _) in FORMS.into_iter().filter(|(form, _)| *form != Form::Badge).chain([(Form::Html, "html")])
    {
        let told = rendered(&run, form);
        assert!(told.contains(client), "{form:?}: {told}");
        assert!(told.contains("MAY, and breaks openai-node stream()"), "{form:?}: {told}");
    }
    let told = rendered(&run, Form::Human);
    assert!(told.contains("note[schema/event-known]: openai has no event \"ping\""), "{told}");
    let broken = told.lines().skip_while(|line| !line.starts_with("  broken: "));
    assert!(
        broken.take_while(|line| !line.starts_with("  not ")).any(|line| line.contains(client)),
        "{told}"
    );
    assert_eq!(run.outcome, Outcome::Failed);
    assert_eq!(runs::heartbeat(FailOn::Must).outcome, Outcome::Passed);
}

/// A finding keeps its level in every format, also where it fails.
#[test]
fn a_note_is_a_note_in_every_format() {
    let run = runs::heartbeat(FailOn::Breaks);
    for (form, note) in [
        (Form::Human, "note[schema/event-known]"),
        (Form::Json, "\"level\": \"may\""),
        (Form::Junit, "note[schema/event-known]"),
        (Form::Sarif, "\"level\": \"note\""),
        (Form::Github, "::notice file=heartbeat.sse"),
        (Form::Markdown, "- **note** `schema/event-known`"),
        (Form::Badge, "failed: 1 note"),
        (Form::Html, "<span class=\"level\">note</span>"),
    ] {
        let told = rendered(&run, form);
        assert!(told.contains(note), "{form:?}: {told}");
    }
}

/// Changed levels, and what fails below MUST.
#[test]
fn every_format_states_the_terms_of_the_verdict() {
    let run = runs::terms();
    for (form, ending) in FORMS.into_iter().filter(|(form, _)| *form != Form::Json) {
        insta::assert_snapshot!(format!("terms_{ending}"), rendered(&run, form));
    }
    for (form, _) in FORMS.into_iter().filter(|(form, _)| *form != Form::Badge).chain([(Form::Html, "html")])
    {
        let told = rendered(&run, form);
        let has_level = told.contains("wire/json-object off instead of MUST")
            || form == Form::Json
                && told.contains("\"rule\": \"wire/json-object\",\n      \"usual\": \"must\"");
        assert!(has_level, "{form:?}: {told}");
        assert!(told.contains("SHOULD, and breaks openai-python stream()"), "{form:?}: {told}");
    }
    assert!(rendered(&run, Form::Badge).contains("2 levels changed"));
}

#[test]
fn narrow_terminals_show_as_much() {
    for width in [40, 80] {
        let told =
            conformance::reports::summary(&runs::bad(), Level::Should, Screen { style: Style::Plain, width });
        for row in told.lines().filter(|row| !row.starts_with("    conformance ")) {
            let columns = unicode_width::UnicodeWidthStr::width(row);
            let is_one_word = row.split_whitespace().count() == 1;
            assert!(columns <= width || is_one_word, "{columns} of {width} columns: {row}");
        }
        insta::assert_snapshot!(format!("bad_{width}"), told);
    }
    let screen = Screen { style: Style::Colour, width: 80 };
    let colours = conformance::reports::summary(&runs::bad(), Level::Should, screen);
    assert!(colours.starts_with("\u{1b}[1;31mfailed\u{1b}[0m: "), "{colours}");
    assert!(!rendered(&runs::bad(), Form::Human).contains('\u{1b}'));
}

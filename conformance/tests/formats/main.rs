//! Every format of a report: of a good run, of a bad one, of a hostile one and of a huge one.
#![cfg(feature = "cli")]

mod differs;
mod hostile;
mod huge;
mod matrix;
mod runs;
mod schemas;
mod xml;

use catalogue::Level;
use conformance::reports::{Form, Screen, Style, render};
use conformance::results::Run;

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

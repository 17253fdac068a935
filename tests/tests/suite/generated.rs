//! Snapshots for reviews: the generated Rust of some types, and the events of every dialect.

use std::fmt::Write;
use std::path::PathBuf;

use codegen::{SpecFiles, dialect, emit};
use tests::corpus;

fn spec() -> PathBuf {
    corpus::repository().join("spec")
}

/// Returns the generated Rust of an event or type, with its validator.
fn rust(dialect: &str, name: &str) -> String {
    let files = SpecFiles::load(&spec()).unwrap_or_else(|error| panic!("{error}"));
    let dialect = dialect::load(&spec(), dialect).unwrap_or_else(|error| panic!("{error}"));
    let shown =
        emit::show(&dialect, files.api_of(&dialect).expect("it has an API"), &files.glossary, name, true);
    shown.unwrap_or_else(|error| panic!("{error}")).unwrap_or_else(|| panic!("{name}: no such event or type"))
}

macro_rules! snapshots {
    ($($test:ident: $dialect:literal $name:literal)*) => {$(
        #[test]
        fn $test() {
            insta::assert_snapshot!(rust($dialect, $name));
        }
    )*};
}

snapshots! {
    text_delta_of_openai: "openai" "response.output_text.delta"
    item_added_of_openai: "openai" "response.output_item.added"
    output_item_of_openai: "openai" "OutputItem"
    usage_of_openai: "openai" "ResponseUsage"
    annotation_of_openai: "openai" "Annotation"
    filter_of_openai: "openai" "CompoundFilter"
    error_code_of_openai: "openai" "ResponseErrorCode"
    text_delta_of_open_responses: "open-responses" "response.output_text.delta"
    delta_of_aitronos: "aitronos" "response.output_text.delta"
}

/// Returns a table of all events: scope, role, phase, and the location of the value.
fn table(dialect: &spec::Dialect) -> String {
    let mut text = String::new();
    for event in dialect.events {
        let spec::EventInfo { name, level, role, .. } = event;
        _ = write!(text, "{name:<58} {:<18} {role:?}", level.name);
        for detail in [event.phase, event.value].into_iter().flatten() {
            _ = write!(text, " {detail}");
        }
        text.push('\n');
    }
    text
}

#[test]
fn events_of_every_dialect() {
    for dialect in spec::DIALECTS {
        insta::assert_snapshot!(format!("events_of_{}", emit::module(dialect.name)), table(dialect));
    }
}

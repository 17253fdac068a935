//! What the tests of all reports have in common.

use reports::{Screen, Style};
use schemars::JsonSchema;

pub(crate) fn plain() -> Screen {
    Style::Plain.into()
}

/// Fails unless a report is XML.
pub(crate) fn assert_xml(text: &str) {
    let mut reader = quick_xml::Reader::from_str(text);
    while !matches!(reader.read_event().expect("it is XML"), quick_xml::events::Event::Eof) {}
}

/// Fails unless a report is as the schema of its type says.
pub(crate) fn assert_schema<T: JsonSchema>(text: &str) {
    let schema = serde_json::to_value(schemars::schema_for!(T)).expect("it is JSON");
    let document = serde_json::from_str(text).expect("it is JSON");
    jsonschema::validate(&schema, &document).expect("it is as its schema says");
}

/// Returns the body of a page, with one element a line so that it can be read, and without the script of all pages, which is
/// tested with theirs.
pub(crate) fn body(page: &str) -> String {
    let (head, body) = page.split_once("</head>").expect("it has a head");
    assert!(head.contains("Content-Security-Policy") && !page.contains("<script>alert"));
    let (body, _) = body.split_once("<script>").expect("it has a script");
    body.replace("><", ">\n<")
}

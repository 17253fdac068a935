//! Machine-readable formats conform to their schemas.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use conformance::reports::Form;
use conformance::results::Run;
use serde_json::Value;

use crate::{rendered, runs, xml};

fn schema(name: &str) -> jsonschema::Validator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    let text = fs::read_to_string(path).expect("it is there");
    // The published schema of SARIF has a pattern with a bracket too many, which not all engines let pass.
    let text = text.replace("-[a-zA-Z]{2}]?$", "-[a-zA-Z]{2}$");
    let schema: Value = serde_json::from_str(&text).expect("it is JSON");
    jsonschema::validator_for(&schema).expect("it is a schema")
}

fn faults(schema: &jsonschema::Validator, document: &Value) -> Vec<String> {
    schema.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).take(5).collect()
}

fn all() -> [Run; 3] {
    [runs::good(), runs::bad(), runs::hostile()]
}

#[test]
fn sarif_is_as_its_schema_says() {
    let schema = schema("sarif-2.1.0.schema.json");
    for run in all() {
        let mut log: Value = serde_json::from_str(&rendered(&run, Form::Sarif)).expect("it is JSON");
        assert_eq!(faults(&schema, &log), Vec::<String>::new());
        let results = log["runs"][0]["results"].as_array().expect("a list");
        let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().expect("a list");
        for result in results {
            let index =
                usize::try_from(result["ruleIndex"].as_u64().expect("a number")).expect("a small one");
            assert_eq!(rules[index]["id"], result["ruleId"]);
        }
        let levels: BTreeSet<&str> = results.iter().filter_map(|result| result["level"].as_str()).collect();
        assert!(levels.iter().all(|level| ["error", "warning", "note"].contains(level)), "{levels:?}");
        // The check can fail.
        log["runs"][0]["results"] = serde_json::json!([{ "message": {}, "level": "must" }]);
        assert_ne!(faults(&schema, &log), Vec::<String>::new());
    }
}

#[test]
fn junit_is_as_its_schema_says() {
    let schema = schema("junit.schema.json");
    for run in all() {
        let text = rendered(&run, Form::Junit);
        let document = xml::read(&text).expect("it is XML");
        assert_eq!(faults(&schema, &document), Vec::<String>::new());
        assert!(xml::read(&text.replacen("</testsuite>", "", 1)).is_err());
        assert!(xml::read(&text.replacen("testsuite", "test\u{1}suite", 1)).is_err());
        let other = xml::read(&text.replace("<testcase ", "<case ").replace("</testcase>", "</case>"))
            .expect("it is XML");
        assert_ne!(faults(&schema, &other), Vec::<String>::new());
        counts_are_right(&document);
    }
}

/// Asserts that the counts of a suite match its cases, and the totals are their sums.
fn counts_are_right(document: &Value) {
    let mut sums = [0; 3];
    let number = |element: &Value, name: &str| {
        element["attributes"][name].as_str().and_then(|count| count.parse::<usize>().ok()).expect("a count")
    };
    for suite in document["children"].as_array().expect("a list") {
        let cases: Vec<&Value> = suite["children"]
            .as_array()
            .expect("a list")
            .iter()
            .filter(|child| child["name"] == "testcase")
            .collect();
        let with = |name: &str| cases.iter().filter(|case| case["children"][0]["name"] == name).count();
        let (failures, errors) = (with("failure"), with("error"));
        assert_eq!(number(suite, "tests"), cases.len());
        assert_eq!([number(suite, "failures"), number(suite, "errors")], [failures, errors]);
        assert_eq!(number(suite, "skipped"), with("skipped"));
        sums = [sums[0] + cases.len(), sums[1] + failures, sums[2] + errors];
    }
    assert_eq!([number(document, "tests"), number(document, "failures"), number(document, "errors")], sums);
}

#[test]
fn badges_are_as_shields_reads_them() {
    for (run, message, color) in
        [(runs::good(), "passed", "brightgreen"), (runs::bad(), "failed: 4 tests", "red")]
    {
        let badge: Value = serde_json::from_str(&rendered(&run, Form::Badge)).expect("it is JSON");
        assert_eq!(badge["schemaVersion"], 1);
        assert_eq!((&badge["message"], &badge["color"]), (&message.into(), &color.into()));
    }
}

#[test]
fn json_can_be_read_again() {
    for run in all() {
        assert_eq!(serde_json::from_str::<Run>(&rendered(&run, Form::Json)).expect("it is a run"), run);
    }
}

//! The protocol conforms to its schema.

use clients::protocol::{CaseMessage, Reply};
use harness::frozen::assert_fresh;
use serde_json::{Value, json};

#[test]
fn protocol_schema_is_fresh() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The protocol of `conformance client`, version 1: a case is a line of stdin, a reply is a line of stdout.",
        "$defs": {
            "case": schemars::schema_for!(CaseMessage).as_value(),
            "reply": schemars::schema_for!(Reply).as_value(),
        },
    });
    let text = format!("{schema:#}\n");
    assert_fresh("-p clients protocol_schema", "docs/client-protocol.schema.json", &text);
}

#[test]
fn impact_schema_is_fresh() {
    let schema = schemars::schema_for!(results::ImpactRun);
    let text = format!("{:#}\n", schema.as_value());
    assert_fresh("-p clients impact_schema", "docs/impact.schema.json", &text);
}

#[test]
fn replies_match_their_schema() {
    let schema: Value = serde_json::to_value(schemars::schema_for!(Reply)).unwrap();
    for reply in [
        json!({"case": "a", "status": "unsupported"}),
        json!({"case": "a", "status": "error", "error": {"type": "x", "message": "y", "code": null}}),
        json!({"case": "a", "status": "ok", "text": null, "calls": [{"name": "f", "arguments": {"a": 1}}], "usage": {"input_tokens": 1}}),
    ] {
        jsonschema::validate(&schema, &reply).unwrap();
        serde_json::from_value::<Reply>(reply).unwrap();
    }
    assert!(jsonschema::validate(&schema, &json!({"case": "a", "status": "fine"})).is_err());
}

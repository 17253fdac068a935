//! Calls that are not pieces of one.

use checker::Checker;
use serde_json::{Value, json};

const RULE: &str = "function-call/whole";

/// Whether the calls are reported as pieces, each list in a chunk of its own.
fn are_pieces(chunks: &[Value]) -> bool {
    let mut checker = Checker::new(spec::dialect("gemini").expect("the dialect"));
    for (at, calls) in chunks.iter().enumerate() {
        let parts: Vec<Value> =
            calls.as_array().into_iter().flatten().map(|call| json!({"functionCall": call})).collect();
        let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
        if at + 1 == chunks.len() {
            candidate["finishReason"] = "STOP".into();
        }
        let chunk = json!({"candidates": [candidate], "responseId": "r", "modelVersion": "m"});
        checker.push(format!("data: {chunk}\r\n\r\n").as_bytes());
    }
    checker.finish();
    checker.findings().iter().any(|found| found.rule == RULE)
}

#[test]
fn parallel_calls_are_no_pieces() {
    let call = |args: Value| json!({"name": "list_files", "args": args});
    let [empty, full] = [call(json!({})), call(json!({"path": "src"}))];
    assert!(are_pieces(&[json!([empty]), json!([full])]));
    assert!(!are_pieces(&[json!([empty, full])]), "one chunk has all calls of a step");
    assert!(!are_pieces(&[json!([full]), json!([empty])]));
    let with_id = |id: &str| json!({"name": "list_files", "args": {"path": "src"}, "id": id});
    assert!(!are_pieces(&[json!([empty]), json!([with_id("call_1")])]));
    assert!(are_pieces(&[json!([empty]), json!([with_id("")])]), "an empty id is none");
}

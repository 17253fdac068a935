//! The values of enumerations that events have, and those that they can have.

use std::collections::BTreeSet;

use spec::json::{FaultKind, Wanted};
use spec::{Dialect, Enumerations};

use recordings::goldens::GOLDENS;

const DIALECTS: [&str; 3] = ["openai", "anthropic", "chat"];

fn dialect(name: &str) -> &'static Dialect {
    spec::dialect(name).expect("it is known")
}

/// Returns the values that an event has, in order.
fn values(of: &str, event: &str, data: &str) -> Vec<String> {
    let (all, mut values) = (Enumerations::of(dialect(of)), Vec::new());
    all.each_of(event, data, |value| values.push(value.to_string()));
    values
}

#[test]
fn a_value_is_named_by_the_type_of_its_object_and_the_place_in_it() {
    let item = r#"{"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","arguments":"","status":"incomplete"}"#;
    let done = format!(
        r#"{{"type":"response.output_item.done","output_index":0,"sequence_number":1,"item":{item}}}"#
    );
    assert_eq!(values("openai", "response.output_item.done", &done), ["function_call/status = incomplete"]);
    // Of the settings, the request decides, but for the tier.
    let completed = format!(
        r#"{{"type":"response.completed","response":{{"object":"response","status":"incomplete","truncation":"auto",
        "incomplete_details":{{"reason":"max_output_tokens"}},"tools":[{{"type":"image_generation","quality":"high"}}],
        "service_tier":"default","output":[{item}]}}}}"#
    );
    assert_eq!(
        values("openai", "response.completed", &completed),
        [
            "response/status = incomplete",
            "response/incomplete_details/reason = max_output_tokens",
            "response/service_tier = default",
            "function_call/status = incomplete",
        ]
    );
    let delta = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":1}}"#;
    assert_eq!(values("anthropic", "message_delta", delta), ["message_delta/delta/stop_reason = end_turn"]);
    let chunk = r#"{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"},
        {"index":1,"delta":{"role":"assistant"},"finish_reason":null}]}"#;
    assert_eq!(
        values("chat", "chat.completion.chunk", chunk),
        [
            "chat.completion.chunk/choices/*/finish_reason = stop",
            "chat.completion.chunk/choices/*/delta/role = assistant",
        ]
    );
}

#[test]
fn values_that_are_not_listed_and_text_that_is_no_json_have_none() {
    let delta = r#"{"type":"message_delta","delta":{"stop_reason":"tired"}}"#;
    assert_eq!(values("anthropic", "message_delta", delta), [""; 0]);
    assert_eq!(values("anthropic", "unheard_of", delta), [""; 0]);
    assert_eq!(values("anthropic", "message_delta", r#"{"type":"message_delta","delta":{"stop"#), [""; 0]);
    let deep = format!(r#"{{"type":"message_delta","delta":{}"#, "[".repeat(100_000));
    assert_eq!(values("anthropic", "message_delta", &deep), [""; 0]);
}

/// Put another one in its place, and the checker says that it expects one of a list with it.
#[test]
fn the_checker_knows_the_values_of_goldens() {
    for name in DIALECTS {
        let dialect = dialect(name);
        let all = Enumerations::of(dialect);
        let mut members = BTreeSet::new();
        for golden in GOLDENS.iter().filter(|golden| golden.holds_for(name)) {
            for line in String::from_utf8_lossy(golden.bytes).lines() {
                let Some(data) = line.strip_prefix("data: ") else { continue };
                let field = spec::json::string_member(data, "type");
                let event =
                    field.or_else(|| dialect.type_by_members(data).map(Into::into)).unwrap_or_default();
                all.each_of(&event, data, |value| {
                    let end = value.member.rsplit('/').next().expect("it has a member");
                    let written = format!("\"{end}\":\"{}\"", value.value);
                    let other = data.replace(&written, &format!("\"{end}\":\"unlisted\""));
                    assert_ne!(other, data, "{written}");
                    let mut faults = dialect.newer_values(&event, &other);
                    faults.extend(dialect.check_event(&event, &other).faults().iter().cloned());
                    let is_it = |list: &[&str]| list.contains(&value.value);
                    let has = faults.iter().any(|fault| match fault.kind {
                        FaultKind::Value(Wanted::OneOf(list) | Wanted::Known(list)) => is_it(list),
                        _ => false,
                    });
                    assert!(has, "{value}: {faults:?}");
                    members.insert(&value.member);
                });
            }
        }
        assert!(members.len() >= 3, "{members:?}");
    }
}

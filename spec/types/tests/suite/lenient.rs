//! Lenient reading: events that lack members which their types require are still of their types.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};
use types::openai::{Event, OutputItem, Response};
use types::{Lenient, Miss, Read, Reason};

/// Returns the events of a golden.
fn events(golden: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../apis/responses/goldens").join(golden);
    let text = fs::read_to_string(path).unwrap();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter(|data| data.starts_with('{')).map(|data| serde_json::from_str(data).unwrap()).collect()
}

/// Returns the pointers of all members of the objects of an event, except those that tell its type and theirs.
fn members(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                let pointer = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
                self::members(value, &pointer, found);
                if name != "type" {
                    found.push(pointer);
                }
            }
        }
        Value::Array(entries) => {
            for (number, entry) in entries.iter().enumerate() {
                self::members(entry, &format!("{at}/{number}"), found);
            }
        }
        _ => {}
    }
}

/// Returns the object that a pointer leads into, and the name of the member.
fn parent<'v>(event: &'v mut Value, pointer: &str) -> (&'v mut Map<String, Value>, String) {
    let (at, name) = pointer.rsplit_once('/').unwrap();
    let object = event.pointer_mut(at).and_then(Value::as_object_mut).unwrap();
    (object, name.replace("~1", "/").replace("~0", "~"))
}

fn parsed(event: &Value) -> (Event<'static>, Lenient<Event<'static>>) {
    let text = event.to_string();
    let Lenient { value, missing } = Event::parse_lenient(&text).unwrap();
    (Event::parse(&text).unwrap().into_owned(), Lenient { value: value.into_owned(), missing })
}

#[test]
fn one_missing_member_makes_no_event_unknown() {
    let (mut damaged, mut rescued) = (0, 0);
    for golden in [
        "openai/text.sse",
        "openai/parallel-function-calls.sse",
        "openai/reasoning-summary.sse",
        "openai/refusal.sse",
        "openai/mcp-call.sse",
        "openai/code-interpreter.sse",
        "openai/web-search.sse",
        "openai/incomplete.sse",
        "openai/failed.sse",
    ] {
        for event in events(golden) {
            let (strict, lenient) = parsed(&event);
            assert!(lenient.is_complete() && lenient.value == strict, "{event}");
            let mut pointers = Vec::new();
            members(&event, "", &mut pointers);
            for pointer in pointers {
                let mut lacking = event.clone();
                let (object, name) = parent(&mut lacking, &pointer);
                object.remove(&name);
                let (strict, lenient) = parsed(&lacking);
                damaged += 1;
                let told = format!("{golden}: {pointer} of {event}\n{lenient:?}");
                assert!(!format!("{:?}", lenient.value).contains("Unknown(Unknown"), "{told}");
                assert_eq!(lenient.value.event_type(), event["type"], "{told}");
                if lenient.is_complete() {
                    assert_eq!(lenient.value, strict, "{told}");
                    continue;
                }
                rescued += 1;
                assert_eq!(lenient.missing, [name.as_str()], "{told}");
                assert_ne!(lenient.value, strict, "{told}");
                // All other members are read.
                let mut written: Value = serde_json::from_str(&lenient.value.to_json()).unwrap();
                let (object, name) = parent(&mut written, &pointer);
                object.remove(&name);
                assert_eq!(written, lacking, "{told}");
            }
        }
    }
    assert!(damaged > 1800 && rescued > 1100, "{rescued} of {damaged}");
}

/// What gateways leave out most: numbers, log probabilities, and the settings of the response.
#[test]
fn the_text_of_imperfect_gateways_is_readable() {
    let (mut text, mut unread) = (String::new(), 0);
    for mut event in events("openai/text.sse") {
        let members = event.as_object_mut().unwrap();
        for name in ["sequence_number", "logprobs", "content_index", "item_id"] {
            members.remove(name);
        }
        if let Some(response) = members.get_mut("response") {
            *response = json!({"id": "resp_1", "status": response["status"], "usage": {"prompt_tokens": 3}});
        }
        let data = event.to_string();
        unread += usize::from(matches!(Event::parse(&data).unwrap(), Event::Unknown(_)));
        match Event::parse_lenient(&data).unwrap().value {
            Event::OutputTextDelta(delta) => text += &delta.delta,
            Event::Completed(completed) => {
                assert_eq!(completed.response.id, "resp_1");
                let usage = completed.response.usage.expect("it has usage");
                let usage = usage.as_option().expect("it is not null");
                assert_eq!(usage.extra.get("prompt_tokens").map(ToString::to_string).as_deref(), Some("3"));
            }
            Event::Unknown(unknown) => panic!("{}: {}", unknown.reason, unknown.raw),
            _ => {}
        }
    }
    assert_eq!(text, "Hello, world.");
    assert!(unread > 5, "{unread} events are unknown to strict reading");
}

#[test]
fn invalid_values_are_missing_and_others_are_as_in_strict_reading() {
    let data = r#"{"type":"response.output_text.delta","sequence_number":"4","item_id":null,"output_index":0,
        "content_index":0,"delta":"Hello","logprobs":[],"acme":1.50}"#;
    let Lenient { value, missing } = Event::parse_lenient(data).unwrap();
    let Event::OutputTextDelta(delta) = value else { panic!("{value:?}") };
    assert_eq!(missing, ["item_id", "sequence_number"]);
    assert_eq!((delta.delta.as_str(), delta.item_id.as_str()), ("Hello", ""));
    assert_eq!(delta.extra.get("acme").map(ToString::to_string).as_deref(), Some("1.50"));
    // Of repeated members, the last one counts.
    let data = r#"{"type":"response.created","sequence_number":null,"sequence_number":0,"response":{}}"#;
    let created = Event::parse_lenient(data).unwrap();
    assert!(!created.missing.contains(&"sequence_number") && created.missing.contains(&"id"), "{created:?}");

    for (data, reason) in
        [(r#"{"type":"acme.trace"}"#, Reason::NotListed), (r#"{"delta":"Hello"}"#, Reason::NoType)]
    {
        let lenient = Event::parse_lenient(data).unwrap();
        let Event::Unknown(unknown) = &lenient.value else { panic!("{lenient:?}") };
        assert!(unknown.reason == reason && lenient.is_complete(), "{lenient:?}");
    }
    assert_eq!(Event::parse_lenient("[]").unwrap_err().miss, Miss::Kind);
    assert_eq!(Event::parse_lenient("{\"type\":").unwrap_err().miss, Miss::Syntax);
    // The type stands in the `event:` field, or contradicts it.
    let of = |data| Event::parse_lenient_as("response.output_text.delta", data).unwrap().value;
    assert!(matches!(of(r#"{"delta":"Hello"}"#), Event::OutputTextDelta(delta) if delta.delta == "Hello"));
    assert!(matches!(of(r#"{"type":"error","delta":"Hello"}"#), Event::Unknown(_)));
}

#[test]
fn responses_and_items_are_read_leniently() {
    let body = r#"{"id":"resp_1","object":"response","output":[{"type":"message","content":[{"type":"output_text",
        "text":"Hello"}]},{"type":"acme:item"},{"id":"of no type"}]}"#;
    let Lenient { value: response, missing } = Response::parse_lenient(body).unwrap();
    let output = &response.output;
    let [OutputItem::Message(message), OutputItem::Unknown(_), OutputItem::Unknown(_)] = &**output else {
        panic!("{output:?}")
    };
    assert!(message.id.is_empty() && format!("{:?}", message.content).contains("Hello"), "{message:?}");
    for name in ["model", "created_at", "role", "annotations"] {
        assert!(missing.contains(&name), "{name}: {missing:?}");
    }
    // What an abandoned branch of a union lacked is forgotten.
    assert_eq!(missing.iter().filter(|name| **name == "annotations").count(), 1, "{missing:?}");
}

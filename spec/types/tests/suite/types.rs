//! Typed events are lossless: every value is written back as the same JSON value.

use serde_json::Value;
use types::openai::{
    CreateResponse, Event, FileSearchTool, Filters, OutputItem, Response, ResponseStatus, ToolChoiceOptions,
    ToolChoiceParam,
};
use types::{Miss, Nullable, Read, Reason, Write};

fn same(json: &str, written: &str) {
    let (before, after): (Value, Value) =
        (serde_json::from_str(json).unwrap(), serde_json::from_str(written).unwrap());
    assert_eq!(before, after);
}

#[test]
fn text_is_not_copied() {
    let json = r#"{"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,
        "delta":"Hello","sequence_number":4,"logprobs":[]}"#;
    let Event::OutputTextDelta(delta) = Event::parse(json).unwrap() else { panic!() };
    assert_eq!(delta.delta, "Hello");
    assert!(delta.delta.is_borrowed());
    assert_eq!(delta.sequence_number, 4);
    assert!(delta.extra.is_empty());
    let owned = Event::OutputTextDelta(delta.clone()).into_owned();
    assert_eq!(owned, Event::OutputTextDelta(delta));
}

fn delta(members: &str) -> String {
    format!(
        r#"{{"type":"response.output_text.delta","item_id":"i","output_index":0,"content_index":0,{members}}}"#
    )
}

#[test]
fn numbers_are_written_as_they_came() {
    for number in ["5.0", "1e3", "-0", "1e400", "123456789012345678901234567890"] {
        let json = delta(&format!(
            r#""delta":"","sequence_number":{number},"logprobs":[{{"token":"a","logprob":{number}}}],"new":{number}"#
        ));
        let event = Event::parse(&json).unwrap();
        let Event::OutputTextDelta(typed) = &event else { panic!("{number}: {event:?}") };
        assert_eq!(typed.sequence_number.to_json(), number);
        assert_eq!(typed.logprobs[0].logprob.to_json(), number);
        assert_eq!(typed.extra.get("new").unwrap().as_str(), number);
        assert_eq!(event.to_json().matches(number).count(), 3);
    }
    let json = delta(r#""delta":"","sequence_number":5.5,"logprobs":[]"#);
    let Event::Unknown(unknown) = Event::parse(&json).unwrap() else { panic!() };
    assert_eq!(unknown.reason, Reason::Miss(Miss::Field("sequence_number")));
    assert_eq!(unknown.raw.as_str(), json);
}

#[test]
fn lone_surrogates_are_kept() {
    let json = delta(r#""delta":"a\ud83d","sequence_number":1,"logprobs":[],"\udc00":"\udc01""#);
    let event = Event::parse(&json).unwrap();
    let Event::OutputTextDelta(typed) = &event else { panic!() };
    assert!(typed.delta.is_lossy());
    let owned = event.clone().into_owned().to_json();
    for lone in [r#""a\ud83d""#, r#""\udc00":"\udc01""#] {
        assert!(owned.contains(lone), "{owned}");
    }
}

#[test]
fn the_last_of_repeated_members_counts() {
    let json = delta(
        r#""delta":"first","delta":"second","sequence_number":"no","sequence_number":2,"logprobs":[],
        "obfuscation":1,"obfuscation":"x","a":1,"a":2,"item_id":"last""#,
    );
    let event = Event::parse(&json).unwrap();
    let Event::OutputTextDelta(typed) = &event else { panic!("{event:?}") };
    assert_eq!((typed.delta.as_str(), typed.item_id.as_str()), ("second", "last"));
    assert_eq!(typed.extra.get("a").unwrap().as_str(), "2");
    same(&json, &event.to_json());

    let json = delta(r#""delta":"","sequence_number":2,"logprobs":[],"type":"response.refusal.delta""#);
    let event = Event::parse(&json).unwrap();
    assert!(matches!(event, Event::Unknown(_)));
    same(&json, &event.to_json());
}

#[test]
fn what_is_unknown_is_kept() {
    let json = r#"{"new":[1,2.50], "type":"vendor:thing" }"#;
    let Event::Unknown(unknown) = Event::parse(json).unwrap() else { panic!() };
    assert_eq!((unknown.event_type.as_deref(), unknown.reason), (Some("vendor:thing"), Reason::NotListed));
    assert_eq!(unknown.raw.as_str(), json);

    for (item, why) in [
        (r#"{"type":"vendor:item","id":1e2}"#, "another type"),
        (r#"{"id":"no type"}"#, "no type"),
        (r#"{"type":"message","id":"m","role":"assistant","status":"completed"}"#, "no content"),
        ("[0]", "no object"),
    ] {
        let json = format!(
            r#"{{"type":"response.output_item.done","output_index":0,"item":{item},"sequence_number":7}}"#
        );
        let event = Event::parse(&json).unwrap();
        let Event::OutputItemDone(typed) = &event else { panic!("{why}: {event:?}") };
        let OutputItem::Unknown(raw) = &typed.item else { panic!("{why}") };
        assert_eq!(raw.as_str(), item);
        same(&json, &event.to_json());
    }

    assert_eq!(ResponseStatus::from("paused"), ResponseStatus::Unknown("paused".into()));
    assert_eq!(ResponseStatus::parse("\"paused\"").unwrap().to_json(), "\"paused\"");
    assert_eq!(ResponseStatus::parse("\"completed\"").unwrap(), ResponseStatus::Completed);
}

#[test]
fn what_does_not_fit_an_optional_field_is_kept_aside() {
    let json =
        r#"{"model":null,"stream":"yes","temperature":null,"top_p":0.50,"tool_choice":"auto","input":"Hi"}"#;
    let request = CreateResponse::parse(json).unwrap();
    assert_eq!(request.stream, None);
    assert_eq!(request.extra.get("stream").unwrap().as_str(), "\"yes\"");
    assert_eq!(request.extra.get("model").unwrap().as_str(), "null");
    assert_eq!(request.temperature, Some(Nullable::Null));
    assert_eq!(request.tool_choice, Some(ToolChoiceParam::ToolChoiceOptions(ToolChoiceOptions::Auto)));
    same(json, &request.to_json());
    same(json, &request.into_owned().to_json());
}

#[test]
fn no_text_makes_a_panic() {
    let json = delta(
        r#""delta":"a\u00e9\n😀","sequence_number":-1.5e3,"logprobs":[{"token":"","logprob":0,"x":[{}]}]"#,
    );
    for end in (0..json.len()).filter(|&end| json.is_char_boundary(end)) {
        let error = Event::parse(&json[..end]).unwrap_err();
        assert_eq!(error.miss, Miss::Syntax);
        assert!(Response::parse(&json[..end]).is_err());
    }
    for text in ["", "null", "[]", "\"\"", "{}{}", "{\"type\":\"response.created\",}"] {
        assert!(Event::parse(text).is_err(), "{text}");
    }
    assert_eq!(Event::parse(" [1]").unwrap_err().to_string(), "at byte 4: the value has another JSON type");
    assert!(
        matches!(Event::parse("{}").unwrap(), Event::Unknown(unknown) if unknown.reason == Reason::NoType)
    );
    assert!(matches!(Event::parse_as("nothing", "{}").unwrap(), Event::Unknown(_)));
}

#[test]
fn nesting_has_no_end() {
    const DEEP: usize = 5_000;
    let json = delta(&format!(
        r#""delta":"","sequence_number":1,"logprobs":[],"new":{}1{}"#,
        "[{\"a\":".repeat(DEEP),
        "}]".repeat(DEEP)
    ));
    let event = Event::parse(&json).unwrap();
    assert!(matches!(event, Event::OutputTextDelta(_)));
    assert_eq!(event.to_json().len(), json.len());

    let nested = |depth: usize| {
        let leaf = r#"{"type":"eq","key":"k","value":1}"#;
        let (open, close) = (r#"{"type":"and","filters":["#.repeat(depth), "]}".repeat(depth));
        format!("{open}{leaf}{close}")
    };
    for depth in [1, 30, 200, DEEP] {
        let json = nested(depth);
        let filters = Filters::parse(&json).unwrap();
        assert_eq!(filters.to_json(), json);
        assert_eq!(filters.into_owned().to_json(), json);
        let tool = format!(r#"{{"type":"file_search","vector_store_ids":[],"filters":{json}}}"#);
        let tool = FileSearchTool::parse(&tool).unwrap();
        assert!(tool.filters.is_some());
    }
}

#[test]
fn branches_that_nothing_tells_apart_do_not_multiply() {
    let depth = 60;
    let open = r#"{"type":"vendor","key":"k","value":1,"filters":["#.repeat(depth);
    let json = format!("{open}1{}", "]}".repeat(depth));
    let filters = Filters::parse(&json).unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(&filters.to_json()).unwrap(),
        serde_json::from_str::<Value>(&json).unwrap()
    );
}

#[test]
fn the_branch_that_explains_most_is_taken() {
    let json = r#"{"input":[{"type":"message","role":"user","content":"a"},{"role":"assistant","id":"msg_1","status":"completed",
        "type":"message","content":[{"type":"output_text","text":"b","annotations":[],"logprobs":[]}]}]}"#;
    let request = CreateResponse::parse(json).unwrap();
    let shape = format!("{:?}", request.input);
    assert!(!shape.contains("Unknown"), "{shape}");
    same(json, &request.to_json());
}

/// Common accessors of all events work without importing a trait.
#[test]
fn events_say_where_they_belong() {
    let of = |text: &'static str| types::openai::Event::parse(text).expect("an object");
    let delta = of(
        r#"{"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_\u0031","output_index":2,"content_index":0,"delta":"a","logprobs":[]}"#,
    );
    assert_eq!((delta.sequence_number(), delta.output_index()), (Some(4), Some(2)));
    assert_eq!(delta.item_id().as_deref(), Some("msg_1"));
    let unknown = of(r#"{"type":"acme.trace","sequence_number":9,"item_id":"a\u0062","output_index":-1}"#);
    assert_eq!((unknown.sequence_number(), unknown.output_index()), (Some(9), None));
    assert_eq!(unknown.item_id().as_deref(), Some("ab"));
    let created = of(r#"{"type":"response.created","sequence_number":-1,"response":{}}"#);
    assert_eq!((created.sequence_number(), created.output_index(), created.item_id()), (None, None, None));
    for event in [delta, unknown, created] {
        assert_eq!(event.to_string(), Write::to_json(&event));
        let owned: types::openai::Event<'static> = event.clone().into_owned();
        assert_eq!(owned, event);
    }
}

//! Streams of each API are read as what they are.

use types::{NotNull, Nullable, Reason, chat};

#[expect(dead_code, reason = "the program itself is not called")]
#[path = "../../examples/text.rs"]
mod text;

use text::{Said, said};

macro_rules! golden {
    ($path:literal) => {
        include_bytes!(concat!("../../../apis/", $path, ".sse"))
    };
}

#[test]
fn the_text_of_each_api_is_read() {
    let text = |text: &str, end: &str| Said { text: text.into(), end: Some(end.into()), error: None };
    let sky = |end| text("The sky is blue today.", end);
    let hello = text("Hello, world.", "completed");
    assert_eq!(said(golden!("responses/goldens/openai/text"), text::responses), hello);
    assert_eq!(said(golden!("messages/goldens/anthropic/text"), text::messages), sky("end_turn"));
    assert_eq!(said(golden!("chat/goldens/chat/text"), text::completions), sky("stop"));
    for (stream, read) in [
        (&golden!("messages/goldens/anthropic/error")[..], text::messages as fn(&str, &mut Said)),
        (golden!("chat/goldens/chat/error"), text::completions),
    ] {
        let said = said(stream, read);
        assert!(said.error.is_some() && said.end.is_none(), "{said:?}");
    }
}

#[test]
fn chunks_without_a_type_are_typed() {
    let chunk = r#"{"id":"c","object":"chat.completion.chunk","created":1785000000,"model":"m","choices":[]"#;
    for (end, is_error) in
        [("}", false), (r#","error":null}"#, false), (r#","error":{"message":"No."}}"#, true)]
    {
        let json = format!("{chunk}{end}");
        let event = chat::Event::parse(&json).unwrap();
        let expected = if is_error { "error" } else { "chat.completion.chunk" };
        assert_eq!(event.event_type(), expected, "{json}");
        assert_eq!(matches!(event, chat::Event::ChatCompletionChunk(_)), !is_error, "{event:?}");
        assert_eq!(chat::Event::parse_lenient(&json).unwrap().value.event_type(), expected);
        assert_eq!(event.to_json().len(), json.len());
    }

    let chat::Event::Unknown(unknown) = chat::Event::parse("{}").unwrap() else { panic!() };
    assert_eq!(unknown.event_type.as_deref(), Some("chat.completion.chunk"));
    assert!(matches!(unknown.reason, Reason::Miss(_)), "{unknown:?}");
    let lenient = chat::Event::parse_lenient("{}").unwrap();
    assert!(matches!(lenient.value, chat::Event::ChatCompletionChunk(_)) && !lenient.is_complete());
    for text in ["[]", "", "{", r#"{"error":"#] {
        let error = chat::Event::parse(text).unwrap_err();
        assert_eq!(error.miss, types::openai::Event::parse(text).unwrap_err().miss, "{text}");
    }
}

#[test]
fn null_and_absence_are_read_as_one() {
    let given = |value: Option<Nullable<i32>>| value.not_null().copied();
    assert_eq!([given(None), given(Some(Nullable::Null)), given(Some(1.into()))], [None, None, Some(1)]);
    assert_eq!(Nullable::from(2).not_null(), Some(&2));
    assert_eq!([Nullable::Null, Nullable::Value(3)].map(|value| value.to_string()), ["null", "3"]);
}

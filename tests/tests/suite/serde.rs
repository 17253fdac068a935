//! Typed values through serde: they serialize as their JSON text does.

use serde::de::value::{Error, MapDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tests::corpus;
use types::openai::{CreateResponse, Event, OutputTextDelta, Response, ResponseStatus};

macro_rules! round_trip {
    ($module:ident, $name:literal, $count:ident) => {
        for event in corpus::events(&corpus::repository().join("spec/apis/responses/goldens").join($name)) {
            use types::$module::Event;
            let text = event.data.as_str();
            let Ok(typed) = Event::parse(text) else { continue };
            let value: Value = serde_json::from_str(text).expect("it is JSON");
            assert_eq!(serde_json::to_value(&typed).expect("it has a value"), value, "{text}");
            let written = serde_json::to_string(&typed).expect("it can be written");
            for read in [serde_json::from_str::<Event<'_>>(&written), serde_json::from_value(value.clone())] {
                let read = read.unwrap_or_else(|error| panic!("{error}: {text}"));
                assert_eq!(read.event_type(), typed.event_type());
                assert_eq!(matches!(read, Event::Unknown(_)), matches!(typed, Event::Unknown(_)), "{text}");
                assert_eq!(serde_json::to_value(&read).expect("it has a value"), value, "{text}");
            }
            $count += 1;
        }
    };
}

#[test]
fn goldens_of_all_dialects_lose_nothing() {
    let mut count = 0;
    macro_rules! all {
        ($($module:ident $name:literal)*) => { $(round_trip!($module, $name, count);)* };
    }
    types::with_dialects!(all);
    assert!(count > 500, "{count}");
}

/// Types meet the trait bounds of `axum::Json` and channels.
#[test]
fn values_can_be_owned() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Logged {
        event: Event<'static>,
        at: u64,
    }
    fn own<T: Serialize + DeserializeOwned + Send + Sync + 'static>() {}
    own::<Event<'static>>();
    own::<CreateResponse<'static>>();
    own::<ResponseStatus<'static>>();

    let delta = OutputTextDelta::new("msg_1", 0, 0, "Hello\u{0}\"", 4);
    let logged = Logged { event: delta.into(), at: 7 };
    let text = serde_json::to_string(&logged).expect("it can be written");
    assert_eq!(serde_json::from_str::<Logged>(&text).expect("it can be read"), logged);
}

#[test]
fn what_does_not_fit_is_refused() {
    let refused = serde_json::from_str::<Event<'_>>("[]").expect_err("no object");
    assert!(refused.to_string().contains("the value has another JSON type"), "{refused}");
    let refused = serde_json::from_value::<Response<'_>>(json!({ "id": "resp_1" })).expect_err("no response");
    assert!(refused.to_string().contains("the required field"), "{refused}");
    let unknown: Event<'_> = serde_json::from_value(json!({ "type": "acme.trace" })).expect("an object");
    assert!(matches!(unknown, Event::Unknown(_)));
}

#[test]
fn numbers_are_those_that_serde_has() {
    let number = |text: &str| {
        Event::parse(&format!(r#"{{"n":{text}}}"#)).map(|event| serde_json::to_value(event.into_owned()))
    };
    for (text, value) in [
        ("18446744073709551615", json!(u64::MAX)),
        ("-9223372036854775808", json!(i64::MIN)),
        ("-0", json!(-0.0)),
        ("1.50", json!(1.5)),
        ("1e3", json!(1000.0)),
        ("123456789012345678901234567890", json!(123_456_789_012_345_678_901_234_567_890_f64)),
    ] {
        let written = number(text).expect("it is JSON").expect("it has a value");
        assert_eq!(written, json!({ "n": value }), "{text}");
    }
    let refused = number("1e400").expect("it is JSON").expect_err("no f64");
    assert!(refused.to_string().contains("1e400 is too large"), "{refused}");
}

#[test]
fn deep_events_are_an_error_instead_of_an_abort() {
    let event = |depth: usize| format!(r#"{{"type":"x","x":{}{}}}"#, "[".repeat(depth), "]".repeat(depth));
    for (depth, is_written) in [(127, true), (128, false), (100_000, false)] {
        let text = event(depth);
        let typed = Event::parse(&text).expect("an object");
        assert_eq!(typed.to_json(), text);
        match serde_json::to_string(&typed) {
            Ok(written) => assert!(is_written && written == text, "{depth}"),
            Err(error) => {
                assert!(!is_written && error.to_string().contains("deeper than 128 levels"), "{error}");
            }
        }
    }
}

/// With its feature `arbitrary_precision`, `serde_json` hands out numbers as maps of one member.
#[test]
fn numbers_with_all_their_digits_are_read() {
    let precise = [("$serde_json::private::Number", "1.500")].into_iter();
    let read = types::Number::deserialize(MapDeserializer::<_, Error>::new(precise)).expect("a number");
    assert_eq!(read.as_str(), "1.500");
    let text = types::Str::deserialize(IntoDeserializer::<Error>::into_deserializer("a")).expect("a string");
    assert_eq!(text, "a");
}

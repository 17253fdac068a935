//! Rules of the group `wire`.

use super::Case;
use crate::engine::{Payload, Place};

pub(super) fn json_object(case: &mut Case<'_>) {
    let Some(record) = case.record() else { return };
    let place = Place { expected: Some("a JSON object"), ..Place::WHOLE };
    match record.payload {
        Payload::Done | Payload::Object => {}
        Payload::NotJson(problem, at) => {
            let place = Place { at: Some(at), actual: Some(problem), ..place };
            case.report(&place, || format!("the data are not JSON: {problem}"));
        }
        Payload::OtherValue => {
            let kind = match record.data().trim_ascii_start().as_bytes().first() {
                Some(b'[') => "a list",
                Some(b'"') => "a string",
                Some(b'n') => "null",
                Some(b't' | b'f') => "true or false",
                _ => "a number",
            };
            case.report(&Place { actual: Some(kind), ..place }, || format!("the data are {kind}, not an object"));
        }
    }
}

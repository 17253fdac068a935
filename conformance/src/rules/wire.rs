//! Rules of the group `wire`.

use spec::Dialect;
use spec::catalogue::Rule;

use crate::engine::{Findings, Payload, Place, Record, level};

pub(super) fn json_object(
    rule: &'static Rule,
    record: &Record<'_>,
    dialect: &Dialect,
    findings: &mut Findings,
) {
    let level = level(rule, dialect);
    let place = Place { pointer: None, at: None, expected: Some("a JSON object"), actual: None };
    match record.payload {
        Payload::Done | Payload::Object => {}
        Payload::NotJson(problem, at) => {
            let place = Place { at: Some(at), actual: Some(problem), ..place };
            findings.add(rule, level, record, &place, || format!("the data are not JSON: {problem}"));
        }
        Payload::OtherValue => {
            let kind = match record.data().trim_ascii_start().as_bytes().first() {
                Some(b'[') => "a list",
                Some(b'"') => "a string",
                Some(b'n') => "null",
                Some(b't' | b'f') => "true or false",
                _ => "a number",
            };
            let place = Place { actual: Some(kind), ..place };
            findings.add(rule, level, record, &place, || format!("the data are {kind}, not an object"));
        }
    }
}

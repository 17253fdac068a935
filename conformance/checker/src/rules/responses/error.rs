//! Rules of the group `error`.

use spec::table::Role;

use crate::engine::{Case, Snapshot};
use crate::engine::{Object, Place, short};
use crate::{Frame, Transport};

/// Returns whether an error was reported after the response had begun.
fn reported(case: &Case<'_>) -> bool {
    let began_with_it = case.stream.first_types.first().is_some_and(|name| *name == case.dialect().error);
    case.stream.error.is_set() && !began_with_it && !case.stream.has_ended()
}

pub(in crate::rules) fn followed_by_failed(case: &mut Case<'_>) {
    if !case.stream.error.is_set() {
        return;
    }
    let Some(info) = case.info().filter(|info| info.role != Role::Point) else { return };
    let Some(failed) = case.dialect().ending("failed").filter(|failed| failed.name != info.name) else {
        return;
    };
    if reported(case) {
        let place = Place { expected: Some(failed.name), actual: Some(info.name), ..Place::WHOLE };
        case.report(&place, || format!("the error event is followed by {}, not {}", info.name, failed.name));
    }
}

pub(in crate::rules) fn ended_by_failed(case: &mut Case<'_>) {
    let Some(failed) = case.dialect().ending("failed").filter(|_| reported(case)) else { return };
    let place = Place { expected: Some(failed.name), actual: Some("the end of the stream"), ..Place::WHOLE };
    case.report(&place, || format!("the stream ends after an error event, without {}", failed.name));
}

/// Returns the error object: nested, or the event itself.
fn details<'e>(event: &'e Object<'_>, member: &str) -> Object<'e> {
    Object::new(event.value(member).unwrap_or_else(|| event.text()))
}

pub(in crate::rules) fn equals_failed(case: &mut Case<'_>, snapshot: &Snapshot<'_>) {
    let Some(event) = case.stream.error.get().filter(|_| snapshot.has_failed()) else { return };
    let member = case.dialect().api.error.member;
    let Some(failed) = snapshot.response.value(member).map(Object::new) else { return };
    let error = details(event, member);
    for name in ["code", "message"] {
        let (Some(before), Some(now)) = (error.string(name), failed.string(name)) else { continue };
        if before != now {
            case.fault(&format!("/response/error/{name}"), &before, &now, || {
                format!("response.failed has {name} {now:?}, but the error event has {before:?}")
            });
        }
    }
}

/// Returns the status and body of a non-streaming response.
fn error_body<'f>(case: &Case<'_>, frame: &'f Frame<'_>) -> Option<(u16, Object<'f>)> {
    let status = case.head.status?;
    Some((status, Object::new(frame.data.as_deref()?)))
}

pub(in crate::rules) fn status_agrees(case: &mut Case<'_>, frame: &Frame<'_>) {
    let Some((status, body)) = error_body(case, frame).filter(|(status, _)| *status >= 400) else { return };
    let shape = &case.dialect().api.error;
    let Some(error) = body.value(shape.member).map(Object::new) else { return };
    let Some(name) = error.string(shape.class) else { return };
    let Some((_, expected)) = shape.status.iter().find(|(class, _)| **class == *name).copied() else {
        return;
    };
    // Several statuses mean an invalid request, and several a server error.
    let fits = match expected {
        400 => (400..500).contains(&status) && status != 429,
        500 => status >= 500,
        other => status == other,
    };
    if !fits {
        case.fault(
            &format!("/{}/{}", shape.member, shape.class),
            &format!("a type for status {status}"),
            &name,
            || format!("the error has type {name:?} and status {status}, not {expected}"),
        );
    }
}

/// Reports a stream with an error status.
pub(in crate::rules) fn no_stream(case: &mut Case<'_>) {
    let Some(status) = case.head.status.filter(|status| *status >= 400) else { return };
    if case.stream.events == 0 && case.stream.transport == Transport::Http {
        let place = Place { expected: Some("a JSON object with an error"), ..Place::WHOLE };
        case.report(&place, || format!("the response with status {status} is a stream"));
    }
}

pub(in crate::rules) fn body_shape(case: &mut Case<'_>, frame: &Frame<'_>) {
    let Some((_, body)) = error_body(case, frame).filter(|(status, _)| *status >= 400) else { return };
    let shape = &case.dialect().api.error;
    let pointer = format!("/{}", shape.member);
    let value = body.value(shape.member);
    let Some(error) = value.filter(|error| error.starts_with('{')).map(Object::new) else {
        let message = || "the body has no error object".to_owned();
        match value {
            Some(other) => case.fault(&pointer, "an object", &short(other), message),
            None => case.lacks("", shape.member, message),
        }
        return;
    };
    for name in shape.required {
        if error.string(name).is_none() {
            case.lacks_a("string", &pointer, name, || format!("the error has no {name}"));
        }
    }
}

pub(in crate::rules) fn stream_not_under_200(case: &mut Case<'_>) {
    let Some(record) = case.record() else { return };
    let is_success = !case.head.is_refusal();
    if case.stream.events == 0 && record.is_error && record.frame.transport == Transport::Http && is_success {
        let place = Place { expected: Some("a status of 400 or above"), ..Place::WHOLE };
        case.report(&place, || "the stream begins with an error, but its status reports success".to_owned());
    }
}

pub(in crate::rules) fn body_not_under_200(case: &mut Case<'_>, frame: &Frame<'_>) {
    let Some((_, body)) = error_body(case, frame).filter(|(status, _)| *status < 400) else { return };
    let is_response = body.plain("object") == Some("response");
    let member = case.dialect().api.error.member;
    let Some(error) = body.value(member).filter(|_| !is_response) else { return };
    case.fault(&format!("/{member}"), "a status of 400 or above", &short(error), || {
        "the body is an error, but its status reports success".to_owned()
    });
}

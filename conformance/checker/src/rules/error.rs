//! Rules of the group `error`.

use spec::table::Role;

use crate::engine::{Case, Snapshot};
use crate::engine::{Object, Place, short};
use crate::{Frame, Transport};

/// An error was reported in the stream, after the response had begun.
fn reported(case: &Case<'_>) -> bool {
    let began_with_it = case.stream.first_types.first().is_some_and(|name| *name == case.dialect().error);
    case.stream.error.is_there() && !began_with_it && !case.stream.has_ended()
}

pub(super) fn followed_by_failed(case: &mut Case<'_>) {
    if !case.stream.error.is_there() {
        return;
    }
    let Some(info) = case.info().filter(|info| info.role != Role::Point) else { return };
    let Some(failed) = case.dialect().ending("failed").filter(|failed| failed.name != info.name) else {
        return;
    };
    if reported(case) {
        let place = Place { expected: Some(failed.name), actual: Some(info.name), ..Place::WHOLE };
        case.report(&place, || format!("{} comes after an error, not {}", info.name, failed.name));
    }
}

pub(super) fn ended_by_failed(case: &mut Case<'_>) {
    let Some(failed) = case.dialect().ending("failed").filter(|_| reported(case)) else { return };
    let place = Place { expected: Some(failed.name), actual: Some("the end"), ..Place::WHOLE };
    case.report(&place, || format!("the stream is over after an error, without {}", failed.name));
}

/// The object that says what went wrong: nested, or the event itself.
fn details<'e>(event: &'e Object<'_>) -> Object<'e> {
    Object::new(event.value("error").unwrap_or_else(|| event.text()))
}

pub(super) fn equals_failed(case: &mut Case<'_>, snapshot: &Snapshot<'_>) {
    let Some(event) = case.stream.error.get().filter(|_| snapshot.has_failed()) else { return };
    let Some(failed) = snapshot.response.value("error").map(Object::new) else { return };
    let error = details(event);
    for name in ["code", "message"] {
        let (Some(before), Some(now)) = (error.string(name), failed.string(name)) else { continue };
        if before != now {
            case.fault(&format!("/response/error/{name}"), &before, &now, || {
                format!("the response failed with {name} {now:?}, and the error before it said {before:?}")
            });
        }
    }
}

/// The body of an answer that is an error, and its status.
fn error_body<'f>(case: &Case<'_>, frame: &'f Frame<'_>) -> Option<(u16, Object<'f>)> {
    let status = case.connection.status?;
    Some((status, Object::new(frame.data.as_deref()?)))
}

pub(super) fn status_agrees(case: &mut Case<'_>, frame: &Frame<'_>) {
    let Some((status, body)) = error_body(case, frame).filter(|(status, _)| *status >= 400) else { return };
    let Some(error) = body.value("error").map(Object::new) else { return };
    let Some(name) = error.string("type") else { return };
    let expected = match &*name {
        "server_error" | "model_error" => 500,
        "invalid_request" | "invalid_request_error" => 400,
        "not_found" | "not_found_error" => 404,
        "too_many_requests" | "rate_limit_error" => 429,
        _ => return,
    };
    // Several statuses of a family mean an invalid request, and several a fault of the server.
    let fits = match expected {
        400 => (400..500).contains(&status) && status != 429,
        500 => status >= 500,
        other => status == other,
    };
    if !fits {
        case.fault("/error/type", &format!("what goes with status {status}"), &name, || {
            format!("an error of type {name:?} comes with status {status}, not {expected}")
        });
    }
}

/// A stream under the status of an error.
pub(super) fn no_stream(case: &mut Case<'_>) {
    let Some(status) = case.connection.status.filter(|status| *status >= 400) else { return };
    if case.stream.events == 0 && case.stream.transport == Transport::Http {
        let place = Place { expected: Some("a JSON object that says what went wrong"), ..Place::WHOLE };
        case.report(&place, || format!("an answer with status {status} is a stream"));
    }
}

pub(super) fn body_shape(case: &mut Case<'_>, frame: &Frame<'_>) {
    let Some((_, body)) = error_body(case, frame).filter(|(status, _)| *status >= 400) else { return };
    let value = body.value("error");
    let Some(error) = value.filter(|error| error.starts_with('{')).map(Object::new) else {
        let message = || "the body of an error has no object that says what went wrong".to_owned();
        match value {
            Some(other) => case.fault("/error", "an object", &short(other), message),
            None => case.lacks("", "error", message),
        }
        return;
    };
    for name in ["message", "type"] {
        if error.string(name).is_none() {
            case.lacks_a("string", "/error", name, || format!("the error does not say its {name}"));
        }
    }
}

pub(super) fn stream_not_under_200(case: &mut Case<'_>) {
    let Some(record) = case.record() else { return };
    let is_success = case.connection.status.is_none_or(|status| status < 400);
    if case.stream.events == 0 && record.is_error && record.frame.transport == Transport::Http && is_success {
        let place = Place { expected: Some("an answer with the status of the error"), ..Place::WHOLE };
        case.report(&place, || "a stream begins with an error, as if the request had succeeded".to_owned());
    }
}

pub(super) fn body_not_under_200(case: &mut Case<'_>, frame: &Frame<'_>) {
    let Some((_, body)) = error_body(case, frame).filter(|(status, _)| *status < 400) else { return };
    let is_response = body.plain("object") == Some("response");
    let Some(error) = body.value("error").filter(|_| !is_response) else { return };
    case.fault("/error", "an answer with the status of the error", &short(error), || {
        "the answer has a status of success, and its body is an error".to_owned()
    });
}

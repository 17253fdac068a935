//! Rules of the group `error` about responses that refuse a request.

use spec::json;

use crate::engine::{Case, Object, short};
use crate::{Frame, Transport};

fn error_body<'f>(case: &Case<'_>, frame: &'f Frame<'_>) -> Option<(u16, Object<'f>)> {
    let status = case.head.status?;
    Some((status, Object::new(frame.data.as_deref()?)))
}

pub(super) fn status_agrees(case: &mut Case<'_>, frame: &Frame<'_>) {
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

pub(super) fn no_stream(case: &mut Case<'_>) {
    let Some(status) = case.head.status.filter(|status| *status >= 400) else { return };
    if case.stream.events == 0 && case.stream.transport == Transport::Http {
        case.expected("a JSON object with an error", || {
            format!("the response with status {status} is a stream")
        });
    }
}

pub(super) fn body_shape(case: &mut Case<'_>, frame: &Frame<'_>) {
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
    // Some APIs mark the whole body as an error.
    let marks = case.dialect().api.bodies.iter().filter(|body| body.root == "error");
    for (pointer, text) in marks.flat_map(|body| body.mark.texts) {
        let found = json::at(body.text(), pointer);
        if found.and_then(json::string).as_deref() != Some(text) {
            let actual = found.map_or("none".into(), short);
            case.fault(pointer, &format!("{text:?}"), &actual, || {
                format!("{pointer} of the body is {actual}, not {text:?}")
            });
        }
    }
}

pub(super) fn stream_not_under_200(case: &mut Case<'_>) {
    let Some(record) = case.record() else { return };
    // Where an error may come first, overload shows only then.
    let is_success = !case.head.is_refusal() && !case.info().is_some_and(|info| info.early);
    if case.stream.events == 0 && record.is_error && record.frame.transport == Transport::Http && is_success {
        case.expected("a status of 400 or above", || {
            "the stream begins with an error, but its status reports success".to_owned()
        });
    }
}

pub(super) fn body_not_under_200(case: &mut Case<'_>, frame: &Frame<'_>) {
    let Some((_, body)) = error_body(case, frame).filter(|(status, _)| *status < 400) else { return };
    let api = case.dialect().api;
    let root = api.body(body.text()).map(|shape| shape.root);
    let is_response = root.is_some() && root == api.root_body();
    let member = api.error.member;
    let Some(error) = body.value(member).filter(|_| !is_response) else { return };
    case.fault(&format!("/{member}"), "a status of 400 or above", &short(error), || {
        "the body is an error, but its status reports success".to_owned()
    });
}

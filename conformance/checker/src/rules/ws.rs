//! Rules of the group `ws`.

use std::time::Duration;

use crate::Transport;
use crate::engine::Case;
use crate::engine::{Object, Place};

fn is_on_socket(case: &Case<'_>) -> bool {
    case.record().is_some_and(|record| record.frame.transport == Transport::WebSocket)
}

pub(super) fn error_envelope(case: &mut Case<'_>) {
    let Some(record) = case.record().filter(|record| case.stream.is_answered_apart(record)) else { return };
    let envelope = Object::new(record.data());
    if envelope.number("status").is_none() {
        case.lacks_a("number", "", "status", || "an error on a WebSocket has no status".to_owned());
    }
    let code = envelope.value("error").map(Object::new).and_then(|error| error.string("code").map(drop));
    if code.is_none() {
        case.lacks_a("string", "/error", "code", || "an error on a WebSocket has no code".to_owned());
    }
}

pub(super) fn one_in_flight(case: &mut Case<'_>) {
    if is_on_socket(case) && case.stream.overlaps && case.stream.events == 0 {
        let place = Place { expected: Some("the end of the response before it"), ..Place::WHOLE };
        case.report(&place, || "a response begins before the one before it has ended".to_owned());
    }
}

pub(super) fn answers_create(case: &mut Case<'_>) {
    let unanswered = case.connection.unanswered.len();
    if unanswered > 0 {
        let place =
            Place { expected: Some("a response or an error for every response.create"), ..Place::WHOLE };
        case.report(&place, || format!("the connection ends with {unanswered} response.create unanswered"));
    }
}

/// A connection lives for an hour. Clocks that differ, and a message on its way, are forgiven a minute.
const LIMIT: Duration = Duration::from_secs(61 * 60);

pub(super) fn connection_limit(case: &mut Case<'_>) {
    let Some(record) = case.record() else { return };
    let is_refused = case.stream.is_answered_apart(record);
    if !is_refused && case.stream.has_begun() {
        return;
    }
    let Some(age) = case.connection.age_at_request().filter(|age| *age > LIMIT) else { return };
    let envelope = Object::new(record.data());
    let error = envelope.value("error").map(Object::new);
    let code = error.as_ref().and_then(|error| error.string("code")).filter(|_| is_refused);
    if code.as_deref() == Some("websocket_connection_limit_reached") {
        return;
    }
    let place =
        Place { expected: Some("an error with the code websocket_connection_limit_reached"), ..Place::WHOLE };
    case.report(&place, || {
        let answer = match &code {
            Some(code) => format!("refused with the code {code}"),
            None if is_refused => "refused without a code".to_owned(),
            None => "answered by another response".to_owned(),
        };
        format!("{} minutes after the connection began, a request is {answer}", age.as_secs() / 60)
    });
}

pub(super) fn unknown_previous_id(case: &mut Case<'_>) {
    let Some(record) = case.record().filter(|_| is_on_socket(case)) else { return };
    let Some(turn) = &case.connection.turn else { return };
    let Some(id) = turn.previous_response_id.as_deref() else { return };
    if !turn.is_unstored || case.connection.responses.contains(id) || case.stream.events > 0 {
        return;
    }
    // A turn that fails may do so for another reason, before the earlier response is looked for.
    if record.event_type.as_deref() == Some("response.created") {
        let place = Place { expected: Some("previous_response_not_found"), ..Place::WHOLE };
        case.report(&place, || format!("a turn continues {id}, which the connection does not know"));
    }
}

pub(super) fn latest_kept(case: &mut Case<'_>) {
    let Some(record) = case.record().filter(|record| case.stream.is_answered_apart(record)) else { return };
    let turn = case.connection.turn.as_ref();
    let Some(id) = turn.and_then(|turn| turn.previous_response_id.as_deref()) else { return };
    let is_kept = case.connection.responses.contains(id) && case.connection.latest.as_deref() == Some(id);
    let envelope = Object::new(record.data());
    let is_unknown = |error: Object<'_>| error.plain("code") == Some("previous_response_not_found");
    if is_kept && envelope.value("error").map(Object::new).is_some_and(is_unknown) {
        let place = Place { expected: Some("a response that continues it"), ..Place::WHOLE };
        case.report(&place, || {
            format!("a turn continues {id}, the latest response of the connection, and is refused")
        });
    }
}

//! Rules of the group `ws`.

use std::time::Duration;

use catalogue::Level;
use spec::table::{Reply, Role};

use crate::Transport;
use crate::engine::Case;
use crate::engine::{About, Connection, InFlightMessage, Object, Record, Steer, Turn, short};

fn is_on_socket(case: &Case<'_>) -> bool {
    case.record().is_some_and(|record| record.frame.transport == Transport::WebSocket)
}

pub(in crate::rules) fn error_envelope(case: &mut Case<'_>) {
    let Some(record) = case.record().filter(|record| case.stream.is_answered_apart(record)) else { return };
    let envelope = Object::new(record.data());
    if envelope.number("status").is_none() {
        case.lacks_a("number", "", "status", || "the error has no status".to_owned());
    }
    let code = envelope.value("error").map(Object::new).and_then(|error| error.string("code").map(drop));
    if code.is_none() {
        case.lacks_a("string", "/error", "code", || "the error has no code".to_owned());
    }
}

pub(in crate::rules) fn one_in_flight(case: &mut Case<'_>) {
    if is_on_socket(case) && case.stream.overlaps && case.stream.events == 0 {
        case.expected("the end of the previous response", || {
            "a response begins before the previous one has ended".to_owned()
        });
    }
}

/// Maximum number of named lanes, and of responses in flight.
const LANES: usize = 32;
const IN_FLIGHT: usize = 16;

fn begins(case: &Case<'_>) -> bool {
    case.record().is_some_and(Record::begins)
}

pub(in crate::rules) fn stream_id_echoed(case: &mut Case<'_>) {
    let Some(lane) = case.session.map(|session| &session.connection.lane) else { return };
    if lane.is_nameless {
        case.fault_of_event("property \"stream_id\"", "none", || {
            "the event has no stream_id, but all responses in flight belong to named lanes".to_owned()
        });
    } else if lane.is_stranger {
        let name = format!("{:?}", lane.name.as_deref().unwrap_or_default());
        case.fault("/stream_id", "the stream_id of a response.create", &short(&name), || {
            format!("no response.create has the stream_id {}", short(&name))
        });
    }
}

pub(in crate::rules) fn lane_limit(case: &mut Case<'_>) {
    let Some(lane) = case.session.map(|session| &session.connection.lane) else { return };
    if !begins(case) || !case.dialect().framing.lanes {
        return;
    }
    let (named, in_flight) = (lane.named, lane.others_in_flight + 1);
    if named > LANES {
        case.fault(
            "/stream_id",
            "an error with the code websocket_stream_limit_reached",
            &named.to_string(),
            || format!("a response begins in named lane {named}, but a connection has at most {LANES}"),
        );
    } else if in_flight > IN_FLIGHT {
        let (expected, actual) = ("the end of another response", in_flight.to_string());
        case.fault("/type", expected, &actual, || {
            format!("{in_flight} responses are in flight, but a connection has at most {IN_FLIGHT}")
        });
    }
}

pub(in crate::rules) fn turns_in_order(case: &mut Case<'_>) {
    if !begins(case) {
        return;
    }
    let Some((turn, session)) = case.turn().zip(case.session) else { return };
    let Some(continued) = case.response().and_then(|it| spec::json::at(it, "/previous_response_id")) else {
        return;
    };
    let continued = spec::json::string(continued);
    let is_same = |turn: &Turn| turn.previous_response_id.as_deref() == continued.as_deref();
    let later = session.turns.unanswered.iter().position(is_same).filter(|_| !is_same(turn));
    if let Some(later) = later {
        let id = |id: Option<&str>| id.map_or_else(|| "no response".to_owned(), |id| format!("{id:?}"));
        let (expected, actual) = (id(turn.previous_response_id.as_deref()), id(continued.as_deref()));
        case.fault("/response/previous_response_id", &expected, &actual, || {
            format!("the response answers request {} of its lane before request 1", later + 2)
        });
    }
}

pub(in crate::rules) fn created_asked(case: &mut Case<'_>) {
    if case.session.is_some_and(|session| session.connection.is_unasked) {
        case.expected("a response.create, or steering input, before it", || {
            "a response begins without a request".to_owned()
        });
    }
}

pub(in crate::rules) fn steered_ends(case: &mut Case<'_>) {
    let Some(session) = case.session.filter(|session| session.connection.has_requests) else { return };
    let Some(info) = case.info().filter(|info| info.level.is_root && info.role == Role::Terminal) else {
        return;
    };
    let Some(response) = case.response().map(Object::new) else { return };
    let Some(id) = response.string("id").filter(|_| info.phase == Some("incomplete")) else { return };
    let details = response.value("incomplete_details").map(Object::new);
    let is_steered = details.is_some_and(|details| details.plain("reason") == Some("steered"));
    if is_steered && session.connection.asides.turning(&id).is_none() {
        let pointer = "/response/incomplete_details/reason";
        case.fault(pointer, "response.steer.accepted before it", "\"steered\"", || {
            format!("{id} ends as steered, but no steering input was accepted for it")
        });
    }
}

pub(in crate::rules) fn ids_unique(case: &mut Case<'_>) {
    // `ws/one-in-flight` reports a second response in a lane.
    if !begins(case) || case.stream.overlaps {
        return;
    }
    let id = case.response().and_then(|it| spec::json::at(it, "/id")).and_then(spec::json::string);
    let is_known = |id: &str| case.session.is_some_and(|session| session.connection.begun.contains(id));
    let Some(id) = id.filter(|id| !id.is_empty() && is_known(id)) else { return };
    case.fault("/response/id", "an id of its own", &format!("{id:?}"), || {
        format!("an earlier response of the connection has the id {id}, too")
    });
}

/// Only replies to this kind of message count.
fn reply<'c>(case: &Case<'c>, aside: InFlightMessage, replies: &[Reply]) -> Option<(About, &'c Connection)> {
    let record = case.record()?;
    let (is_to, reply) = InFlightMessage::of_reply(case.dialect(), record.event_type.as_deref()?)?;
    let is_meant = is_to == aside && replies.contains(&reply);
    let about = About::of(record.data(), case.dialect().api.session.as_ref()?);
    Some((about, case.session?.connection)).filter(|_| is_meant)
}

pub(in crate::rules) fn steer_asked(case: &mut Case<'_>) {
    let Some((about, connection)) = reply(case, InFlightMessage::Steer, &[Reply::Accepted]) else { return };
    let Some(steer) = case.dialect().framing.steer else { return };
    let response = about.response.unwrap_or_default();
    if connection.has_requests && !connection.asides.steered.contains(&response) {
        let (expected, actual) = (format!("the response of a {}", steer.message), format!("{response:?}"));
        case.fault("/steer/previous_response_id", &expected, &actual, || {
            format!("steering input is accepted for {response}, but the client sent none")
        });
    }
}

pub(in crate::rules) fn steer_followed(case: &mut Case<'_>) {
    let Some((names, session)) = case.dialect().framing.steer.zip(case.session) else { return };
    let asides = &session.connection.asides;
    let unanswered = asides.steered.len();
    let is_dropped =
        |steer: &&Steer| !steer.is_over && !steer.is_pending && asides.end_of(&steer.response).is_some();
    if unanswered > 0 {
        let expected = format!("{} or {}", names.accepted, names.failed);
        case.expected(&expected, || {
            format!("the connection ends with {unanswered} {} unanswered", names.message)
        });
    } else if let Some(steer) = asides.taken.iter().find(is_dropped) {
        // The cause of a failed response can end the connection, too.
        if asides.end_of(&steer.response) == Some(Some(case.dialect().api.status.failed)) {
            case.limit(Level::May);
        }
        let follows = case.dialect().opening.into_iter().chain(names.pending).collect::<Vec<_>>().join(", ");
        let expected = format!("{follows} or {}", names.failed);
        case.expected(&expected, || {
            format!("{} was steered by {}, but no event followed its end", steer.response, steer.id)
        });
    }
}

pub(in crate::rules) fn steer_pending(case: &mut Case<'_>) {
    let Some((about, Connection { asides, .. })) = reply(case, InFlightMessage::Steer, &[Reply::Pending])
    else {
        return;
    };
    let id = about.id.unwrap_or_default();
    let Some(steer) = asides.taken.iter().find(|steer| steer.id == id) else {
        case.fault("/steer/id", "the id of accepted steering input", &format!("{id:?}"), || {
            format!("{id} is pending, but was never accepted")
        });
        return;
    };
    if steer.is_pending {
        let name = case.record().and_then(|record| record.event_type.as_deref()).unwrap_or_default();
        case.fault("/steer/id", &format!("one {name}"), &format!("{id:?}"), || {
            format!("{id} is pending a second time")
        });
        return;
    }
    if asides.end_of(&steer.response) != Some(Some(case.dialect().api.status.completed)) {
        let completed = case.dialect().ending("completed").map_or("the end", |event| event.name);
        let expected = format!("{completed} of {} before it", steer.response);
        case.expected(&expected, || format!("{id} is pending, but {} is not completed", steer.response));
    }
}

pub(in crate::rules) fn steer_failed(case: &mut Case<'_>) {
    let Some((about, Connection { asides, .. })) = reply(case, InFlightMessage::Steer, &[Reply::Failed])
    else {
        return;
    };
    let (id, response) = (about.id, about.response.unwrap_or_default());
    let is_known = id.as_ref().is_some_and(|id| asides.taken.iter().any(|steer| steer.id == *id));
    // Input that fails before it is accepted need not have an id.
    let Some(steer) = asides.turning(&response).filter(|_| !is_known && !asides.steered.contains(&response))
    else {
        return;
    };
    let actual = id.as_ref().map_or_else(|| "none".to_owned(), |id| format!("{id:?}"));
    let expected = format!("{:?}", steer.id);
    case.fault(if id.is_some() { "/steer/id" } else { "/steer" }, &expected, &actual, || {
        format!("the input accepted as {} fails without its id", steer.id)
    });
}

pub(in crate::rules) fn inject_asked(case: &mut Case<'_>) {
    let replies = [Reply::Accepted, Reply::Failed];
    let Some((about, connection)) = reply(case, InFlightMessage::Inject, &replies) else { return };
    let Some(inject) = case.dialect().framing.inject else { return };
    let name = case.record().and_then(|record| record.event_type.as_deref()).unwrap_or_default();
    let response = about.response.unwrap_or_default();
    if connection.has_requests && !connection.asides.injected.contains(&response) {
        let expected = format!("the response of a {}", inject.message);
        case.fault("/response_id", &expected, &format!("{response:?}"), || {
            format!("{name} is about {response}, but the client injected nothing into it")
        });
    }
}

pub(in crate::rules) fn inject_answered(case: &mut Case<'_>) {
    let Some((names, session)) = case.dialect().framing.inject.zip(case.session) else { return };
    let unanswered = session.connection.asides.injected.len();
    if unanswered > 0 {
        let expected = format!("{} or {}", names.accepted, names.failed);
        case.expected(&expected, || {
            format!("the connection ends with {unanswered} {} unanswered", names.message)
        });
    }
}

pub(in crate::rules) fn answers_create(case: &mut Case<'_>) {
    let unanswered = case.session.map_or(0, |session| session.turns.unanswered.len());
    let Some(create) = case.dialect().framing.create.filter(|_| unanswered > 0) else { return };
    let expected = format!("a response or an error for every {create}");
    case.expected(&expected, || format!("the connection ends with {unanswered} {create} unanswered"));
}

/// Lifetime of a connection, with a tolerance of one minute.
const LIMIT: Duration = Duration::from_secs(61 * 60);

pub(in crate::rules) fn connection_limit(case: &mut Case<'_>) {
    let Some(record) = case.record() else { return };
    let is_refused = case.stream.is_answered_apart(record);
    if !is_refused && case.stream.has_begun() {
        return;
    }
    let age = case.session.and_then(|session| session.age_at_request());
    let Some(age) = age.filter(|age| *age > LIMIT) else { return };
    let envelope = Object::new(record.data());
    let error = envelope.value("error").map(Object::new);
    let code = error.as_ref().and_then(|error| error.string("code")).filter(|_| is_refused);
    if code.as_deref() == Some("websocket_connection_limit_reached") {
        return;
    }
    case.expected("an error with the code websocket_connection_limit_reached", || {
        let answer = match &code {
            Some(code) => format!("refused with the code {code}"),
            None if is_refused => "refused without a code".to_owned(),
            None => "answered by a new response".to_owned(),
        };
        format!("a request {} minutes after the connection began is {answer}", age.as_secs() / 60)
    });
}

pub(in crate::rules) fn unknown_previous_id(case: &mut Case<'_>) {
    let Some(record) = case.record().filter(|_| is_on_socket(case)) else { return };
    let Some((turn, session)) = case.turn().zip(case.session) else { return };
    let Some(id) = turn.previous_response_id.as_deref() else { return };
    if !turn.is_unstored || session.connection.responses.contains(id) || case.stream.events > 0 {
        return;
    }
    // A turn may fail for another reason before the previous response is looked up.
    if record.begins() {
        case.expected("previous_response_not_found", || {
            format!("the turn continues {id}, which the connection does not know")
        });
    }
}

pub(in crate::rules) fn latest_kept(case: &mut Case<'_>) {
    let Some(record) = case.record().filter(|record| case.stream.is_answered_apart(record)) else { return };
    let Some((turn, session)) = case.turn().zip(case.session) else { return };
    let Some(id) = turn.previous_response_id.as_deref() else { return };
    let is_kept = session.connection.responses.contains(id) && session.turns.latest.as_deref() == Some(id);
    let envelope = Object::new(record.data());
    let is_unknown = |error: Object<'_>| error.plain("code") == Some("previous_response_not_found");
    if is_kept && envelope.value("error").map(Object::new).is_some_and(is_unknown) {
        case.expected("a response that continues it", || {
            format!("the turn continues {id}, the latest response of the connection, but is refused")
        });
    }
}

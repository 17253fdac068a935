//! Rules of the group `error` about how the response of an error ends.

use spec::table::Role;

use crate::engine::Object;
use crate::engine::{Case, Snapshot};

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
        case.fault_of_event(failed.name, info.name, || {
            format!("the error event is followed by {}, not {}", info.name, failed.name)
        });
    }
}

pub(in crate::rules) fn ended_by_failed(case: &mut Case<'_>) {
    let Some(failed) = case.dialect().ending("failed").filter(|_| reported(case)) else { return };
    case.fault_of_event(failed.name, "the end of the stream", || {
        format!("the stream ends after an error event, without {}", failed.name)
    });
}

/// The error is nested, or is the event itself.
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

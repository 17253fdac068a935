//! Rules that can be broken in WebSocket turns.

use catalogue::Rule;

use checker::Rules;
use translation::pen::edits::Edits;

/// The rule that two compaction items break.
pub(crate) const COMPACTION_TRIGGERED: &str = "request/compaction-triggered";

/// Rules that can be broken in WebSocket turns, with the turn that triggers each.
pub(super) const SOCKET_FAULTS: [(&str, &str); 16] = [
    (COMPACTION_TRIGGERED, "a compaction_trigger in the input"),
    ("ws/answers-create", "a refused request, on a WebSocket"),
    ("ws/created-asked", "anything, on a WebSocket"),
    ("ws/error-envelope", "a refused request, on a WebSocket"),
    ("ws/ids-unique", "a second turn, on a WebSocket"),
    ("ws/inject-answered", "response.inject, on a WebSocket"),
    ("ws/lane-limit", "a request in a 33rd lane, on a WebSocket"),
    ("ws/latest-kept", "a turn that continues the previous one, on a WebSocket"),
    ("ws/one-in-flight", "anything, on a WebSocket"),
    ("ws/steer-failed", "response.steer, on a WebSocket"),
    ("ws/steer-followed", "response.steer, on a WebSocket"),
    ("ws/steer-pending", "response.steer while a function is called, on a WebSocket"),
    ("ws/steered-ends", "response.steer, on a WebSocket"),
    ("ws/stream-id-echoed", "a request with a stream_id, on a WebSocket"),
    ("ws/turns-in-order", "two requests at once, on a WebSocket"),
    ("ws/unknown-previous-id", "an unknown previous_response_id with store false, on a WebSocket"),
];

/// Returns the rules that can be broken in WebSocket turns, with the turn that triggers each.
pub fn socket_faults(rules: &Rules) -> Vec<(&'static Rule, &'static str)> {
    let is_spoken = Edits::of(rules.dialect(), 0).keep_types();
    let known = SOCKET_FAULTS.into_iter().filter(|_| is_spoken);
    let bound = known.filter(|(id, _)| rules.iter().any(|rule| rule.id == *id));
    bound.filter_map(|(id, turn)| Some((catalogue::rule(id)?, turn))).collect()
}

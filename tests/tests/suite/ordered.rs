//! Faults of order that the second models brought up.

use codegen::formats::Edits;
use tests::edited;

/// Goldens, their edits, and the rule that they break then.
const FAULTS: &[(&str, &str, &str)] = &[
    ("anthropic/early-ping", "truncate ping\ndrop message_start", "message/one-stop"),
    (
        "anthropic/text",
        "insert after message_stop {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"a\"}}",
        "message/stop-last",
    ),
    (
        "openai/web-search",
        "swap response.output_text.annotation.added response.completed\nrenumber",
        "response/terminal-last",
    ),
    (
        "openai/text",
        "insert after response.created {\"type\":\"keepalive\",\"sequence_number\":1}\ndrop response.in_progress\nrenumber",
        "response/in-progress-second",
    ),
    ("openai/shell-call", "duplicate response.shell_call_command.added#1\nrenumber", "tool/before-open"),
    ("chat/refusal", "swap #1 #2", "choice/has-role"),
    ("chat/usage", "swap #1 #5", "usage/after-finish"),
    ("chat/two-choices", "swap #2 #9", "usage/after-finish"),
];

#[test]
fn faults_of_order_are_found() {
    for (golden, edits, rule) in FAULTS {
        let edits = Edits::try_from((*edits).to_owned()).expect("edits");
        let found = edited::check(golden, &edits).expect("it can be edited");
        assert!(found.binding.contains(rule), "{golden}: {found:?}, not {rule}");
    }
}

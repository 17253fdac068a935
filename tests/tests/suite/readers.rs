//! The checker and the translator read the same answer, also from damaged streams.

use std::collections::BTreeSet;
use std::fmt::{Debug, Write as _};
use std::fs;

use checker::{Answer, RuleSets, ToolCall};
use conformance::capture::Format;
use conformance::goldens;
use conformance::recordings::Checking;
use spec::Dialect;
use tests::corpus;
use tests::damages::Damages;
use translation::Reply;

/// Damages whose streams they read differently: the damage, what differs, and why that is no defect of either.
const DECIDED: [(&str, &str, &str); 8] = [
    ("arguments-object", "calls", NO_PIECE),
    ("call-id-empty", "calls", "the checker reads only calls that can be answered"),
    ("delta-after-reason", "text", "the translator writes pieces in the order of their arrival"),
    ("delta-after-stop-of-message", "text", "the translator writes pieces in the order of their arrival"),
    ("id-number", "id", "the translator begins with the first chunk"),
    ("stop-before-last-delta", "calls", NO_PIECE),
    ("text-at-start", "text", NO_PIECE),
    ("thinking-at-start", "reasoning", NO_PIECE),
];
const NO_PIECE: &str = "the translator cannot take back what it has written before a piece follows";

/// In the terms of the checker. Where an API counts cached tokens apart, the input of a reply includes them.
fn in_terms_of_checker(dialect: &'static Dialect, reply: Reply) -> Answer {
    let mut answer = Answer::from(reply);
    let has_input = dialect.api.usage.written.0.is_empty();
    if let Some(tokens) = answer.tokens.as_mut().filter(|_| !has_input) {
        tokens.input = None;
    }
    answer
}

/// The calls, without the ids that the translator makes where a call has none. No arguments are an empty object.
fn alike(calls: &[ToolCall], sent: &[ToolCall]) -> Vec<ToolCall> {
    let without = |(at, call): (usize, &ToolCall)| {
        let has_no_id = sent.get(at).is_some_and(|sent| sent.id.is_empty());
        let id = if has_no_id { String::new() } else { call.id.clone() };
        let arguments = if call.arguments == "{}" { String::new() } else { call.arguments.clone() };
        ToolCall { id, arguments, ..call.clone() }
    };
    calls.iter().enumerate().map(without).collect()
}

fn differences(dialect: &'static Dialect, bytes: &[u8]) -> Vec<(&'static str, String)> {
    let reply = Reply::of_stream(dialect, bytes);
    compared(&Answer::of_stream(dialect, bytes), &in_terms_of_checker(dialect, reply))
}

fn differences_of_body(dialect: &'static Dialect, bytes: &[u8]) -> Vec<(&'static str, String)> {
    let body = serde_json::from_slice(bytes).unwrap_or_default();
    let reply = Reply::of_body(dialect, 200, bytes);
    compared(&Answer::of_body(dialect, &body), &in_terms_of_checker(dialect, reply))
}

/// The members that differ, with both readings.
fn compared(one: &Answer, other: &Answer) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    let mut compare = |what, one: &dyn Debug, other: &dyn Debug| {
        let [one, other] = [one, other].map(|it| format!("{it:?}"));
        if one != other {
            found.push((what, format!("checker: {one:.300}, translator: {other:.300}")));
        }
    };
    compare("text", &one.text(), &other.text());
    compare("refusal", &one.refusal, &other.refusal);
    // Some vendors have no dialect of their own, and send reasoning under names that only they have.
    if !one.reasoning.is_empty() {
        compare("reasoning", &one.reasoning, &other.reasoning);
    }
    compare("calls", &alike(&one.calls, &one.calls), &alike(&other.calls, &one.calls));
    compare("id", &one.id, &other.id);
    // Dialects that have the members of the response in its events say how it ended in their types alone.
    if one.status.as_deref().is_some_and(|status| status != "in_progress") {
        compare("status", &one.status, &other.status);
    }
    // The translator reads nothing but the error in an event that reports one.
    if other.tokens.is_some() {
        let output = |answer: &Answer| answer.tokens.and_then(|tokens| tokens.output);
        compare("output tokens", &output(one), &output(other));
        let input = |answer: &Answer| answer.tokens.and_then(|tokens| tokens.input);
        if input(other).is_some() {
            compare("input tokens", &input(one), &input(other));
        }
    }
    found
}

fn is_spoken(dialect: &Dialect) -> bool {
    spec::spoken().any(|api| api.name == dialect.api.name)
}

#[test]
fn goldens_are_read_alike() {
    let mut wrong = String::new();
    for golden in goldens::GOLDENS.iter().filter(|golden| golden.format == Format::Sse) {
        let dialect = corpus::dialect(golden.dialect);
        for (what, how) in differences(dialect, golden.bytes).iter().filter(|_| is_spoken(dialect)) {
            _ = writeln!(wrong, "{}/{}: {what}: {how}", golden.dialect, golden.name);
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn damages_are_read_alike() {
    let (mut wrong, mut differ, mut made) = (String::new(), BTreeSet::new(), 0);
    for damages in Damages::all() {
        let dialect = corpus::dialect(&damages.dialect);
        let streams = if is_spoken(dialect) { tests::damages::goldens(dialect.name) } else { Vec::new() };
        for (damage, stream) in
            damages.all.iter().flat_map(|it| streams.iter().map(move |stream| (it, stream)))
        {
            let Some(bytes) = damage.make(stream) else { continue };
            made += 1;
            for (what, how) in differences(dialect, &bytes) {
                match DECIDED.iter().find(|(name, of, _)| *name == damage.name && *of == what) {
                    Some(decided) => _ = differ.insert(decided),
                    None => _ = writeln!(wrong, "{} in {}: {what}: {how}", damage.name, stream.name),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    let stale: Vec<_> = DECIDED.iter().filter(|decided| !differ.contains(decided)).collect();
    assert!(made > 2000 && stale.is_empty(), "of {made}: {stale:?}");
}

#[cfg_attr(
    not(all(corpus, neighbours)),
    ignore = "needs the recordings: set CONFORMANCE_CORPUS and CONFORMANCE_NEIGHBOURS"
)]
#[test]
fn recordings_are_read_alike() {
    let (sets, mut wrong, mut seen) = (RuleSets::all(), String::new(), 0);
    for api in spec::spoken() {
        let folder = corpus::of_api(api.name).expect("there was a corpus when the tests were built");
        for file in corpus::files(&folder, &["sse"]) {
            let bytes = fs::read(&file).expect("it is there");
            let found = Checking::recognising(&sets, false).check(String::new(), &mut &*bytes, None);
            let [only] = &*found.dialects else { continue };
            seen += 1;
            for (what, how) in differences(corpus::dialect(&only.dialect), &bytes) {
                _ = writeln!(wrong, "{} {}: {what}: {how}", only.dialect, file.display());
            }
        }
    }
    assert!(wrong.is_empty() && seen > 1000, "of {seen}:\n{wrong}");
}

const CUSTOM: &[u8] = br#""custom""#;

#[cfg_attr(not(neighbours), ignore = "needs the recordings: set CONFORMANCE_NEIGHBOURS")]
#[test]
fn recorded_bodies_are_read_alike() {
    let (mut wrong, mut seen) = (String::new(), 0);
    for (api, dialect) in [("chat", "chat"), ("messages", "anthropic"), ("responses", "openai")] {
        let folder = corpus::neighbours().join("bodies").join(api);
        for file in corpus::files(&folder, &["json"]) {
            let is_request = file.to_string_lossy().ends_with(".request.json");
            let bytes = fs::read(&file).expect("it is there");
            let differences =
                if is_request { Vec::new() } else { differences_of_body(corpus::dialect(dialect), &bytes) };
            seen += usize::from(!is_request);
            // The table of Chat Completions has places of functions only.
            let is_custom = bytes.windows(CUSTOM.len()).any(|window| window == CUSTOM);
            for (what, how) in differences.iter().filter(|(what, _)| !is_custom || *what != "calls") {
                _ = writeln!(wrong, "{}: {what}: {how}", file.display());
            }
        }
    }
    assert!(wrong.is_empty() && seen > 400, "of {seen}:\n{wrong}");
}

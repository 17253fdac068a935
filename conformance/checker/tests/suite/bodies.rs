//! A response has the same findings as a body and in an event.

use catalogue::{LooksAt, RULES, Rule, RuleInApi};
use checker::{Checker, Exchange, Finding, Frame, Transport, sse};
use recordings::goldens::{GOLDENS, golden};
use recordings::violation;
use spec::Dialect;

/// Returns the frames of a stream.
fn frames(stream: &[u8]) -> Vec<(String, Option<u64>)> {
    let mut found = Vec::new();
    let mut take = |frame: Frame<'_>| {
        found.extend(frame.data.map(|data| (data.into_owned(), frame.invalid_utf8)));
    };
    let mut parser = sse::Parser::default();
    parser.push(stream, &mut take);
    parser.finish(&mut take);
    found
}

/// Returns the responses in the events of a stream.
fn responses(stream: &[u8]) -> Vec<String> {
    let response = |data: &str| spec::json::at(data, "/response").map(str::to_owned);
    let all = frames(stream).into_iter().filter_map(|(data, _)| response(&data));
    all.filter(|response| response.contains("\"object\":\"response\"")).collect()
}

fn findings(dialect: &'static Dialect, body: &str) -> Vec<Finding> {
    findings_in(dialect, body, None)
}

fn findings_in(dialect: &'static Dialect, body: &str, invalid_utf8: Option<u64>) -> Vec<Finding> {
    let mut checker = Checker::new(dialect);
    let headers = vec![("content-type".into(), "application/json".into())];
    checker.exchange(&Exchange { status: Some(200), headers, ..Exchange::default() });
    let (data, source) = (Some(body.into()), body.as_bytes());
    let transport = Transport::Unframed;
    checker.body(&Frame { data, source, invalid_utf8, terminated: true, transport, ..Frame::default() });
    checker.into_findings().0
}

fn dialect_of(own: &RuleInApi) -> &'static Dialect {
    let (name, _) = own.violation.golden.split_once('/').expect("a golden has a dialect");
    spec::dialect(name).expect("the golden's dialect")
}

fn looks_at(rule: &Rule, what: LooksAt) -> bool {
    rule.looks_at.contains(&what)
}

#[test]
fn what_breaks_a_rule_in_an_event_breaks_it_in_a_body() {
    let mut proven = 0;
    let is_of_both = |rule: &&Rule| {
        looks_at(rule, LooksAt::Stream)
            && looks_at(rule, LooksAt::Body)
            && rule.group() != "error"
            && rule.id != "schema/foreign-protocol"
            // Events of other APIs have no response as a whole.
            && rule.api.is_none_or(|api| api == spec::table::apis::RESPONSES.name)
    };
    for rule in RULES.iter().filter(is_of_both) {
        let own = rule.in_api("");
        let recording = violation::apply(&own.violation).expect(rule.id);
        let dialect = dialect_of(own);
        let is_it = |finding: &Finding| {
            let is_of_event =
                |pointer: &str| ["/response", "/item"].iter().any(|start| pointer.starts_with(start));
            finding.rule == rule.id && !finding.pointer.as_deref().is_some_and(is_of_event)
        };
        let bodies = if rule.group() == "wire" {
            frames(&recording)
        } else {
            responses(&recording).into_iter().map(|body| (body, None)).collect()
        };
        let is_found =
            |(body, invalid): &(String, Option<u64>)| findings_in(dialect, body, *invalid).iter().any(is_it);
        assert!(bodies.iter().any(is_found), "{} is not broken by a body", rule.id);
        proven += 1;
    }
    assert!(proven >= 30, "{proven} rules look at streams and bodies");
}

/// Rules that compare the last response with the events before it.
const COMPARISONS: [&str; 20] = [
    "error/equals-failed",
    "item/content-kept",
    "item/id-stable",
    "item/type-stable",
    "output/count-agrees",
    "output/equals-items",
    "output/ids-kept",
    "output/text-kept",
    "output/types-in-order",
    "part/count-agrees",
    "part/equals-item",
    "response/created-at-constant",
    "response/echo-constant",
    "response/id-constant",
    "response/keys-kept",
    "response/one-terminal",
    "summary/count-agrees",
    "summary/equals-item",
    "text/deltas-add",
    "tool/status-agrees",
];

#[test]
fn what_is_wrong_with_a_last_response_alone_is_judged_in_a_body() {
    let is_other = |rule: &&Rule| !looks_at(rule, LooksAt::Body) && !COMPARISONS.contains(&rule.id);
    for rule in RULES.iter().filter(is_other) {
        let own = rule.in_api("");
        let golden = golden(own.violation.golden).expect(rule.id);
        let recording = violation::apply(&own.violation).expect(rule.id);
        let (before, after) = (responses(golden.bytes).pop(), responses(&recording).pop());
        assert!(
            after.is_none() || before == after,
            "the violation of {} has another last response: let it look at bodies",
            rule.id
        );
    }
}

#[test]
fn bodies_of_other_apis_are_named() {
    let dialect = spec::dialect("openai").expect("the build has it");
    for (body, api) in [
        (r#"{"id":"c","object":"chat.completion","choices":[]}"#, "Chat Completions"),
        (
            r#"{"type":"message","role":"assistant","content":[],"stop_reason":"end_turn"}"#,
            "Anthropic Messages",
        ),
    ] {
        let found = findings(dialect, body);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].message, format!("the body belongs to {api}, not to the Responses API"));
    }
}

#[test]
fn an_error_body_of_messages_is_marked_as_one() {
    let dialect = spec::dialect("anthropic").expect("the build has it");
    let shape = |body: &str| {
        let mut checker = Checker::new(dialect);
        let headers = vec![("content-type".into(), "application/json".into())];
        checker.exchange(&Exchange { status: Some(400), headers, ..Exchange::default() });
        let (data, transport) = (Some(body.into()), Transport::Unframed);
        checker.body(&Frame { data, source: body.as_bytes(), transport, ..Frame::default() });
        let found = checker.into_findings().0;
        let is_it = |finding: &&Finding| finding.rule == "error/body-shape";
        found.iter().find(is_it).map(|finding| finding.message.clone())
    };
    let error = r#""error":{"type":"invalid_request_error","message":"max_tokens: Field required"}"#;
    assert_eq!(shape(&format!(r#"{{"type":"error",{error}}}"#)), None);
    let said = |actual: &str| Some(format!("/type of the body is {actual}, not \"error\""));
    assert_eq!(shape(&format!("{{{error}}}")), said("none"));
    assert_eq!(
        shape(&format!(r#"{{"type":"invalid_request_error",{error}}}"#)),
        said("\"invalid_request_error\"")
    );
    let rule = RULES.iter().find(|rule| rule.id == "error/body-shape").expect("it is there");
    assert!(rule.in_dialect(dialect).fix.contains(r#"{"type": "error", "error": {"#));
}

#[test]
fn responses_of_good_streams_are_good_bodies() {
    let mut bodies = 0;
    for golden in GOLDENS {
        let Some(dialect) = spec::DIALECTS.iter().find(|dialect| golden.holds_for(dialect.name)) else {
            continue;
        };
        for body in responses(golden.bytes) {
            let found = findings(dialect, &body);
            assert!(found.is_empty(), "{}/{}: {found:?}", golden.dialect, golden.name);
            bodies += 1;
        }
    }
    assert!(bodies > 100, "{bodies} responses in goldens");
}

//! A response has the same findings as a body and in an event.

use catalogue::{LooksAt, RULES};
use checker::{Checker, Exchange, Finding, Frame, Transport, sse};
use recordings::goldens::GOLDENS;
use recordings::violation;
use spec::Dialect;

/// Returns the responses in the events of a stream.
fn responses(stream: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    let mut take = |frame: Frame<'_>| {
        let response = frame.data.as_deref().and_then(|data| spec::json::at(data, "/response"));
        found.extend(
            response.filter(|response| response.contains("\"object\":\"response\"")).map(str::to_owned),
        );
    };
    let mut parser = sse::Parser::default();
    parser.push(stream, &mut take);
    parser.finish(&mut take);
    found
}

fn findings(dialect: &'static Dialect, body: &str) -> Vec<Finding> {
    let mut checker = Checker::new(dialect);
    let headers = vec![("content-type".into(), "application/json".into())];
    checker.exchange(&Exchange { status: Some(200), headers, ..Exchange::default() });
    let (data, source) = (Some(body.into()), body.as_bytes());
    let frame = Frame { data, source, terminated: true, transport: Transport::Unframed, ..Frame::default() };
    checker.body(&frame);
    checker.into_findings().0
}

#[test]
fn what_breaks_a_rule_in_an_event_breaks_it_in_a_body() {
    let mut proven = 0;
    let is_of_both = |rule: &&catalogue::Rule| {
        [LooksAt::Stream, LooksAt::Body].iter().all(|what| rule.looks_at.contains(what))
            && rule.group() != "error"
    };
    for rule in RULES.iter().filter(is_of_both) {
        let recording = violation::recording(rule).expect(rule.id);
        let (name, _) = rule.violation.golden.split_once('/').expect("a golden has a dialect");
        let dialect = spec::DIALECTS.iter().find(|dialect| dialect.name == name).expect(name);
        let is_it = |finding: &Finding| {
            finding.rule == rule.id
                && finding.pointer.as_deref().is_none_or(|pointer| !pointer.starts_with("/response"))
        };
        let is_found = responses(&recording).iter().any(|body| findings(dialect, body).iter().any(is_it));
        assert!(is_found, "{} is not broken by a body", rule.id);
        proven += 1;
    }
    assert!(proven >= 10, "{proven} rules look at streams and bodies");
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

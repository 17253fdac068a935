//! Recordings of upstreams that fail.

use std::time::Duration;

use catalogue::UpstreamFault;
use gateway::{Ending, Problem, Wire, plan, render, request};
use results::StreamOutcome;
use spec::Dialect;

use super::Bench;
use crate::evidence::{Ended, Fault, Response};
use crate::judge::parts::progress::progress;

/// Returns the event with which a stream of a dialect fails.
fn failure(dialect: &'static Dialect) -> Vec<u8> {
    let asked = request("[[say Hello]]", dialect.api);
    let mut plan = plan(&asked, dialect, 0);
    plan.ending = Ending::Failed(0);
    let events = render(&asked, &plan, dialect, 0).events;
    events.into_iter().rev().find(|event| !event.contains("[DONE]")).unwrap().into_bytes()
}

fn end(response: &mut Response, how: Ended, events: usize) {
    response.pieces.truncate(events);
    response.end = how;
}

/// Returns a gateway that reports the broken stream of its upstream.
pub(super) fn cut(front: &str, upstream: &str) -> Bench {
    let mut bench = Bench::new(front, upstream, "fault/cut-text");
    let api = bench.test.upstream.api;
    let place = progress(bench.upstream(), api).first().expect("a text").piece + 1;
    let mut bench = bench.failing(Fault::Stream(UpstreamFault::Cut, place));
    end(bench.upstream(), Ended::Broken("reset".to_owned()), place);
    let error = failure(bench.test.front);
    let api = bench.test.front.api;
    let said = progress(bench.client(), api).first().expect("a text").piece + 1;
    end(bench.client(), Ended::Complete, said.min(2));
    // What the upstream has not counted yet, the gateway cannot know.
    let first = &mut bench.client().pieces[0].1;
    let text = String::from_utf8_lossy(first).replace("_tokens\":11,", "_tokens\":0,");
    let mut text = text.replace("\"output_tokens\":1,", "\"output_tokens\":0,");
    if let Some((before, counts)) = text.split_once("\"usageMetadata\":{") {
        let rest = counts.split_once('}').expect("its end").1;
        text = format!("{before}\"usageMetadata\":{{\"promptTokenCount\":0,\"totalTokenCount\":0}}{rest}");
    }
    *first = text.into_bytes();
    bench.client().pieces.push((Duration::from_millis(99), error));
    bench.evidence.after = Some(Bench::new(front, upstream, "text/plain").evidence.client.remove(0));
    bench
}

/// Returns a gateway that passes the refusal of its upstream on.
fn refused(front: &str, upstream: &str, status: u16, client_status: u16) -> Bench {
    let mut bench = Bench::new(front, upstream, "status/retry-after").failing(Fault::Status(status));
    let of = |dialect: &Dialect, status| {
        let wire = Wire::refused(
            &Problem { message: "Too many cooks.".to_owned(), ..Problem::of_status(status) },
            dialect.api,
        );
        let headers = [("content-type", wire.content_type), ("retry-after", "7".to_owned())];
        Response {
            status,
            headers: headers.map(|(name, value)| (name.to_owned(), value)).to_vec(),
            pieces: vec![(Duration::from_millis(9), wire.body)],
            ..Response::default()
        }
    };
    *bench.upstream() = of(bench.test.upstream, status);
    *bench.client() = of(bench.test.front, client_status);
    bench
}

pub(super) fn broken() -> Vec<(&'static str, Bench)> {
    let good = || cut("chat", "chat");
    let mut silent = good();
    silent.client().pieces.pop();
    let mut complete = good();
    complete.client().pieces = Bench::new("chat", "chat", "fault/cut-text").client().pieces.clone();
    let mut limited = good();
    limited.client().pieces.pop();
    let mut ended = Bench::new("chat", "chat", "stop/limit").client().pieces.clone();
    ended.retain(|(_, bytes)| {
        [&b"\"length\""[..], b"[DONE]"].iter().any(|it| bytes.windows(it.len()).any(|at| at == *it))
    });
    limited.client().pieces.extend(ended);
    let mut doubled = good();
    let second = b"HTTP/1.0 502 Bad Gateway\r\nServer: x\r\n\r\n{\"error\":{}}".to_vec();
    doubled.client().pieces.last_mut().unwrap().1 = second;
    let mut hung = silent.clone();
    hung.client().end = Ended::Silent("no end".to_owned());
    let mut malformed = good();
    malformed.client().pieces.insert(2, (Duration::from_millis(30), b"data: {\"id\": \n\n".to_vec()));
    let mut next = good();
    next.evidence.after.as_mut().unwrap().response.as_mut().unwrap().pieces.clear();
    let mut again = good();
    let mut second = again.evidence.upstream[0].clone();
    second.at = Duration::from_millis(90);
    again.evidence.upstream.push(second);
    let mut often = good();
    often.evidence.upstream.push(often.evidence.upstream[0].clone());
    let mut usage = cut("messages", "chat");
    let used = String::from_utf8_lossy(&usage.client().pieces[0].1)
        .replace("\"output_tokens\":0", "\"output_tokens\":99");
    usage.client().pieces[0].1 = used.into_bytes();
    let mut message = refused("chat", "messages", 429, 429);
    message.replace("Too many cooks.", "Oops.");
    let mut wait = refused("chat", "messages", 429, 429);
    wait.client().headers.pop();
    vec![
        ("fault/told", silent),
        ("fault/told", limited),
        ("fault/malformed", doubled),
        ("fault/false-complete", complete),
        ("fault/hung", hung),
        ("fault/malformed", malformed),
        ("fault/next", next),
        ("fault/replay", again),
        ("fault/requests", often),
        ("fault/usage", usage),
        ("fault/status", refused("chat", "messages", 429, 500)),
        ("fault/status", wait),
        ("fault/message", message),
    ]
}

#[test]
fn reported_faults_have_no_findings() {
    for (front, upstream) in super::pairs() {
        let judged = cut(front, upstream).judge();
        assert_eq!(
            (judged.findings, judged.outcome),
            (Vec::new(), Some(StreamOutcome::ErrorEvent)),
            "{front}-{upstream}"
        );
        for status in [400, 401, 404, 429, 500, 529] {
            let judged = refused(front, upstream, status, status).judge();
            assert_eq!(
                (judged.findings, judged.outcome),
                (Vec::new(), Some(StreamOutcome::JsonError)),
                "{front}-{upstream} {status}"
            );
        }
    }
}

#[test]
fn counts_behind_an_event_that_breaks_are_not_those_of_its_time() {
    let mut bench = cut("messages", "chat");
    bench.test.fault = Some(Fault::Stream(UpstreamFault::Malformed, 1));
    *bench.upstream() = Bench::new("messages", "chat", "fault/malformed-text").upstream().clone();
    let garbled = (Duration::from_millis(11), b"data: {\"id\": \n\n".to_vec());
    bench.upstream().pieces.insert(1, garbled);
    assert_eq!(bench.found(), []);
    // The gateway estimates the input.
    bench.replace("\"input_tokens\":0", "\"input_tokens\":25");
    assert_eq!(bench.found(), []);
    // It counts the output up to the break.
    bench.replace("\"output_tokens\":0", "\"output_tokens\":99");
    assert_eq!(bench.found(), [("fault/usage".to_owned(), "output".to_owned())]);
}

#[test]
fn an_answer_without_a_marker_at_its_end_is_one() {
    let mut bench = cut("chat", "chat");
    let after = bench.evidence.after.as_mut().and_then(|after| after.response.as_mut()).unwrap();
    let marker = after.pieces.pop().unwrap().1;
    assert!(marker.starts_with(b"data: [DONE]"));
    assert_eq!(bench.found(), []);
}

#[test]
fn a_response_that_looks_complete_is_not() {
    let outcomes: Vec<_> =
        broken().iter().map(|(rule, bench)| (*rule, bench.judge().outcome)).take(6).collect();
    let expected = [
        ("fault/told", StreamOutcome::Truncated),
        ("fault/told", StreamOutcome::Incomplete),
        ("fault/malformed", StreamOutcome::Malformed),
        ("fault/false-complete", StreamOutcome::FalseComplete),
        ("fault/hung", StreamOutcome::Hung),
        ("fault/malformed", StreamOutcome::Malformed),
    ];
    assert_eq!(outcomes, expected.map(|(rule, outcome)| (rule, Some(outcome))));
}

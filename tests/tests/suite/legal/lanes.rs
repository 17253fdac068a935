//! Legal streams in two lanes of one WebSocket.

use conformance::Rules;
use conformance::capture::Format;
use conformance::recordings::check;
use grammar::{Enumeration, Grammar, Move};
use serde_json::{Value, json};
use tests::corpus;
use tests::sample::words;

/// Most events of streams of which every order is made.
const SHORT: usize = 4;
/// Most events of streams that take turns.
const LONG: usize = 10;

/// Returns the messages of a stream in a lane, with ids of its own.
fn messages(grammar: &Grammar, stream: &[Move], lane: &str) -> Vec<String> {
    let events = grammar.events(stream).into_iter();
    let message = |(_, mut event): (&str, Value)| {
        identify(&mut event, lane);
        event["stream_id"] = lane.into();
        json!({ "recv": event }).to_string()
    };
    events.map(message).collect()
}

/// Appends the lane to each id.
fn identify(value: &mut Value, lane: &str) {
    match value {
        Value::Object(members) => {
            for (name, inner) in members {
                match inner {
                    Value::String(id) if name == "id" || name.ends_with("_id") => *id += lane,
                    inner => identify(inner, lane),
                }
            }
        }
        Value::Array(entries) => entries.iter_mut().for_each(|entry| identify(entry, lane)),
        _ => {}
    }
}

/// Returns every order of the messages of two lanes, as the lane of each: true for the first.
fn orders(first: usize, second: usize) -> Vec<Vec<bool>> {
    let begun = |is_first: bool, rest: Vec<Vec<bool>>| {
        rest.into_iter().map(move |rest| [vec![is_first], rest].concat()).collect::<Vec<_>>()
    };
    match (first, second) {
        (0, 0) => vec![Vec::new()],
        (0, second) => begun(false, orders(0, second - 1)),
        (first, 0) => begun(true, orders(first - 1, 0)),
        _ => [begun(true, orders(first - 1, second)), begun(false, orders(first, second - 1))].concat(),
    }
}

#[test]
fn lanes_of_legal_streams_keep_every_rule() {
    let all = Enumeration::all();
    let of = all.iter().find(|of| of.name == "responses").expect("it is there");
    let dialect = corpus::dialect(&of.dialect);
    let (grammar, rules) = (Grammar::of(dialect), Rules::of(dialect));
    let create =
        |lane: &str| json!({ "sent": { "type": "response.create", "input": "Go on.", "stream_id": lane } });
    let checked = |[one, other]: [&Vec<Move>; 2], order: &[bool]| {
        let mut pair = [messages(&grammar, one, "a").into_iter(), messages(&grammar, other, "b").into_iter()];
        let mut lines = vec![create("a").to_string(), create("b").to_string()];
        lines.extend(order.iter().filter_map(|is_first| pair[usize::from(!is_first)].next()));
        let report = check(String::new(), &mut lines.join("\n").as_bytes(), Some(Format::WebSocket), &rules);
        let rule = report.findings.first().map(|finding| (&finding.rule, &finding.message));
        assert_eq!(rule, None, "{} and {} as {order:?}", words(one), words(other));
        assert_eq!((report.error, report.events), (None, order.len() as u64));
    };
    let streams: Vec<_> = of.streams(&grammar, LONG).collect();
    let short: Vec<_> = streams.iter().take_while(|stream| stream.len() <= SHORT).collect();
    for (at, one) in short.iter().enumerate() {
        for other in &short[at..] {
            for order in orders(one.len(), other.len()) {
                checked([one, other], &order);
            }
        }
    }
    // Of the longer ones, the events take turns.
    for pair in streams.windows(2) {
        let least = pair[0].len().min(pair[1].len());
        let rest = vec![pair[0].len() > least; pair[0].len().max(pair[1].len()) - least];
        checked([&pair[0], &pair[1]], &[[true, false].repeat(least), rest].concat());
    }
}

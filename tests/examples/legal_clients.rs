//! Plays a sample of the legal streams to a client, and shrinks those on which it fails. `tests/clients/legal` runs it.

#![expect(clippy::print_stdout, reason = "prints what was found")]

use std::collections::BTreeMap;

use clients::{ClientSuite, PlayedCase, request};
use conformance::results::{ClientOutcome, Transport};
use grammar::Grammar;
use serde_json::json;
use tests::corpus;
use tests::sample::{Legal, Sampled, Samples, sample};

/// Plays streams, each once.
struct Player<'p> {
    grammar: &'p Grammar,
    sampled: &'p Sampled,
    suite: ClientSuite,
    /// How the client fails on a stream and what is wrong; none if it does not.
    known: BTreeMap<String, Option<(ClientOutcome, String)>>,
    totals: BTreeMap<&'static str, usize>,
}

impl Player<'_> {
    fn play<'s>(&mut self, streams: impl IntoIterator<Item = &'s Legal>) {
        let mut due = BTreeMap::new();
        for stream in streams {
            let words = stream.words();
            if !self.known.contains_key(&words) {
                due.entry(words.clone()).or_insert_with(|| self.case(words, stream));
            }
        }
        let run = self.suite.run(due.into_values().collect(), &|_| {}).expect("the client can be started");
        for test in run.tests {
            let outcome = test.about.outcome;
            *self.totals.entry(outcome.name()).or_default() += 1;
            let has_failed = !matches!(
                outcome,
                ClientOutcome::Right | ClientOutcome::Reported | ClientOutcome::NotExercised
            );
            self.known.insert(test.name, has_failed.then_some((outcome, test.reason)));
        }
    }

    fn case(&self, words: String, stream: &Legal) -> PlayedCase {
        let asked = stream.request(self.sampled, &|golden| request(golden, self.grammar.dialect));
        PlayedCase::of_stream(words, stream.write(self.grammar).as_bytes(), asked, self.grammar.dialect)
    }

    /// Returns the kind of failure on a stream: its outcome, and the words of the detail before a value.
    fn failure(&self, stream: &Legal) -> Option<(ClientOutcome, &str)> {
        let (outcome, detail) = self.known.get(&stream.words())?.as_ref()?;
        // Drivers join texts and summaries of reasoning in an order of their own.
        let has = |name| stream.moves.iter().flatten().any(|step| step.effect.level.name == name);
        if has("reasoning_text") && has("summary_text") && detail.starts_with("reasoning is") {
            return None;
        }
        let is_value = |letter: char| letter == '"' || letter == '{' || letter.is_ascii_digit();
        Some((*outcome, detail.split(is_value).next().unwrap_or_default()))
    }
}

fn main() {
    let mut words = std::env::args_os().skip(1);
    let (Some(name), Some(dialect)) = (words.next(), words.next()) else {
        panic!("expected the name of a client, its dialect and its command");
    };
    let (name, dialect) = (name.to_string_lossy().into_owned(), dialect.to_string_lossy().into_owned());
    let file = Samples::read();
    let of_api = |sampled: &&Sampled| sampled.api == corpus::dialect(&dialect).api.name;
    let sampled = file.sampled.iter().find(of_api).expect("the API is sampled");
    let grammar = Grammar::of(corpus::dialect(&sampled.dialect));
    let suite = ClientSuite {
        transports: vec![Transport::Sse],
        ..ClientSuite::new(corpus::dialect(&dialect), name.clone(), words.collect())
    };
    let mut player =
        Player { grammar: &grammar, sampled, suite, known: BTreeMap::new(), totals: BTreeMap::new() };
    let (streams, _) = sample(&grammar, sampled);
    if player.suite.command.is_empty() {
        return println!("{} streams", streams.len());
    }
    player.play(&streams);
    let mut due: Vec<Legal> =
        streams.iter().filter(|stream| player.failure(stream).is_some()).cloned().collect();
    println!(
        "{}",
        json!({"client": name, "streams": streams.len(), "failed": due.len(), "totals": player.totals})
    );
    let mut smallest = BTreeMap::new();
    while !due.is_empty() {
        let smaller: Vec<Vec<Legal>> = due.iter().map(|stream| stream.smaller(&grammar)).collect();
        player.play(smaller.iter().flatten());
        let mut next = BTreeMap::new();
        for (stream, smaller) in due.iter().zip(smaller) {
            let failure = player.failure(stream);
            let is_same = |other: &&Legal| player.failure(other) == failure;
            match smaller.iter().filter(is_same).min_by_key(|stream| stream.moves.len()) {
                Some(smaller) => next.insert(smaller.words(), smaller.clone()),
                None => smallest.insert(stream.words(), stream.clone()),
            };
        }
        due = next.into_values().collect();
    }
    for (words, stream) in &smallest {
        let Some((outcome, detail)) = player.known[words].as_ref() else { continue };
        let (outcome, text) = (outcome.name(), stream.write(&grammar));
        println!(
            "{}",
            json!({"client": name, "stream": words, "outcome": outcome, "detail": detail, "text": text})
        );
    }
}

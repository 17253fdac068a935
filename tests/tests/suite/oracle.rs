//! The generated validators accept exactly what `jsonschema` accepts under the same files.
//!
//! The number of mutants over all dialects is set by `MUTANTS`:
//! `MUTANTS=200000 cargo test -p tests --test suite oracle`.

#![expect(clippy::print_stdout, reason = "figures, for those who ask for the output")]

use std::env;

use serde_json::Value;
use spec::json::FaultKind;
use spec::{Fault, Verdict};
use tests::instances::Instances;
use tests::mutate::Mutator;
use tests::suite::{As, Complaint, Seed, Suite};

const FEW: usize = 7_000;

/// The results so far.
struct Trial<'s> {
    suite: &'s Suite,
    accepted: usize,
    refused: usize,
    /// Number of refusals without a union, in which both must report the same places.
    plain: usize,
    disagreements: Vec<String>,
}

impl<'s> Trial<'s> {
    const fn new(suite: &'s Suite) -> Self {
        Self { suite, accepted: 0, refused: 0, plain: 0, disagreements: Vec::new() }
    }

    /// Compares both verdicts on a text with each other, and with the expected one if it is known.
    fn judge(&mut self, kind: As, name: &str, text: &str, expected: Option<bool>, from: &str) {
        let subject =
            self.suite.subject(name, text).unwrap_or_else(|error| panic!("{from}: {error}: {text}"));
        let theirs = self.suite.accepts(&subject);
        let ours = self.suite.ours(kind, name, text);
        let complaints = if theirs { Vec::new() } else { self.suite.complaints(&subject) };
        let agreed = ours.is_valid() == theirs && expected.is_none_or(|expected| expected == theirs);
        if !agreed || !theirs && !self.same_places(&ours, &complaints) {
            let dialect = self.suite.ours.name;
            self.disagreements.push(format!(
                "{dialect} {name} ({from})\n  {text}\n  should fit: {expected:?}\n  ours: {ours:?}\n  theirs: {theirs}, {complaints:?}\n"
            ));
        }
        *(if theirs { &mut self.accepted } else { &mut self.refused }) += 1;
    }

    /// Returns whether both report the same places. At a union, each selects its own branch to explain the error, so
    /// one matching place, or one that contains the other, is enough.
    fn same_places(&mut self, ours: &Verdict, complaints: &[Complaint]) -> bool {
        let mut places: Vec<&str> = ours.faults().iter().map(place).collect();
        let mut wanted: Vec<&str> = complaints.iter().map(|complaint| complaint.pointer.as_str()).collect();
        if complaints.iter().any(|complaint| complaint.keyword == "anyOf") {
            return wanted
                .iter()
                .any(|wanted| places.iter().any(|place| leads(place, wanted) || leads(wanted, place)));
        }
        for list in [&mut places, &mut wanted] {
            list.sort_unstable();
            list.dedup();
        }
        self.plain += 1;
        places == wanted
    }

    fn end(self, what: &str) {
        let Self { suite, accepted, refused, plain, disagreements } = self;
        let dialect = suite.ours.name;
        println!(
            "{dialect}, {what}: {accepted} accepted, {refused} refused, {plain} of them without a union"
        );
        let (count, some) = (disagreements.len(), disagreements.iter().take(5).cloned());
        assert_eq!(count, 0, "{count} disagreements, such as\n{}", some.collect::<String>());
    }
}

/// Returns where the judge would report a fault: a forbidden member is reported at its object.
fn place(fault: &Fault) -> &str {
    let pointer = fault.pointer.as_str();
    let undeclared = fault.kind == FaultKind::Undeclared;
    if undeclared { pointer.rsplit_once('/').map_or(pointer, |(object, _)| object) } else { pointer }
}

fn leads(short: &str, long: &str) -> bool {
    long.strip_prefix(short).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn given(suite: &Suite) {
    let mut trial = Trial::new(suite);
    for Seed { name, kind, text, from } in suite.seeds() {
        trial.judge(kind, &name, &text, Some(true), &from);
    }
    for Seed { name, kind, text, from } in suite.recorded() {
        trial.judge(kind, &name, &text, None, &from);
    }
    trial.end("examples, goldens and recordings");
}

fn derived(suite: &Suite) {
    let mut trial = Trial::new(suite);
    for (kind, name, around) in suite.around() {
        trial.judge(kind, name, &around.value.to_string(), around.fits, &around.what);
    }
    trial.end("values around events and types of its own");
}

fn mutants(suite: &Suite) {
    let wanted = env::var("MUTANTS").ok().map_or(FEW, |number| number.parse().expect("MUTANTS is a number"));
    let instances = Instances::new(suite.model.registry());
    let mut seeds: Vec<(As, String, Value)> = Vec::new();
    for seed in suite.seeds() {
        seeds.push((seed.kind, seed.name, serde_json::from_str(&seed.text).expect("seeds are JSON")));
    }
    let events = suite.model.events.values();
    seeds.extend(events.map(|event| (As::Event, event.name.clone(), instances.full(&event.schema))));
    let types = suite.model.types.iter();
    seeds.extend(types.map(|(name, schema)| (As::Type, name.clone(), instances.full(schema))));

    let mut mutator = Mutator::new(&suite.model, 2026);
    let mut trial = Trial::new(suite);
    for _ in 0..wanted.div_ceil(spec::DIALECTS.len()) {
        let (kind, name, value) = mutator.random().pick(&seeds);
        let text = mutator.mutant(value);
        trial.judge(*kind, name, &text, None, "mutant");
    }
    trial.end("mutants");
}

macro_rules! dialects {
    ($($module:ident $name:literal)*) => {
        $(mod $module {
            #[test]
            fn validators_agree() {
                let suite = super::Suite::load($name);
                super::given(&suite);
                super::derived(&suite);
                super::mutants(&suite);
            }
        })*
    };
}

spec::with_dialects!(dialects);

/// A judge of other files must be contradicted, or the tests above prove nothing.
#[test]
fn disagreements_are_found() {
    let mut suite = Suite::load("open-responses");
    suite.ours = Suite::load("openai").ours;
    let mut trial = Trial::new(&suite);
    let delta = |member: &str| {
        format!(
            r#"{{"type":"response.output_text.delta","sequence_number":0,"item_id":"","output_index":0,
            "content_index":0,"delta":""{member}}}"#
        )
    };
    for (member, expected, count) in [
        (r#","logprobs":[]"#, None, 0),
        ("", None, 1),
        (r#","obfuscation":7"#, None, 2),
        (r#","logprobs":[]"#, Some(false), 3),
    ] {
        trial.judge(As::Event, "response.output_text.delta", &delta(member), expected, "a test");
        assert_eq!(trial.disagreements.len(), count, "{:?}", trial.disagreements);
    }
}

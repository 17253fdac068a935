//! Damages of good streams of Messages and Chat Completions are found by the rule that names their cause, at the level that
//! they state.

#![expect(clippy::print_stdout, reason = "prints the kill rates, which `--nocapture` shows")]

use std::collections::BTreeSet;
use std::fmt::Write as _;

use catalogue::Level;
use conformance::Checker;
use tests::damages::{Damage, Damages, Stream};
use tests::generated::is_part_fresh;
use tests::{corpus, defects};

/// The kinds of damage that each API has at least.
const KINDS: usize = 30;
/// The streams that a kind is made in, if there are as many.
const MOST: usize = 40;
/// The streams that each kind is made in at least, with recordings.
const LEAST: usize = 20;

/// The result of a kind of damage.
struct Outcome<'d> {
    damage: &'d Damage,
    made: usize,
    found: usize,
    /// The first stream in which it was not found, with what was.
    survivor: Option<String>,
}

impl<'d> Outcome<'d> {
    fn of(damage: &'d Damage, dialect: &str, streams: &[Stream]) -> Self {
        let mut outcome = Self { damage, made: 0, found: 0, survivor: None };
        let damaged = streams.iter().filter_map(|stream| Some((stream, damage.make(stream)?)));
        for (stream, bytes) in damaged.take(MOST) {
            let level = if damage.is_should { Level::Should } else { Level::Must };
            let found = rules_at(level, dialect, &bytes);
            outcome.made += 1;
            if damage.rule.as_ref().map_or(!found.is_empty(), |rule| found.contains(rule)) {
                outcome.found += 1;
            } else {
                outcome.survivor.get_or_insert_with(|| format!("{}: {found:?}", stream.name));
            }
        }
        outcome
    }

    /// Returns what is wrong with it: a kind with a rule is found in each stream, and one without a rule is not.
    fn problem(&self, least: usize) -> Option<String> {
        let Self { damage: Damage { name, rule, is_rare, .. }, made, survivor, .. } = self;
        let least = if *is_rare { 1 } else { least };
        match (rule, survivor) {
            _ if *made < least => Some(format!("{name}: only {made} streams")),
            (Some(rule), Some(survivor)) => Some(format!("{name} is not found by {rule}: {survivor}")),
            (None, None) => Some(format!("{name} does not survive: name its rule")),
            _ => None,
        }
    }
}

/// Returns the rules that a stream breaks at a level.
fn rules_at(level: Level, dialect: &str, bytes: &[u8]) -> BTreeSet<String> {
    let mut checker = Checker::new(corpus::dialect(dialect));
    checker.push(bytes);
    checker.finish();
    let found = checker.findings().iter().filter(|finding| finding.level == level);
    found.map(|finding| finding.rule.to_string()).collect()
}

/// Returns the results of all kinds, after asserting that each is as the file states.
fn judged<'d>(damages: &'d Damages, streams: &[Stream], least: usize) -> Vec<Outcome<'d>> {
    let of = |damage| Outcome::of(damage, &damages.dialect, streams);
    let outcomes: Vec<Outcome<'_>> = damages.all.iter().map(of).collect();
    let problems: Vec<String> = outcomes.iter().filter_map(|outcome| outcome.problem(least)).collect();
    assert!(problems.is_empty(), "{}: {problems:#?}", damages.api);
    outcomes
}

/// Returns the kill rate of the kinds with a rule.
fn rate(outcomes: &[Outcome<'_>]) -> String {
    let with_rule: Vec<_> = outcomes.iter().filter(|outcome| outcome.damage.rule.is_some()).collect();
    let sum =
        |count: fn(&Outcome<'_>) -> usize| with_rule.iter().map(|outcome| count(outcome)).sum::<usize>();
    format!(
        "{} kinds: {} of {} damaged streams are reported. {} kinds survive.",
        with_rule.len(),
        sum(|outcome| outcome.found),
        sum(|outcome| outcome.made),
        outcomes.len() - with_rule.len()
    )
}

#[test]
fn damages_are_found_by_the_rule_that_names_their_cause() {
    let mut page = String::new();
    for damages in Damages::all() {
        assert!(damages.all.len() >= KINDS, "{}: {} kinds", damages.api, damages.all.len());
        let outcomes = judged(&damages, &tests::damages::goldens(&damages.dialect), 1);
        let (title, rate) = (corpus::dialect(&damages.dialect).api.title, rate(&outcomes));
        println!("{title}, goldens: {rate}");
        _ = write!(
            page,
            "\n## {title}\n\n{rate}\n\n| damage | what is wrong | reported by | goldens |\n|---|---|---|---|\n"
        );
        for Outcome { damage, made, .. } in &outcomes {
            let by = match (&damage.rule, &damage.equivalent, &damage.tolerated) {
                (Some(rule), None, None) if damage.is_should => {
                    format!("{}, as a SHOULD", defects::link(rule))
                }
                (Some(rule), None, None) => defects::link(rule),
                (None, Some(why), None) => format!("survives, equivalent: {why}"),
                (None, None, Some(why)) => format!("survives, tolerated: {why}"),
                _ => panic!("{} needs exactly one of `rule`, `equivalent` and `tolerated`", damage.name),
            };
            _ = writeln!(page, "| `{}` | {} | {by} | {made} |", damage.name, damage.what);
        }
    }
    is_part_fresh("docs/damages.md", ("<!-- goldens -->\n", "<!-- /goldens -->"), &page, "damages");
}

#[cfg_attr(
    not(all(neighbours, gemini)),
    ignore = "needs the recordings: set CONFORMANCE_NEIGHBOURS and CONFORMANCE_GEMINI"
)]
#[test]
fn damages_of_recordings_are_found() {
    let mut part = String::new();
    for damages in Damages::all() {
        let (mut streams, recordings) = (tests::damages::goldens(&damages.dialect), damages.recordings());
        let (goldens, recorded) = (streams.len(), recordings.len());
        streams.extend(recordings);
        let least = damages.least.unwrap_or(LEAST);
        let rate = rate(&judged(&damages, &streams, least));
        let title = corpus::dialect(&damages.dialect).api.title;
        println!("{title}, goldens and recordings: {rate}");
        _ = writeln!(
            part,
            "- {title}: {rate} The good streams are {goldens} goldens and {recorded} recordings; each kind is made in {least} \
             to {MOST} of them, if so many have what it is about."
        );
    }
    is_part_fresh("docs/damages.md", ("<!-- recordings -->\n", "<!-- /recordings -->"), &part, "damages");
}

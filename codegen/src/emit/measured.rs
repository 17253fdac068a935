//! Emits what clients do with streams of each kind of finding, and which rules that concerns.

use std::collections::{BTreeMap, BTreeSet};

use codegen_derive::Constant;

use crate::formats::{Breakage, Claim, MeasuredFile, Outcome, PlayedFile, groups};

/// The letter of a client that fails on a kind of finding, but only on streams with other kinds that may be the reason.
const AMONG_OTHERS: char = '+';
/// The letter of clients that break on some streams with a kind of finding, and read others.
const VARIES: char = 'v';

/// What the measured clients do with streams that have one kind of finding.
#[derive(Debug, Constant)]
pub(super) struct Measurement {
    /// The kind: rule, event type, member and form.
    kind: String,
    /// A letter for each client.
    outcomes: String,
    /// The errors of clients, by their place.
    errors: Vec<(usize, String)>,
}

/// The outcome of each client on streams that have one kind of finding.
#[derive(Debug, Default)]
struct Effect<'c> {
    outcomes: Vec<Option<Outcome>>,
    /// The clients that handle a stream with it.
    handled: BTreeSet<usize>,
    /// The clients that fail on a stream with it and others, each of which they handle in other streams.
    failed_together: BTreeSet<usize>,
    /// The stream that shows the failure of each client.
    shown_by: BTreeMap<usize, &'c str>,
}

impl Effect<'_> {
    /// Returns the letter of a client. Who reads some streams with this kind of finding is not broken by it alone.
    fn letter(&self, column: usize) -> char {
        match self.outcomes.get(column).copied().flatten() {
            None => AMONG_OTHERS,
            Some(_) if self.failed_together.contains(&column) => VARIES,
            Some(outcome) if outcome.is_failure() && self.handled.contains(&column) => VARIES,
            Some(outcome) => outcome.letter(),
        }
    }
}

/// The effect of each kind of finding on the clients of an API, as far as it was measured.
#[derive(Debug)]
pub(super) struct Effects<'c> {
    measured: &'c MeasuredFile,
    kinds: BTreeMap<String, Effect<'c>>,
}

/// A stream that was played to clients.
struct Played<'c> {
    name: &'c str,
    kinds: Vec<String>,
    outcomes: Vec<Outcome>,
}

impl Played<'_> {
    /// Returns the kinds of findings that the stream was made to show.
    fn own(&self) -> BTreeSet<&String> {
        let stated = PlayedFile::stated(self.name);
        let is_own = |kind: &&String| match (self.name.strip_prefix(groups::FAULT), &stated) {
            (Some(rule), _) => rule_of(kind) == rule,
            // Other rules report some members, such as sequence numbers.
            (None, Some(stated)) => place_of(kind) == place_of(stated),
            (None, None) => true,
        };
        self.kinds.iter().filter(is_own).collect()
    }
}

fn rule_of(kind: &str) -> &str {
    kind.split_once(' ').map_or(kind, |(rule, _)| rule)
}

/// Returns where a finding of a kind is: event type, member and form.
fn place_of(kind: &str) -> &str {
    kind.split_once(' ').map_or("", |(_, place)| place)
}

impl<'c> Effects<'c> {
    pub(super) fn of(measured: &'c MeasuredFile, played: &PlayedFile) -> Self {
        let streams: Vec<Played<'_>> = measured
            .outcomes
            .keys()
            .map(|name| Played { name, kinds: played.kinds(name), outcomes: measured.outcomes(name) })
            .collect();
        let mut effects = Self { measured, kinds: BTreeMap::new() };
        for column in 0..measured.measured().count() {
            effects.add(column, &streams);
        }
        effects
    }

    fn add(&mut self, column: usize, streams: &[Played<'c>]) {
        let of = |stream: &Played<'_>| stream.outcomes.get(column).copied().unwrap_or(Outcome::NotPlayed);
        // Whoever handles a stream handles all that is wrong with it.
        for stream in streams.iter().filter(|stream| !of(stream).is_failure()) {
            for kind in &stream.kinds {
                self.note(column, kind, of(stream), stream.name);
            }
        }
        let failed = || streams.iter().filter(|stream| of(stream).is_failure());
        for stream in failed().filter(|stream| stream.kinds.len() == 1) {
            self.note(column, &stream.kinds[0], of(stream), stream.name);
        }
        let alone: BTreeSet<&String> =
            failed().filter(|stream| stream.kinds.len() == 1).map(|stream| &stream.kinds[0]).collect();
        for stream in failed().filter(|stream| stream.kinds.len() > 1) {
            let own = stream.own();
            // Something else that is wrong with the stream explains the failure.
            if stream.kinds.iter().any(|kind| alone.contains(kind)) {
                continue;
            }
            let is_suspect = |kind: &&&String| self.outcome(column, kind) != Some(Outcome::Handled);
            let suspects: Vec<&String> = own.iter().filter(is_suspect).copied().collect();
            if suspects.is_empty() && stream.kinds.iter().all(|kind| !is_suspect(&&kind)) {
                for kind in own {
                    self.kinds.entry(kind.clone()).or_default().failed_together.insert(column);
                }
                continue;
            }
            let rules: BTreeSet<&str> = suspects.iter().map(|kind| rule_of(kind)).collect();
            if rules.len() == 1 {
                for kind in suspects {
                    self.note(column, kind, of(stream), stream.name);
                }
            }
        }
    }

    fn outcome(&self, column: usize, kind: &str) -> Option<Outcome> {
        self.kinds.get(kind)?.outcomes.get(column).copied().flatten()
    }

    /// Notes an outcome, unless a stronger one is known: a failure tells more than a success, and that more than nothing.
    fn note(&mut self, column: usize, kind: &str, outcome: Outcome, stream: &'c str) {
        let known = self.kinds.entry(kind.to_owned()).or_default();
        if known.outcomes.len() <= column {
            known.outcomes.resize(column + 1, None);
        }
        if outcome == Outcome::Handled {
            known.handled.insert(column);
        }
        let Some(place) = known.outcomes.get_mut(column) else { return };
        if place.is_none_or(|before| outcome < before) {
            *place = Some(outcome);
            if outcome.is_failure() {
                known.shown_by.insert(column, stream);
            }
        }
    }

    /// Returns the table of kinds, sorted.
    pub(super) fn table(&self) -> Vec<Measurement> {
        let columns = self.measured.measured().count();
        let rows = self.kinds.iter().map(|(kind, effect)| {
            let errors = effect.shown_by.iter().filter_map(|(column, stream)| {
                let error = self.claim(*column, stream)?.error;
                (!error.is_empty()).then(|| (*column, error.to_owned()))
            });
            Measurement {
                kind: kind.clone(),
                outcomes: (0..columns).map(|at| effect.letter(at)).collect(),
                errors: errors.collect(),
            }
        });
        rows.collect()
    }

    /// Returns the failures of the measured clients on violations of a rule.
    pub(super) fn breakages(&self, rule: &str) -> Vec<Breakage> {
        let kinds: Vec<&Effect<'_>> = self
            .kinds
            .iter()
            .filter(|(kind, _)| rule_of(kind) == rule)
            .map(|(_, measured)| measured)
            .collect();
        let clients = self.measured.measured().enumerate();
        let mut all: Vec<(Outcome, Breakage)> = clients
            .filter_map(|(column, client)| {
                let outcome = |kind: &&Effect<'_>| kind.outcomes.get(column).copied().flatten();
                let failed: Vec<&str> =
                    kinds.iter().filter_map(|kind| kind.shown_by.get(&column).copied()).collect();
                let is_handled = |kind: &&&Effect<'_>| {
                    outcome(kind) == Some(Outcome::Handled) || kind.handled.contains(&column)
                };
                let handled = kinds.iter().filter(is_handled).count();
                // The defect of one of its own streams describes the failure best.
                let stream = failed
                    .iter()
                    .copied()
                    .min_by_key(|stream| groups::DEEP.iter().any(|group| stream.starts_with(group)))?;
                let claim = self.claim(column, stream)?;
                let mut failure = failure(claim);
                if handled > 0 {
                    let all = failed.len() + handled;
                    failure = format!("{failure}, in {} of {all} measured cases", failed.len());
                }
                let streams: BTreeSet<&str> = failed.into_iter().collect();
                let source = source(&streams);
                let client = client.name.clone();
                Some((
                    claim.outcome,
                    Breakage { client, failure, source, at: Vec::new(), is_reported: false },
                ))
            })
            .collect();
        // The sort is stable: clients stay in the order of the file.
        all.sort_by_key(|(outcome, _)| *outcome);
        all.into_iter().map(|(_, breakage)| breakage).collect()
    }

    fn claim(&self, column: usize, stream: &str) -> Option<Claim<'c>> {
        let client = self.measured.measured().nth(column)?;
        self.measured.broken(stream).into_iter().find(|claim| claim.client.name == client.name)
    }
}

fn source(streams: &BTreeSet<&str>) -> String {
    let defects: Vec<&str> =
        streams.iter().filter_map(|stream| stream.strip_prefix(groups::DEFECT)).collect();
    let faults: Vec<&str> =
        streams.iter().filter(|stream| stream.starts_with(groups::FAULT)).copied().collect();
    let mut all = Vec::new();
    if !defects.is_empty() {
        all.push(format!("docs/defects.md, {}", defects.join(", ")));
    }
    if !faults.is_empty() {
        all.push(format!("docs/client-matrix.md, {}", faults.join(", ")));
    }
    if streams.iter().any(|stream| groups::DEEP.iter().any(|group| stream.starts_with(group))) {
        all.push("docs/client-members.md".to_owned());
    }
    all.join("; ")
}

fn failure(claim: Claim<'_>) -> String {
    match claim.outcome {
        Outcome::Wrong => "returns wrong or empty content".to_owned(),
        Outcome::Silent => "does not report an error".to_owned(),
        _ if claim.error.is_empty() => "fails with an error".to_owned(),
        _ => format!("fails with an error: {}", claim.error),
    }
}

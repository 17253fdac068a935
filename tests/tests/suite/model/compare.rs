//! The verdicts of a model and of the checker over streams.

use std::collections::{BTreeMap, BTreeSet};

use catalogue::{DecidedBy, Level};
use checker::{Checker, Rules};
use tests::corpus;
use tests::decided::{Compared, Decided};

use super::event::Event;
use super::machine::{Model, Run, Table, Wrong};

/// The streams that a wrong model is run over, unless one of them refutes it.
const MOST_TRIES: usize = 50;

/// Streams about which both disagree.
struct Disagreement {
    count: usize,
    /// Whether the checker finds a lower level broken than the model.
    finds_less: bool,
    /// The sentence that the first one breaks.
    sentence: &'static str,
    first: String,
}

/// The comparison of a model with the checker.
pub(crate) struct Comparison {
    pub(crate) table: Table,
    pub(crate) compared: Compared,
    checker: Checker,
    /// The number of streams by the level that both say they break.
    pub(crate) agreed: BTreeMap<Level, usize>,
    /// The transitions that streams took.
    taken: BTreeSet<usize>,
    /// The disagreements, by what the model and the checker say.
    disagreements: BTreeMap<(String, String), Disagreement>,
    /// The wrong models that no stream has refuted, with the number of streams that they were run over.
    wrong: Vec<(Wrong, usize)>,
    /// The number of all wrong models.
    pub(crate) mistakes: usize,
}

impl Comparison {
    /// Begins the comparison for an API.
    pub(crate) fn of<M: Model>() -> Self {
        let (table, compared) = (Table::read(M::API), Compared::of(M::API));
        let rules = Rules::of(corpus::dialect(&compared.dialect)).only(|rule| {
            matches!(rule.decided_by, DecidedBy::Structure(_)) || compared.rules.contains(rule.id)
        });
        let missing = compared.rules.iter().find(|id| rules.iter().all(|rule| rule.id != **id));
        assert_eq!(missing, None, "{} has no such rule", compared.dialect);
        let wrong: Vec<_> = table.wrong().into_iter().map(|wrong| (wrong, 0)).collect();
        let (checker, mistakes) = (Checker::with_rules(&rules), wrong.len());
        let (agreed, taken, disagreements) = Default::default();
        Self { table, compared, checker, agreed, taken, disagreements, wrong, mistakes }
    }

    /// Compares the verdicts on streams. Returns their number.
    pub(crate) fn compare<M: Model>(&mut self, streams: impl Iterator<Item = Vec<u8>>) -> usize {
        let mut count = 0;
        for stream in streams {
            let events = Event::all(&stream);
            // What is empty, or no JSON, has no order.
            let is_text = |event: &Event| event.data.is_string() && !event.is_marker();
            if events.iter().all(Event::is_marker) || events.iter().any(is_text) {
                continue;
            }
            count += 1;
            let (level, rules) = self.check(&stream);
            let run = Run::<M>::over(&self.table, None, &events);
            self.taken.extend(&run.taken);
            if run.worst != level {
                let (verdict, sentence) = run.verdict();
                let first = || String::from_utf8_lossy(&stream).into_owned();
                let finds_less = level < run.worst;
                let new = || Disagreement { count: 0, finds_less, sentence, first: first() };
                let said = (verdict, format!("{} {rules}", level.name()).trim().to_owned());
                self.disagreements.entry(said).or_insert_with(new).count += 1;
                continue;
            }
            *self.agreed.entry(level).or_default() += 1;
            let (table, taken) = (&self.table, run.taken.iter().copied().collect::<BTreeSet<_>>());
            self.wrong.retain_mut(|(wrong, tries)| {
                if *tries == MOST_TRIES || !wrong.keys().any(|at| taken.contains(at)) {
                    return true;
                }
                *tries += 1;
                Run::<M>::over(table, Some(wrong), &events).worst == level
            });
        }
        count
    }

    /// Returns the highest level that a stream breaks, and the rules.
    fn check(&mut self, stream: &[u8]) -> (Level, String) {
        self.checker.reset();
        self.checker.push(stream);
        self.checker.finish();
        let found = self.checker.findings();
        let worst = found.iter().map(|finding| finding.level).max().unwrap_or(Level::Off);
        let worst = if worst < Level::Should { Level::Off } else { worst };
        let rules = found.iter().filter(|finding| finding.level == worst);
        let rules: BTreeSet<&str> = rules.map(|finding| &*finding.rule).collect();
        (worst, rules.into_iter().collect::<Vec<_>>().join(" "))
    }

    /// Returns the highest level that a stream breaks, as the checker says.
    pub(crate) fn level(&mut self, stream: &[u8]) -> Level {
        self.check(stream).0
    }

    /// Returns the number of wrong models that were refuted.
    pub(crate) fn refuted(&self) -> usize {
        self.mistakes - self.wrong.len()
    }

    /// Returns the number of transitions that streams took.
    pub(crate) fn taken(&self) -> usize {
        self.taken.len()
    }

    /// Returns the disagreements that are not decided, each with its first stream.
    pub(crate) fn undecided(&self) -> Vec<String> {
        let decided = &self.compared.decided;
        let is_decided = |(model, checker): &(String, String), of: &Disagreement| {
            decided.iter().any(|it| it.is(model, checker, of.finds_less))
        };
        let open = self.disagreements.iter().filter(|(said, of)| !is_decided(said, of));
        let open = open.map(|((model, checker), Disagreement { count, sentence, first, .. })| {
            format!("model: {model}\n{sentence}\nchecker: {checker}\n{count} streams, such as\n{first}")
        });
        open.collect()
    }

    /// Returns the decisions about no stream.
    pub(crate) fn unused(&self) -> Vec<&Decided> {
        let is_used = |it: &Decided| {
            let mut known = self.disagreements.iter();
            it.rare || known.any(|((model, checker), of)| it.is(model, checker, of.finds_less))
        };
        self.compared.decided.iter().filter(|it| !is_used(it)).collect()
    }
}

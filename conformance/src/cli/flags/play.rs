//! `--impact`: plays the first response of each cause to real clients.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use catalogue::Level;
use clap::Args;
use clients::{Recorded, Theatre};
use gateway::Act;
use harness::evidence::Evidence;
use results::text::counted;
use results::{BetweenRun, Cause, LeftOut, PlayedOutcome, PlayedResponse, Run, TestCause};
use spec::Dialect;

use super::dialect::DialectRules;
use super::theatre::{HEADING, TIMEOUT, TheatreArgs, acts_in, judged, processors};
use crate::cli::message::note;

/// Maximum number of causes whose responses are played: those that reports show in full.
const CAUSES: usize = 10;
/// Time after which no other response is played.
const LIMIT: Duration = Duration::from_secs(300);
/// Groups of rules, and rules, that are not about what the gateway sends to the client.
const OF_OTHERS: [&str; 6] = ["cancel/", "keys/", "request/", "time/", "fault/next", "fault/requests"];
/// The detail of a client that returns what a gateway has changed.
const CHANGED: &str = "it returns what the gateway sent";

/// The flags of `run` and `between` that play responses.
#[derive(Debug, Clone, Args)]
#[command(mut_args(with_impact))]
pub(in crate::cli) struct PlayArgs {
    /// Play the first response of each cause to real clients, and report what each did.
    ///
    /// The first 10 causes are played, for at most 5 minutes. Neither the verdicts nor the exit code change. Clients that are
    /// not installed are left out, unless --install gets them.
    #[arg(long, help_heading = HEADING, hide_short_help = true)]
    impact: bool,
    #[command(flatten)]
    clients: TheatreArgs,
}

fn with_impact(flag: clap::Arg) -> clap::Arg {
    let is_own = ["clients", "install", "cache"].iter().any(|name| flag.get_id() == name);
    if is_own { flag.requires("impact").hide_short_help(true) } else { flag }
}

/// A response that is played, once for all causes that it shows first.
struct Piece {
    name: String,
    dialect: &'static Dialect,
    rules: Vec<String>,
    act: Act,
}

impl PlayArgs {
    /// False if no responses are played. An unknown client is an error.
    pub(in crate::cli) fn check(&self) -> Result<bool> {
        if self.impact {
            self.clients.wanted()?;
            self.clients.cache()?;
        }
        Ok(self.impact)
    }

    pub(in crate::cli) fn complete(&self, run: &mut Run, recordings: &Evidence, shown: Level) {
        let (Some(dialect), Ok(rules)) = (spec::dialect(&run.dialect), DialectRules::all_of(&run.dialect))
        else {
            return;
        };
        let mut pieces: BTreeMap<(usize, usize), Option<Piece>> = BTreeMap::new();
        let mut of_causes = Vec::new();
        let causes = run.own_causes().iter().enumerate().filter(|(_, cause)| cause.is_shown(shown));
        for (at, cause) in causes.take(CAUSES) {
            let Some((capture, finding)) = run.first_of(cause) else { continue };
            let number = finding.exchange_number.map_or(0, |number| number.saturating_sub(1));
            let number = usize::try_from(number).unwrap_or_default();
            let key = (cause.first[0], number);
            pieces.entry(key).or_insert_with(|| {
                let bytes = recordings.read(&capture.name).ok()?;
                let act = acts_in(&capture.name, &bytes).ok()?.into_iter().nth(number)?.1;
                let name = run.name(capture).into_owned();
                let rules = judged(&name, &act, &rules).1;
                Some(Piece { name, dialect, rules, act })
            });
            of_causes.push((at, key));
        }
        let (played, not_played) = self.play(pieces, of_causes.len());
        run.not_played = not_played;
        for (at, key) in of_causes {
            if let Some(Cause { played: slot, .. }) = run.causes.get_mut(at) {
                *slot = played.get(&key).cloned();
            }
        }
    }

    /// `fronts` has the dialects of its clients.
    pub(in crate::cli) fn complete_between(
        &self,
        run: &mut BetweenRun,
        folder: &Path,
        fronts: &[&'static Dialect],
    ) {
        let recordings = Evidence::open(folder);
        let mut pieces: BTreeMap<(usize, usize), Option<Piece>> = BTreeMap::new();
        let mut of_causes = Vec::new();
        let is_meant = |cause: &TestCause| !OF_OTHERS.iter().any(|other| cause.rule.starts_with(other));
        for (at, cause) in run.causes.iter().enumerate().take(CAUSES).filter(|(_, cause)| is_meant(cause)) {
            let Some((test, _)) = run.first_of(cause) else { continue };
            let found = || {
                let dialect = fronts.iter().copied().find(|dialect| dialect.api.name == test.about.front)?;
                let rules = DialectRules::all_of(dialect.name).ok()?;
                let bytes = recordings.read(test.files.first()?).ok()?;
                let acts = acts_in(&test.name, &bytes).ok()?.into_iter().map(|(_, act)| {
                    let broken = judged(&test.name, &act, &rules).1;
                    (act, broken)
                });
                let acts: Vec<(Act, Vec<String>)> = acts.collect();
                // Of several turns, the one that breaks the rule; the first, if no turn does so alone.
                let number =
                    acts.iter().position(|(_, rules)| rules.contains(&cause.rule)).unwrap_or_default();
                let (act, rules) = acts.into_iter().nth(number)?;
                Some((number, Piece { name: test.name.clone(), dialect, rules, act }))
            };
            let (number, piece) = found().map_or((0, None), |(number, piece)| (number, Some(piece)));
            let key = (cause.first[0], number);
            pieces.entry(key).or_insert(piece);
            of_causes.push((at, key));
        }
        let (played, not_played) = self.play(pieces, of_causes.len());
        run.not_played = not_played;
        for (at, key) in of_causes {
            let Some(cause) = run.causes.get_mut(at) else { continue };
            cause.played = played.get(&key).cloned();
            // The content is wrong, and a client cannot know that.
            let is_content = catalogue::rule(&cause.rule).is_none();
            for client in
                cause.played.iter_mut().flat_map(|played| &mut played.clients).filter(|_| is_content)
            {
                if client.outcome == PlayedOutcome::Unaffected {
                    (client.outcome, client.detail) = (PlayedOutcome::PassesOn, CHANGED.to_owned());
                }
            }
        }
    }

    /// The result is what clients did with each response, and the clients that are not installed.
    fn play<K: Ord>(
        &self,
        pieces: BTreeMap<K, Option<Piece>>,
        causes: usize,
    ) -> (BTreeMap<K, PlayedResponse>, Vec<LeftOut>) {
        let all = pieces.len();
        let pieces: BTreeMap<K, Piece> =
            pieces.into_iter().filter_map(|(key, piece)| Some((key, piece?))).collect();
        if pieces.len() < all || causes == 0 {
            let other = all - pieces.len();
            note(&match (causes, other) {
                (0, _) => "note: --impact: there is no cause whose response could be played".to_owned(),
                _ => format!(
                    "note: --impact: {} not over HTTP is not played",
                    counted(other as u64, "response")
                ),
            });
        }
        let mut left_out = Vec::new();
        match self.played(pieces, &mut left_out) {
            Ok(played) => (played, left_out),
            Err(error) => {
                note(&format!("note: --impact: nothing was played: {error:#}"));
                (BTreeMap::new(), left_out)
            }
        }
    }

    fn played<K: Ord>(
        &self,
        pieces: BTreeMap<K, Piece>,
        left_out: &mut Vec<LeftOut>,
    ) -> Result<BTreeMap<K, PlayedResponse>> {
        let is_due = |api: &str| pieces.values().any(|piece| piece.dialect.api.name == api);
        let wanted: Vec<_> =
            self.clients.wanted()?.into_iter().filter(|client| is_due(&client.api)).collect();
        let cache = self.clients.cache()?;
        let clients = self.clients.installed(&wanted, &cache, left_out);
        if clients.is_empty() {
            return Ok(BTreeMap::new());
        }
        let (responses, names) =
            (counted(pieces.len() as u64, "response"), counted(clients.len() as u64, "client"));
        note(&format!("playing {responses} to {names}"));
        let theatre = Theatre { cache, clients, timeout: TIMEOUT, jobs: processors() };
        let recorded = |piece: &Piece| Recorded {
            act: piece.act.clone(),
            dialect: piece.dialect,
            rules: piece.rules.clone(),
            intact: None,
        };
        let end = Instant::now().checked_add(LIMIT);
        let done = theatre.play_until(pieces.values().map(recorded).collect(), end);
        let done = done.context("the clients")?;
        let with = |((key, piece), (beside, clients)): ((K, Piece), _)| {
            let Piece { name, dialect, rules, .. } = piece;
            (key, PlayedResponse { name, dialect: Some(dialect.name.to_owned()), rules, beside, clients })
        };
        Ok(pieces.into_iter().zip(done).map(with).collect())
    }
}

//! The result of a run for a profile.

use std::collections::BTreeSet;

use catalogue::{Level, Profile, Reached, Scenario, reached};
use grammar::{Claim, Observed, exercised};
use spec::Dialect;

use super::exercise::exercises;
use super::{chosen, demanded, specified};
use crate::evidence::RunFile;
use crate::judge::{Attempt, latencies, missed};
use crate::plan::{About, Offer, ScenarioCase};
use checker::Rules;
use results::text::counted;
use results::{
    CaptureReport, Demand, Exercised, Judgement, LevelChange, ProfileReport, Reason, Run, RunState,
    Transport, Verdict,
};

/// Maximum number of lowered rules to list.
const LOWERED: usize = 8;

/// A recorded attempt with its case.
#[derive(Debug, Clone, Copy)]
pub struct Sent<'r> {
    /// The case.
    pub case: &'r ScenarioCase,
    /// Its recording.
    pub attempt: &'r Attempt,
}

/// The input of the judgement.
#[derive(Debug, Clone, Copy)]
pub struct Judge<'r> {
    /// The description of the run, with its trials.
    pub run: &'r RunFile,
    /// The rules that were checked.
    pub rules: &'r Rules,
    /// All cases.
    pub cases: &'r [ScenarioCase],
    /// The attempts, in order.
    pub sent: &'r [Sent<'r>],
}

/// Without findings about what is no answer of the route.
fn captured(sent: &Sent<'_>) -> CaptureReport {
    let mut report = sent.attempt.report.clone();
    if sent.attempt.is_no_answer(sent.case) {
        report.findings.clear();
        report.omitted = 0;
    }
    report
}

impl Judge<'_> {
    /// The part of the report about the run, and the results for the profiles of the run.
    pub fn report(&self) -> (Run, Vec<ProfileReport>) {
        let profiles = self.profiles();
        let latency = latencies(self.sent.iter().map(|sent| (&*sent.case.name, sent.attempt)));
        let captures = self.sent.iter().map(captured).collect();
        let mut live = self.run.report(profiles.clone(), latency);
        for report in &mut live.cases {
            let Some(case) = self.cases.iter().find(|case| case.name == report.name) else { continue };
            let attempts = self.sent.iter().filter(|sent| sent.case.name == case.name);
            report.missed = missed(case, attempts.map(|sent| sent.attempt), self.dialect());
        }
        let mut run = Run::new(self.rules, captures, Some(live));
        run.exercised = self.exercised(|_| true, &|feature| self.claims(feature)).into_iter().collect();
        (run, profiles)
    }

    fn profiles(&self) -> Vec<ProfileReport> {
        chosen(&self.run.options.profiles, self.dialect()).map(|profile| self.profile(profile)).collect()
    }

    /// `None` without a stream, as nothing was observed.
    fn exercised(
        &self,
        is_due: impl Fn(&ScenarioCase) -> bool,
        allows: &dyn Fn(&str) -> bool,
    ) -> Option<Exercised> {
        let due = self.sent.iter().filter(|sent| is_due(sent.case));
        let observed: Observed = due.map(|sent| &sent.attempt.observed).collect();
        // Without a stream, nothing was observed.
        let has_streams = self.sent.iter().any(|sent| !sent.attempt.observed.windows.is_empty());
        has_streams.then(|| exercised(self.dialect(), &observed, Claim::Features(allows))).flatten()
    }

    /// The endpoint is said to offer the feature, and the run is about it.
    fn claims(&self, feature: &str) -> bool {
        let options = &self.run.options;
        let is_asked = |profile: &Profile| scenarios(profile).any(|of| of.features.contains(&feature));
        Offer::of(options).allows(feature)
            && (options.profiles.is_empty() || super::with_names(&options.profiles).any(is_asked))
    }

    fn dialect(&self) -> &'static Dialect {
        self.rules.dialect()
    }

    fn profile(&self, profile: &Profile) -> ProfileReport {
        let dialect = self.dialect();
        let specification = specified(profile.specifications, dialect);
        let mut report = ProfileReport::new(profile.name, profile.version, profile.title, specification);
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        if report.specification.is_none() {
            let wanted = profile.specifications.join(", ");
            let reason = format!("it is for {wanted}, but the run was in {}", dialect.name);
            report.reasons.push(Reason::of_run(reason));
            return report;
        }
        let rules = demanded(profile, dialect);
        report.rules = owned(&rules);
        report.scenarios = owned(profile.scenarios);
        if self.run.state != RunState::Finished {
            report.reasons.push(Reason::of_run("the run did not finish"));
        }
        report.reasons.extend(self.lowered().map(Reason::of_run));
        for alternatives in profile.scenarios {
            self.scenario(alternatives, &mut report.reasons);
        }
        let is_of_profile = |case: &ScenarioCase| scenarios(profile).any(|scenario| is_of(case, scenario.id));
        let sent: Vec<&Sent<'_>> = self.sent.iter().filter(|sent| is_of_profile(sent.case)).collect();
        for rule in rules {
            report.reasons.extend(self.rule(rule, &sent));
        }
        let is_needed = |feature: &str| scenarios(profile).any(|of| of.features.contains(&feature));
        let exercised = self.exercised(is_of_profile, &is_needed);
        // Without the answer to a scenario, that is the reason.
        if let Some(exercised) = exercised.as_ref().filter(|_| report.reasons.is_empty()) {
            report.reasons.extend(unexercised(profile, exercised, self.dialect()).map(|feature| {
                let text = "no response to the scenarios of this profile went through what only it reaches";
                Reason::new(Demand::Feature, feature, Verdict::NotExercised, text)
            }));
        }
        report.transitions = exercised.map(|exercised| exercised.transitions);
        report.decided()
    }

    /// The MUST rules that the run lowered, if any: then nothing can be certified.
    fn lowered(&self) -> Option<String> {
        let lowered = self.rules.changed().iter().filter(|changed| changed.lowers_must());
        let lowered: Vec<LevelChange> = lowered.map(LevelChange::from).collect();
        let changes = || LevelChange::words(&lowered, LOWERED);
        (!lowered.is_empty()).then(|| format!("it lowered the level of what must hold: {}", changes()))
    }

    /// Of several alternatives, each has its reasons.
    fn scenario(&self, alternatives: &str, reasons: &mut Vec<Reason>) {
        let of_each: Vec<Vec<Reason>> = alternatives.split('|').map(|id| self.cases_of(id)).collect();
        let is_done = of_each.iter().any(Vec::is_empty);
        let all = of_each.into_iter().flatten();
        reasons.extend(all.filter(|reason| !is_done || reason.verdict == Verdict::Fail));
    }

    fn cases_of(&self, scenario: &str) -> Vec<Reason> {
        let mut reasons = Vec::new();
        let of_scenario: Vec<&ScenarioCase> =
            self.cases.iter().filter(|case| is_of(case, scenario)).collect();
        if of_scenario.is_empty() {
            let text = "no request was sent for it";
            reasons.push(Reason::new(Demand::Scenario, scenario, Verdict::NotExercised, text));
        }
        for case in of_scenario {
            if case.trials.is_empty() {
                let text = "the run excluded this transport";
                reasons.push(Reason::new(Demand::Scenario, &case.name, Verdict::NotExercised, text));
            }
            let trials = case.trials.iter().map(|about| (*about, self.judgement(&case.trial(*about))));
            for (about, judged) in trials {
                let Some(judged) = judged else {
                    let shard = self.run.options.filters.shard;
                    let other =
                        shard.filter(|shard| !shard.has_test(&case.trial(about), self.dialect().api.name));
                    let text = match other {
                        Some(shard) => {
                            format!("this is shard {shard} of the run, which leaves it to another one")
                        }
                        None => "a filter excluded some of its tests".to_owned(),
                    };
                    reasons.push(Reason::new(Demand::Scenario, &case.name, Verdict::NotExercised, text));
                    break;
                };
                // Rules are judged separately.
                if !matches!(about, About::Group(_) | About::Rest) && judged.verdict != Verdict::Pass {
                    let mut reason = Reason::judged(Demand::Scenario, &case.name, judged);
                    reason.exchanges = self.files(&case.name);
                    reasons.push(reason);
                }
            }
        }
        reasons
    }

    /// In the exchanges of a profile's scenarios.
    fn rule(&self, id: &str, sent: &[&Sent<'_>]) -> Option<Reason> {
        if !self.rules.iter().any(|rule| rule.id == id) {
            let text = "it was excluded from the run";
            return Some(Reason::new(Demand::Rule, id, Verdict::NotExercised, text));
        }
        let breaks = |sent: &&&Sent<'_>| {
            let mut findings = sent.attempt.report.findings.iter();
            !sent.attempt.is_no_answer(sent.case)
                && findings.any(|finding| finding.rule == id && finding.level == Level::Must)
        };
        let broken: Vec<String> =
            (sent.iter().filter(breaks)).map(|sent| sent.attempt.report.name.clone()).collect();
        if !broken.is_empty() {
            let text = format!("broken in {}", counted(broken.len() as u64, "exchange"));
            let reason = Reason::new(Demand::Rule, id, Verdict::Fail, text);
            return Some(Reason { exchanges: broken, ..reason });
        }
        let rule = catalogue::rule(id)?;
        let is_shown = sent.iter().any(|sent| {
            let answered = self.judgement(&sent.case.trial(About::Answer));
            answered.is_some_and(|judged| judged.verdict == Verdict::Pass)
                && exercises(sent.case, sent.attempt, rule, self.dialect())
        });
        let text = "no response to the scenarios of this profile exercised it";
        (!is_shown).then(|| Reason::new(Demand::Rule, id, Verdict::NotExercised, text))
    }

    fn judgement(&self, trial: &str) -> Option<&Judgement> {
        self.run.trials.iter().find(|result| result.name == trial).map(|result| &result.judged)
    }

    fn files(&self, case: &str) -> Vec<String> {
        let of_case = self.sent.iter().filter(|sent| sent.case.name == case);
        of_case.map(|sent| sent.attempt.report.name.clone()).collect()
    }
}

/// A WebSocket case counts only if the scenario is for WebSocket connections alone; otherwise it is an additional transport.
fn is_of(case: &ScenarioCase, scenario: &str) -> bool {
    let is_one_more = case.transport() == Transport::Websocket && case.scenario.websocket.is_none();
    case.scenario.id == scenario && !is_one_more
}

fn scenarios(profile: &Profile) -> impl Iterator<Item = &'static Scenario> {
    profile.scenarios.iter().flat_map(|ids| ids.split('|')).filter_map(|id| profile.scenario(id))
}

fn unexercised(
    profile: &Profile,
    exercised: &Exercised,
    dialect: &Dialect,
) -> impl Iterator<Item = &'static str> {
    let features = |id: &str| profile.scenario(id).map(|scenario| scenario.features).unwrap_or_default();
    let claimed: BTreeSet<&str> = profile
        .scenarios
        .iter()
        .flat_map(|ids| {
            // Of alternatives, all have to need it.
            let first = ids.split('|').next().map(features).unwrap_or_default();
            first.iter().filter(|feature| ids.split('|').all(|id| features(id).contains(feature)))
        })
        .copied()
        .collect();
    let steps: Vec<Reached> = reached(dialect.api.name).collect();
    claimed.into_iter().filter(move |feature| {
        let own = steps.iter().filter(|step| step.is_only_of(feature));
        let mut own = own.filter_map(|step| {
            let lane = exercised.lanes.iter().find(|lane| lane.name == step.lane)?;
            lane.steps.iter().find(|of| of.name == step.step)
        });
        own.clone().next().is_some() && own.all(|step| !step.is_exercised)
    })
}

pub(super) fn source(dialect: &'static Dialect) -> &'static str {
    let stands_for =
        dialect.lineage.first().and_then(|name| spec::DIALECTS.iter().find(|of| of.name == *name));
    match stands_for {
        Some(of) if of.name.split('@').next() == Some(dialect.name) => of.source,
        _ => dialect.source,
    }
}

#[cfg(test)]
mod tests {
    use grammar::Walk;
    use recordings::Checking;
    use recordings::capture::Format;
    use recordings::goldens::{GOLDENS, Golden};

    use super::*;

    /// Returns the features of a profile of which a golden has nothing.
    fn lacking(profile: &str, golden: &str) -> Vec<&'static str> {
        let dialect = spec::dialect("openai").unwrap();
        let is_it = |known: &&Golden| known.holds_for("openai") && known.name == golden;
        let golden = GOLDENS.iter().find(is_it).unwrap();
        let mut walk = Walk::default();
        let mut checking = Checking::new(&Rules::of(dialect), false);
        checking.check_seen_by(String::new(), &mut &*golden.bytes, Some(Format::Sse), &mut walk);
        let [profile] =
            catalogue::PROFILES.iter().filter(|known| known.name == profile).collect::<Vec<_>>()[..]
        else {
            panic!("one profile has this name")
        };
        let is_needed = |feature: &str| scenarios(profile).any(|of| of.features.contains(&feature));
        let exercised = exercised(dialect, &walk.observed, Claim::Features(&is_needed)).unwrap();
        unexercised(profile, &exercised, dialect).collect()
    }

    #[test]
    fn a_profile_needs_what_only_its_features_reach() {
        assert_eq!(lacking("tools", "text"), ["tools"]);
        assert_eq!(lacking("tools", "function-call"), [""; 0]);
        // Whether a conversation is stored, no step shows.
        assert_eq!(lacking("stateful", "text"), [""; 0]);
    }
}

//! Checks whether the results of a run follow from its evidence.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use serde_json::Value;
use spec::Dialect;

use crate::certificate::{CERTIFICATE, Certificate, Judge, PAGE, Requests, SIGNATURE, Sent};
use crate::digest::hash;
use crate::evidence::{Evidence, REPORT, RUN, RunFile, files_of};
use crate::file::first_difference;
use crate::judge::{Attempt, mark_answered, verdict};
use crate::plan::{Offer, ScenarioCase, Seed, cases};
use crate::suite;
use checker::Rules;
use results::{FailOn, LevelChange, Options, Verdict};

/// The result of comparing a run with its evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared {
    /// Differences between the results and the evidence.
    pub differences: Vec<String>,
    /// Whether an exchange could not be read.
    pub is_unreadable: bool,
    /// The trials that fail on the requested findings, with their reasons.
    pub failing: Vec<String>,
}

pub(crate) struct Replanned {
    pub(crate) dialect: &'static Dialect,
    pub(crate) rules: Rules,
    judged: Rules,
    offer: Offer,
    pub(crate) cases: Vec<ScenarioCase>,
}

impl Replanned {
    pub(crate) fn of(run: &RunFile) -> Result<Self, String> {
        let dialect =
            spec::dialect(&run.dialect).ok_or_else(|| format!("there is no dialect {:?}", run.dialect))?;
        let Options { profiles, select, ignore, levels, transports, .. } = &run.options;
        let levels = LevelChange::by_rule(levels);
        let rules = suite::rules(dialect, &levels, profiles, select, ignore);
        let judged = suite::rules(dialect, &levels, &[], select, ignore);
        let offer = Offer::of(&run.options);
        let mut cases = cases(dialect, &rules, &offer, transports);
        let seed = Seed::new(&*run.seed, dialect, &offer);
        for case in &mut cases {
            case.expect(&seed);
        }
        Ok(Self { dialect, rules, judged, offer, cases })
    }
}

/// Compares the results of a run with its evidence. Also judges the evidence by other findings than those on which the
/// run failed, if requested.
///
/// # Errors
///
/// If the dialect is unknown, or the folder cannot be read.
pub fn compare(evidence: &Evidence, run: &RunFile, requested: Option<FailOn>) -> Result<Compared, String> {
    let Replanned { dialect, rules, judged, offer, cases } = Replanned::of(run)?;
    let unread = |error: io::Error| error.to_string();
    let levels = &run.options.levels;
    let (mut differences, mut is_unreadable) = (Vec::new(), false);
    if LevelChange::all(&Rules::with_levels(dialect, &LevelChange::by_rule(levels))) != *levels {
        differences.push(format!("run.json: its levels of rules do not match the dialect {}", dialect.name));
    }
    if run.suite != env!("CARGO_PKG_VERSION") {
        let own = env!("CARGO_PKG_VERSION");
        differences
            .push(format!("the run was made by version {} of the suite, but this is {own}", run.suite));
    }
    let mut attempts: BTreeMap<&str, Vec<Attempt>> = BTreeMap::new();
    // The case of each recording, and the number of earlier attempts.
    let mut order: Vec<(&str, usize)> = Vec::new();
    if let Some(line) = evidence.run_difference(run).map_err(unread)? {
        differences.push(format!("run.json: line {line} differs from what the suite writes"));
    }
    let mut files: BTreeSet<&str> = run.exchanges.iter().map(|kept| &*kept.file).collect();
    if files.len() < run.exchanges.len() {
        differences.push("run.json: an exchange is listed twice".to_owned());
    }
    files.extend([RUN, REPORT, CERTIFICATE, PAGE, SIGNATURE]);
    let of_dialect: Vec<String> = files_of(dialect).map(|(file, _)| file).collect();
    files.extend(of_dialect.iter().map(String::as_str));
    match run.chained() {
        Ok(chain) if chain == run.chain => {}
        Ok(_) => differences.push("run.json: its chain does not match its exchanges".to_owned()),
        Err(problem) => differences.push(format!("run.json: {problem}")),
    }
    let strangers = evidence.strangers(&files).map_err(unread)?;
    differences.extend(strangers.iter().map(|file| format!("{file}: it is not listed in run.json")));
    let mut recordings: Vec<Vec<u8>> = Vec::new();
    for kept in &run.exchanges {
        let Some(case) = cases.iter().find(|case| case.name == kept.case) else {
            differences.push(format!("{}: its options send no case {}", kept.file, kept.case));
            continue;
        };
        let read = evidence.read(&kept.file).map_err(|error| error.to_string());
        let attempt = read.and_then(|bytes| {
            let attempt = Attempt::read(&kept.file, &bytes, &judged, case.is_part())?;
            Ok((attempt.deciding_by(&rules), bytes))
        });
        match attempt {
            Ok((mut attempt, bytes)) => {
                if let Some(line) = other_spelling(&bytes) {
                    differences
                        .push(format!("{}: line {line} differs from what the suite writes", kept.file));
                }
                attempt.place = kept.place;
                recordings.push(bytes);
                order.push((&*kept.case, attempts.get(&*kept.case).map_or(0, Vec::len)));
                if attempt.sha256 != kept.sha256 {
                    differences.push(format!("{}: the file was changed", kept.file));
                }
                attempts.entry(&kept.case).or_default().push(attempt);
            }
            Err(problem) => {
                is_unreadable = true;
                differences.push(format!("cannot be read: {}: {problem}", kept.file));
            }
        }
    }
    mark_answered(&cases, &mut attempts);
    let fail_on = run.options.fail_on();
    let mut failing = Vec::new();
    let of = |case: &ScenarioCase| attempts.get(&*case.name).map(Vec::as_slice).unwrap_or_default();
    for case in &cases {
        let compared = case.compared.and_then(|at| of(cases.get(at)?).last());
        for about in &case.trials {
            let name = case.trial(*about);
            let Some(stated) = run.trials.iter().find(|stated| stated.name == name) else { continue };
            if of(case).is_empty() {
                // A case that was not sent has no evidence.
                if matches!(stated.judged.verdict, Verdict::Pass | Verdict::Fail) {
                    differences
                        .push(format!("{name}: the run states {}, but no request was sent", stated.judged));
                }
                continue;
            }
            let judge = |fail_on| verdict(case, *about, of(case), compared, fail_on, &rules);
            let by_now = requested.map(judge).filter(|judged| judged.verdict == Verdict::Fail);
            failing.extend(by_now.map(|judged| format!("{name}: {}", judged.reason)));
            let judged = judge(fail_on);
            if judged != stated.judged {
                differences.push(format!(
                    "{name}: the run states {}, but the exchanges show {judged}",
                    stated.judged
                ));
            }
        }
    }
    let each = |case| of(case).iter().map(move |attempt| Sent { case, attempt });
    let sent: Vec<Sent> = cases.iter().flat_map(each).collect();
    let mut requests = Requests::new(run, &cases, dialect, &offer);
    for ((name, before), recording) in order.iter().zip(&recordings) {
        let Some(case) = cases.iter().find(|case| case.name == *name) else { continue };
        let file = &of(case)[*before].report.name;
        let difference = requests.difference(case, before + 1, file, recording, &sent);
        differences.extend(difference.map(|problem| format!("{file}: {problem}")));
    }
    let names: Vec<&str> = run.trials.iter().map(|trial| &*trial.name).collect();
    let is_due = |prefix: &str| suite::due_names(&cases, &run.options, dialect, prefix) == names;
    if !is_due("") && !is_due(&format!("{}/", dialect.name)) {
        differences.push("run.json: its trials do not match its options".to_owned());
    }
    if let Some(obstacle) = &run.obstacle {
        let is_it = |sent: &Sent| {
            let lost = sent.attempt.facts.lost.as_ref().map(ToString::to_string);
            let met = sent.attempt.obstacle(sent.case);
            met.map_or(lost.as_deref() == Some(&*obstacle.reason), |met| {
                met.class == obstacle.class && met.reason == obstacle.reason
            })
        };
        if !sent.iter().any(is_it) {
            differences.push(format!("run.json: no exchange shows that {}", obstacle.reason));
        }
    }
    let (report, profiles) = Judge { run, rules: &rules, cases: &cases, sent: &sent }.report();
    let report = reports::json(&report);
    let stored = evidence.report().map_err(unread)?;
    if stored != report.as_bytes() {
        let line = first_difference(&String::from_utf8_lossy(&stored), &report);
        differences.push(format!("report.json: line {line} differs from the result of the exchanges"));
    }
    if run.report.as_deref() != Some(hash(&stored).as_str()) {
        differences.push("report.json: the file was changed".to_owned());
    }
    differences.extend(Certificate::new(run, profiles).differences(evidence));
    Ok(Compared { differences, is_unreadable, failing })
}

/// Each recording has one spelling, so that it cannot be changed without a change of its content. The result counts from 1.
fn other_spelling(recording: &[u8]) -> Option<usize> {
    let is_ours = |line: &[u8]| {
        let line = line.strip_suffix(b"\n")?;
        let value: Value = serde_json::from_slice(line).ok()?;
        (value.to_string().as_bytes() == line).then_some(())
    };
    recording.split_inclusive(|byte| *byte == b'\n').position(|line| is_ours(line).is_none()).map(|at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recordings_have_one_spelling() {
        assert_eq!(
            other_spelling(b"{\"at\":1.5,\"text\":\"\xc3\xa9\\u001b\"}\n{\"end\":\"closed\"}\n"),
            None
        );
        for other in
            ["{\"at\":1}\r\n", " {\"at\":1}\n", "{\"at\": 1}\n", "{\"at\":1,\"at\":1}\n", "{\"at\":1}", "\n"]
        {
            assert_eq!(other_spelling(format!("{{\"at\":1}}\n{other}").as_bytes()), Some(2), "{other:?}");
        }
    }
}

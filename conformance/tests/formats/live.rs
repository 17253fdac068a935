//! Parts of runs against an endpoint, for the tests of reports.

use conformance::results::{
    CaseReport, Judgement, LiveReport, Options, ProfileReport, RunState, Transport, TrialResult, Verdict,
};

/// Returns a finished run.
pub(crate) fn live(
    target: &str,
    model: &str,
    cases: Vec<CaseReport>,
    profiles: Vec<ProfileReport>,
) -> LiveReport {
    LiveReport {
        stale: Vec::new(),
        obstacle: None,
        target_name: None,
        latency: Vec::new(),
        target: target.to_owned(),
        is_reference: false,
        model: model.to_owned(),
        command: String::new(),
        options: Options { transports: vec![Transport::Sse], bytes: 1_000_000, ..Options::usual() },
        state: RunState::Finished,
        profiles,
        cases,
    }
}

/// Returns a scenario with its trials, each with the last part of its name.
pub(crate) fn case<'t>(
    name: &str,
    title: String,
    attempts: &[usize],
    trials: impl IntoIterator<Item = (&'t str, Judgement)>,
) -> CaseReport {
    let told = |(about, judged)| TrialResult { name: format!("{name}::{about}"), judged };
    let trials = trials.into_iter().map(told).collect();
    CaseReport { name: name.to_owned(), title, attempts: attempts.to_vec(), missed: 0, trials }
}

/// Returns the trials of these cases that did not pass.
pub(crate) fn undecided(cases: &[CaseReport]) -> impl Iterator<Item = (&CaseReport, &TrialResult)> {
    let trials = cases.iter().flat_map(|case| case.trials.iter().map(move |told| (case, told)));
    trials.filter(|(_, told)| told.judged.verdict != Verdict::Pass)
}

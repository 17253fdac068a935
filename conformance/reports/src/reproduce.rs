//! The end of the summary of a run: flaky scenarios, and commands that repeat failing exchanges.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use results::text::{escaped_json, visible};
use results::{CaptureReport, Run, Verdict};

/// Maximum number of causes with a command; the HTML report has one for every exchange.
const CAUSES: usize = 2;

fn flaky(run: &Run) -> String {
    let Some(live) = &run.live else { return String::new() };
    let flaky = live.cases.iter().filter(|case| case.missed > 0);
    let lines: Vec<String> = flaky
        .map(|case| {
            let attempts = case.missed + 1;
            format!(
                "\n  {}: the expected events occurred on attempt {attempts} of {attempts}",
                visible(&case.name)
            )
        })
        .collect();
    match lines.len() {
        0 => String::new(),
        1 => format!("\nflaky: 1 scenario{}\n", lines.concat()),
        count => format!("\nflaky: {count} scenarios{}\n", lines.concat()),
    }
}

/// The flaky scenarios, and a `curl` command for the first exchange of each cause that fails.
pub fn reproduce(run: &Run) -> String {
    let of_rules = run.broken().into_iter().filter(|rule| run.fails(&rule.id)).filter_map(|rule| {
        let [capture, _] = rule.first?;
        Some((rule.id.clone(), run.captures.get(capture)?))
    });
    let of_answers = run.live.iter().flat_map(|live| &live.cases).filter_map(|case| {
        let is_failed = |told: &&results::TrialResult| {
            told.judged.verdict == Verdict::Fail && case.findings(told, run).next().is_none()
        };
        let told = case.trials.iter().find(is_failed)?;
        Some((told.name.clone(), case.recordings(run).last()?))
    });
    let causes: Vec<(String, &CaptureReport)> =
        of_rules.chain(of_answers).filter(|(_, capture)| capture.curl.is_some()).collect();
    let mut seen = BTreeSet::new();
    let mut text = String::new();
    for (cause, capture) in &causes {
        let Some(curl) = capture.curl.as_deref().filter(|curl| seen.insert(*curl)) else { continue };
        if seen.len() > CAUSES {
            break;
        }
        let [cause, name] = [cause, &*run.name(capture)].map(visible);
        // A body has the same values if it is escaped as JSON.
        let curl = escaped_json(curl);
        let _ = write!(text, "\n  {cause}, first in {name}\n    {curl}\n");
    }
    let curls = if text.is_empty() { text } else { format!("\nreproduce with curl{text}") };
    flaky(run) + &curls
}

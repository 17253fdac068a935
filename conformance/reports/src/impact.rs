//! Reports of what clients did with recordings that were played to them.

use std::fmt::Write as _;

use catalogue::Level;
use results::text::{counted, grouped, listed, visible, wrap};
use results::{Beside, ImpactRun, PlayedClient, PlayedOutcome, PlayedResponse};

use super::style::Screen;

/// The format of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum ImpactForm {
    /// Lists, for a terminal
    #[default]
    Human,
    /// The whole report, for programs
    Json,
}

/// Number of rules that are named.
const NAMED: usize = 4;
/// Width of the column with outcomes.
const COLUMN: usize = 12;

/// Renders what clients did.
pub fn impact_report(run: &ImpactRun, form: ImpactForm, screen: Screen) -> String {
    match form {
        ImpactForm::Human => human(run, screen),
        ImpactForm::Json => super::json(run),
    }
}

fn human(run: &ImpactRun, screen: Screen) -> String {
    let mut out = String::new();
    // What was not played is said below.
    let shown = |response: &&PlayedResponse| response.dialect.is_none() || !response.clients.is_empty();
    for response in run.responses.iter().filter(shown) {
        of_response(response, screen, &mut out);
        out.push('\n');
    }
    for left in &run.left_out {
        let names = listed(&left.clients, usize::MAX, |name| visible(name));
        let _ = writeln!(out, "not played: {names}: {}", visible(&left.reason));
    }
    if run.has_played() {
        let (broken, style) = (broken(run), screen.style);
        let responses = counted(run.responses.len() as u64, "response");
        let text = format!("{broken} · {responses} played");
        let painted = if run.breaks_any() { style.level(Level::Must, &text) } else { style.good(&text) };
        let _ = writeln!(out, "{painted}");
    }
    out
}

/// Returns how many clients the responses break, of those that were played.
fn broken(run: &ImpactRun) -> String {
    let by_client = grouped(run.played().map(|(_, client)| (client.name.as_str(), client.outcome)));
    let played: Vec<&Vec<PlayedOutcome>> = by_client
        .iter()
        .map(|(_, outcomes)| outcomes)
        .filter(|outcomes| outcomes.iter().any(|outcome| *outcome != PlayedOutcome::NotPlayed))
        .collect();
    let broken = played.iter().filter(|outcomes| outcomes.iter().any(|outcome| outcome.is_broken())).count();
    let all = counted(played.len() as u64, "client");
    if broken == 0 { format!("{all}, none broken") } else { format!("{broken} of {all} broken") }
}

fn of_response(response: &PlayedResponse, screen: Screen, out: &mut String) {
    let name = screen.style.bold(&visible(&response.name));
    let Some(dialect) = &response.dialect else {
        let _ = writeln!(out, "{name}  not played: its API is not recognised; --dialect names it");
        return;
    };
    let rules = match &*response.rules {
        [] => "no rule is broken".to_owned(),
        rules => format!("breaks {}", listed(rules, NAMED, |rule| visible(rule))),
    };
    let _ = writeln!(out, "{name}  {}: {rules}", visible(dialect));
    let mut clients: Vec<&PlayedClient> = response.clients.iter().collect();
    clients.sort_by_key(|client| client.outcome);
    // Those that did the same in the same way stand on one line.
    for ((outcome, detail), alike) in
        grouped(clients.into_iter().map(|client| ((client.outcome, &*client.detail), client)))
    {
        let names = alike.iter().map(|client| match &client.version {
            Some(version) => format!("{} {}", visible(&client.name), visible(version)),
            None => visible(&client.name),
        });
        let names = names.collect::<Vec<_>>().join(", ");
        let mut lines = wrap(&names, screen.width.saturating_sub(COLUMN + 2)).into_iter();
        let word = format!("{:COLUMN$}", outcome_in_words(outcome));
        let _ = writeln!(out, "  {}{}", painted(outcome, &word, screen), lines.next().unwrap_or_default());
        let detail = wrap(&visible(detail), screen.width.saturating_sub(COLUMN + 6));
        let detail = detail.into_iter().map(|line| format!("  {line}"));
        for line in lines.chain(detail).filter(|line| !line.trim().is_empty()) {
            let _ = writeln!(out, "  {:COLUMN$}{line}", "");
        }
    }
    let beside = match response.beside {
        Beside::Given => "compared with what each returned for the intact response",
        Beside::Mended => "compared with what each returned for a sound response that says the same",
        Beside::Wire => "the response breaks off or reports an error: a client should report that",
    };
    let _ = writeln!(out, "  {beside}");
}

const fn outcome_in_words(outcome: PlayedOutcome) -> &'static str {
    match outcome {
        PlayedOutcome::PassesOn => "passes on",
        PlayedOutcome::NotPlayed => "not played",
        outcome => outcome.name(),
    }
}

fn painted(outcome: PlayedOutcome, text: &str, screen: Screen) -> String {
    match outcome {
        PlayedOutcome::Fails | PlayedOutcome::Wrong => screen.style.level(Level::Must, text),
        PlayedOutcome::PassesOn => screen.style.level(Level::Should, text),
        PlayedOutcome::Reports | PlayedOutcome::Unaffected => screen.style.good(text),
        PlayedOutcome::NotPlayed => text.to_owned(),
    }
}

//! Reports of what clients did with recordings that were played to them.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use catalogue::Level;
use results::text::{counted, grouped, listed, visible, wrap};
use results::{
    Beside, BetweenRun, Cause, ImpactRun, LeftOut, PlayedClient, PlayedOutcome, PlayedResponse, Run,
    TestCause,
};

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
/// Maximum number of clients of a cause that are named: broken ones, and others.
const BROKEN: usize = 8;
const OTHERS: usize = 4;
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
    // Clients that were not played are listed below.
    let shown = |response: &&PlayedResponse| response.dialect.is_none() || !response.clients.is_empty();
    for response in run.responses.iter().filter(shown) {
        of_response(response, screen, &mut out);
        out.push('\n');
    }
    for left in &run.left_out {
        let _ = writeln!(out, "not played: {}", visible(&left_out(left, usize::MAX)));
    }
    if run.has_played() {
        let (broken, style) = (broken(run.played().map(|(_, client)| client)), screen.style);
        let responses = counted(run.responses.len() as u64, "response");
        let text = format!("{broken} · {responses} played");
        let painted = if run.breaks_any() { style.level(Level::Must, &text) } else { style.good(&text) };
        let _ = writeln!(out, "{painted}");
    }
    out
}

pub(super) fn broken<'p>(clients: impl Iterator<Item = &'p PlayedClient>) -> String {
    let by_client = grouped(clients.map(|client| (client.name.as_str(), client.outcome)));
    let played: Vec<&Vec<PlayedOutcome>> = by_client
        .iter()
        .map(|(_, outcomes)| outcomes)
        .filter(|outcomes| outcomes.iter().any(|outcome| *outcome != PlayedOutcome::NotPlayed))
        .collect();
    let broken = played.iter().filter(|outcomes| outcomes.iter().any(|outcome| outcome.is_broken())).count();
    let all = counted(played.len() as u64, "client");
    if broken == 0 { format!("{all}, none broken") } else { format!("{broken} of {all} broken") }
}

/// Not escaped.
pub(super) fn left_out(left: &LeftOut, most: usize) -> String {
    format!("{}: {}", listed(&left.clients, most, String::clone), left.reason)
}

/// A line for clients that did the same, not escaped. Empty if the response was not played. `before` has the causes before
/// it, by their rules.
pub(super) fn of_cause<'c>(
    rule: &str,
    played: Option<&PlayedResponse>,
    before: impl IntoIterator<Item = (&'c str, Option<&'c PlayedResponse>)>,
) -> Vec<String> {
    let Some(response) = played else { return Vec::new() };
    let alike = before.into_iter().find(|(_, other)| {
        other.is_some_and(|other| !other.clients.is_empty() && other.clients == response.clients)
    });
    if let Some((rule, other)) = alike {
        let is_same = other.is_some_and(|other| other.name == response.name);
        return vec![format!("as with {rule}{}", if is_same { ": it is the same response" } else { "" })];
    }
    let others: Vec<&String> = response.rules.iter().filter(|other| *other != rule).collect();
    let line = |(outcome, how, clients): (PlayedOutcome, &str, Vec<&PlayedClient>)| {
        let most = if outcome.is_broken() { BROKEN } else { OTHERS };
        let names = listed(&clients, most, |client| client.named());
        let how = how.trim_end_matches([':', ' ']);
        let how = if how.is_empty() { String::new() } else { format!(": {how}") };
        format!("{}: {names}{how}", outcome.words())
    };
    let mut lines: Vec<String> = response.alike().into_iter().map(line).collect();
    // Each of them can be the cause of what clients do.
    if !others.is_empty() {
        lines.push(format!("the response also breaks {}", listed(&others, NAMED, |rule| (*rule).clone())));
    }
    lines
}

pub(super) fn in_run(run: &Run, cause: &Cause) -> Vec<String> {
    let before = run.causes.iter().take_while(|other| other.id != cause.id);
    of_cause(&cause.rule, cause.played.as_ref(), before.map(|other| (&*other.rule, other.played.as_ref())))
}

pub(super) fn in_between(run: &BetweenRun, cause: &TestCause) -> Vec<String> {
    let is_it = |other: &&TestCause| other.rule == cause.rule && other.kind == cause.kind;
    let before = run.causes.iter().take_while(|other| !is_it(other));
    of_cause(&cause.rule, cause.played.as_ref(), before.map(|other| (&*other.rule, other.played.as_ref())))
}

/// Of all responses that were played, and of the clients that were not: a line each, not escaped.
pub(super) fn in_all<'p>(
    played: impl Iterator<Item = &'p PlayedResponse> + Clone,
    not_played: &[LeftOut],
    most: usize,
) -> Vec<String> {
    let responses: BTreeSet<&str> = played.clone().map(|response| &*response.name).collect();
    let mut lines = Vec::new();
    if !responses.is_empty() {
        let clients = broken(played.flat_map(|response| &response.clients));
        lines.push(format!("{} played: {clients}", counted(responses.len() as u64, "response")));
    }
    lines.extend(not_played.iter().map(|left| format!("not played: {}", left_out(left, most))));
    lines
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
    // Those that did the same in the same way stand on one line.
    for (outcome, detail, alike) in response.alike() {
        let names: Vec<String> = alike.iter().map(|client| visible(&client.named())).collect();
        let names = names.join(", ");
        let mut lines = wrap(&names, screen.width.saturating_sub(COLUMN + 2)).into_iter();
        let word = format!("{:COLUMN$}", outcome.words());
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

fn painted(outcome: PlayedOutcome, text: &str, screen: Screen) -> String {
    match outcome {
        PlayedOutcome::Fails | PlayedOutcome::Wrong => screen.style.level(Level::Must, text),
        PlayedOutcome::PassesOn => screen.style.level(Level::Should, text),
        PlayedOutcome::Reports | PlayedOutcome::Unaffected => screen.style.good(text),
        PlayedOutcome::NotPlayed => text.to_owned(),
    }
}

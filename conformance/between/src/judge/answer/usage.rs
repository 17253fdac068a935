//! Token counts.

use catalogue::Level;
use translation::{Reply, Usage};

use crate::judge::Turn;
use crate::judge::parts::findings::{Findings, Problem};

/// The level of details that only accounts need.
const DETAIL: Level = Level::Should;

/// The members of requests without which a stream of an API has no token counts.
pub(in crate::judge) const SWITCHES: [(&str, &str); 1] = [("chat", "/stream_options/include_usage")];

pub(in crate::judge) fn judge(findings: &mut Findings<'_>, turn: &Turn<'_>, [upstream, client]: [&Reply; 2]) {
    let (sent, found) = (upstream.usage.unwrap_or_default(), client.usage.unwrap_or_default());
    let show = |problem: Problem| problem.showing(&words(&sent), &words(&found));
    if client.usage.is_none() && upstream.usage.is_some() {
        if is_due(turn) {
            let message = "the client gets no token counts, and the upstream sent them";
            findings.add("answer/usage", show(Problem::new("missing", message)));
        }
        return;
    }
    if upstream.usage.is_none() {
        let is_counted = [found.input, found.output].iter().any(|count| count.is_some_and(|count| count > 0));
        if is_counted {
            let message = "the client gets token counts, and the upstream sent none";
            findings.add("answer/usage", show(Problem::new("invented", message).at(DETAIL)));
        }
        return;
    }
    let different = |name: &str, level, sent: Option<u64>, found: Option<u64>| {
        let count = |count: Option<u64>| count.map_or_else(|| "none".to_owned(), |count| count.to_string());
        let message =
            format!("the client gets {} {name} tokens, the upstream sent {}", count(found), count(sent));
        (sent != found).then(|| show(Problem::new(name, message).at(level)))
    };
    let mut problems = vec![
        different("input", Level::Must, sent.input, found.input).filter(|_| sent.input.is_some()),
        different("output", Level::Must, sent.output, found.output).filter(|_| sent.output.is_some()),
    ];
    // Not every API has the details.
    for (name, sent, found) in
        [("cached", sent.cached, found.cached), ("reasoning", sent.reasoning, found.reasoning)]
    {
        problems.push(different(name, DETAIL, sent, found).filter(|_| sent.is_some() && found.is_some()));
    }
    for problem in problems.into_iter().flatten() {
        findings.add("answer/usage", problem);
    }
}

/// Some responses need no token counts.
fn is_due(turn: &Turn<'_>) -> bool {
    let switch = SWITCHES
        .iter()
        .find(|(api, _)| *api == turn.test.front.api.name)
        .filter(|_| !turn.test.case.is_whole);
    switch.is_none_or(|(_, switch)| {
        turn.asked().is_some_and(|request| request.pointer(switch) == Some(&true.into()))
    })
}

pub(in crate::judge) fn judge_incomplete(
    findings: &mut Findings<'_>,
    turn: &Turn<'_>,
    [upstream, client]: [&Reply; 2],
) {
    let Some(found) = client.usage else { return };
    let sent = turn.counted().unwrap_or_default();
    // A gateway may read on behind an event that it cannot read.
    let all = upstream.usage.unwrap_or_default();
    for (name, sent_count, all, count) in
        [("input", sent.input, all.input, found.input), ("output", sent.output, all.output, found.output)]
    {
        // Some APIs begin with the input, which a gateway then has to estimate.
        let is_estimate = name == "input" && sent_count.is_none();
        let most = sent_count.max(all).unwrap_or(0);
        let Some(count) = count.filter(|count| *count > most && !is_estimate) else {
            continue;
        };
        let level = if sent_count.is_some() { Level::Must } else { DETAIL };
        let said = sent_count.map_or_else(|| "none".to_owned(), |count| count.to_string());
        let message =
            format!("the client gets {count} {name} tokens, and the upstream had sent {said} when it failed");
        let problem = Problem::new(name, message).at(level);
        findings.add("fault/usage", problem.showing(&words(&sent), &words(&found)));
    }
}

fn words(usage: &Usage) -> String {
    let count = |name: &str, count: Option<u64>| count.map(|count| format!("{name} {count}"));
    let counts = [
        count("input", usage.input),
        count("cached", usage.cached),
        count("output", usage.output),
        count("reasoning", usage.reasoning),
    ];
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    if counts.is_empty() { "no counts".to_owned() } else { counts.join(", ") }
}

//! The report of both ends of a gateway for a terminal.

use std::fmt::Write as _;

use catalogue::Level;
use results::text::{counted, cut, grouped, listed, parted, shortened, visible, wrap};
use results::{BetweenRun, BetweenTest, TestCause, TestFinding, Verdict, cause_counts};

use super::super::human::word;
use super::super::impact::in_between;
use super::super::style::{Detail, Screen};
use super::super::test::rule::{first_difference, level_of, of_pair, sides, window};
use super::super::test::{counts, files, terms};

/// Maximum number of causes with their example; the others have a line.
const IN_FULL: usize = 10;
/// Maximum number of other causes.
const IN_LINE: usize = 40;
/// Maximum number of pairs that are named.
const PAIRS: usize = 9;
/// Maximum number of limits, and of requests that are not accounted for.
const LISTED: usize = 8;
/// Maximum number of characters of a side.
const SIDE: usize = 400;
/// Maximum number of characters of a message.
const MESSAGE: usize = 600;
/// Width of the labels of remarks.
const LABEL: usize = 10;

pub(super) fn human(run: &BetweenRun, detail: Detail, screen: Screen) -> String {
    let mut out = String::new();
    if detail.is_verbose {
        tests(run, screen, &mut out);
    }
    pairs(run, screen, &mut out);
    causes(run, detail, screen, &mut out);
    measures(run, screen, &mut out);
    for line in super::played(run) {
        let _ = writeln!(out, "{}", wrap(&visible(&line), room(screen, 2)).join("\n  "));
    }
    unjudged(run, screen, &mut out);
    limits(run, screen, &mut out);
    unaccounted(run, &mut out);
    for stale in &run.stale {
        let _ = writeln!(out, "expected failure passes: {}", visible(stale));
    }
    for step in run.next() {
        let _ = writeln!(out, "to {}\n  {}", visible(&step.why), visible(&step.command));
    }
    last_line(run, screen, &mut out);
    out
}

fn tests(run: &BetweenRun, screen: Screen, out: &mut String) {
    for test in &run.tests {
        let ending = test.about.stream.map_or_else(String::new, |stream| format!("  {}", stream.name()));
        let _ = writeln!(out, "{} {}{ending}", sign(test, screen), visible(&test.name));
        for finding in &test.findings {
            let text = format!("{}: {}", finding.rule, cut(&finding.message, MESSAGE));
            let _ = writeln!(out, "    {}", wrap(&visible(&text), room(screen, 6)).join("\n      "));
        }
        let remark = test.expected.as_ref().map(|reason| format!("expected: {reason}"));
        let reason = Some(test.reason.clone()).filter(|reason| !reason.is_empty());
        for note in remark.into_iter().chain(reason) {
            let _ = writeln!(out, "    {}", wrap(&visible(&note), room(screen, 6)).join("\n      "));
        }
    }
    out.push('\n');
}

fn sign(test: &BetweenTest, screen: Screen) -> String {
    let sign = test.verdict.sign();
    match test.verdict {
        Verdict::Pass => screen.style.good(sign),
        Verdict::Fail | Verdict::HarnessError => screen.style.level(Level::Must, sign),
        Verdict::NotExercised => sign.to_owned(),
    }
}

const fn room(screen: Screen, margin: usize) -> usize {
    let room = screen.width.saturating_sub(margin);
    if room < Screen::LEAST_WIDTH { Screen::LEAST_WIDTH } else { room }
}

fn pairs(run: &BetweenRun, screen: Screen, out: &mut String) {
    let name = |front: &str, upstream: &str| format!("{} → {}", visible(front), visible(upstream));
    let names: Vec<String> = run.pairs.iter().map(|pair| name(&pair.front, &pair.upstream)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(18);
    let title = screen.style.bold(&format!("{:width$}", "client → upstream"));
    let _ = writeln!(out, "{title}  passed  failed  skipped  mode");
    let count = |count: u64| if count == 0 { "-".to_owned() } else { count.to_string() };
    for (name, pair) in names.iter().zip(&run.pairs) {
        let failed = format!("{:>6}", count(pair.failed));
        let failed = if pair.failed > 0 { screen.style.level(Level::Must, &failed) } else { failed };
        let (passed, skipped) = (count(pair.passed), count(pair.skipped));
        let mode = visible(&pair.mode);
        let _ = writeln!(out, "{name:width$}  {passed:>6}  {failed}  {skipped:>7}  {mode}");
    }
    out.push('\n');
}

fn causes(run: &BetweenRun, detail: Detail, screen: Screen, out: &mut String) {
    let most = if detail.is_verbose { usize::MAX } else { IN_FULL };
    let (shown, hidden): (Vec<&TestCause>, Vec<&TestCause>) =
        run.causes.iter().partition(|cause| cause.is_shown(detail.level));
    for cause in shown.iter().take(most) {
        of_cause(run, cause, screen, out);
    }
    let rest = shown.get(most.min(shown.len())..).unwrap_or_default();
    if !rest.is_empty() {
        let _ = writeln!(out, "{}", counted(rest.len() as u64, "more cause"));
        for cause in rest.iter().take(IN_LINE) {
            let Some((_, finding)) = run.first_of(cause) else { continue };
            let text = format!(
                "  {}  {}: {}",
                cause.level.keyword(),
                visible(&cause.rule),
                shortened(&finding.message, room(screen, 50))
            );
            let _ = writeln!(out, "{text} ({})", counted(cause.tests, "test"));
        }
        if rest.len() > IN_LINE {
            let _ = writeln!(out, "  and {} more (--verbose shows all)", rest.len() - IN_LINE);
        }
        out.push('\n');
    }
    if !hidden.is_empty() {
        let hidden = counted(hidden.len() as u64, "cause");
        let _ = writeln!(out, "{hidden} below {} not shown (--level)\n", detail.level.keyword());
    }
}

fn of_cause(run: &BetweenRun, cause: &TestCause, screen: Screen, out: &mut String) {
    let Some((test, finding)) = run.first_of(cause) else { return };
    let head = format!("{}[{}]", word(cause.level), visible(&cause.rule));
    let message = visible(&cut(&finding.message, MESSAGE));
    let message = wrap(&message, room(screen, head.len() + 2)).join("\n  ");
    let _ = writeln!(out, "{}: {}", screen.style.level(cause.level, &head), screen.style.bold(&message));
    let mut remark = |name: &str, text: &str| {
        let lines = wrap(text, room(screen, LABEL + 5));
        let lines = lines.join(&format!("\n  {:LABEL$} ", ""));
        let _ = writeln!(out, "  {} {lines}", screen.style.frame(&format!("{name:LABEL$}")));
    };
    for (name, text) in compared(finding, screen) {
        remark(name, &text);
    }
    if let Some(at) = first_difference(finding) {
        remark("", &format!("they differ from character {at}"));
    }
    let pairs = listed(&cause.groups, PAIRS, |pair| visible(pair));
    let level = level_of(cause);
    remark("seen", &format!("{} of {pairs}; {level}", counted(cause.tests, "test")));
    if !finding.breaks.is_empty() {
        remark("breaks", &listed(&finding.breaks, PAIRS, |client| visible(client)));
    }
    for line in &cause.agents {
        remark("harms", &visible(line));
    }
    for line in in_between(run, cause) {
        remark("played", &visible(&line));
    }
    if let Some(page) = of_pair(&cause.rule, &cause.groups[0]) {
        remark("fix", &visible(&page.fix));
    }
    remark("example", &visible(&test.name));
    if let Some(reason) = &test.expected {
        remark("expected", &visible(reason));
    }
    for file in files(test, run.folder.as_deref()) {
        remark("", &visible(&file));
    }
    // It is not wrapped, so that it can be copied.
    let command = visible(&run.command_of(test));
    let _ = writeln!(out, "  {} {command}\n", screen.style.frame(&format!("{:LABEL$}", "again")));
}

/// Escaped, with the difference in another color.
fn compared(finding: &TestFinding, screen: Screen) -> Vec<(&'static str, String)> {
    let parts = parted(&finding.upstream, &finding.client);
    sides(finding)
        .into_iter()
        .map(|(name, text)| {
            let is_client = name == "client";
            let shown = visible(&window(finding, text, SIDE));
            let differing =
                parts.as_ref().map(|[upstream, client]| if is_client { client[1] } else { upstream[1] });
            let differing = differing.map(visible).filter(|part| !part.is_empty() && !part.contains(' '));
            let painted = differing.and_then(|part| {
                let (before, behind) = shown.split_once(&*part)?;
                let style = screen.style;
                let part = if is_client { style.removed(&part) } else { style.added(&part) };
                Some(format!("{before}{part}{behind}"))
            });
            (name, painted.unwrap_or(shown))
        })
        .collect()
}

fn measures(run: &BetweenRun, screen: Screen, out: &mut String) {
    let measured = run.tests.iter().filter(|test| !test.about.measures.is_empty());
    for test in measured {
        let text = test.about.measures.join(" · ");
        let _ = writeln!(out, "{} {}", sign(test, screen), visible(&test.name));
        let _ = writeln!(out, "    {}\n", wrap(&visible(&text), room(screen, 6)).join("\n    "));
    }
}

fn unjudged(run: &BetweenRun, screen: Screen, out: &mut String) {
    let unjudged = run.tests.iter().filter(|test| test.verdict == Verdict::HarnessError);
    let reasons = grouped(unjudged.map(|test| (&test.reason, &test.name)));
    for (reason, tests) in reasons.iter().take(LISTED) {
        let text = format!("{}, first {}", counted(tests.len() as u64, "test"), visible(tests[0]));
        let reason = shortened(reason, room(screen, 16) * 2);
        let _ = writeln!(out, "{}: {reason} ({text})", screen.style.level(Level::Must, "not judged"));
    }
    if reasons.len() > LISTED {
        let _ = writeln!(out, "and {} more reasons", reasons.len() - LISTED);
    }
}

fn limits(run: &BetweenRun, screen: Screen, out: &mut String) {
    let limits = run.limits();
    if limits.is_empty() {
        return;
    }
    let text = listed(&limits, LISTED, |(rule, reason, tests)| {
        let reason = visible(&cut(reason.trim_end_matches('.'), 160));
        format!("{} ({reason}; {})", visible(rule), counted(*tests, "test"))
    });
    let _ = writeln!(
        out,
        "{}",
        wrap(&format!("not judged, as these APIs cannot carry it: {text}"), room(screen, 2)).join("\n  ")
    );
}

fn unaccounted(run: &BetweenRun, out: &mut String) {
    if run.unaccounted.is_empty() {
        return;
    }
    let all: u64 = run.unaccounted.iter().map(|request| request.times).sum();
    let _ = writeln!(out, "{} upstream that no test accounts for", counted(all, "request"));
    for request in run.unaccounted.iter().take(LISTED) {
        let (name, times) = (visible(&cut(&request.request, 120)), counted(request.times, "time"));
        let line = format!("  {name}  {times}  {}", shortened(&request.body, 100));
        let _ = writeln!(out, "{}", line.trim_end());
    }
    if run.unaccounted.len() > LISTED {
        let _ = writeln!(out, "  and {} more", run.unaccounted.len() - LISTED);
    }
}

fn last_line(run: &BetweenRun, screen: Screen, out: &mut String) {
    let mut parts = vec![counts(&run.tests), visible(&run.gateway)];
    parts.extend((!run.causes.is_empty()).then(|| cause_counts(&run.causes)));
    parts.extend(
        (!run.stale.is_empty())
            .then(|| format!("{} over", counted(run.stale.len() as u64, "expected failure"))),
    );
    parts.extend(terms(run.fail_on, &run.levels).into_iter().map(|(name, text)| match name {
        "fails on" => format!("{name} {text}"),
        _ => format!("{name}: {text}"),
    }));
    parts.push(format!("{}.{} s", run.ms / 1000, run.ms % 1000 / 100));
    let outcome = screen.style.outcome(run.outcome, run.outcome.name());
    let _ = writeln!(out, "{outcome}: {}", parts.join(" · "));
}

//! What was asked, what came, and what is wrong with it.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use catalogue::Level;

use super::chart::{self, Mark};
use super::finding::{finding, id, piece};
use super::page::Html;
use super::{counted, duration, look, number, section as part};
use results::{CaptureReport, CaseReport, Finding, Run, Timeline, Verdict};

/// So many recordings are shown with all there is, and so many more by their names.
const RECORDINGS: usize = 200;
const NAMES: usize = 500;
/// So many findings of a recording are told in full, and so many of a run.
const FINDINGS: usize = 30;
const ALL_FINDINGS: usize = 1000;
/// So many of a rule are told before others of less binding rules.
const OF_A_RULE: u64 = 3;
/// So many exchanges of a recording are drawn.
const CHARTS: usize = 12;
/// So many of what failed are there to see at once.
const OPEN: usize = 3;

/// What of a run is shown in full: there can be far too much of it.
#[derive(Debug)]
pub(super) struct Shown {
    /// The findings of each recording that are told, in their order.
    findings: Vec<Vec<usize>>,
}

impl Shown {
    /// The most binding findings of each recording.
    pub(super) fn of(run: &Run) -> Self {
        let mut findings = vec![Vec::new(); run.captures.len()];
        let mut left = ALL_FINDINGS;
        for at in order(run).into_iter().take(if run.live.is_some() { usize::MAX } else { RECORDINGS }) {
            let (Some(capture), Some(told)) = (run.captures.get(at), findings.get_mut(at)) else { continue };
            let mut times: BTreeMap<&str, u64> = BTreeMap::new();
            let mut all: Vec<(bool, Reverse<Level>, usize)> = Vec::new();
            for (place, finding) in capture.findings.iter().enumerate() {
                let times = times.entry(&finding.rule).or_default();
                *times += 1;
                all.push((*times > OF_A_RULE, Reverse(finding.severity()), place));
            }
            // One rule that is broken often does not hide the others.
            all.sort_unstable();
            let mut all: Vec<usize> = all.into_iter().map(|(.., place)| place).collect();
            all.truncate(FINDINGS.min(left));
            all.sort_unstable();
            left -= all.len();
            *told = all;
        }
        Self { findings }
    }

    /// Where a finding is told, if it is.
    pub(super) fn link(&self, [capture, at]: [usize; 2]) -> Option<String> {
        let told = self.findings.get(capture)?;
        told.contains(&at).then(|| id(capture, at))
    }

    fn get(&self, capture: usize) -> &[usize] {
        self.findings.get(capture).map(Vec::as_slice).unwrap_or_default()
    }
}

/// The recordings, as they are shown: those of an endpoint as they were made, others the worst first.
fn order(run: &Run) -> Vec<usize> {
    if run.live.is_some() { (0..run.captures.len()).collect() } else { run.worst_first() }
}

/// What was asked, or recorded.
pub(super) fn section(run: &Run, html: &mut Html) {
    let shown = Shown::of(run);
    if let Some(live) = &run.live {
        part("scenarios", "Scenarios", html, |html| {
            hint(html);
            let mut open = OPEN;
            for (at, of) in live.cases.iter().enumerate() {
                case(run, &shown, (at, of), &mut open, html);
            }
        });
    } else {
        part("recordings", "Recordings", html, |html| {
            hint(html);
            recordings(run, &shown, html);
        });
    }
}

fn hint(html: &mut Html) {
    html.tag("p").class("hint").text(
        "Each row of a picture is something that was opened, from its first event to its last. \
         Signs above it are findings: ◆ errors, ▲ warnings, ● notes; each leads to what is said of it.",
    );
}

fn recordings(run: &Run, shown: &Shown, html: &mut Html) {
    let order = order(run);
    let mut open = OPEN;
    for at in order.iter().copied().take(RECORDINGS) {
        let Some(capture) = run.captures.get(at) else { continue };
        let (class, sign, word) = state(capture);
        let is_open = class == "bad" && open > 0 || run.captures.len() == 1;
        open = open.saturating_sub(usize::from(is_open));
        let details = html.tag("details").class(&format!("case {class}")).set_if(is_open, "open");
        details.inside(|html| {
            html.tag("summary").inside(|html| {
                mark(class, sign, word, html);
                html.tag("span").class("name").text(&capture.path());
                html.tag("span").class("counts").text(&faults(capture));
            });
            html.tag("div").class("inside").inside(|html| told(capture, at, shown, html));
        });
    }
    let rest = order.get(RECORDINGS..).unwrap_or_default();
    if rest.is_empty() {
        return;
    }
    html.tag("details").class("case").inside(|html| {
        html.tag("summary").text(&format!("{} more, by name", number(rest.len() as u64)));
        html.tag("ul").class("others").inside(|html| {
            for capture in rest.iter().take(NAMES).filter_map(|at| run.captures.get(*at)) {
                html.tag("li").text(&format!("{}: {}", capture.path(), faults(capture)));
            }
            if rest.len() > NAMES {
                let more = number((rest.len() - NAMES) as u64);
                html.tag("li").text(&format!("and {more} more"));
            }
        });
    });
}

fn state(capture: &CaptureReport) -> (&'static str, &'static str, &'static str) {
    let of = |verdict: Verdict| (look(verdict).0, verdict.sign(), look(verdict).1);
    if capture.has_failed() {
        of(Verdict::Fail)
    } else if capture.error.is_some() {
        ("unknown", "?", "not read")
    } else {
        of(Verdict::Pass)
    }
}

/// A sign, and what it says to those who do not see it.
pub(super) fn mark(class: &str, sign: &str, word: &str, html: &mut Html) {
    html.tag("span").class(&format!("mark {class}")).set("title", word).inside(|html| {
        html.tag("span").set("aria-hidden", true).text(sign);
        html.tag("span").class("unseen").text(word);
    });
}

/// How much is wrong with a recording.
fn faults(capture: &CaptureReport) -> String {
    let told: Vec<String> = capture.faults().told().map(|(count, word)| counted(count, word)).collect();
    match (told.is_empty(), &capture.error) {
        (true, Some(_)) => "could not be read".to_owned(),
        (true, None) => "nothing found".to_owned(),
        (false, _) => told.join(", "),
    }
}

/// Where a scenario stands in the page.
pub(super) fn case_id(at: usize) -> String {
    format!("case-{at}")
}

fn case(run: &Run, shown: &Shown, (at, case): (usize, &CaseReport), open: &mut usize, html: &mut Html) {
    let tally = case.tally();
    let verdict = tally.worst();
    let (class, word) = look(verdict);
    let is_open = class == "bad" && *open > 0;
    *open = open.saturating_sub(usize::from(is_open));
    let details = html.tag("details").class(&format!("case {class}")).set_if(is_open, "open");
    details.inside(|html| {
        html.tag("summary").inside(|html| {
            mark(class, verdict.sign(), word, html);
            html.tag("span").class("name").text(&case.name);
            html.tag("span").class("title").text(&case.title);
            html.tag("span").class("counts").text(&tally.to_string());
        });
        html.tag("div").class("inside").set("id", case_id(at)).inside(|html| {
            trials(case, html);
            let several = case.attempts.len() > 1;
            for (number, at) in case.attempts.iter().copied().enumerate() {
                let Some(capture) = run.captures.get(at) else { continue };
                html.tag("h3").inside(|html| {
                    if several {
                        html.text(&format!("Attempt {}: ", number + 1));
                    }
                    html.tag("code").text(&capture.path());
                });
                told(capture, at, shown, html);
            }
        });
    });
}

fn trials(case: &CaseReport, html: &mut Html) {
    html.tag("ul").class("trials").inside(|html| {
        for told in &case.trials {
            let judged = &told.judged;
            let (class, word) = look(judged.verdict);
            html.tag("li").class(class).inside(|html| {
                mark(class, judged.verdict.sign(), word, html);
                html.tag("span").text(case.about(told));
                if judged.verdict != Verdict::Pass && !judged.reason.is_empty() {
                    html.tag("span").class("reason").text(&judged.reason);
                }
            });
        }
    });
}

/// All that is told of a recording.
fn told(capture: &CaptureReport, at: usize, shown: &Shown, html: &mut Html) {
    if let Some(error) = &capture.error {
        html.tag("p").class("error").text(&format!("It could not be read, or not to its end: {error}"));
    }
    let told: Vec<(usize, &Finding)> =
        shown.get(at).iter().filter_map(|of| Some((*of, capture.findings.get(*of)?))).collect();
    let numbered: Vec<(usize, usize, &Finding)> =
        told.iter().enumerate().map(|(number, (of, finding))| (number + 1, *of, *finding)).collect();
    // An exchange is known by its name; a recording of one has none.
    let of_timeline = |timeline: &Timeline| {
        let of = |(_, _, finding): &&(usize, usize, &Finding)| finding.exchange == timeline.exchange;
        numbered.iter().filter(of).copied().collect::<Vec<_>>()
    };
    let is_worth =
        |timeline: &&Timeline| capture.timelines.len() <= CHARTS || !of_timeline(timeline).is_empty();
    for (number, timeline) in capture.timelines.iter().filter(is_worth).take(CHARTS).enumerate() {
        let own = of_timeline(timeline);
        exchange(timeline, &format!("t{at}-{number}"), at, &own, html);
    }
    let drawn = capture.timelines.iter().filter(is_worth).take(CHARTS).count() as u64;
    let undrawn = capture.timelines.len() as u64 + capture.undrawn - drawn;
    if undrawn > 0 {
        html.tag("p").class("hint").text(&format!("{} more are not drawn", counted(undrawn, "exchange")));
    }
    if !numbered.is_empty() {
        // The worst is there to see at once.
        let worst = numbered.iter().max_by_key(|(number, _, found)| (found.level, Reverse(*number)));
        let worst = worst.map(|(number, ..)| *number);
        html.tag("div").class("findings").inside(|html| {
            for (number, of, found) in &numbered {
                let timeline = capture.timelines.iter().find(|timeline| timeline.exchange == found.exchange);
                let is_open = worst == Some(*number);
                finding(found, (*number, &id(at, *of), is_open), timeline, html);
            }
        });
    }
    rest(capture, shown.get(at), html);
}

/// What is not told in full, by rule.
fn rest(capture: &CaptureReport, told: &[usize], html: &mut Html) {
    let mut rest: BTreeMap<&str, u64> = BTreeMap::new();
    for (at, finding) in capture.findings.iter().enumerate() {
        if told.binary_search(&at).is_err() {
            *rest.entry(&finding.rule).or_default() += finding.count;
        }
    }
    if rest.is_empty() && capture.omitted == 0 {
        return;
    }
    html.tag("div").class("rest").inside(|html| {
        html.text("And besides: ");
        let mut told: Vec<String> =
            rest.iter().map(|(rule, count)| format!("{rule} × {}", number(*count))).collect();
        if capture.omitted > 0 {
            told.push(format!("{} that are not listed", counted(capture.omitted, "fault")));
        }
        html.text(&told.join(", "));
    });
}

/// An exchange: what was asked, how it went, and what came when it is no stream.
fn exchange(
    timeline: &Timeline,
    id: &str,
    capture: usize,
    findings: &[(usize, usize, &Finding)],
    html: &mut Html,
) {
    html.tag("p").class("exchange").inside(|html| {
        if let Some(asked) = &timeline.request {
            html.tag("code").text(format!("{} {}", asked.method, asked.url).trim());
        } else if let Some(name) = &timeline.exchange {
            html.tag("code").text(name);
        }
        if let Some(status) = timeline.status {
            html.tag("span").class("status").text(&status.to_string());
        }
        html.tag("span").class("facts").text(&facts(timeline));
    });
    if let Some(reason) = &timeline.lost {
        html.tag("p").class("error").text(&format!("The connection was lost: {reason}"));
    }
    let marks: Vec<Mark<'_>> = findings
        .iter()
        .filter(|(_, _, finding)| finding.place.event > 0)
        .map(|(number, of, finding)| Mark {
            number: *number,
            id: super::finding::id(capture, *of),
            level: finding.severity(),
            event: finding.place.event,
            time_ms: finding.place.time_ms,
            rule: &finding.rule,
        })
        .collect();
    chart::chart(timeline, id, &marks, html);
    let asked = timeline.request.as_ref().and_then(|asked| asked.body.as_ref());
    for (name, body) in [("Request", asked), ("Answer", timeline.body.as_ref())] {
        if let Some(body) = body {
            html.tag("details").class("more").inside(|html| {
                html.tag("summary").text(name);
                piece(body, html);
            });
        }
    }
}

fn facts(timeline: &Timeline) -> String {
    if timeline.events == 0 {
        return String::new();
    }
    let mut facts = vec![counted(timeline.events, "event")];
    if let Some(ms) = timeline.duration_ms {
        facts.push(format!("in {}", duration(ms)));
    }
    if let Some(first) = timeline.pace.times_ms.first() {
        facts.push(format!("· first after {}", duration(*first)));
    }
    if let Some(silence) = timeline.silence {
        let after = number(silence.after);
        facts.push(format!("· longest silence {}, after event {after}", duration(silence.ms)));
    }
    facts.join(" ")
}

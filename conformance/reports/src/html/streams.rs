//! The scenarios or recordings of a run, with requests, streams and findings.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::causes::reproduce;
use super::chart::{self, Mark};
use super::events::events;
use super::finding::{Shown, piece};
use super::page::Html;
use super::plan::{Group, Plan};
use super::{counted, duration, look, number, section};
use crate::terms::dialects_of;
use catalogue::Level;
use results::{CaptureReport, CaseReport, FailOn, Finding, Run, Timeline, Verdict};

/// Maximum number of recordings in full, and of those that are listed by name.
const RECORDINGS: usize = 200;
const NAMES: usize = 500;
/// Maximum number of reasons for the end of a stream.
const STOPS: usize = 8;
/// Maximum number of charts of a recording.
const CHARTS: usize = 12;

pub(super) fn streams(run: &Run, plan: &Plan, html: &mut Html) {
    if let Some(live) = &run.live {
        section("scenarios", "Scenarios", html, |html| {
            let states: Vec<CaptureState> =
                live.cases.iter().map(|case| CaptureState::of_case(case, run)).collect();
            filter(&states, html);
            let of = |wanted: CaptureState| {
                (0..live.cases.len()).filter(move |at| states.get(*at) == Some(&wanted))
            };
            for state in [
                CaptureState::Failed,
                CaptureState::Unknown,
                CaptureState::Warned,
                CaptureState::NotExercised,
            ] {
                for at in of.clone()(state) {
                    case(run, plan, at, state, html);
                }
            }
            let mut passed: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
            for at in of(CaptureState::Passed) {
                let Some(case) = live.cases.get(at) else { continue };
                passed.entry(catalogue::group(&case.name)).or_default().push(at);
            }
            for (group, cases) in passed {
                html.tag("details").class("passed").inside(|html| {
                    html.tag("summary").inside(|html| {
                        mark("good", Verdict::Pass.sign(), "passed", html);
                        html.tag("span").class("name").text(group);
                        let count = counted(cases.len() as u64, "scenario");
                        html.tag("span").class("counts").text(&format!("{count} passed"));
                    });
                    for at in cases {
                        case(run, plan, at, CaptureState::Passed, html);
                    }
                });
            }
        });
    } else {
        section("recordings", "Recordings", html, |html| recordings(run, plan, html));
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum CaptureState {
    Failed,
    Unknown,
    Warned,
    NotExercised,
    Passed,
}

impl CaptureState {
    const ALL: [Self; 5] = [Self::Failed, Self::Unknown, Self::Warned, Self::NotExercised, Self::Passed];

    fn of_case(case: &CaseReport, run: &Run) -> Self {
        match case.tally().worst() {
            Verdict::Fail => Self::Failed,
            Verdict::HarnessError => Self::Unknown,
            Verdict::NotExercised => Self::NotExercised,
            Verdict::Pass if case.recordings(run).any(has_warnings) => Self::Warned,
            Verdict::Pass => Self::Passed,
        }
    }

    fn of_recording(capture: &CaptureReport, fail_on: FailOn) -> Self {
        if capture.has_failed(fail_on) {
            Self::Failed
        } else if capture.error.is_some() {
            Self::Unknown
        } else if has_warnings(capture) {
            Self::Warned
        } else {
            Self::Passed
        }
    }

    const fn look(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Failed => ("bad", "✗", "failed"),
            Self::Unknown => ("unknown", "?", "no verdict"),
            Self::Warned => ("warned", "!", "warnings"),
            Self::NotExercised => ("idle", "–", "not exercised"),
            Self::Passed => ("good", "✓", "passed"),
        }
    }
}

fn has_warnings(capture: &CaptureReport) -> bool {
    capture.findings.iter().any(|finding| finding.level >= Level::Should)
}

/// Radio buttons, which work by CSS.
fn filter(states: &[CaptureState], html: &mut Html) {
    let present: Vec<CaptureState> =
        CaptureState::ALL.into_iter().filter(|state| states.contains(state)).collect();
    if present.len() < 2 {
        return;
    }
    html.tag("fieldset").class("filter").inside(|html| {
        html.tag("legend").class("unseen").text("Show");
        let mut button = |id: &str, class: &str, word: &str, count: usize| {
            let input =
                html.tag("input").set("type", "radio").set("name", "show").set("id", format!("show-{id}"));
            input.set_if(id == "all", "checked").empty();
            html.tag("label").set("for", format!("show-{id}")).class(class).inside(|html| {
                html.text(word);
                html.text(" ");
                html.tag("b").text(&number(count as u64));
            });
        };
        button("all", "all", "all", states.len());
        for state in present {
            let (class, _, word) = state.look();
            button(class, class, word, states.iter().filter(|of| **of == state).count());
        }
    });
}

fn recordings(run: &Run, plan: &Plan, html: &mut Html) {
    let states: Vec<CaptureState> =
        run.captures.iter().map(|capture| CaptureState::of_recording(capture, run.fail_on)).collect();
    let order = run.worst_first();
    filter(
        &order.iter().take(RECORDINGS).filter_map(|at| states.get(*at).copied()).collect::<Vec<_>>(),
        html,
    );
    for at in order.iter().copied().take(RECORDINGS) {
        let (Some(capture), Some(state)) = (run.captures.get(at), states.get(at)) else { continue };
        let (class, sign, word) = state.look();
        let details = html.tag("details").class(&format!("case {class}"));
        let details = details.set("data-find", format!("{} {}", run.name(capture), rules_of([capture])));
        details.set_if(run.captures.len() == 1, "open").inside(|html| {
            html.tag("summary").inside(|html| {
                mark(class, sign, word, html);
                html.tag("span").class("name").text(&run.name(capture));
                html.tag("span").class("counts").text(&faults(capture));
            });
            let id = plan.captures.get(at).map(String::as_str).unwrap_or_default();
            html.tag("div").class("inside").set("id", id).inside(|html| recording(run, plan, at, html));
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
                html.tag("li").text(&format!("{}: {}", run.name(capture), faults(capture)));
            }
            if rest.len() > NAMES {
                let more = number((rest.len() - NAMES) as u64);
                html.tag("li").text(&format!("and {more} more"));
            }
        });
    });
}

fn rules_of<'r>(captures: impl IntoIterator<Item = &'r CaptureReport>) -> String {
    let rules = captures.into_iter().flat_map(|capture| &capture.findings).map(|finding| &*finding.rule);
    rules.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(" ")
}

/// The word is for screen readers.
pub(crate) fn mark(class: &str, sign: &str, word: &str, html: &mut Html) {
    html.tag("span").class(&format!("mark {class}")).set("title", word).inside(|html| {
        html.tag("span").set("aria-hidden", true).text(sign);
        html.tag("span").class("unseen").text(word);
    });
}

fn faults(capture: &CaptureReport) -> String {
    let told: Vec<String> = capture.faults().non_zero().map(|(count, word)| counted(count, word)).collect();
    match (told.is_empty(), &capture.error) {
        (true, Some(_)) => "could not be read".to_owned(),
        (true, None) => "no findings".to_owned(),
        (false, _) => told.join(", "),
    }
}

fn case(run: &Run, plan: &Plan, at: usize, state: CaptureState, html: &mut Html) {
    let Some(case) = run.live.as_ref().and_then(|live| live.cases.get(at)) else { return };
    let id = plan.cases.get(at).map(String::as_str).unwrap_or_default();
    let (class, sign, word) = state.look();
    let details = html.tag("details").class(&format!("case {class}"));
    let find = format!("{} {} {}", case.name, case.title, rules_of(case.recordings(run)));
    details.set("data-find", find).inside(|html| {
        html.tag("summary").inside(|html| {
            mark(class, sign, word, html);
            html.tag("span").class("name").text(&case.name);
            html.tag("span").class("title").text(&case.title);
            html.tag("span").class("counts").text(&case.tally().to_string());
        });
        html.tag("div").class("inside").set("id", id).inside(|html| {
            html.tag("p").class("see").inside(|html| {
                html.tag("a")
                    .class("own")
                    .link(id)
                    .set("aria-label", format!("Link to {}", case.name))
                    .text("¶");
            });
            trials(case, html);
            let several = case.attempts.len() > 1;
            for (number, at, alike) in attempts(run, plan, case) {
                let Some(capture) = run.captures.get(at) else { continue };
                html.tag("h3").inside(|html| {
                    match alike.len() + 1 {
                        all if several && all == case.attempts.len() => {
                            html.text(&format!("{all} attempts, all alike: "));
                        }
                        1 if several => html.text(&format!("Attempt {}: ", number + 1)),
                        _ if several => {
                            let all: Vec<String> = std::iter::once(&number)
                                .chain(&alike)
                                .map(|at| (at + 1).to_string())
                                .collect();
                            html.text(&format!("Attempts {}, alike: ", all.join(", ")));
                        }
                        _ => {}
                    }
                    html.tag("code").text(&run.name(capture));
                });
                recording(run, plan, at, html);
            }
        });
    });
}

/// Only those that differ: the number of each, its recording, and the numbers of the later ones that are like it, with the
/// same request, as many events and findings of the same causes.
fn attempts(run: &Run, plan: &Plan, case: &CaseReport) -> Vec<(usize, usize, Vec<usize>)> {
    let look = |at: usize| {
        let capture = run.captures.get(at)?;
        let causes: Vec<Option<usize>> = plan.groups(at).iter().map(|group| group.cause).collect();
        let types = |timeline: &Timeline| (timeline.status, timeline.events, timeline.lost.clone());
        let timelines: Vec<_> = capture.timelines.iter().map(types).collect();
        Some((&capture.curl, &capture.error, capture.events, capture.bodies, causes, timelines))
    };
    let mut all: Vec<(usize, usize, Vec<usize>)> = Vec::new();
    for (number, at) in case.attempts.iter().copied().enumerate() {
        match all.iter_mut().find(|(_, first, _)| look(*first).is_some() && look(*first) == look(at)) {
            Some((.., alike)) => alike.push(number),
            None => all.push((number, at, Vec::new())),
        }
    }
    all
}

/// Tests of a scenario that depend on the response are only counted.
fn trials(case: &CaseReport, html: &mut Html) {
    let answer = case.trials.iter().find(|told| case.about(told) == "answer").map(|told| told.judged.verdict);
    let is_waiting = |told: &&results::TrialResult| {
        answer.is_some_and(|answer| answer != Verdict::Pass)
            && told.judged.verdict == Verdict::NotExercised
            && case.about(told) != "answer"
    };
    html.tag("ul").class("trials").inside(|html| {
        for told in case.trials.iter().filter(|told| !is_waiting(told)) {
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
        let waiting = case.trials.iter().filter(is_waiting).count() as u64;
        if waiting > 0 {
            let text = format!("{} not exercised without this response", counted(waiting, "more test"));
            html.tag("li").class("idle").text(&text);
        }
    });
}

fn recording(run: &Run, plan: &Plan, at: usize, html: &mut Html) {
    let Some(capture) = run.captures.get(at) else { return };
    if let Some(error) = &capture.error {
        html.tag("p").class("error").text(&format!("It could not be read completely: {error}"));
    }
    if let Some(dialects) = dialects_of(capture) {
        html.tag("p").class("hint").text(&format!("recognised: {dialects}"));
    }
    let groups: Vec<(usize, &Group, &Finding)> = (plan.groups(at).iter().enumerate())
        .filter_map(|(at, group)| Some((at + 1, group, capture.findings.get(*group.findings.first()?)?)))
        .collect();
    // A recording with one exchange needs no name for it.
    let has_findings =
        |timeline: &Timeline| groups.iter().any(|(_, _, finding)| finding.exchange == timeline.exchange);
    let is_worth = |timeline: &&Timeline| capture.timelines.len() <= CHARTS || has_findings(timeline);
    let drawn: Vec<&Timeline> = capture.timelines.iter().filter(is_worth).take(CHARTS).collect();
    for (number, timeline) in drawn.iter().enumerate() {
        exchange(capture, timeline, &format!("t{at}-{number}"), &groups, html);
    }
    let undrawn = capture.timelines.len() as u64 + capture.undrawn - drawn.len() as u64;
    if undrawn > 0 {
        html.tag("p").class("hint").text(&format!("{} not drawn", counted(undrawn, "more exchange")));
    }
    if !groups.is_empty() {
        // The worst one is expanded.
        let worst = groups.iter().max_by_key(|(number, _, found)| (found.level, Reverse(*number)));
        let worst = worst.map(|(number, ..)| *number);
        html.tag("div").class("findings").inside(|html| {
            for (number, group, finding) in &groups {
                let timeline =
                    capture.timelines.iter().find(|timeline| timeline.exchange == finding.exchange);
                let others = group.findings.iter().skip(1).filter_map(|at| capture.findings.get(*at));
                let others = others.collect();
                let is_open = worst == Some(*number);
                Shown {
                    number: *number,
                    id: &group.id,
                    finding,
                    dialect: run.dialect_of(finding),
                    others,
                    is_open,
                }
                .write(timeline, html);
            }
        });
    }
    rest(capture, plan.groups(at), html);
    if let Some(curl) = &capture.curl {
        reproduce(curl, html);
    }
}

fn rest(capture: &CaptureReport, groups: &[Group], html: &mut Html) {
    let shown: BTreeSet<usize> = groups.iter().flat_map(|group| group.findings.iter().copied()).collect();
    let mut rest: BTreeMap<&str, u64> = BTreeMap::new();
    for (at, finding) in capture.findings.iter().enumerate() {
        if !shown.contains(&at) {
            *rest.entry(&finding.rule).or_default() += finding.count;
        }
    }
    if rest.is_empty() && capture.omitted == 0 {
        return;
    }
    html.tag("p").class("rest").inside(|html| {
        html.text("Not shown here: ");
        let mut more: Vec<String> =
            rest.iter().map(|(rule, count)| format!("{rule} × {}", number(*count))).collect();
        if capture.omitted > 0 {
            more.push(counted(capture.omitted, "occurrence"));
        }
        html.text(&more.join(", "));
    });
}

/// The request, the timeline beside the events, and a non-streaming response.
fn exchange(
    capture: &CaptureReport,
    timeline: &Timeline,
    id: &str,
    groups: &[(usize, &Group, &Finding)],
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
    let (mut marks, mut faulty) = (Vec::new(), BTreeMap::new());
    for (number, group, _) in groups.iter().filter(|(.., first)| first.exchange == timeline.exchange) {
        for finding in group.findings.iter().filter_map(|at| capture.findings.get(*at)) {
            let place = &finding.place;
            if place.event == 0 {
                continue;
            }
            marks.push(Mark {
                number: *number,
                id: &group.id,
                level: finding.level,
                event: place.event,
                time_ms: place.time_ms,
                rule: &finding.rule,
            });
            let level = super::super::human::word(finding.level);
            faulty.entry(place.event).or_insert((*number, group.id.as_str(), level));
        }
    }
    html.tag("div").class("stream").inside(|html| {
        chart::chart(timeline, id, &marks, html);
        events(timeline, &faulty, html);
    });
    let asked = timeline.request.as_ref().and_then(|asked| asked.body.as_ref());
    for (name, body) in [("Request", asked), ("Response", timeline.body.as_ref())] {
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
    if let Some([input, output]) = timeline.bars.iter().rev().find_map(|bar| bar.tokens) {
        facts.push(format!("· {} in, {} out", counted(input, "token"), number(output)));
    }
    let stops = timeline.bars.iter().filter_map(|bar| bar.stop.as_deref());
    let stops: BTreeSet<&str> = stops.take(STOPS).collect();
    if !stops.is_empty() {
        facts.push(format!("· ended with {}", stops.into_iter().collect::<Vec<_>>().join(", ")));
    }
    facts.join(" ")
}

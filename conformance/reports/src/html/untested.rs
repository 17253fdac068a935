//! The untested requirements, grouped by reason, each group with advice.

use std::collections::BTreeSet;

use results::text::listed;
use results::{LiveReport, Run, Undecided, UndecidedKind, Verdict};

use super::counted;
use super::head::fact;
use super::page::Html;

/// Maximum number of scenarios that are named for a reason.
const NAMES: usize = 12;

/// A cause for tests that were not exercised.
struct Group {
    title: &'static str,
    explanation: &'static str,
    holds: fn(&Undecided) -> bool,
    /// The flag that makes these tests run, or leaves them out.
    flag: fn(&Run, &LiveReport) -> String,
}

const GROUPS: &[Group] = &[
    Group {
        title: "Not testable",
        explanation: "The endpoint did not let itself be tested, so nothing is known about it. The reasons say what to correct.",
        holds: |undecided| undecided.kind.is_obstacle(),
        flag: |_, live| format!("--target {}", live.target),
    },
    Group {
        title: "No verdict",
        explanation: "The suite could not do its work, so nothing is known about the endpoint. The reasons say what to correct.",
        holds: |undecided| undecided.verdict == Verdict::HarnessError,
        flag: |_, _| String::new(),
    },
    Group {
        title: "Not supported",
        explanation: "The endpoint has no such route. Leave out what it does not support.",
        holds: |undecided| undecided.kind == UndecidedKind::Unsupported,
        flag: |_, live| {
            let lacks: BTreeSet<&str> = live.unsupported();
            format!("--without {}", lacks.into_iter().collect::<Vec<_>>().join(","))
        },
    },
    Group {
        title: "Not offered",
        explanation: "The settings of the run do not name these features as supported. Name those that the endpoint has.",
        holds: |undecided| undecided.kind == UndecidedKind::NotOffered,
        flag: |run, live| {
            let lacking = features(run, live).into_iter().collect::<Vec<_>>().join(",");
            match &live.options.features {
                Some(known) if known.is_empty() => format!("--features {lacking}"),
                Some(known) => format!("--features {},{lacking}", known.join(",")),
                None => format!("run without --without {lacking}"),
            }
        },
    },
    Group {
        title: "Needs --given",
        explanation: "These scenarios need something that only you can name, such as a vector store, or a model that fails.",
        holds: |undecided| undecided.kind == UndecidedKind::NotGiven,
        flag: |run, _| {
            let of = run.undecided.iter().filter(|undecided| undecided.kind == UndecidedKind::NotGiven);
            // Runs of older versions have no details.
            let flags = of.map(|undecided| &*undecided.detail).filter(|flag| !flag.is_empty());
            flags.collect::<BTreeSet<&str>>().into_iter().collect::<Vec<_>>().join(" ")
        },
    },
    Group {
        title: "Not elicited",
        explanation: "The endpoint responded, but without what the scenario is about. A model decides by itself; try again, or with another model.",
        holds: |undecided| undecided.kind == UndecidedKind::NotElicited,
        flag: |_, live| format!("--attempts {}", (live.options.attempts * 3).max(10)),
    },
    Group {
        title: "For other reasons",
        explanation: "What a scenario builds on failed or did not come, the dialect has no such thing, or the run ended before.",
        holds: |_| true,
        flag: |_, _| String::new(),
    },
];

fn features(run: &Run, live: &LiveReport) -> BTreeSet<&'static str> {
    let of = run.undecided.iter().filter(|undecided| undecided.kind == UndecidedKind::NotOffered);
    let scenarios = of.flat_map(|undecided| &undecided.cases);
    let scenarios = scenarios.filter_map(|case| catalogue::scenario(case.split('.').next()?));
    let is_known = |name: &str| match &live.options.features {
        Some(known) => known.iter().any(|known| known == name),
        None => !live.options.lacks.iter().any(|lacks| lacks == name),
    };
    scenarios.flat_map(|scenario| scenario.features).copied().filter(|name| !is_known(name)).collect()
}

pub(super) fn untested(run: &Run, live: &LiveReport, html: &mut Html) {
    if run.undecided.is_empty() {
        return;
    }
    html.tag("h3").text("Not tested, and why");
    html.tag("ul").class("untested").inside(|html| {
        let mut rest: Vec<&Undecided> = run.undecided.iter().collect();
        for group in GROUPS {
            let (of, others) = rest.into_iter().partition::<Vec<_>, _>(|undecided| (group.holds)(undecided));
            rest = others;
            if !of.is_empty() {
                html.tag("li").inside(|html| one(group, &of, run, live, html));
            }
        }
    });
}

fn one(group: &Group, of: &[&Undecided], run: &Run, live: &LiveReport, html: &mut Html) {
    let tests: u64 = of.iter().map(|undecided| undecided.trials).sum();
    let has_errors = of.iter().any(|undecided| undecided.verdict == Verdict::HarnessError);
    html.tag("p").class("why-not").inside(|html| {
        html.tag("b").class(if has_errors { "unknown" } else { "idle" }).text(group.title);
        html.tag("span").class("count").text(&counted(tests, "test"));
    });
    html.tag("p").class("hint").text(group.explanation);
    let flag = (group.flag)(run, live);
    if !flag.is_empty() {
        html.tag("p").class("flag").inside(|html| html.tag("code").text(&flag));
    }
    html.tag("details").class("more").set_if(has_errors, "open").inside(|html| {
        let scenarios: BTreeSet<&str> =
            of.iter().flat_map(|undecided| undecided.cases.iter().map(String::as_str)).collect();
        html.tag("summary").text(&counted(scenarios.len() as u64, "scenario"));
        html.tag("dl").class("reasons").inside(|html| {
            for undecided in of {
                fact(label(undecided), &listed(&undecided.cases, NAMES, Clone::clone), html);
            }
        });
    });
}

/// Without the part that its group already states.
fn label(undecided: &Undecided) -> &str {
    if undecided.detail.is_empty() { &undecided.reason } else { &undecided.detail }
}

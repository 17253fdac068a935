//! The matrix of profiles by group of scenarios.

use catalogue::Level;
use conformance::reports::{Detail, Form, Screen, Style, summary};
use conformance::results::{Demand, MatrixRow, ProfileReport, ProfileState, Reason, Run, Verdict};
use unicode_width::UnicodeWidthStr;

use crate::{rendered, runs};

/// The number and lengths of the real names.
const NAMES: [&str; 10] = [
    "background",
    "compaction",
    "core",
    "hosted-tools",
    "multimodal",
    "reasoning",
    "stateful",
    "structured-output",
    "tools",
    "websocket",
];

fn reason(demand: Demand, name: &str, verdict: Verdict, exchange: &str) -> Reason {
    let exchanges = if exchange.is_empty() { Vec::new() } else { vec![exchange.to_owned()] };
    Reason { exchanges, ..Reason::new(demand, name, verdict, "because") }
}

fn profile(name: &str, scenarios: &[&str], reasons: Vec<Reason>) -> ProfileReport {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    ProfileReport {
        rules: owned(&["part/before-open", "text/equals-part", "wire/json-object"]),
        scenarios: owned(scenarios),
        reasons,
        ..ProfileReport::new(name, 1, name, None)
    }
    .decided()
}

/// Returns a run in which each of ten profiles has another result.
fn run() -> Run {
    let mut live = runs::bad().live.expect("it is of an endpoint");
    let broken = "exchanges/text/hello.2.exchange";
    live.profiles = NAMES
        .into_iter()
        .zip(0..)
        .map(|(name, at)| match at {
            2 => profile(
                name,
                &["text/hello", "text/two", "text/long", "image/url"],
                vec![
                    reason(Demand::Scenario, "text/long", Verdict::Fail, ""),
                    reason(Demand::Scenario, "image/url", Verdict::HarnessError, ""),
                    reason(Demand::Rule, "part/before-open", Verdict::Fail, broken),
                ],
            ),
            5 => profile(
                name,
                &["reasoning/effort|reasoning/none", "text/two"],
                vec![
                    reason(Demand::Scenario, "reasoning/effort.json", Verdict::NotExercised, ""),
                    reason(Demand::Rule, "wire/json-object", Verdict::NotExercised, ""),
                ],
            ),
            8 => ProfileReport { state: ProfileState::NotApplicable, ..profile(name, &[], Vec::new()) },
            7 => profile(
                name,
                &["format/json"],
                vec![reason(Demand::Scenario, "format/json", Verdict::NotExercised, "")],
            ),
            9 => profile(name, &["ws/turns"], vec![reason(Demand::Run, "", Verdict::NotExercised, "")]),
            _ => profile(name, &["text/two", "state/store"], Vec::new()),
        })
        .collect();
    let captures = runs::bad().captures;
    runs::run(captures, Some(live))
}

fn cells(row: &MatrixRow) -> Vec<String> {
    row.cells.iter().map(|tally| tally.map(|tally| tally.to_string()).unwrap_or_default()).collect()
}

#[test]
fn a_demand_counts_where_its_scenario_is() {
    let matrix = run().matrix;
    assert!(matrix.profiles.iter().all(|profile| profile.name != "tools"), "it is about another dialect");
    let column = |name: &str| {
        let at = matrix.profiles.iter().position(|profile| profile.name == name).expect("it is there");
        let told = matrix.groups.iter().map(|row| (row.name.as_str(), cells(row)[at].clone()));
        let told = told.filter(|(_, cell)| !cell.is_empty()).map(|(row, cell)| format!("{row}: {cell}"));
        let rules = format!("rules: {}", matrix.profiles[at].rules);
        told.chain([rules]).collect::<Vec<_>>()
    };
    // A rule that is broken counts against the scenario whose exchange shows it, and among the rules.
    assert_eq!(
        column("core"),
        ["image: 1 harness error", "text: 1 passed, 2 failed", "rules: 2 passed, 1 failed"]
    );
    // Of alternatives, one is required. A twin counts as the same scenario. A rule that was not exercised has no
    // scenario.
    assert_eq!(
        column("reasoning"),
        ["reasoning: 1 not exercised", "text: 1 passed", "rules: 2 passed, 1 not exercised"]
    );
    assert_eq!(column("websocket"), ["ws: 1 passed", "rules: 3 passed"]);
}

/// Profiles that a small run did not exercise are omitted.
#[test]
fn profiles_that_nothing_was_sent_for_are_left_out_unless_they_were_asked_for() {
    let run = run();
    assert_eq!(run.matrix.unexercised, ["structured-output"]);
    let names = |run: &Run| run.matrix.profiles.iter().map(|of| of.name.clone()).collect::<Vec<_>>();
    assert!(!names(&run).contains(&"structured-output".to_owned()));
    let mut asked = run.live.clone().expect("it is of an endpoint");
    asked.options.profiles = NAMES.map(str::to_owned).to_vec();
    let asked = runs::run(run.captures.clone(), Some(asked));
    assert_eq!((names(&asked).len(), asked.matrix.unexercised.len()), (9, 0));
}

#[test]
fn ten_profiles_fit_on_every_screen() {
    let run = run();
    let detail = Detail { is_verbose: true, ..Level::Should.into() };
    for width in [40, 80, 200] {
        let told = summary(&run, detail, Screen { style: Style::Plain, width });
        let (_, rest) = told.split_once("by profile").expect("it is there");
        let (table, _) = rest.split_once("\ncauses").expect("causes follow");
        for row in table.lines().skip(1) {
            assert!(row.width() <= width, "{} of {width} columns: {row}", row.width());
        }
        for name in NAMES.into_iter().filter(|name| *name != "tools") {
            assert!(table.contains(name), "{name} is not told at {width}:\n{table}");
        }
        insta::assert_snapshot!(format!("matrix_{width}"), table);
    }
    let page = rendered(&run, Form::Markdown);
    assert!(page.contains("| `text` | 1 passed | 1 passed | 1 passed, 2 failed |"), "{page}");
}

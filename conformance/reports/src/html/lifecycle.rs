//! The exercised part of the lifecycle of a dialect, with a drawing of each type of container, and of its enumerations.

use std::cmp::Reverse;

use super::page::Html;
use super::{number, section, table};
use results::{Exercised, ExercisedLane, ExercisedPath, Run, Share};

const ROW: usize = 20;
/// Place of the steps; what leads on is on their left, and what leads back on their right.
const STEPS: usize = 130;
/// Place of their names.
const NAMES: usize = 190;
/// Maximum number of rows in a list of what was never exercised.
const NEVER: usize = 40;

pub(super) fn lifecycle(run: &Run, html: &mut Html) {
    if run.exercised.is_empty() {
        return;
    }
    section("lifecycle", "Exercised", html, |html| {
        for of in &run.exercised {
            dialect(of, run.exercised.len() > 1, html);
        }
    });
}

fn dialect(of: &Exercised, is_one_of_several: bool, html: &mut Html) {
    if is_one_of_several {
        html.tag("h3").text(&of.dialect);
    }
    let whose = if of.is_claimed { "the features of the endpoint reach" } else { "the dialect has" };
    html.tag("p").class("hint").text(&format!(
        "Of what {whose}, the streams exercised {} steps, {} transitions between two, {} pairs of transitions, {} \
         types of events, {} types of values, and {} enumeration values. A passed run says nothing about the rest.",
        of.states, of.transitions, of.pairs, of.events, of.types, of.values
    ));
    let caption = format!("What {} streams exercised", of.dialect);
    table("exercised", &caption, &["within", "steps", "transitions", "pairs"], html, |html| {
        for lane in &of.lanes {
            let share = |paths: &[ExercisedPath]| Share::of(paths.iter().map(|path| path.is_exercised));
            html.tag("tr").inside(|html| {
                html.tag("th").set("scope", "row").text(&lane.name);
                html.tag("td").text(&Share::of(lane.steps.iter().map(|step| step.is_exercised)).to_string());
                html.tag("td").text(&share(&lane.transitions).to_string());
                html.tag("td").text(&share(&lane.pairs).to_string());
            });
        }
    });
    html.tag("p").class("hint").text(
        "Each drawing shows the steps of a type in order: arcs on the left lead down, those on the right lead up, and \
         circles are repetitions. Grey parts were never exercised.",
    );
    for lane in &of.lanes {
        let transitions = Share::of(lane.transitions.iter().map(|path| path.is_exercised));
        html.tag("details").class("more").inside(|html| {
            html.tag("summary").text(&format!("{}: {transitions} transitions", lane.name));
            drawing(lane, html);
            never(lane, html);
        });
    }
    if !of.members.is_empty() {
        html.tag("details").class("more").inside(|html| {
            html.tag("summary").text(&format!("{} enumeration values", of.values));
            values(of, html);
        });
    }
}

fn values(of: &Exercised, html: &mut Html) {
    let caption = format!("Enumeration values in {} streams", of.dialect);
    table("exercised", &caption, &["member", "exercised", "never"], html, |html| {
        for member in &of.members {
            html.tag("tr").inside(|html| {
                html.tag("th").set("scope", "row").text(&member.name);
                for is_exercised in [true, false] {
                    let values = member.values.iter().filter(|value| value.is_exercised == is_exercised);
                    let names: Vec<&str> = values.map(|value| value.name.as_str()).collect();
                    html.tag("td").class(class(is_exercised)).text(&names.join(", "));
                }
            });
        }
    });
}

fn drawing(lane: &ExercisedLane, html: &mut Html) {
    let height = lane.steps.len() * ROW;
    let label = format!("The lifecycle of {}", lane.name);
    let svg = html.tag("svg").class("life").set("height", height).set("width", 640);
    svg.set("role", "img").set("aria-label", label).inside(|html| {
        // The exercised part is drawn over the rest.
        let (exercised, rest): (Vec<_>, Vec<_>) = lane.transitions.iter().partition(|path| path.is_exercised);
        for path in rest.into_iter().chain(exercised) {
            arc(lane, path, html);
        }
        for (at, step) in lane.steps.iter().enumerate() {
            html.tag("g").class(class(step.is_exercised)).inside(|html| {
                html.tag("circle").class("step").set("cx", STEPS).set("cy", middle(at)).set("r", 4).empty();
                html.tag("text").set("x", NAMES).set("y", middle(at) + 4).text(&step.name);
            });
        }
    });
}

fn arc(lane: &ExercisedLane, path: &ExercisedPath, html: &mut Html) {
    let [from, to] = path.steps[..] else { return };
    let title = |html: &mut Html| html.tag("title").text(&lane.words(path));
    if from == to {
        let circle = html.tag("circle").class(class(path.is_exercised)).set("r", 8);
        return circle.set("cx", STEPS).set("cy", middle(from)).inside(title);
    }
    let steps = from.abs_diff(to);
    // Arcs are drawn counterclockwise.
    let width = if from < to { (steps * 12).min(STEPS - 10) } else { (steps * 7).min(50) };
    let (start, end, height) = (middle(from), middle(to), steps * ROW / 2);
    let d = format!("M{STEPS} {start}A{width} {height} 0 0 0 {STEPS} {end}");
    html.tag("path").class(class(path.is_exercised)).set("d", d).inside(title);
}

fn never(lane: &ExercisedLane, html: &mut Html) {
    let paths = lane.transitions.iter().chain(&lane.pairs);
    let mut never: Vec<_> = paths.filter(|path| !path.is_exercised).collect();
    never.sort_by_key(|path| Reverse(path.goldens));
    if never.is_empty() {
        return;
    }
    html.tag("p").class("legend").text("Never exercised:");
    html.tag("ul").class("reasons").inside(|html| {
        never.iter().take(NEVER).for_each(|path| html.tag("li").text(&lane.words(path)));
        if never.len() > NEVER {
            let more = number((never.len() - NEVER) as u64);
            html.tag("li").text(&format!("and {more} more, which the JSON report lists"));
        }
    });
}

const fn class(is_exercised: bool) -> &'static str {
    if is_exercised { "good" } else { "never" }
}

const fn middle(at: usize) -> usize {
    at * ROW + ROW / 2
}

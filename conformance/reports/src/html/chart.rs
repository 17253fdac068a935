//! The timeline of an exchange as a chart: bars of what was open, marks of findings, and the rate of events.

use std::fmt::Write as _;

use catalogue::Level;

use super::lanes::{self, Row};
use super::page::Html;
use super::{counted, number, time};
use results::{Bar, Timeline};
use spec::APIS;
use spec::table::Content;

const ROW: u64 = 22;
/// Number of marks that fit side by side, on wide and on narrow screens; closer findings share a mark.
const MARKS: [u64; 2] = [32, 7];
/// Number of columns of the event rate.
const COLUMNS: usize = 100;

#[derive(Debug)]
pub(super) struct Mark<'m> {
    /// Its number in the list.
    pub(super) number: usize,
    pub(super) id: &'m str,
    pub(super) level: Level,
    pub(super) event: u64,
    pub(super) time_ms: Option<u64>,
    pub(super) rule: &'m str,
}

pub(super) fn chart(timeline: &Timeline, id: &str, marks: &[Mark<'_>], html: &mut Html) {
    if timeline.events == 0 {
        return;
    }
    let rows = lanes::rows(timeline);
    let has_times = !timeline.pace.times_ms.is_empty() && timeline.duration_ms.is_some_and(|ms| ms > 0);
    html.tag("figure").class("chart").inside(|html| {
        html.tag("div").class("names").set("aria-hidden", true).inside(|html| {
            if !marks.is_empty() {
                html.tag("div").class("name lane").text("findings");
            }
            for row in &rows {
                let of = row.bars.first().filter(|_| row.bars.len() == 1);
                let title = of.map_or_else(|| row.label.clone(), |bar| describe(bar));
                let class = format!("name d{}", row.depth.min(4));
                html.tag("div").class(&class).set("title", title).text(&row.label);
            }
            html.tag("div").class("name lane axis").text("event");
            if has_times {
                html.tag("div").class("name lane time").text("time");
                html.tag("div").class("name lane pace").text("pace");
            }
        });
        html.tag("div").class("plot").inside(|html| {
            if !marks.is_empty() {
                findings(timeline, marks, ("marks wide", MARKS[0]), html);
                findings(timeline, marks, ("marks narrow", MARKS[1]), html);
            }
            bars(timeline, &rows, id, marks, html);
            axis(timeline, html);
            if has_times {
                pace(timeline, marks, html);
            }
        });
        legend(timeline, html);
    });
}

/// In percent, with three decimals.
fn share(part: u64, whole: u64) -> String {
    let share = u128::from(part) * 100_000 / u128::from(whole.max(1));
    format!("{}.{:03}%", share / 1000, share % 1000)
}

fn middle(event: u64, events: u64) -> String {
    share((2 * event).saturating_sub(1).min(2 * events), 2 * events)
}

const fn class(level: Level) -> &'static str {
    match level {
        Level::Must => "error",
        Level::Should => "warning",
        Level::May | Level::Off => "note",
    }
}

/// The marks link to their findings.
fn findings(timeline: &Timeline, marks: &[Mark<'_>], (name, columns): (&str, u64), html: &mut Html) {
    let group = |mark: &Mark<'_>| mark.event.saturating_sub(1) * columns / timeline.events.max(columns);
    let is_last = |event: u64| event * 100 > timeline.events * 94;
    let mut sorted: Vec<&Mark<'_>> = marks.iter().collect();
    sorted.sort_by_key(|mark| (mark.event, mark.number));
    let svg = html.tag("svg").class(name).set("height", ROW).set("role", "group");
    svg.set("aria-label", "Findings, by the event that broke the rule").inside(|html| {
        for near in sorted.chunk_by(|one, other| group(one) == group(other)) {
            let Some(worst) = near.iter().max_by_key(|mark| mark.level) else { continue };
            let titles: Vec<String> = near
                .iter()
                .take(6)
                .map(|mark| format!("{}: {}, event {}", mark.number, mark.rule, mark.event))
                .collect();
            let more = near.len().saturating_sub(6);
            let more = if more > 0 { format!("\nand {more} more") } else { String::new() };
            let title = titles.join("\n") + &more;
            let label = match near {
                [one] => one.number.to_string(),
                [first, ..] if near.iter().all(|mark| mark.number == first.number) => {
                    format!("{}×{}", first.number, near.len())
                }
                _ => format!("{}×", near.len()),
            };
            let x = middle(worst.event, timeline.events);
            let link = html.tag("a").link(worst.id).class(class(worst.level)).set("data-count", near.len());
            link.inside(|html| {
                html.tag("title").inside(|html| html.lines(&title));
                html.tag("svg").set("x", x).set("y", ROW / 2).set("overflow", "visible").inside(|html| {
                    html.tag("path").set("d", shape(worst.level)).empty();
                    // At the end of the row, the label is before the sign.
                    let (x, anchor) = if is_last(worst.event) { (-8, "end") } else { (8, "start") };
                    html.tag("text").set("x", x).set("y", 4).set("text-anchor", anchor).text(&label);
                });
            });
        }
    });
}

/// Color alone is not accessible.
const fn shape(level: Level) -> &'static str {
    match level {
        Level::Must => "M0-6L6 0L0 6L-6 0Z",
        Level::Should => "M0-5L5.5 4.5L-5.5 4.5Z",
        Level::May | Level::Off => "M-4 0A4 4 0 1 1 4 0A4 4 0 1 1-4 0Z",
    }
}

fn bars(timeline: &Timeline, rows: &[Row<'_>], id: &str, marks: &[Mark<'_>], html: &mut Html) {
    let height = rows.len() as u64 * ROW;
    let svg = html.tag("svg").class("bars").set("height", height).set("role", "img");
    svg.set("aria-labelledby", format!("{id}-title {id}-text")).inside(|html| {
        html.tag("title").set("id", format!("{id}-title")).text("What was open over time");
        html.tag("desc").set("id", format!("{id}-text")).inside(|html| {
            for bar in rows.iter().flat_map(|row| &row.bars).take(40) {
                html.text(&format!("{}. ", describe(bar)));
            }
        });
        for (row, y) in rows.iter().zip((0_u64..).map(|row| row * ROW)) {
            if !row.label.is_empty() && y > 0 {
                line("row", "0", "100%", y, y, html);
            }
        }
        let mut at: Vec<(u64, &'static str)> =
            marks.iter().map(|mark| (mark.event, class(mark.level))).collect();
        at.sort_unstable();
        at.dedup();
        for (event, class) in at.into_iter().take(200) {
            let x = middle(event, timeline.events);
            line(class, &x, &x, 0, height, html);
        }
        for (row, y) in rows.iter().zip((0_u64..).map(|row| row * ROW)) {
            for bar in &row.bars {
                one(bar, timeline.events, y, html);
            }
        }
    });
}

fn line(class: &str, from: &str, to: &str, above: u64, below: u64, html: &mut Html) {
    let line = html.tag("line").class(class).set("x1", from).set("x2", to);
    line.set("y1", above).set("y2", below).empty();
}

fn one(bar: &Bar, events: u64, y: u64, html: &mut Html) {
    let [from, to] = bar.events;
    let closed = bar.closed.unwrap_or(to).clamp(from, to);
    let (thin, thick) = if bar.depth == 0 { (8, 6) } else { (5, 12) };
    let rect = |class: &str, from: u64, to: u64, html: &mut Html| {
        let rect = html.tag("rect").class(class);
        let rect = rect.set("x", share(from.saturating_sub(1), events));
        let rect = rect.set("width", share((to + 1).saturating_sub(from), events));
        rect.set("y", y + thin).set("height", thick).set("rx", 2).empty();
    };
    html.tag("g").class(&format!("bar {}", family(&bar.scope))).inside(|html| {
        html.tag("title").text(&describe(bar));
        let class = match (bar.opened, bar.closed.is_some()) {
            (true, true) => "whole",
            (true, false) => "open",
            (false, true) => "early",
            (false, false) => "open early",
        };
        rect(class, from, closed, html);
        if closed < to {
            rect("late", closed + 1, to, html);
        }
        for phase in bar.phases.iter().filter(|phase| phase.event > from) {
            let x = share(phase.event - 1, events);
            line("phase", &x, &x, y + thin, y + thin + thick, html);
        }
    });
}

/// Determines the color of the scope.
fn family(scope: &str) -> &'static str {
    let known = APIS.iter().flat_map(|api| api.scopes()).find(|known| known.name == scope);
    match known.and_then(|known| known.content) {
        _ if known.is_some_and(|known| known.is_root) => "response",
        Some(Content::Item | Content::Choice) => "item",
        Some(Content::Part) => "part",
        Some(Content::Text | Content::Refusal | Content::Reasoning) => "words",
        Some(Content::Arguments) => "input",
        None => "tool",
    }
}

fn describe(bar: &Bar) -> String {
    let [from, to] = bar.events;
    let mut text = lanes::name(bar);
    if let Some(id) = &bar.id {
        let _ = write!(text, " ({id})");
    }
    // Writing to a string cannot fail.
    let _ = if from == to {
        write!(text, ", event {}", number(from))
    } else {
        write!(text, ", events {} to {}", number(from), number(to))
    };
    if let Some([from, to]) = bar.times_ms {
        let _ = write!(text, ", from {} to {}", time(from), time(to));
    }
    if bar.characters > 0 {
        let _ = write!(text, ", {}", counted(bar.characters, "character"));
    }
    if let Some([input, output]) = bar.tokens {
        let _ = write!(text, ", {} in, {} out", counted(input, "token"), number(output));
    }
    if let Some(stop) = &bar.stop {
        let _ = write!(text, ", ended with {stop}");
    }
    if !bar.opened {
        text += ", never opened";
    }
    match bar.closed {
        None => text += ", never closed",
        Some(closed) if closed < to => {
            let _ = write!(text, ", closed at event {}", number(closed));
        }
        Some(_) => {}
    }
    let phases = bar.phases.iter().map(|phase| format!("{} at event {}", phase.name, number(phase.event)));
    let phases: Vec<String> = phases.collect();
    if !phases.is_empty() {
        let _ = write!(text, "; {}", phases.join(", "));
    }
    text
}

fn axis(timeline: &Timeline, html: &mut Html) {
    let events = timeline.events;
    let mut ticks: Vec<(u64, bool)> =
        (0..=4).map(|quarter| (1 + (events - 1) * quarter / 4, quarter % 2 == 1)).collect();
    ticks.dedup_by_key(|(event, _)| *event);
    let height = if timeline.pace.times_ms.is_empty() { 20 } else { 34 };
    html.tag("svg").class("axis").set("height", height).set("aria-hidden", true).inside(|html| {
        line("base", "0", "100%", 0, 0, html);
        for (event, is_minor) in ticks {
            let at = middle(event, events);
            let place = (200 * event).saturating_sub(100) / (2 * events);
            let anchor = if place < 8 {
                "start"
            } else if place > 92 {
                "end"
            } else {
                "middle"
            };
            html.tag("g").class(if is_minor { "tick minor" } else { "tick" }).inside(|html| {
                line("base", &at, &at, 0, 4, html);
                let text = |y: u64, text: &str, html: &mut Html| {
                    html.tag("text").set("x", &at).set("y", y).set("text-anchor", anchor).text(text);
                };
                text(15, &number(event), html);
                if let Some(ms) = time_of(timeline, event) {
                    text(
                        28,
                        &format!("{}{}", if is_exact(timeline, event) { "" } else { "≈ " }, time(ms)),
                        html,
                    );
                }
            });
        }
    });
}

fn is_exact(timeline: &Timeline, event: u64) -> bool {
    event == timeline.events || event.saturating_sub(1).is_multiple_of(timeline.pace.every.max(1))
}

fn time_of(timeline: &Timeline, event: u64) -> Option<u64> {
    if event == timeline.events {
        return timeline.duration_ms;
    }
    let every = timeline.pace.every.max(1);
    let at = usize::try_from((event - 1) / every).ok()?;
    let times = &timeline.pace.times_ms;
    let from = *times.get(at)?;
    let to = times.get(at + 1).copied().or(timeline.duration_ms)?;
    Some(from + to.saturating_sub(from) * ((event - 1) % every) / every)
}

fn pace(timeline: &Timeline, marks: &[Mark<'_>], html: &mut Html) {
    let whole = timeline.duration_ms.unwrap_or(1).max(1);
    let columns = columns(timeline, whole);
    let most = columns.iter().copied().max().unwrap_or(1).max(1);
    let svg = html.tag("svg").class("pace").set("height", 46).set("role", "img");
    svg.inside(|html| {
        let rate = counted(timeline.events * 1000 / whole, "event");
        html.tag("title").text(&format!("Events over {}: {rate} a second on average", time(whole)));
        for (at, count) in (0_u64..).zip(&columns) {
            if *count > 0 {
                let height = 2 + 22 * count / most;
                let rect = html.tag("rect").set("x", share(at, COLUMNS as u64));
                rect.set("width", share(9, 10 * COLUMNS as u64))
                    .set("y", 26 - height)
                    .set("height", height)
                    .empty();
            }
        }
        let mut times: Vec<(u64, &'static str)> =
            marks.iter().filter_map(|mark| Some((mark.time_ms?, class(mark.level)))).collect();
        times.sort_unstable();
        times.dedup();
        for (time, class) in times.into_iter().take(200) {
            let x = share(time.min(whole), whole);
            line(class, &x, &x, 0, 26, html);
        }
        line("base", "0", "100%", 26, 26, html);
        for (quarter, anchor) in [(0, "start"), (2, "middle"), (4, "end")] {
            let text = html.tag("text").set("x", format!("{}%", quarter * 25)).set("y", 41);
            text.set("text-anchor", anchor).text(&time(whole * quarter / 4));
        }
    });
}

/// In each hundredth of the time, interpolating between known times.
fn columns(timeline: &Timeline, whole: u64) -> [u64; COLUMNS] {
    let mut columns = [0; COLUMNS];
    let times = &timeline.pace.times_ms;
    let every = timeline.pace.every.max(1);
    let listed = (times.len() as u64).saturating_sub(1) * every + 1;
    let column = |time: u64| {
        let at = u128::from(time) * COLUMNS as u128 / u128::from(whole);
        usize::try_from(at).unwrap_or(COLUMNS).min(COLUMNS - 1)
    };
    let mut add = |from: u64, to: u64, count: u64| {
        for step in 0..count.min(1000) {
            let time = from + to.saturating_sub(from) * (step + 1) / count.clamp(1, 1000);
            if let Some(found) = columns.get_mut(column(time)) {
                *found += count / count.clamp(1, 1000);
            }
        }
    };
    if let Some(first) = times.first() {
        add(*first, *first, 1);
    }
    for pair in times.windows(2) {
        if let [from, to] = pair {
            add(*from, *to, every);
        }
    }
    if let Some(last) = times.last() {
        add(*last, whole, timeline.events.saturating_sub(listed));
    }
    columns
}

fn legend(timeline: &Timeline, html: &mut Html) {
    let late = |bar: &Bar| bar.closed.is_some_and(|closed| closed < bar.events[1]);
    let open = timeline.bars.iter().any(|bar| bar.closed.is_none());
    let early = timeline.bars.iter().any(|bar| !bar.opened);
    let late = timeline.bars.iter().any(late);
    let signs = [
        (open, "open", "never closed"),
        (early, "early", "never opened"),
        (late, "late", "continues after it was closed"),
    ];
    let folded = timeline.folded;
    if !signs.iter().any(|(is_there, ..)| *is_there) && folded == 0 {
        return;
    }
    html.tag("figcaption").inside(|html| {
        for (_, class, text) in signs.into_iter().filter(|(is_there, ..)| *is_there) {
            html.tag("span").class("sign").inside(|html| {
                let svg = html.tag("svg").set("width", 26).set("height", 12).set("aria-hidden", true);
                svg.inside(|html| {
                    html.tag("g").class("bar item").inside(|html| {
                        let rect = html.tag("rect").class(class).set("x", 1).set("y", 1);
                        rect.set("width", 24).set("height", 10).set("rx", 2).empty();
                    });
                });
                html.text(&format!(" {text}"));
            });
        }
        if folded > 0 {
            html.tag("span").text(&format!("{} more are not drawn", number(folded)));
        }
    });
}

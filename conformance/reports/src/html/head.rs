//! The head of a page: subject, outcome and navigation.

use catalogue::Level;

use super::super::terms::terms;
use super::page::Html;
use super::{class_of, counted, duration, look, number, word};
use results::{LiveReport, Outcome, Run, Verdict};

pub(super) fn head(run: &Run, html: &mut Html) {
    let api = spec::dialect(&run.dialect).map_or("API", |dialect| dialect.api.title);
    let subject = run.live.as_ref().map(|live| live.target.clone());
    let subject = subject.unwrap_or_else(|| counted(run.totals.captures, "recording"));
    heading(&format!("{api} conformance"), run.outcome, &subject, &lead(run), html);
    facts(run, html);
    if let Some(live) = run.live.as_ref().filter(|live| !live.command.is_empty()) {
        command(&live.command, html);
    }
    html.tag("div").class("meters").inside(|html| meters(run, html));
}

/// The subject of the page, how the run ended, and that in a sentence or two.
pub(crate) fn heading(kind: &str, outcome: Outcome, subject: &str, lead: &str, html: &mut Html) {
    html.tag("p").class("kicker").text(kind);
    html.tag("h1").inside(|html| {
        html.tag("span").class(&format!("outcome {}", class_of(outcome))).text(word(outcome));
        html.text(" ");
        html.tag("span").class("subject").text(subject);
    });
    html.tag("p").class("lead").text(lead);
}

fn lead(run: &Run) -> String {
    if let Some(obstacle) = run.live.as_ref().and_then(|live| live.obstacle.as_ref()) {
        return format!("Not tested: {}. To do: {}.", obstacle.title(), obstacle.advice);
    }
    if let Some(reason) = run.without_responses() {
        return format!("Nothing was checked: {reason}.");
    }
    let broken = run.broken_clients().len() as u64;
    let causes = run.own_causes().len() as u64;
    let what = if run.live.is_some() { "response" } else { "recording" };
    let all = match &run.live {
        Some(_) => run.totals.streams + run.totals.bodies,
        None => run.totals.captures,
    };
    let outside = run.outside().0;
    match (causes, broken) {
        (0, _) if outside.all() > 0 => {
            let found: Vec<String> = outside.non_zero().map(|(count, what)| counted(count, what)).collect();
            let found = found.join(", ");
            format!("No rule of the profiles is broken in {}; outside of them: {found}.", counted(all, what))
        }
        (0, _) => format!("No rule is broken in {}.", counted(all, what)),
        (_, 0) => {
            let clients = if run.has_measured_clients() {
                "No measured client breaks"
            } else {
                "No client was measured with these findings"
            };
            format!("{} in {}. {clients}.", counted(causes, "cause"), counted(all, what))
        }
        _ => format!(
            "{} in {}. {} of {} break.",
            counted(causes, "cause"),
            counted(all, what),
            number(broken),
            counted(run.clients.len() as u64, "known client")
        ),
    }
}

fn facts(run: &Run, html: &mut Html) {
    html.tag("dl").class("facts").inside(|html| {
        let mut fact = |name: &str, value: &str| self::fact(name, value, html);
        fact("dialect", &run.dialect_in_words());
        if let Some(live) = &run.live {
            fact("model", &live.model);
            if !live.options.profiles.is_empty() {
                fact("profiles", &live.options.profiles.join(", "));
            }
            fact("features", &features(live));
            if let Some(began) = &live.options.began {
                fact("started", &began.replace('T', " ").replace('Z', " UTC"));
            }
            if let Some(took) = live.options.took_ms {
                fact("took", &duration(took));
            }
        }
        for (name, text) in terms(run) {
            fact(name, &text);
        }
        fact("suite", &run.suite);
    });
}

pub(crate) fn fact(name: &str, value: &str, html: &mut Html) {
    html.tag("div").inside(|html| {
        html.tag("dt").text(name);
        html.tag("dd").text(value);
    });
}

pub(crate) fn command(command: &str, html: &mut Html) {
    html.tag("pre").class("command").set("tabindex", 0).set("aria-label", "Command of this run").inside(
        |html| {
            html.tag("code").text(command);
        },
    );
}

fn features(live: &LiveReport) -> String {
    match (&live.options.features, live.options.lacks.as_slice()) {
        (Some(named), _) => named.join(", "),
        (None, []) => "all".to_owned(),
        (None, lacks) => format!("all but {}", lacks.join(", ")),
    }
}

fn meters(run: &Run, html: &mut Html) {
    let totals = &run.totals;
    if run.live.is_some() {
        let parts = Verdict::ALL.map(|verdict| {
            let (class, word) = look(verdict);
            let word = if verdict == Verdict::HarnessError { "harness errors" } else { word };
            (totals.trials.of(verdict), class, word)
        });
        meter("tests", totals.trials.all(), &parts, "", html);
    }
    let causes = run.own_causes();
    let of = |is_meant: fn(Level) -> bool| causes.iter().filter(|cause| is_meant(cause.level)).count() as u64;
    let found = [
        (of(|level| level == Level::Must), "bad", "errors"),
        (of(|level| level == Level::Should), "unknown", "warnings"),
        (of(|level| level < Level::Should), "note", "notes"),
    ];
    let seen = format!("seen {}", counted(totals.faults().all(), "time"));
    let seen = if causes.is_empty() { "" } else { &seen };
    let name = if causes.len() == 1 { "cause" } else { "causes" };
    meter(name, causes.len() as u64, &found, seen, html);
    let unanswered: u64 = run.unanswered().iter().map(|(_, count, _)| count).sum();
    let checked = [
        (totals.streams, "plain", "streams"),
        (totals.bodies, "plain", "JSON bodies"),
        (unanswered, "unknown", "requests without a response"),
        (totals.unread.saturating_sub(unanswered), "unknown", "unreadable"),
        (totals.unjudged, "unknown", "not covered by any rule"),
    ];
    let events = counted(totals.events, "event");
    meter("responses", totals.streams + totals.bodies, &checked, &events, html);
}

pub(crate) fn meter(name: &str, total: u64, parts: &[(u64, &str, &str)], more: &str, html: &mut Html) {
    html.tag("div").class("meter").inside(|html| {
        html.tag("p").class("total").inside(|html| {
            html.tag("b").text(&number(total));
            html.text(" ");
            html.text(&inflected(total, name));
        });
        let sum: u64 = parts.iter().map(|(count, ..)| count).sum();
        html.tag("svg").class("share").set("height", 8).set("aria-hidden", true).inside(|html| {
            html.tag("rect").class("none").set("width", "100%").set("height", 8).set("rx", 4).empty();
            let mut before = 0;
            for (count, class, _) in parts.iter().filter(|(count, ..)| *count > 0) {
                let share = |count: u64| format!("{}.{:02}%", count * 100 / sum, count * 10_000 / sum % 100);
                let rect = html.tag("rect").class(class).set("x", share(before));
                rect.set("width", share(*count)).set("height", 8).empty();
                before += count;
            }
        });
        html.tag("ul").inside(|html| {
            for (count, class, word) in parts.iter().filter(|(count, ..)| *count > 0) {
                html.tag("li").class(class).inside(|html| {
                    html.tag("b").text(&number(*count));
                    html.text(" ");
                    html.text(&inflected(*count, word));
                });
            }
            if !more.is_empty() {
                html.tag("li").text(more);
            }
        });
    });
}

fn inflected(count: u64, many: &str) -> String {
    match (count, many.strip_suffix("ies"), many.strip_suffix('s')) {
        (1, Some(start), _) => format!("{start}y"),
        (1, None, Some(one)) => one.to_owned(),
        _ => many.to_owned(),
    }
}

pub(super) fn navigation(run: &Run, html: &mut Html) {
    let broken = run.broken_clients().len();
    let failed = run.live.iter().flat_map(|live| &live.cases);
    let failed = failed.filter(|case| case.tally().worst() == Verdict::Fail).count();
    let failed_files = run.captures.iter().filter(|capture| capture.has_failed(run.fail_on)).count();
    let rules = run.broken().len();
    let has_live = run.live.is_some();
    let has_profiles = run.live.as_ref().is_some_and(|live| !live.profiles.is_empty());
    let all = [
        (true, "clients", "Clients", broken, "bad"),
        (true, "causes", "Causes", run.own_causes().len(), "bad"),
        (has_live, "scenarios", "Scenarios", failed, "bad"),
        (!has_live, "recordings", "Recordings", failed_files, "bad"),
        (has_profiles, "profiles", "Profiles", 0, ""),
        (has_live, "results", "Results", 0, ""),
        (!run.next.is_empty(), "next", "Next", 0, ""),
        (!run.exercised.is_empty(), "lifecycle", "Exercised", 0, ""),
        (rules > 0, "rules", "Rules", rules, "plain"),
    ];
    sections(&all, "Search scenarios, causes and rules", html);
}

/// A section: whether the page has it, its id and name, and its count with the class of that.
type Section<'s> = (bool, &'s str, &'static str, usize, &'static str);

pub(crate) fn sections(sections: &[Section<'_>], search: &str, html: &mut Html) {
    html.tag("nav").set("aria-label", "Sections").inside(|html| {
        html.tag("ul").inside(|html| {
            for (_, id, name, count, class) in sections.iter().filter(|(is_there, ..)| *is_there) {
                html.tag("li").inside(|html| {
                    html.tag("a").link(id).inside(|html| {
                        html.text(name);
                        if *count > 0 {
                            html.text(" ");
                            html.tag("span").class(&format!("count {class}")).text(&number(*count as u64));
                        }
                    });
                });
            }
        });
        // The script shows it, as it needs the script.
        html.tag("div").class("search").set_if(true, "hidden").inside(|html| {
            let input = html.tag("input").set("type", "search").set("id", "search");
            let input = input.set("aria-label", search);
            input.set("placeholder", "Search  /").set("autocomplete", "off").empty();
            html.tag("span").set("id", "nothing-found").set("role", "status").text("");
        });
    });
}

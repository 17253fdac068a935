//! A finding, with all that is known of it.

use std::fmt::Write as _;

use super::super::human;
use super::page::Html;
use super::{duration, number};
use results::{Excerpt, Finding, Location, Piece, Timeline};

/// So many clients are named with each finding; the page of its rule names them all.
const CLIENTS: usize = 4;

/// Where a finding stands in the page.
pub(super) fn id(capture: usize, at: usize) -> String {
    format!("f{capture}-{at}")
}

/// Where the page of a rule stands.
pub(super) fn rule_id(rule: &str) -> String {
    format!("rule-{}", rule.replace('/', "-"))
}

/// A finding; the number is that of its mark.
pub(super) fn finding(
    finding: &Finding,
    (number, id, is_open): (usize, &str, bool),
    timeline: Option<&Timeline>,
    html: &mut Html,
) {
    let word = human::word(finding.severity());
    let details = html.tag("details").class(&format!("finding {word}"));
    details.set_if(is_open, "open").inside(|html| {
        html.tag("summary").inside(|html| {
            html.tag("span").class("number").text(&number.to_string());
            html.tag("span").class("level").text(word);
            html.tag("code").text(&finding.rule);
            html.tag("span").class("message").text(&finding.message);
        });
        html.tag("div").class("about").set("id", id).inside(|html| about(finding, timeline, html));
    });
}

fn about(finding: &Finding, timeline: Option<&Timeline>, html: &mut Html) {
    html.tag("p").class("place").inside(|html| {
        html.text(&place(&finding.place));
        if finding.count > 1 {
            html.tag("b").text(&format!(" · and {} more like it", super::number(finding.count - 1)));
        }
    });
    let related = finding.related.as_ref();
    let comes_before =
        |place: &Location| (place.line, place.frame) <= (finding.place.line, finding.place.frame);
    if let Some(related) = related.filter(|related| comes_before(&related.place)) {
        excerpt(&related.place, &related.label, "related", html);
    }
    let label = finding.pointer.as_deref().unwrap_or_default();
    excerpt(&finding.place, label, "primary", html);
    if let Some(related) = related.filter(|related| !comes_before(&related.place)) {
        excerpt(&related.place, &related.label, "related", html);
    }
    html.tag("dl").inside(|html| {
        let mut fact = |name: &str, value: &str| {
            html.tag("div").inside(|html| {
                html.tag("dt").text(name);
                html.tag("dd").text(value);
            });
        };
        if let Some(expected) = &finding.expected {
            fact("expected", expected);
        }
        if let Some(actual) = &finding.actual {
            fact("found", actual);
        }
        let Some(rule) = catalogue::rule(&finding.rule) else { return };
        fact("authority", &format!("{} · {}", finding.level.keyword(), rule.citation));
        let clients = finding.broken_clients();
        if !clients.is_empty() {
            let named = clients.iter().take(CLIENTS).map(|(client, failure)| format!("{client} ({failure})"));
            let more = clients.len().saturating_sub(CLIENTS);
            let more = if more > 0 { format!(", and {more} more") } else { String::new() };
            fact("breaks", &format!("{}{more}", named.collect::<Vec<_>>().join(", ")));
        }
        if let Some(fix) = finding.fix() {
            fact("fix", &fix);
        }
    });
    let event = finding.place.event;
    let whole = timeline.and_then(|timeline| timeline.faulty.iter().find(|faulty| faulty.event == event));
    if let Some(faulty) = whole {
        html.tag("details").class("more").inside(|html| {
            html.tag("summary").text(&format!("Event {event} as it came"));
            piece(&faulty.data, html);
        });
    }
    if catalogue::rule(&finding.rule).is_some() {
        html.tag("p").class("see").inside(|html| {
            html.tag("a").link(&rule_id(&finding.rule)).text(&format!("The rule {}", finding.rule));
        });
    }
}

/// Where an event stands.
pub(super) fn place(place: &Location) -> String {
    let mut text =
        if place.event == 0 { "body".to_owned() } else { format!("event {}", number(place.event)) };
    // Writing to a string cannot fail.
    if let Some(name) = &place.event_type {
        let _ = write!(text, " · {name}");
    }
    if let Some(number) = place.sequence_number {
        let _ = write!(text, " · sequence {number}");
    }
    if let Some(time) = place.time_ms {
        let _ = write!(text, " · +{}", duration(time));
    }
    text + &format!(" · line {} · byte {}", place.line, place.bytes[0])
}

/// A line of the recording, with the place marked.
fn excerpt(place: &Location, label: &str, class: &'static str, html: &mut Html) {
    let Excerpt { text, mark, cut } = &place.excerpt;
    if text.is_empty() {
        return;
    }
    // Whoever wrote the report may have marked what is not there.
    let (before, rest) = text.split_at_checked(mark[0]).unwrap_or((text, ""));
    let (marked, behind) = rest.split_at_checked(mark[1].saturating_sub(mark[0])).unwrap_or((rest, ""));
    html.tag("div").class(&format!("excerpt {class}")).inside(|html| {
        html.tag("div").class("line").inside(|html| {
            html.tag("span").class("at").text(&format!("line {}", place.line));
            html.tag("span").class("label").text(label);
        });
        html.tag("pre").set("tabindex", 0).inside(|html| {
            html.tag("code").inside(|html| {
                html.text(if cut[0] { "…" } else { "" });
                html.text(before);
                if !marked.is_empty() {
                    html.tag("mark").text(marked);
                }
                html.text(behind);
                html.text(if cut[1] { "…" } else { "" });
            });
        });
    });
}

/// The beginning of a text, as JSON with its lines broken where it is all there.
pub(super) fn piece(piece: &Piece, html: &mut Html) {
    // What another writer would have written otherwise is shown to the letter.
    let is_as_it_came = |value: &serde_json::Value| {
        piece.cut == 0 && serde_json::to_string(value).is_ok_and(|text| text == piece.text)
    };
    let value = serde_json::from_str(&piece.text).ok().filter(is_as_it_came);
    let text = value.and_then(|value| serde_json::to_string_pretty(&value).ok());
    html.tag("pre").set("tabindex", 0).inside(|html| {
        html.tag("code").inside(|html| html.lines(text.as_deref().unwrap_or(&piece.text)));
    });
    if piece.cut > 0 {
        html.tag("p").class("hint").text(&format!("{} bytes more are not shown", number(piece.cut)));
    }
}

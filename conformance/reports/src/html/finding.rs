//! Findings in full.

use std::fmt::Write as _;

use super::super::human;
use super::head::fact;
use super::page::Html;
pub(super) use super::plan::rule_id;
use super::rules::{inline, quoted};
use super::sides::sides;
use super::{number, time};
use results::text::{grouped, listed};
use results::{Excerpt, Finding, Location, Piece, Timeline};

/// Maximum number of clients of a finding; the page of its rule lists all.
const CLIENTS: usize = 12;

/// A finding, and the others of its cause in the exchange.
pub(super) struct Shown<'f> {
    /// The number of its mark.
    pub(super) number: usize,
    pub(super) id: &'f str,
    pub(super) finding: &'f Finding,
    pub(super) dialect: &'f str,
    pub(super) others: Vec<&'f Finding>,
    pub(super) is_open: bool,
}

/// Maximum number of events of a finding.
const EVENTS: usize = 8;

impl Shown<'_> {
    pub(super) fn write(&self, timeline: Option<&Timeline>, html: &mut Html) {
        let Self { number: own, id, finding, others, is_open, .. } = self;
        let word = human::word(finding.level);
        let details = html.tag("details").class(&format!("finding {word}"));
        details.set_if(*is_open, "open").inside(|html| {
            html.tag("summary").inside(|html| {
                html.tag("span").class("number").text(&own.to_string());
                html.tag("span").class("message").text(&finding.message);
                html.tag("span").class("under").inside(|html| {
                    html.tag("span").class("level").text(word);
                    html.tag("code").text(&finding.rule);
                    if !others.is_empty() {
                        html.tag("span").class("seen").text(&self.times());
                    }
                });
            });
            html.tag("div").class("about").set("id", *id).inside(|html| {
                if let Some(fix) = finding.fix() {
                    self::fix(&fix, html);
                }
                about(finding, self.dialect, timeline, html);
                html.tag("p").class("see").inside(|html| {
                    if catalogue::rule(&finding.rule).is_some() {
                        html.tag("a").link(&rule_id(&finding.rule)).text(&format!("Rule {}", finding.rule));
                        html.text(" ");
                    }
                    html.tag("a").class("own").link(id).set("aria-label", "Link to this finding").text("¶");
                });
            });
        });
    }

    fn times(&self) -> String {
        let all = 1 + self.others.len() as u64;
        let events: Vec<String> = (self.others.iter().take(EVENTS))
            .filter(|other| other.place.event > 0)
            .map(|other| number(other.place.event))
            .collect();
        let more = if self.others.len() > EVENTS { ", …" } else { "" };
        if events.is_empty() {
            format!("{} times", number(all))
        } else {
            format!("{} times: also in event {}{more}", number(all), events.join(", "))
        }
    }
}

pub(crate) fn fix(fix: &str, html: &mut Html) {
    html.tag("p").class("fix").inside(|html| {
        html.tag("b").text("Fix");
        html.text(" ");
        inline(fix, html);
    });
}

pub(super) fn about(finding: &Finding, dialect: &str, timeline: Option<&Timeline>, html: &mut Html) {
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
    if let (Some(expected), Some(found)) = (&finding.expected, &finding.actual) {
        sides(expected, found, html);
    }
    html.tag("dl").inside(|html| {
        let mut fact = |name: &str, value: &str| fact(name, value, html);
        match (&finding.expected, &finding.actual) {
            (Some(expected), None) => fact("expected", expected),
            (None, Some(actual)) => fact("found", actual),
            (Some(_), Some(_)) | (None, None) => {}
        }
        let Some(rule) = catalogue::rule(&finding.rule) else {
            if let Some(rule) = catalogue::log_rule(&finding.rule) {
                quoted("authority", &rule.foundation(), html);
            }
            return;
        };
        quoted("authority", &human::authority(finding, rule, dialect), html);
        for (failure, clients) in by_failure(finding) {
            let named = listed(&clients, CLIENTS, |name| (*name).to_owned());
            quoted("breaks", &format!("{named}: {failure}"), html);
        }
    });
    let event = finding.place.event;
    let whole = timeline.and_then(|timeline| timeline.faulty.iter().find(|faulty| faulty.event == event));
    if let Some(faulty) = whole {
        html.tag("details").class("more").inside(|html| {
            html.tag("summary").text(&format!("Event {event} as received"));
            piece(&faulty.data, html);
        });
    }
}

fn by_failure(finding: &Finding) -> Vec<(String, Vec<&'static str>)> {
    grouped(finding.broken_clients().into_iter().map(|(client, failure)| (failure, client)))
}

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
    if let Some(ms) = place.time_ms {
        let _ = write!(text, " · +{}", time(ms));
    }
    text + &format!(" · line {} · byte {}", place.line, place.bytes[0])
}

fn excerpt(place: &Location, label: &str, class: &'static str, html: &mut Html) {
    let Excerpt { text, mark, cut } = &place.excerpt;
    if text.is_empty() {
        return;
    }
    // A report by another program may have invalid ranges.
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

/// Formatted if it is complete JSON.
pub(super) fn piece(piece: &Piece, html: &mut Html) {
    // JSON that would not survive formatting is shown unchanged.
    let is_as_it_came = |value: &serde_json::Value| {
        piece.cut == 0 && serde_json::to_string(value).is_ok_and(|text| text == piece.text)
    };
    let value = serde_json::from_str(&piece.text).ok().filter(is_as_it_came);
    let text = value.and_then(|value| serde_json::to_string_pretty(&value).ok());
    html.tag("pre").set("tabindex", 0).inside(|html| {
        html.tag("code").inside(|html| html.lines(text.as_deref().unwrap_or(&piece.text)));
    });
    if piece.cut > 0 {
        html.tag("p").class("hint").text(&format!("{} more bytes are not shown", number(piece.cut)));
    }
}

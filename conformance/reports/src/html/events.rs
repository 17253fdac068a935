//! The events of a stream, in order, with runs of deltas as one row.

use std::collections::BTreeMap;

use super::lanes;
use super::page::Html;
use super::{number, table, time};
use results::{EventRow, Timeline};

/// `findings` are ids of findings by event number.
pub(super) fn events(timeline: &Timeline, findings: &BTreeMap<u64, (usize, &str, &str)>, html: &mut Html) {
    if timeline.rows.is_empty() {
        return;
    }
    let has_times = timeline.rows.iter().any(|row| row.time_ms.is_some());
    let mut head = vec!["#"];
    if has_times {
        head.push("time");
    }
    head.extend(["type", "of", "text"]);
    html.tag("div").class("events").inside(|html| {
        table("list", "Events", &head, html, |html| {
            for row in &timeline.rows {
                one(row, timeline, (has_times, findings), html);
            }
            if timeline.unlisted > 0 {
                html.tag("tr").inside(|html| {
                    html.tag("td").text("…");
                    let more = format!("{} more events", number(timeline.unlisted));
                    html.tag("td").set("colspan", head.len() - 1).text(&more);
                });
            }
        });
    });
}

fn one(
    row: &EventRow,
    timeline: &Timeline,
    (has_times, findings): (bool, &BTreeMap<u64, (usize, &str, &str)>),
    html: &mut Html,
) {
    let last = row.event + row.count.saturating_sub(1);
    let found = findings.range(row.event..=last.max(row.event)).next();
    let class = found.map_or("", |(_, (_, _, level))| level);
    html.tag("tr").class(class).inside(|html| {
        html.tag("td").class("at").inside(|html| {
            html.text(&number(row.event));
            if let Some((_, (number, id, _))) = found {
                html.text(" ");
                let link = html.tag("a").link(id).set("aria-label", format!("finding {number}"));
                link.text(&format!("◆{number}"));
            }
        });
        if has_times {
            html.tag("td").class("time").text(&row.time_ms.map(time).unwrap_or_default());
        }
        html.tag("td").class("type").inside(|html| {
            let name = row.event_type.as_deref().unwrap_or("no type");
            html.tag("code").text(spec::short_event(name));
            if row.count > 1 {
                html.text(" ");
                html.tag("b").class("times").text(&format!("×{}", number(row.count)));
            }
        });
        let bar = row.bar.and_then(|bar| timeline.bars.get(bar));
        html.tag("td").class("of").text(&bar.map(lanes::place).unwrap_or_default());
        html.tag("td").class("text").inside(|html| {
            if let Some(text) = &row.text {
                html.text(&text.text);
                if text.cut > 0 {
                    html.text("…");
                }
            }
        });
    });
}

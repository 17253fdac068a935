//! Pages of broken rules.

use catalogue::RuleInApi;

use super::finding::rule_id;
use super::page::Html;
use super::section;
use crate::pages::requirement;
use results::{RuleTotal, Run};

pub(super) fn rules(run: &Run, html: &mut Html) {
    if run.rules.iter().all(|rule| rule.times == 0) {
        return;
    }
    section("rules", "Rules", html, |html| {
        for total in run.rules.iter().filter(|total| total.times > 0) {
            let find = format!("{} {}", total.id, total.title);
            html.tag("details").class("rule").set("data-find", find).inside(|html| {
                html.tag("summary").inside(|html| {
                    html.tag("code").text(&total.id);
                    html.tag("span").class("title").inside(|html| inline(&total.title, html));
                });
                let inside = html.tag("div").class("inside").set("id", rule_id(&total.id));
                inside.inside(|html| page(total, html));
            });
        }
    });
}

fn page(total: &RuleTotal, html: &mut Html) {
    let rule = catalogue::rule(&total.id);
    let own: Vec<&RuleInApi> = rule.map(|rule| total.in_apis(rule)).unwrap_or_default();
    if let Some(rule) = rule {
        prose(rule.prose, html);
        for note in own.iter().map(|own| own.note).filter(|note| !note.is_empty()) {
            prose(note, html);
        }
    }
    if let Some(rule) = catalogue::log_rule(&total.id) {
        prose(rule.prose, html);
    }
    html.tag("dl").inside(|html| {
        let mut quoted = |name: &str, text: &str| quoted(name, text, html);
        quoted("level", total.level.keyword());
        quoted("authority", &total.authority);
        for sentence in own.iter().filter_map(|own| requirement(own)) {
            quoted("in our words", sentence.statement);
        }
        for (client, failure) in own.iter().flat_map(|own| own.broken_clients()) {
            quoted("breaks", &format!("{client}: {failure}"));
        }
    });
    for fix in total.of_apis(RuleInApi::every_fix) {
        html.tag("p").inside(|html| {
            html.tag("b").text("Fix: ");
            inline(&fix, html);
        });
    }
    html.tag("p").class("hint").inside(|html| {
        html.text("Example of a violation: ");
        html.tag("code").text(&format!("conformance explain {}", total.id));
    });
}

/// A fact that pages state, with its code spans.
pub(crate) fn quoted(name: &str, text: &str, html: &mut Html) {
    html.tag("div").inside(|html| {
        html.tag("dt").text(name);
        html.tag("dd").inside(|html| inline(text, html));
    });
}

/// Renders the Markdown of rules: paragraphs, lists, fenced blocks and code. Other markup stays as it is.
pub(crate) fn prose(text: &str, html: &mut Html) {
    let mut is_fenced = false;
    for block in text.trim().split("\n\n") {
        if is_fenced || block.starts_with("```") {
            is_fenced ^= block.matches("```").count() % 2 == 1;
            let lines: Vec<&str> = block.lines().filter(|line| !line.starts_with("```")).collect();
            html.tag("pre").inside(|html| html.tag("code").inside(|html| html.lines(&lines.join("\n"))));
        } else if block.starts_with("- ") {
            html.tag("ul").inside(|html| {
                for entry in format!("\n{block}").split("\n- ").skip(1) {
                    html.tag("li").inside(|html| inline(entry, html));
                }
            });
        } else {
            html.tag("p").inside(|html| inline(block, html));
        }
    }
}

pub(crate) fn inline(text: &str, html: &mut Html) {
    let pieces: Vec<&str> = text.split('`').collect();
    let last = pieces.len() - 1;
    for (at, piece) in pieces.iter().enumerate() {
        let text = piece.replace('\n', " ");
        match (at % 2 == 1, at == last) {
            (true, false) => html.tag("code").text(&text),
            // An unpaired backtick is text.
            (true, true) => html.text(&format!("`{text}")),
            (false, _) => html.text(&text),
        }
    }
}

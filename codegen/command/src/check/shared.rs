//! Checks that the pages of a scenario that several APIs have ask for the same.

use std::collections::{BTreeMap, BTreeSet};

use codegen::formats::Scenario;
use serde_json::Value;

use super::context::Context;
use super::report::Report;

pub(super) fn check(context: &Context, report: &mut Report) {
    let mut by_id: BTreeMap<&str, Vec<&Scenario>> = BTreeMap::new();
    for scenario in context.catalogue.scenarios.values() {
        by_id.entry(&scenario.id).or_default().push(scenario);
    }
    for pages in by_id.values() {
        let Some((model, others)) = pages.split_last() else { continue };
        for other in others {
            let Some((member, problem)) = difference(other, model) else { continue };
            let of = Context::file_of(model);
            let message = format!("{problem}, unlike in {}", of.display());
            let help = "ask for the same in all APIs, or give the scenario another id";
            report.find(Context::file_of(other), member, message, help);
        }
    }
}

/// The member that differs between two APIs' pages, and how.
fn difference(page: &Scenario, other: &Scenario) -> Option<(&'static str, String)> {
    let settings = |of: &Scenario| {
        [
            ("title", of.title.clone()),
            ("operation", of.operation.name().to_owned()),
            ("features", of.features.join(", ")),
            ("previous", of.previous.clone().unwrap_or_default()),
            ("says", of.says.clone().unwrap_or_default()),
            ("twin", of.twin.to_string()),
            ("malformed", of.malformed.to_string()),
            ("unknown_key", of.unknown_key.to_string()),
            ("cut_after", of.cut_after.unwrap_or_default().to_string()),
            ("fill", of.fill.unwrap_or_default().to_string()),
        ]
    };
    let differing = settings(page).into_iter().zip(settings(other)).find(|(own, other)| own != other);
    if let Some(((member, own), (_, other))) = differing {
        return Some((member, format!("`{member}` is \"{own}\", not \"{other}\"")));
    }
    let (own, other) = (sentences(page), sentences(other));
    let added = own.difference(&other).next().map(|text| format!("the request says \"{text}\""));
    let missing = || other.difference(&own).next().map(|text| format!("the request does not say \"{text}\""));
    added.or_else(missing).map(|problem| ("the request", problem))
}

/// Texts of several words, and those with words of a run. Members for the reference gateway do not count.
fn sentences(scenario: &Scenario) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut due = vec![&*scenario.request];
    while let Some(value) = due.pop() {
        match value {
            Value::String(text) => {
                let text = without_directives(text);
                if text.contains(' ') || text.contains("{{") {
                    found.insert(text);
                }
            }
            Value::Array(entries) => due.extend(entries),
            Value::Object(members) => due.extend(members.values()),
            _ => {}
        }
    }
    found
}

fn without_directives(text: &str) -> String {
    let mut pieces = text.split("[[");
    let first = pieces.next().unwrap_or_default();
    let rest = pieces.filter_map(|piece| Some(piece.split_once("]]")?.1));
    std::iter::once(first).chain(rest).collect::<String>().trim().to_owned()
}

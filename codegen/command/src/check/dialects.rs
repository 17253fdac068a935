//! Checks that every entry of a dialect and every erratum has an effect.

use std::fs;

use codegen::dialect::Dialect;
use codegen::folders::paths;
use codegen::formats::Operation;
use codegen::sound::{Report, SourcePlace};
use serde_json::Value;

use super::context::{Context, in_dialect};
use crate::features;

pub(super) fn check(context: &Context, report: &mut Report) {
    for dialect in context.dialects.values() {
        repeated_files(context, dialect, report);
        levels(context, dialect, report);
        operations(context, dialect, report);
        if dialect.events.is_empty() {
            let file = in_dialect(&dialect.name, "dialect.toml");
            report.find(
                file,
                SourcePlace::File,
                "the dialect has no events",
                "add event files to events/, or set `extends`",
            );
        }
    }
    features(context, report);
}

fn repeated_files(context: &Context, dialect: &Dialect, report: &mut Report) {
    let Some(parent) = dialect.lineage.first().and_then(|name| context.dialects.get(name)) else { return };
    for kind in ["events", "types"] {
        for (name, file) in context.own_files(&dialect.name, kind) {
            let inherited = match kind {
                "events" => parent.events.get(&name).map(|event| &event.file),
                _ => parent.type_files.get(&name),
            };
            let text = fs::read_to_string(context.spec.join(&file)).unwrap_or_default();
            let own: Option<Value> = serde_json::from_str(&text).ok();
            if inherited.is_some() && own.as_ref() == inherited {
                let message = format!("the file is identical to the inherited one of \"{}\"", parent.name);
                report.find(file, SourcePlace::File, message, "remove the file");
            }
        }
    }
}

fn operations(context: &Context, dialect: &Dialect, report: &mut Report) {
    let sent: Vec<Operation> =
        context.catalogue.scenarios.values().map(|scenario| scenario.operation).collect();
    for operation in &dialect.own.operations {
        if *operation == Operation::Create || !sent.contains(operation) {
            let message = format!("no scenario uses the operation {operation:?}");
            let file = in_dialect(&dialect.name, "dialect.toml");
            report.find(file, "operations", message, "add a scenario, or remove the entry");
        }
    }
}

fn levels(context: &Context, dialect: &Dialect, report: &mut Report) {
    let file = in_dialect(&dialect.name, "dialect.toml");
    for (index, entry) in dialect.own.rules.iter().enumerate() {
        let mut find = |message: String, help: &str| {
            report.find(&file, format!("[[rule]] {}", entry.id), message, help);
        };
        let Some(rule) = context.catalogue.rules.get(&entry.id) else {
            find(
                format!("there is no rule {}", entry.id),
                "use the id of a rule under rules/, or remove the entry",
            );
            continue;
        };
        if dialect.own.rules[..index].iter().any(|earlier| earlier.id == entry.id) {
            find("the rule has two entries".to_owned(), "remove one of them");
        } else if entry.level == rule.level_in(&dialect.file.api) {
            find("the level equals the rule's own level".to_owned(), "remove the entry");
        }
        if entry.reason.trim().is_empty() {
            find("the reason is empty".to_owned(), "explain why the level differs");
        }
    }
}

/// The crates need a feature for every dialect. A dialect that is only an alias shares the feature of the other one.
fn features(context: &Context, report: &mut Report) {
    for manifest in features::MANIFESTS {
        let Ok(text) = fs::read_to_string(context.spec.join(manifest.path)) else { continue };
        let Ok(table) = toml::from_str::<toml::Table>(&text) else { continue };
        let declared = table.get("features").and_then(toml::Value::as_table);
        let list = |name: &str| declared?.get(name)?.as_array();
        let listed: Vec<_> = ["all-dialects", "default"].into_iter().filter_map(list).flatten().collect();
        for name in context.dialects.keys().filter(|name| !is_alias(context, name)) {
            let feature = features::name(name);
            let known = declared.is_some_and(|all| all.contains_key(&feature));
            if !known || !listed.iter().any(|entry| entry.as_str() == Some(&feature)) {
                let message = format!("the dialect \"{name}\" has no cargo feature");
                let line = manifest.line(&feature);
                let help = format!("add `{line}` to [features], and \"{feature}\" to `all-dialects`");
                report.find(manifest.path, "[features]", message, help);
            }
        }
    }
}

/// Another dialect extends this one, and has nothing of its own.
fn is_alias(context: &Context, name: &String) -> bool {
    context.dialects.values().any(|heir| {
        heir.lineage.first() == Some(name)
            && ["events", "types"]
                .iter()
                .all(|kind| paths(&context.spec.join(in_dialect(&heir.name, kind))).is_empty())
    })
}

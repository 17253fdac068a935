//! Checks that every event, type and property has a description, and that `glossary.toml` has no unused entry.

use std::collections::{BTreeMap, BTreeSet};

use codegen::schema::escape;
use serde_json::Value;

use super::context::Context;
use super::report::{Report, SourcePlace};
use super::walk::properties;

pub(super) fn check(context: &Context, report: &mut Report) {
    let glossary = &context.shared.glossary;
    let mut used: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for dialect in context.dialects.values() {
        let events = dialect.events.values().map(|event| ("events", event.name.as_str(), &event.file));
        let types = dialect.type_files.iter().map(|(name, file)| ("types", name.as_str(), file));
        for (kind, name, json) in events.chain(types) {
            let file = context.owner(dialect, &format!("{kind}/{name}.json"));
            if is_blank(json) {
                let kind = kind.trim_end_matches('s');
                report.find(
                    &file,
                    SourcePlace::File,
                    format!("the {kind} has no description"),
                    "add a `description` of one sentence",
                );
            }
            let declared = used.entry(name).or_default();
            properties(json, &mut |object, property, schema| {
                declared.insert(property);
                if is_blank(schema)
                    && glossary.meaning(name, property).is_none_or(|text| text.trim().is_empty())
                {
                    let message = format!("the property `{property}` has no description");
                    let help = "describe it in glossary.toml under [properties], or add a `description` here";
                    let pointer = format!("{object}/properties/{}", escape(property));
                    report.find(&file, SourcePlace::pointer(pointer), message, help);
                }
            });
        }
    }
    let everywhere: BTreeSet<&str> = used.values().flatten().copied().collect();
    for name in glossary.properties.keys().filter(|name| !everywhere.contains(name.as_str())) {
        unused(report, format!("[properties] {name}"), format!("no dialect has a property `{name}`"));
    }
    for (name, own) in &glossary.types {
        let declared = used.get(name.as_str());
        if declared.is_none() {
            unused(report, format!("[types] {name}"), format!("no dialect has a type or event {name}"));
        }
        for property in
            own.keys().filter(|property| declared.is_some_and(|all| !all.contains(property.as_str())))
        {
            unused(
                report,
                format!("[types] {name} {property}"),
                format!("{name} has no property `{property}`"),
            );
        }
    }
    for name in glossary.names.keys().filter(|name| !used.contains_key(name.as_str())) {
        unused(report, format!("[names] {name}"), format!("no dialect has a type {name}"));
    }
    for (name, own) in &glossary.defaults {
        for (property, json) in own {
            let entry = format!("[defaults.{name}] {property}");
            let is_declared = used.get(name.as_str()).is_some_and(|all| all.contains(property.as_str()));
            if !is_declared {
                unused(report, entry, format!("{name} has no property `{property}`"));
            } else if let Err(error) = serde_json::from_str::<Value>(json) {
                let message = format!("the default is not JSON: {error}");
                report.find(
                    "glossary.toml",
                    entry,
                    message,
                    "write JSON; a string needs its own quotes: '\"text\"'",
                );
            }
        }
    }
}

fn is_blank(schema: &Value) -> bool {
    schema.get("description").and_then(Value::as_str).is_none_or(|text| text.trim().is_empty())
}

fn unused(report: &mut Report, entry: String, message: String) {
    report.find("glossary.toml", entry, message, "correct or remove the entry");
}

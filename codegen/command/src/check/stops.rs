//! Checks that events and bodies end for the same reasons, and that `twins.toml` has the classes of each.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use codegen::dialect::Dialect;
use codegen::formats::Stop;
use codegen::schema::escape;
use serde::Deserialize;
use serde_json::Value;

use super::context::{Context, in_dialect};
use super::report::{Report, SourcePlace};
use super::walk::properties;

const TWINS: &str = "twins.toml";

#[derive(Deserialize)]
struct Twins {
    stop: BTreeMap<String, BTreeMap<String, Vec<String>>>,
}

struct Reasons<'d> {
    /// The event or type that has it, its folder, and the place in it.
    name: &'d str,
    folder: &'static str,
    pointer: String,
    words: BTreeSet<String>,
}

pub(super) fn check(context: &Context, report: &mut Report) {
    let Ok(text) = fs::read_to_string(context.spec.join(TWINS)) else { return };
    let twins: Twins = match toml::from_str(&text) {
        Ok(twins) => twins,
        Err(error) => return report.find(TWINS, SourcePlace::File, error.message(), "correct the file"),
    };
    let classes: BTreeSet<&str> =
        twins.stop.values().flat_map(BTreeMap::values).flatten().map(String::as_str).collect();
    let classes = classes.into_iter().collect::<Vec<_>>().join(", ");
    for (name, api) in &context.shared.apis {
        let Some(stop) = &api.stop else { continue };
        let place = format!("[stop.{name}]");
        let known = twins.stop.get(name);
        let is_status = stop.member == api.status.member;
        let mut words = BTreeSet::new();
        if is_status {
            words.extend(api.scopes.get(&stop.scope).into_iter().flat_map(|scope| &scope.ends).cloned());
        } else {
            for dialect in context.dialects.values().filter(|dialect| dialect.file.api == *name) {
                let all = reasons(dialect, stop);
                differences(context, dialect, stop, &all, report);
                words.extend(all.into_iter().flat_map(|reasons| reasons.words));
            }
        }
        for word in words.iter().filter(|word| known.is_none_or(|known| !known.contains_key(*word))) {
            let message = format!("the stop reason \"{word}\" has no class");
            let help = format!("add `{word} = [...]` with the classes that it can have: {classes}");
            report.find(TWINS, &*place, message, help);
        }
        // A body can have a status that no stream ends with, and a dialect need not list its words.
        let unused = known.filter(|_| !is_status && !words.is_empty()).into_iter().flat_map(BTreeMap::keys);
        for word in unused.filter(|word| !words.contains(*word)) {
            let message = format!("no dialect has the stop reason \"{word}\"");
            report.find(TWINS, &*place, message, "correct or remove the entry");
        }
    }
}

fn reasons<'d>(dialect: &'d Dialect, stop: &Stop) -> Vec<Reasons<'d>> {
    let mut all = Vec::new();
    let events = dialect.events.values().map(|event| ("events", event.name.as_str(), &event.file));
    let types = dialect.type_files.iter().map(|(name, file)| ("types", name.as_str(), file));
    for (folder, name, json) in events.chain(types) {
        properties(json, &mut |object, property, schema| {
            let words = words(schema);
            // Other members have the same name.
            if property == stop.member && stop.usual.iter().all(|usual| words.contains(usual)) {
                let pointer = format!("{object}/properties/{}", escape(property));
                all.push(Reasons { name, folder, pointer, words });
            }
        });
    }
    all
}

/// Stop reasons that only some events and types have.
fn missing<'r, 'd>(all: &'r [Reasons<'d>]) -> Vec<(&'r Reasons<'d>, &'r Reasons<'d>, &'r str)> {
    let mut found = Vec::new();
    for one in all {
        for other in all {
            let more = other.words.difference(&one.words).filter(|word| {
                !found
                    .iter()
                    .any(|(of, _, known): &(&Reasons<'_>, _, &str)| std::ptr::eq(*of, one) && known == word)
            });
            let more: Vec<_> = more.map(|word| (one, other, word.as_str())).collect();
            found.extend(more);
        }
    }
    found
}

fn differences(context: &Context, dialect: &Dialect, stop: &Stop, all: &[Reasons<'_>], report: &mut Report) {
    let parent = dialect.lineage.first().and_then(|name| context.dialects.get(name));
    let inherited = parent.map(|parent| reasons(parent, stop)).unwrap_or_default();
    for (one, other, word) in missing(all) {
        // Dialects inherit the event from this one, so it is reported here.
        if missing(&inherited).iter().any(|(of, _, known)| of.name == one.name && *known == word) {
            continue;
        }
        let file = |of: &Reasons<'_>| context.owner(dialect, &format!("{}/{}.json", of.folder, of.name));
        let own = in_dialect(&dialect.name, "");
        let at = if file(one).starts_with(&own) { one } else { other };
        let (member, lacks, has) = (&stop.member, one.name, other.name);
        let message = format!("{lacks} has no `{member}` \"{word}\", which {has} has");
        let help = format!("add it to {lacks} of {}, or remove it from {has}", dialect.name);
        report.find(file(at), SourcePlace::pointer(&at.pointer), message, help);
    }
}

fn words(schema: &Value) -> BTreeSet<String> {
    let branches = schema.get("anyOf").and_then(Value::as_array).into_iter().flatten();
    let values = std::iter::once(schema).chain(branches).filter_map(|branch| branch.get("enum")?.as_array());
    values.flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

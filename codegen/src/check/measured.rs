//! Checks that `measured.toml` lists every client of the rule pages, and has the outcome of each client for each stream.

use std::collections::BTreeSet;

use super::context::Context;
use super::report::{Place, Report};
use crate::folders::{MEASURED, PLAYED};
use crate::formats::Outcome;

pub(super) fn check(context: &Context, report: &mut Report) {
    let measured = &context.catalogue.measured;
    let clients = &measured.clients;
    let mut named: BTreeSet<&str> = BTreeSet::new();
    for rule in context.catalogue.rules.values() {
        let file = context.file("rules", &rule.id, "md");
        for broken in &rule.breaks {
            named.insert(&broken.client);
            let mut find =
                |message: String, help: &str| report.find(&file, Place::entry("breaks"), message, help);
            if !clients.iter().any(|known| known.name == broken.client) {
                find(
                    format!("there is no client \"{}\"", broken.client),
                    "use a client that measured.toml lists",
                );
            }
            if broken.source.starts_with("docs/") {
                find(
                    format!("\"{}\" is no report of a user", broken.source),
                    "remove the entry: what was measured comes from measured.toml",
                );
            }
        }
    }
    let file = context.table(MEASURED);
    for (index, client) in clients.iter().enumerate() {
        let name = &client.name;
        let mut find = |message: String, help: &str| report.find(&file, Place::entry(name), message, help);
        if clients.iter().take(index).any(|before| before.name == *name) {
            find(format!("the client \"{name}\" is listed twice"), "remove one of them");
        }
        if !context.dialects.contains_key(&client.dialect) {
            find(format!("there is no dialect \"{}\"", client.dialect), "use a dialect under dialects/");
        }
        if client.version.is_none() && !named.contains(name.as_str()) {
            find(
                format!("the client \"{name}\" has neither a version nor a rule that it breaks on"),
                "list it under `breaks` of a rule page, or remove it",
            );
        }
        for stream in client.errors.keys() {
            if measured.outcome(name, stream) != Outcome::Exception {
                find(
                    format!("\"{name}\" has an error on \"{stream}\", but no outcome that is one"),
                    "measure it again with `tests/clients/run --write`",
                );
            }
        }
    }
    streams(context, report);
}

fn streams(context: &Context, report: &mut Report) {
    let file = context.table(MEASURED);
    let (measured, played) = (&context.catalogue.measured, &context.catalogue.played);
    let columns = measured.measured().count();
    for (stream, letters) in &measured.outcomes {
        let mut find = |message: String, help: &str| report.find(&file, Place::entry(stream), message, help);
        if !is_stream(context, stream) {
            find(
                format!("there is no stream \"{stream}\""),
                "write `defect/<name>` for a defect, `fault/<rule>` for the violation of a rule",
            );
        }
        if letters.chars().count() != columns || letters.chars().any(|letter| Outcome::of(letter).is_none()) {
            find(
                format!("\"{letters}\" are not the outcomes of {columns} clients"),
                "measure it again with `tests/clients/run --write`",
            );
        }
    }
    for stream in played.0.keys().filter(|stream| !measured.outcomes.contains_key(*stream)) {
        let message = format!("no client was measured with the stream \"{stream}\"");
        report.find(
            context.table(PLAYED),
            Place::entry(stream),
            message,
            "BLESS=1 cargo test -p tests --test measured",
        );
    }
}

fn is_stream(context: &Context, stream: &str) -> bool {
    let catalogue = &context.catalogue;
    match stream.split_once('/') {
        Some(("defect", name)) => catalogue.defects.defects.iter().any(|defect| defect.name == name),
        Some(("fault", rule)) => catalogue.rules.contains_key(rule),
        // The suite derives these from goldens; its tests compare the names.
        Some(("member" | "order" | "sound", _)) => true,
        _ => false,
    }
}

//! Checks that `measured.toml` lists every client of the rule pages, and has the outcome of each client for each stream, and that
//! `impact.toml` is about its clients.

use std::collections::BTreeSet;

use codegen::folders::{IMPACT, MEASURED, table_of};
use codegen::formats::{Client, ImpactFile, MeasuredFile, Outcome};

use super::context::Context;
use super::report::Report;

pub(super) fn check(context: &Context, report: &mut Report) {
    let clients: Vec<&Client> = context.catalogue.measured.values().flat_map(|file| &file.clients).collect();
    let mut named: BTreeSet<&str> = BTreeSet::new();
    for rule in context.catalogue.rules.values() {
        let own = rule.in_apis.iter().flat_map(|own| own.breaks.iter().map(move |broken| (own, broken)));
        for (own, broken) in own {
            named.insert(&broken.client);
            let (file, entry) = context.place_in_api(rule, own, "breaks");
            let mut find = |message: String, help: &str| report.find(&file, entry.clone(), message, help);
            if !clients.iter().any(|known| known.name == broken.client) {
                find(
                    format!("there is no client \"{}\"", broken.client),
                    "use a client that a measured.toml lists",
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
    for (index, client) in clients.iter().enumerate() {
        let name = &client.name;
        let file = table_of(&client.api, MEASURED);
        let mut find = |message: String, help: &str| report.find(&file, name, message, help);
        if clients.iter().take(index).any(|before| before.name == *name) {
            find(format!("the client \"{name}\" is listed twice"), "remove one of them");
        }
        match context.dialects.get(&client.dialect) {
            None => {
                find(format!("there is no dialect \"{}\"", client.dialect), "use a dialect under dialects/");
            }
            Some(dialect) if dialect.file.api != client.api => {
                let message = format!("{} is a dialect of another API", client.dialect);
                find(message, "list the client in the file of that API");
            }
            Some(_) => {}
        }
        let was_played = || {
            let file = context.catalogue.impact.get(&client.api);
            file.is_some_and(|file| file.clients.iter().any(|played| played.name == *name))
        };
        if client.version.is_none() && !named.contains(name.as_str()) && !was_played() {
            find(
                format!(
                    "the client \"{name}\" has neither a version, nor outcomes, nor a rule that it breaks on"
                ),
                "play samples to it, list it under `breaks` of a rule page, or remove it",
            );
        }
        for stream in client.errors.keys() {
            let measured = context.catalogue.measured.get(&client.api);
            if measured.is_none_or(|file| file.outcome(name, stream) != Outcome::Exception) {
                find(
                    format!("\"{name}\" has an error on \"{stream}\", but no outcome that is one"),
                    "measure it again with `tests/clients/run --write`",
                );
            }
        }
    }
    for (api, measured) in &context.catalogue.measured {
        streams(context, api, measured, report);
    }
    for (api, file) in &context.catalogue.impact {
        impact(context, api, file, report);
    }
}

fn streams(context: &Context, api: &str, measured: &MeasuredFile, report: &mut Report) {
    let file = table_of(api, MEASURED);
    let columns = measured.measured().count();
    for (stream, letters) in &measured.outcomes {
        let mut find = |message: String, help: &str| report.find(&file, stream, message, help);
        if !is_stream(context, stream) {
            find(
                format!("there is no stream \"{stream}\""),
                "write `defect/<name>` for a defect, `fault/<rule>` for the violation of a rule, `legal/<name>` for a case",
            );
        }
        if letters.chars().count() != columns || letters.chars().any(|letter| Outcome::of(letter).is_none()) {
            find(
                format!("\"{letters}\" are not the outcomes of {columns} clients"),
                "measure it again with `tests/clients/run --write`",
            );
        }
    }
}

/// Each row of `impact.toml` has one word for each client, and `measured.toml` lists these clients, too.
fn impact(context: &Context, api: &str, file: &ImpactFile, report: &mut Report) {
    let path = table_of(api, IMPACT);
    let help = "measure it again with `cargo run -p tests --example measure_impact`";
    let known = context.catalogue.measured.get(api).map_or(&[][..], |file| &file.clients);
    for client in file.clients.iter().filter(|client| !known.iter().any(|known| known.name == client.name)) {
        let message = format!("there is no client \"{}\"", client.name);
        report.find(&path, &client.name, message, "use a client that the measured.toml of the API lists");
    }
    for (kinds, words) in file.rows() {
        let is_word = |word: &str| {
            let mut rest = word.chars();
            rest.next().is_some_and(|letter| ImpactFile::LETTERS.contains(letter))
                && (rest.as_str().is_empty() || rest.as_str().parse::<usize>().is_ok())
        };
        let count = words.split(' ').filter(|word| is_word(word)).count();
        if count != file.clients.len() || count != words.split(' ').count() {
            let message = format!("\"{words}\" are not the outcomes of {} clients", file.clients.len());
            report.find(&path, kinds, message, help);
        }
        for kind in kinds.split(ImpactFile::AND).filter(|kind| *kind != ImpactFile::ANY) {
            let rule = kind.split_once(' ').map_or(kind, |(rule, _)| rule);
            if !context.catalogue.rules.contains_key(rule) {
                report.find(&path, kinds, format!("there is no rule \"{rule}\""), help);
            }
        }
    }
}

fn is_stream(context: &Context, stream: &str) -> bool {
    let catalogue = &context.catalogue;
    match stream.split_once('/') {
        Some(("defect", name)) => catalogue.defects.defects.iter().any(|defect| defect.name == name),
        Some(("fault", rule)) => catalogue.rules.contains_key(rule),
        Some(("legal", _)) => catalogue.client_cases.iter().any(|case| case.id == stream),
        // The suite derives these from goldens; its tests compare the names.
        Some(("member" | "order" | "sound", _)) => true,
        _ => false,
    }
}

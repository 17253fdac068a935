//! Every defect names a golden, rules and clients that there are, and says one thing of itself.

use std::collections::BTreeSet;

use super::context::Context;
use super::report::{Place, Report};
use super::{catalogue, violations};
use crate::formats::{Client, Defect, DefectVerdict};

const FILE: &str = "defects.toml";

pub(super) fn check(context: &Context, report: &mut Report) {
    let defects = &context.defects;
    check_clients(context, report);
    for (index, defect) in defects.defects.iter().enumerate() {
        let name = &defect.name;
        let mut find = |message: String, help: &str| report.find(FILE, Place::entry(name), message, help);
        if defects.defects.iter().take(index).any(|before| before.name == *name) {
            find(format!("{name} is there twice"), "give each its own name");
        }
        let mut clients: Vec<&str> = Vec::new();
        for (client, _) in defect.broken_clients() {
            if !defects.clients.iter().any(|known| known.name == client) {
                find(format!("there is no client \"{client}\""), "name a client that the file lists");
            }
            if clients.contains(&client) {
                find(format!("\"{client}\" is listed twice"), "a client fails in one way only");
            }
            clients.push(client);
        }
        for rule in defect.at.keys().filter(|rule| !defect.rules.contains(rule)) {
            let message = format!("`at` says where {rule} is broken, but {rule} does not catch it");
            report.find(FILE, Place::entry(name), message, "name one of its `rules`");
        }
        check_verdict(context, defect, report);
        check_expectation(defect, report);
        violations::check_entry(context, &defect.golden, &defect.edits, FILE, name, report);
    }
}

/// Every client that a page or a defect names is listed, with a dialect that there is; and no other.
fn check_clients(context: &Context, report: &mut Report) {
    let clients = &context.defects.clients;
    let mut used: BTreeSet<&str> = BTreeSet::new();
    for rule in context.catalogue.rules.values() {
        for broken in &rule.metadata.breaks {
            used.insert(&broken.client);
            if !clients.iter().any(|known| known.name == broken.client) {
                let (file, message) =
                    (format!("rules/{}.md", rule.id), format!("there is no client \"{}\"", broken.client));
                report.find(&file, Place::entry("breaks"), message, "name a client that defects.toml lists");
            }
        }
    }
    let defects = context.defects.defects.iter();
    used.extend(defects.flat_map(|defect| defect.broken_clients().map(|(client, _)| client)));
    for (index, Client { name, dialect, version }) in clients.iter().enumerate() {
        let mut find = |message: String, help: &str| report.find(FILE, Place::entry(name), message, help);
        if clients.iter().take(index).any(|before| before.name == *name) {
            find(format!("the client \"{name}\" is there twice"), "keep one of them");
        }
        if !context.dialects.contains_key(dialect) {
            find(format!("there is no dialect \"{dialect}\""), "name a dialect under dialects/");
        }
        // One that was tried may have borne everything.
        if version.is_none() && !used.contains(name.as_str()) {
            find(
                format!("nothing is known of the client \"{name}\""),
                "name it under `breaks`, or remove it",
            );
        }
    }
}

fn check_verdict(context: &Context, defect: &Defect, report: &mut Report) {
    let entry = || Place::entry(&defect.name);
    match defect.verdict() {
        None => {
            let message = "it says nothing, or more than one thing, of what catches it";
            report.find(FILE, entry(), message, "give exactly one of `rules`, `legal`, `unseen` and `gap`");
        }
        Some(DefectVerdict::Caught(rules)) => {
            for rule in rules {
                catalogue::known_rule(context, rule, FILE, &defect.name, report);
            }
        }
        Some(DefectVerdict::Legal(why) | DefectVerdict::Unseen(why) | DefectVerdict::Gap(why)) => {
            if why.trim().is_empty() {
                report.find(FILE, entry(), "the reason is empty", "say why, or what is to be written");
            }
        }
    }
}

/// What a client has to do with a defect, and why.
fn check_expectation(defect: &Defect, report: &mut Report) {
    let mut find = |message: &str, help: &str| report.find(FILE, Place::entry(&defect.name), message, help);
    if defect.expect.is_some() != defect.because.is_some() {
        find("`expect` and `because` go together", "give both, or none");
    }
    let is_due = matches!(defect.verdict(), Some(DefectVerdict::Legal(why) | DefectVerdict::Unseen(why)) if !why.trim().is_empty());
    if is_due && defect.authority.is_none() || !defect.rules.is_empty() && defect.authority.is_some() {
        find(
            "a client may ask what makes this binding",
            "name an `authority` where no rule does, and only there",
        );
    }
}

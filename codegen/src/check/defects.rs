//! Every defect names a golden, rules and clients that there are, and says one thing of itself.

use super::context::Context;
use super::report::{Place, Report};
use super::{catalogue, violations};
use crate::formats::{Defect, DefectVerdict};

const FILE: &str = "defects.toml";

pub(super) fn check(context: &Context, report: &mut Report) {
    let defects = &context.defects;
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
        check_verdict(context, defect, report);
        violations::check_entry(context, &defect.golden, &defect.edits, FILE, name, report);
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

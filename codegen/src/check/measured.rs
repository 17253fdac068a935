//! Checks that `measured.toml` lists every client of the rule pages, and refers only to existing cases.

use std::collections::BTreeSet;

use super::context::Context;
use super::report::{Place, Report};
use crate::catalogue::MEASURED as FILE;

pub(super) fn check(context: &Context, report: &mut Report) {
    let clients = &context.catalogue.measured.clients;
    let mut named: BTreeSet<&str> = BTreeSet::new();
    for rule in context.catalogue.rules.values() {
        for broken in &rule.metadata.breaks {
            named.insert(&broken.client);
            if !clients.iter().any(|known| known.name == broken.client) {
                let (file, message) =
                    (format!("rules/{}.md", rule.id), format!("there is no client \"{}\"", broken.client));
                report.find(&file, Place::entry("breaks"), message, "use a client that measured.toml lists");
            }
        }
    }
    for (index, client) in clients.iter().enumerate() {
        let name = &client.name;
        let mut find = |message: String, help: &str| report.find(FILE, Place::entry(name), message, help);
        if clients.iter().take(index).any(|before| before.name == *name) {
            find(format!("the client \"{name}\" is listed twice"), "remove one of them");
        }
        if !context.dialects.contains_key(&client.dialect) {
            find(format!("there is no dialect \"{}\"", client.dialect), "use a dialect under dialects/");
        }
        let mut cases = BTreeSet::new();
        for claim in client.claims() {
            if !is_case(context, claim.case) {
                let message = format!("there is no case \"{}\"", claim.case);
                find(
                    message,
                    "write `defect/<name>` for a defect, `fault/<rule>` for the violation of a rule",
                );
            }
            if !cases.insert(claim.case) {
                let message = format!("\"{}\" is listed twice for \"{name}\"", claim.case);
                find(message, "list the case once");
            }
        }
        match (&client.version, cases.is_empty()) {
            (None, false) => find(
                format!("\"{name}\" has measured cases, but no `version`"),
                "set `version`, or remove the cases",
            ),
            // A client with a version may have survived every case.
            (None, true) if !named.contains(name.as_str()) => find(
                format!("the client \"{name}\" has neither a version nor a rule that it breaks on"),
                "list it under `breaks` of a rule page, or remove it",
            ),
            _ => {}
        }
    }
}

fn is_case(context: &Context, case: &str) -> bool {
    let catalogue = &context.catalogue;
    match case.split_once('/') {
        Some(("defect", name)) => catalogue.defects.defects.iter().any(|defect| defect.name == name),
        Some(("fault", rule)) => catalogue.rules.contains_key(rule),
        _ => false,
    }
}

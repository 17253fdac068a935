//! Every client that a page names is listed, and what was measured names streams that there are.

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
                report.find(&file, Place::entry("breaks"), message, "name a client that measured.toml lists");
            }
        }
    }
    for (index, client) in clients.iter().enumerate() {
        let name = &client.name;
        let mut find = |message: String, help: &str| report.find(FILE, Place::entry(name), message, help);
        if clients.iter().take(index).any(|before| before.name == *name) {
            find(format!("the client \"{name}\" is there twice"), "keep one of them");
        }
        if !context.dialects.contains_key(&client.dialect) {
            find(format!("there is no dialect \"{}\"", client.dialect), "name a dialect under dialects/");
        }
        let mut cases = BTreeSet::new();
        for claim in client.claims() {
            if !is_case(context, claim.case) {
                let message = format!("there is no case \"{}\"", claim.case);
                find(message, "name a defect as `defect/<name>`, or a rule as `fault/<rule>`");
            }
            if !cases.insert(claim.case) {
                let message = format!("\"{}\" is listed twice for \"{name}\"", claim.case);
                find(message, "a client fails in one way only");
            }
        }
        match (&client.version, cases.is_empty()) {
            (None, false) => find(
                format!("it is not said with which version \"{name}\" was measured"),
                "name the `version`, or leave out what was measured",
            ),
            // One that was tried may have survived everything.
            (None, true) if !named.contains(name.as_str()) => find(
                format!("nothing is known of the client \"{name}\""),
                "name it under `breaks`, or remove it",
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

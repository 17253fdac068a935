//! Checks that profiles refer to existing cases, rules and scenarios, and require only MUST rules.

use std::path::Path;

use codegen::dialect::Dialect;
use codegen::formats::{ClientCase, ClientProfile, Level, Profile};

use super::catalogue::{known_rule, known_scenario};
use super::context::Context;
use super::report::Report;

pub(super) fn check(context: &Context, report: &mut Report) {
    for (name, profile) in &context.catalogue.profiles {
        check_profile(context, &context.file("profiles", name, "toml"), profile, report);
    }
    for (name, profile) in &context.catalogue.client_profiles {
        check_client_profile(context, &context.file("client-profiles", name, "toml"), profile, report);
    }
}

fn check_client_profile(context: &Context, file: &Path, profile: &ClientProfile, report: &mut Report) {
    let catalogue = &context.catalogue;
    let dialects = specifications(context, file, &profile.specifications, report);
    let is_of_api = |case: &&ClientCase| {
        case.api.as_ref().is_none_or(|api| dialects.iter().any(|dialect| dialect.file.api == *api))
    };
    for id in &profile.cases {
        let is_known = match id.split_once('/') {
            Some(("defect", name)) => catalogue.defects.defects.iter().any(|defect| defect.name == name),
            Some(("fault", rule)) => catalogue.rules.contains_key(rule),
            _ => catalogue.client_cases.iter().filter(is_of_api).any(|case| case.id == *id),
        };
        if !is_known {
            let message = format!("there is no case {id}");
            report.find(
                file,
                "cases",
                message,
                "use the id of a page under clients/, `defect/<name>` or `fault/<rule>`",
            );
        }
    }
    check_lists(file, &[("specifications", &profile.specifications), ("cases", &profile.cases)], report);
    if profile.transports.is_empty() {
        let message = "`transports` is empty".to_owned();
        report.find(file, "transports", message, "list at least one transport");
    }
}

fn specifications<'c>(
    context: &'c Context,
    file: &Path,
    names: &[String],
    report: &mut Report,
) -> Vec<&'c Dialect> {
    let mut dialects = Vec::new();
    for name in names {
        match context.dialects.get(name) {
            Some(dialect) => dialects.push(dialect),
            None => report.find(
                file,
                "specifications",
                format!("there is no dialect \"{name}\""),
                "use a dialect under dialects/",
            ),
        }
    }
    dialects
}

fn check_profile(context: &Context, file: &Path, profile: &Profile, report: &mut Report) {
    let dialects = specifications(context, file, &profile.specifications, report);
    for id in &profile.rules {
        known_rule(context, id, file, "rules", report);
        if !dialects.is_empty() && !dialects.iter().any(|dialect| is_must(context, id, dialect)) {
            let message = format!("{id} is not a MUST in any of the specifications");
            report.find(file, "rules", message, "remove the rule: a certificate requires only MUST rules");
        }
    }
    for id in profile.scenarios.iter().flat_map(|ids| ids.split('|')) {
        known_scenario(context, id, file, "scenarios", report);
        let has_it = |dialect: &&Dialect| context.catalogue.scenario(Some(&dialect.file.api), id).is_some();
        if let Some(dialect) = dialects.iter().find(|dialect| !has_it(dialect)) {
            let message = format!("{} has no scenario {id}", dialect.name);
            report.find(file, "scenarios", message, "use a scenario of its API");
        }
    }
    let lists = [
        ("specifications", &profile.specifications),
        ("rules", &profile.rules),
        ("scenarios", &profile.scenarios),
    ];
    check_lists(file, &lists, report);
}

fn check_lists(file: &Path, lists: &[(&str, &Vec<String>)], report: &mut Report) {
    for (entry, list) in lists.iter().copied() {
        if list.is_empty() {
            report.find(file, entry, format!("`{entry}` is empty"), "add at least one entry");
        }
        for (index, id) in list.iter().enumerate().filter(|(index, id)| list[..*index].contains(id)) {
            let message = format!("{id} is listed twice, again as entry {}", index + 1);
            report.find(file, entry, message, "remove one of them");
        }
    }
}

/// Another check reports unknown rules.
fn is_must(context: &Context, id: &str, dialect: &Dialect) -> bool {
    let Some(rule) = context.catalogue.rules.get(id) else { return true };
    let only_in = &rule.only_in;
    // Other checks report an API that is unknown, or has nothing to say about the rule.
    let is_known = context.shared.apis.contains_key(&dialect.file.api) && !rule.in_apis.is_empty();
    let is_of_api = !is_known || rule.in_api(&dialect.file.api).is_some();
    let binds = only_in.is_empty()
        || only_in.iter().any(|name| *name == dialect.name || dialect.lineage.contains(name));
    let own = dialect.file.rules.iter().find(|entry| entry.id == id).map(|entry| entry.level);
    is_of_api && binds && own.unwrap_or_else(|| rule.level_in(&dialect.file.api)) == Level::Must
}

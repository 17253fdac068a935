//! Profiles name what there is, and demand only what binds.

use super::catalogue::{known_rule, known_scenario};
use super::context::Context;
use super::report::{Place, Report};
use crate::dialect::Dialect;
use crate::formats::{ClientProfileFile, Level, ProfileFile};

pub(super) fn check(context: &Context, report: &mut Report) {
    for (name, profile) in &context.catalogue.profiles {
        check_profile(context, &format!("profiles/{name}.toml"), profile, report);
    }
    for (name, profile) in &context.catalogue.client_profiles {
        check_client_profile(context, &format!("client-profiles/{name}.toml"), profile, report);
    }
}

fn check_client_profile(context: &Context, file: &str, profile: &ClientProfileFile, report: &mut Report) {
    let catalogue = &context.catalogue;
    specifications(context, file, &profile.specifications, report);
    for id in &profile.cases {
        let is_known = match id.split_once('/') {
            Some(("defect", name)) => catalogue.defects.defects.iter().any(|defect| defect.name == name),
            Some(("fault", rule)) => catalogue.rules.contains_key(rule),
            _ => catalogue.client_cases.contains_key(id),
        };
        if !is_known {
            let message = format!("there is no case {id}");
            report.find(
                file,
                Place::entry("cases"),
                message,
                "name a page under clients/, a defect, or a fault",
            );
        }
    }
    check_lists(file, &[("specifications", &profile.specifications), ("cases", &profile.cases)], report);
    if profile.transports.is_empty() {
        let message = "it names none".to_owned();
        report.find(file, Place::entry("transports"), message, "say how the cases are sent");
    }
}

/// Returns the dialects of a profile, and reports names of others.
fn specifications<'c>(
    context: &'c Context,
    file: &str,
    names: &[String],
    report: &mut Report,
) -> Vec<&'c Dialect> {
    let mut dialects = Vec::new();
    for name in names {
        match context.dialects.get(name) {
            Some(dialect) => dialects.push(dialect),
            None => report.find(
                file,
                Place::entry("specifications"),
                format!("there is no dialect \"{name}\""),
                "name dialects of one version each",
            ),
        }
    }
    dialects
}

fn check_profile(context: &Context, file: &str, profile: &ProfileFile, report: &mut Report) {
    let dialects = specifications(context, file, &profile.specifications, report);
    for id in &profile.rules {
        known_rule(context, id, file, "rules", report);
        if !dialects.is_empty() && !dialects.iter().any(|dialect| is_must(context, id, dialect)) {
            let message = format!("{id} is a MUST in none of the specifications");
            report.find(
                file,
                Place::entry("rules"),
                message,
                "a certificate demands only what binds: take it out",
            );
        }
    }
    for id in profile.scenarios.iter().flat_map(|ids| ids.split('|')) {
        known_scenario(context, id, file, "scenarios", report);
    }
    let lists = [
        ("specifications", &profile.specifications),
        ("rules", &profile.rules),
        ("scenarios", &profile.scenarios),
    ];
    check_lists(file, &lists, report);
}

/// No list is empty, or names something twice.
fn check_lists(file: &str, lists: &[(&str, &Vec<String>)], report: &mut Report) {
    for (entry, list) in lists.iter().copied() {
        if list.is_empty() {
            report.find(
                file,
                Place::entry(entry),
                "it names none".to_owned(),
                "a certificate says something",
            );
        }
        for (index, id) in list.iter().enumerate().filter(|(index, id)| list[..*index].contains(id)) {
            let message = format!("{id} is listed twice, the second time as number {}", index + 1);
            report.find(file, Place::entry(entry), message, "list it once");
        }
    }
}

/// Whether a rule is a MUST in a dialect; what is no rule is told elsewhere.
fn is_must(context: &Context, id: &str, dialect: &Dialect) -> bool {
    let Some(rule) = context.catalogue.rules.get(id) else { return true };
    let only_in = &rule.metadata.only_in;
    let binds = only_in.is_empty()
        || only_in.iter().any(|name| *name == dialect.name || dialect.lineage.contains(name));
    let own = dialect.file.rules.iter().find(|entry| entry.id == id).map(|entry| entry.level);
    binds && own.unwrap_or(rule.metadata.level) == Level::Must
}

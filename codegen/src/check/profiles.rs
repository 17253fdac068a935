//! Profiles name what there is, and demand only what binds.

use super::catalogue::{known_rule, known_scenario};
use super::context::Context;
use super::report::{Place, Report};
use crate::dialect::Dialect;
use crate::formats::{Level, ProfileFile};

pub(super) fn check(context: &Context, report: &mut Report) {
    for (name, profile) in &context.catalogue.profiles {
        check_profile(context, &format!("profiles/{name}.toml"), profile, report);
    }
}

fn check_profile(context: &Context, file: &str, profile: &ProfileFile, report: &mut Report) {
    let mut dialects = Vec::new();
    for name in &profile.specifications {
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
    for (entry, list) in lists {
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

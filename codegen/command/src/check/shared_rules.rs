//! Checks that each API says what the shared rules are in it.

use std::path::Path;

use codegen::folders::{SHARED_RULES, apis, table_of};
use codegen::formats::{Rule, SharedRulesFile};

use super::context::Context;
use super::report::{Report, SourcePlace};

pub(super) fn check(context: &Context, report: &mut Report) {
    let rules = &context.catalogue.rules;
    for rule in rules.values().filter(|rule| rule.api.is_some() && rule.in_apis.is_empty()) {
        let help = "add `authority`, `citation`, `fix` and a violation";
        report.find(context.file("rules", &rule.id, "md"), "authority", "the authority is missing", help);
    }
    let none = SharedRulesFile::default();
    for api in apis(&context.spec) {
        let path = table_of(&api, SHARED_RULES);
        let file = context.catalogue.shared_rules.get(&api).unwrap_or(&none);
        check_file(context, &path, file, report);
        for rule in rules.values().filter(|rule| rule.api.is_none() && is_about(context, rule, &api)) {
            let listed = file.rules.iter().filter(|own| own.id == rule.id).count();
            let all = listed + usize::from(file.unjudged.contains_key(&rule.id));
            let message = match all {
                0 => format!("{api} does not say what the shared rule {} is in it", rule.id),
                1 => continue,
                _ => format!("{} has several entries", rule.id),
            };
            let help = "add one [[rule]] with authority, citation, fix and violation in the words of the API, or the reason why it does not \
                        judge the API under [unjudged]";
            report.find(&path, SourcePlace::File, message, help);
        }
    }
}

fn is_about(context: &Context, rule: &Rule, api: &str) -> bool {
    let mut dialects = rule.only_in.iter().filter_map(|name| context.dialects.get(name));
    rule.only_in.is_empty() || dialects.any(|dialect| dialect.file.api == api)
}

fn check_file(context: &Context, path: &Path, file: &SharedRulesFile, report: &mut Report) {
    let shared = |id: &str| context.catalogue.rules.get(id).filter(|rule| rule.api.is_none());
    for own in &file.rules {
        let entry = format!("[[rule]] {}", own.id);
        let Some(rule) = shared(&own.id) else {
            report.find(
                path,
                entry,
                format!("there is no shared rule {}", own.id),
                "use the id of a page in rules/",
            );
            continue;
        };
        if let Some(problem) = own.problem(rule.level) {
            report.find(path, entry, problem, "correct the entry");
        }
    }
    for (id, reason) in &file.unjudged {
        if shared(id).is_none() || reason.trim().is_empty() {
            let message = format!("{id} is no shared rule, or its reason is empty");
            report.find(path, "[unjudged]", message, "say why the rule does not judge the API");
        }
    }
}

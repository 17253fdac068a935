//! Checks the `structure` of rules: each family fits its scopes, and no two rules check the same.

use std::collections::BTreeMap;

use codegen::formats::{Family, Rule, Scope};

use super::context::Context;
use super::report::Report;

pub(super) fn check(context: &Context, report: &mut Report) {
    let mut taken: BTreeMap<(Family, &str), Vec<&Rule>> = BTreeMap::new();
    for rule in context.catalogue.rules.values() {
        let (families, scopes, api) = (&rule.structure, rule.scopes.names(), rule.api.as_deref());
        let mut find = |entry: &str, message: String, help: &str| {
            report.find(context.file("rules", &rule.id, "md"), entry, message, help);
        };
        if !families.is_empty() && scopes.is_empty() {
            find(
                "scope",
                "`structure` needs a scope, but the scope is `stream`".to_owned(),
                "set `scope` to scopes of api.toml",
            );
        }
        for (family, scope) in families.iter().flat_map(|family| scopes.iter().map(move |it| (*family, it))) {
            let Some(known) = context.shared.scope(api, scope) else { continue };
            if let Some(what) = lacks(family, known) {
                let message =
                    format!("{} needs {what}, which scope \"{scope}\" does not have", family.name());
                find("structure", message, "remove the family or the scope, or complete api.toml");
            }
            let others = taken.entry((family, scope)).or_default();
            // A rule without an API is about all of them.
            let is_same = |other: &&&Rule| other.api.is_none() || api.is_none() || other.api == rule.api;
            if let Some(other) = others.iter().rfind(is_same) {
                let message = format!("{} checks {} of scope \"{scope}\", too", other.id, family.name());
                find("structure", message, "remove it from one of the two rules");
            }
            others.push(rule);
        }
    }
}

fn lacks(family: Family, scope: &Scope) -> Option<&'static str> {
    match family {
        Family::PhaseOrder if scope.phases.is_empty() && scope.until.is_none() => Some("`phases` or `until`"),
        Family::Interleaved if !scope.exclusive => Some("`exclusive`"),
        Family::WrongParent if scope.of.is_empty() => Some("`of`"),
        Family::IndexGap if scope.key.is_empty() => Some("a `key`"),
        _ => None,
    }
}

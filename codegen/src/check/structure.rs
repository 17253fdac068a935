//! Rules about lifecycles ask for what their scopes can tell, and none asks for what another one tells.

use std::collections::BTreeMap;

use super::context::Context;
use super::report::{Place, Report};
use crate::formats::{Family, Scope};

pub(super) fn check(context: &Context, report: &mut Report) {
    let mut taken: BTreeMap<(Family, &str), &str> = BTreeMap::new();
    for rule in context.catalogue.rules.values() {
        let (families, scopes) = (&rule.metadata.structure, rule.metadata.scope.names());
        let mut find = |entry: &str, message: String, help: &str| {
            report.find(format!("rules/{}.md", rule.id), Place::entry(entry), message, help);
        };
        if !families.is_empty() && scopes.is_empty() {
            find("scope", "the stream as a whole has no lifecycle".to_owned(), "name the scopes it is about");
        }
        for (family, scope) in families.iter().flat_map(|family| scopes.iter().map(move |it| (*family, it))) {
            let Some(known) = context.shared.scopes.scopes.get(scope) else { continue };
            if let Some(what) = lacks(family, known) {
                let message = format!("{} asks for {what}, which scope \"{scope}\" has not", name(family));
                find("structure", message, "leave the family or the scope away, or complete scopes.toml");
            }
            if let Some(other) = taken.insert((family, scope), &rule.id) {
                let message = format!("{} of scope \"{scope}\" is told by {other} already", name(family));
                find("structure", message, "one fault has one rule: leave it to one of them");
            }
        }
    }
}

/// Returns what a family is about, when the scope does not have it.
fn lacks(family: Family, scope: &Scope) -> Option<&'static str> {
    match family {
        Family::PhaseOrder if scope.phases.is_empty() => Some("`phases`"),
        Family::WrongParent if scope.of.is_empty() => Some("`of`"),
        Family::IndexGap if scope.key.is_empty() => Some("a `key`"),
        _ => None,
    }
}

/// As the metadata of rules call it.
fn name(family: Family) -> String {
    let name = serde_json::to_value(family).ok();
    name.as_ref().and_then(|name| name.as_str()).unwrap_or_default().to_owned()
}

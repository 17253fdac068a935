//! Checks what api.toml says of requests, bodies and features.

use std::collections::BTreeSet;

use codegen::folders;
use codegen::formats::{ApiFile, Role, Route, Signature};

use super::context::{Context, in_dialect};
use super::report::Report;

pub(super) fn check(context: &Context, report: &mut Report) {
    for (name, api) in &context.shared.apis {
        routes(context, name, api, report);
        marks(name, api, report);
        container(context, name, api, report);
    }
    operations(context, report);
    features(context, report);
}

fn routes(context: &Context, name: &str, api: &ApiFile, report: &mut Report) {
    let dialects = || context.dialects.values().filter(|dialect| dialect.file.api == name);
    let is_root = |root: &String| dialects().any(|dialect| dialect.file.roots.contains_key(root));
    for (operation, Route { method, path, request, answer, feature, .. }) in &api.operations {
        let mut find = |entry: &str, message: String, help: &str| {
            let place = format!("[operations.{}] {entry}", operation.name());
            report.find(folders::api(name), place, message, help);
        };
        if method
            .as_ref()
            .is_some_and(|method| method.is_empty() || !method.bytes().all(|b| b.is_ascii_uppercase()))
        {
            find("method", "it is not the method of a request".to_owned(), "use a method such as \"GET\"");
        }
        // Behind a model, a path can end with what is done.
        let begins = path.starts_with('/') || api.path.contains('{') && path.starts_with(':');
        if !path.is_empty() && !begins {
            find(
                "path",
                format!("\"{path}\" does not begin with a slash"),
                "write what follows the path of the API",
            );
        }
        if operation.has_body() != request.is_some() {
            let help = "set it to a root of dialects if the operation has a body; otherwise remove it";
            find("request", "only one of `request` and a body of the operation is there".to_owned(), help);
        }
        for (entry, root) in [("request", request), ("answer", answer)] {
            if let Some(root) = root.as_ref().filter(|root| !is_root(root)) {
                find(
                    entry,
                    format!("no dialect has a root \"{root}\""),
                    "use an entry of [roots] of a dialect",
                );
            }
        }
        if let Some(feature) = feature.as_ref().filter(|feature| !api.features.contains_key(*feature)) {
            find(
                "feature",
                format!("there is no feature \"{feature}\""),
                "use a feature of [features], or add it there",
            );
        }
    }
}

/// A mark that any object has, and the fix.
pub(super) const FITS_ANYTHING: &str = "a mark without `texts`, `lists` and `has` fits any object";
pub(super) const DISTINGUISH: &str = "add what only these objects have";

fn marks(name: &str, api: &ApiFile, report: &mut Report) {
    let Signature { bodies, untyped, requests, .. } = &api.signature;
    let of_signature = bodies.iter().chain(untyped).chain(requests);
    let all = of_signature.map(|mark| ("[signature]", mark));
    let all = all.chain(api.bodies.iter().map(|body| ("[[bodies]]", &body.mark)));
    for (entry, _) in all.filter(|(_, mark)| mark.fits_anything()) {
        report.find(folders::api(name), entry, FITS_ANYTHING, DISTINGUISH);
    }
}

fn container(context: &Context, name: &str, api: &ApiFile, report: &mut Report) {
    let dialects = context.dialects.values().filter(|dialect| dialect.file.api == name);
    let events = dialects.flat_map(|dialect| dialect.events.values());
    let mut effects = events.flat_map(|event| event.lifecycle.effects());
    let pointer = format!("/{}", api.outer.item);
    let is_open = effects.any(|effect| {
        effect.scope == api.outer.container
            && effect.role == Role::Open
            && effect.value.as_ref() == Some(&pointer)
    });
    if !api.outer.item.is_empty() && !is_open {
        let message =
            format!("no event that opens a \"{}\" has its value at \"{pointer}\"", api.outer.container);
        report.find(folders::api(name), "[outer] item", message, "use the member of these events");
    }
}

fn operations(context: &Context, report: &mut Report) {
    for dialect in context.dialects.values() {
        let Ok(api) = context.shared.api_of(dialect) else { continue };
        for operation in
            dialect.own.operations.iter().filter(|operation| !api.operations.contains_key(operation))
        {
            let message = format!("the API has no operation {}", operation.name());
            let file = in_dialect(&dialect.name, "dialect.toml");
            report.find(file, "operations", message, "add its route to api.toml, or remove the entry");
        }
    }
}

fn features(context: &Context, report: &mut Report) {
    let mut needed = BTreeSet::new();
    for scenario in context.catalogue.scenarios.values() {
        for feature in &scenario.features {
            needed.insert(feature);
            if !context.catalogue.features.contains_key(feature) {
                let file = Context::file_of(scenario);
                let help = "describe it under [features] of api.toml, or use one of these";
                report.find(&file, "features", format!("no API describes the feature \"{feature}\""), help);
            }
        }
    }
    for (name, api) in &context.shared.apis {
        for feature in api.features.keys().filter(|feature| !needed.contains(feature)) {
            let entry = format!("[features] {feature}");
            report.find(
                folders::api(name),
                entry,
                "no scenario needs the feature".to_owned(),
                "remove it, or add a scenario",
            );
        }
    }
}

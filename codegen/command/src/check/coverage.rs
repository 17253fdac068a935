//! Checks that every normative sentence and guarantee is covered, unobservable or listed as open.

use std::path::Path;

use codegen::formats::Coverage;

use super::context::{Context, in_dialect};
use super::report::{Open, Report, SourcePlace};
use super::{catalogue, violations};

pub(super) fn check(context: &Context, report: &mut Report) {
    for (version, list) in &context.catalogue.requirements {
        let file = context.file("requirements", version, "toml");
        if !context.dialects.contains_key(version) {
            let message = format!("there is no dialect \"{version}\" for these requirements");
            report.find(&file, SourcePlace::File, message, "name the file after a dialect");
        }
        let rows = list
            .requirements
            .iter()
            .map(|one| (one.id.as_str(), one.statement.as_str(), one.stated_coverage()));
        let open = statements(context, &file, rows, report);
        report.requirements += list.requirements.len();
        report.open_requirements.extend(open);
    }
    for (name, list) in &context.catalogue.guarantees {
        let file = in_dialect(name, "guarantees.toml");
        let rows = list
            .guarantees
            .iter()
            .map(|one| (one.id.as_str(), one.statement.as_str(), one.stated_coverage()));
        let open = statements(context, &file, rows, report);
        report.guarantees += list.guarantees.len();
        report.open_guarantees.extend(open);
        for one in &list.guarantees {
            for stream in &one.broken_by {
                violations::check_entry(context, &stream.golden, &stream.edits, &file, &one.id, report);
            }
        }
        let Some(dialect) = context.dialects.get(name) else { continue };
        for one in &list.guarantees {
            for event in one.events.iter().filter(|event| !dialect.events.contains_key(*event)) {
                let message = format!("the dialect has no event \"{event}\"");
                report.find(&file, &one.id, message, "use events of the dialect");
            }
        }
    }
}

fn statements<'s>(
    context: &Context,
    file: &Path,
    rows: impl Iterator<Item = (&'s str, &'s str, Option<Coverage>)>,
    report: &mut Report,
) -> Vec<Open> {
    let mut ids = Vec::new();
    let mut open = Vec::new();
    for (id, statement, coverage) in rows {
        if ids.contains(&id) {
            report.find(file, id, format!("the id {id} is used twice"), "rename one of them");
        }
        ids.push(id);
        if statement.trim().is_empty() {
            report.find(file, id, "the statement is empty", "state the requirement in your own words");
        }
        catalogue::coverage(context, coverage.as_ref(), file, id, report);
        if let Some(Coverage::Open(plan)) = coverage {
            let (id, statement) = (id.to_owned(), statement.to_owned());
            open.push(Open { file: file.into(), id, statement, plan });
        }
    }
    open
}

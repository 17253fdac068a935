//! Renders a diff as Markdown.

use super::change::Breaks;
use super::{Diff, Kind, SchemaDiff};

/// Renders a diff as tables in Markdown.
pub fn markdown(diff: &Diff) -> String {
    let counts = diff.counts;
    let events = &diff.events;
    let mut out = format!(
        "# {} → {}\n\n{} changes: {} break a reader made for `{}`, {} a writer made for it. \
         Of the events in common, {} are unchanged and {} changed.\n",
        diff.a,
        diff.b,
        counts.changes,
        counts.breaking_for_reader,
        diff.a,
        counts.breaking_for_writer,
        events.unchanged.len(),
        events.changed.len(),
    );
    if let Some(about) = diff.about_errata() {
        out.extend(["\n", &about, "\n"]);
    }
    let added = events.added.iter().map(|name| row(&["added", &code(name), whom(Breaks::READER)]));
    let removed = events.removed.iter().map(|name| row(&["removed", &code(name), whom(Breaks::WRITER)]));
    table(&mut out, "Events", &["change", "event", "breaks"], added.chain(removed).collect());

    let columns = ["schema", "place", "change", "breaks", "reached from"];
    for (title, kind) in [("Changes in events", Kind::Event), ("Changes in types", Kind::Type)] {
        let rows = diff.schemas.iter().filter(|schema| schema.kind == kind).flat_map(rows);
        table(&mut out, title, &columns, rows.collect());
    }

    let names = [
        ("type", &diff.a, &diff.types.removed),
        ("type", &diff.b, &diff.types.added),
        ("body", &diff.a, &diff.roots.removed),
        ("body", &diff.b, &diff.roots.added),
    ];
    let rows = names
        .into_iter()
        .flat_map(|(what, side, names)| names.iter().map(move |name| row(&[what, &code(name), &code(side)])));
    table(&mut out, "On one side only", &["what", "name", "side"], rows.collect());
    out
}

fn rows(schema: &SchemaDiff) -> impl Iterator<Item = String> {
    schema.changes.iter().map(|found| {
        let place = if found.path.is_empty() { "itself".to_owned() } else { code(&found.path) };
        row(&[
            &code(&schema.title()),
            &place,
            &found.change.to_string(),
            whom(found.breaks),
            &reached(schema),
        ])
    })
}

fn reached(schema: &SchemaDiff) -> String {
    let events = match schema.events.as_slice() {
        [] => None,
        [event] => Some(code(event)),
        events => Some(format!("{} events", events.len())),
    };
    events.into_iter().chain(schema.roots.iter().cloned()).collect::<Vec<_>>().join(", ")
}

const fn whom(breaks: Breaks) -> &'static str {
    match breaks {
        Breaks { reader: true, writer: true } => "reader, writer",
        Breaks { reader: true, writer: false } => "reader",
        Breaks { reader: false, writer: true } => "writer",
        Breaks { reader: false, writer: false } => "",
    }
}

fn table(out: &mut String, title: &str, columns: &[&str], rows: Vec<String>) {
    if !rows.is_empty() {
        let rule = vec!["---"; columns.len()];
        out.extend(["\n## ", title, "\n\n", &row(columns), &row(&rule)]);
        out.extend(rows);
    }
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

fn row(cells: &[&str]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {} |\n", cells.join(" | "))
}

//! The page of open questions about the specifications, written from the data that answers them.

use std::fmt::Write as _;

use codegen::dialect::{self, Dialect};
use codegen::formats::{Change, Level};

use crate::corpus;
use crate::decided::{Compared, Decided};

/// Returns `docs/spec-questions.md`.
pub fn page() -> String {
    let mut page = String::from(HEAD);
    let spec = corpus::repository().join("spec");
    let compared = Compared::all();
    for name in dialect::list(&spec).expect("the dialects can be listed") {
        let dialect = dialect::load(&spec, &name).unwrap_or_else(|error| panic!("{error}"));
        let [corrected, weighed, open] = [corrected(&dialect), weighed(&dialect), open(&dialect)];
        let undecided =
            compared.values().filter(|compared| compared.dialect == name).map(undecided).collect();
        let parts = [
            ("The published schema is wrong", "| doubt | evidence | reading |\n|---|---|---|\n", corrected),
            ("A rule has another level", "| rule | level | reason |\n|---|---|---|\n", weighed),
            ("Servers may add values", "| values of | reason |\n|---|---|\n", open),
            ("The documents do not decide", "| doubt | evidence | reading |\n|---|---|---|\n", undecided),
        ];
        if parts.iter().all(|(.., rows)| rows.is_empty()) {
            continue;
        }
        let _ = writeln!(page, "\n## `{name}`");
        for (title, head, rows) in parts.iter().filter(|(.., rows)| !rows.is_empty()) {
            let _ = write!(page, "\n### {title} in `{name}`\n\n{head}{rows}");
        }
    }
    page
}

const HEAD: &str = "\
<!-- BLESS=1 cargo test -p tests --test suite docs writes this page -->
# Questions about the specifications

Where a document is silent, contradicts itself, or contradicts what its own product sends, this suite has chosen a reading. Each row
is an entry of the data, so a better answer is a change of one entry. Sentences that no stream can show are in
[the coverage](coverage.md); to add an entry, see [writing a dialect](writing-a-dialect.md).
";

/// Returns the errata as rows.
fn corrected(dialect: &Dialect) -> String {
    let mut rows = String::new();
    for (erratum, _) in &dialect.errata {
        let reading = match &erratum.change {
            Change::Nullable(places) => format!("null is allowed at {}", listed(places)),
            Change::Optional(places) => format!("{} may be absent", listed(places)),
            Change::Values(more) => format!("{} also has {}", code(&more.at), listed(&more.add)),
            Change::Set(new) => format!("{} is {}", code(&new.at), code(&new.to)),
            Change::Adds(files) => format!("{} exist, too", listed(files)),
        };
        row(&mut rows, &[&erratum.reason, &erratum.evidence, &reading]);
    }
    rows
}

/// Returns what a second model reads otherwise, as rows.
fn undecided(compared: &Compared) -> String {
    let mut rows = String::new();
    for Decided { doubt, evidence, reading, .. } in &compared.decided {
        row(&mut rows, &[doubt, evidence, reading]);
    }
    rows
}

/// Returns the levels that the dialect sets, as rows.
fn weighed(dialect: &Dialect) -> String {
    let mut rows = String::new();
    for rule in &dialect.own.rules {
        let group = rule.id.split('/').next().unwrap_or_default();
        let link = format!("[{}](rules/{group}.md)", rule.id);
        row(&mut rows, &[&link, level(rule.level), &rule.reason]);
    }
    rows
}

/// Returns the open enumerations of the dialect's own files, as rows.
fn open(dialect: &Dialect) -> String {
    let mut rows = String::new();
    let folder = corpus::repository().join("spec/dialects").join(&dialect.name);
    let events = dialect.events.iter().map(|(name, event)| ("events", name, &event.file));
    let types = dialect.type_files.iter().map(|(name, file)| ("types", name, file));
    for (kind, name, file) in events.chain(types) {
        if folder.join(kind).join(format!("{name}.json")).is_file() {
            walk(file, &format!("{kind}/{name}.json#"), &mut |place, reason| {
                row(&mut rows, &[&code(place), reason]);
            });
        }
    }
    rows
}

fn walk(json: &serde_json::Value, place: &str, found: &mut impl FnMut(&str, &str)) {
    if let Some(reason) = json.get("x-open").and_then(serde_json::Value::as_str) {
        found(place, reason);
    }
    match json {
        serde_json::Value::Object(map) => {
            map.iter().for_each(|(key, value)| walk(value, &format!("{place}/{key}"), found));
        }
        serde_json::Value::Array(list) => {
            list.iter().enumerate().for_each(|(at, value)| walk(value, &format!("{place}/{at}"), found));
        }
        _ => {}
    }
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Must => "MUST",
        Level::Should => "SHOULD",
        Level::May => "MAY",
        Level::Off => "off",
    }
}

fn row(rows: &mut String, cells: &[&str]) {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|").replace('\n', " ")).collect();
    let _ = writeln!(rows, "| {} |", cells.join(" | "));
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

fn listed(names: &[String]) -> String {
    names.iter().map(|name| code(name)).collect::<Vec<_>>().join(", ")
}

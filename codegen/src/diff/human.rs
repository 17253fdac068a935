//! Renders a diff for a terminal.

use std::fmt::Write;

use super::change::Breaks;
use super::{Diff, Kind, SchemaDiff};

const WIDTH: usize = 80;

/// Renders a diff for a terminal of 80 columns.
pub fn human(diff: &Diff) -> String {
    let mut out = String::new();
    let mut line = |indent: &str, hanging: usize, text: &str| wrap(&mut out, indent, hanging, text);
    line("", 2, &format!("{} -> {}", diff.a, diff.b));
    if diff.is_empty() {
        line("", 0, "No difference.");
        if let Some(about) = diff.about_errata() {
            line("", 0, &about);
        }
        return out;
    }
    line("", 0, &format!("R breaks a reader made for {}, W a writer made for it.", diff.a));

    let (added, removed) = (&diff.events.added, &diff.events.removed);
    if !added.is_empty() || !removed.is_empty() {
        line("", 0, "");
        line("", 0, "events");
        for name in added {
            line(&marks(Breaks::READER), 4, &format!("+ {name}"));
        }
        for name in removed {
            line(&marks(Breaks::WRITER), 4, &format!("- {name}"));
        }
    }
    for schema in &diff.schemas {
        line("", 0, "");
        line("", 2, &heading(schema));
        for found in &schema.changes {
            let place = if found.path.is_empty() { "(itself)" } else { &found.path };
            line(&marks(found.breaks), 4, &format!("{place}: {}", found.change));
        }
    }
    let names = [
        ("types only in", &diff.b, &diff.types.added),
        ("types only in", &diff.a, &diff.types.removed),
        ("bodies only in", &diff.b, &diff.roots.added),
        ("bodies only in", &diff.a, &diff.roots.removed),
    ];
    for (what, side, names) in names.into_iter().filter(|(_, _, names)| !names.is_empty()) {
        line("", 0, "");
        line("", 2, &format!("{what} {side} ({}): {}", names.len(), names.join(", ")));
    }
    line("", 0, "");
    let events = &diff.events;
    line(
        "",
        2,
        &format!(
            "events: {} unchanged, {} changed, {} added, {} removed",
            events.unchanged.len(),
            events.changed.len(),
            added.len(),
            removed.len()
        ),
    );
    let counts = diff.counts;
    line(
        "",
        2,
        &format!(
            "changes: {}; {} break a reader, {} a writer",
            counts.changes, counts.breaking_for_reader, counts.breaking_for_writer
        ),
    );
    if let Some(about) = diff.about_errata() {
        line("", 2, &about);
    }
    out
}

fn marks(breaks: Breaks) -> String {
    let mark = |breaking, letter| if breaking { letter } else { ' ' };
    format!("  {}{} ", mark(breaks.reader, 'R'), mark(breaks.writer, 'W'))
}

fn heading(schema: &SchemaDiff) -> String {
    let title = schema.title();
    if schema.kind == Kind::Event {
        return format!("event {title}");
    }
    let events = match schema.events.as_slice() {
        [] => None,
        [event] => Some(format!("in {event}")),
        events => Some(format!("in {} events", events.len())),
    };
    let reached: Vec<String> = events.into_iter().chain(schema.roots.iter().cloned()).collect();
    if reached.is_empty() { title } else { format!("{title}  ({})", reached.join(", ")) }
}

fn wrap(out: &mut String, indent: &str, hanging: usize, text: &str) {
    let mut width = indent.len();
    out.push_str(indent);
    let mut first = true;
    for word in text.split(' ') {
        if !first && width + 1 + word.chars().count() > WIDTH {
            let margin = indent.len() + hanging;
            write!(out, "\n{:margin$}", "").expect("a string takes all that is written to it");
            width = margin;
        } else if !first {
            out.push(' ');
            width += 1;
        }
        out.push_str(word);
        width += word.chars().count();
        first = false;
    }
    out.push('\n');
}

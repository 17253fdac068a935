//! Pages of rules.

use std::fmt::Write as _;

use catalogue::{DecidedBy, Family, Level, LooksAt, Rule};
use spec::Dialect;

use checker::level;
use reports::Screen;
use reports::pages::{self, requirement, standing, words};
use results::text::wrap;

const PROSE: usize = 96;
const LABEL_WIDTH: usize = 11;

pub(super) fn width(screen: Screen) -> usize {
    screen.width.clamp(Screen::LEAST_WIDTH, PROSE)
}

/// Writes a heading, and the facts below it.
pub(super) struct Page {
    pub(super) out: String,
    screen: Screen,
}

impl Page {
    pub(super) fn new(name: &str, title: &str, screen: Screen) -> Self {
        let heading = wrap(&format!("{name}: {title}"), width(screen)).join("\n");
        Self { out: heading.replacen(name, &screen.style.bold(name), 1) + "\n\n", screen }
    }

    pub(super) fn fact(&mut self, name: &str, text: &str) {
        if !text.is_empty() {
            self.row(name, text);
        }
    }

    pub(super) fn rows(&mut self, name: &str, texts: impl IntoIterator<Item = String>) {
        for (number, text) in texts.into_iter().enumerate() {
            self.row(if number == 0 { name } else { "" }, &text);
        }
    }

    fn row(&mut self, name: &str, text: &str) {
        let screen = self.screen;
        for (number, row) in wrap(text, width(screen) - LABEL_WIDTH).iter().enumerate() {
            let name = screen.style.bold(&format!("{:LABEL_WIDTH$}", if number == 0 { name } else { "" }));
            let _ = writeln!(self.out, "{name}{row}");
        }
    }
}

/// In the API of the dialect, without its violation.
pub(super) fn page(rule: &Rule, dialect: &Dialect, screen: Screen) -> String {
    let own = rule.in_dialect(dialect);
    let mut page = Page { out: format!("{}: {}\n\n", screen.style.bold(rule.id), rule.title), screen };
    let (here, reason) = here(rule, dialect);
    page.fact("level", &here);
    page.fact("", &reason);
    page.fact("authority", &format!("{}: {}", words::authority(own.authority), own.citation));
    if let Some(sentence) = requirement(own) {
        page.fact("", &format!("in our words: {}", sentence.statement));
        page.fact("", sentence.address);
        if let Some(standing) = standing(sentence.version, level(rule, dialect), dialect, Some(rule.id)) {
            page.fact("", &standing);
        }
    }
    let api = pages::api(own);
    match rule.decided_by {
        DecidedBy::Structure(families) => {
            let text = |family: &Family| format!("{}: {}", family.name(), words::family(*family, api));
            page.rows("broken by", families.iter().map(text));
        }
        DecidedBy::Relation(relation) => page.fact("demands", &words::relation(&relation, rule.scopes, api)),
        DecidedBy::Code(_) => {}
    }
    let scopes: Vec<_> = rule.scopes.iter().map(|scope| api.scope(*scope).noun()).collect();
    page.fact(if scopes.len() == 1 { "scope" } else { "scopes" }, &scopes.join(", "));
    if rule.looks_at.contains(&LooksAt::Body) {
        let is_of_both = rule.looks_at.contains(&LooksAt::Stream);
        page.fact("judges", if is_of_both { "streams and JSON bodies" } else { "JSON bodies" });
    }
    page.fact("only in", &rule.only_in.join(", "));
    page.fact("fix", &own.every_fix());
    let breaks = own.broken_clients();
    page.rows("breaks", breaks.iter().map(|(client, failures)| format!("{client}: {failures}")));
    page.fact("since", rule.since);
    page.out.push('\n');
    page.out += &prose(rule.prose, width(screen));
    if !own.note.is_empty() {
        page.out.push('\n');
        page.out += &prose(own.note, width(screen));
    }
    page.out
}

/// In the dialect. The second text is why its level differs from others.
fn here(rule: &Rule, dialect: &Dialect) -> (String, String) {
    let here = level(rule, dialect);
    let own = dialect.rules.iter().find(|own| own.id == rule.id);
    let usual = rule.level_in(dialect);
    let told = match here {
        Level::Off => format!("not checked in {}", dialect.name),
        _ => format!("{} in {}", here.keyword(), dialect.name),
    };
    match own {
        Some(own) if here == own.level => {
            (format!("{told}; {} elsewhere", usual.keyword()), own.reason.to_owned())
        }
        _ if here == Level::Off => (told, format!("{} where defined", usual.keyword())),
        _ => (told, String::new()),
    }
}

/// Indented, listed and fenced lines are kept.
pub(super) fn prose(text: &str, width: usize) -> String {
    let mut out = String::new();
    let mut paragraph = String::new();
    let mut is_fenced = false;
    let flush = |paragraph: &mut String, out: &mut String| {
        if !paragraph.is_empty() {
            *out += &wrap(&std::mem::take(paragraph), width).join("\n");
            out.push('\n');
        }
    };
    for line in text.trim().lines() {
        let is_fence = line.starts_with("```");
        is_fenced ^= is_fence;
        let keeps = is_fence || is_fenced || line.is_empty() || line.starts_with([' ', '|', '#']);
        let is_entry = line.starts_with("- ") || line.starts_with("* ");
        if keeps || is_entry {
            flush(&mut paragraph, &mut out);
        }
        if keeps {
            let _ = writeln!(out, "{line}");
        } else {
            paragraph += line;
            paragraph.push(' ');
        }
    }
    flush(&mut paragraph, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_broken_and_lists_are_kept() {
        let text = "One two three\nfour.\n\n- first entry\n- second\n\n```\na  b\n```\n";
        assert_eq!(prose(text, 9), "One two\nthree\nfour.\n\n- first\nentry\n- second\n\n```\na  b\n```\n");
    }
}

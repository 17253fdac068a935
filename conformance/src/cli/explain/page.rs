//! Pages of rules.

use std::fmt::Write as _;

use catalogue::{DecidedBy, Level, LooksAt, Rule};
use spec::Dialect;

use checker::level;
use reports::Screen;
use reports::pages::{self, requirement, standing, words};
use results::text::wrap;

/// Maximum width of prose.
const PROSE: usize = 96;
/// Width of labels.
const LABEL_WIDTH: usize = 11;

/// Returns the width of a page.
pub(super) fn width(screen: Screen) -> usize {
    screen.width.clamp(Screen::LEAST_WIDTH, PROSE)
}

/// Returns a fact with its label.
pub(super) fn fact(name: &str, text: &str, screen: Screen) -> String {
    let mut out = String::new();
    for (number, row) in wrap(text, width(screen) - LABEL_WIDTH).iter().enumerate() {
        let name = screen.style.bold(&format!("{:LABEL_WIDTH$}", if number == 0 { name } else { "" }));
        let _ = writeln!(out, "{name}{row}");
    }
    out
}

/// Returns the page without its violation.
pub(super) fn page(rule: &Rule, dialect: &Dialect, screen: Screen) -> String {
    let width = width(screen);
    let mut out = format!("{}: {}\n\n", screen.style.bold(rule.id), rule.title);
    let mut fact = |name: &str, text: &str| out += &self::fact(name, text, screen);
    let (here, reason) = here(rule, dialect);
    fact("level", &here);
    if !reason.is_empty() {
        fact("", &reason);
    }
    fact("authority", &format!("{}: {}", words::authority(rule.authority), rule.citation));
    if let Some(sentence) = requirement(rule) {
        fact("", &format!("in our words: {}", sentence.statement));
        fact("", sentence.address);
        if let Some(standing) = standing(sentence.version, level(rule, dialect), dialect, Some(rule.id)) {
            fact("", &standing);
        }
    }
    let api = pages::api(rule);
    match rule.decided_by {
        DecidedBy::Structure(families) => {
            for (number, family) in families.iter().enumerate() {
                let text = format!("{}: {}", family.name(), words::family(*family, api));
                fact(if number == 0 { "broken by" } else { "" }, &text);
            }
        }
        DecidedBy::Relation(relation) => fact("demands", &words::relation(&relation, rule.scopes, api)),
        DecidedBy::Code(_) => {}
    }
    if !rule.scopes.is_empty() {
        let scopes: Vec<_> = rule.scopes.iter().map(|scope| api.scope(*scope).noun()).collect();
        fact(if scopes.len() == 1 { "scope" } else { "scopes" }, &scopes.join(", "));
    }
    if rule.looks_at.contains(&LooksAt::Body) {
        let is_of_both = rule.looks_at.contains(&LooksAt::Stream);
        fact("judges", if is_of_both { "streams and JSON bodies" } else { "JSON bodies" });
    }
    if !rule.only_in.is_empty() {
        fact("only in", &rule.only_in.join(", "));
    }
    fact("fix", rule.fix);
    for (number, (client, failures)) in rule.broken_clients().iter().enumerate() {
        fact(if number == 0 { "breaks" } else { "" }, &format!("{client}: {failures}"));
    }
    fact("since", rule.since);
    out.push('\n');
    out += &prose(rule.prose, width);
    out
}

/// Returns the level in a dialect, and why it differs from others.
fn here(rule: &Rule, dialect: &Dialect) -> (String, String) {
    let here = level(rule, dialect);
    let own = dialect.rules.iter().find(|own| own.id == rule.id);
    let told = match here {
        Level::Off => format!("not checked in {}", dialect.name),
        _ => format!("{} in {}", here.keyword(), dialect.name),
    };
    match own {
        Some(own) if here == own.level => {
            (format!("{told}; {} elsewhere", rule.level.keyword()), own.reason.to_owned())
        }
        _ if here == Level::Off => (told, format!("{} where defined", rule.level.keyword())),
        _ => (told, String::new()),
    }
}

/// Returns wrapped paragraphs; indented, listed and fenced lines are kept.
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

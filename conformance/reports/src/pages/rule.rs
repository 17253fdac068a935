//! Pages of rules.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use catalogue::{DecidedBy, Level, LooksAt, RULES, Recorded, Rule};

use super::words;
use spec::Api;

/// Returns the groups of rules, sorted.
pub fn groups() -> Vec<&'static str> {
    let mut groups: Vec<&str> = RULES.iter().map(Rule::group).collect();
    groups.dedup();
    groups
}

/// Returns the index of the groups.
pub fn index() -> String {
    let mut out =
        "# Rules\n\nThe rules that the suite checks. A broken MUST rule fails a run; the others warn \
        or note. `conformance explain RULE` prints the same page, with an example of a violation.\n"
            .to_owned();
    for group in groups() {
        let _ = writeln!(out, "\n## {group}\n\n| rule | level | requirement |\n|---|---|---|");
        for rule in RULES.iter().filter(|rule| rule.group() == group) {
            let Rule { id, title, .. } = rule;
            let level = rule.level.keyword();
            let _ = writeln!(out, "| [{id}]({group}.md#{}) | {level} | {} |", anchor(id), cell(title));
        }
    }
    out
}

/// Returns the pages of all rules of a group.
pub fn of_group(group: &str) -> String {
    let mut out = format!("# Rules of {group}\n\n[All rules](README.md)\n");
    for rule in RULES.iter().filter(|rule| rule.group() == group) {
        let _ = writeln!(out, "\n## {}\n\n**{}.**\n\n{}", rule.id, rule.title, self::rule(rule).trim_end());
    }
    out
}

/// Returns the page of a rule without its title: purpose, authority, broken clients, and an example of a
/// violation.
pub fn rule(rule: &Rule) -> String {
    let mut out = format!("{}\n\n", rule.prose.trim());
    let mut fact = |name: &str, text: &str| {
        let _ = writeln!(out, "- {name}: {text}");
    };
    fact("Level", &levels(rule));
    let sentence =
        requirement(rule).map(|said| format!("; in our words: {}", said.statement)).unwrap_or_default();
    fact("Authority", &format!("{}: {}{sentence}", words::authority(rule.authority), rule.citation));
    let api = api(rule);
    match rule.decided_by {
        DecidedBy::Structure(families) => {
            let told: Vec<_> = families.iter().map(|family| words::family(*family, api)).collect();
            fact("Broken by", &told.join("; "));
        }
        DecidedBy::Relation(relation) => fact("Demands", &words::relation(&relation, rule.scopes, api)),
        DecidedBy::Code(_) => {}
    }
    if !rule.scopes.is_empty() {
        let scopes: Vec<_> = rule.scopes.iter().map(|scope| api.scope(*scope).noun()).collect();
        fact("Scope", &scopes.join(", "));
    }
    if rule.looks_at.contains(&LooksAt::Body) {
        let is_of_both = rule.looks_at.contains(&LooksAt::Stream);
        fact("Judges", if is_of_both { "streams and JSON bodies" } else { "JSON bodies" });
    }
    for (client, failures) in rule.broken_clients() {
        fact("Breaks", &format!("{client}: {failures}"));
    }
    fact("Fix", rule.fix);
    fact("Since", rule.since);
    let _ = writeln!(out, "\nA violation: `{}`, edited.\n\n```text", rule.violation.golden);
    for edit in rule.violation.edits {
        let _ = writeln!(out, "{}", words::edit(edit, usize::MAX));
    }
    out.push_str("```\n");
    out
}

/// Returns the API whose scopes a rule names: that of the stream by which it is proven.
pub fn api(rule: &Rule) -> &'static Api {
    api_of(rule.violation.golden.split('/').next().unwrap_or_default())
}

/// Returns the API of a dialect, or the first one if this build does not have the dialect.
pub(super) fn api_of(dialect: &str) -> &'static Api {
    spec::dialect(dialect).map_or(spec::APIS[0], |dialect| dialect.api)
}

/// Returns the level of a rule, the dialects it applies to, and exceptions.
fn levels(rule: &Rule) -> String {
    let mut told = rule.level.keyword().to_owned();
    if !rule.only_in.is_empty() {
        let _ = write!(told, " only in {}", rule.only_in.join(", "));
    }
    let mut others: BTreeMap<(Level, &str), Vec<&str>> = BTreeMap::new();
    for dialect in spec::DIALECTS {
        for own in dialect.rules.iter().filter(|own| own.id == rule.id && own.level != rule.level) {
            others.entry((own.level, own.reason)).or_default().push(dialect.name);
        }
    }
    for ((own, reason), dialects) in others {
        let _ = write!(told, "; {} in {}: {reason}", own.keyword(), dialects.join(", "));
    }
    told
}

/// Returns the normative sentence of a rule.
pub fn requirement(rule: &Rule) -> Option<&'static catalogue::Requirement> {
    let id = rule.citation.requirement?;
    let of = |requirement: &&catalogue::Requirement| {
        requirement.id == id && requirement.version == rule.citation.source
    };
    catalogue::REQUIREMENTS.iter().find(of)
}

/// Returns why a sentence of another document applies to a dialect.
pub fn standing(cited: &str, level: Level, dialect: &spec::Dialect, rule: Option<&str>) -> Option<String> {
    let name = dialect.name;
    if dialect.is_or_extends(cited) {
        return None;
    }
    match level {
        Level::Must => Some(match rule.and_then(|rule| catalogue::recorded(name, rule)) {
            Some(Recorded { kept, streams }) => {
                format!("also applies to {name}: {kept} of {streams} recorded streams comply")
            }
            None => format!("also applies to {name}: no recorded stream contradicts it"),
        }),
        Level::Should | Level::May => {
            Some(format!("a sentence of {cited}, not of {name}: here a {}", level.keyword()))
        }
        Level::Off => None,
    }
}

/// Returns the anchor of a heading.
pub(super) fn anchor(heading: &str) -> String {
    heading.chars().filter(|character| character.is_alphanumeric() || *character == '-').collect()
}

/// Escapes a text for a table cell.
pub(super) fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

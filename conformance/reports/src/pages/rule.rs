//! Pages of rules.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use catalogue::{DecidedBy, Level, LooksAt, RULES, Recorded, Rule, RuleInApi};

use super::words;
use spec::Api;

/// The groups of rules, sorted.
pub fn groups() -> Vec<&'static str> {
    let mut groups: Vec<&str> = RULES.iter().map(Rule::group).collect();
    groups.dedup();
    groups
}

/// The index of the groups.
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

/// The pages of all rules of a group.
pub fn of_group(group: &str) -> String {
    let mut out = format!("# Rules of {group}\n\n[All rules](README.md)\n");
    for rule in RULES.iter().filter(|rule| rule.group() == group) {
        let _ =
            writeln!(out, "\n## {}\n\n**{}.**\n\n{}", rule.id, rule.title, self::rule(rule, &[]).trim_end());
    }
    out
}

/// Returns the page of a rule without its title: purpose, and for each of some APIs, or of all if empty, authority, broken
/// clients, and an example of a violation.
pub fn rule(rule: &Rule, apis: &[&str]) -> String {
    let mut out = format!("{}\n\n", rule.prose.trim());
    let about: Vec<_> =
        rule.in_apis.iter().filter(|own| apis.is_empty() || apis.contains(&own.api)).collect();
    let is_shared = rule.api.is_none();
    if let ([own], false) = (about.as_slice(), is_shared) {
        authority(rule, own, &mut out);
    }
    let mut fact = |name: &str, text: &str| {
        let _ = writeln!(out, "- {name}: {text}");
    };
    let api = api(about.first().copied().unwrap_or_else(|| rule.in_api("")));
    match rule.decided_by {
        DecidedBy::Structure(families) => {
            let told: Vec<_> = families.iter().map(|family| words::family(*family, api)).collect();
            fact("Broken by", &told.join("; "));
        }
        DecidedBy::Relation(relation) => fact("Demands", &words::relation(&relation, rule.scopes, api)),
        DecidedBy::Code(_) => {}
    }
    if !rule.scopes.is_empty() {
        // An API has no noun for the scopes of others.
        let noun =
            |scope| about.iter().map(|own| self::api(own).scope(scope).noun()).find(|noun| !noun.is_empty());
        let scopes: Vec<String> = rule.scopes.iter().filter_map(|scope| noun(*scope)).collect();
        fact("Scope", &scopes.join(", "));
    }
    if rule.looks_at.contains(&LooksAt::Body) {
        let is_of_both = rule.looks_at.contains(&LooksAt::Stream);
        fact("Judges", if is_of_both { "streams and JSON bodies" } else { "JSON bodies" });
    }
    fact("Since", rule.since);
    for own in about {
        if is_shared {
            let _ = writeln!(out, "\n**{}**\n", self::api(own).title);
            if !own.note.is_empty() {
                let _ = writeln!(out, "{}\n", own.note.trim());
            }
            authority(rule, own, &mut out);
        }
        effects(own, &mut out);
    }
    out
}

fn authority(rule: &Rule, own: &RuleInApi, out: &mut String) {
    let sentence =
        requirement(own).map(|said| format!("; in our words: {}", said.statement)).unwrap_or_default();
    let _ = writeln!(out, "- Level: {}", levels(rule, own));
    let _ = writeln!(out, "- Authority: {}: {}{sentence}", words::authority(own.authority), own.citation);
}

fn effects(own: &RuleInApi, out: &mut String) {
    for (client, failures) in own.broken_clients() {
        let _ = writeln!(out, "- Breaks: {client}: {failures}");
    }
    let _ = writeln!(out, "- Fix: {}", own.every_fix());
    let _ = writeln!(out, "\nA violation: `{}`, edited.\n\n```text", own.violation.golden);
    for edit in own.violation.edits {
        let _ = writeln!(out, "{}", words::edit(edit, usize::MAX));
    }
    out.push_str("```\n");
}

/// Returns the API in which a rule is, or the first one if this build does not have it.
pub fn api(own: &RuleInApi) -> &'static Api {
    spec::APIS.iter().find(|known| known.name == own.api).copied().unwrap_or(spec::APIS[0])
}

/// The first one if this build does not have the dialect.
pub(super) fn api_of(dialect: &str) -> &'static Api {
    spec::dialect(dialect).map_or(spec::APIS[0], |dialect| dialect.api)
}

fn levels(rule: &Rule, in_api: &RuleInApi) -> String {
    let usual = in_api.level.unwrap_or(rule.level);
    let mut told = usual.keyword().to_owned();
    if !rule.only_in.is_empty() {
        let _ = write!(told, " only in {}", rule.only_in.join(", "));
    }
    let mut others: BTreeMap<(Level, &str), Vec<&str>> = BTreeMap::new();
    for dialect in spec::DIALECTS.iter().filter(|dialect| dialect.api.name == in_api.api) {
        for own in dialect.rules.iter().filter(|own| own.id == rule.id && own.level != usual) {
            others.entry((own.level, own.reason)).or_default().push(dialect.name);
        }
    }
    for ((own, reason), dialects) in others {
        let _ = write!(told, "; {} in {}: {reason}", own.keyword(), dialects.join(", "));
    }
    told
}

/// Returns the normative sentence that a rule rests on in an API.
pub fn requirement(own: &RuleInApi) -> Option<&'static catalogue::Requirement> {
    let id = own.citation.requirement?;
    let of = |requirement: &&catalogue::Requirement| {
        requirement.id == id && requirement.version == own.citation.source
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

/// The repository of the suite; empty until it is published.
pub(crate) const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// `None` if the repository has no public URL.
pub(crate) fn in_repository(page: &str) -> Option<String> {
    (!REPOSITORY.is_empty()).then(|| format!("{REPOSITORY}/blob/main/{page}"))
}

/// The page of the rule, or else the document that it rests on in an API.
pub(crate) fn address(rule: &Rule, own: &RuleInApi) -> Option<String> {
    let page = format!("docs/rules/{}.md#{}", rule.group(), anchor(rule.id));
    in_repository(&page).or_else(|| requirement(own).map(|sentence| sentence.address.to_owned()))
}

pub(super) fn anchor(heading: &str) -> String {
    heading.chars().filter(|character| character.is_alphanumeric() || *character == '-').collect()
}

/// For a table cell.
pub(super) fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

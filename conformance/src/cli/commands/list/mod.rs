//! `conformance list`: the contents of the suite.

mod between;

use std::collections::BTreeMap;
use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use catalogue::Coverage;
use clap::{Args, ValueEnum};
use grammar::Enumeration;
use serde_json::{Value, json};
use spec::Dialect;

use crate::cli::color::Color;
use crate::cli::input::{known, names};
use crate::cli::{CommandArgs, print};
use checker::level;
use reports::Screen;
use results::text::wrap;

/// Lists rules, scenarios, features, profiles, dialects, ...
#[derive(Debug, Args)]
pub(in crate::cli) struct ListArgs {
    /// The kind of entry to list; without it, the kinds are listed.
    #[arg(value_enum)]
    what: Option<What>,
    /// Dialect whose events and levels of rules are listed.
    #[arg(long, value_name = "NAME", default_value = "openai", value_parser = known::DIALECTS, hide_possible_values = true)]
    dialect: String,
    /// Output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

impl ListArgs {
    /// The enumerations of legal streams.
    pub(in crate::cli) fn vectors() -> Self {
        Self { what: Some(What::Vectors), dialect: "openai".to_owned(), format: Format::Human }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum What {
    /// Rules that streams are checked against
    Rules,
    /// Events of a dialect
    Events,
    /// Products and versions of specifications that speak differently
    Dialects,
    /// Features that an endpoint may support or not, for --features and --without
    Features,
    /// Requests, and what their responses must contain
    Scenarios,
    /// Sets of rules and scenarios that certificates demand
    Profiles,
    /// Sentences of the specifications, and what covers them
    Requirements,
    /// Rules that both ends of a gateway are checked against
    BetweenRules,
    /// Rules that clients are checked against
    ClientRules,
    /// Rules that rows of logs are checked against
    LogRules,
    /// Questions and answers for both ends of a gateway
    BetweenCases,
    /// Enumerations of legal streams, for `conformance vector`
    Vectors,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum Format {
    /// A table
    #[default]
    Human,
    /// JSON, for programs
    Json,
}

impl What {
    /// Members of its entries, by column header.
    const fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Rules => &["RULE", "LEVEL", "AUTHORITY", "REQUIREMENT"],
            Self::Events => &["EVENT", "SCOPE", "WHAT IT MEANS"],
            Self::Dialects => &["DIALECT", "API", "EVENTS", "WHAT IT IS"],
            Self::Features => &["FEATURE", "SCENARIOS", "WHAT IT IS"],
            Self::Scenarios => &["SCENARIO", "NEEDS", "WHAT IT IS ABOUT"],
            Self::Profiles => &["PROFILE", "VERSION", "MEANING OF A CERTIFICATE", "SPECIFICATIONS"],
            Self::Requirements => &["SENTENCE", "STATE", "REQUIREMENT"],
            Self::BetweenRules | Self::ClientRules | Self::LogRules => &["RULE", "LEVEL", "REQUIREMENT"],
            Self::BetweenCases => &["CASE", "WHAT IT IS ABOUT"],
            Self::Vectors => &["VECTOR", "EVENTS", "STREAMS", "WHAT IT IS"],
        }
    }

    fn entries(self, dialect: &Dialect) -> Vec<Value> {
        match self {
            Self::Rules => rules(dialect),
            Self::Events => events(dialect),
            Self::Dialects => dialects(),
            Self::Features => features(dialect),
            Self::Scenarios => scenarios(dialect),
            Self::Profiles => profiles(dialect),
            Self::Requirements => requirements(),
            Self::BetweenRules => between::rules(catalogue::BETWEEN_RULES),
            Self::ClientRules => between::rules(catalogue::CLIENT_RULES),
            Self::LogRules => between::rules(catalogue::LOG_RULES),
            Self::BetweenCases => between::cases(),
            Self::Vectors => vectors(),
        }
    }

    fn note(self, dialect: &Dialect) -> Option<String> {
        let name = dialect.name;
        match self {
            Self::Rules => Some(format!("{}. The levels are those of {name} (--dialect)", groups())),
            Self::Events => Some(format!("The events of {name} (--dialect)")),
            Self::Requirements => {
                Some("conformance explain SENTENCE shows which rules and scenarios cover it, or why none can. N35 without a version refers to the latest version".into())
            }
            Self::Scenarios => Some("NEEDS: features that the endpoint must support; `conformance list features` describes them".into()),
            Self::Features => {
                Some("SCENARIOS: how many scenarios need it. Skip them with --without FEATURE".into())
            }
            Self::BetweenCases => Some(
                "Each is a test for each pair of APIs, and for each fault: conformance between --list".into(),
            ),
            Self::Vectors => Some("EVENTS: the most that a stream has. conformance vector NAME#1 prints the first one".into()),
            Self::Dialects | Self::Profiles | Self::BetweenRules | Self::ClientRules | Self::LogRules => None,
        }
    }
}

impl CommandArgs for ListArgs {
    fn run(self) -> anyhow::Result<ExitCode> {
        let dialect = names::dialect(&self.dialect)?;
        let entries = self.what.map_or_else(|| lists(dialect), |what| what.entries(dialect));
        print(&match self.format {
            Format::Human => {
                let columns = self.what.map_or(&["LIST", "COUNT", "WHAT IT IS"][..], What::columns);
                let stdout = io::stdout();
                let screen = Color::default().screen(&stdout);
                // Entries are only wrapped for terminals.
                let width = if stdout.is_terminal() { screen.width } else { usize::MAX };
                let note = self.what.and_then(|what| what.note(dialect));
                let rest = note.map(|note| format!("\n{}\n", wrap(&note, screen.width).join("\n")));
                table(columns, &entries, Screen { width, ..screen }) + &rest.unwrap_or_default()
            }
            Format::Json => serde_json::to_string_pretty(&entries)? + "\n",
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The last column is wrapped if there is enough room beside the others, and starts on a new line otherwise.
fn table(columns: &[&str], entries: &[Value], screen: Screen) -> String {
    const GAP: usize = 2;
    const LEAST: usize = 40;
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let row = |entry: &Value| Some(entry.as_object()?.values().take(columns.len()).map(text).collect());
    let head = columns.iter().map(|name| (*name).to_owned()).collect();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(entries.iter().filter_map(row)).collect();
    let mut widths = vec![0; columns.len().saturating_sub(1)];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let before: usize = widths.iter().map(|width| width + GAP).sum();
    let is_beside = before + LEAST <= screen.width;
    let indent = if is_beside { before } else { 2 * GAP };
    let mut out = String::new();
    for (number, row) in rows.iter().enumerate() {
        let cells: Vec<_> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:0$}", width + GAP)).collect();
        let cells = cells.concat();
        let last = row.last().map(String::as_str).unwrap_or_default();
        let last = wrap(last, screen.width.saturating_sub(indent)).join(&format!("\n{:indent$}", ""));
        let line = if is_beside {
            format!("{cells}{last}")
        } else {
            format!("{}\n{:indent$}{last}", cells.trim_end(), "")
        };
        let line = line.trim_end();
        out += &if number == 0 { screen.style.bold(line) } else { line.to_owned() };
        out.push('\n');
    }
    out
}

fn lists(dialect: &Dialect) -> Vec<Value> {
    let list = |what: &What| {
        let value = what.to_possible_value()?;
        let help = value.get_help().map(ToString::to_string);
        Some(json!({ "name": value.get_name(), "count": what.entries(dialect).len(), "summary": help }))
    };
    What::value_variants().iter().filter_map(list).collect()
}

fn groups() -> String {
    let mut groups: BTreeMap<&str, usize> = BTreeMap::new();
    for rule in catalogue::RULES {
        *groups.entry(rule.group()).or_default() += 1;
    }
    let told: Vec<_> = groups.iter().map(|(group, count)| format!("{group} {count}")).collect();
    format!("{} rules in {} groups: {}", catalogue::RULES.len(), groups.len(), told.join(", "))
}

fn rules(dialect: &Dialect) -> Vec<Value> {
    let rule = |rule: &catalogue::Rule| {
        let own = rule.in_dialect(dialect);
        json!({
            "id": rule.id,
            "level": level(rule, dialect).name(),
            "authority": format!("{:?}", own.authority).to_lowercase(),
            "title": rule.title,
            "source": own.citation.source,
            "heading": own.citation.heading,
            "requirement": own.citation.requirement,
            "breaks": own.broken_clients().into_iter().map(|(client, _)| client).collect::<Vec<_>>(),
            "since": rule.since,
        })
    };
    catalogue::RULES.iter().map(rule).collect()
}

fn events(dialect: &Dialect) -> Vec<Value> {
    let event = |event: &spec::EventInfo| {
        json!({
            "type": event.name,
            "scope": event.level.name,
            "description": event.description,
            "role": format!("{:?}", event.role).to_lowercase(),
            "value": event.value,
            "phase": event.phase,
        })
    };
    dialect.events.iter().map(event).collect()
}

fn dialects() -> Vec<Value> {
    let dialect = |(name, dialect): (&str, &Dialect)| {
        let summary = if name == dialect.name {
            dialect.summary.to_owned()
        } else {
            format!("The same as {0}, the latest version.", dialect.name)
        };
        json!({
            "name": name,
            "api": dialect.api.name,
            "events": dialect.events.len(),
            "summary": summary,
            "product": dialect.product,
            "source": dialect.source,
            "extends": dialect.lineage,
        })
    };
    spec::dialects().map(dialect).collect()
}

fn vectors() -> Vec<Value> {
    let vector = |of: Enumeration| {
        let bounds = &of.bounds;
        json!({
            "name": of.name,
            "events": of.full,
            "streams": of.count,
            "what": of.what,
            "dialect": of.dialect,
            "containers": bounds.containers,
            "siblings": bounds.siblings,
            "fragments": bounds.fragments,
            "points": bounds.points,
            "effects": bounds.effects,
            "interleaved": bounds.interleaved,
            "kinds": bounds.kinds,
        })
    };
    Enumeration::all().into_iter().map(vector).collect()
}

fn features(dialect: &Dialect) -> Vec<Value> {
    let feature = |feature: &catalogue::Feature| {
        let own = catalogue::SCENARIOS.iter().filter(|scenario| scenario.applies_to(dialect));
        let needing: Vec<&str> = own
            .filter(|scenario| scenario.features.contains(&feature.name))
            .map(|scenario| scenario.id)
            .collect();
        let entry = || {
            json!({
                "name": feature.name,
                "scenarios": needing.len(),
                "title": feature.title,
                "needed_by": needing,
            })
        };
        (!needing.is_empty()).then(entry)
    };
    catalogue::FEATURES.iter().filter_map(feature).collect()
}

fn scenarios(dialect: &Dialect) -> Vec<Value> {
    let scenario = |scenario: &catalogue::Scenario| {
        json!({
            "id": scenario.id,
            "api": scenario.api,
            "features": scenario.features.join(", "),
            "title": scenario.title,
            "operation": scenario.operation.name(),
            "elicits": scenario.elicits,
            "items": scenario.items,
            "stops": scenario.stops,
            "status": scenario.status,
            "twin": scenario.twin,
            "previous": scenario.previous,
            "without": scenario.without,
            "says": scenario.says,
            "cut_after": scenario.cut_after,
            "fill": scenario.fill,
            "malformed": scenario.malformed,
            "lanes": scenario.lanes,
            "websocket": scenario.websocket.map(|how| format!("{how:?}").to_lowercase()),
            "rules": scenario.rules,
        })
    };
    catalogue::SCENARIOS.iter().filter(|scenario| scenario.applies_to(dialect)).map(scenario).collect()
}

fn profiles(dialect: &Dialect) -> Vec<Value> {
    let profile = |profile: &catalogue::Profile| {
        json!({
            "name": profile.name,
            "version": profile.version,
            "title": profile.title,
            "specifications": profile.specifications.join(", "),
            "rules": profile.rules,
            "scenarios": profile.scenarios,
        })
    };
    let of_client = |profile: &catalogue::ClientProfile| {
        json!({
            "name": profile.name,
            "version": profile.version,
            "title": profile.title,
            "specifications": profile.specifications.join(", "),
            "cases": profile.cases,
        })
    };
    let is_of_client = |specifications: &[&str]| {
        let mut dialects = specifications.iter().filter_map(|name| spec::dialect(name));
        dialects.any(|of| of.api.name == dialect.api.name)
    };
    let own = catalogue::PROFILES.iter().filter(|profile| profile.is_of(dialect.api));
    let of_clients = catalogue::CLIENT_PROFILES.iter().filter(|profile| is_of_client(profile.specifications));
    own.map(profile).chain(of_clients.map(of_client)).collect()
}

fn requirements() -> Vec<Value> {
    let requirement = |requirement: &catalogue::Requirement| {
        let (state, why) = match requirement.coverage {
            Coverage::Covered { .. } => ("covered", None),
            Coverage::Unobservable(why) => ("unobservable", Some(why)),
            Coverage::Open(why) => ("open", Some(why)),
        };
        let (rules, scenarios) = match requirement.coverage {
            Coverage::Covered { rules, scenarios } => (rules, scenarios),
            _ => (&[][..], &[][..]),
        };
        json!({
            "id": requirement.name(),
            "state": state,
            "statement": requirement.statement,
            "source": requirement.source,
            "address": requirement.address,
            "heading": requirement.heading,
            "level": format!("{:?}", requirement.level),
            "who": format!("{:?}", requirement.who).to_lowercase(),
            "rules": rules,
            "scenarios": scenarios,
            "why": why,
        })
    };
    catalogue::REQUIREMENTS.iter().map(requirement).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use reports::Style;

    fn shown(width: usize) -> String {
        let entries = [
            json!({ "name": "a/b", "level": "must", "title": "one two three four five six seven eight nine" }),
        ];
        table(&["RULE", "LEVEL", "TITLE"], &entries, Screen { style: Style::Plain, width })
    }

    #[test]
    fn tables_fit_the_screen() {
        assert_eq!(
            shown(usize::MAX),
            "RULE  LEVEL  TITLE\na/b   must   one two three four five six seven eight nine\n"
        );
        let indented =
            "RULE  LEVEL  TITLE\na/b   must   one two three four five six seven eight\n             nine\n";
        assert_eq!(shown(53), indented);
        // Without room beside the names, the text is below them.
        assert_eq!(
            shown(36),
            "RULE  LEVEL\n    TITLE\na/b   must\n    one two three four five six\n    seven eight nine\n"
        );
    }

    #[test]
    fn lists_fit_eighty_columns() {
        let dialects = ["openai", "anthropic", "chat"].map(|name| names::dialect(name).unwrap());
        let lists = dialects
            .iter()
            .flat_map(|dialect| What::value_variants().iter().map(move |what| (what, dialect)));
        for (what, dialect) in lists {
            let screen = Screen { style: Style::Plain, width: 80 };
            let shown = table(what.columns(), &what.entries(dialect), screen);
            for line in shown.lines() {
                assert!(line.chars().count() <= 80, "{line}");
            }
        }
    }
}

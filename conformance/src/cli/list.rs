//! `conformance list`: what there is.

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use spec::Dialect;
use spec::catalogue::{self, Coverage};

use super::{names, print};
use crate::engine::level;
use crate::report::level_name;

/// Lists what the suite knows.
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// What to list.
    #[arg(value_enum)]
    what: What,
    /// The dialect whose events, and levels of rules, are listed.
    #[arg(long, value_name = "NAME", default_value = "openai")]
    dialect: String,
    /// How to list it.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum What {
    /// What streams must keep.
    Rules,
    /// The events of a dialect.
    Events,
    /// Who speaks differently.
    Dialects,
    /// Requests, and what their answers must bring.
    Scenarios,
    /// What certificates demand.
    Profiles,
    /// Normative sentences, and what covers them.
    Requirements,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum Format {
    /// A name and a line on each.
    #[default]
    Human,
    /// For programs.
    Json,
}

impl ListArgs {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let dialect = names::dialect(&self.dialect)?;
        let entries = match self.what {
            What::Rules => rules(dialect),
            What::Events => events(dialect),
            What::Dialects => dialects(),
            What::Scenarios => scenarios(),
            What::Profiles => profiles(),
            What::Requirements => requirements(),
        };
        print(&match self.format {
            Format::Human => table(&entries),
            Format::Json => serde_json::to_string_pretty(&entries)? + "\n",
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The first two or three members of each entry, one entry a line.
fn table(entries: &[Value]) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let rows: Vec<Vec<String>> = entries
        .iter()
        .filter_map(|entry| Some(entry.as_object()?.values().take(3).map(text).collect()))
        .collect();
    let width =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let (first, second) = (width(0).unwrap_or(0), width(1).unwrap_or(0));
    let line = |row: &Vec<String>| {
        let cell = |at: usize| row.get(at).map(String::as_str).unwrap_or_default();
        format!("{:first$}  {:second$}  {}", cell(0), cell(1), cell(2)).trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

fn rules(dialect: &Dialect) -> Vec<Value> {
    let rule = |rule: &catalogue::Rule| {
        json!({
            "id": rule.id,
            "level": level_name(level(rule, dialect)),
            "title": rule.title,
            "source": rule.citation.source,
            "heading": rule.citation.heading,
            "requirement": rule.citation.requirement,
            "breaks": rule.breaks.iter().map(|broken| broken.client).collect::<Vec<_>>(),
            "since": rule.since,
        })
    };
    catalogue::RULES.iter().map(rule).collect()
}

fn events(dialect: &Dialect) -> Vec<Value> {
    let event = |event: &spec::EventInfo| {
        json!({
            "type": event.name,
            "scope": event.scope.info().name,
            "description": event.description,
            "role": format!("{:?}", event.role).to_lowercase(),
            "value": event.value,
            "phase": event.phase,
        })
    };
    dialect.events.iter().map(event).collect()
}

fn dialects() -> Vec<Value> {
    let dialect = |dialect: &&Dialect| {
        json!({
            "name": dialect.name,
            "events": dialect.events.len(),
            "summary": dialect.summary,
            "product": dialect.product,
            "source": dialect.source,
            "extends": dialect.lineage,
        })
    };
    spec::DIALECTS.iter().map(dialect).collect()
}

fn scenarios() -> Vec<Value> {
    let scenario = |scenario: &catalogue::Scenario| {
        json!({
            "id": scenario.id,
            "features": scenario.features.join(", "),
            "title": scenario.title,
            "elicits": scenario.elicits,
            "rules": scenario.rules,
        })
    };
    catalogue::SCENARIOS.iter().map(scenario).collect()
}

fn profiles() -> Vec<Value> {
    let profile = |profile: &catalogue::Profile| {
        json!({
            "name": profile.name,
            "specification": profile.specification,
            "title": profile.title,
            "rules": profile.rules,
            "scenarios": profile.scenarios,
        })
    };
    catalogue::PROFILES.iter().map(profile).collect()
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
            "id": format!("{}#{}", requirement.version, requirement.id),
            "state": state,
            "statement": requirement.statement,
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

//! `conformance list`: what there is.

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use spec::Dialect;
use spec::catalogue::{self, Coverage};

use super::{names, print};
use crate::engine::level;
use crate::report::{Screen, wrap};

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
            Format::Human => match self.what {
                What::Rules => table(&entries, 4) + &groups(),
                _ => table(&entries, 3),
            },
            Format::Json => serde_json::to_string_pretty(&entries)? + "\n",
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The first members of each entry, one entry a line.
fn table(entries: &[Value], columns: usize) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let rows: Vec<Vec<String>> = entries
        .iter()
        .filter_map(|entry| Some(entry.as_object()?.values().take(columns).map(text).collect()))
        .collect();
    let mut widths = vec![0; columns];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let line = |row: &Vec<String>| {
        let cells: Vec<_> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        cells.join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

/// How many rules there are, and in which groups.
fn groups() -> String {
    let mut groups: BTreeMap<&str, usize> = BTreeMap::new();
    for rule in catalogue::RULES {
        *groups.entry(rule.group()).or_default() += 1;
    }
    let told: Vec<_> = groups.iter().map(|(group, count)| format!("{group} {count}")).collect();
    let title = format!("{} rules in {} groups: ", catalogue::RULES.len(), groups.len());
    format!("\n{}\n", wrap(&(title + &told.join(", ")), Screen::USUAL_WIDTH).join("\n"))
}

fn rules(dialect: &Dialect) -> Vec<Value> {
    let rule = |rule: &catalogue::Rule| {
        json!({
            "id": rule.id,
            "level": level(rule, dialect).name(),
            "authority": format!("{:?}", rule.authority).to_lowercase(),
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
            "operation": scenario.operation.name(),
            "elicits": scenario.elicits,
            "status": scenario.status,
            "twin": scenario.twin,
            "previous": scenario.previous,
            "without": scenario.without,
            "says": scenario.says,
            "cut_after": scenario.cut_after,
            "fill": scenario.fill,
            "malformed": scenario.malformed,
            "websocket": scenario.websocket.map(|how| format!("{how:?}").to_lowercase()),
            "rules": scenario.rules,
        })
    };
    catalogue::SCENARIOS.iter().map(scenario).collect()
}

fn profiles() -> Vec<Value> {
    let profile = |profile: &catalogue::Profile| {
        json!({
            "name": profile.name,
            "version": profile.version,
            "specifications": profile.specifications.join(", "),
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

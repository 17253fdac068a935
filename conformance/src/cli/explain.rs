//! `conformance explain`: the page of a rule.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::Args;
use spec::catalogue::{Authority, Rule};

use super::{names, print};
use crate::engine::level;
use crate::report::level_name;

/// Prints what a rule demands, on what authority, and whom its violation breaks.
#[derive(Debug, Args)]
pub(super) struct ExplainArgs {
    /// The rule.
    rule: String,
    /// The dialect whose level is told.
    #[arg(long, value_name = "NAME", default_value = "openai")]
    dialect: String,
}

impl ExplainArgs {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let rule = names::rule(&self.rule)?;
        let dialect = names::dialect(&self.dialect)?;
        let here = level_name(level(rule, dialect)).to_uppercase();
        print(&page(rule, &format!("{here} in {}", dialect.name)))?;
        Ok(ExitCode::SUCCESS)
    }
}

fn page(rule: &Rule, level: &str) -> String {
    let mut out = format!("{}: {}\n\n", rule.id, rule.title);
    let authority = match rule.authority {
        Authority::Sentence => "a normative sentence",
        Authority::Schema => "a constraint of the schema",
        Authority::Definition => "the definition of the events",
        Authority::Observed => "what all real vendors do",
    };
    let _ = writeln!(out, "level      {level}");
    let _ = write!(out, "authority  {authority}: {}, {}", rule.citation.source, rule.citation.heading);
    let _ = match rule.citation.requirement {
        Some(id) => writeln!(out, " ({id})"),
        None => writeln!(out),
    };
    for broken in rule.breaks {
        let _ = writeln!(out, "can break  {}: {}", broken.client, broken.failure);
    }
    let _ = writeln!(out, "since      {}\n\n{}", rule.since, rule.prose.trim());
    let _ = writeln!(
        out,
        "\nIts violation is an edit of {}: `violation::{}` is its proof.",
        rule.violation.golden, rule.id
    );
    out
}

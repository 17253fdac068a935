//! Merging of reports of recordings.

use std::fmt;

use checker::Rules;

use super::Run;

/// Why reports cannot be merged, with the index of the first one that does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unmergeable {
    /// There are no reports.
    None,
    /// A report of an endpoint: its trials belong to one run.
    Live(usize),
    /// Its dialect differs from that of the first report.
    Dialect(usize),
    /// Its version of the suite differs from this one.
    Suite(usize),
    /// Its rules differ from those of the first report.
    Rules(usize),
}

impl Unmergeable {
    /// Returns the index of the report.
    pub const fn at(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Live(at) | Self::Dialect(at) | Self::Suite(at) | Self::Rules(at) => *at,
        }
    }
}

impl fmt::Display for Unmergeable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "there are no reports to merge",
            Self::Live(_) => "it is a run against an endpoint; only reports of recordings can be merged",
            Self::Dialect(_) => "its dialect differs from that of the first report",
            Self::Suite(_) => "its version of the suite differs from that of the first report",
            Self::Rules(_) => "its rules differ from those of the first report",
        })
    }
}

impl std::error::Error for Unmergeable {}

impl Run {
    /// Merges reports of recordings into the report of one run over all of them, in this order.
    pub fn merge(runs: Vec<Self>) -> Result<Self, Unmergeable> {
        let first = runs.first().ok_or(Unmergeable::None)?;
        let dialect = spec::dialect(&first.dialect).ok_or(Unmergeable::Suite(0))?;
        let listed: Vec<String> = first.rules.iter().map(|rule| rule.id.clone()).collect();
        let rules = Rules::of(dialect).only(|rule| listed.iter().any(|id| id == rule.id));
        for (at, run) in runs.iter().enumerate() {
            if run.live.is_some() {
                return Err(Unmergeable::Live(at));
            }
            if run.suite != env!("CARGO_PKG_VERSION") {
                return Err(Unmergeable::Suite(at));
            }
            if run.dialect != dialect.name {
                return Err(Unmergeable::Dialect(at));
            }
            if !run.rules.iter().map(|rule| &rule.id).eq(&listed) {
                return Err(Unmergeable::Rules(at));
            }
        }
        let passed_over = runs.iter().map(|run| run.passed_over).sum();
        let captures = runs.into_iter().flat_map(|run| run.captures).collect();
        let mut merged = Self::new(&rules, captures, None);
        merged.passed_over = passed_over;
        Ok(merged)
    }
}

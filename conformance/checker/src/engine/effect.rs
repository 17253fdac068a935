//! The effect of findings on clients.

use std::collections::BTreeSet;
use std::fmt;

use catalogue::{CLIENTS, Client, Level, Measured, Measurement};
use serde::{Deserialize, Serialize};

use super::finding::{Finding, without_index};

/// The known effect of findings on a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It fails.
    Fails(Harm),
    /// Its result is wrong.
    Wrong(Harm),
    /// It passes on what the server changed.
    PassesOn(Harm),
    /// It reports the error of the server, as it should.
    Reports,
    /// Its result is the same as without the findings.
    Unaffected,
    /// Nothing was measured, and users reported that it breaks.
    IsReported(Harm),
    /// Nothing is known.
    NotMeasured(Unmeasured),
}

/// How a client is harmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Harm {
    /// The rule whose violation does it.
    pub rule: &'static str,
    /// The error, or what is wrong with the result.
    pub detail: &'static str,
}

/// Why it is not known whether a client reads a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Unmeasured {
    /// It is known only from reports.
    OnlyReports,
    /// It was not played enough streams with these findings.
    // Reports of earlier releases tell the other reasons apart.
    #[serde(alias = "among-others", alias = "fails-on-intact", alias = "not-exercised", alias = "not-played")]
    Kind,
    /// It does one thing on some streams with these findings, and another on others.
    Varies,
    /// The stream has no finding, or nothing but notes.
    NoFinding,
    /// The stream has more findings than are listed.
    NotListed,
}

impl fmt::Display for Unmeasured {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Self::OnlyReports => "known only from reports",
            Self::Kind => "not played with these findings",
            Self::Varies => "not the same on all streams with these findings",
            Self::NoFinding => "nothing was found",
            Self::NotListed => "not all findings are listed",
        })
    }
}

impl Effect {
    /// Returns the harm in words, if it is measured.
    pub fn failure(&self) -> Option<String> {
        let (what, detail) = match self {
            Self::Fails(harm) => ("fails", harm.detail),
            Self::Wrong(harm) => ("is wrong", harm.detail),
            _ => return None,
        };
        Some(if detail.is_empty() { what.to_owned() } else { format!("{what}: {detail}") })
    }
}

/// Returns the effect of the findings in one response on each known client, in the order of [`CLIENTS`].
pub fn effects(findings: &[&Finding]) -> Vec<Effect> {
    let api = findings.first().map_or("", |found| &*found.api);
    let rows: Vec<&Measurement> = catalogue::measurements(api, &kinds(findings)).collect();
    let needed = needed(findings);
    let effect = |client: &Client| {
        if !client.is_of(api) {
            return Effect::NotMeasured(Unmeasured::Kind);
        }
        of_client(client, findings, &needed, &rows)
    };
    CLIENTS.iter().map(effect).collect()
}

/// Returns the kinds of findings that must be measured before a client is said to read a response that has these: notes only where
/// there is nothing else.
pub fn needed(findings: &[&Finding]) -> Vec<String> {
    let more: Vec<&Finding> = findings.iter().filter(|found| found.level > Level::May).copied().collect();
    kinds(if more.is_empty() { findings } else { &more })
}

/// Returns whether a finding of a kind says what is wrong with its event, and not only where: a member that it lacks, or that is of
/// another type, or a rule that a single damage breaks.
pub fn tells(kind: &str) -> bool {
    let mut words = kind.split(' ');
    let (rule, form) = (words.next().unwrap_or_default(), words.nth(2).unwrap_or_default());
    match rule {
        "schema/event-valid" => matches!(form, "absent" | "null" | "empty" | "quoted" | "number" | "boolean"),
        rule => catalogue::rule(rule).is_some_and(|rule| rule.exact),
    }
}

fn kinds(findings: &[&Finding]) -> Vec<String> {
    let kinds: BTreeSet<String> = findings.iter().map(|found| found.kind()).collect();
    kinds.into_iter().collect()
}

/// Rows with more of the findings at once say more.
fn of_client(client: &Client, findings: &[&Finding], needed: &[String], rows: &[&Measurement]) -> Effect {
    // It was not measured with the values that it knows.
    let others: Vec<String> =
        findings.iter().filter(|found| found.is_other_value(client)).map(|found| found.kind()).collect();
    let is_known = |row: &&&Measurement| {
        row.outcome(client) != Measured::NotPlayed
            && !row.kinds.iter().any(|kind| others.iter().any(|other| other == kind))
    };
    let known: Vec<&Measurement> = rows.iter().filter(is_known).copied().collect();
    let is_within = |row: &Measurement, other: &Measurement| {
        row.kinds.len() < other.kinds.len() && row.kinds.iter().all(|kind| other.kinds.contains(kind))
    };
    let largest: Vec<&Measurement> =
        known.iter().filter(|row| !known.iter().any(|other| is_within(row, other))).copied().collect();
    let outcomes = || largest.iter().map(|row| (*row, row.outcome(client)));
    let harm = |row: &Measurement, detail| {
        let rule = row.kinds.first().map_or("", |kind| kind.split(' ').next().unwrap_or_default());
        Harm { rule, detail }
    };
    // A damage that breaks a client still does when there are others, so its findings must tell which damage it is.
    let counts = |row: &Measurement| row.kinds.iter().all(|kind| tells(kind)) || row.kinds.iter().eq(needed);
    let broken = outcomes().filter(|(row, _)| counts(row)).filter_map(|(row, outcome)| match outcome {
        Measured::Fails(detail) => Some(Effect::Fails(harm(row, detail))),
        Measured::Wrong(detail) => Some(Effect::Wrong(harm(row, detail))),
        _ => None,
    });
    if let Some(broken) = broken.min_by_key(|effect| !matches!(effect, Effect::Fails(_))) {
        return broken;
    }
    // Rows for two findings apart do not tell what clients do with both.
    let whole = outcomes().find(|(row, _)| row.kinds.iter().eq(needed)).map(|(row, outcome)| match outcome {
        Measured::PassesOn(detail) => Some(Effect::PassesOn(harm(row, detail))),
        Measured::Reports => Some(Effect::Reports),
        Measured::Unaffected => Some(Effect::Unaffected),
        _ => None,
    });
    if let Some(Some(known)) = whole {
        return known;
    }
    if let Some(reported) = findings.iter().find_map(|found| found.reported(client)) {
        return Effect::IsReported(reported);
    }
    Effect::NotMeasured(match client.column {
        None => Unmeasured::OnlyReports,
        Some(_) if needed.is_empty() => Unmeasured::NoFinding,
        Some(_) if whole.is_some() => Unmeasured::Varies,
        Some(_) => Unmeasured::Kind,
    })
}

impl Finding {
    /// Returns its effect on each known client, in the order of [`CLIENTS`], as if it was the only finding.
    pub fn effects(&self) -> Vec<Effect> {
        effects(&[self])
    }

    /// Returns the clients that it breaks, with their failures: those measured, then those that users reported.
    pub fn broken_clients(&self) -> Vec<(&'static str, String)> {
        let (mut measured, mut reported) = (Vec::new(), Vec::new());
        for (client, effect) in CLIENTS.iter().zip(self.effects()) {
            match effect {
                Effect::IsReported(harm) => reported.push((client.name, harm.detail.to_owned())),
                effect => measured.extend(effect.failure().map(|failure| (client.name, failure))),
            }
        }
        measured.extend(reported);
        measured
    }

    /// Returns the clients for which it fails: those that it was measured to break, and not only by the reports of users. There
    /// are none if the product of the dialect is recorded to send such streams.
    pub fn measured_breaks(&self) -> Vec<&'static str> {
        let effects = CLIENTS.iter().zip(self.effects()).filter(|_| !self.is_recorded);
        effects.filter(|(_, effect)| effect.failure().is_some()).map(|(client, _)| client.name).collect()
    }

    /// The failure that users reported of a client.
    fn reported(&self, client: &Client) -> Option<Harm> {
        let rule = catalogue::rule(&self.rule).filter(|_| !self.is_fine_in(client))?;
        let reports = rule.in_api(&self.api).breaks.iter();
        let mut reports = reports.filter(|report| report.is_reported && report.client == client.name);
        let report = reports.find(|report| self.is_at(report.at))?;
        Some(Harm { rule: rule.id, detail: report.failure })
    }

    /// Whether the client knows the value, and was measured with others.
    fn is_other_value(&self, client: &Client) -> bool {
        !matches!(self.form(), "absent" | "null") && self.is_fine_in(client)
    }

    fn is_fine_in(&self, client: &Client) -> bool {
        self.fine_in.iter().any(|dialect| dialect == client.dialect)
    }

    /// Returns whether it is at one of these members, if there are any.
    fn is_at(&self, members: &[&str]) -> bool {
        let pointer = self.pointer.as_deref().unwrap_or_default();
        let segments = || pointer.split('/').map(without_index).chain(self.missing.as_deref());
        members.is_empty() || members.iter().any(|member| segments().eq(member.split('/')))
    }
}

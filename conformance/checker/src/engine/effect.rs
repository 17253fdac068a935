//! The effect of findings on clients.

use std::fmt;

use catalogue::{Breakage, CLIENTS, Client, Measured, Measurement};
use serde::{Deserialize, Serialize};

use super::finding::{Finding, without_index};

/// What is known of the effect of a finding on a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// It breaks the client: it was measured with this kind of finding.
    Breaks(String),
    /// Users reported that it breaks the client, which was not measured with this kind of finding.
    IsReported(&'static str),
    /// The client was measured with this kind of finding, and reads the stream.
    IsRead,
    /// Nothing is known.
    NotMeasured(Unmeasured),
}

/// Why it is not known whether a client reads a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Unmeasured {
    /// It is known only from reports.
    OnlyReports,
    /// No client was played a stream with this kind of finding.
    Kind,
    /// It breaks on some of the streams with this kind of finding, and reads others.
    Varies,
    /// It fails on the intact stream, too, which hides the effect.
    FailsOnIntact,
    /// It cannot be asked for such a response.
    NotExercised,
    /// It fails on streams with this kind of finding and others, which may be the reason.
    AmongOthers,
    /// It was not played the stream yet.
    NotPlayed,
    /// The stream has more findings than are listed.
    NotListed,
}

impl fmt::Display for Unmeasured {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Self::OnlyReports => "known only from reports",
            Self::Kind => "no stream with this finding was played",
            Self::Varies => "reads some streams with this finding, and breaks on others",
            Self::FailsOnIntact => "fails on the intact stream, too",
            Self::NotExercised => "its driver cannot send such a request",
            Self::AmongOthers => "fails on streams with other findings, too, which may be the reason",
            Self::NotPlayed => "not played yet",
            Self::NotListed => "not all findings are listed",
        })
    }
}

impl Finding {
    /// Returns its effect on each known client, in the order of [`CLIENTS`].
    pub fn effects(&self) -> Vec<Effect> {
        let measurement = catalogue::measurement(&self.api, &self.kind());
        let reports = catalogue::rule(&self.rule).map_or(&[][..], |rule| rule.in_api(&self.api).breaks);
        let effect = |client: &Client| {
            if client.is_of(&self.api) {
                self.effect(client, measurement, reports)
            } else {
                Effect::NotMeasured(Unmeasured::Kind)
            }
        };
        CLIENTS.iter().map(effect).collect()
    }

    fn effect(&self, client: &Client, measurement: Option<&Measurement>, reports: &[Breakage]) -> Effect {
        // What the client knows was not among the values that it was measured with.
        let is_other_value = !matches!(self.form(), "absent" | "null") && self.is_fine_in(client);
        let measured = measurement.and_then(|measured| measured.outcome(client)).filter(|_| !is_other_value);
        if let Some(failure) = measured.and_then(Measured::failure) {
            return Effect::Breaks(failure);
        }
        if measured == Some(Measured::Handled) {
            return Effect::IsRead;
        }
        let is_it =
            |report: &&Breakage| report.is_reported && report.client == client.name && self.is_at(report.at);
        if let Some(report) = reports.iter().find(is_it).filter(|_| !self.is_fine_in(client)) {
            return Effect::IsReported(report.failure);
        }
        Effect::NotMeasured(match (client.column, measured) {
            (None, _) => Unmeasured::OnlyReports,
            (_, Some(Measured::Varies)) => Unmeasured::Varies,
            (_, Some(Measured::FailsOnIntact)) => Unmeasured::FailsOnIntact,
            (_, Some(Measured::NotExercised)) => Unmeasured::NotExercised,
            (_, Some(Measured::AmongOthers)) => Unmeasured::AmongOthers,
            (_, Some(Measured::NotPlayed)) => Unmeasured::NotPlayed,
            _ => Unmeasured::Kind,
        })
    }

    /// Returns the clients that it breaks, with their failures: those measured, then those that users reported.
    pub fn broken_clients(&self) -> Vec<(&'static str, String)> {
        let (mut measured, mut reported) = (Vec::new(), Vec::new());
        for (client, effect) in CLIENTS.iter().zip(self.effects()) {
            match effect {
                Effect::Breaks(failure) => measured.push((client.name, failure)),
                Effect::IsReported(failure) => reported.push((client.name, failure.to_owned())),
                Effect::IsRead | Effect::NotMeasured(_) => {}
            }
        }
        measured.extend(reported);
        measured
    }

    /// Returns the clients for which it fails: those that it was measured to break, and not only by the reports of users. There
    /// are none if the product of the dialect is recorded to send such streams.
    pub fn measured_breaks(&self) -> Vec<&'static str> {
        let effects = CLIENTS.iter().zip(self.effects()).filter(|_| !self.is_recorded);
        effects
            .filter(|(_, effect)| matches!(effect, Effect::Breaks(_)))
            .map(|(client, _)| client.name)
            .collect()
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

//! The verdict on a trial.

use std::fmt;

use catalogue::Level;
use serde::{Deserialize, Serialize};

/// The verdict on a trial, with its reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(rename = "Judged"))]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// The reason, unless the trial passed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The kind of the reason, if advice exists for that kind.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub kind: UndecidedKind,
    /// The reason without what its kind already states: the missing events, the flag to pass, or the feature.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// The kind of reason for which a trial could not be decided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum UndecidedKind {
    /// The endpoint refuses the key.
    Auth,
    /// The quota of the account is exhausted.
    Quota,
    /// Requests come faster than the endpoint allows.
    Rate,
    /// The endpoint does not serve this region.
    Region,
    /// There was no connection, no response, or only one of a proxy.
    Network,
    /// The endpoint has no capacity.
    Overload,
    /// The endpoint does not have the model.
    Model,
    /// Nothing answers at the URL.
    Path,
    /// The endpoint did not send what the scenario asks for.
    NotElicited,
    /// The endpoint lacks the route of an optional operation.
    Unsupported,
    /// The run does not list a feature that the scenario needs.
    NotOffered,
    /// The scenario needs a resource that was not given.
    NotGiven,
    /// The trial of the response has the reason.
    Unanswered,
    /// Any other.
    #[default]
    Other,
}

impl UndecidedKind {
    /// Returns whether the endpoint could not be tested, which is no verdict about it.
    pub const fn is_obstacle(self) -> bool {
        !self.name().is_empty()
    }

    /// The name of an obstacle; empty for other kinds.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auth => "auth",
            Self::Quota => "quota",
            Self::Rate => "rate",
            Self::Region => "region",
            Self::Network => "network",
            Self::Overload => "overload",
            Self::Model => "model",
            Self::Path => "path",
            Self::NotElicited
            | Self::Unsupported
            | Self::NotOffered
            | Self::NotGiven
            | Self::Unanswered
            | Self::Other => "",
        }
    }
}

/// How a trial ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The checked property holds.
    Pass,
    /// It does not.
    Fail,
    /// No response shows whether it holds.
    #[default]
    NotExercised,
    /// The suite could not test it, as there was no connection or no access.
    HarnessError,
}

impl Verdict {
    /// All verdicts, in the order of reports.
    pub const ALL: [Self; 4] = [Self::Pass, Self::Fail, Self::NotExercised, Self::HarnessError];

    /// The word for trials with this verdict.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pass => "passed",
            Self::Fail => "failed",
            Self::NotExercised => "not exercised",
            Self::HarnessError => "harness error",
        }
    }

    /// Returns the level of a verdict, or `None` if it is good.
    pub const fn level(self) -> Option<Level> {
        match self {
            Self::Pass => None,
            Self::NotExercised => Some(Level::Should),
            Self::Fail | Self::HarnessError => Some(Level::Must),
        }
    }

    /// A symbol for narrow columns.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Pass => "✓",
            Self::Fail => "✗",
            Self::NotExercised => "–",
            Self::HarnessError => "?",
        }
    }

    /// The name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::NotExercised => "not exercised",
            Self::HarnessError => "harness error",
        }
    }
}

impl Judgement {
    /// The verdict of a passed trial.
    pub const PASS: Self = Self {
        verdict: Verdict::Pass,
        reason: String::new(),
        kind: UndecidedKind::Other,
        detail: String::new(),
    };

    /// Creates a verdict with its reason.
    pub fn new(verdict: Verdict, reason: impl Into<String>) -> Self {
        Self::undecided(verdict, UndecidedKind::Other, reason)
    }

    /// Creates a verdict with a reason of this kind.
    pub fn undecided(verdict: Verdict, kind: UndecidedKind, reason: impl Into<String>) -> Self {
        Self { verdict, reason: reason.into(), kind, detail: String::new() }
    }

    /// Adds the reason without what its kind already states.
    #[must_use]
    pub fn with_detail(self, detail: impl Into<String>) -> Self {
        Self { detail: detail.into(), ..self }
    }
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.verdict.name())?;
        if self.reason.is_empty() { Ok(()) } else { write!(f, " ({})", self.reason) }
    }
}

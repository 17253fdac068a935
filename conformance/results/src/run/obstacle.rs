//! An obstacle to testing an endpoint.

use crate::{Judgement, UndecidedKind, Verdict};
use serde::{Deserialize, Serialize};

/// An obstacle that kept a run from testing its endpoint. It is no verdict about conformance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Obstacle {
    /// The class: `auth`, `quota`, `rate`, `region`, `network`, `overload`, `model` or `path`.
    pub class: UndecidedKind,
    /// The failure, with the message of the endpoint.
    pub reason: String,
    /// The next step.
    pub advice: String,
    /// The scenario after whose request the endpoint stopped answering.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

impl Obstacle {
    /// Creates an obstacle.
    pub fn new(class: UndecidedKind, reason: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { class, reason: reason.into(), advice: advice.into(), after: None }
    }

    /// Returns the judgement of a trial that it prevents.
    pub fn judgement(&self) -> Judgement {
        let reason = format!("{}; {}", self.reason, self.advice);
        Judgement::undecided(Verdict::HarnessError, self.class, reason)
    }

    /// Returns what happened, in a line.
    pub fn title(&self) -> String {
        match &self.after {
            Some(after) => format!("the endpoint stopped answering after {after}: {}", self.reason),
            None => self.reason.clone(),
        }
    }
}

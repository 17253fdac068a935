//! `x-lifecycle` in event files

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::constant::words;

/// The lifecycle of an event: one effect, or a list of effects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Lifecycle {
    /// The effect always takes place.
    Always(Effect),
    /// Each effect takes place once for each value that its pointer finds and that is not null, in the order of the
    /// list.
    Listed(Vec<Effect>),
}

/// The effect of an event in a scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Effect {
    /// In a list: its name, with which pages refer to it as `<event>/<name>`. The default is the name of its scope.
    pub name: Option<String>,
    /// Its scope.
    pub scope: String,
    /// Its role in the scope.
    pub role: Role,
    /// Place of its value: a JSON pointer. In a list, the segment `*` is each entry of an array.
    pub value: Option<String>,
    /// In a list: a member of the value that must be neither null, false nor an empty string.
    pub when: Option<String>,
    /// In a list: a member beside the value that must be neither null, false nor an empty string.
    pub beside: Option<String>,
    /// In a list: a member beside the value that must be missing, null, false or an empty string.
    pub unless: Option<String>,
    /// For the role `phase`, the phase that it begins; for the role `terminal`, the phase in which its scope ends.
    pub phase: Option<String>,
    /// For the role `point`, whether it may precede the event that opens the response.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub early: bool,
}

impl Lifecycle {
    /// Returns its effects.
    pub fn effects(&self) -> &[Effect] {
        match self {
            Self::Always(effect) => std::slice::from_ref(effect),
            Self::Listed(effects) => effects,
        }
    }

    pub(crate) fn effects_mut(&mut self) -> &mut [Effect] {
        match self {
            Self::Always(effect) => std::slice::from_mut(effect),
            Self::Listed(effects) => effects,
        }
    }

    /// Returns whether one of its effects has this role.
    pub fn has_role(&self, role: Role) -> bool {
        self.effects().iter().any(|effect| effect.role == role)
    }
}

impl<'de> Deserialize<'de> for Lifecycle {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(from)?;
        let read = if value.is_array() {
            serde_json::from_value(value).map(Self::Listed)
        } else {
            serde_json::from_value(value).map(Self::Always)
        };
        read.map_err(serde::de::Error::custom)
    }
}

impl Effect {
    /// Creates an effect without a value.
    pub fn new(scope: String, role: Role) -> Self {
        Self {
            name: None,
            scope,
            role,
            value: None,
            when: None,
            beside: None,
            unless: None,
            phase: None,
            early: false,
        }
    }

    /// Returns its name among the effects of its event.
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.scope)
    }
}

words! {
    /// The role of an event in its scope.
    pub enum Role {
        /// Opens the scope.
        Open,
        /// Appends a delta to the value.
        Delta,
        /// States the final value.
        Final,
        /// Closes the scope.
        Close,
        /// Begins a phase.
        Phase,
        /// Ends the response.
        Terminal,
        /// Occurs in the scope without changing it.
        Point,
    }
}

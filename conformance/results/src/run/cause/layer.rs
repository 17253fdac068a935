//! The layers of a response, the lowest first.

use serde::{Deserialize, Serialize};

/// The layer of a response that a rule is about. While a lower layer is broken, faults of higher ones may follow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// The status of the response.
    Status,
    /// Its content type.
    ContentType,
    /// The framing of its events: lines, fields and JSON.
    Framing,
    /// The protocol of its events.
    Protocol,
    /// Their numbers, and the beginning and end of the response.
    Sequence,
    /// Items, parts and texts, and how events, items and the final response agree.
    #[default]
    Structure,
    /// The properties of events and their values.
    Schema,
}

impl Layer {
    /// The rule about other protocols.
    pub(super) const FOREIGN: &str = "schema/foreign-protocol";

    /// Rules whose layer is not their group's.
    const RULES: &[(&str, Self)] = &[
        (Self::FOREIGN, Self::Protocol),
        ("error/not-under-200", Self::Status),
        ("error/status-agrees", Self::Status),
        ("wire/event-stream-content-type", Self::ContentType),
        ("wire/json-content-type", Self::ContentType),
        ("response/created-first", Self::Sequence),
        ("response/created-once", Self::Sequence),
        ("response/in-progress-second", Self::Sequence),
        ("response/one-terminal", Self::Sequence),
        ("response/phase-order", Self::Sequence),
        ("response/terminal-last", Self::Sequence),
    ];

    /// The layers of groups of rules; other groups are about the structure.
    const GROUPS: &[(&str, Self)] = &[
        ("wire", Self::Framing),
        ("ws", Self::Framing),
        ("sequence", Self::Sequence),
        ("schema", Self::Schema),
    ];

    /// The layer of a rule.
    pub fn of(rule: &str) -> Self {
        let own = Self::RULES.iter().find(|(name, _)| *name == rule);
        let group = || Self::GROUPS.iter().find(|(name, _)| *name == catalogue::group(rule));
        own.or_else(group).map_or(Self::Structure, |(_, layer)| *layer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_with_a_layer_of_its_own_exists() {
        for (rule, layer) in Layer::RULES {
            assert!(catalogue::rule(rule).is_some(), "{rule}: {layer:?}");
        }
    }
}

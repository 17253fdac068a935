//! Rules that can be broken in WebSocket turns.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use catalogue::Rule;

use checker::Rules;
use translation::pen::edits::Edits;

/// The rule that two compaction items break.
pub(crate) const COMPACTION_TRIGGERED: &str = "request/compaction-triggered";

/// Rules that can be broken in WebSocket turns, with the turn that triggers each.
pub(super) static SOCKET_FAULTS: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    let text = include_str!("socket.toml");
    toml::from_str(text).unwrap_or_else(|error| unreachable!("a test reads the file: {error}"))
});

/// Returns the rules that can be broken in WebSocket turns, with the turn that triggers each.
pub fn socket_faults(rules: &Rules) -> Vec<(&'static Rule, &'static str)> {
    let is_spoken = Edits::of(rules.dialect(), 0).keep_types();
    let known = SOCKET_FAULTS.iter().filter(|_| is_spoken);
    let bound = known.filter(|(id, _)| rules.iter().any(|rule| rule.id == **id));
    bound.filter_map(|(id, turn)| Some((catalogue::rule(id)?, &**turn))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_names_a_rule() {
        assert!(SOCKET_FAULTS.contains_key(COMPACTION_TRIGGERED));
        assert!(SOCKET_FAULTS.keys().all(|id| catalogue::rule(id).is_some()), "{SOCKET_FAULTS:?}");
    }
}

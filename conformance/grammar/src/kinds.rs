//! The types of values.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use recordings::goldens::GOLDENS;

/// The member that says what type a value has, as the goldens are written.
const MEMBER: &str = "\"type\":";

/// All texts that goldens have there.
static KINDS: LazyLock<BTreeSet<&'static str>> = LazyLock::new(|| {
    let texts = GOLDENS.iter().filter_map(|golden| std::str::from_utf8(golden.bytes).ok());
    let values = texts.flat_map(|text| text.split(MEMBER).skip(1));
    values.filter_map(|value| value.trim_start().strip_prefix('"')?.split('"').next()).collect()
});

/// Only types of goldens are known.
pub(crate) fn known(kind: &str) -> Option<&'static str> {
    KINDS.get(kind).copied()
}

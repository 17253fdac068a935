//! The dialects of this build, which are generated.

use crate::Dialect;

include!(concat!(env!("OUT_DIR"), "/dialects.rs"));

/// Returns the dialect of this build with this name, or the latest one that the program has loaded.
pub fn dialect(name: &str) -> Option<&'static Dialect> {
    #[cfg(feature = "folders")]
    if let Some(loaded) = crate::folder::loaded().into_iter().find(|dialect| dialect.name == name) {
        return Some(loaded);
    }
    dialects().find(|(known, _)| *known == name).map(|(_, dialect)| dialect)
}

/// Returns all dialects of this build, each with its names.
pub fn dialects() -> impl Iterator<Item = (&'static str, &'static Dialect)> {
    DIALECTS.iter().flat_map(|dialect| {
        // A dialect that is always the latest version of a specification also has the name of that version.
        let is_version =
            |name: &&str| name.strip_prefix(dialect.name).is_some_and(|rest| rest.starts_with('@'));
        let latest = dialect.lineage.first().copied().filter(is_version);
        [Some(dialect.name), latest].into_iter().flatten().map(|name| (name, *dialect))
    })
}

//! Facts that are computed once for each dialect.

use std::sync::{Mutex, PoisonError};

use spec::Dialect;

/// Facts about the dialects that were asked for.
pub(crate) type PerDialect<T> = Mutex<Vec<(&'static str, &'static T)>>;

/// Facts are computed when they are asked for the first time.
pub(crate) fn known<T>(
    all: &PerDialect<T>,
    dialect: &'static Dialect,
    find: impl FnOnce(&'static Dialect) -> T,
) -> &'static T {
    let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, known)) = all.iter().find(|(name, _)| *name == dialect.name) {
        return known;
    }
    let found: &'static T = Box::leak(Box::new(find(dialect)));
    all.push((dialect.name, found));
    found
}

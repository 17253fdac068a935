//! The dialects of both ends.

use spec::table::Content;
use spec::{Api, Dialect};

/// Returns the first-party dialect of an API, by whose rules clients judge.
pub fn front_dialect(api: &Api) -> Option<&'static Dialect> {
    checker::fallback(Some(api))
}

/// Returns the dialect of an API's upstream: the usual one, or the first extension that shows reasoning, if the usual
/// one does not.
pub fn upstream_dialect(api: &Api) -> Option<&'static Dialect> {
    let usual = front_dialect(api)?;
    if shows_reasoning(usual) {
        return Some(usual);
    }
    let shows = |dialect: &&&Dialect| dialect.is_or_extends(usual.name) && shows_reasoning(dialect);
    spec::DIALECTS.iter().find(shows).copied().or(Some(usual))
}

fn shows_reasoning(dialect: &Dialect) -> bool {
    dialect.effects().any(|effect| dialect.api.scope(effect.scope).content == Some(Content::Reasoning))
}

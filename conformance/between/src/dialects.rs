//! The dialects of both ends.

use spec::table::Content;
use spec::{Api, Dialect};

/// The APIs that the ends of a gateway speak.
const APIS: [&str; 3] = ["chat", "messages", "responses"];

/// The APIs of pairs.
pub fn apis() -> impl DoubleEndedIterator<Item = &'static Api> {
    spec::spoken().filter(|api| APIS.contains(&api.name))
}

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

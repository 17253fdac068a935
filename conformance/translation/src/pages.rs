//! Pages of APIs under `spec/apis`.

use serde::de::DeserializeOwned;

/// Pages by the names of their APIs.
pub(crate) type Pages<P> = Vec<(&'static str, P)>;

pub(crate) fn parsed<P: DeserializeOwned>(text: &str) -> P {
    toml::from_str(text).unwrap_or_else(|error| unreachable!("tests read all pages: {error}"))
}

pub(crate) fn all<P: DeserializeOwned>(texts: &[(&'static str, &str)]) -> Pages<P> {
    texts.iter().map(|(api, text)| (*api, parsed(text))).collect()
}

pub(crate) fn of<P>(pages: &'static Pages<P>, api: &str) -> Option<&'static P> {
    pages.iter().find(|(name, _)| *name == api).map(|(_, page)| page)
}

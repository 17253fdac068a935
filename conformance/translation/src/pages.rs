//! Pages of APIs under `spec/apis`.

use serde::de::DeserializeOwned;

pub(crate) fn parsed<P: DeserializeOwned>(text: &str) -> P {
    toml::from_str(text).unwrap_or_else(|error| unreachable!("tests read all pages: {error}"))
}

/// Pages by the names of their APIs. That of other APIs is blank.
#[derive(Debug)]
pub(crate) struct Pages<P> {
    all: Vec<(&'static str, P)>,
    blank: P,
}

impl<P: DeserializeOwned + Default> Pages<P> {
    pub(crate) fn new(texts: &[(&'static str, &str)], finish: fn(P) -> P) -> Self {
        let all = texts.iter().map(|(api, text)| (*api, finish(parsed(text)))).collect();
        Self { all, blank: P::default() }
    }

    pub(crate) fn of(&self, api: &str) -> &P {
        self.all.iter().find(|(name, _)| *name == api).map_or(&self.blank, |(_, page)| page)
    }
}

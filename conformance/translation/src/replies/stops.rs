//! The classes of the words for why a response ends: `spec/twins.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::Stop;
use crate::pages;

#[derive(Debug, Deserialize)]
struct File {
    stop: BTreeMap<String, BTreeMap<String, Vec<Stop>>>,
}

static FILE: LazyLock<File> = LazyLock::new(|| pages::parsed(include_str!("../../../../spec/twins.toml")));

/// The classes of a response's stop reason. A word with several classes means the one that the content shows.
pub fn stops(api: &str, word: &str) -> &'static [Stop] {
    FILE.stop.get(api).and_then(|words| words.get(word)).map(Vec::as_slice).unwrap_or_default()
}

/// The words of an API that a response may end with for a reason.
pub fn words(api: &str, stop: Stop) -> Vec<&'static str> {
    let words = FILE.stop.get(api).into_iter().flatten();
    words.filter(|(_, classes)| classes.contains(&stop)).map(|(word, _)| word.as_str()).collect()
}

/// Evidence for the stop reason, besides the word.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Shown {
    pub(super) has_calls: bool,
    pub(super) has_refusal: bool,
    /// The meaning of the reason, which the response can have besides the word.
    pub(super) reason: Option<Stop>,
}

pub(super) fn class(api: &str, word: &str, shown: Shown) -> Option<Stop> {
    let classes = stops(api, word);
    let has = |class| classes.contains(&class);
    // A forced call ends with `stop` in Chat Completions.
    if shown.has_calls && (has(Stop::Calls) || has(Stop::Ended)) && !has(Stop::Sequence) {
        return Some(Stop::Calls);
    }
    if shown.has_refusal && has(Stop::Refused) {
        return Some(Stop::Refused);
    }
    if has(Stop::Sequence) {
        return Some(Stop::Sequence);
    }
    shown.reason.filter(|class| has(*class)).or_else(|| classes.first().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_words_have_a_class() {
        for api in spec::spoken() {
            for word in api.usual_stops {
                assert!(class(api.name, word, Shown::default()).is_some(), "{} {word}", api.name);
            }
        }
        assert_eq!(class("chat", "stop", Shown { has_calls: true, ..Shown::default() }), Some(Stop::Calls));
        assert_eq!(class("messages", "stop_sequence", Shown::default()), Some(Stop::Sequence));
        let filtered = Shown { reason: Some(Stop::Filtered), ..Shown::default() };
        assert_eq!(class("responses", "incomplete", filtered), Some(Stop::Filtered));
        assert_eq!(class("responses", "incomplete", Shown::default()), Some(Stop::Cut));
        assert_eq!(class("chat", "unheard", Shown::default()), None);
    }
}

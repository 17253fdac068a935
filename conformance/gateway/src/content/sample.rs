//! Sample content of responses.

use super::pieces::{Fragments, fragments};

const TEXTS: [&str; 4] = [
    "Hello|, wor|ld.",
    "The| answer| is| forty|-two|.",
    "Once| upon| a time| there| was| a stream| that| came| to an| end|.",
    "Zürich|,| Ærø| and| 東京| are| far| apart| 🌍|.",
];

const CITIES: [&str; 4] = ["Oslo", "Rome", "Lima", "Cairo"];

pub(super) fn city(number: usize) -> &'static str {
    CITIES.get(number % CITIES.len()).copied().unwrap_or("Oslo")
}

pub(super) fn text(seed: u64) -> Fragments {
    let at = usize::try_from(seed % TEXTS.len() as u64).unwrap_or(0);
    TEXTS.get(at).map_or_else(Vec::new, |text| fragments(text))
}

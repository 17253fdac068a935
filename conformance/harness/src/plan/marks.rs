//! Marks: each of several concurrent requests has one in its input, which only its response may repeat.

use catalogue::Scenario;

pub(super) const PLACEHOLDER: &str = "{mark}";

/// Prefix and suffix of a mark, and its number of digits.
const BEGIN: &str = "zq";
const DIGITS: usize = 5;
const END: &str = "qz";

/// A word that does not occur by chance.
pub(super) fn mark(number: usize) -> String {
    format!("{BEGIN}{number:0DIGITS$}{END}")
}

pub(crate) fn marks(text: &str) -> impl Iterator<Item = usize> {
    text.match_indices(BEGIN).filter_map(|(at, _)| {
        let rest = text.get(at + BEGIN.len()..)?;
        let digits = rest.get(..DIGITS).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
        rest.get(DIGITS..)?.starts_with(END).then(|| digits.parse().ok())?
    })
}

/// With unique marks, many requests can be sent concurrently.
pub(super) fn is_marked(scenario: &Scenario, is_twin: bool) -> bool {
    !is_twin && scenario.request.contains(PLACEHOLDER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_found_in_what_surrounds_them() {
        let text = format!("{{\"delta\":\"{}{}, zq12qz zq1234xqz zqzq00003qz\"}}", mark(7), mark(12345));
        assert_eq!(marks(&text).collect::<Vec<_>>(), [7, 12345, 3]);
    }
}

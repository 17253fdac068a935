//! Texts in pieces, as they are streamed.

/// A text, split into the deltas of its stream.
pub type Fragments = Vec<String>;

pub(crate) fn fragments(text: &str) -> Fragments {
    text.split('|').map(|fragment| fragment.replace("\\n", "\n")).filter(|text| !text.is_empty()).collect()
}

/// Pieces of equal length.
pub(crate) fn fragments_of(text: &str) -> Fragments {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(9).map(|piece| piece.iter().collect()).collect()
}

/// Returns the approximate number of tokens of a text.
pub fn tokens(text: &str) -> u64 {
    (text.chars().count() as u64).div_ceil(4)
}

/// A request must not overload the server.
pub(super) fn small(number: Option<u64>, usual: usize) -> usize {
    number.and_then(|number| usize::try_from(number).ok()).map_or(usual, |number| number.min(64))
}

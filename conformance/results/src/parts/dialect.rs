//! The dialect of a run in words.

/// The dialect of a run that recognises the dialect of each stream.
pub const AUTO: &str = "auto";

/// Number of characters of a hash that reports show, with `sha256:`.
const SHOWN_OF_HASH: usize = 7 + 16;

/// The name of a dialect, and the hash of its folder if it is not one of the suite.
pub fn dialect_in_words(name: &str, folder: Option<&str>) -> String {
    let Some(folder) = folder else { return name.to_owned() };
    let hash: String = folder.chars().take(SHOWN_OF_HASH).collect();
    format!("{name} ({hash}), not part of this suite")
}

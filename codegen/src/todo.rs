//! The mark for places to fill in.

/// The mark before a place that a person must fill in.
pub const MARK: &str = "TODO:";

/// A text that somebody has to replace.
pub fn todo(what: &str) -> String {
    format!("{MARK} {what}")
}

/// The texts to replace, each with the number of its line.
pub fn marked(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().flat_map(|(number, line)| {
        // In TOML and JSON a value ends with a quote.
        let whats = line.split(MARK).skip(1).map(|rest| rest.split('"').next().unwrap_or_default().trim());
        whats.map(move |what| (number + 1, what))
    })
}

/// A text without the mark that somebody has to confirm it.
pub fn settled(text: &str) -> &str {
    text.strip_prefix(MARK).unwrap_or(text).trim_start()
}

//! The mark of what a skeleton leaves to be filled in.

/// Stands before what is to be filled in, wherever a skeleton leaves something to a person.
pub(crate) const MARK: &str = "TODO:";

/// Returns what somebody has to fill in, with the mark before it.
#[cfg(feature = "cli")]
pub(crate) fn todo(what: &str) -> String {
    format!("{MARK} {what}")
}

/// Returns what is marked in a text, each with its line, counted from 1.
#[cfg(feature = "cli")]
pub(crate) fn marked(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().flat_map(|(number, line)| {
        // In TOML and JSON a value ends with a quote.
        let whats = line.split(MARK).skip(1).map(|rest| rest.split('"').next().unwrap_or_default().trim());
        whats.map(move |what| (number + 1, what))
    })
}

/// Returns what a marked text says, as if it were confirmed.
pub(crate) fn settled(text: &str) -> &str {
    text.strip_prefix(MARK).unwrap_or(text).trim_start()
}

//! The mark for places to fill in.

/// The mark before a place that a person must fill in.
pub(crate) const MARK: &str = "TODO:";

#[cfg(feature = "cli")]
pub(crate) fn todo(what: &str) -> String {
    format!("{MARK} {what}")
}

#[cfg(feature = "cli")]
pub(crate) fn marked(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().flat_map(|(number, line)| {
        // In TOML and JSON a value ends with a quote.
        let whats = line.split(MARK).skip(1).map(|rest| rest.split('"').next().unwrap_or_default().trim());
        whats.map(move |what| (number + 1, what))
    })
}

pub(crate) fn settled(text: &str) -> &str {
    text.strip_prefix(MARK).unwrap_or(text).trim_start()
}

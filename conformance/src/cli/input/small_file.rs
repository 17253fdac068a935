//! Small files that flags and conformance.toml name.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail};
use harness::read_within;
use serde::de::DeserializeOwned;

/// Maximum size of such a file in bytes.
const LARGEST: u64 = 16 << 20;

/// Pipes and devices, which may never end, are refused.
pub(in crate::cli) fn bytes(path: &Path) -> Result<Vec<u8>> {
    let named = || path.display().to_string();
    if !fs::metadata(path).with_context(named)?.is_file() {
        bail!("{}: not a regular file", path.display());
    }
    read_within(path, LARGEST).with_context(named)
}

pub(in crate::cli) fn text(path: &Path) -> Result<String> {
    String::from_utf8(bytes(path)?).map_err(|_| anyhow!("{}: not UTF-8", path.display()))
}

/// An error has a place, and no line of the file: a configuration may name any file.
pub(in crate::cli) fn parsed<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T> {
    toml::from_str(text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start));
        let place = before.map(|before| {
            let last = before.rsplit('\n').next().unwrap_or_default();
            format!(":{}:{}", before.matches('\n').count() + 1, last.chars().count() + 1)
        });
        anyhow!("{}{}: {}", path.display(), place.unwrap_or_default(), error.message())
    })
}

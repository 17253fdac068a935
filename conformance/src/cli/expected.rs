//! Files of expected failures.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::Spanned;

/// The file: its entries, each with its place.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File<T> {
    #[serde(default = "Vec::new")]
    failure: Vec<Spanned<T>>,
}

/// Reads the entries of a file. The error lists every entry that does not pass a check, with its line.
pub(super) fn read<T: DeserializeOwned>(
    path: &Path,
    mut check: impl FnMut(&T) -> Result<()>,
) -> Result<Vec<T>> {
    let name = path.display().to_string();
    let text = fs::read_to_string(path).with_context(|| name.clone())?;
    let file: File<T> = toml::from_str(&text).with_context(|| name.clone())?;
    let mut problems = String::new();
    for entry in &file.failure {
        if let Err(problem) = check(entry.get_ref()) {
            let before = text.get(..entry.span().start).unwrap_or(&text);
            let _ = write!(problems, "\n  {name}:{}: {problem}", before.matches('\n').count() + 1);
        }
    }
    match problems.matches("\n  ").count() {
        0 => Ok(file.failure.into_iter().map(Spanned::into_inner).collect()),
        1 => bail!("{}", problems.trim_start()),
        count => bail!("{name} has {count} invalid entries{problems}"),
    }
}

/// Fails without a reason.
pub(super) fn reason(failure: &str, reason: &str) -> Result<()> {
    if reason.trim().is_empty() {
        bail!("{failure}: `reason` is empty; state why it fails and why that is acceptable");
    }
    Ok(())
}

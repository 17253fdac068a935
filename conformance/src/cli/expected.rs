//! Files of expected failures.

use std::path::Path;

use anyhow::{Result, bail};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::Spanned;

use super::message::Lines;
use super::small_file;

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
    let text = small_file::text(path)?;
    let file: File<T> = small_file::parsed(path, &text)?;
    let mut problems = Vec::new();
    for entry in &file.failure {
        if let Err(problem) = check(entry.get_ref()) {
            let before = text.get(..entry.span().start).unwrap_or(&text);
            problems.push(format!("{name}:{}: {problem}", before.matches('\n').count() + 1));
        }
    }
    match &*problems {
        [] => Ok(file.failure.into_iter().map(Spanned::into_inner).collect()),
        [problem] => bail!("{problem}"),
        problems => {
            let head = format!("{name} has {} invalid entries", problems.len());
            let lines = problems.iter().map(|problem| format!("  {problem}"));
            Err(Lines(std::iter::once(head).chain(lines).collect()).into())
        }
    }
}

/// Fails without a reason.
pub(super) fn reason(failure: &str, reason: &str) -> Result<()> {
    if reason.trim().is_empty() {
        bail!("{failure}: `reason` is empty; state why it fails and why that is acceptable");
    }
    Ok(())
}

//! Reads a document from a file.

use std::fs;
use std::path::Path;

use anyhow::Context;
use serde_json::Value;

/// Reads a JSON or YAML document, depending on its first character.
///
/// # Errors
///
/// Fails if the file cannot be read, or is neither.
pub fn read(path: &Path) -> anyhow::Result<Value> {
    let contents = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    parse(&contents).with_context(|| format!("cannot read {}", path.display()))
}

fn parse(contents: &str) -> anyhow::Result<Value> {
    if contents.trim_start().starts_with('{') {
        return serde_json::from_str(contents).context("not JSON, although it starts with `{`");
    }
    // YAML 1.2: only `true` and `false` are booleans, so that an enum may hold `on` and `off`.
    let options = serde_saphyr::options! { strict_booleans: true };
    serde_saphyr::from_str_with_options(contents, options).context("neither JSON nor YAML")
}

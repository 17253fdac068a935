//! Finds newer versions of the SDKs behind a dialect, and their additions.
//!
//! Queries registries with their own clients, `pip` and `npm`, as installed and configured.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, bail};
use codegen::diff::{self, Side};
use codegen::formats::ApiFile;
use serde_json::Value;

use crate::import::{ImportRequest, import};

/// Script that prints a bundle of JSON Schemas of an installed package.
const EXTRACT: &str = include_str!("../sdk_schema.py");

/// A package, the version behind a dialect, and newer ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Package {
    /// `pypi` or `npm`.
    pub(crate) registry: String,
    pub(crate) name: String,
    /// The version behind the dialect.
    pub(crate) version: String,
    /// The newest first.
    pub(crate) newer: Vec<String>,
}

impl Package {
    pub(crate) fn ask(registry: &str, name: &str, version: &str) -> anyhow::Result<Self> {
        let all = match registry {
            "pypi" => pip_versions(&run("pip", &["index", "versions", name], &[])?),
            "npm" => npm_versions(&run("npm", &["view", name, "versions", "--json"], &[])?)?,
            other => bail!("unknown registry \"{other}\"; supported are pypi and npm"),
        };
        let at = number(version).with_context(|| format!("\"{version}\" is not a version"))?;
        let mut newer: Vec<(Vec<u64>, String)> = all
            .into_iter()
            .filter_map(|text| Some((number(&text)?, text)))
            .filter(|(n, _)| *n > at)
            .collect();
        newer.sort();
        newer.dedup();
        let newer = newer.into_iter().rev().map(|(_, text)| text).collect();
        Ok(Self { registry: registry.to_owned(), name: name.to_owned(), version: version.to_owned(), newer })
    }

    /// The package must have types that can be read.
    pub(crate) fn newest_with_types(&self) -> Option<&String> {
        self.newer.first().filter(|_| self.registry == "pypi")
    }

    /// `None` if there is nothing new, or if the package has no types in a supported form.
    pub(crate) fn adds(
        &self,
        folder: &Path,
        roots: &BTreeMap<String, String>,
        (name, api): (&str, &ApiFile),
    ) -> anyhow::Result<Option<String>> {
        let Some(newest) = self.newest_with_types() else { return Ok(None) };
        let bundle = bundle(&self.name, newest, name)?;
        let request = ImportRequest { published: api.published.clone(), ..ImportRequest::default() };
        let newer =
            import(&bundle, &request).with_context(|| format!("in the types of {} {newest}", self.name))?;
        let before = crate::import::files_of(folder)?;
        let (after, _) = crate::import::laid_over(before.clone(), roots, &newer, &api.outer.root);
        let side = |name: &str, files| Side::of_files(name, files, roots.clone());
        let as_is = side(&format!("{} {}", self.name, self.version), before)?;
        let found = diff::diff(&as_is, &side(&format!("{} {newest}", self.name), after)?);
        Ok((!found.is_empty()).then(|| diff::human(&found)))
    }
}

fn bundle(name: &str, version: &str, api: &str) -> anyhow::Result<Value> {
    let folder = Scratch::new()?;
    let target = folder.0.as_os_str();
    let wanted = format!("{name}=={version}");
    run("pip", &["install".as_ref(), "--quiet".as_ref(), "--target".as_ref(), target, wanted.as_ref()], &[])?;
    let output = run_with("python3", &["-", api], &[("PYTHONPATH", target)], EXTRACT)?;
    serde_json::from_str(&output).with_context(|| format!("the types of {wanted} are not JSON"))
}

struct Scratch(PathBuf);

impl Scratch {
    fn new() -> anyhow::Result<Self> {
        let folder = std::env::temp_dir().join(format!("codegen-outdated-{}", std::process::id()));
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        Ok(Self(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Leftovers are in the folder for temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The text is `Available versions: 3.54.0, 3.53.0`.
fn pip_versions(text: &str) -> Vec<String> {
    let line = text.lines().find_map(|line| line.trim().strip_prefix("Available versions:"));
    line.into_iter().flat_map(|line| line.split(',')).map(|version| version.trim().to_owned()).collect()
}

fn npm_versions(text: &str) -> anyhow::Result<Vec<String>> {
    let versions: Value = serde_json::from_str(text).context("the output of npm is not JSON")?;
    let list = versions.as_array().cloned().unwrap_or_else(|| vec![versions]);
    Ok(list.into_iter().filter_map(|version| version.as_str().map(str::to_owned)).collect())
}

fn number(version: &str) -> Option<Vec<u64>> {
    version.split('.').map(|part| part.parse().ok()).collect()
}

fn run(program: &str, args: &[impl AsRef<OsStr>], vars: &[(&str, &OsStr)]) -> anyhow::Result<String> {
    run_with(program, args, vars, "")
}

fn run_with(
    program: &str,
    args: &[impl AsRef<OsStr>],
    vars: &[(&str, &OsStr)],
    input: &str,
) -> anyhow::Result<String> {
    let mut command = Command::new(program);
    command.args(args).envs(vars.iter().copied());
    command.env("PIP_DISABLE_PIP_VERSION_CHECK", "1").env("PIP_NO_INPUT", "1");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => anyhow::anyhow!("{program} is not installed, or not on PATH"),
        _ => anyhow::anyhow!("{program} cannot be started: {error}"),
    })?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read its input reports that by its exit code.
        let _ = stdin.write_all(input.as_bytes());
    }
    let Output { status, stdout, stderr } = child.wait_with_output()?;
    if status.success() {
        return String::from_utf8(stdout).with_context(|| format!("the output of {program} is not UTF-8"));
    }
    let shown: Vec<String> =
        args.iter().take(3).map(|arg| arg.as_ref().to_string_lossy().into_owned()).collect();
    let said = String::from_utf8_lossy(&stderr);
    let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it printed nothing");
    bail!("`{program} {}` failed; can the registry be reached? {}", shown.join(" "), last.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_number() {
        let text = "openai (3.10.0)\nAvailable versions: 3.10.0, 3.9.0, 3.9.0rc1\n  INSTALLED: 3.9.0\n";
        assert_eq!(pip_versions(text), ["3.10.0", "3.9.0", "3.9.0rc1"]);
        assert!(number("3.10.0") > number("3.9.0"));
        assert_eq!(number("3.9.0rc1"), None);
        assert_eq!(npm_versions("\"7.1.0\"").unwrap(), ["7.1.0"]);
    }
}

//! Reports that `run --out`, `client --out`, `between --out` or a format of `check` wrote.

use std::path::Path;
use std::{fs, io};

use anyhow::{Context as _, Result, anyhow, bail};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use harness::evidence::{Evidence, RunFile};
use harness::{LARGEST, read_within};
use results::{BETWEEN_RUN_VERSION, BetweenRun, CLIENT_RUN_VERSION, ClientRun, Run};

/// One, or one for each of several dialects.
///
/// # Errors
///
/// If there is none.
pub(in crate::cli) fn runs_in(folder: &Path) -> Result<Vec<RunFile>> {
    let named = || folder.display().to_string();
    let mut folders = Evidence::runs(folder).with_context(named)?;
    if folders.is_empty() {
        folders.push(folder.to_owned());
    }
    folders.iter().map(|run| Evidence::open(run).run().with_context(|| run.display().to_string())).collect()
}

pub(in crate::cli) fn one_run(folder: &Path) -> Result<()> {
    match Evidence::runs(folder).unwrap_or_default().as_slice() {
        [first, _, ..] => {
            bail!("{} has a run for each API: choose one, such as {}", folder.display(), first.display())
        }
        _ => Ok(()),
    }
}

pub(in crate::cli) fn read(path: &Path) -> Result<Run> {
    one_run(path)?;
    let file = if path.is_dir() { path.join("report.json") } else { path.to_owned() };
    let text = text(&file, path)?;
    let of_file = || file.display().to_string();
    // A report can be large: read only the version first.
    let Format { version } = serde_json::from_str(&text).with_context(of_file)?;
    if version != Some(u64::from(results::VERSION)) {
        let version = version.map_or_else(|| "no version".to_owned(), |version| format!("version {version}"));
        bail!("{} has {version}, but this build reads {}", of_file(), results::VERSION);
    }
    let run: Run = serde_json::from_str(&text).with_context(of_file)?;
    if run.dialect_folder.is_some() && path.is_dir() {
        // This loads its dialect.
        Evidence::open(path).run().with_context(of_file)?;
    }
    Ok(run)
}

/// The path is a file, or a folder with it. `None` if it is the report of something else.
pub(in crate::cli) fn read_client(path: &Path) -> Result<Option<ClientRun>> {
    let run: Option<ClientRun> =
        read_other(path, clients::REPORT, |head| head.client_run, CLIENT_RUN_VERSION)?;
    let Some(run) = run else { return Ok(None) };
    if path.is_dir() {
        Evidence::open(path).load_dialect(&run.dialect, run.dialect_folder.as_deref())?;
    }
    Ok(Some(ClientRun { folder: folder(path), ..run }))
}

/// The path is a file, or a folder with it. `None` if it is the report of something else.
pub(in crate::cli) fn read_between(path: &Path) -> Result<Option<BetweenRun>> {
    let run = read_other(path, between::folder::REPORT, |head| head.between_run, BETWEEN_RUN_VERSION)?;
    Ok(run.map(|run| BetweenRun { folder: folder(path), ..run }))
}

fn folder(path: &Path) -> Option<String> {
    path.is_dir().then(|| path.display().to_string())
}

fn read_other<R: DeserializeOwned>(
    path: &Path,
    name: &str,
    version: fn(Head) -> Option<u32>,
    known: u32,
) -> Result<Option<R>> {
    let file = if path.is_dir() { path.join(name) } else { path.to_owned() };
    if path.is_dir() && !file.is_file() {
        return Ok(None);
    }
    let text = text(&file, path)?;
    let head = serde_json::from_str(&text).with_context(|| {
        format!("{}: not a JSON report; give the folder that --out wrote, or its report", file.display())
    })?;
    let Some(version) = version(head) else { return Ok(None) };
    if version != known {
        bail!("{} has version {version}, but this build reads {known}", file.display());
    }
    serde_json::from_str(&text).with_context(|| file.display().to_string()).map(Some)
}

fn text(file: &Path, named: &Path) -> Result<String> {
    // Only a pipe that the reader names is read.
    let is_pipe = file != named && fs::metadata(file).is_ok_and(|about| !about.is_file());
    let bytes = if is_pipe { Err(io::Error::other("it is not a file")) } else { read_within(file, LARGEST) };
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other));
    text.map_err(|error| {
        let hint = match error.kind() {
            io::ErrorKind::NotFound if file != named => "; has the run finished?",
            io::ErrorKind::NotFound => {
                "; give the folder that `run --out`, `client --out` or `between --out` wrote, or a JSON report"
            }
            _ => "",
        };
        anyhow!("{}: {error}{hint}", file.display())
    })
}

/// The header of a report.
#[derive(Deserialize)]
struct Format {
    version: Option<u64>,
}

/// The members that identify the report of a client, or of both ends of a gateway.
#[derive(Deserialize)]
struct Head {
    client_run: Option<u32>,
    between_run: Option<u32>,
}

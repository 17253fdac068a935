//! Snapshots of the shapes of streams.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

use similar::TextDiff;

use crate::file::{remove, replace};
use crate::live::Live;
use crate::plan::About;
use results::{Judgement, Verdict};

/// A folder of snapshots, one file each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshots {
    folder: PathBuf,
    blesses: bool,
}

const ENDING: &str = ".shape";
const MAX_LINES: usize = 100;

impl Snapshots {
    /// Returns the snapshots in this folder.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), blesses: false }
    }

    /// Accepts shapes as new snapshots instead of comparing them.
    #[must_use]
    pub fn bless(self, blesses: bool) -> Self {
        Self { blesses, ..self }
    }

    /// Compares a shape with its snapshot, or accepts it.
    ///
    /// # Errors
    ///
    /// If they differ, or there is no snapshot yet. The new shape is written to a file beside the snapshot.
    pub fn check(&self, name: &str, shape: &str) -> Result<(), String> {
        let file = self.file(name);
        let new = with_ending(&file, ".new");
        let failed = |error: &io::Error| format!("{}: {error}", file.display());
        let approved = if self.blesses { Ok(shape.to_owned()) } else { fs::read_to_string(&file) };
        let write = |file: &Path| {
            file.parent().map_or(Ok(()), fs::create_dir_all)?;
            replace(file, shape)
        };
        match approved {
            // Git may have changed line ends.
            Ok(approved) if approved.lines().eq(shape.lines()) => {
                if self.blesses {
                    write(&file).map_err(|error| failed(&error))?;
                }
                remove(&new).map_err(|error| failed(&error))
            }
            Ok(approved) => {
                write(&new).map_err(|error| failed(&error))?;
                let (approved_name, new) = (file.display(), new.display());
                Err(format!(
                    "the shape of the stream differs from {approved_name}:\n{}the new shape is in {new}; if it is \
                     correct, accept it with --bless\n",
                    difference(&approved, shape)
                ))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                write(&new).map_err(|error| failed(&error))?;
                let (file, new) = (file.display(), new.display());
                Err(format!(
                    "there is no snapshot {file}; the new shape is in {new}: review it, then accept it with \
                     --bless\n"
                ))
            }
            Err(error) => Err(failed(&error)),
        }
    }

    /// Returns the names of other snapshots in the folder.
    ///
    /// # Errors
    ///
    /// When the folder cannot be read.
    pub fn others<'n>(&self, compared: impl Iterator<Item = &'n str>) -> Result<Vec<String>, String> {
        let compared: BTreeSet<PathBuf> = compared.map(|name| self.file(name)).collect();
        let mut others = Vec::new();
        let mut folders = vec![self.folder.clone()];
        while let Some(folder) = folders.pop() {
            let failed = |error: io::Error| format!("{}: {error}", folder.display());
            let entries = match fs::read_dir(&folder) {
                // No snapshots exist yet.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                entries => entries.map_err(failed)?,
            };
            for entry in entries {
                let entry = entry.map_err(failed)?;
                if entry.file_type().map_err(failed)?.is_dir() {
                    folders.push(entry.path());
                } else if !compared.contains(&entry.path()) {
                    others.extend(self.name(&entry.path()));
                }
            }
        }
        others.sort_unstable();
        Ok(others)
    }

    /// Returns whether this snapshot is below a folder.
    pub fn is_below(&self, name: &str, folder: &str) -> bool {
        self.place(name).starts_with(self.place(folder))
    }

    fn name(&self, file: &Path) -> Option<String> {
        let inside = file.strip_prefix(&self.folder).ok()?.to_str()?.strip_suffix(ENDING)?;
        Some(inside.replace(std::path::MAIN_SEPARATOR, "/"))
    }

    /// Returns the failure of a stale snapshot.
    pub fn stale(&self, name: &str, reason: &str) -> String {
        format!("it is stale: {reason}; delete {}", self.file(name).display())
    }

    fn file(&self, name: &str) -> PathBuf {
        with_ending(&self.place(name), ENDING)
    }

    fn place(&self, name: &str) -> PathBuf {
        let mut file = self.folder.clone();
        for component in Path::new(name).components() {
            match component {
                Component::Normal(part) => file.push(part),
                Component::ParentDir => file.push("_parent"),
                Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
            }
        }
        file
    }
}

pub(super) fn judge(live: &Live, at: usize, name: &str, snapshots: &Snapshots) -> Judgement {
    let answer = live.judge(at, About::Answer);
    match answer.verdict {
        Verdict::HarnessError => return answer,
        // A shape with a snapshot must occur again; others need not.
        Verdict::NotExercised if snapshots.blesses || !snapshots.file(name).exists() => return answer,
        Verdict::Fail if snapshots.blesses => {
            let reason = format!("its shape is not accepted: the response failed: {}", answer.reason);
            return Judgement::new(Verdict::Fail, reason);
        }
        _ => {}
    }
    let failed = |reason| Judgement::new(Verdict::Fail, reason);
    match live.attempts_of(at).last().and_then(|attempt| attempt.shape.as_ref()) {
        Some(Ok(Some(shape))) => snapshots.check(name, shape).map_or_else(failed, |()| Judgement::PASS),
        Some(Ok(None)) => failed("the response has no events".to_owned()),
        Some(Err(problem)) => failed(problem.clone()),
        None => answer,
    }
}

fn with_ending(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// `-` snapshot, `+` actual.
fn difference(approved: &str, shape: &str) -> String {
    let (approved, shape) = (lines(approved), lines(shape));
    let diff = TextDiff::from_lines(&approved, &shape);
    let text = diff.unified_diff().context_radius(3).header("approved", "came").to_string();
    let more = text.lines().count().saturating_sub(MAX_LINES);
    let mut listed: String = text.lines().take(MAX_LINES).flat_map(|line| [line, "\n"]).collect();
    if more > 0 {
        listed.extend(["... and ", &more.to_string(), " more lines\n"]);
    }
    listed
}

fn lines(text: &str) -> String {
    text.lines().flat_map(|line| [line, "\n"]).collect()
}

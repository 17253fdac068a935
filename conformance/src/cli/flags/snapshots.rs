//! Flags of snapshots.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use libtest_mimic::{Completion, Trial};
use spec::Dialect;

use crate::cli::input::files;
use harness::suite::Snapshots;
use recordings::capture::Format;
use recordings::shape::shape;
use results::text::visible;

const HEADING: &str = "Snapshots";

/// Snapshots of the shapes of streams.
#[derive(Debug, Args)]
pub(in crate::cli) struct SnapshotArgs {
    /// Compare the shape of each stream with the accepted one in this folder.
    #[arg(long, value_name = "DIR", help_heading = HEADING, hide_short_help = true)]
    snapshots: Option<PathBuf>,
    /// Accept the current shapes as the new snapshots.
    #[arg(long, requires = "snapshots", help_heading = HEADING, hide_short_help = true)]
    bless: bool,
}

impl SnapshotArgs {
    pub(in crate::cli) fn snapshots(&self) -> Option<Snapshots> {
        Some(Snapshots::new(self.snapshots.as_ref()?).bless(self.bless))
    }

    /// As tests that fail.
    pub(in crate::cli) fn stale(&self, paths: &[PathBuf], files: &[PathBuf]) -> anyhow::Result<Vec<Trial>> {
        let Some(snapshots) = self.snapshots() else { return Ok(Vec::new()) };
        let name = |path: &PathBuf| files::name(path);
        let folders: Vec<String> = paths.iter().filter(|path| path.is_dir()).map(name).collect();
        let compared: Vec<String> = files.iter().map(name).collect();
        let mut stale = snapshots.others(compared.iter().map(String::as_str)).map_err(anyhow::Error::msg)?;
        stale.retain(|name| folders.iter().any(|folder| snapshots.is_below(name, folder)));
        let trial = |name: String| {
            let stale = snapshots.stale(&name, "there is no recording with this name");
            Trial::test(format!("{}::snapshot", visible(&name)), move || Err(stale.into()))
        };
        Ok(stale.into_iter().map(trial).collect())
    }

    pub(in crate::cli) fn trials(
        &self,
        files: &[PathBuf],
        format: Option<Format>,
        dialect: Option<&'static Dialect>,
        incomplete: &Arc<AtomicBool>,
    ) -> Vec<Trial> {
        let Some(snapshots) = self.snapshots() else { return Vec::new() };
        let trial = |file: &PathBuf| {
            let (file, snapshots, incomplete) = (file.clone(), snapshots.clone(), Arc::clone(incomplete));
            let name = files::name(&file);
            Trial::ignorable_test(format!("{}::snapshot", visible(&name)), move || {
                let opened = if files::is_stdin(&file) {
                    Err("it can be read only once: pass a file instead".to_owned())
                } else {
                    files::open(&file).map_err(|error| error.to_string())
                };
                match opened.and_then(|mut opened| shape(&mut opened, format, dialect)) {
                    Ok(Some(shape)) => Ok(snapshots.check(&name, &shape).map(|()| Completion::Completed)?),
                    Ok(None) => Ok(Completion::ignored_with("it has no events")),
                    Err(problem) => {
                        incomplete.store(true, Ordering::Relaxed);
                        Err(format!("{name}: {problem}").into())
                    }
                }
            })
        };
        files.iter().map(trial).collect()
    }
}

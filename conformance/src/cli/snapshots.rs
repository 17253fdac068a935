//! Approved shapes of streams.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use libtest_mimic::{Completion, Trial};
use spec::Dialect;

use super::files;
use crate::capture::Format;
use crate::shape::shape;
use crate::suite::Snapshots;

/// What shapes streams should have.
#[derive(Debug, Args)]
#[command(next_help_heading = "Snapshots")]
pub(super) struct SnapshotArgs {
    /// Compare the shape of each stream with the approved one in this folder.
    #[arg(long, value_name = "DIR")]
    snapshots: Option<PathBuf>,
    /// Approve of the shapes that come.
    #[arg(long, requires = "snapshots")]
    bless: bool,
}

impl SnapshotArgs {
    /// The folder of shapes, if one was named.
    pub(super) fn snapshots(&self) -> Option<Snapshots> {
        Some(Snapshots::new(self.snapshots.as_ref()?).bless(self.bless))
    }

    /// Tests of shapes that none of these recordings is compared with. Who names single recordings chooses.
    pub(super) fn stale(&self, files: &[PathBuf], is_chosen: bool) -> anyhow::Result<Vec<Trial>> {
        let Some(snapshots) = self.snapshots() else { return Ok(Vec::new()) };
        let compared: Vec<String> = files.iter().map(|file| files::name(file)).collect();
        let others = snapshots.others(compared.iter().map(String::as_str)).map_err(anyhow::Error::msg)?;
        let trial = |name: String| {
            let reason = "there is no recording of this name";
            let stale = snapshots.stale(&name, reason);
            Trial::ignorable_test(format!("{name}::snapshot"), move || {
                if is_chosen { Ok(Completion::ignored_with(reason)) } else { Err(stale.into()) }
            })
        };
        Ok(others.into_iter().map(trial).collect())
    }

    /// A test for the shape of each recording.
    pub(super) fn trials(
        &self,
        files: &[PathBuf],
        format: Option<Format>,
        dialect: &'static Dialect,
        incomplete: &Arc<AtomicBool>,
    ) -> Vec<Trial> {
        let Some(snapshots) = self.snapshots() else { return Vec::new() };
        let trial = |file: &PathBuf| {
            let (file, snapshots, incomplete) = (file.clone(), snapshots.clone(), Arc::clone(incomplete));
            let name = files::name(&file);
            Trial::ignorable_test(format!("{name}::snapshot"), move || {
                let opened = if file.as_os_str() == "-" {
                    Err("it can be read only once: give a file instead".to_owned())
                } else {
                    files::open(&file).map_err(|error| error.to_string())
                };
                match opened.and_then(|mut opened| shape(&mut opened, format, dialect)) {
                    Ok(Some(shape)) => Ok(snapshots.check(&name, &shape).map(|()| Completion::Completed)?),
                    Ok(None) => Ok(Completion::ignored_with("there is no event in it")),
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

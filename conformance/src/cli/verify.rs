//! `conformance verify`: checks whether the results of a run follow from its evidence.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};
use clap::Args;

use super::select::SelectArgs;
use super::{CommandArgs, NOT_DONE, names, print};
use harness::certificate::unsigned;
use harness::live::{BUILD, Evidence, RunFile};
use harness::{Compared, compare};
use results::text::visible;
use results::{Options, State};

const EXAMPLES: &str = "\
Examples:
  conformance verify run/
  conformance verify run/ --key gateway.pub.pem";

/// Checks whether a run is consistent: its requests match the scenarios, its exchanges support its verdicts, and
/// nothing was changed, added or removed.
///
/// It does not prove that the exchanges came from the named endpoint.
///
/// Exit codes: 0 if all verdicts are the same, 1 if one differs, 2 if the run could not be read.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct VerifyArgs {
    /// Folder written by `run --out`.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Public key that the certificate must be signed with: Ed25519, PEM
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
}

impl CommandArgs for VerifyArgs {
    fn run(self) -> Result<ExitCode> {
        let evidence = Evidence::open(&self.folder);
        let run = evidence.run()?;
        if run.state == State::Begun {
            anyhow::bail!("{} has no results: the run did not finish", self.folder.display());
        }
        let named = || self.folder.display().to_string();
        known(&run).with_context(named)?;
        let compared = compare(&evidence, &run).map_err(|problem| anyhow!(problem));
        let Compared { mut differences, is_unreadable } = compared.with_context(named)?;
        if let Some(file) = &self.key {
            let named = || file.display().to_string();
            let key = fs::read(file).with_context(named)?;
            let unsigned = unsigned(&evidence, &key).map_err(|problem| anyhow!(problem));
            differences.extend(unsigned.with_context(named)?);
        }
        let built = other_build(&run).unwrap_or_default();
        if differences.is_empty() {
            let (exchanges, trials) = (run.exchanges.len(), run.trials.len());
            print(&format!(
                "consistent: these {exchanges} exchanges support the verdicts of {trials} trials\n{built}{UNPROVEN}"
            ))?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut text = format!("{} differs from the run:\n", visible(&self.folder.to_string_lossy()));
        for difference in &differences {
            let _ = writeln!(text, "  {}", visible(difference));
        }
        text += &built;
        print(&text)?;
        Ok(ExitCode::from(if is_unreadable { NOT_DONE } else { 1 }))
    }
}

/// Returns a note if another build than this one made a run. Its verdicts are those of this build all the same.
fn other_build(run: &RunFile) -> Option<String> {
    let RunFile { build, .. } = run;
    (build != BUILD).then(|| {
        format!("note: the run was made by build {} of the suite, but this is {BUILD}\n", visible(build))
    })
}

/// Fails unless the names in the options of a run are known.
fn known(run: &RunFile) -> Result<()> {
    let Options { profiles, select, ignore, .. } = &run.options;
    names::dialect(&run.dialect)?;
    SelectArgs { select: select.clone(), ignore: ignore.clone() }.check()?;
    names::profiles(profiles)
}

/// The limits of verification.
const UNPROVEN: &str = "not proven: that they came from the named endpoint; to check this, run the \
                        commands under Reproduce in certificate.md\n";

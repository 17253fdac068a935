//! `conformance verify`: checks whether the results of a run follow from its evidence.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};
use clap::Args;

use super::select::SelectArgs;
use super::{CommandArgs, NOT_DONE, names, print};
use harness::certificate::{SIGNATURE, Signed, signed};
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
        let (evidence, run, compared) = compared(&self.folder)?;
        let Compared { mut differences, is_unreadable } = compared;
        let folder = visible(&self.folder.to_string_lossy());
        let mut signer = String::new();
        if let Some(file) = &self.key {
            let named = || file.display().to_string();
            let key = fs::read(file).with_context(named)?;
            let name = visible(&file.to_string_lossy());
            match signed(&evidence, &key).map_err(|problem| anyhow!(problem)).with_context(named)? {
                Signed::By(id) => signer = format!("signed by the key {name} (SHA-256 {id})\n"),
                Signed::Otherwise(difference) => differences.push(difference),
                Signed::Not if differences.is_empty() => {
                    print(&format!(
                        "{folder} is not signed: it has no {SIGNATURE}; without --key, verify checks its results alone\n"
                    ))?;
                    return Ok(ExitCode::from(1));
                }
                Signed::Not => differences.push(format!("it is not signed: there is no {SIGNATURE}")),
            }
        }
        let built = other_build(&run).unwrap_or_default();
        if differences.is_empty() {
            let (exchanges, trials) = (run.exchanges.len(), run.trials.len());
            print(&format!(
                "consistent: these {exchanges} exchanges support the verdicts of {trials} trials\n\
                 {signer}{built}{UNPROVEN}"
            ))?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut text = format!("{folder} differs from the run:\n");
        for difference in &differences {
            let _ = writeln!(text, "  {}", visible(difference));
        }
        text += &built;
        print(&text)?;
        Ok(ExitCode::from(if is_unreadable { NOT_DONE } else { 1 }))
    }
}

/// Compares the results of a run with its evidence.
pub(super) fn compared(folder: &Path) -> Result<(Evidence, RunFile, Compared)> {
    let evidence = Evidence::open(folder);
    let run = evidence.run()?;
    if run.state == State::Begun {
        anyhow::bail!("{} has no results: the run did not finish", folder.display());
    }
    let named = || folder.display().to_string();
    known(&run).with_context(named)?;
    let compared = compare(&evidence, &run).map_err(|problem| anyhow!(problem)).with_context(named)?;
    Ok((evidence, run, compared))
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

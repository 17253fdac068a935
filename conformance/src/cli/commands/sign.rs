//! `conformance sign`: a signature under the certificate of a run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;

use super::verify::{TestsRun, compared};
use crate::cli::input::saved::one_run;
use crate::cli::{CommandArgs, print};
use harness::certificate::{SIGNATURE, sign, statement};
use harness::evidence::Evidence;
use results::text::visible;

/// Signs the certificate of a run.
///
/// Writes certificate.sigstore.json: an in-toto statement about the files of the run, in a DSSE envelope. A run
/// that `conformance verify` does not find consistent is not signed. `--statement` prints the statement instead, for a tool
/// that signs it as a CI job. Its result is PASSED if all profiles of the run have passed, and FAILED if one has failed.
#[derive(Debug, Args)]
pub(in crate::cli) struct SignArgs {
    /// The folder that was given to --out. With a run for each of several APIs, all are signed.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Private key: Ed25519, PKCS #8, PEM, as `openssl genpkey -algorithm ed25519` makes it.
    #[arg(long, value_name = "FILE", required_unless_present = "statement")]
    key: Option<PathBuf>,
    /// Print the statement and sign nothing.
    #[arg(long, conflicts_with = "key")]
    statement: bool,
}

impl CommandArgs for SignArgs {
    fn run(self) -> Result<ExitCode> {
        if self.statement {
            one_run(&self.folder)?;
        }
        let mut runs = Evidence::runs(&self.folder).unwrap_or_default();
        if runs.is_empty() {
            runs.push(self.folder.clone());
        }
        runs.iter().try_for_each(|run| self.sign(run))?;
        Ok(ExitCode::SUCCESS)
    }
}

impl SignArgs {
    fn sign(&self, folder: &Path) -> Result<()> {
        let evidence = Evidence::open(folder);
        let (differences, statement) = match TestsRun::read(folder)? {
            Some(run) => (run.checked(folder, None).0.differences, run.statement(folder)),
            None => (compared(folder, None)?.2.differences, statement(&evidence)),
        };
        if let Some(first) = differences.first() {
            let folder = folder.display();
            bail!(
                "{folder} is not consistent, so that it is not signed: {first}; `conformance verify {folder}` lists all"
            );
        }
        let statement = statement.map_err(|problem| anyhow!(problem))?;
        let Some(file) = &self.key else {
            print(&format!("{statement:#}\n"))?;
            return Ok(());
        };
        let named = || file.display().to_string();
        let key = fs::read(file).with_context(named)?;
        sign(&evidence, &statement, &key).map_err(|problem| anyhow!(problem)).with_context(named)?;
        print(&format!("signed: {}\n", visible(&folder.join(SIGNATURE).to_string_lossy())))?;
        Ok(())
    }
}

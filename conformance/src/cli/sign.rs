//! `conformance sign`: a signature under the certificate of a run.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;

use super::verify::compared;
use super::{CommandArgs, print};
use harness::Compared;
use harness::certificate::{SIGNATURE, sign, statement};
use results::text::visible;

/// Signs the certificate of a run.
///
/// Writes certificate.sigstore.json: an in-toto statement about the files of the run, in a DSSE envelope. A run
/// that `conformance verify` does not find consistent is not signed. `--statement` prints the statement instead, for a tool
/// that signs it as a CI job. Its result is PASSED if all profiles of the run have passed, and FAILED if one has failed.
#[derive(Debug, Args)]
pub(super) struct SignArgs {
    /// The folder that was given to --out.
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
        let (evidence, _, Compared { differences, .. }) = compared(&self.folder, None)?;
        if let Some(first) = differences.first() {
            let folder = self.folder.display();
            bail!(
                "{folder} is not consistent, so that it is not signed: {first}; `conformance verify {folder}` lists all"
            );
        }
        let Some(file) = &self.key else {
            let statement = statement(&evidence).map_err(|problem| anyhow!(problem))?;
            print(&format!("{statement:#}\n"))?;
            return Ok(ExitCode::SUCCESS);
        };
        let named = || file.display().to_string();
        let key = fs::read(file).with_context(named)?;
        sign(&evidence, &key).map_err(|problem| anyhow!(problem)).with_context(named)?;
        print(&format!("signed: {}\n", visible(&self.folder.join(SIGNATURE).to_string_lossy())))?;
        Ok(ExitCode::SUCCESS)
    }
}

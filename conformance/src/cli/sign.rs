//! `conformance sign`: a signature under the certificate of a run.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};
use clap::Args;

use super::{CommandArgs, print};
use harness::certificate::{SIGNATURE, sign, statement};
use harness::live::Evidence;
use results::text::visible;

/// Signs the certificate of a run.
///
/// Writes certificate.sigstore.json: an in-toto statement about the files of the run, in a DSSE envelope. Check the
/// run with `conformance verify` before you sign it. `--statement` prints the statement instead, for a tool that signs it
/// as a CI job.
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
        let evidence = Evidence::open(&self.folder);
        evidence.run()?;
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

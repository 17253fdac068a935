//! `conformance sign`: a signature under the certificate of a run.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};
use clap::Args;

use super::print;
use harness::certificate::{SIGNATURE, sign};
use harness::live::Evidence;

/// Signs the certificate of a run.
///
/// Writes certificate.sigstore.json: an in-toto statement about the files of the run, in a DSSE envelope. Check the
/// run with `conformance verify` before you sign it.
#[derive(Debug, Args)]
pub(super) struct SignArgs {
    /// The folder that was given to --out.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Private key: Ed25519, PKCS #8, PEM, as `openssl genpkey -algorithm ed25519` makes it.
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
}

impl SignArgs {
    pub(super) fn run(self) -> Result<ExitCode> {
        let named = || self.key.display().to_string();
        let key = fs::read(&self.key).with_context(named)?;
        let evidence = Evidence::open(&self.folder);
        evidence.run()?;
        sign(&evidence, &key).map_err(|problem| anyhow!(problem)).with_context(named)?;
        print(&format!("signed: {}\n", self.folder.join(SIGNATURE).display()))?;
        Ok(ExitCode::SUCCESS)
    }
}

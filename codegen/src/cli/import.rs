//! `codegen import`: from an OpenAPI document to the files of a dialect.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::import::{into_folder, read};

/// Reads the events and bodies of the Responses API from an OpenAPI 3.1 document and writes them as
/// the files of a dialect. Descriptions, lifecycle and examples that are there stay.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The document, JSON or YAML.
    file: PathBuf,
    /// Name of the dialect to write.
    #[arg(long, value_name = "NAME")]
    dialect: String,
    /// The folder of the specification.
    #[arg(long, value_name = "PATH", default_value = "spec")]
    spec_dir: PathBuf,
}

impl ImportArgs {
    /// Imports, and prints what changed.
    ///
    /// # Errors
    ///
    /// Fails when the document or the dialect's folder cannot be read or written.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let document = read(&self.file)?;
        let summary = into_folder(&document, &self.spec_dir.join("dialects").join(&self.dialect))?;
        writeln!(std::io::stdout().lock(), "{summary}")?;
        Ok(ExitCode::SUCCESS)
    }
}

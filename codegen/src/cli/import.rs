//! `codegen import`: from an OpenAPI document or a JSON Schema bundle to the files of a dialect.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::import::{Laying, into_folder, read};
use crate::todo::MARK;

/// Reads the events and bodies of the Responses API and writes them as the files of a dialect.
///
/// The document is an OpenAPI 3.1 document, or a JSON Schema bundle made from the types of an SDK
/// (`codegen/sdk_schema.py`). Descriptions, lifecycle and examples that are there stay. A bundle, or a variant, is
/// laid over the dialect: it adds and loosens, and removes nothing.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The document, JSON or YAML.
    file: PathBuf,
    /// Name of the dialect to write.
    #[arg(long, value_name = "NAME")]
    dialect: String,
    /// Take a variant of the API: names that begin with this, paths with `?name=true`.
    #[arg(long, value_name = "PREFIX")]
    variant: Option<String>,
    /// The bundle of the version that was imported before: what became optional since then becomes optional here.
    #[arg(long, value_name = "FILE")]
    since: Option<PathBuf>,
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
        let since = self.since.as_deref().map(read).transpose()?;
        let laying = Laying { variant: self.variant.as_deref(), since: since.as_ref() };
        let summary = into_folder(&document, &self.spec_dir.join("dialects").join(&self.dialect), &laying)?;
        let mut stdout = std::io::stdout().lock();
        writeln!(stdout, "{summary}")?;
        if !summary.added.is_empty() || !summary.changed.is_empty() {
            writeln!(stdout, "next: `codegen check` lists what is left to fill in, marked {MARK}")?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

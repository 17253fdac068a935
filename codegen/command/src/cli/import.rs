//! `codegen import`: converts an OpenAPI document or a JSON Schema bundle to the files of a dialect.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use codegen::SpecFiles;
use codegen::dialect::{self, Errata};
use codegen::todo::MARK;

use crate::import::{Laying, api_in, into_folder, read};

/// Imports the events and bodies of an API as the files of a dialect.
///
/// The document is an OpenAPI 3.1 document, or a JSON Schema bundle made from the types of an SDK
/// (`codegen/command/sdk_schema.py`). Existing descriptions, lifecycles and examples are kept. A bundle or a variant only
/// adds to and loosens the dialect.
#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// Document, JSON or YAML.
    file: PathBuf,
    /// Name of the dialect to write.
    #[arg(long, value_name = "NAME")]
    dialect: String,
    /// The API, for a new dialect [default: the first whose events the document has].
    #[arg(long, value_name = "NAME")]
    api: Option<String>,
    /// Import a variant of the API: names that begin with PREFIX, paths with `?name=true`.
    #[arg(long, value_name = "PREFIX")]
    variant: Option<String>,
    /// Bundle of the last imported version: fields that became optional since then become optional here.
    #[arg(long, value_name = "FILE")]
    since: Option<PathBuf>,
    /// Folder of the specification.
    #[arg(long, value_name = "PATH", default_value = "spec")]
    spec_dir: PathBuf,
    /// Print the notes on types that did not change, too.
    #[arg(long, short)]
    verbose: bool,
}

impl ImportArgs {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let document = read(&self.file)?;
        let since = self.since.as_deref().map(read).transpose()?;
        let files = SpecFiles::load(&self.spec_dir)?;
        let folder = self.spec_dir.join("dialects").join(&self.dialect);
        let known = folder.join("dialect.toml").is_file();
        let known =
            known.then(|| dialect::open(&self.spec_dir, &self.dialect, Errata::LeftOut)).transpose()?;
        let name = self.api.as_ref().or(known.as_ref().map(|dialect| &dialect.file.api));
        let api = api_in(&files, &document, name.map(String::as_str))?;
        let laying = Laying { api, variant: self.variant.as_deref(), since: since.as_ref() };
        let mut summary = into_folder(&document, &folder, &laying)?;
        if !self.verbose {
            summary.leave_out_old_notes();
        }
        let mut stdout = std::io::stdout().lock();
        writeln!(stdout, "{summary}")?;
        if !summary.added.is_empty() || !summary.changed.is_empty() {
            writeln!(stdout, "next: `codegen check` lists the places to fill in, marked {MARK}")?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

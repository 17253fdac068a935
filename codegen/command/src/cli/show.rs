//! `codegen show`: prints the Rust generated for one event or type.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{anyhow, bail};
use clap::Args;
use codegen::{SpecFiles, dialect, emit};

use crate::nearest::{is_dialect, nearest};

/// Prints the Rust generated for one event or type.
#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// Event type, such as `response.created`, or name of a type.
    #[arg(value_name = "TYPE")]
    name: String,
    /// Dialect of the event or type.
    #[arg(long, value_name = "NAME", default_value = "openai")]
    dialect: String,
    /// Also print the validator.
    #[arg(long)]
    validator: bool,
    /// Folder of the specification.
    #[arg(long, value_name = "PATH", default_value = "spec")]
    spec_dir: PathBuf,
}

impl ShowArgs {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let names = dialect::list(&self.spec_dir)?;
        is_dialect(&self.dialect, &names)?;
        let shared = SpecFiles::load(&self.spec_dir)?;
        let dialect = dialect::load(&self.spec_dir, &self.dialect)?;
        let api = shared.api_of(&dialect).map_err(|error| anyhow!(error))?;
        let shown = emit::show(&dialect, api, &shared.glossary, &self.name, self.validator);
        let Some(text) = shown.map_err(|error| anyhow!(error))? else {
            let all = dialect.events.keys().chain(dialect.types.keys()).map(String::as_str);
            let hint = match nearest(&self.name, all).as_slice() {
                [] => String::new(),
                near => format!("; did you mean {}?", near.join(" or ")),
            };
            bail!("{} has no event or type \"{}\"{hint}", self.dialect, self.name)
        };
        std::io::stdout().lock().write_all(text.as_bytes())?;
        Ok(ExitCode::SUCCESS)
    }
}

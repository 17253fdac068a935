//! `conformance completions`: prints completion scripts.

use std::process::ExitCode;

use clap::Args;
use clap_complete::Shell;

use crate::cli::{COMMANDS, CommandArgs, described, print};

/// Prints a completion script for a shell.
#[derive(Debug, Args)]
pub(in crate::cli) struct CompletionsArgs {
    /// Shell.
    #[arg(value_enum)]
    shell: Shell,
}

impl CommandArgs for CompletionsArgs {
    fn run(self) -> anyhow::Result<ExitCode> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut described(COMMANDS), "conformance", &mut script);
        print(&String::from_utf8_lossy(&script))?;
        Ok(ExitCode::SUCCESS)
    }
}

//! `conformance man`: prints man pages.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, anyhow};
use clap::Args;
use clap_mangen::Man;

use crate::cli::input::names::meant;
use crate::cli::{COMMANDS, CommandArgs, described, print};

const EXAMPLES: &str = "\
Examples:
  conformance man run | man -l -
  conformance man --out ~/.local/share/man/man1";

/// Prints the man page of a command.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct ManArgs {
    /// Command [default: the page about all commands].
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
    /// Write the pages of all commands to this folder.
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    out: Option<PathBuf>,
}

impl CommandArgs for ManArgs {
    fn run(self) -> anyhow::Result<ExitCode> {
        let pages = pages();
        if let Some(folder) = self.out {
            fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
            for (name, page) in pages {
                let file = folder.join(format!("{name}.1"));
                fs::write(&file, page?).with_context(|| file.display().to_string())?;
            }
            return Ok(ExitCode::SUCCESS);
        }
        let wanted = match &self.command {
            Some(command) => format!("conformance-{command}"),
            None => "conformance".to_owned(),
        };
        let page = pages.into_iter().find(|(name, _)| *name == wanted).map(|(_, page)| page);
        let page = page.with_context(|| {
            let command = self.command.unwrap_or_default();
            let hint = meant(&command, COMMANDS.iter().map(|command| command.name));
            anyhow!("there is no command \"{command}\"{hint}; `conformance --help` lists them all")
        })??;
        print(&page)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn pages() -> Vec<(String, anyhow::Result<String>)> {
    let program = described(COMMANDS).disable_help_subcommand(true);
    let commands = COMMANDS.iter().map(|command| {
        let name = format!("conformance-{}", command.name);
        let of_command = (command.describe)(clap::Command::new(command.name));
        (name.clone(), of_command.display_name(name).bin_name(format!("conformance {}", command.name)))
    });
    let all = std::iter::once(("conformance".to_owned(), program)).chain(commands);
    all.map(|(name, command)| (name, page(command))).collect()
}

fn page(command: clap::Command) -> anyhow::Result<String> {
    let mut page = Vec::new();
    Man::new(command.version(env!("CARGO_PKG_VERSION"))).render(&mut page)?;
    Ok(String::from_utf8(page)?)
}

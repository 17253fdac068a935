//! The commands, one file each.

pub mod check;
pub mod diff;
pub mod import;
pub mod list;
pub mod new;
pub mod outdated;
pub mod schemas;
pub mod show;

use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The specification's files: brought in, compared, checked, and made into Rust.
///
/// Exit codes: 0 when all is well, 1 when something was found, 2 when the command could not be carried out.
#[derive(Debug, Parser)]
#[command(name = "codegen", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Import(import::ImportArgs),
    Diff(diff::DiffArgs),
    Show(show::ShowArgs),
    Check(check::CheckArgs),
    New(new::NewArgs),
    List(list::ListArgs),
    Outdated(outdated::OutdatedArgs),
    Schemas(schemas::SchemasArgs),
}

/// Carries out the command that the program was started with.
pub fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Import(args) => args.run(),
        Command::Diff(args) => args.run(),
        Command::Show(args) => args.run(),
        Command::Check(args) => args.run(),
        Command::New(args) => args.run(),
        Command::List(args) => args.run(),
        Command::Outdated(args) => args.run(),
        Command::Schemas(args) => args.run(),
    };
    done.unwrap_or_else(|error| {
        // Nobody is left to tell when stderr is gone.
        let _ = writeln!(std::io::stderr().lock(), "error: {error:#}");
        ExitCode::from(2)
    })
}

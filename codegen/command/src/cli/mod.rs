//! The commands, one file each.

mod check;
mod diff;
mod import;
mod list;
mod new;
mod outdated;
mod schemas;
mod show;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Imports, compares and checks the files of the specification, and generates Rust from them.
///
/// Exit codes: 0 on success, 1 if there are findings, 2 if the command could not be completed.
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

/// Runs the command of the command line.
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
        let is_closed = |cause: &(dyn std::error::Error + 'static)| {
            cause.downcast_ref::<io::Error>().is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
        };
        // The reader has what it wants, as `head` does.
        if error.chain().any(is_closed) {
            return ExitCode::SUCCESS;
        }
        // Without stderr the error cannot be reported.
        let _ = writeln!(io::stderr().lock(), "error: {error:#}");
        ExitCode::from(2)
    })
}

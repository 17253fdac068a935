//! The commands, one file each.

mod baseline;
mod check;
mod color;
mod completions;
mod diff;
mod explain;
mod files;
mod list;
mod live;
mod names;
mod progress;
mod record;
mod recordings;
mod report;
mod select;
mod serve;
mod sign;
mod snapshots;
mod suite;
mod target;
mod verify;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use harness::suite::NOT_DONE;

/// Checks whether streams of the Responses API are what their dialect promises.
///
/// Without a command, runs the suite: against an endpoint with --target, over recordings with --capture,
/// and else against itself: over the good streams that it is built on, the violations that prove its rules,
/// and the answers of its reference gateway.
///
/// Exit codes: 0 when nothing failed, 1 when a rule that binds is broken, 2 when the command could not be
/// carried out, or not for all that it is about.
#[derive(Debug, Parser)]
#[command(name = "conformance", version, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    suite: suite::SuiteArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::CheckArgs),
    Record(record::RecordArgs),
    Report(report::ReportArgs),
    Diff(diff::DiffArgs),
    Verify(verify::VerifyArgs),
    Sign(sign::SignArgs),
    Explain(explain::ExplainArgs),
    List(list::ListArgs),
    Serve(serve::ServeArgs),
    Completions(completions::CompletionsArgs),
}

/// Carries out the command that the program was started with.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        None => cli.suite.run(),
        Some(Command::Check(args)) => args.run(),
        Some(Command::Record(args)) => args.run(),
        Some(Command::Report(args)) => args.run(),
        Some(Command::Diff(args)) => args.run(),
        Some(Command::Verify(args)) => args.run(),
        Some(Command::Sign(args)) => args.run(),
        Some(Command::Explain(args)) => args.run(),
        Some(Command::List(args)) => args.run(),
        Some(Command::Serve(args)) => args.run(),
        Some(Command::Completions(args)) => args.run(),
    };
    done.unwrap_or_else(|error| {
        // Nobody is left to tell when stderr is gone.
        let _ = writeln!(io::stderr().lock(), "error: {error:#}");
        ExitCode::from(NOT_DONE)
    })
}

/// Prints a result. A reader that has seen enough is no error.
fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

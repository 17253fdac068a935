//! The commands, one file each.

mod baseline;
mod check;
mod client;
mod color;
mod completions;
mod config;
mod diff;
mod explain;
mod files;
mod init;
mod known;
mod list;
mod live;
mod names;
mod output;
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

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

use harness::suite::NOT_DONE;

/// Finds out which clients your Responses API gateway breaks, before they do.
///
/// Without a command, `conformance` is `conformance run`; without arguments, it tests itself.
#[derive(Debug, Parser)]
#[command(name = "conformance", version = harness::live::SUITE, after_help = EXAMPLES, subcommand_required = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  conformance run --target http://localhost:8080/v1 --model my-model --profile core
  conformance check stream.sse
  conformance explain part/before-open
  conformance serve --fault part/before-open
  conformance client -- python3 examples/client.py

Exit codes: 0 if nothing failed, 1 if a MUST rule is broken, 2 if the command could not be completed.";

#[derive(Debug, Subcommand)]
enum Command {
    Run(Box<suite::SuiteArgs>),
    Init(Box<init::InitArgs>),
    Check(check::CheckArgs),
    Report(report::ReportArgs),
    Diff(diff::DiffArgs),
    Verify(verify::VerifyArgs),
    Record(record::RecordArgs),
    Serve(Box<serve::ServeArgs>),
    Client(Box<client::ClientArgs>),
    Sign(sign::SignArgs),
    Explain(explain::ExplainArgs),
    List(list::ListArgs),
    Completions(completions::CompletionsArgs),
}

impl Command {
    fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            Self::Run(args) => args.run(),
            Self::Init(args) => args.run(),
            Self::Check(args) => args.run(),
            Self::Report(args) => args.run(),
            Self::Diff(args) => args.run(),
            Self::Verify(args) => args.run(),
            Self::Record(args) => args.run(),
            Self::Serve(args) => args.run(),
            Self::Client(args) => args.run(),
            Self::Sign(args) => args.run(),
            Self::Explain(args) => args.run(),
            Self::List(args) => args.run(),
            Self::Completions(args) => args.run(),
        }
    }
}

/// The first line of a run without any arguments.
const SELF_TEST: &str = "Testing the suite itself: its rules against broken streams, and its reference gateway. \
                         To test an endpoint: conformance run --target URL --model MODEL --profile core";

/// Runs the command that the program was started with.
pub fn main() -> ExitCode {
    main_of(std::env::args_os().collect())
}

/// Runs a command line, the name of the program first. Errors are printed.
pub fn main_of(arguments: Vec<OsString>) -> ExitCode {
    if arguments.len() == 1 {
        // A closed stderr is no reason to fail.
        let _ = writeln!(io::stderr().lock(), "{SELF_TEST}");
    }
    run(named(arguments)).unwrap_or_else(|error| {
        let _ = writeln!(io::stderr().lock(), "error: {error:#}");
        ExitCode::from(NOT_DONE)
    })
}

/// Runs a command line, completed by the configuration file.
fn run(arguments: Vec<OsString>) -> anyhow::Result<ExitCode> {
    Cli::parse_from(config::completed(arguments)?).command.run()
}

/// Puts the command `run` where no command is named.
fn named(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let is_named = arguments.get(1).and_then(|first| first.to_str()).is_some_and(|first| {
        ["help", "-h", "--help", "-V", "--version"].contains(&first)
            || commands().iter().any(|command| command == first)
    });
    if !is_named {
        arguments.insert(arguments.len().min(1), "run".into());
    }
    arguments
}

/// Returns the names of all commands.
fn commands() -> Vec<String> {
    Cli::command().get_subcommands().map(|command| command.get_name().to_owned()).collect()
}

/// Prints a result. A closed pipe is no error.
fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::path::{Path, PathBuf};
    use std::{env, fs};

    use super::*;

    fn repository() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn run_is_the_command_without_a_name() {
        let line = |words: &[&str]| {
            let all = std::iter::once("conformance").chain(words.iter().copied()).map(OsString::from);
            let line =
                named(all.collect()).into_iter().skip(1).map(|word| word.to_string_lossy().into_owned());
            line.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(line(&[]), "run");
        assert_eq!(line(&["text/", "call/"]), "run text/ call/");
        assert_eq!(line(&["--list"]), "run --list");
        for named in ["run x", "check a.sse", "--help", "help run", "-V"] {
            assert_eq!(line(&named.split(' ').collect::<Vec<_>>()), named);
        }
    }

    /// Returns the page of all commands and flags.
    fn reference() -> String {
        let mut page =
            "# Commands and flags\n\nThe long help of each command. `conformance` without a command is \
                        `conformance run`.\n"
                .to_owned();
        let command = Cli::command().term_width(100);
        for command in command.get_subcommands().filter(|command| command.get_name() != "help") {
            let name = command.get_name().to_owned();
            let mut command = command.clone().bin_name(format!("conformance {name}")).term_width(100);
            let help = command.render_long_help().to_string();
            let help: Vec<&str> = help.lines().map(str::trim_end).collect();
            let _ = write!(page, "\n## {name}\n\n```text\n{}\n```\n", help.join("\n"));
        }
        page
    }

    #[test]
    fn the_reference_of_flags_is_fresh() {
        let file = repository().join("docs/reference.md");
        let text = reference();
        if env::var_os("BLESS").is_some() {
            fs::write(&file, &text).expect("it can be written");
        }
        let found = fs::read_to_string(&file).unwrap_or_default();
        assert!(found == text, "docs/reference.md is stale: BLESS=1 cargo test -p conformance --lib");
    }

    /// Splits a command of a shell into words, up to a pipe, a redirection or a comment.
    fn words(line: &str) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        let mut quote = None;
        let mut is_open = false;
        for c in line.chars() {
            match (quote, c) {
                (Some(open), _) if c == open => quote = None,
                (None, '\'' | '"') => {
                    quote = Some(c);
                    if !is_open {
                        words.push(String::new());
                        is_open = true;
                    }
                }
                (None, ' ') => is_open = false,
                (None, '#' | '|' | '>' | '&') if !is_open => break,
                _ => {
                    if !is_open {
                        words.push(String::new());
                        is_open = true;
                    }
                    words.last_mut().expect("one is open").push(c);
                }
            }
        }
        words
    }

    /// Every command in the documents is accepted by the parser.
    #[test]
    fn commands_in_the_documents_are_valid() {
        let mut pages: Vec<PathBuf> = fs::read_dir(repository().join("docs"))
            .expect("it is there")
            .map(|entry| entry.expect("it can be read").path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
            .collect();
        pages.extend(["README.md", "CONTRIBUTING.md"].map(|name| repository().join(name)));
        let mut checked = 0;
        for page in pages {
            let text = fs::read_to_string(&page).expect("it can be read");
            let is_shell = |block: &&str| block.starts_with("sh\n") || block.starts_with("console\n");
            let blocks = text.split("```").skip(1).step_by(2).filter(is_shell);
            for line in blocks.flat_map(str::lines) {
                let line = line.replace("cargo run -p conformance -- ", "conformance ");
                let Some(at) = line.find("conformance ").filter(|at| {
                    let before = line[..*at].trim_end();
                    before.is_empty() || before.ends_with(['|', ';'])
                }) else {
                    continue;
                };
                let words = words(&line[at..]).into_iter().map(OsString::from).collect();
                let parsed = Cli::try_parse_from(named(words));
                assert!(parsed.is_ok(), "{}: {line}\n{}", page.display(), parsed.expect_err("it is not"));
                checked += 1;
            }
        }
        assert!(checked > 40, "{checked} commands: these cannot be all");
    }
}

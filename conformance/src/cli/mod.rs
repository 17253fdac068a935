//! The command line.

mod color;
mod commands;
mod config;
mod flags;
mod input;
mod message;
mod progress;

pub use input::names::dialect;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;
use std::slice;
use std::sync::{Mutex, PoisonError};

use clap::{ArgMatches, Args, CommandFactory as _, Parser};

use commands::{
    between, check, client, completions, dialects, diff, explain, export, impact, import, init, list, man,
    record, report, serve, sign, suite, tap, vector, verify,
};
use harness::suite::NOT_DONE;
use input::names;
use results::Outcome;
use results::text::{first_dangerous, visible};

/// Finds out which clients your gateway of the Responses API, Messages, Chat Completions or Gemini breaks, before they do.
///
/// Without a command, `conformance` is `conformance run`; without arguments, it tests itself.
#[derive(Debug, Parser)]
#[command(name = "conformance", version = harness::evidence::SUITE, after_help = EXAMPLES, subcommand_required = true)]
struct Cli;

const EXAMPLES: &str = "\
Examples:
  conformance run --target http://localhost:8080/v1 --model my-model --profile core
  conformance check stream.sse
  conformance explain part/before-open
  conformance serve --fault part/before-open
  conformance client -- python3 examples/client.py

Exit codes: 0 if nothing failed, 1 if a MUST rule or a client is broken, 2 if the command could not be completed.";

/// The arguments of a command, which can be run with them.
trait CommandArgs: Args {
    fn run(self) -> anyhow::Result<ExitCode>;
}

struct Command {
    name: &'static str,
    describe: fn(clap::Command) -> clap::Command,
    run: fn(&mut ArgMatches) -> Result<anyhow::Result<ExitCode>, clap::Error>,
}

/// All commands, in the order of the help.
const COMMANDS: &[Command] = &[
    command::<suite::SuiteArgs>("run"),
    command::<init::InitArgs>("init"),
    command::<check::CheckArgs>("check"),
    command::<report::ReportArgs>("report"),
    command::<diff::DiffArgs>("diff"),
    command::<verify::VerifyArgs>("verify"),
    command::<record::RecordArgs>("record"),
    command::<serve::ServeArgs>("serve"),
    command::<tap::TapArgs>("tap"),
    command::<client::ClientArgs>("client"),
    command::<impact::ImpactArgs>("impact"),
    command::<between::BetweenArgs>("between"),
    command::<sign::SignArgs>("sign"),
    command::<dialects::DialectArgs>("dialect"),
    command::<explain::ExplainArgs>("explain"),
    command::<list::ListArgs>("list"),
    command::<export::ExportArgs>("export"),
    command::<import::ImportArgs>("import"),
    command::<vector::VectorArgs>("vector"),
    command::<completions::CompletionsArgs>("completions"),
    command::<man::ManArgs>("man"),
];

const fn command<A: CommandArgs>(name: &'static str) -> Command {
    Command { name, describe: A::augment_args, run: |matches| Ok(A::from_arg_matches_mut(matches)?.run()) }
}

fn called(arguments: &[OsString]) -> Option<&'static Command> {
    let name = arguments.get(1)?;
    COMMANDS.iter().find(|command| name == command.name)
}

fn described(commands: &[Command]) -> clap::Command {
    let commands = commands.iter().map(|command| (command.describe)(clap::Command::new(command.name)));
    Cli::command().subcommands(commands)
}

/// Runs the command that the program was started with.
pub fn main() -> ExitCode {
    main_of(std::env::args_os().collect())
}

/// Runs a command line, the name of the program first. Errors are printed.
pub fn main_of(arguments: Vec<OsString>) -> ExitCode {
    let checked = is_meant(&arguments);
    checked.and_then(|()| run(&named(arguments))).unwrap_or_else(|error| {
        message::note_lines(&format!("error: {}", message::escaped(&error)));
        ExitCode::from(NOT_DONE)
    })
}

fn run(arguments: &[OsString]) -> anyhow::Result<ExitCode> {
    let Some(called) = called(arguments) else {
        // Help and the version end the program.
        parsed(&mut described(COMMANDS), arguments);
        return Ok(ExitCode::SUCCESS);
    };
    arguments.clone_into(&mut LINE.lock().unwrap_or_else(PoisonError::into_inner));
    let mut line = described(slice::from_ref(called));
    let mut matches = parsed(&mut line, arguments);
    if let Some(completed) = config::completed(arguments, &line, &matches)? {
        matches = parsed(&mut line, &completed);
    }
    let (_, mut matches) = matches.remove_subcommand().unwrap_or_default();
    (called.run)(&mut matches).unwrap_or_else(|error| error.format(&mut line).exit())
}

/// The command line that runs.
static LINE: Mutex<Vec<OsString>> = Mutex::new(Vec::new());

/// Completed by the configuration file as it is now.
fn parsed_again<A: CommandArgs>() -> anyhow::Result<A> {
    let arguments = LINE.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let mut line = described(called(&arguments).map(slice::from_ref).unwrap_or_default());
    // The usage that follows is not about the file.
    let first = |error: clap::Error| {
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default();
        anyhow::anyhow!("{}", visible(first.trim_start_matches("error: ")))
    };
    let mut matches = line.try_get_matches_from_mut(&arguments).map_err(first)?;
    if let Some(completed) = config::completed(&arguments, &line, &matches)? {
        matches = line.try_get_matches_from_mut(&completed).map_err(first)?;
    }
    let (_, mut matches) = matches.remove_subcommand().unwrap_or_default();
    A::from_arg_matches_mut(&mut matches).map_err(first)
}

/// If it cannot be parsed, the program ends with the message of clap.
fn parsed(line: &mut clap::Command, arguments: &[OsString]) -> ArgMatches {
    line.try_get_matches_from_mut(arguments).unwrap_or_else(|error| {
        let is_harmless = |argument: &OsString| first_dangerous(&argument.to_string_lossy()).is_none();
        if arguments.iter().all(is_harmless) {
            error.exit();
        }
        // Line breaks of clap cannot be told from line breaks in the arguments that it quotes.
        let text = error.to_string();
        let text = text.strip_prefix("error: ").unwrap_or(&text);
        clap::Error::raw(error.kind(), visible(text.trim_end())).exit()
    })
}

/// The first argument names a command, or asks for help or the version.
fn is_named(arguments: &[OsString]) -> bool {
    let asks =
        |first: &OsString| ["help", "-h", "--help", "-V", "--version"].iter().any(|word| first == word);
    called(arguments).is_some() || arguments.get(1).is_some_and(asks)
}

/// A first argument that is neither a command nor the name of tests is a mistake more often than a part of a name.
fn is_meant(arguments: &[OsString]) -> anyhow::Result<()> {
    let Some(word) = arguments.get(1).and_then(|first| first.to_str()) else { return Ok(()) };
    if is_named(arguments) || word.starts_with('-') || word.is_empty() || names::is_of_tests(word) {
        return Ok(());
    }
    let line = described(COMMANDS);
    let commands = || line.get_subcommands().map(clap::Command::get_name).filter(|name| *name != "help");
    let hint = names::path(word).unwrap_or_else(|| {
        let hint = names::meant(word, commands());
        format!(
            "there is no command \"{word}\"{hint}; there are: {}; to run the tests with it in their names: \
             conformance run {word}",
            commands().collect::<Vec<_>>().join(", ")
        )
    });
    anyhow::bail!(hint)
}

/// Puts the command `run` where no command is named.
fn named(mut arguments: Vec<OsString>) -> Vec<OsString> {
    if !is_named(&arguments) {
        arguments.insert(arguments.len().min(1), "run".into());
    }
    arguments
}

fn exit_code(outcome: Outcome) -> ExitCode {
    match outcome {
        Outcome::Passed => ExitCode::SUCCESS,
        Outcome::Failed => ExitCode::from(1),
        Outcome::Incomplete => ExitCode::from(NOT_DONE),
    }
}

/// A closed pipe is no error.
fn print(text: &str) -> anyhow::Result<()> {
    print_bytes(text.as_bytes())
}

fn print_bytes(bytes: &[u8]) -> anyhow::Result<()> {
    printed(|stdout| stdout.write_all(bytes))
}

/// Stdout may close early: a pager that is left is no error.
fn printed(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    match write(&mut stdout).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::path::{Path, PathBuf};
    use std::{env, fs};

    use super::flags::{expected, output, selection, verdict};
    use super::*;

    fn repository() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
    }

    #[test]
    fn the_command_line_is_consistent() {
        described(COMMANDS).debug_assert();
    }

    /// Returns the flags of a group that all runs have, with their names of values and their help.
    fn flags_of<A: Args>() -> Vec<[String; 3]> {
        flags(&A::augment_args(clap::Command::new("group")))
    }

    fn flags(command: &clap::Command) -> Vec<[String; 3]> {
        let arguments = command.get_arguments().filter(|argument| argument.get_long().is_some());
        let flag = |argument: &clap::Arg| {
            let values = argument.get_value_names().unwrap_or_default();
            let values: Vec<&str> = values.iter().map(clap::builder::Str::as_str).collect();
            let help = argument.get_long_help().or(argument.get_help()).map(ToString::to_string);
            [argument.get_long().unwrap_or_default().to_owned(), values.join(" "), help.unwrap_or_default()]
        };
        arguments.map(flag).collect()
    }

    /// All that follows a verdict is the same for an endpoint, a client and both ends of a gateway.
    #[test]
    fn runs_of_all_kinds_have_the_same_flags() {
        let groups = [
            flags_of::<selection::TestsArgs>(),
            flags_of::<selection::OutArgs>(),
            flags_of::<verdict::VerdictArgs>(),
            flags_of::<expected::ExpectedArgs>(),
            flags_of::<output::OutputArgs>(),
        ];
        let line = described(COMMANDS);
        for command in ["run", "client", "between"] {
            let own = flags(line.find_subcommand(command).expect("it is a command"));
            for flag in groups.iter().flatten() {
                assert!(own.contains(flag), "{command} has no --{} {}: {}", flag[0], flag[1], flag[2]);
            }
            for flag in ["jobs", "timeout"] {
                assert!(own.iter().any(|[name, ..]| name == flag), "{command} has no --{flag}");
            }
        }
        // A time has one form in every command.
        for command in line.get_subcommands() {
            for [flag, value, help] in flags(command) {
                let is_time = value == "TIME"
                    || ["timeout", "limit", "delay", "pace"].iter().any(|end| flag.ends_with(end));
                let name = command.get_name();
                assert_eq!(is_time, value == "TIME", "{name} --{flag} {value}");
                assert!(!["MS", "SECONDS"].contains(&&*value), "{name} --{flag} {value}: {help}");
            }
        }
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
        let command = described(COMMANDS).term_width(100);
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
                let words: Vec<OsString> = words(&line[at..]).into_iter().map(OsString::from).collect();
                assert!(is_meant(&words).is_ok(), "{}: {line}", page.display());
                let parsed = described(COMMANDS).try_get_matches_from(named(words));
                assert!(parsed.is_ok(), "{}: {line}\n{}", page.display(), parsed.expect_err("it is not"));
                checked += 1;
            }
        }
        assert!(checked > 40, "{checked} commands: these cannot be all");
    }
}

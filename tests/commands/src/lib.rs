//! Tests of a command as text: each file shows what a shell session prints.

mod endpoint;
mod normal;
mod session;
mod transcript;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::{env, fs};

use libtest_mimic::{Arguments, Failed, Trial};

use session::Sandbox;
use transcript::Transcript;

/// The tests of one program.
#[derive(Debug)]
pub struct Commands {
    /// The folder with the test files.
    pub folder: PathBuf,
    /// The program that they run.
    pub program: PathBuf,
    /// A folder for their files.
    pub temporary: PathBuf,
    /// What blesses them.
    pub bless: &'static str,
    /// Variables that they read.
    pub variables: Vec<(&'static str, PathBuf)>,
}

impl Commands {
    /// Runs the tests that the command line selects.
    pub fn run(self) -> ExitCode {
        let arguments: Vec<String> = env::args().skip(1).collect();
        // Called by a test.
        match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["endpoint", rules @ ..] => return endpoint::serve(rules),
            ["edit", file, from, to] => return edit(file, from, to),
            _ => {}
        }
        let mut tests = Vec::new();
        let mut strays = Vec::new();
        for path in files(&self.folder) {
            let name = relative(&path, &self.folder);
            match name.strip_suffix(".txt") {
                Some(name) => tests.push(name.to_owned()),
                None if ["README.md", "prelude.sh"].contains(&&*name) => {}
                None => strays.push(name),
            }
        }
        tests.sort_unstable();
        let commands: &'static Self = Box::leak(Box::new(self));
        let mut trials: Vec<Trial> = tests
            .into_iter()
            .map(|name| Trial::test(name.clone(), move || commands.test(&name).map_err(Failed::from)))
            // They are sessions of a shell.
            .map(|trial| trial.with_ignored_flag(cfg!(not(unix))))
            .collect();
        trials.push(Trial::test("every_file_is_a_test", move || match strays.as_slice() {
            [] => Ok(()),
            _ => Err(Failed::from(format!("not used by any test: remove {}", strays.join(", ")))),
        }));
        let mut arguments = Arguments::from_args();
        // Many tests wait for servers and clients most of the time.
        let threads = thread::available_parallelism().map_or(2, |cores| 2 * cores.get());
        arguments.test_threads.get_or_insert(threads);
        libtest_mimic::run(&arguments, trials).exit_code()
    }

    /// Runs a test, and compares or blesses what it printed.
    fn test(&self, name: &str) -> Result<(), String> {
        let file = self.folder.join(format!("{name}.txt"));
        let text = fs::read_to_string(&file).map_err(|error| error.to_string())?;
        let expected = Transcript::parse(&text)?;
        let printed = Sandbox::new(self, name).run(&expected)?;
        let found = expected.with(&printed)?.to_string();
        if found == text {
            return Ok(());
        }
        if let Some(line) = found.lines().find(|line| line.ends_with(": command not found")) {
            return Err(format!("a program of the test is missing: {line}"));
        }
        if env::var_os("BLESS").is_some() {
            return fs::write(&file, found).map_err(|error| error.to_string());
        }
        let lines = similar::TextDiff::from_lines(&text, &found);
        let lines =
            lines.unified_diff().context_radius(6).header(&format!("{name}.txt"), "printed").to_string();
        Err(format!("{lines}\nif this is right: BLESS=1 {} -- --exact {name}", self.bless))
    }
}

/// Replaces the first occurrence of a text in a file, which must have it.
#[expect(clippy::print_stdout, reason = "the test shows it")]
fn edit(file: &str, from: &str, to: &str) -> ExitCode {
    let written = match fs::read_to_string(file) {
        Ok(text) if text.contains(from) => fs::write(file, text.replacen(from, to, 1)),
        Ok(_) => Err(std::io::Error::other(format!("it does not contain {from}"))),
        Err(error) => Err(error),
    };
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("no line has: {file}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn relative(path: &Path, folder: &Path) -> String {
    path.strip_prefix(folder).unwrap_or(path).to_string_lossy().replace('\\', "/")
}

//! The shell in which a test runs.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::{env, fs};

use crate::transcript::{Printed, Transcript};
use crate::{Commands, normal};

/// Functions that every test has.
const PRELUDE: &str = include_str!("prelude.sh");

/// What separates the output of a command from that of the next.
const END: &str = "\u{1e}end of step";

/// An empty folder, with a shell in it.
#[derive(Debug)]
pub(crate) struct Sandbox<'c> {
    commands: &'c Commands,
    folder: PathBuf,
}

impl<'c> Sandbox<'c> {
    pub(crate) fn new(commands: &'c Commands, name: &str) -> Self {
        let folder = commands.temporary.join("commands").join(name.replace('/', "-"));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        Self { commands, folder: folder.canonicalize().unwrap_or(folder) }
    }

    /// Runs all steps in one shell.
    pub(crate) fn run(&self, transcript: &Transcript) -> Result<Vec<Printed>, String> {
        let (script, output) = (self.folder.with_extension("sh"), self.folder.with_extension("out"));
        let own = fs::read_to_string(self.commands.folder.join("prelude.sh")).unwrap_or_default();
        let steps = transcript.steps().map(|step| {
            let command = step.command.join("\n");
            format!("{command}\n{{ printf '{END} %s\\n' $?; }} 2>/dev/null\n")
        });
        let lines: String = [PRELUDE.to_owned(), own].into_iter().chain(steps).collect();
        let failed = |error: std::io::Error| format!("{}: {error}", script.display());
        fs::write(&script, lines).map_err(failed)?;
        let file = fs::File::create(&output).map_err(failed)?;
        let copy = file.try_clone().map_err(failed)?;
        let mut shell = Command::new("bash");
        shell.arg(&script).current_dir(&self.folder).stdin(Stdio::null()).stdout(file).stderr(copy);
        self.environment(&mut shell);
        shell.status().map_err(|error| format!("bash: {error}"))?;
        let bytes = fs::read(&output).map_err(failed)?;
        self.printed(&String::from_utf8_lossy(&bytes))
    }

    fn environment(&self, shell: &mut Command) {
        for name in ["http_proxy", "https_proxy", "all_proxy"] {
            shell.env_remove(name).env_remove(name.to_uppercase());
        }
        for name in ["BLESS", "COLUMNS", "CONFORMANCE_API_KEY", "INSTA_UPDATE", "NO_COLOR", "RUST_BACKTRACE"]
        {
            shell.env_remove(name);
        }
        let programs = self.commands.program.parent().map(PathBuf::from);
        let path = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths(programs.into_iter().chain(env::split_paths(&path)));
        shell.env("PATH", path.expect("no folder has a colon")).env("no_proxy", "127.0.0.1,localhost");
        // Tests are printed as they end.
        shell.env("RUST_TEST_THREADS", "1");
        shell.env("LC_ALL", "C").env("COMMANDS", env::current_exe().unwrap_or_default());
        shell.envs(self.commands.variables.iter().map(|(name, value)| (name, value)));
    }

    fn printed(&self, text: &str) -> Result<Vec<Printed>, String> {
        let mut folders = vec![(self.folder.display().to_string(), "FOLDER")];
        folders
            .extend(self.commands.variables.iter().map(|(name, value)| (value.display().to_string(), *name)));
        let mut steps = text.split(END);
        let mut output = steps.next().unwrap_or_default();
        let mut printed = Vec::new();
        for rest in steps {
            let (code, next) = rest.split_once('\n').unwrap_or((rest, ""));
            let code = code.trim().parse().map_err(|_| format!("the shell prints {code:?}"))?;
            printed.push(Printed { lines: normal::lines(output, &folders), code });
            output = next;
        }
        // The shell has ended early.
        if output.is_empty() { Ok(printed) } else { Err(format!("after step {}: {output}", printed.len())) }
    }
}

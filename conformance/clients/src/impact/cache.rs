//! The cache of installed packages.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;
use std::{fs, io};

use harness::hash;
use harness::plan::random_seed;
use harness::process::{Processes, Tail, wait};
use harness::wire::Secrets;

use super::clients::{ImpactPackages, packages};

/// Maximum time for one command that installs.
const LIMIT: Duration = Duration::from_secs(900);
/// The least version of Python that the packages run on.
const LEAST_PYTHON: &str = "import sys; sys.exit(sys.version_info < (3, 10))";
const PYTHONS: [&str; 7] =
    ["python3", "python", "python3.14", "python3.13", "python3.12", "python3.11", "python3.10"];

/// A folder with the packages of clients. Each list of packages has a folder of its own in it: two versions of the suite do not
/// disturb each other.
#[derive(Debug, Clone)]
pub struct Cache(PathBuf);

impl Cache {
    /// Returns the cache in a folder, which need not exist.
    pub const fn new(folder: PathBuf) -> Self {
        Self(folder)
    }

    /// The folder of packages with this name.
    pub fn folder(&self, packages: &ImpactPackages, name: &str) -> PathBuf {
        let all: Vec<&str> = packages.all().collect();
        self.0.join(format!("{name}-{:.16}", hash(all.join("\n").as_bytes())))
    }

    /// Returns whether the packages of this name are installed.
    pub fn has(&self, name: &str) -> bool {
        packages(name).is_some_and(|own| self.folder(own, name).is_dir())
    }

    /// Installs the packages of this name, with the tools of this machine. `say` receives each command.
    ///
    /// # Errors
    ///
    /// If a tool is missing, with what to install; or if it fails, with what it says.
    pub fn install(&self, name: &str, say: &dyn Fn(&str)) -> io::Result<()> {
        let own = packages(name).ok_or_else(|| io::Error::other(format!("there are no packages {name}")))?;
        let folder = self.folder(own, name);
        if folder.is_dir() {
            return Ok(());
        }
        fs::create_dir_all(&self.0)?;
        // An installation that breaks off leaves no folder that looks complete.
        let half = Half(self.0.join(format!(".{name}-{}", random_seed())));
        fs::create_dir(&half.0)?;
        for command in commands(own, &half.0)? {
            say(&command.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" "));
            run(&command)?;
        }
        match fs::rename(&half.0, &folder) {
            // Another run was faster.
            Err(_) if folder.is_dir() => Ok(()),
            renamed => renamed,
        }
    }
}

/// A folder that is removed unless it was renamed.
struct Half(PathBuf);

impl Drop for Half {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(super) fn interpreter(packages: &ImpactPackages, folder: &Path) -> PathBuf {
    match (packages.is_for_node(), cfg!(windows)) {
        (true, false) => folder.join("node_modules/node/bin/node"),
        (true, true) => folder.join("node_modules/node/bin/node.exe"),
        (false, false) => folder.join("bin/python"),
        (false, true) => folder.join("Scripts/python.exe"),
    }
}

fn commands(own: &ImpactPackages, folder: &Path) -> io::Result<Vec<Vec<OsString>>> {
    let words = |first: &[&str], packages: &[String]| {
        first.iter().map(OsString::from).chain(packages.iter().map(OsString::from)).collect::<Vec<_>>()
    };
    let place = folder.to_string_lossy();
    if own.is_for_node() {
        let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
        if !answers(npm, &["--version"]) {
            return Err(io::Error::other("npm is missing: install Node.js, which brings it"));
        }
        let flags = [npm, "install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", &*place];
        return Ok(vec![words(&flags, &own.npm)]);
    }
    let python = interpreter(own, folder);
    let python = python.to_string_lossy();
    if answers("uv", &["--version"]) {
        return Ok(vec![
            words(&["uv", "venv", "--quiet", "--allow-existing", &*place], &[]),
            words(&["uv", "pip", "install", "--quiet", "--python", &*python], &own.pip),
        ]);
    }
    let Some(found) = PYTHONS.into_iter().find(|name| answers(name, &["-c", LEAST_PYTHON])) else {
        return Err(io::Error::other("uv and Python 3.10 or later are missing: install one of them"));
    };
    let pip = [&*python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    Ok(vec![words(&[found, "-m", "venv", &*place], &[]), words(&pip, &own.pip)])
}

fn answers(program: &str, arguments: &[&str]) -> bool {
    let processes = Processes::default();
    let Ok(mut process) = processes.start(Command::new(program).args(arguments)) else { return false };
    drop(process.child.stdin.take());
    wait(&mut process.child, Duration::from_secs(20)).is_some_and(|status| status.success())
}

fn run(words: &[OsString]) -> io::Result<()> {
    let (program, arguments) = words.split_first().ok_or_else(|| io::Error::other("no command is set"))?;
    let processes = Processes::default();
    let mut process = processes.start(Command::new(program).args(arguments))?;
    drop(process.child.stdin.take());
    let (out, err) = (process.child.stdout.take(), process.child.stderr.take());
    let out = out.map(|out| Box::new(out) as Box<dyn io::Read + Send>);
    let err = err.map(|err| Box::new(err) as Box<dyn io::Read + Send>);
    let tail = Tail::of(out.into_iter().chain(err), None, &Secrets::new(&[]))?;
    let status = wait(&mut process.child, LIMIT);
    if status.is_some_and(|status| status.success()) {
        return Ok(());
    }
    drop(process);
    let how = status.map_or_else(|| "it takes too long".to_owned(), |status: ExitStatus| status.to_string());
    let program = program.to_string_lossy();
    Err(io::Error::other(format!("{program} failed ({how}): {}", tail.last_lines(5).join(" "))))
}

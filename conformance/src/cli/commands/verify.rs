//! `conformance verify`: checks whether the results of a run follow from its evidence.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use serde_json::Value;

use crate::cli::flags::select::SelectArgs;
use crate::cli::flags::verdict::fail_on_values;
use crate::cli::input::names;
use crate::cli::input::saved::{read_between, read_client};
use crate::cli::{CommandArgs, NOT_DONE, print};
use harness::certificate::{SIGNATURE, Signed, signed, statement};
use harness::evidence::{BUILD, Evidence, RunFile, TWINS};

use harness::{Compared, Together, compare, verify_together};
use results::text::{counted, visible};
use results::{BetweenRun, ClientRun, FailOn, LevelChange, Options, RunState, Verified};

const EXAMPLES: &str = "\
Examples:
  conformance verify run/
  conformance verify run/ --key gateway.pub.pem";

/// Checks whether a run is consistent: its requests match the scenarios, its exchanges support its verdicts, and
/// no evidence was changed, added or removed.
///
/// It does not prove that the exchanges came from the named endpoint.
///
/// Exit codes: 0 if all verdicts are the same, 1 if one differs or --fail-on finds a failure, 2 if the run could not be read.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct VerifyArgs {
    /// Folder written by `run --out`, `client --out` or `between --out`. With a run for each of several APIs, all are checked.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Also fail if the exchanges have findings of this kind: must, breaks, should, may.
    ///
    /// The verdicts of the run are compared with what failed then; this asks what would fail now. Levels are taken from
    /// the run.
    #[arg(long, value_name = "WHICH", value_parser = fail_on_values(), hide_possible_values = true)]
    fail_on: Option<FailOn>,
    /// Public key that the certificate must be signed with: Ed25519, PEM
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
}

impl CommandArgs for VerifyArgs {
    fn run(self) -> Result<ExitCode> {
        if let Some(run) = TestsRun::read(&self.folder)? {
            return self.tests(&run).map(ExitCode::from);
        }
        let runs = Evidence::runs(&self.folder).unwrap_or_default();
        let is_itself = runs.first().is_none_or(|run| *run == self.folder);
        if is_itself {
            return self.verify(runs.first().unwrap_or(&self.folder)).map(ExitCode::from);
        }
        let mut worst = 0;
        for run in &runs {
            print(&format!("{}:\n", visible(&run.to_string_lossy())))?;
            worst = self.verify(run)?.max(worst);
        }
        worst = worst.max(self.together(&runs)?);
        Ok(ExitCode::from(worst))
    }
}

impl VerifyArgs {
    fn tests(&self, run: &TestsRun) -> Result<u8> {
        if run.is_unfinished() {
            bail!("{} has no results: the run did not finish", self.folder.display());
        }
        let (mut checked, passed) = run.checked(&self.folder, self.fail_on);
        let certified =
            if passed.is_empty() { String::new() } else { format!("certificate: {}\n", passed.join(", ")) };
        let (evidence, statement) = (Evidence::open(&self.folder), run.statement(&self.folder));
        let Some(signer) = self.signer(&self.folder, &evidence, statement, &mut checked.differences)? else {
            return Ok(1);
        };
        let folder = visible(&self.folder.to_string_lossy());
        if !checked.differences.is_empty() {
            print(&differing(&folder, "run", &checked.differences))?;
            return Ok(if checked.is_unreadable { NOT_DONE } else { 1 });
        }
        let fail_on = run.fail_on();
        let failures = format!("failures: {} (--fail-on {})\n", fail_on.words(), fail_on.name());
        print(&format!(
            "consistent: these recordings support the verdicts of {}\n{failures}{certified}{signer}{}",
            counted(checked.judged as u64, "test"),
            failed(&checked.failing, "test", self.fail_on)
        ))?;
        Ok(u8::from(!checked.failing.is_empty()))
    }

    /// The signer, if a key is given. A statement that is only not signed is printed, and no error.
    fn signer(
        &self,
        path: &Path,
        evidence: &Evidence,
        statement: Result<Value, String>,
        differences: &mut Vec<String>,
    ) -> Result<Option<String>> {
        let Some(file) = &self.key else { return Ok(Some(String::new())) };
        let named = || file.display().to_string();
        let key = fs::read(file).with_context(named)?;
        let [name, folder] = [file, path].map(|path| visible(&path.to_string_lossy()));
        match signed(evidence, statement, &key).map_err(|problem| anyhow!(problem)).with_context(named)? {
            Signed::By(id) => return Ok(Some(format!("signed by the key {name} (SHA-256 {id})\n"))),
            Signed::Otherwise(difference) => differences.push(difference),
            Signed::Not if differences.is_empty() => {
                print(&format!(
                    "{folder} is not signed: it has no {SIGNATURE}; without --key, verify checks its results alone\n"
                ))?;
                return Ok(None);
            }
            Signed::Not => differences.push(format!("it is not signed: there is no {SIGNATURE}")),
        }
        Ok(Some(String::new()))
    }

    /// Checks the files beside several runs, and compares their answers again. The result is the exit code.
    fn together(&self, runs: &[PathBuf]) -> Result<u8> {
        let runs: Vec<&Path> = runs.iter().map(PathBuf::as_path).collect();
        let found = verify_together(&self.folder, &runs).map_err(|problem| anyhow!(problem))?;
        let Some(Together { twins, differences }) = found else {
            print("not compared: each of these runs was made by itself\n")?;
            return Ok(0);
        };
        if differences.is_empty() {
            let name = visible(&self.folder.join(TWINS).to_string_lossy());
            print(&format!(
                "{name}:\nconsistent: the exchanges support {}\n",
                counted(twins as u64, "comparison")
            ))?;
            return Ok(0);
        }
        print(&differing(&visible(&self.folder.to_string_lossy()), "runs in it", &differences))?;
        Ok(1)
    }

    fn verify(&self, path: &Path) -> Result<u8> {
        let (evidence, run, compared) = compared(path, self.fail_on)?;
        let Compared { mut differences, is_unreadable, failing } = compared;
        let folder = visible(&path.to_string_lossy());
        let Some(signer) = self.signer(path, &evidence, statement(&evidence), &mut differences)? else {
            return Ok(1);
        };
        let built = other_build(&run).unwrap_or_default();
        if differences.is_empty() {
            let (exchanges, trials) = (run.exchanges.len(), run.trials.len());
            print(&format!(
                "consistent: these {exchanges} exchanges support the verdicts of {trials} trials\n{}{signer}{built}{UNPROVEN}{}",
                terms(&run.options),
                failed(&failing, "trial", self.fail_on)
            ))?;
            return Ok(u8::from(!failing.is_empty()));
        }
        print(&(differing(&folder, "run", &differences) + &built))?;
        Ok(if is_unreadable { NOT_DONE } else { 1 })
    }
}

fn differing(name: &str, from: &str, differences: &[String]) -> String {
    let lines = differences.iter().map(|difference| format!("  {}\n", visible(difference)));
    format!("{name} differs from the {from}:\n{}", lines.collect::<String>())
}

/// A run of a client, or of both ends of a gateway.
pub(in crate::cli) enum TestsRun {
    Client(Box<ClientRun>),
    Between(Box<BetweenRun>),
}

impl TestsRun {
    /// `None` if it is a run against an endpoint.
    pub(in crate::cli) fn read(folder: &Path) -> Result<Option<Self>> {
        if !folder.is_dir() {
            return Ok(None);
        }
        if let Some(run) = read_client(folder)? {
            return Ok(Some(Self::Client(Box::new(run))));
        }
        Ok(read_between(folder)?.map(|run| Self::Between(Box::new(run))))
    }

    fn is_unfinished(&self) -> bool {
        matches!(self, Self::Between(run) if run.is_unfinished)
    }

    fn fail_on(&self) -> FailOn {
        match self {
            Self::Client(run) => run.fail_on,
            Self::Between(run) => run.fail_on,
        }
    }

    /// Judges it again: the differences, and the profiles that its certificate names.
    pub(in crate::cli) fn checked(&self, folder: &Path, fail_on: Option<FailOn>) -> (Verified, Vec<String>) {
        let (mut checked, passed) = match self {
            Self::Client(run) => {
                (clients::verify(folder, run, fail_on), clients::verify_certificate(folder, run))
            }
            Self::Between(run) => {
                (between::verify(folder, run, fail_on), between::verify_certificate(folder, run))
            }
        };
        let passed = passed.map_err(|difference| checked.differences.push(difference));
        (checked, passed.unwrap_or_default())
    }

    pub(in crate::cli) fn statement(&self, folder: &Path) -> Result<Value, String> {
        match self {
            Self::Client(run) => clients::statement(folder, run),
            Self::Between(_) => between::statement(folder),
        }
    }
}

pub(in crate::cli) fn compared(
    folder: &Path,
    fail_on: Option<FailOn>,
) -> Result<(Evidence, RunFile, Compared)> {
    let evidence = Evidence::open(folder);
    let run = evidence.run()?;
    if run.state == RunState::Begun {
        anyhow::bail!("{} has no results: the run did not finish", folder.display());
    }
    let named = || folder.display().to_string();
    known(&run).with_context(named)?;
    let compared =
        compare(&evidence, &run, fail_on).map_err(|problem| anyhow!(problem)).with_context(named)?;
    Ok((evidence, run, compared))
}

fn terms(options: &Options) -> String {
    let fail_on = options.fail_on();
    let mut text = format!("failures: {} (--fail-on {})\n", fail_on.words(), fail_on.name());
    if !options.levels.is_empty() {
        let _ = writeln!(text, "levels changed: {}", LevelChange::words(&options.levels, usize::MAX));
    }
    text
}

/// Empty if none fails, or without `fail_on`.
fn failed(failing: &[String], what: &str, fail_on: Option<FailOn>) -> String {
    let Some(fail_on) = fail_on.filter(|_| !failing.is_empty()) else { return String::new() };
    let mut text = format!(
        "with --fail-on {}, {} of the run fail:\n",
        fail_on.name(),
        counted(failing.len() as u64, what)
    );
    for trial in failing {
        let _ = writeln!(text, "  {}", visible(trial));
    }
    text
}

/// The verdicts of a run of another build are made by this build all the same.
fn other_build(run: &RunFile) -> Option<String> {
    let RunFile { build, .. } = run;
    (build != BUILD).then(|| {
        format!("note: the run was made by build {} of the suite, but this is {BUILD}\n", visible(build))
    })
}

fn known(run: &RunFile) -> Result<()> {
    let Options { profiles, select, ignore, .. } = &run.options;
    names::dialect(&run.dialect)?;
    SelectArgs { select: select.clone(), ignore: ignore.clone() }.check()?;
    names::profiles(profiles)
}

/// The limits of verification.
const UNPROVEN: &str = "not proven: that they came from the named endpoint; to check this, run the \
                        commands under Reproduce in certificate.md\n";

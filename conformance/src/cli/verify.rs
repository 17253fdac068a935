//! `conformance verify`: checks whether the results of a run follow from its evidence.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;

use super::saved::read_between;
use super::select::SelectArgs;
use super::verdict::fail_on_values;
use super::{CommandArgs, NOT_DONE, names, print};
use harness::certificate::{SIGNATURE, Signed, signed};
use harness::evidence::{BUILD, Evidence, RunFile, TWINS};

use harness::{Compared, compare, verify_twins};
use results::text::{counted, visible};
use results::{BetweenRun, FailOn, LevelChange, Options, State};

const EXAMPLES: &str = "\
Examples:
  conformance verify run/
  conformance verify run/ --key gateway.pub.pem";

/// Checks whether a run is consistent: its requests match the scenarios, its exchanges support its verdicts, and
/// nothing was changed, added or removed.
///
/// It does not prove that the exchanges came from the named endpoint.
///
/// Exit codes: 0 if all verdicts are the same, 1 if one differs or --fail-on finds a failure, 2 if the run could not be read.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct VerifyArgs {
    /// Folder written by `run --out` or `between --out`. With a run for each of several APIs, all are checked.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Also fail if the exchanges have findings of this kind: must, breaks, should, may.
    ///
    /// The verdicts of the run are compared with what failed then; this asks what would fail now. Levels are those of the
    /// run.
    #[arg(long, value_name = "WHICH", value_parser = fail_on_values(), hide_possible_values = true)]
    fail_on: Option<FailOn>,
    /// Public key that the certificate must be signed with: Ed25519, PEM
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
}

impl CommandArgs for VerifyArgs {
    fn run(self) -> Result<ExitCode> {
        if let Some(run) = read_between(&self.folder).ok().flatten().filter(|_| self.folder.is_dir()) {
            return self.between(&run).map(ExitCode::from);
        }
        let runs = Evidence::runs(&self.folder).unwrap_or_default();
        if runs.len() < 2 {
            return self.verify(runs.first().unwrap_or(&self.folder)).map(ExitCode::from);
        }
        let mut worst = 0;
        for run in &runs {
            print(&format!("{}:\n", visible(&run.to_string_lossy())))?;
            worst = self.verify(run)?.max(worst);
        }
        worst = worst.max(self.twins(&runs)?);
        Ok(ExitCode::from(worst))
    }
}

impl VerifyArgs {
    /// Judges both ends of a gateway again, and returns the exit code.
    fn between(&self, run: &BetweenRun) -> Result<u8> {
        if self.key.is_some() {
            bail!("runs of both ends of a gateway are not signed: leave --key out");
        }
        let mut checked = between::verify(&self.folder, run, self.fail_on);
        let certified = match between::verify_certificate(&self.folder, run) {
            Ok(passed) if passed.is_empty() => String::new(),
            Ok(passed) => format!("certificate: {}\n", passed.join(", ")),
            Err(difference) => {
                checked.differences.push(difference);
                String::new()
            }
        };
        let folder = visible(&self.folder.to_string_lossy());
        if !checked.differences.is_empty() {
            let mut text = format!("{folder} differs from the run:\n");
            for difference in &checked.differences {
                let _ = writeln!(text, "  {}", visible(difference));
            }
            print(&text)?;
            return Ok(if checked.is_unreadable { NOT_DONE } else { 1 });
        }
        let failures = format!("failures: {} (--fail-on {})\n", run.fail_on.words(), run.fail_on.name());
        print(&format!(
            "consistent: these recordings support the verdicts of {}\n{failures}{certified}{}",
            counted(checked.judged as u64, "test"),
            failed(&checked.failing, "test", self.fail_on)
        ))?;
        Ok(u8::from(!checked.failing.is_empty()))
    }

    /// Compares the answers of several runs again, and returns the exit code.
    fn twins(&self, runs: &[PathBuf]) -> Result<u8> {
        let file = self.folder.join(TWINS);
        if !file.exists() {
            print(&format!("not compared: there is no {}\n", visible(&file.to_string_lossy())))?;
            return Ok(0);
        }
        let runs: Vec<&Path> = runs.iter().map(PathBuf::as_path).collect();
        let (count, differences) = verify_twins(&self.folder, &runs).map_err(|problem| anyhow!(problem))?;
        let name = visible(&file.to_string_lossy());
        if differences.is_empty() {
            print(&format!(
                "{name}:\nconsistent: the exchanges support {}\n",
                counted(count as u64, "comparison")
            ))?;
            return Ok(0);
        }
        let mut text = format!("{name} differs from the runs:\n");
        for difference in &differences {
            let _ = writeln!(text, "  {}", visible(difference));
        }
        print(&text)?;
        Ok(1)
    }

    /// Verifies a run, and returns the exit code.
    fn verify(&self, path: &Path) -> Result<u8> {
        let (evidence, run, compared) = compared(path, self.fail_on)?;
        let Compared { mut differences, is_unreadable, failing } = compared;
        let folder = visible(&path.to_string_lossy());
        let mut signer = String::new();
        if let Some(file) = &self.key {
            let named = || file.display().to_string();
            let key = fs::read(file).with_context(named)?;
            let name = visible(&file.to_string_lossy());
            match signed(&evidence, &key).map_err(|problem| anyhow!(problem)).with_context(named)? {
                Signed::By(id) => signer = format!("signed by the key {name} (SHA-256 {id})\n"),
                Signed::Otherwise(difference) => differences.push(difference),
                Signed::Not if differences.is_empty() => {
                    print(&format!(
                        "{folder} is not signed: it has no {SIGNATURE}; without --key, verify checks its results alone\n"
                    ))?;
                    return Ok(1);
                }
                Signed::Not => differences.push(format!("it is not signed: there is no {SIGNATURE}")),
            }
        }
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
        let mut text = format!("{folder} differs from the run:\n");
        for difference in &differences {
            let _ = writeln!(text, "  {}", visible(difference));
        }
        text += &built;
        print(&text)?;
        Ok(if is_unreadable { NOT_DONE } else { 1 })
    }
}

/// Compares the results of a run with its evidence.
pub(super) fn compared(folder: &Path, fail_on: Option<FailOn>) -> Result<(Evidence, RunFile, Compared)> {
    let evidence = Evidence::open(folder);
    let run = evidence.run()?;
    if run.state == State::Begun {
        anyhow::bail!("{} has no results: the run did not finish", folder.display());
    }
    let named = || folder.display().to_string();
    known(&run).with_context(named)?;
    let compared =
        compare(&evidence, &run, fail_on).map_err(|problem| anyhow!(problem)).with_context(named)?;
    Ok((evidence, run, compared))
}

/// Returns what failed in a run, and which levels were changed.
fn terms(options: &Options) -> String {
    let fail_on = options.fail_on();
    let mut text = format!("failures: {} (--fail-on {})\n", fail_on.words(), fail_on.name());
    if !options.levels.is_empty() {
        let _ = writeln!(text, "levels changed: {}", LevelChange::words(&options.levels, usize::MAX));
    }
    text
}

/// Returns the trials that fail on what the user named.
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

/// Returns a note if another build than this one made a run. Its verdicts are those of this build all the same.
fn other_build(run: &RunFile) -> Option<String> {
    let RunFile { build, .. } = run;
    (build != BUILD).then(|| {
        format!("note: the run was made by build {} of the suite, but this is {BUILD}\n", visible(build))
    })
}

/// Fails unless the names in the options of a run are known.
fn known(run: &RunFile) -> Result<()> {
    let Options { profiles, select, ignore, .. } = &run.options;
    names::dialect(&run.dialect)?;
    SelectArgs { select: select.clone(), ignore: ignore.clone() }.check()?;
    names::profiles(profiles)
}

/// The limits of verification.
const UNPROVEN: &str = "not proven: that they came from the named endpoint; to check this, run the \
                        commands under Reproduce in certificate.md\n";

//! The suite as a test run.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use catalogue::{Level, Rule};
use clap::Args;
use libtest_mimic::{Arguments, ColorSetting, Failed, FormatSetting, Trial};
use spec::Dialect;

use super::color::Color;
use super::live::LiveArgs;
use super::recordings::Tested;
use super::select::SelectArgs;
use super::snapshots::SnapshotArgs;
use super::{files, names};
use crate::{suite, violation};
use checker::Rules;
use recordings::capture::Format;
use recordings::goldens::{self, GOLDENS, Golden};
use reports::{Detail, Screen, Style, diagnostic};
use results::{CaptureReport, Finding};

/// How the suite runs; the flags are those of any Rust test.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "these are the flags that cargo test has")]
pub(super) struct SuiteArgs {
    /// Run only what has this in its name.
    ///
    /// A test of an endpoint is named by its scenario and what it judges, `call/parallel::item`: `answer`, whether it came whole and is what was asked for;
    /// `agrees`, whether it agrees with the answers before it; `apart`, whether answers that came at once keep
    /// apart; a group of rules, such as `item`; `other-rules`, those of all groups that have no test of their own
    /// there; `snapshot`, its shape. `call/` is all scenarios about calls, `::item` one group in all scenarios.
    filter: Option<String>,
    /// Run over these recordings, or folders of recordings, instead.
    #[arg(long, value_name = "PATH", num_args = 1.., group = "tested")]
    capture: Vec<PathBuf>,
    /// The dialect that the endpoint, or the recordings, should speak; that the reference gateway speaks, or
    /// `all`, where it is what is tested.
    #[arg(long, value_name = "NAME", default_value = "openai")]
    dialect: String,
    /// What format the recordings have, instead of finding it out.
    #[arg(long, value_enum, value_name = "FORMAT", requires = "capture")]
    format_in: Option<files::FormatIn>,
    #[command(flatten)]
    live: LiveArgs,
    #[command(flatten)]
    snapshots: SnapshotArgs,
    #[command(flatten)]
    select: SelectArgs,
    /// List what would run.
    #[arg(long)]
    list: bool,
    /// The filters are whole names.
    #[arg(long)]
    exact: bool,
    /// Leave out what has this in its name.
    #[arg(long, value_name = "FILTER")]
    skip: Vec<String>,
    /// How to tell the results.
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<FormatSetting>,
    /// Show every finding, every failing scenario and every table, instead of one finding for each cause.
    #[arg(long, short, conflicts_with_all = ["format", "quiet"])]
    verbose: bool,
    /// One character a result.
    #[arg(long, short, conflicts_with = "format")]
    quiet: bool,
    /// How many to run at once.
    #[arg(long, value_name = "N")]
    test_threads: Option<usize>,
    /// Whether to use colour.
    #[arg(long, value_enum, value_name = "WHEN")]
    color: Option<ColorSetting>,
    /// Write the results to a file.
    #[arg(long, value_name = "PATH")]
    logfile: Option<String>,
    /// Nothing is captured anyway.
    #[arg(long, hide = true)]
    nocapture: bool,
}

impl SuiteArgs {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        if self.capture.is_empty() {
            self.select.check()?;
            let mut suites = self.live.suites(&self.dialects()?, &self.select)?;
            if let Some(snapshots) = self.snapshots.snapshots() {
                suites = suites.into_iter().map(|suite| suite.snapshots(snapshots.clone())).collect();
            }
            let is_whole = self.live.target.is_none() && self.live.profile.is_empty();
            let proofs = if is_whole { own_trials(&self.select) } else { Vec::new() };
            return Ok(suite::run(&suites, &self.arguments(), proofs, self.detail(), self.screen())?);
        }
        let tested = Tested {
            rules: self.select.rules(names::dialect(&self.dialect)?)?,
            files: files::recordings(&self.capture).files,
            format: self.format_in.map(Format::from),
        };
        tested.run(&self.capture, &self.snapshots, &self.arguments(), self.screen())
    }

    /// The dialects to run in: several only where the suite tests itself.
    fn dialects(&self) -> anyhow::Result<Vec<&'static Dialect>> {
        Ok(match (&*self.dialect, &self.live.target) {
            ("all", None) => spec::DIALECTS.to_vec(),
            (name, _) => vec![names::dialect(name)?],
        })
    }

    /// How much is shown.
    fn detail(&self) -> Detail {
        Detail { is_verbose: self.verbose, ..Level::Should.into() }
    }

    /// What the summary is shown on.
    fn screen(&self) -> Screen {
        let color = match self.color {
            None | Some(ColorSetting::Auto) => Color::Auto,
            Some(ColorSetting::Always) => Color::Always,
            Some(ColorSetting::Never) => Color::Never,
        };
        color.screen(&io::stdout())
    }

    fn arguments(&self) -> Arguments {
        Arguments {
            filter: self.filter.clone(),
            list: self.list,
            exact: self.exact,
            skip: self.skip.clone(),
            format: self.format,
            quiet: self.quiet,
            test_threads: self.test_threads,
            color: self.color,
            logfile: self.logfile.clone(),
            nocapture: self.nocapture,
            ..Arguments::default()
        }
    }
}

/// The proof that goldens pass, and that each rule can fail.
fn own_trials(select: &SelectArgs) -> Vec<Trial> {
    let mut trials = Vec::new();
    for dialect in spec::DIALECTS {
        let rules = Rules::of(dialect).only(|rule| select.is_wanted(rule));
        for golden in GOLDENS.iter().filter(|golden| golden.holds_for(dialect.name)) {
            let name = format!("{}/{}", dialect.name, golden.name);
            let check = Arc::new(OnceLock::new());
            for group in groups(&rules) {
                let (check, name, all) = (Arc::clone(&check), name.clone(), rules.clone());
                trials.push(Trial::test(format!("{name}::{group}"), move || {
                    let of_golden =
                        || recordings::check(name, &mut { golden.bytes }, Some(golden.format), &all);
                    clean(group, check.get_or_init(of_golden))
                }));
            }
        }
    }
    for rule in catalogue::RULES.iter().filter(|rule| select.is_wanted(rule)) {
        trials.push(Trial::test(format!("violation::{}", rule.id), move || proof(rule)));
    }
    trials
}

/// The groups that rules are in.
fn groups(rules: &Rules) -> BTreeSet<&'static str> {
    rules.iter().map(Rule::group).collect()
}

/// Nothing at all is found by the rules of a group.
fn clean(of: &str, report: &CaptureReport) -> Result<(), Failed> {
    told(report, |finding| finding.group() == of)
}

/// The violation of a rule breaks exactly what its page says.
fn proof(rule: &'static Rule) -> Result<(), Failed> {
    let golden = goldens::golden(rule.violation.golden);
    let golden: &Golden = golden.ok_or_else(|| format!("there is no golden {}", rule.violation.golden))?;
    let dialect = names::dialect(golden.dialect).map_err(|error| error.to_string())?;
    let recording = violation::recording(rule)?;
    let report = recordings::check(rule.id, &mut &*recording, None, &Rules::of(dialect));
    if let Some(error) = report.error {
        return Err(format!("the violation cannot be read: {error}").into());
    }
    let broken: BTreeSet<&str> = report.findings.iter().map(|finding| finding.rule.as_ref()).collect();
    let expected: BTreeSet<&str> = rule.violation.also.iter().copied().chain([rule.id]).collect();
    if broken == expected {
        return Ok(());
    }
    let list = |rules: &BTreeSet<&str>| rules.iter().copied().collect::<Vec<_>>().join(", ");
    Err(format!("the violation should break {}; it breaks {}", list(&expected), list(&broken)).into())
}

/// Findings of that kind are a failure.
pub(super) fn told(report: &CaptureReport, is_meant: impl Fn(&Finding) -> bool) -> Result<(), Failed> {
    if let Some(error) = &report.error {
        return Err(format!("{}: {error}", report.name).into());
    }
    let meant = report.findings.iter().filter(|finding| is_meant(finding));
    let text: String = meant.map(|finding| diagnostic(&report.name, finding, Style::Plain) + "\n").collect();
    if text.is_empty() { Ok(()) } else { Err(text.into()) }
}

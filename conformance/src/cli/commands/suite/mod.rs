//! `conformance run`: the suite as a test run.

mod tested;

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use anyhow::{Context as _, anyhow, bail};
use catalogue::{Rule, SCENARIOS, Violation};
use clap::Args;
use libtest_mimic::{Arguments, ColorSetting, Failed, FormatSetting, Trial};
use spec::Dialect;

use self::tested::{Tested, fail_if_any};
use crate::cli::color::Color;
use crate::cli::flags::apis::ApiArgs;
use crate::cli::flags::dialect::DialectRules;
use crate::cli::flags::live::LiveArgs;
use crate::cli::flags::output::OutputArgs;
use crate::cli::flags::play::PlayArgs;
use crate::cli::flags::select::SelectArgs;
use crate::cli::flags::selection::{HEADING, TestsArgs};
use crate::cli::flags::snapshots::SnapshotArgs;
use crate::cli::flags::target::count;
use crate::cli::flags::verdict::VerdictArgs;
use crate::cli::input::saved::runs_in;
use crate::cli::input::{files, known, names};
use crate::cli::message::Lines;
use crate::cli::{COMMANDS, CommandArgs, described};
use crate::{suite, violation};
use checker::{Rules, fallback};
use harness::evidence::{Evidence, RunFile};
use harness::suite::{Invocation, RunCompletion, Selection, Served};
use recordings::capture::Format;
use recordings::goldens::{self, GOLDENS, Golden};
use reports::{Form, Screen};
use results::{AUTO, CaptureReport, FailOn, Run, Transport, TrialResult, Verdict};

const SELF_TEST: &str = "no --target: testing the suite's own reference gateway";
/// The hint where no tests are named.
const WITH_TARGET: &str = ". To test an endpoint: conformance run --target URL --model MODEL --profile core";

/// The flags that are about endpoints alone.
const OF_ENDPOINTS: [&str; 5] =
    ["shard", "rerun_failed", "expected_failures", "write_expected_failures", "out"];

const EXAMPLES: &str = "\
Examples:
  conformance run --target http://localhost:8080/v1 --model my-model --profile core
  conformance run --target staging text/ '/call.*::item/' N35
  conformance run --target staging --out run/ --report html=report.html,junit=report.xml
  conformance run --rerun-failed run/";

/// Tests an endpoint; without --target, tests the suite itself.
///
/// Exit codes: 0 if nothing failed, 1 if a test failed, an expected failure passed, or a profile of --profile did not
/// pass, 2 if the run could not be made or no test matched.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(in crate::cli) struct SuiteArgs {
    /// Tests to run: part of a name, /REGEX/, or a sentence such as N35 [default: all].
    ///
    /// The name of a test has the scenario and what is judged, `call/parallel::item`. The second part is `answer`,
    /// whether the response is complete and is what was requested; `agrees`, whether it agrees with the responses
    /// before it; `apart`, whether concurrent responses are kept apart; a group of rules, such as `item`;
    /// `other-rules`, the rules of all groups without a test of their own in this scenario; `snapshot`, the shape of
    /// the stream. `call/` selects all scenarios about calls, `::item` one group in all scenarios.
    #[arg(value_name = "FILTER", value_parser = known::SCENARIOS, hide_possible_values = true)]
    filter: Vec<String>,
    #[command(flatten)]
    apis: ApiArgs,
    #[command(flatten)]
    live: LiveArgs,
    /// Match filters against whole names.
    #[arg(long, help_heading = HEADING, hide_short_help = true)]
    exact: bool,
    #[command(flatten)]
    tests: TestsArgs,
    /// Test these recordings, or folders of recordings, instead of an endpoint.
    #[arg(long, value_name = "PATH", num_args = 1.., group = "tested", conflicts_with_all = OF_ENDPOINTS, help_heading = HEADING, hide_short_help = true)]
    capture: Vec<PathBuf>,
    /// Format of the recordings [default: detected].
    #[arg(long, value_parser = files::formats(), value_name = "FORMAT", requires = "capture", help_heading = HEADING, hide_short_help = true)]
    format_in: Option<Format>,
    #[command(flatten)]
    select: SelectArgs,
    #[command(flatten)]
    verdict: VerdictArgs,
    #[command(flatten)]
    output: OutputArgs,
    /// Print one character for each test, and no summary.
    #[arg(long, short, conflicts_with_all = ["format", "verbose", "all_tests"], help_heading = crate::cli::flags::output::HEADING, hide_short_help = true)]
    quiet: bool,
    #[command(flatten)]
    play: PlayArgs,
    #[command(flatten)]
    snapshots: SnapshotArgs,
    /// Recordings to test at once.
    #[arg(long, value_name = "N", value_parser = count(1000), hide = true)]
    test_threads: Option<usize>,
    /// Write the results of the tests to a file.
    #[arg(long, value_name = "PATH", hide = true)]
    logfile: Option<String>,
    /// Accepted for `cargo test`; output is never captured.
    #[arg(long, hide = true)]
    nocapture: bool,
}

impl CommandArgs for SuiteArgs {
    fn run(self) -> anyhow::Result<ExitCode> {
        let plays = self.play.check()?;
        if plays && !self.capture.is_empty() {
            bail!("--impact is for runs against an endpoint: `conformance impact` plays recordings");
        }
        if self.capture.is_empty() {
            let chosen = self.apis.chosen(self.live.target.as_deref(), &self.live.profile)?;
            let mut how = self.invocation(chosen.first()?)?;
            self.select.check()?;
            let has_scenarios =
                |dialect: &&Dialect| SCENARIOS.iter().any(|scenario| scenario.applies_to(dialect));
            if let Some(dialect) = chosen.dialects.iter().find(|dialect| !has_scenarios(dialect))
                && self.live.target.is_some()
            {
                let (title, name) = (dialect.api.title, dialect.name);
                bail!(
                    "there are no scenarios of {title}, so nothing can be sent; conformance check --dialect {name} judges recordings"
                );
            }
            if self.live.target.is_none() && !self.tests.list {
                // A closed stderr is no reason to fail.
                let more = if self.filter.is_empty() { WITH_TARGET } else { "" };
                let _ = writeln!(io::stderr().lock(), "{SELF_TEST}{more}");
            }
            let suites = self.live.suites(&chosen.dialects, &self.select, &self.verdict)?;
            let served = if self.live.target.is_some() {
                chosen.served(suites, &how.selection, self.tests.list)?
            } else {
                Served { suites, others: Vec::new() }
            };
            how.unserved = served.others;
            if plays {
                let (play, shown) = (self.play.clone(), self.output.level);
                let complete =
                    move |run: &mut Run, recordings: &Evidence| play.complete(run, recordings, shown);
                how.completion = Some(RunCompletion(Arc::new(complete)));
            }
            let others = chosen.others(self.live.target.as_deref());
            how.others = self.live.suites(&others, &self.select, &self.verdict)?;
            let mut suites = self.live.finished(served.suites)?;
            if let Some(snapshots) = self.snapshots.snapshots() {
                suites = suites.into_iter().map(|suite| suite.snapshots(snapshots.clone())).collect();
            }
            let is_whole = self.live.target.is_none() && self.live.profile.is_empty();
            let is_report = self.output.format != Form::Human;
            let proofs = if is_whole && !is_report { own_trials(&self.select) } else { Vec::new() };
            let done = suite::run(&suites, &how, proofs, self.screen());
            return done.map_err(|error| match self.hint() {
                Some(hint) if error.is_about_filters() => Lines(vec![error.to_string(), hint]).into(),
                _ => error.into(),
            });
        }
        if self.output.format != Form::Human {
            bail!("--capture runs recordings as tests: use `conformance check --format` to report on them");
        }
        // Sentences of filters are taken from the usual dialect where none is named.
        let dialect = self.apis.of_recordings()?;
        let usual = if dialect == AUTO { fallback(None) } else { Some(names::dialect(dialect)?) };
        let how = self.invocation(usual.context("there is no dialect")?)?;
        let tested = Tested {
            rules: DialectRules::named(dialect, &self.verdict, &self.select)?,
            fail_on: self.verdict.fail_on(),
            files: files::recordings(&self.capture)?.files,
            format: self.format_in,
            draws: self.output.draws(),
        };
        tested.run(&self.capture, &self.snapshots, &how, self.screen())
    }
}

impl SuiteArgs {
    /// For a filter that matches no test but names something else.
    fn hint(&self) -> Option<String> {
        self.filter.iter().find_map(|filter| {
            if let Some(hint) = names::path(filter) {
                return Some(hint);
            }
            let command = described(COMMANDS);
            let hint = names::meant(filter, command.get_subcommands().map(clap::Command::get_name));
            (!hint.is_empty()).then(|| format!("{filter} is not a command either{hint}"))
        })
    }

    fn screen(&self) -> Screen {
        self.output.color.screen(&io::stdout())
    }

    fn invocation(&self, dialect: &'static Dialect) -> anyhow::Result<Invocation> {
        let selection = Selection::new(&self.filter, &self.tests.skip, self.exact, dialect);
        let mut selection = selection.map_err(|problem| anyhow!(problem))?.shard(self.tests.shard);
        if let Some(folder) = &self.tests.rerun_failed {
            let failed = failed_tests(folder)?;
            if failed.is_empty() {
                bail!("no test failed in {}", folder.display());
            }
            selection = selection.only(failed);
        }
        let OutputArgs { format, output, report, color, .. } = &self.output;
        let arguments = Arguments {
            list: self.tests.list,
            quiet: self.quiet,
            format: self.tests.all_tests.then_some(FormatSetting::Pretty),
            test_threads: self.test_threads.or_else(threads_of_environment),
            color: Some(match color {
                Color::Auto => ColorSetting::Auto,
                Color::Always => ColorSetting::Always,
                Color::Never => ColorSetting::Never,
            }),
            logfile: self.logfile.clone(),
            nocapture: self.nocapture,
            ..Arguments::default()
        };
        Ok(Invocation {
            detail: self.output.detail(),
            reports: report.clone(),
            form: *format,
            output: output.clone(),
            shows_progress: true,
            ..Invocation::new(arguments, selection)
        })
    }
}

fn failed_tests(folder: &Path) -> anyhow::Result<Vec<String>> {
    let has_failed =
        |told: &&TrialResult| matches!(told.judged.verdict, Verdict::Fail | Verdict::HarnessError);
    let runs = runs_in(folder)?;
    let failed = |run: &RunFile| {
        let prefix = if runs.len() > 1 { format!("{}/", run.dialect) } else { String::new() };
        let failed = run.trials.iter().filter(has_failed).map(|told| &told.name);
        with_answers(failed).into_iter().map(|name| format!("{prefix}{name}")).collect::<Vec<_>>()
    };
    Ok(runs.iter().flat_map(failed).collect())
}

/// Such tests show whether there are responses: of the same scenarios, and of those that they continue.
fn with_answers<'t>(tests: impl Iterator<Item = &'t String>) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for test in tests {
        let (case, _) = test.split_once("::").unwrap_or((test, ""));
        let transport =
            if Transport::scenario(case) == case { "" } else { &case[Transport::scenario(case).len()..] };
        all.insert(format!("{case}::answer"));
        let mut before =
            catalogue::scenario(Transport::scenario(case)).and_then(|scenario| scenario.previous);
        while let Some(id) = before {
            // Non-streaming twins continue streams.
            all.extend([format!("{id}::answer"), format!("{id}{transport}::answer")]);
            before = catalogue::scenario(id).and_then(|scenario| scenario.previous);
        }
        all.insert(test.clone());
    }
    all
}

/// Goldens pass, and each rule can fail.
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

fn groups(rules: &Rules) -> BTreeSet<&'static str> {
    rules.iter().map(Rule::group).collect()
}

fn clean(of: &str, report: &CaptureReport) -> Result<(), Failed> {
    fail_if_any(report, FailOn::May, |finding| finding.group() == of)
}

/// The violation in each API breaks exactly the rules that it lists.
fn proof(rule: &'static Rule) -> Result<(), Failed> {
    rule.in_apis.iter().try_for_each(|own| proof_of(rule, &own.violation))
}

fn proof_of(rule: &'static Rule, violation: &Violation) -> Result<(), Failed> {
    let golden = goldens::golden(violation.golden);
    let golden: &Golden = golden.ok_or_else(|| format!("there is no golden {}", violation.golden))?;
    let dialect = names::dialect(golden.dialect).map_err(|error| error.to_string())?;
    let recording = violation::apply(violation)?;
    let report = recordings::check(rule.id, &mut &*recording, None, &Rules::of(dialect));
    if let Some(error) = report.error {
        return Err(format!("the violation cannot be read: {error}").into());
    }
    let broken: BTreeSet<&str> = report.findings.iter().map(|finding| finding.rule.as_ref()).collect();
    let expected: BTreeSet<&str> = violation.also.iter().copied().chain([rule.id]).collect();
    if broken == expected {
        return Ok(());
    }
    let list = |rules: &BTreeSet<&str>| rules.iter().copied().collect::<Vec<_>>().join(", ");
    Err(format!("the violation should break {}; it breaks {}", list(&expected), list(&broken)).into())
}

/// `RUST_TEST_THREADS`, as tests of cargo read it.
fn threads_of_environment() -> Option<usize> {
    let threads = std::env::var("RUST_TEST_THREADS").ok()?;
    threads.parse().ok().filter(|threads| (1..=1000).contains(threads))
}

//! `conformance between`: the suite for both ends of a gateway.

mod expected;
mod levels;
mod repeat;
mod run;
mod select;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr as _;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use between::Settings;
use catalogue::BETWEEN_CASES;
use clap::Args;
use libtest_mimic::{Completion, Trial};

use super::color::Color;
use super::known::one_of;
use super::message::note;
use super::output;
use super::play::PlayArgs;
use super::target::{count, some_time};
use super::verdict::{RuleLevel, fail_on_values};
use super::{CommandArgs, NOT_DONE, exit_code, print};
use harness::Scratch;
use harness::live::RunRuntime;
use harness::wire::Target;
use reports::Style;
use reports::between::{BetweenForm, between_report};
use results::text::visible;
use results::{BetweenRun, BetweenTest, FailOn, Shard, Verdict, shell_word};
use select::{APIS, PairMode};

pub(super) use run::is_on_this_machine;

const EXAMPLES: &str = "\
Examples:
  conformance between
  conformance between --front responses --upstream chat -- my-gateway --config gateway.yaml
  conformance between --gateway http://127.0.0.1:4000/v1 --upstream-port 9000 --model my-model
  conformance between text/ tools/ --skip @stall -- ./start-gateway.sh
  conformance between --out run/ -- my-gateway && conformance report run/ --format html --output between.html
  conformance between --rerun-failed run/

With -- COMMAND, the command gets UPSTREAM_BASE_URL, UPSTREAM_KEY and GATEWAY_PORT in its environment: it must send its
requests to that URL with that key, and listen on that port of 127.0.0.1, unless --gateway names another URL. It is ended
with all that it has started.";

/// Tests both ends of a gateway: a scripted upstream stands behind it, a client asks in front of it, and what comes out is
/// compared with what went in. No model is needed.
///
/// Start the gateway with `-- COMMAND`, or pass its URL with --gateway and configure it to use an upstream at
/// http://127.0.0.1:PORT/v1, the port of --upstream-port. With --self, or without any option of a gateway, the suite proves
/// itself with its own translator.
///
/// Exit codes: 0 if nothing failed, 1 if a test failed or an expected failure passes, 2 if the gateway could not be tested.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "these are flags")]
pub(super) struct BetweenArgs {
    /// Tests to run: part of a name, a whole name, or /REGEX/ [default: all].
    #[arg(value_name = "FILTER")]
    filter: Vec<String>,
    /// Command that starts the gateway, after `--`.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
    /// Test the suite's own translator, which is right in everything, instead of a gateway.
    #[arg(long = "self", conflicts_with_all = ["gateway", "command"], help_heading = GATEWAY, hide_short_help = true)]
    is_self: bool,
    /// APIs of the client: responses, messages, chat, all [default: those that the gateway answers].
    #[arg(long, value_name = "API", value_delimiter = ',', value_parser = one_of(APIS, |name| name), hide_possible_values = true, help_heading = GATEWAY)]
    front: Vec<&'static str>,
    /// APIs of the upstream: responses, messages, chat, all [default: those in which the gateway asks].
    #[arg(long, value_name = "API", value_delimiter = ',', value_parser = one_of(APIS, |name| name), hide_possible_values = true, help_heading = GATEWAY)]
    upstream: Vec<&'static str>,
    /// URL of the gateway, with or without /v1 [default with a command: `http://127.0.0.1:GATEWAY_PORT/v1`].
    #[arg(long, value_name = "URL", help_heading = GATEWAY)]
    gateway: Option<String>,
    /// Port of this machine for the scripted upstream [default with a command: a free one].
    #[arg(long, value_name = "PORT", help_heading = GATEWAY)]
    upstream_port: Option<u16>,
    /// Model to request; the gateway sends it to the upstream under any name.
    #[arg(long, value_name = "NAME", help_heading = GATEWAY)]
    model: Option<String>,
    /// Name of the gateway in reports [default: its command or URL].
    #[arg(long, value_name = "NAME", help_heading = GATEWAY, hide_short_help = true)]
    name: Option<String>,
    /// How the gateway handles requests: passthrough, inspect, transform, local; FRONT-UPSTREAM=MODE for one pair
    /// [default: transform].
    ///
    /// passthrough: bytes pass unchanged. inspect: they are read, and mean the same. transform: one API is translated to
    /// another. local: the gateway answers itself.
    #[arg(long, value_name = "MODE", value_delimiter = ',', value_parser = PairMode::from_str, help_heading = GATEWAY)]
    mode: Vec<PairMode>,
    /// Number of times that the gateway may repeat a request that failed upstream before any output [default: 0].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=100), help_heading = GATEWAY)]
    retries: Option<u32>,
    /// The gateway reads the upstream's stream on after a client has left, for at most this many seconds.
    ///
    /// Gateways do so to record token counts. cancel/upstream-left is then broken only by one that reads longer; without
    /// this flag, one that reads on breaks it as a SHOULD rule.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=60), help_heading = GATEWAY, hide_short_help = true)]
    drains: Option<u64>,
    /// API key for the gateway; prefer the variable `CONFORMANCE_API_KEY` [default: a made-up key].
    #[arg(long, value_name = "KEY", help_heading = GATEWAY)]
    api_key: Option<String>,
    /// The gateway passes the client's key on to the upstream.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true, help_heading = GATEWAY, hide_short_help = true)]
    passes_key: Option<bool>,
    /// Header to send with each request.
    #[arg(long, value_name = "'NAME: VALUE'", help_heading = GATEWAY)]
    header: Vec<String>,
    /// Seconds until a started gateway must answer [default: 120].
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400), help_heading = GATEWAY, hide_short_help = true)]
    start_timeout: Option<u64>,
    /// Leave out tests that match FILTER.
    #[arg(long, value_name = "FILTER")]
    skip: Vec<String>,
    /// Run only the tests that failed in this run.
    ///
    /// DIR is a folder written by --out. Gateway, command, model and modes are those of that run, unless flags say
    /// otherwise.
    #[arg(long, value_name = "DIR")]
    rerun_failed: Option<PathBuf>,
    /// Run only part I of N equal parts, as in 2/4.
    #[arg(long, value_name = "I/N", value_parser = Shard::from_str, hide_short_help = true)]
    shard: Option<Shard>,
    /// List the tests without running them.
    #[arg(long)]
    list: bool,
    /// Tests to run at once [default: 4].
    #[arg(long, value_name = "N", value_parser = count(256))]
    jobs: Option<usize>,
    /// Time limit for a response in milliseconds [default: 20000].
    ///
    /// It must be longer than the gateway waits for its upstream: a gateway that does not end within it then breaks
    /// fault/hung, also if its upstream only stalls. Without this flag, that is a SHOULD.
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=86_400_000))]
    timeout: Option<u64>,
    /// Time limit in milliseconds for what the upstream waits for, such as a client that must see an event before the next
    /// one [default: 2000].
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=86_400_000), hide_short_help = true)]
    limit: Option<u64>,
    /// Start no more tests after this many recorded bytes [default: no limit].
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(1..), hide_short_help = true)]
    max_total_bytes: Option<u64>,
    /// Start no more tests after this time [default: no limit].
    #[arg(long, value_name = "TIME", value_parser = some_time, hide_short_help = true)]
    max_total_time: Option<Duration>,
    /// Findings that fail: must, breaks, should, may [default: breaks].
    ///
    /// must: broken MUST rules. breaks: also what is measured to break a client. should: also broken SHOULD rules. may:
    /// any finding.
    #[arg(long, value_name = "WHICH", value_parser = fail_on_values(), hide_possible_values = true)]
    fail_on: Option<FailOn>,
    /// The same as --fail-on should.
    #[arg(long, conflicts_with = "fail_on", hide_short_help = true)]
    strict: bool,
    /// Set the level of a rule or group: must, should, may, off.
    #[arg(long = "rule", value_name = "RULE|GROUP=LEVEL", value_delimiter = ',', value_parser = levels::rule_level, hide_short_help = true)]
    levels: Vec<RuleLevel>,
    /// Expected failures: a listed rule does not fail a listed test; a listed test that passes fails the run.
    #[arg(long, value_name = "FILE")]
    expected_failures: Option<PathBuf>,
    /// Write all failures to this file instead of failing.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    write_expected_failures: Option<PathBuf>,
    /// Write the report, the recordings of both sides and the output of a started gateway to this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace the run that the folder of --out contains.
    #[arg(long, requires = "out", hide_short_help = true)]
    replace: bool,
    #[command(flatten)]
    play: PlayArgs,
    /// Output format: human, json, ndjson, junit, sarif, github, markdown, html.
    #[arg(long, value_enum, default_value_t, hide_possible_values = true, hide_default_value = true)]
    format: BetweenForm,
    /// Write to this file instead of stdout.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Also write reports, as in html=a.html,junit=b.xml.
    #[arg(long, value_name = "FORMAT=FILE", value_delimiter = ',', value_parser = output::report::<BetweenForm>)]
    report: Vec<(BetweenForm, PathBuf)>,
    /// Print a line for each test, as `cargo test` does.
    #[arg(long, conflicts_with = "format", hide_short_help = true)]
    all_tests: bool,
    /// List every test, and show the example of every cause.
    #[arg(long, short)]
    verbose: bool,
    /// When to use color.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN", hide_short_help = true)]
    color: Color,
    /// Settings file [default: conformance.toml here, or above in the repository].
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    config: Option<PathBuf>,
    /// Apply headers and keys of conformance.toml to a gateway on another machine, too.
    #[arg(long, hide_short_help = true)]
    trust_config: bool,
}

/// The heading of the flags about the gateway.
const GATEWAY: &str = "Gateway";
/// The usual limit of a response, and of what the upstream waits for.
const LIMITS: [Duration; 2] = [Duration::from_secs(20), Duration::from_secs(2)];
/// Number of tests to run at once.
const JOBS: usize = 4;

impl CommandArgs for BetweenArgs {
    fn run(mut self) -> Result<ExitCode> {
        let again = match self.rerun_failed.clone() {
            Some(folder) => Some(self.repeat(&folder)?),
            None => None,
        };
        let expected = match &self.expected_failures {
            Some(file) => expected::read(file)?,
            None => Vec::new(),
        };
        self.check()?;
        let plays = self.play.check()?;
        let mut settings = self.settings(again.as_ref())?;
        if self.list {
            return list(&settings);
        }
        if let Some(folder) = &self.out {
            between::folder::make_room(folder, self.replace).with_context(|| folder.display().to_string())?;
        }
        let scratch = if plays && self.out.is_none() { Some(Scratch::new("between")?) } else { None };
        if let Some(scratch) = &scratch {
            settings.out = Some(scratch.path().to_owned());
        }
        let machine = RunRuntime::start()?;
        let played = self.play(&mut settings, again.as_ref(), &machine);
        if let (Err(_), Some(folder)) = (&played, &self.out) {
            between::folder::release(folder);
        }
        let mut run = played?;
        run.typed = Some(typed(&settings));
        run.fail_on = self.fail_on.unwrap_or(if self.strict { FailOn::Should } else { FailOn::default() });
        run.levels = levels::changes(&self.levels)?;
        run.folder = self.out.as_ref().map(|folder| folder.display().to_string());
        let mut run = run.expecting(&expected);
        // `verify` makes the report again from the recordings, which do not tell what clients did.
        if let Some(folder) = &self.out {
            keep(folder, &run)?;
        }
        if let Some(folder) = settings.out.as_deref().filter(|_| plays && !machine.is_interrupted()) {
            let fronts: Vec<_> = settings.pairs.iter().map(|pair| pair.front).collect();
            self.play.complete_between(&mut run, folder, &fronts);
        }
        if scratch.is_some() {
            for test in &mut run.tests {
                (test.files, test.hash) = (Vec::new(), String::new());
            }
        }
        self.print(&run)?;
        if machine.is_interrupted() {
            return Ok(ExitCode::from(NOT_DONE));
        }
        if let Some(file) = &self.write_expected_failures {
            let text = expected::failures(&run, &expected);
            std::fs::write(file, text).with_context(|| file.display().to_string())?;
            return Ok(ExitCode::SUCCESS);
        }
        Ok(exit_code(run.outcome))
    }
}

impl BetweenArgs {
    /// Fails if something is missing without which no test can run.
    fn check(&self) -> Result<()> {
        levels::changes(&self.levels)?;
        if self.list {
            return Ok(());
        }
        let is_reference = self.gateway.is_none() && self.command.is_empty();
        if let Some(flag) = self.flag_of_a_gateway().filter(|_| is_reference && !self.is_self) {
            bail!(
                "{flag} is for a gateway: pass its URL with --gateway, or the command that starts it after `--`; to test \
                 the suite's own translator, pass --self"
            );
        }
        if let Some(url) = &self.gateway {
            let api = spec::APIS.first().context("this build has no API")?;
            Target::new(url, api)?;
        }
        if self.gateway.is_some() && self.command.is_empty() && self.upstream_port.is_none() {
            bail!(
                "pass the port of this machine where the gateway finds its upstream, as in --upstream-port 9000, and \
                 configure the gateway with http://127.0.0.1:9000/v1"
            );
        }
        if !is_reference && self.model.is_none() {
            bail!("pass the model to request with --model: one that the gateway sends to its upstream");
        }
        if self.is_self && self.upstream_port.is_some() {
            bail!("--upstream-port is for a gateway, and not for the suite's own translator");
        }
        Ok(())
    }

    /// Returns a flag that was given and is about a gateway or the result of testing one. Who gives one has forgotten the
    /// gateway, and must not be told that it passed.
    fn flag_of_a_gateway(&self) -> Option<&'static str> {
        [
            ("--front", !self.front.is_empty()),
            ("--upstream", !self.upstream.is_empty()),
            ("--upstream-port", self.upstream_port.is_some()),
            ("--model", self.model.is_some()),
            ("--name", self.name.is_some()),
            ("--mode", !self.mode.is_empty()),
            ("--retries", self.retries.is_some()),
            ("--drains", self.drains.is_some()),
            ("--api-key", self.api_key.is_some()),
            ("--passes-key", self.passes_key.is_some()),
            ("--header", !self.header.is_empty()),
            ("--start-timeout", self.start_timeout.is_some()),
            ("--expected-failures", self.expected_failures.is_some()),
            ("--write-expected-failures", self.write_expected_failures.is_some()),
            ("--out", self.out.is_some()),
        ]
        .into_iter()
        .find_map(|(flag, is_given)| is_given.then_some(flag))
    }

    fn print(&self, run: &BetweenRun) -> Result<()> {
        let tests = self.all_tests.then(|| run.tests.iter().map(trial).collect());
        output::print_all(
            &self.report,
            self.output.as_ref(),
            (self.format, self.color),
            tests,
            |form, screen| Ok(between_report(run, form, self.verbose, screen)),
        )
    }
}

/// Writes the report to a folder, and the certificate if the run gets one.
fn keep(folder: &Path, run: &BetweenRun) -> Result<()> {
    let report = between_report(run, BetweenForm::Json, false, Style::Plain.into());
    let file = folder.join(between::folder::REPORT);
    harness::replace(&file, &report).with_context(|| file.display().to_string())?;
    match between::certify(folder, run, &report).with_context(|| folder.display().to_string())? {
        Ok(certificate) => note(&format!(
            "certificate of {}: {}",
            certificate.passed().join(", "),
            folder.join(harness::certificate::PAGE).display()
        )),
        Err(reason) => note(&format!("note: no certificate: {reason}")),
    }
    Ok(())
}

/// Flags whose values are secret.
const SECRET: [&str; 2] = ["--api-key", "--header"];

/// Returns the command line as it was typed, without secrets.
fn typed(settings: &Settings) -> String {
    let mut words = vec!["conformance".to_owned()];
    let mut is_secret = false;
    for word in std::env::args().skip(1) {
        let flag = word.split_once('=').map(|(flag, _)| flag).filter(|flag| SECRET.contains(flag));
        let shown = match flag {
            _ if is_secret => recordings::capture::REDACTED.to_owned(),
            Some(flag) => format!("{flag}={}", recordings::capture::REDACTED),
            None => word.clone(),
        };
        is_secret = SECRET.contains(&&*word);
        words.push(shell_word(&shown).into_owned());
    }
    let key = settings.key.as_deref().filter(|key| !key.is_empty());
    let line = words.join(" ");
    key.map_or_else(|| line.clone(), |key| line.replace(key, recordings::capture::REDACTED))
}

/// Prints the tests.
fn list(settings: &Settings) -> Result<ExitCode> {
    let title = |id: &str| BETWEEN_CASES.iter().find(|case| case.id == id).map_or("", |case| case.title);
    let tests = between::tests(settings);
    let lines = tests.iter().map(|test| format!("{:48} {}\n", test.name, title(test.case.id)));
    print(&lines.collect::<String>())?;
    Ok(ExitCode::SUCCESS)
}

/// Returns a finished test as one of `cargo test`.
fn trial(test: &BetweenTest) -> Trial {
    let failing: Vec<String> = test
        .findings
        .iter()
        .filter(|finding| finding.fails)
        .map(|finding| visible(&format!("{}: {}", finding.rule, finding.message)))
        .collect();
    let reason = if failing.is_empty() { visible(&test.reason) } else { failing.join("\n") };
    let has_failed = test.has_failed() || test.verdict == Verdict::HarnessError;
    let ignored = match (&test.expected, test.verdict) {
        (Some(expected), _) => Some(format!("{} (expected: {})", failing.join("; "), visible(expected))),
        (None, Verdict::NotExercised) => Some(reason.clone()),
        (None, _) => None,
    };
    Trial::ignorable_test(test.name.clone(), move || match ignored {
        Some(reason) => Ok(Completion::ignored_with(reason)),
        None if has_failed => Err(reason.into()),
        None => Ok(Completion::Completed),
    })
}

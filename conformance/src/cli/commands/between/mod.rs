//! `conformance between`: the suite for both ends of a gateway.

mod declared;
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
use catalogue::{AGENT_PROFILES, AgentProfile, BETWEEN_CASES};
use clap::Args;

use crate::cli::flags::expected::ExpectedArgs;
use crate::cli::flags::output::OutputArgs;
use crate::cli::flags::play::PlayArgs;
use crate::cli::flags::selection::{BudgetArgs, OutArgs, TestsArgs};
use crate::cli::flags::target::{LIMITS, SettingsArgs, count, some_time};
use crate::cli::flags::verdict::{VerdictArgs, known_rule};
use crate::cli::input::known::{ALL, agent_or_all, api_or_all};
use crate::cli::message::note;
use crate::cli::{CommandArgs, NOT_DONE, exit_code, print};
use declared::DeclaredArgs;
use harness::Scratch;
use harness::live::RunRuntime;
use harness::wire::Target;
use results::{BetweenRun, shell_word};
use select::PairMode;

const EXAMPLES: &str = "\
Examples:
  conformance between
  conformance between --front responses --upstream chat -- my-gateway --config gateway.yaml
  conformance between --gateway http://127.0.0.1:4000/v1 --upstream-port 9000 --model my-model
  conformance between text/ tools/ --skip @stall -- ./start-gateway.sh
  conformance between --out run/ -- my-gateway && conformance report run/ --format html --output between.html
  conformance between --profile claude-code --model my-model -- my-gateway --config gateway.yaml
  conformance between --session sessions/ --model my-model -- my-gateway --config gateway.yaml
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
pub(in crate::cli) struct BetweenArgs {
    /// Tests to run: part of a name, a whole name, or /REGEX/ [default: all].
    #[arg(value_name = "FILTER")]
    filter: Vec<String>,
    /// Command that starts the gateway, after `--`.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
    /// Test the suite's own translator, which is right in everything, instead of a gateway.
    #[arg(long = "self", conflicts_with_all = ["gateway", "command"], help_heading = GATEWAY, hide_short_help = true)]
    is_self: bool,
    /// APIs of the client: responses, messages, chat, gemini, all [default: those that the gateway answers].
    #[arg(long, value_name = "API", value_delimiter = ',', value_parser = api_or_all(), hide_possible_values = true, help_heading = GATEWAY)]
    front: Vec<String>,
    /// APIs of the upstream: responses, messages, chat, gemini, all [default: those in which the gateway asks].
    #[arg(long, value_name = "API", value_delimiter = ',', value_parser = api_or_all(), hide_possible_values = true, help_heading = GATEWAY)]
    upstream: Vec<String>,
    /// URL of the gateway; without a version, each API has its own [default with a command: `http://127.0.0.1:GATEWAY_PORT`].
    #[arg(long, value_name = "URL", help_heading = GATEWAY)]
    gateway: Option<String>,
    /// Port of this machine for the scripted upstream [default with a command: a free one].
    #[arg(long, value_name = "PORT", help_heading = GATEWAY)]
    upstream_port: Option<u16>,
    /// Agents whose sessions are played instead of the cases: claude-code, codex, opencode and others, or all.
    ///
    /// Each request is what the agent would send after the answers that came back, with its headers, tools and cache marks.
    /// Rules of the groups cache, session and contract judge both ends. docs/sessions.md has the agents.
    #[arg(long, value_name = "AGENT", value_delimiter = ',', value_parser = agent_or_all(), hide_possible_values = true, conflicts_with = "session", help_heading = GATEWAY)]
    profile: Vec<String>,
    /// Recorded session, or folder of sessions, to replay instead of the cases; repeatable.
    ///
    /// The requests of an agent are sent through the gateway as they were recorded, and the upstream gives the recorded
    /// answers. Rules of the groups cache, session and contract judge both ends. docs/sessions.md has the form.
    #[arg(long, value_name = "PATH", help_heading = GATEWAY)]
    session: Vec<PathBuf>,
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
    #[command(flatten)]
    declared: DeclaredArgs,
    /// API key for the gateway; prefer the variable `CONFORMANCE_API_KEY` [default: a made-up key].
    #[arg(long, value_name = "KEY", help_heading = GATEWAY, hide_short_help = true)]
    api_key: Option<String>,
    /// Header to send with each request.
    #[arg(long, value_name = "'NAME: VALUE'", help_heading = GATEWAY, hide_short_help = true)]
    header: Vec<String>,
    /// Time until a started gateway must answer [default: 120s].
    #[arg(long, value_name = "TIME", value_parser = some_time, help_heading = GATEWAY, hide_short_help = true)]
    start_timeout: Option<Duration>,
    #[command(flatten)]
    tests: TestsArgs,
    /// Tests to run at once [default: 4].
    #[arg(long, value_name = "N", value_parser = count(256), help_heading = LIMITS)]
    jobs: Option<usize>,
    /// Time limit for a response [default: 20s].
    ///
    /// It must be longer than the gateway waits for its upstream: a gateway that does not end within it then breaks
    /// fault/hung, also if its upstream only stalls. Without this flag, that is a SHOULD.
    #[arg(long, value_name = "TIME", value_parser = some_time, help_heading = LIMITS)]
    timeout: Option<Duration>,
    /// Time limit for what the upstream waits for, such as a client that must see an event before the next one [default: 2s].
    #[arg(long, value_name = "TIME", value_parser = some_time, help_heading = LIMITS, hide_short_help = true)]
    limit: Option<Duration>,
    #[command(flatten)]
    budget: BudgetArgs,
    #[command(flatten)]
    verdict: VerdictArgs,
    #[command(flatten)]
    expected: ExpectedArgs,
    #[command(flatten)]
    folder: OutArgs,
    #[command(flatten)]
    play: PlayArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    settings: SettingsArgs,
    /// Apply headers and keys of conformance.toml to a gateway on another machine, too.
    #[arg(long, hide_short_help = true)]
    trust_config: bool,
}

const GATEWAY: &str = "Gateway";
/// The usual limit of a response, and of what the upstream waits for.
const WAITS: [Duration; 2] = [Duration::from_secs(20), Duration::from_secs(2)];
/// Number of tests to run at once.
const JOBS: usize = 4;

impl CommandArgs for BetweenArgs {
    fn run(mut self) -> Result<ExitCode> {
        let again = match self.tests.rerun_failed.clone() {
            Some(folder) => Some(self.repeat(&folder)?),
            None => None,
        };
        let rules = levels::rules();
        let expected = self.expected.of_tests(|name| known_rule(&rules, name))?;
        let levels = self.verdict.changes(&rules)?;
        self.check()?;
        let plays = self.play.check()?;
        let mut settings = self.settings(again.as_ref())?;
        if self.tests.list {
            return list(&settings);
        }
        if let Some(folder) = &self.folder.out {
            between::folder::make_room(folder, self.folder.replace)
                .with_context(|| folder.display().to_string())?;
        }
        let scratch = if plays && self.folder.out.is_none() { Some(Scratch::new("between")?) } else { None };
        if let Some(scratch) = &scratch {
            settings.out = Some(scratch.path().to_owned());
        }
        let machine = RunRuntime::start()?;
        let played = self.play(&mut settings, again.as_ref(), &machine);
        if let (Err(_), Some(folder)) = (&played, &self.folder.out) {
            harness::evidence::release(folder, between::folder::REPORT);
        }
        let mut run = played?;
        run.typed = Some(typed(&settings));
        run.fail_on = self.verdict.fail_on();
        run.levels = levels;
        run.folder = self.folder.out.as_ref().map(|folder| folder.display().to_string());
        let mut run = run.expecting(&expected);
        // Played clients are added after this: `verify` rebuilds the report from recordings alone.
        if let Some(folder) = &self.folder.out {
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
        self.output.print_run(&run, self.tests.all_tests)?;
        if machine.is_interrupted() {
            return Ok(ExitCode::from(NOT_DONE));
        }
        if self.expected.write("between", &run, &expected)? {
            return Ok(ExitCode::SUCCESS);
        }
        Ok(exit_code(run.outcome))
    }
}

impl BetweenArgs {
    fn agents(&self) -> Vec<&'static AgentProfile> {
        let is_named =
            |agent: &&AgentProfile| self.profile.iter().any(|name| name == ALL || name == agent.name());
        AGENT_PROFILES.iter().filter(is_named).collect()
    }

    fn check(&self) -> Result<()> {
        if self.tests.list {
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
        let needs_port = self.gateway.is_some() && self.command.is_empty() && !self.is_local();
        if needs_port && self.upstream_port.is_none() {
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

    /// Whoever gives such a flag has forgotten the gateway, and must not be told that it passed.
    fn flag_of_a_gateway(&self) -> Option<&'static str> {
        [
            ("--front", !self.front.is_empty()),
            ("--upstream", !self.upstream.is_empty()),
            ("--upstream-port", self.upstream_port.is_some()),
            ("--model", self.model.is_some()),
            ("--name", self.name.is_some()),
            ("--mode", !self.mode.is_empty()),
            ("--api-key", self.api_key.is_some()),
            ("--header", !self.header.is_empty()),
            ("--start-timeout", self.start_timeout.is_some()),
            ("--expected-failures", self.expected.expected_failures.is_some()),
            ("--write-expected-failures", self.expected.write_expected_failures.is_some()),
            ("--out", self.folder.out.is_some()),
        ]
        .into_iter()
        .chain(self.declared.given())
        .find_map(|(flag, is_given)| is_given.then_some(flag))
    }
}

fn keep(folder: &Path, run: &BetweenRun) -> Result<()> {
    let report = reports::json(run);
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

/// As it was typed, without secrets.
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

fn list(settings: &Settings) -> Result<ExitCode> {
    let title = |id: &str| BETWEEN_CASES.iter().find(|case| case.id == id).map_or("", |case| case.title);
    let tests = between::tests(settings);
    let lines =
        tests.iter().map(|test| format!("{:48} {}\n", test.name, title(test.case.id)).replace(" \n", "\n"));
    print(&lines.collect::<String>())?;
    Ok(ExitCode::SUCCESS)
}

//! `conformance client`: the suite for clients.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use clap::Args;
use spec::Dialect;

use super::explain;
use crate::cli::flags::expected::ExpectedArgs;
use crate::cli::flags::live::transports;
use crate::cli::flags::output::OutputArgs;
use crate::cli::flags::selection::{OutArgs, TestsArgs};
use crate::cli::flags::target::{LIMITS, SettingsArgs, count, some_time};
use crate::cli::flags::verdict::{VerdictArgs, known_rule};
use crate::cli::input::saved::read_client;
use crate::cli::input::{known, names};
use crate::cli::{CommandArgs, exit_code, print, print_bytes};
use catalogue::CLIENT_RULES;
use clients::{
    ClientSuite, Mode, REPORT, client_profiles, demanded_cases, is_of_api, keep_run, make_room, transport,
};
use harness::evidence::release;
use harness::suite::Selection;
use results::{ClientTest, Outcome, Transport};

const EXAMPLES: &str = "\
Examples:
  conformance client -- python3 examples/client.py
  conformance client text/ call/ --transport sse -- node my_client.mjs
  conformance client --api messages -- python3 my_client.py
  conformance client --mode spawn -- my-cli --base-url
  conformance client --mode server --port 8090 --name my-app
  conformance client --out run/ -- ./my-client && conformance report run/ --format html --output client.html
  conformance client --rerun-failed run/
  conformance client --show defect/cr_only | conformance check -";

/// Tests a client: plays sound, unusual and broken responses to it.
///
/// The client gets each case and replies with what it understood; docs/clients.md explains the protocol. A case ends
/// right, reported (an error where one is allowed), fragile (an error or a crash where it should survive), wrong (another
/// answer without an error), silent (no error where one is due) or hung.
///
/// Exit codes: 0 if nothing failed, 1 if a case is wrong, silent or hung (with --fail-on should also fragile, and invalid
/// requests), an expected failure passed, or a profile of --profile did not pass, 2 if the client could not be tested.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(in crate::cli) struct ClientArgs {
    /// Cases to run: part of a name, or /REGEX/ [default: all].
    #[arg(value_name = "FILTER")]
    filter: Vec<String>,
    /// Command of the client, after `--`.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
    /// How the client is driven [default: lines].
    #[arg(long, value_parser = known::one_of(MODES, Mode::name))]
    mode: Option<Mode>,
    /// API that the client speaks: responses, messages, chat, gemini [default: responses].
    #[arg(long, value_name = "API", value_parser = known::APIS, hide_possible_values = true, conflicts_with = "dialect")]
    api: Option<String>,
    /// Dialect the server speaks [default: the usual one of the API].
    #[arg(long, value_name = "NAME", value_parser = known::DIALECTS, hide_possible_values = true)]
    dialect: Option<String>,
    /// Transports: sse, json, websocket [default: sse,json].
    #[arg(long, value_name = "TRANSPORT", value_delimiter = ',', value_parser = transports(), hide_possible_values = true)]
    transport: Vec<Transport>,
    /// Profiles to judge the client by; only their cases are sent [default: all profiles, and all cases].
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = known::CLIENT_PROFILES, hide_possible_values = true)]
    profile: Vec<String>,
    #[command(flatten)]
    tests: TestsArgs,
    /// Also play streams with each member of each event absent, null, or of another type, and the streams that cases edit,
    /// intact.
    #[arg(long)]
    members: bool,
    /// Print the bytes that a case plays, and what it expects.
    ///
    /// On a terminal, both are printed, with invisible characters escaped. Otherwise stdout gets the bytes as they are, and
    /// stderr the rest.
    #[arg(long, value_name = "CASE", conflicts_with_all = ["list", "filter", "rerun_failed"])]
    show: Option<String>,
    /// Clients to run at once [default: up to 4, by processors].
    #[arg(long, value_name = "N", value_parser = count(256), help_heading = LIMITS)]
    jobs: Option<usize>,
    /// Time limit for a case [default: 5s, shorter where the server stalls].
    #[arg(long, value_name = "TIME", value_parser = some_time, help_heading = LIMITS)]
    timeout: Option<Duration>,
    #[command(flatten)]
    verdict: VerdictArgs,
    #[command(flatten)]
    expected: ExpectedArgs,
    #[command(flatten)]
    folder: OutArgs,
    /// Name of the client in reports [default: the command].
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Version of the client in reports.
    #[arg(long, value_name = "VERSION")]
    client_version: Option<String>,
    /// Port for --mode server; 0 picks a free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Origin of web pages that may fetch cases in --mode server; repeatable [default: pages of this machine].
    #[arg(long = "cors", value_name = "ORIGIN", hide_short_help = true)]
    origins: Vec<String>,
    /// Time to wait for a client in --mode server.
    #[arg(long, value_name = "TIME", default_value = "300s", value_parser = some_time)]
    patience: Duration,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    settings: SettingsArgs,
}

const MODES: &[(Mode, &str)] = &[
    (Mode::Lines, "One process gets all cases, as JSON lines on stdin"),
    (Mode::Spawn, "One process for each case, with the base URL as last argument"),
    (Mode::Server, "The client fetches its cases over HTTP"),
];

impl CommandArgs for ClientArgs {
    fn run(mut self) -> Result<ExitCode> {
        names::client_profiles(&self.profile)?;
        if let Some(name) = &self.show {
            return self.show(name);
        }
        let again = match self.tests.rerun_failed.clone() {
            Some(folder) => Some(self.repeat(&folder)?),
            None => None,
        };
        let suite = self.suite()?;
        if let Some(profile) = client_profiles(&self.profile)
            .find(|profile| !self.profile.is_empty() && !is_of_api(profile, suite.dialect))
        {
            let of = profile.specifications.iter().find_map(|name| spec::dialect(name));
            let api = of.map_or("another API", |of| of.api.title);
            let (dialect, title) = (suite.dialect.name, suite.dialect.api.title);
            bail!("--profile {} is for {api}, but the dialect {dialect} is one of {title}", profile.name);
        }
        let selection = Selection::new(&self.filter, &self.tests.skip, false, suite.dialect);
        let selection = selection.map_err(|problem| anyhow!(problem))?;
        let of_profiles: Vec<String> = client_profiles(&self.profile)
            .flat_map(|profile| demanded_cases(profile, suite.dialect))
            .collect();
        let mut cases =
            suite.cases(&|name| self.profile.is_empty() || of_profiles.iter().any(|one| one == name));
        if let Some(again) = &again {
            cases.retain(|case| again.contains(&case.name));
        }
        if cases.is_empty() {
            bail!("there are no client cases in {} over these transports", suite.dialect.name);
        }
        let all: Vec<String> = cases.iter().map(|case| case.name.clone()).collect();
        if !selection.is_everything()
            && let Some(problem) = selection.problem(&all)
        {
            bail!(problem);
        }
        cases.retain(|case| selection.includes(&case.name));
        if let Some(shard) = self.tests.shard {
            // A case is compared with the intact stream, which must be in the same part.
            cases.retain(|case| shard.has_case(case.control.as_deref().unwrap_or(&case.name)));
        }
        if cases.is_empty() {
            bail!(self.tests.none_left());
        }
        if self.tests.list {
            let lines = cases
                .iter()
                .map(|case| format!("{:40} {:12} {}\n", case.name, case.expect.name(), case.title));
            print(&lines.collect::<String>())?;
            return Ok(ExitCode::SUCCESS);
        }
        if self.command.is_empty() && suite.mode != Mode::Server {
            bail!(
                "pass the command of the client after `--`, as in: conformance client -- python3 examples/client.py"
            );
        }
        let listening = |address: &str| {
            // A closed stderr is no reason to fail.
            let _ = writeln!(
                io::stderr().lock(),
                "POST {address}/next returns a case, POST {address}/result takes the reply"
            );
        };
        if let Some(folder) = &self.folder.out {
            // This loads its dialect.
            let old = read_client(folder).ok().flatten();
            make_room(folder, old.as_ref(), self.folder.replace)
                .with_context(|| folder.display().to_string())?;
        }
        let run = suite.run(cases, &listening);
        if let (Err(_), Some(folder)) = (&run, &self.folder.out) {
            release(folder, REPORT);
        }
        let mut run = run?;
        run.folder = self.folder.out.as_ref().map(|folder| folder.display().to_string());
        if let Some(folder) = &self.folder.out {
            keep_run(folder, &run, &reports::json(&run)).with_context(|| folder.display().to_string())?;
        }
        self.output.print_run(&run, self.tests.all_tests)?;
        if self.expected.write("client", &run, &suite.expected)? {
            return Ok(ExitCode::SUCCESS);
        }
        Ok(match run.outcome {
            // The client was tested, and does not have what it was asked for.
            Outcome::Incomplete if !run.is_untested() => ExitCode::from(1),
            outcome => exit_code(outcome),
        })
    }
}

impl ClientArgs {
    fn dialect(&self) -> Result<&'static Dialect> {
        match (&self.dialect, &self.api) {
            (Some(name), _) => names::spoken(names::dialect(name)?),
            (None, Some(api)) => names::dialect_of_api(api),
            (None, None) => match self.specification() {
                Some(name) => names::dialect(name),
                None => names::usual().next().context("this build has no dialect"),
            },
        }
    }

    /// `None` if a profile is for the usual dialect.
    fn specification(&self) -> Option<&'static str> {
        let specifications = || client_profiles(&self.profile).flat_map(|profile| profile.specifications);
        let usual = names::usual().next().map(|dialect| dialect.name);
        let is_usual = specifications().any(|name| Some(*name) == usual);
        specifications().next().copied().filter(|_| !is_usual)
    }

    fn show(&self, name: &str) -> Result<ExitCode> {
        let dialect = self.dialect()?;
        let (case, dialect) = names::client_case(name, dialect)?;
        let responses = case.responses();
        if io::stdout().is_terminal() {
            let mut text = explain::case::case(&case, dialect, self.output.color.screen(&io::stdout()));
            for response in &responses {
                text.push('\n');
                text += &explain::case::visible_bytes(&response.bytes);
            }
            print(&text)?;
            return Ok(ExitCode::SUCCESS);
        }
        // A closed stderr is no reason to fail.
        let page = explain::case::case(&case, dialect, self.output.color.screen(&io::stderr()));
        let _ = io::stderr().lock().write_all(page.as_bytes());
        print_bytes(&responses.into_iter().map(|response| response.bytes).collect::<Vec<_>>().concat())?;
        Ok(ExitCode::SUCCESS)
    }

    /// Settings that the user gave stay. The result is the failed cases of the run.
    fn repeat(&mut self, folder: &Path) -> Result<BTreeSet<String>> {
        let run = read_client(folder)?
            .with_context(|| format!("{} is not a folder that `client --out` wrote", folder.display()))?;
        self.verdict.repeat(run.fail_on, &run.levels);
        let failed: Vec<&ClientTest> = run.failed().collect();
        if failed.is_empty() {
            bail!("no test failed in {}", folder.display());
        }
        if self.command.is_empty() {
            self.command = run.command.iter().map(OsString::from).collect();
        }
        if self.mode.is_none() {
            self.mode = MODES.iter().map(|(mode, _)| *mode).find(|mode| mode.name() == run.mode);
        }
        if self.api.is_none() {
            self.dialect.get_or_insert(run.dialect.clone());
        }
        self.name.get_or_insert(run.client.clone());
        self.timeout = self.timeout.or(run.timeout.map(Duration::from_millis));
        if self.transport.is_empty() {
            self.transport = failed.iter().map(|case| case.about.transport).collect();
        }
        Ok(failed.into_iter().map(|case| case.name.clone()).collect())
    }

    fn suite(&self) -> Result<ClientSuite> {
        let of_profiles = || client_profiles(&self.profile).flat_map(|profile| profile.transports);
        let transports: Vec<Transport> = match &*self.transport {
            [] if self.profile.is_empty() => vec![Transport::Sse, Transport::Json],
            [] => of_profiles().map(|channel| transport(*channel)).collect(),
            named => named.to_vec(),
        };
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let rules: Vec<_> = CLIENT_RULES.iter().map(|rule| (rule.id, rule.level)).collect();
        let words: Vec<String> =
            self.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let name = match (&self.name, words.is_empty()) {
            (Some(name), _) => name.clone(),
            (None, true) => "client".to_owned(),
            (None, false) => words.join(" "),
        };
        Ok(ClientSuite {
            dialect: self.dialect()?,
            command: self.command.clone(),
            mode: self.mode.unwrap_or_default(),
            transports,
            jobs: self.jobs.unwrap_or_else(|| processors.min(4)).max(1),
            timeout: self.timeout,
            fail_on: self.verdict.fail_on(),
            levels: self.verdict.changes(&rules)?,
            profiles: self.profile.clone(),
            is_part: !self.filter.is_empty()
                || !self.tests.skip.is_empty()
                || self.tests.rerun_failed.is_some(),
            shard: self.tests.shard,
            name,
            version: self.client_version.clone(),
            expected: self.expected.of_tests(|name| known_rule(&rules, name))?,
            out: self.folder.out.clone(),
            port: self.port,
            origins: self.origins.clone(),
            has_members: self.members,
            patience: self.patience,
        })
    }
}

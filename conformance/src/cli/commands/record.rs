//! `conformance record`: records one exchange with an endpoint.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use catalogue::SCENARIOS;
use clap::{ArgGroup, Args};
use tokio::time::Instant;

use crate::cli::flags::target::{TargetArgs, TrustArgs};
use crate::cli::input::{known, names};
use crate::cli::message::note;
use crate::cli::{CommandArgs, NOT_DONE};
use checker::{Exchange, Recognised, Request, RuleSets, apis_of_request, fallback};
use harness::live::{RunRuntime, is_reference_gateway};
use harness::plan::{Call, PreviousResponse, RequestContext, Seed, filled, not_given};
use recordings::Checking;
use recordings::capture::Format;
use results::AUTO;
use results::text::{counted, visible};
use spec::Api;

/// Sends one request and records the exchange, without secrets.
///
/// The request is one of the Responses API, of Anthropic Messages, or of Chat Completions: as the path of the target, its host,
/// or the body shows. Reports to stderr what was recorded, and as which dialect `conformance check` recognises it.
///
/// Exit codes: 0 if there was a response (whatever it contains), 2 if there was none.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("sent").required(true))]
pub(in crate::cli) struct RecordArgs {
    /// Endpoint: its URL, with or without /v1, or a name in conformance.toml.
    #[arg(long, value_name = "URL|NAME", help_heading = crate::cli::flags::target::HEADING)]
    target: String,
    #[command(flatten)]
    to: TargetArgs,
    #[command(flatten)]
    _trust: TrustArgs,
    /// Dialect of the endpoint, of `conformance list dialects` or of a folder, such as ./acme; `auto` takes its API from the URL and the body.
    #[arg(long, value_name = "NAME", default_value = AUTO, value_parser = known::DIALECTS_OR_AUTO, hide_possible_values = true, help_heading = crate::cli::flags::target::HEADING)]
    dialect: String,
    /// Scenario to send, of `conformance list scenarios`.
    #[arg(long, value_name = "NAME", group = "sent", value_parser = known::SCENARIOS, hide_possible_values = true)]
    scenario: Option<String>,
    /// File with the request body. The model `default` is replaced by --model.
    #[arg(long, value_name = "FILE", group = "sent")]
    body: Option<PathBuf>,
    /// Id of the response that the scenario continues or refers to.
    #[arg(long, value_name = "ID", requires = "scenario")]
    previous: Option<String>,
    /// Write the exchange to this file instead of stdout.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl CommandArgs for RecordArgs {
    fn run(self) -> Result<ExitCode> {
        let (call, api) = self.call(false)?;
        let machine = RunRuntime::start()?;
        let client = self.to.client(&self.target, api, &machine)?;
        // Only the reference gateway gets the directives of a scenario.
        let (with_directives, _) = self.call(true)?;
        let asks = with_directives != call && client.target().is_local();
        let is_reference = asks && machine.runtime().block_on(is_reference_gateway(&client));
        let call = if is_reference { with_directives } else { call };
        let mut out: Box<dyn Write + Send> = match &self.out {
            Some(path) => Box::new(File::create(path).with_context(|| path.display().to_string())?),
            None => Box::new(io::stdout()),
        };
        let mut recording = String::new();
        let by = Instant::now() + client.limits().total;
        let outcome = machine.runtime().block_on(client.send(&call, by, &mut |line| {
            recording += line;
        }));
        // A secret may be split over events: redact the whole text.
        let recording = client.target().hidden(&recording);
        out.write_all(recording.as_bytes()).and_then(|()| out.flush())?;
        note(&seen(recording.as_bytes()));
        Ok(if outcome.status.is_some() { ExitCode::SUCCESS } else { ExitCode::from(NOT_DONE) })
    }
}

fn seen(recording: &[u8]) -> String {
    let no_rules = RuleSets::new(BTreeMap::new(), |_| false);
    let mut checking = Checking::recognising(&no_rules, false);
    let report = checking.check("recording".to_owned(), &mut &*recording, Some(Format::Exchange));
    let dialects = reports::dialects_of(&report).map(|dialects| format!("; dialect {dialects}"));
    let what = match &report.error {
        Some(problem) => return format!("note: {}", visible(problem)),
        None if report.streams > 0 => format!("a stream of {}", counted(report.events, "event")),
        None if report.bodies > 0 => "a response without a stream".to_owned(),
        None => "no response".to_owned(),
    };
    format!("note: recorded {what}{}", dialects.unwrap_or_default())
}

impl RecordArgs {
    fn call(&self, has_directives: bool) -> Result<(Call, &'static Api)> {
        if let Some(path) = &self.body {
            let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
            serde_json::from_str::<serde::de::IgnoredAny>(&text)
                .with_context(|| path.display().to_string())?;
            let api = self.api(&text)?;
            return Ok((Call::create(api, filled(&text, self.to.model(api))), api));
        }
        let id = self.scenario.as_deref().unwrap_or_default();
        let dialect = names::dialect(if self.dialect == AUTO { "openai" } else { &self.dialect })?;
        let scenario =
            catalogue::scenario_in(id, dialect).or_else(|| catalogue::scenario(id)).ok_or_else(|| {
                let hint = names::meant(id, SCENARIOS.iter().map(|scenario| scenario.id));
                anyhow!("there is no scenario \"{id}\"{hint}; `conformance list scenarios` lists them all")
            })?;
        let before = self.previous.clone().map(|id| PreviousResponse { id, ..PreviousResponse::default() });
        let given = self.to.given();
        if let Some(missing) = not_given(scenario, &given) {
            bail!("{id} cannot be sent: {}", missing.reason);
        }
        let own = spec::APIS.iter().copied().find(|api| scenario.api == Some(api.name));
        let api = own.unwrap_or(dialect.api);
        let seed = Seed::NONE.directives(has_directives);
        let asked = RequestContext { model: self.to.model(api), given: &given, number: 1, seed: &seed };
        Ok((Call::of(scenario, api, &asked, before.as_ref(), false), api))
    }

    fn api(&self, body: &str) -> Result<&'static Api> {
        if self.dialect != AUTO {
            return Ok(names::dialect(&self.dialect)?.api);
        }
        let request = Request { url: (&*self.target).into(), body: Some(body.into()), ..Request::default() };
        let exchange = Exchange { request: Some(request), ..Exchange::default() };
        if let Some(found) = Recognised::of_request(&exchange) {
            return Ok(found.dialect.api);
        }
        if apis_of_request(body).len() > 1 {
            bail!(
                "the body can be a request of several APIs: choose one with --dialect, or with the path of --target, \
                 such as /v1/messages"
            );
        }
        Ok(fallback(None).context("this build has no dialect")?.api)
    }
}

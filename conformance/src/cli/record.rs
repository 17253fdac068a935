//! `conformance record`: records one exchange with an endpoint.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use catalogue::SCENARIOS;
use clap::Args;
use tokio::time::Instant;

use super::config::TrustArgs;
use super::target::TargetArgs;
use super::{CommandArgs, NOT_DONE, known, names};
use harness::live::RunRuntime;
use harness::plan::{Call, PreviousResponse, RequestContext, Seed, filled, not_given};
use spec::Api;

/// Sends one request and records the exchange, without secrets.
///
/// Exit codes: 0 if there was a response (whatever it contains), 2 if there was none.
#[derive(Debug, Args)]
pub(super) struct RecordArgs {
    /// Endpoint: its URL, with or without /v1, or a name in conformance.toml.
    #[arg(long, value_name = "URL|NAME", help_heading = super::target::HEADING)]
    target: String,
    #[command(flatten)]
    to: TargetArgs,
    #[command(flatten)]
    _trust: TrustArgs,
    /// Scenario to send, of `conformance list scenarios`.
    #[arg(long, value_name = "NAME", value_parser = known::SCENARIOS, hide_possible_values = true, required_unless_present = "body", conflicts_with = "body")]
    scenario: Option<String>,
    /// File with the request body. The model `default` is replaced by --model.
    #[arg(long, value_name = "FILE")]
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
        let call = self.call()?;
        let machine = RunRuntime::start()?;
        let client = self.to.client(&self.target, api()?, &machine)?;
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
        out.write_all(client.target().hidden(&recording).as_bytes()).and_then(|()| out.flush())?;
        Ok(if outcome.status.is_some() { ExitCode::SUCCESS } else { ExitCode::from(NOT_DONE) })
    }
}

/// Returns the API of the endpoint, which no flag names.
fn api() -> Result<&'static Api> {
    Ok(names::dialect("openai")?.api)
}

impl RecordArgs {
    fn call(&self) -> Result<Call> {
        if let Some(path) = &self.body {
            let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
            serde_json::from_str::<serde::de::IgnoredAny>(&text)
                .with_context(|| path.display().to_string())?;
            return Ok(Call::create(filled(&text, self.to.model())));
        }
        let id = self.scenario.as_deref().unwrap_or_default();
        let scenario = catalogue::scenario(id).ok_or_else(|| {
            let hint = names::meant(id, SCENARIOS.iter().map(|scenario| scenario.id));
            anyhow!("there is no scenario \"{id}\"{hint}; `conformance list scenarios` lists them all")
        })?;
        let before = self.previous.clone().map(|id| PreviousResponse { id, ..PreviousResponse::default() });
        let given = self.to.given();
        if let Some(missing) = not_given(scenario, &given) {
            bail!("{id} cannot be sent: {}", missing.reason);
        }
        let asked = RequestContext { model: self.to.model(), given: &given, number: 1, seed: &Seed::NONE };
        Ok(Call::of(scenario, api()?, &asked, before.as_ref(), false))
    }
}

//! Flags of the endpoint and its limits.

use std::env;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use clap::Args;
use clap::builder::RangedU64ValueParser;

use crate::cli::input::{names, small_file};
use harness::live::RunRuntime;
use harness::plan::{Given, wanted};
use harness::wire::{Client, Limits, Target};
use results::Options;
use spec::Api;

pub(in crate::cli) const HEADING: &str = "Endpoint";
/// The environment variable with the API key.
pub(in crate::cli) const KEY: &str = "CONFORMANCE_API_KEY";
/// The heading of the flags about time and size.
pub(in crate::cli) const LIMITS: &str = "Pace and limits";

/// The settings of a command.
#[derive(Debug, Args)]
pub(in crate::cli) struct SettingsArgs {
    /// Settings file [default: conformance.toml here, or above in the repository].
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    config: Option<PathBuf>,
}

/// Whether the configuration file is trusted.
#[derive(Debug, Args)]
pub(in crate::cli) struct TrustArgs {
    /// Apply all of conformance.toml to a URL given with --target.
    ///
    /// The file may have come with a repository. With a URL, headers and keys that it takes from environment
    /// variables, and its CA certificates, are left out unless you trust it. A target chosen by its name gets all of
    /// its settings.
    #[arg(long, help_heading = HEADING, hide_short_help = true)]
    trust_config: bool,
    /// Settings file [default: conformance.toml here, or above in the repository].
    #[arg(long, value_name = "FILE", requires = "target", help_heading = HEADING, hide_short_help = true)]
    config: Option<PathBuf>,
}

/// Which endpoint to test, and its limits. A TIME is `30s`, `500ms` or `2m`.
#[derive(Debug, Args)]
pub(in crate::cli) struct TargetArgs {
    /// Model to request; API=NAME for one API [default: the first that GET /models lists].
    #[arg(long, value_name = "NAME", help_heading = HEADING)]
    model: Vec<String>,
    /// Resource that only you can provide, such as vector-store=vs_1.
    ///
    /// `vector-store`: id of a vector store. `mcp-server`, `failing-mcp-server`: URLs of MCP servers, the second with
    /// tools that fail. `down-model`, `failing-model`, `limited-model`: models that fail before a stream, within
    /// one, or with status 429; `default` stands for the model of --model. Scenarios that need a missing
    /// resource are skipped.
    #[arg(long, value_name = "NAME=VALUE", value_parser = named, help_heading = HEADING, hide_short_help = true)]
    given: Vec<(String, String)>,
    /// Bearer token; prefer the variable `CONFORMANCE_API_KEY`.
    #[arg(long, value_name = "KEY", help_heading = HEADING)]
    api_key: Option<String>,
    /// Header to send with each request.
    #[arg(long, value_name = "'NAME: VALUE'", help_heading = HEADING)]
    header: Vec<String>,
    /// PEM file with additional certificates to trust: of authorities, or of the endpoint itself.
    #[arg(long, value_name = "FILE", help_heading = HEADING, hide_short_help = true)]
    ca_file: Option<PathBuf>,
    /// Connection timeout.
    #[arg(long, value_name = "TIME", value_parser = some_time, default_value = "10s", help_heading = LIMITS, hide_short_help = true)]
    connect_timeout: Duration,
    /// Timeout from the request to the end of the first event.
    #[arg(long, value_name = "TIME", value_parser = some_time, default_value = "60s", help_heading = LIMITS, hide_short_help = true)]
    first_event_timeout: Duration,
    /// Timeout between two events; comments count as events.
    #[arg(long, value_name = "TIME", value_parser = some_time, default_value = "60s", help_heading = LIMITS, hide_short_help = true)]
    idle_timeout: Duration,
    /// Timeout for a whole response.
    ///
    /// It includes waiting and retries after Retry-After.
    #[arg(long, value_name = "TIME", value_parser = some_time, default_value = "300s", help_heading = LIMITS)]
    timeout: Duration,
    /// Largest response to read.
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().bytes, help_heading = LIMITS, hide_short_help = true)]
    max_bytes: usize,
}

impl TargetArgs {
    pub(in crate::cli) fn target(&self, base: &str, api: &'static Api) -> Result<Target> {
        let mut target = Target::new(base, api)?;
        let key = self.api_key.clone().or_else(|| env::var(KEY).ok());
        if let Some(key) = key.filter(|key| !key.is_empty()) {
            target = target.with_key(&key)?;
        }
        for header in &self.header {
            target = target.with_header(header)?;
        }
        if let Some(file) = &self.ca_file {
            let pem = small_file::bytes(file)?;
            target = target.with_authorities(&pem).with_context(|| file.display().to_string())?;
        }
        Ok(target)
    }

    /// Only the owner of the endpoint can provide them.
    pub(in crate::cli) fn given(&self) -> Given {
        self.given.iter().cloned().collect()
    }

    pub(in crate::cli) fn options(&self) -> Options {
        Options {
            connect_ms: self.connect_timeout.as_millis(),
            first_event_ms: self.first_event_timeout.as_millis(),
            idle_ms: self.idle_timeout.as_millis(),
            total_ms: self.timeout.as_millis(),
            bytes: self.max_bytes,
            ..Options::usual()
        }
    }

    /// Keys and headers do not belong in a file.
    pub(in crate::cli) fn secrets(&self) -> Vec<String> {
        let key = self.api_key.iter().map(|key| format!("--api-key={key}"));
        key.chain(self.header.iter().map(|header| format!("--header={header}"))).collect()
    }

    /// The model for the API wins over the one for all.
    pub(in crate::cli) fn model_of(&self, api: &Api) -> Option<&str> {
        let last = |of: Option<&str>| {
            let given = self.model.iter().rev().map(|text| model_of_api(text));
            given.into_iter().find(|(api, _)| *api == of).map(|(_, model)| model)
        };
        last(Some(api.name)).or_else(|| last(None))
    }

    pub(in crate::cli) fn models(&self) -> &[String] {
        &self.model
    }

    pub(in crate::cli) fn model(&self, api: &Api) -> &str {
        self.model_of(api).unwrap_or("default")
    }

    pub(in crate::cli) fn client(
        &self,
        base: &str,
        api: &'static Api,
        machine: &RunRuntime,
    ) -> Result<Client> {
        let client = Client::new(self.target(base, api)?, Limits::of(&self.options()), machine.interrupt());
        client.map_err(|problem| anyhow!(problem)).context("the HTTP client cannot be set up")
    }
}

/// Other names than `API=NAME` are models of all APIs.
pub(in crate::cli) fn model_of_api(text: &str) -> (Option<&str>, &str) {
    let is_api = |name: &str| spec::APIS.iter().any(|api| api.name == name);
    match text.split_once('=').filter(|(api, _)| is_api(api)) {
        Some((api, model)) => (Some(api), model),
        None => (None, text),
    }
}

fn named(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected a name and a value, as in vector-store=vs_1")?;
    let known = wanted();
    if !known.contains(name) {
        let all = known.iter().copied().collect::<Vec<_>>().join(", ");
        let hint = names::meant(name, known.iter().copied());
        return Err(format!("no scenario needs it{hint}; there are: {all}"));
    }
    Ok((name.to_owned(), value.to_owned()))
}

pub(in crate::cli) fn count(most: u64) -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=most)
}

/// Longest time that a flag takes: no sum of some of them with the present overflows.
const LONGEST: Duration = Duration::from_secs(30 * 24 * 60 * 60);

pub(in crate::cli) fn time(text: &str) -> Result<Duration, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| "expected a time such as 30s, 500ms or 2m".to_owned())?;
    let time = match unit {
        "ms" => Ok(Duration::from_millis(number)),
        "s" => Ok(Duration::from_secs(number)),
        "" => Err(format!("a time has a unit: write {number}s for seconds, or {number}ms for milliseconds")),
        "m" => Ok(Duration::from_secs(number.saturating_mul(60))),
        "h" => Ok(Duration::from_secs(number.saturating_mul(60 * 60))),
        "d" => Ok(Duration::from_secs(number.saturating_mul(24 * 60 * 60))),
        _ => Err(format!("there is no unit \"{unit}\"; there are ms, s, m, h and d")),
    }?;
    if time > LONGEST {
        return Err("the longest time is 30d".to_owned());
    }
    Ok(time)
}

/// Not zero.
pub(in crate::cli) fn some_time(text: &str) -> Result<Duration, String> {
    let time = time(text)?;
    if time.is_zero() { Err("nothing can be done within no time".to_owned()) } else { Ok(time) }
}

pub(in crate::cli) fn seconds(most: u64) -> impl Fn(&str) -> Result<u64, String> + Clone + Send + Sync {
    move |text| {
        let time = some_time(text)?;
        match time.as_secs() {
            seconds if time.subsec_nanos() == 0 && seconds <= most => Ok(seconds),
            _ => Err(format!("expected whole seconds, up to {most}s")),
        }
    }
}

pub(in crate::cli) fn is_on_this_machine(url: &str) -> bool {
    let target = spec::APIS.first().and_then(|api| Target::new(url, api).ok());
    target.is_some_and(|target| target.is_local())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_can_be_of_one_api() {
        assert_eq!(model_of_api("messages=a=b"), (Some("messages"), "a=b"));
        assert_eq!(model_of_api("a=b"), (None, "a=b"));
        assert_eq!(model_of_api("chat"), (None, "chat"));
    }
}

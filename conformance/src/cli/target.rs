//! Which endpoint to talk to, and how long it may take.

use std::path::PathBuf;
use std::time::Duration;
use std::{env, fs};

use anyhow::{Context, Result, anyhow};
use clap::Args;

use super::names;
use harness::live::{Client, Given, Limits, Machine, Target, wanted};

/// Which endpoint to talk to, and how long it may take. A TIME is `30s`, `500ms` or `2m`.
#[derive(Debug, Args)]
pub(super) struct TargetArgs {
    /// The model to ask for.
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub(super) model: String,
    /// What a scenario needs and only the owner of the endpoint can name: `vector-store`, the id of files that
    /// can be searched; `mcp-server`, the URL of an MCP server, and `failing-mcp-server`, of one whose tools
    /// fail; `down-model`, `failing-model` and `limited-model`, models that fail before a stream begins, within
    /// it, and with the status 429. `default` stands for the model to ask for.
    #[arg(long, value_name = "NAME=VALUE", value_parser = named)]
    given: Vec<(String, String)>,
    /// Sent as a bearer token. Better in the environment, as `CONFORMANCE_API_KEY`.
    #[arg(long, value_name = "KEY")]
    api_key: Option<String>,
    /// Sent with each request.
    #[arg(long, value_name = "'NAME: VALUE'")]
    header: Vec<String>,
    /// Authorities to trust, too, for the certificate of the endpoint: a file with certificates as PEM.
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// Until a connection stands.
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "10s")]
    connect_timeout: Duration,
    /// From a request to the end of the first event.
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "60s")]
    first_event_timeout: Duration,
    /// From the end of one event to that of the next, comments included.
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "60s")]
    idle_timeout: Duration,
    /// From a request to the end of the answer, with what Retry-After asks for.
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "300s")]
    timeout: Duration,
    /// Bytes that an answer may have.
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().bytes)]
    max_bytes: usize,
}

impl TargetArgs {
    /// The endpoint at an address.
    pub(super) fn target(&self, base: &str) -> Result<Target> {
        let mut target = Target::new(base)?;
        let key = self.api_key.clone().or_else(|| env::var("CONFORMANCE_API_KEY").ok());
        if let Some(key) = key.filter(|key| !key.is_empty()) {
            target = target.with_key(&key)?;
        }
        for header in &self.header {
            target = target.with_header(header)?;
        }
        if let Some(file) = &self.ca_file {
            let named = || file.display().to_string();
            let pem = fs::read(file).with_context(named)?;
            target = target.with_authorities(&pem).with_context(named)?;
        }
        Ok(target)
    }

    /// What only the owner of the endpoint can name.
    pub(super) fn given(&self) -> Given {
        self.given.iter().cloned().collect()
    }

    /// How long it may take.
    pub(super) const fn limits(&self) -> Limits {
        Limits {
            connect: self.connect_timeout,
            first_event: self.first_event_timeout,
            idle: self.idle_timeout,
            total: self.timeout,
            bytes: self.max_bytes,
        }
    }

    /// What talks to the endpoint.
    pub(super) fn client(&self, base: &str, machine: &Machine) -> Result<Client> {
        let client = Client::new(self.target(base)?, self.limits(), machine.interrupt());
        client.map_err(|problem| anyhow!(problem)).context("no connection can be made")
    }
}

/// Something given, with its name.
fn named(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected a name and a value, as in vector-store=vs_1")?;
    let known = wanted();
    if !known.contains(name) {
        let all = known.iter().copied().collect::<Vec<_>>().join(", ");
        let hint = names::meant(name, known.iter().copied());
        return Err(format!("no scenario needs it{hint}; what can be given is {all}"));
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// A time, such as `30s`.
pub(super) fn time(text: &str) -> Result<Duration, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| "expected a time such as 30s, 500ms or 2m".to_owned())?;
    match unit {
        "ms" => Ok(Duration::from_millis(number)),
        "" | "s" => Ok(Duration::from_secs(number)),
        "m" => Ok(Duration::from_secs(number.saturating_mul(60))),
        _ => Err(format!("there is no unit \"{unit}\"; there are ms, s and m")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(time("30"), Ok(Duration::from_secs(30)));
        assert_eq!(time("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(time("2m"), Ok(Duration::from_secs(120)));
        for wrong in ["", "s", "-1s", "1h", "1.5s"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_what_is_needed_can_be_given() {
        assert_eq!(named("down-model=a=b"), Ok(("down-model".to_owned(), "a=b".to_owned())));
        let unknown = named("dwon-model=a").unwrap_err();
        assert!(unknown.contains("did you mean down-model?") && unknown.contains("mcp-server"), "{unknown}");
    }
}

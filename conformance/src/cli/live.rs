//! The suite against an endpoint.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};
use catalogue::SCENARIOS;
use clap::{Args, ValueEnum};
use spec::Dialect;

use super::baseline::BaselineArgs;
use super::names;
use super::select::SelectArgs;
use super::target::{TargetArgs, time};
use crate::Suite;
use gateway::Settings;
use harness::live::Budget;
use results::Transport;

/// How the suite runs against an endpoint.
#[derive(Debug, Args)]
#[command(next_help_heading = "Against an endpoint")]
pub(super) struct LiveArgs {
    /// Run against this endpoint, instead of the reference gateway: its URL, with or without /v1.
    #[arg(long, value_name = "URL", group = "tested")]
    pub(super) target: Option<String>,
    #[command(flatten)]
    to: TargetArgs,
    /// How to send scenarios: the reference gateway is sent them in all ways, endpoints all but websocket.
    #[arg(long, value_name = "TRANSPORT", value_delimiter = ',', value_enum, conflicts_with = "capture")]
    transport: Vec<TransportName>,
    /// What the endpoint offers, instead of everything: names after the scenarios of `conformance list`.
    #[arg(long, value_name = "FEATURE", value_delimiter = ',', conflicts_with = "capture")]
    features: Option<Vec<String>>,
    /// Send and check only what these profiles demand: names of `conformance list profiles`.
    #[arg(long, value_name = "NAME", value_delimiter = ',', conflicts_with = "capture")]
    pub(super) profile: Vec<String>,
    /// How often to send a scenario that does not bring what it is there for.
    #[arg(long, value_name = "N", default_value_t = 3)]
    attempts: usize,
    /// How many scenarios to send at once.
    #[arg(long, value_name = "N", default_value_t = 1)]
    jobs: usize,
    /// How many requests to send at once of the scenarios about that, `crowd/`; a target gets one by itself
    /// unless more are wanted.
    #[arg(long, value_name = "N")]
    concurrent: Option<usize>,
    /// How long to wait from one request to the next.
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "0s")]
    delay: Duration,
    /// Send words that this seed chooses, so that answers cannot have been made before [default: random]
    #[arg(long, value_name = "TEXT")]
    seed: Option<String>,
    /// Send no more once the exchanges have so many bytes together [default: no limit]
    #[arg(long, value_name = "BYTES")]
    max_total_bytes: Option<u64>,
    /// Send no more once the run has taken this long [default: no limit]
    #[arg(long, value_name = "TIME", value_parser = time)]
    max_total_time: Option<Duration>,
    /// Let warnings fail, too.
    #[arg(long, conflicts_with = "capture")]
    strict: bool,
    #[command(flatten)]
    baseline: BaselineArgs,
    /// Keep every exchange, and what came of it, in this folder.
    #[arg(long, value_name = "DIR", conflicts_with = "capture")]
    out: Option<PathBuf>,
}

/// So many requests at once does the reference gateway get.
const CROWD: usize = 8;

impl LiveArgs {
    /// The suite against the endpoint, or against the reference gateway in each of these dialects.
    pub(super) fn suites(&self, dialects: &[&'static Dialect], select: &SelectArgs) -> Result<Vec<Suite>> {
        self.check_features()?;
        names::profiles(&self.profile)?;
        let mut suites = Vec::new();
        for dialect in dialects.iter().copied() {
            let suite = match &self.target {
                Some(base) => Suite::new(self.to.target(base)?, dialect),
                None => Suite::reference(Settings::new(dialect)),
            };
            let suite = self.configured(suite, select);
            let is_one_of_several = dialects.len() > 1;
            let suite = self.baseline.add(suite, is_one_of_several)?;
            suites.push(if is_one_of_several { suite.named() } else { suite });
        }
        Ok(suites)
    }

    fn configured(&self, suite: Suite, select: &SelectArgs) -> Suite {
        let mut suite = suite
            .model(&self.to.model)
            .limits(self.to.limits())
            .given(self.to.given())
            .profiles(&self.profile)
            .select(&select.select)
            .ignore(&select.ignore)
            .attempts(self.attempts)
            .jobs(self.jobs)
            .concurrent(self.concurrent.unwrap_or(if self.target.is_some() { 1 } else { CROWD }))
            .delay(self.delay)
            .budget(Budget { bytes: self.max_total_bytes, time: self.max_total_time })
            .strict(self.strict);
        if !self.transport.is_empty() {
            suite = suite.transports(self.transport.iter().copied().map(Transport::from));
        }
        if let Some(features) = &self.features {
            suite = suite.offering(features);
        }
        if let Some(seed) = &self.seed {
            suite = suite.seed(seed);
        }
        if let Some(out) = &self.out {
            suite = suite.out(out);
        }
        suite
    }

    fn check_features(&self) -> Result<()> {
        let known: BTreeSet<&str> =
            SCENARIOS.iter().flat_map(|scenario| scenario.features).copied().collect();
        let features = self.features.iter().flatten();
        for feature in features.filter(|feature| !feature.is_empty()) {
            if !known.contains(feature.as_str()) {
                let hint = names::meant(feature, known.iter().copied());
                let all = known.iter().copied().collect::<Vec<_>>().join(", ");
                bail!("there is no feature \"{feature}\"{hint}; there are: {all}");
            }
        }
        Ok(())
    }
}

/// A transport, by its name.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum TransportName {
    /// Streams of events over HTTP
    Sse,
    /// Answers in JSON over HTTP
    Json,
    /// Messages of a WebSocket
    Websocket,
}

impl From<TransportName> for Transport {
    fn from(name: TransportName) -> Self {
        match name {
            TransportName::Sse => Self::Sse,
            TransportName::Json => Self::Json,
            TransportName::Websocket => Self::Websocket,
        }
    }
}

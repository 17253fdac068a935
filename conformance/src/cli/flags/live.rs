//! Flags of runs against an endpoint.

use std::time::Duration;

use anyhow::{Result, bail};
use catalogue::FEATURES;
use clap::Args;
use clap::builder::TypedValueParser;
use spec::Dialect;

use super::expected::ExpectedArgs;
use super::select::SelectArgs;
use super::selection::{BudgetArgs, OutArgs};
use super::target::{HEADING, LIMITS, TargetArgs, TrustArgs, count, time};
use super::verdict::VerdictArgs;
use super::{apis, selection};
use crate::Suite;
use crate::cli::input::known::one_of;
use crate::cli::input::{known, names};
use gateway::Settings;
use results::{FailOn, Options, Transport};

/// Options of a run against an endpoint.
#[derive(Debug, Args)]
pub(in crate::cli) struct LiveArgs {
    /// URL of the endpoint, with or without /v1, or a name in conformance.toml.
    #[arg(long, value_name = "URL|NAME", group = "tested", help_heading = HEADING)]
    pub(in crate::cli) target: Option<String>,
    /// The name that stood for the URL.
    #[arg(long, value_name = "NAME", hide = true, requires = "target")]
    target_name: Option<String>,
    #[command(flatten)]
    to: TargetArgs,
    #[command(flatten)]
    _trust: TrustArgs,
    /// Transports: sse, json, websocket [default: sse,json].
    ///
    /// The reference gateway is tested over all three.
    #[arg(long, value_name = "TRANSPORT", value_delimiter = ',', value_parser = transports(), conflicts_with = "capture", hide_possible_values = true, help_heading = HEADING, hide_short_help = true)]
    transport: Vec<Transport>,
    /// Features it supports, of `conformance list features` [default: all].
    #[arg(long, value_name = "FEATURE", value_delimiter = ',', conflicts_with = "capture", value_parser = known::FEATURES, hide_possible_values = true, help_heading = HEADING)]
    features: Option<Vec<String>>,
    /// Features it does not support.
    #[arg(long, value_name = "FEATURE", value_delimiter = ',', conflicts_with = "capture", value_parser = known::FEATURES, hide_possible_values = true, help_heading = HEADING)]
    without: Vec<String>,
    /// Profiles, of `conformance list profiles`. Begin with core.
    ///
    /// Runs only the scenarios that these profiles demand, and fails unless they pass. Other findings in the responses are
    /// counted.
    #[arg(long, value_name = "NAME", value_delimiter = ',', conflicts_with = "capture", value_parser = known::PROFILES, hide_possible_values = true, help_heading = selection::HEADING)]
    pub(in crate::cli) profile: Vec<String>,
    /// Attempts until the expected events of a scenario occur.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = count(1000), help_heading = LIMITS, hide_short_help = true)]
    attempts: usize,
    /// Scenarios to run at once.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = count(1000), help_heading = LIMITS)]
    jobs: usize,
    /// Concurrent requests for each scenario of crowd/, which detects data leaking between streams [default: 1].
    #[arg(long, value_name = "N", value_parser = count(10_000), help_heading = LIMITS, hide_short_help = true)]
    concurrent: Option<usize>,
    /// Delay between requests.
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "0s", help_heading = LIMITS, hide_short_help = true)]
    delay: Duration,
    /// Seed of the words in requests, so that answers cannot be prepared [default: random].
    #[arg(long, value_name = "TEXT", help_heading = LIMITS, hide_short_help = true)]
    seed: Option<String>,
    /// Keep the directives of the reference gateway in prompts, such as `[[refuse]]`, for an endpoint that passes them on to
    /// `conformance serve`. Nobody else gets them.
    #[arg(long, help_heading = LIMITS, hide_short_help = true)]
    directives: bool,
    #[command(flatten)]
    budget: BudgetArgs,
    /// Stop after the first failed test.
    #[arg(long, conflicts_with_all = ["capture", "max_fail"], help_heading = LIMITS)]
    fail_fast: bool,
    /// Stop after this many failed tests.
    #[arg(long, value_name = "N", conflicts_with = "capture", value_parser = clap::value_parser!(u32).range(1..), help_heading = LIMITS, hide_short_help = true)]
    max_fail: Option<u32>,
    #[command(flatten)]
    expected: ExpectedArgs,
    #[command(flatten)]
    folder: OutArgs,
}

/// Concurrent requests that the reference gateway gets.
const CROWD: usize = 8;

impl LiveArgs {
    /// Without a target, they are against the reference gateway.
    pub(in crate::cli) fn suites(
        &self,
        dialects: &[&'static Dialect],
        select: &SelectArgs,
        verdict: &VerdictArgs,
    ) -> Result<Vec<Suite>> {
        self.check_features()?;
        let levels = verdict.levels(dialects)?;
        let mut suites = Vec::new();
        for dialect in dialects.iter().copied() {
            let suite = match &self.target {
                Some(base) => Suite::new(self.to.target(base, dialect.api)?, dialect),
                None => Suite::reference(Settings::new(dialect)),
            };
            let suite = self.configured(suite, select, verdict.fail_on()).levels(levels.clone());
            suites.push(suite);
        }
        Ok(suites)
    }

    pub(in crate::cli) fn finished(&self, suites: Vec<Suite>) -> Result<Vec<Suite>> {
        let is_one_of_several = suites.len() > 1;
        let finished = |suite| {
            let suite = self.expected.add(suite, is_one_of_several)?;
            Ok(if is_one_of_several { suite.prefix_with_dialect() } else { suite })
        };
        suites.into_iter().map(finished).collect()
    }

    fn configured(&self, suite: Suite, select: &SelectArgs, fail_on: FailOn) -> Suite {
        let dialect = suite.dialect();
        let own = apis::own(&self.profile, dialect);
        let usual =
            if self.target.is_some() { &[Transport::Sse, Transport::Json][..] } else { &Transport::ALL };
        let options = Options {
            transports: if self.transport.is_empty() { usual } else { &self.transport }.to_vec(),
            features: self.features.clone(),
            lacks: self.without.clone(),
            // Where none is of the API, the run says so.
            profiles: if own.is_empty() { self.profile.clone() } else { own },
            select: select.select.clone(),
            ignore: select.ignore.clone(),
            fail_on: Some(fail_on),
            attempts: self.attempts,
            jobs: self.jobs,
            concurrent: self.concurrent.unwrap_or(if self.target.is_some() { 1 } else { CROWD }),
            delay_ms: self.delay.as_millis(),
            max_total_bytes: self.budget.max_total_bytes,
            max_total_ms: self.budget.max_total_time.map(|time| time.as_millis()),
            ..self.to.options()
        };
        let mut suite = suite.options(options).given(self.to.given());
        if let Some(model) = self.to.model_of(dialect.api) {
            suite = suite.model(model);
        }
        if let Some(name) = &self.target_name {
            suite = suite.target_name(name);
        }
        if let Some(seed) = &self.seed {
            suite = suite.seed(seed);
        }
        if self.directives {
            suite = suite.directives();
        }
        if let Some(most) = self.max_fail.or(self.fail_fast.then_some(1)) {
            suite = suite.max_failures(usize::try_from(most).unwrap_or(usize::MAX));
        }
        if let Some(out) = &self.folder.out {
            suite = suite.out(out).replace(self.folder.replace);
        }
        suite
    }

    fn check_features(&self) -> Result<()> {
        let known = || FEATURES.iter().map(|feature| feature.name);
        let features = self.features.iter().flatten().chain(&self.without);
        for feature in features.filter(|feature| !feature.is_empty()) {
            if let Some(lacking) =
                feature.strip_prefix('-').filter(|name| known().any(|known| known == *name))
            {
                bail!("there is no feature \"{feature}\"; use --without {lacking}");
            }
            if known().all(|known| known != feature) {
                let hint = names::meant(feature, known());
                bail!("there is no feature \"{feature}\"{hint}; `conformance list features` lists them all");
            }
        }
        Ok(())
    }
}

pub(in crate::cli) fn transports() -> impl TypedValueParser<Value = Transport> {
    one_of(TRANSPORTS, Transport::name)
}

const TRANSPORTS: &[(Transport, &str)] = &[
    (Transport::Sse, "Server-sent events over HTTP"),
    (Transport::Json, "JSON responses over HTTP"),
    (Transport::Websocket, "Messages of a WebSocket"),
];

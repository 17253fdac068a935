//! A run: asks through the gateway, lets the upstream answer, and judges what both recorded.

mod clients;
mod detect;
mod result;
mod stage;

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gateway::start_runtime;
use harness::live::RunRuntime;
use results::{BETWEEN_RUN_VERSION, BetweenPair, BetweenRun, BetweenTest};

use crate::evidence::Test;
use crate::folder;
use crate::judge::{keep_unsettled, settle};
use crate::keys::Keys;
use crate::plan::tests;
use crate::settings::{Pair, Settings};
use crate::upstream::Upstream;
use clients::Clients;
pub use detect::Detected;
use result::harness_error;
#[cfg(test)]
pub(crate) use result::{judged, result};
use stage::{Stage, play_all};

/// The suite, with its upstream, which stays while a gateway is started and tested.
pub struct Suite {
    upstream: Arc<Upstream>,
    keys: Arc<Keys>,
    machine: RunRuntime,
}

impl Suite {
    /// Starts the upstream on a port of loopback; 0 picks a free one.
    ///
    /// # Errors
    ///
    /// If the port is taken.
    pub fn start(port: u16, settings: &Settings, machine: &RunRuntime) -> io::Result<Self> {
        let keys = Arc::new(Keys::new(settings.key.clone(), settings.upstream_key.clone()));
        let upstream = Upstream::start(port, Arc::clone(&keys), &settings.model)?;
        Ok(Self { upstream: Arc::new(upstream), keys, machine: machine.clone() })
    }

    /// The address of the upstream.
    pub fn address(&self) -> SocketAddr {
        self.upstream.address()
    }

    /// Writes the description of a run that has not ended to its folder: it stays if the suite is killed.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn begin(&self, settings: &Settings, folder: &Path) -> io::Result<()> {
        let unfinished = |test: &Test| harness_error(test, "the run did not finish".to_owned());
        let tests = tests(settings).iter().map(unfinished).collect();
        let run = BetweenRun { tests, is_unfinished: true, ..self.described(settings) }.concluded();
        harness::replace(&folder.join(folder::REPORT), &serde_json::to_string_pretty(&run)?)
    }

    /// Replaces the keys that the run has learned in the log of the gateway.
    ///
    /// # Errors
    ///
    /// If the log cannot be read or written.
    pub fn hide_keys(&self, folder: &Path) -> io::Result<()> {
        folder::hide_in_log(folder, &self.keys.secrets())
    }

    fn described(&self, settings: &Settings) -> BetweenRun {
        BetweenRun {
            between_run: BETWEEN_RUN_VERSION,
            suite: env!("CARGO_PKG_VERSION").to_owned(),
            gateway: settings.name.clone(),
            url: settings.gateway.clone(),
            command: settings.command.clone(),
            is_reference: settings.pairs.iter().any(|pair| pair.gateway.is_some()),
            upstream_port: Some(self.address().port()),
            model: settings.model.clone(),
            declared: settings.declared.clone(),
            profiles: settings.agents.iter().map(|agent| agent.name().to_owned()).collect(),
            shard: settings.shard,
            pairs: settings.pairs.iter().map(of_pair).collect(),
            ..BetweenRun::default()
        }
    }

    /// Runs the tests of settings, and passes each to `done` when it is judged. Tests that an interruption ends, or keeps from
    /// beginning, have no verdict.
    ///
    /// # Errors
    ///
    /// If the gateway has no valid URL, or the system starts no threads.
    pub fn run(&self, settings: &Settings, done: &mut dyn FnMut(&BetweenTest)) -> Result<BetweenRun, String> {
        let begun = Instant::now();
        let tests = tests(settings);
        let clients = Clients::new(settings)?;
        let runtime = start_runtime(2).map_err(|error| error.to_string())?;
        let (upstream, keys) = (Arc::clone(&self.upstream), Arc::clone(&self.keys));
        let stage = Arc::new(Stage::new(upstream, keys, settings.clone(), clients, self.machine.clone()));
        let mut results = runtime.block_on(play_all(&stage, &tests, done));
        // Connections that a gateway holds must not delay the end.
        runtime.shutdown_background();
        // A test without a result is one that the suite failed to play.
        for (number, test) in tests.iter().enumerate() {
            if results.iter().all(|(done, _)| *done != number) {
                results.push((number, harness_error(test, "the suite failed to play it".to_owned())));
            }
        }
        results.sort_by_key(|(number, _)| *number);
        let tests = results.into_iter().map(|(_, test)| test).collect();
        let mut run = BetweenRun {
            tests,
            unaccounted: self.upstream.unaccounted(),
            ms: milliseconds(begun.elapsed()),
            ..self.described(settings)
        };
        if settings.shard.is_some() {
            keep_unsettled(&mut run.tests);
        }
        settle(&mut run.tests);
        Ok(run.concluded())
    }
}

pub(crate) fn of_pair(pair: &Pair) -> BetweenPair {
    BetweenPair {
        front: pair.front.api.name.to_owned(),
        upstream: pair.upstream.api.name.to_owned(),
        mode: pair.mode.name().to_owned(),
        ..BetweenPair::default()
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

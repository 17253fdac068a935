//! A run: starts the upstream and the gateway, finds out what it translates, and plays the tests.

use std::collections::BTreeSet;
use std::env;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use between::{Detected, GatewayCommand, Pair, Reference, Settings, StartedGateway, Suite};

use super::BetweenArgs;
use super::select::{CLIENT_KEY, UPSTREAM_KEY};
use crate::cli::flags::target::KEY;
use crate::cli::message::{Lines, note, note_lines};
use harness::ProgressLine;
use harness::live::RunRuntime;
use results::text::{shortened, visible};
use results::{BetweenRun, Verdict};

/// Usual time until a started gateway answers.
const START: Duration = Duration::from_secs(120);
/// Time between two looks for an interruption.
const LOOK: Duration = Duration::from_millis(50);
/// Number of characters below which a text is no secret, as it occurs in any text.
const SHORT: usize = 8;
/// Number of characters of a response that is shown.
const SHOWN: usize = 160;

/// The gateway between the client and the upstream. It ends when dropped.
enum Standing {
    Reference { _translators: Reference },
    Started(StartedGateway),
    Other,
}

impl BetweenArgs {
    pub(super) fn play(
        &self,
        settings: &mut Settings,
        again: Option<&BTreeSet<String>>,
        machine: &RunRuntime,
    ) -> Result<BetweenRun> {
        let port = self.upstream_port.unwrap_or_default();
        let suite = Suite::start(port, settings, machine)
            .with_context(|| format!("the upstream cannot listen on port {port} of 127.0.0.1"))?;
        let upstream_url = format!("http://{}/v1", suite.address());
        let mut standing = self.stand(&suite, settings, &upstream_url, machine)?;
        let suite = Arc::new(suite);
        if !matches!(standing, Standing::Reference { .. }) && !self.is_local() {
            let (own, shared) = (settings.clone(), Arc::clone(&suite));
            let detected =
                within(machine, move || shared.detect(&own))?.map_err(|problem| anyhow!(problem))?;
            settings.pairs = self.found(&detected, &upstream_url, &standing)?;
            self.select(settings, again)?;
        }
        if let Some(folder) = &self.folder.out {
            suite.begin(settings, folder).with_context(|| folder.display().to_string())?;
        }
        let finished = Arc::new(AtomicUsize::new(0));
        let all = between::tests(settings).len();
        let progress = {
            let finished = Arc::clone(&finished);
            ProgressLine::start(move |_| format!("{} of {all} tests", finished.load(Ordering::Relaxed)))
        };
        let run = suite.run(settings, &mut |_| {
            finished.fetch_add(1, Ordering::Relaxed);
        });
        drop(progress);
        let mut run = run.map_err(|problem| anyhow!(problem))?;
        run.is_reference = matches!(standing, Standing::Reference { .. });
        run.upstream_port = self.upstream_port;
        run.sessions = self.session.iter().map(|path| path.display().to_string()).collect();
        run.given_url = self.gateway.clone().filter(|_| !self.command.is_empty());
        (run.timeout, run.limit) = (self.timeout.map(milliseconds), self.limit.map(milliseconds));
        if machine.is_interrupted() {
            let judged = run.tests.iter().filter(|test| test.verdict != Verdict::HarnessError).count();
            note(&format!("interrupted after {judged} of {all} tests"));
        } else if let Standing::Started(gateway) = &mut standing
            && let Some(output) = gateway.has_ended().then(|| gateway.last_lines())
        {
            let lines: Vec<String> = output.iter().map(|line| format!("  {}", visible(line))).collect();
            note_lines(&format!("note: the gateway exited during the run\n{}", lines.join("\n")));
        }
        drop(standing);
        if let Some(folder) = &self.folder.out {
            suite.hide_keys(folder).with_context(|| folder.display().to_string())?;
        }
        Ok(run)
    }

    /// The gateway is started by the command, runs already, or is the reference gateway.
    fn stand(
        &self,
        suite: &Suite,
        settings: &mut Settings,
        upstream_url: &str,
        machine: &RunRuntime,
    ) -> Result<Standing> {
        if !self.command.is_empty() {
            let command = GatewayCommand {
                command: self.command.clone(),
                url: self.gateway.clone(),
                limit: self.start_timeout.unwrap_or(START),
                log: self.folder.out.as_ref().map(|folder| folder.join(between::folder::LOG)),
                secrets: self.secrets(settings),
            };
            let waiting = |url: &str| note(&format!("waiting for {url} ({})", settings.command.join(" ")));
            let started = command
                .start(upstream_url, UPSTREAM_KEY, machine, &waiting)
                .map_err(|problem| Lines(problem.to_string().split('\n').map(str::to_owned).collect()))?;
            started.url().clone_into(&mut settings.gateway);
            return Ok(Standing::Started(started));
        }
        if self.gateway.is_some() {
            return Ok(Standing::Other);
        }
        Ok(Standing::Reference { _translators: Reference::start(suite, settings, None)? })
    }

    /// The output of the gateway must not show keys and values of headers, unless they are made up.
    fn secrets(&self, settings: &Settings) -> Vec<String> {
        let of_headers =
            self.header.iter().filter_map(|header| Some(header.split_once(':')?.1.trim().to_owned()));
        let keys = settings.key.iter().cloned().chain(env::var(KEY).ok());
        let all = keys.chain(of_headers).filter(|secret| secret.len() >= SHORT && secret != CLIENT_KEY);
        all.collect()
    }

    /// Only pairs that the user named.
    fn found(&self, detected: &[Detected], upstream_url: &str, standing: &Standing) -> Result<Vec<Pair>> {
        let mut pairs: Vec<Pair> = Vec::new();
        let mut silent: Vec<&Detected> = Vec::new();
        for one in detected {
            let Some(upstream) = one.upstream else {
                if silent.iter().all(|known| known.front.name != one.front.name) {
                    silent.push(one);
                }
                continue;
            };
            let is_known =
                |pair: &Pair| pair.front.name == one.front.name && pair.upstream.name == upstream.name;
            let is_named = self.pairs()?.iter().any(is_known);
            if is_named && !pairs.iter().any(is_known) {
                pairs.push(self.pair(one.front, upstream));
            }
        }
        let is_asked = |one: &&&Detected| pairs.iter().any(|pair| pair.front.name == one.front.name);
        silent.retain(|one| !is_asked(&one));
        let lines: Vec<String> = silent.iter().map(|one| unanswered(one)).collect();
        if pairs.is_empty() {
            let other: Vec<String> = detected.iter().filter_map(other_upstream).collect();
            let mut all = vec![format!(
                "no request of the gateway reaches {upstream_url}: configure it as its upstream; if it is, its answers say \
                 what it misses"
            )];
            if !other.is_empty() {
                all = vec![
                    "the gateway translates no pair of APIs that --front and --upstream name".to_owned(),
                ];
            }
            all.extend(other.into_iter().chain(lines).map(|line| format!("  {line}")));
            all.dedup();
            if let Standing::Started(gateway) = standing {
                let lines = gateway.last_lines();
                all.extend((!lines.is_empty()).then(|| "the end of the gateway's output:".to_owned()));
                all.extend(lines.into_iter().map(|line| format!("  {line}")));
            }
            return Err(Lines(all).into());
        }
        if !self.front.is_empty() && !lines.is_empty() {
            bail!("{}", lines.join("; "));
        }
        for line in lines {
            note(&format!("note: left out, as {line}"));
        }
        let names: Vec<String> = pairs.iter().map(Pair::name).collect();
        note(&format!("pairs of APIs: {}", names.join(", ")));
        Ok(pairs)
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn unanswered(one: &Detected) -> String {
    let api = one.front.api.name;
    match &one.exchange.response {
        Some(response) if response.status > 0 => {
            let body = response.body();
            let body = shortened(&String::from_utf8_lossy(body.get(..4 * SHOWN).unwrap_or(&body)), SHOWN);
            let path = visible(&one.exchange.path);
            format!(
                "{api}: {path} answered with status {}, without a request to the upstream: {body}",
                response.status
            )
        }
        _ => format!("{api}: the gateway gave no response"),
    }
}

fn other_upstream(one: &Detected) -> Option<String> {
    let upstream = one.upstream?;
    Some(format!("{}: it asks in {}", one.front.api.name, upstream.api.name))
}

/// The work is done in a thread of its own. An interrupted run does not wait for it.
fn within<T: Send + 'static>(machine: &RunRuntime, work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    let (sender, done) = channel();
    Builder::new().spawn(move || {
        // Nobody waits for it after an interruption.
        let _ = sender.send(work());
    })?;
    loop {
        match done.recv_timeout(LOOK) {
            Ok(value) => return Ok(value),
            Err(RecvTimeoutError::Timeout) if machine.is_interrupted() => bail!("interrupted"),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => bail!("the suite failed: a thread ended without a result"),
        }
    }
}

//! A run: asks through the gateway, lets the upstream answer, and judges what both recorded.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use catalogue::{BetweenCase, HandlingMode};
use gateway::start_runtime;
use results::{BETWEEN_RUN_VERSION, BetweenPair, BetweenRun, BetweenTest, FailOn, Outcome, Verdict};
use spec::{Api, Dialect};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::client::Client;
use crate::dialects::upstream_dialect;
use crate::evidence::{Evidence, Exchanged, Fault, Test};
use crate::folder;
use crate::judge::{Judged, judge, settle};
use crate::keys::Keys;
use crate::mark::{mark, of_crowd};
use crate::moments::moments;
use crate::plan::{AFTER, test, tests};
use crate::question::{Questions, has_turns};
use crate::settings::{Pair, Settings};
use crate::upstream::{Playing, Upstream};

/// How often a test looks whether the gateway has closed its connections.
const LOOK: Duration = Duration::from_millis(5);

/// The suite, with its upstream, which stays while a gateway is started and tested.
pub struct Suite {
    upstream: Arc<Upstream>,
    keys: Arc<Keys>,
}

impl Suite {
    /// Starts the upstream on a port of loopback; 0 picks a free one.
    ///
    /// # Errors
    ///
    /// If the port is taken.
    pub fn start(port: u16, settings: &Settings) -> io::Result<Self> {
        let keys = Arc::new(Keys::new(settings.key.clone(), settings.upstream_key.clone()));
        let upstream = Upstream::start(port, Arc::clone(&keys), &settings.model)?;
        Ok(Self { upstream: Arc::new(upstream), keys })
    }

    /// Returns the address of the upstream.
    pub fn address(&self) -> SocketAddr {
        self.upstream.address()
    }

    /// Returns the pairs of these settings with the API in which the gateway asks the upstream for each client's API; none
    /// for an API that the gateway does not answer, with the reason.
    ///
    /// # Errors
    ///
    /// If the gateway has no valid URL, or the system starts no threads.
    pub fn detect(&self, settings: &Settings) -> Result<Vec<Detected>, String> {
        let clients = Clients::new(settings)?;
        let plain = plain().ok_or("the suite has no plain case")?;
        let runtime = start_runtime(1).map_err(|error| error.to_string())?;
        let detect = |(number, pair): (usize, &Pair)| {
            let mut test = test(settings, pair, plain, None);
            test.mark = mark(2 * (DETECTING + number));
            let playing = Playing::in_any_api(test.clone(), format!("d{number}"), settings.patience);
            self.upstream.begin(&playing);
            let body = Questions::new(&test, &test.mark).body();
            let exchange =
                clients.of(&test).map(|client| runtime.block_on(client.ask(body, true, None, &playing)));
            self.upstream.end(&test.mark);
            let upstream = match (playing.other_api(), playing.exchanges().is_empty()) {
                (Some(api), _) => upstream_dialect(api),
                (None, false) => Some(pair.upstream),
                (None, true) => None,
            };
            Detected { front: pair.front, upstream, exchange: exchange.unwrap_or_default() }
        };
        let detected = settings.pairs.iter().enumerate().map(detect).collect();
        runtime.shutdown_background();
        Ok(detected)
    }

    /// Runs the tests of settings, and passes each to `done` when it is judged.
    ///
    /// # Errors
    ///
    /// If the gateway has no valid URL, or the system starts no threads.
    pub fn run(&self, settings: &Settings, done: &mut dyn FnMut(&BetweenTest)) -> Result<BetweenRun, String> {
        let begun = Instant::now();
        let tests = tests(settings);
        let clients = Clients::new(settings)?;
        let runtime = start_runtime(2).map_err(|error| error.to_string())?;
        let stage = Arc::new(Stage {
            upstream: Arc::clone(&self.upstream),
            keys: Arc::clone(&self.keys),
            settings: settings.clone(),
            clients,
            count: AtomicUsize::new(0),
        });
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
        let mut run = BetweenRun {
            between_run: BETWEEN_RUN_VERSION,
            suite: env!("CARGO_PKG_VERSION").to_owned(),
            gateway: settings.name.clone(),
            url: settings.gateway.clone(),
            command: settings.command.clone(),
            is_reference: settings.pairs.iter().any(|pair| pair.gateway.is_some()),
            upstream_port: Some(self.address().port()),
            model: settings.model.clone(),
            retries: settings.retries,
            levels: Vec::new(),
            outcome: Outcome::Passed,
            fail_on: FailOn::default(),
            pairs: settings.pairs.iter().map(of_pair).collect(),
            causes: Vec::new(),
            tests: results.into_iter().map(|(_, test)| test).collect(),
            unaccounted: self.upstream.unaccounted(),
            stale: Vec::new(),
            ms: milliseconds(begun.elapsed()),
            folder: None,
        };
        settle(&mut run.tests);
        Ok(run.concluded())
    }
}

/// The upstream that a gateway asks for the clients of an API.
#[derive(Debug, Clone)]
pub struct Detected {
    /// The dialect of the client.
    pub front: &'static Dialect,
    /// The dialect of the upstream, if it was asked.
    pub upstream: Option<&'static Dialect>,
    /// What the client got.
    pub exchange: Exchanged,
}

/// The number of the first test that detects an upstream: no run has as many tests.
const DETECTING: usize = 1_000_000;

/// Returns the case that every gateway can answer.
fn plain() -> Option<&'static BetweenCase> {
    catalogue::BETWEEN_CASES.iter().find(|case| case.id == AFTER)
}

/// The clients of a run, by their pairs.
struct Clients(Vec<(String, Client)>);

impl Clients {
    fn new(settings: &Settings) -> Result<Self, String> {
        let client = |pair: &Pair| {
            let base = pair.gateway.as_deref().unwrap_or(&settings.gateway);
            let key = settings.key.as_deref();
            let client = Client::new(base, pair.front.api, key, &settings.headers, settings.limit)?;
            Ok((pair.name(), client))
        };
        settings.pairs.iter().map(client).collect::<Result<_, String>>().map(Self)
    }

    fn of(&self, test: &Test) -> Option<&Client> {
        let (pair, _) = test.name.split_once('/')?;
        self.0.iter().find(|(name, _)| name == pair).map(|(_, client)| client)
    }
}

/// What the tests of a run share.
struct Stage {
    upstream: Arc<Upstream>,
    keys: Arc<Keys>,
    settings: Settings,
    clients: Clients,
    /// Number of plain questions after faults.
    count: AtomicUsize,
}

/// Plays the tests, several at once, in order.
async fn play_all(
    stage: &Arc<Stage>,
    tests: &[Test],
    done: &mut dyn FnMut(&BetweenTest),
) -> Vec<(usize, BetweenTest)> {
    let mut results = Vec::new();
    let mut playing = JoinSet::new();
    let mut waiting = tests.iter().cloned().enumerate();
    loop {
        while playing.len() < stage.settings.jobs.max(1)
            && let Some((number, test)) = waiting.next()
        {
            let stage = Arc::clone(stage);
            playing.spawn(async move { (number, stage.test(test).await) });
        }
        match playing.join_next().await {
            None => return results,
            Some(Ok(result)) => {
                done(&result.1);
                results.push(result);
            }
            // A panic of the harness is shown by the runtime; the test has no result.
            Some(Err(_)) => {}
        }
    }
}

impl Stage {
    /// Plays a test and judges it.
    async fn test(self: Arc<Self>, test: Test) -> BetweenTest {
        let begun = Instant::now();
        let (evidence, other_api) = self.play(&test).await;
        let ms = milliseconds(begun.elapsed());
        let other_api = other_api.filter(|_| evidence.upstream.is_empty());
        let (judged_test, out) = (test.clone(), self.settings.out.clone());
        let judged = tokio::task::spawn_blocking(move || judged(&judged_test, &evidence, out.as_deref()));
        let mut result = match judged.await {
            Ok(Ok(judged)) => match other_api {
                None => judged,
                Some(api) => harness_error(&test, other_upstream(&test, api)),
            },
            Ok(Err(error)) => harness_error(&test, format!("the recordings could not be written: {error}")),
            Err(error) => harness_error(&test, format!("the judge failed: {error}")),
        };
        result.ms = ms;
        result
    }

    /// Plays a test. Also returns the API in which the gateway asked, if it is another one.
    async fn play(&self, test: &Test) -> (Evidence, Option<&'static Api>) {
        let tag = test.mark.trim_start_matches("zqmark").to_owned();
        let playing = Playing::new(test.clone(), tag, self.settings.patience);
        self.upstream.begin(&playing);
        let mut client = match test.case.crowd {
            Some(count) => self.crowd(test, &playing, count).await,
            None => self.turns(test, &playing).await,
        };
        if !matches!(test.fault, Some(Fault::Stream(catalogue::UpstreamFault::Stall, _))) {
            self.quiet(&playing).await;
        }
        let mut upstream = playing.exchanges();
        self.upstream.end(&test.mark);
        let mut after = if test.fault.is_some() || test.case.leaves_after.is_some() {
            Some(self.after(test).await)
        } else {
            None
        };
        for exchange in client.iter_mut().chain(&mut upstream).chain(&mut after) {
            self.keys.hide_response(exchange);
        }
        for exchange in client.iter_mut().chain(&mut after) {
            self.keys.hide_request(exchange);
        }
        (Evidence { client, upstream, after }, playing.other_api())
    }

    /// Asks the turns of a case, each of which continues the answer to the one before.
    async fn turns(&self, test: &Test, playing: &Playing) -> Vec<Exchanged> {
        let Some(client) = self.clients.of(test) else { return Vec::new() };
        let mut questions = Questions::new(test, &test.mark);
        let mut exchanges: Vec<Exchanged> = Vec::new();
        for turn in 0..test.case.answers.len().max(1) {
            if let Some(before) = exchanges.last()
                && !questions.go_on(before, turn)
            {
                break;
            }
            playing.begin_turn(turn);
            let leaves_after = test.case.leaves_after.filter(|_| turn == 0);
            let exchange = client.ask(questions.body(), !test.case.is_whole, leaves_after, playing).await;
            exchanges.push(Exchanged { turn, ..exchange });
            if !has_turns(test) {
                break;
            }
        }
        exchanges
    }

    /// Asks as many clients at once.
    async fn crowd(&self, test: &Test, playing: &Arc<Playing>, count: u32) -> Vec<Exchanged> {
        let mut asking = JoinSet::new();
        for number in 0..usize::try_from(count).unwrap_or(1) {
            let Some(client) = self.clients.of(test).cloned() else { continue };
            let body = Questions::new(test, &of_crowd(&test.mark, number)).body();
            let (playing, is_stream) = (Arc::clone(playing), !test.case.is_whole);
            asking.spawn(async move { (number, client.ask(body, is_stream, None, &playing).await) });
        }
        let mut exchanges = asking.join_all().await;
        exchanges.sort_by_key(|(number, _)| *number);
        exchanges.into_iter().map(|(_, exchange)| exchange).collect()
    }

    /// Waits until the gateway has closed its connections to the upstream, or the patience is over.
    async fn quiet(&self, playing: &Playing) {
        let until = playing.elapsed() + self.settings.patience * 2;
        while !playing.is_quiet() && playing.elapsed() < until {
            sleep(LOOK).await;
        }
    }

    /// Asks a plain question after a fault.
    async fn after(&self, test: &Test) -> Exchanged {
        let Some((case, client)) = plain().zip(self.clients.of(test)) else { return Exchanged::default() };
        let number = 2 * self.count.fetch_add(1, Ordering::Relaxed) + 1;
        let plain = Test { case, fault: None, mark: mark(number), ..test.clone() };
        let playing = Playing::new(plain.clone(), format!("{number:x}"), self.settings.patience);
        self.upstream.begin(&playing);
        let exchange = client.ask(Questions::new(&plain, &plain.mark).body(), true, None, &playing).await;
        self.upstream.end(&plain.mark);
        exchange
    }
}

fn of_pair(pair: &Pair) -> BetweenPair {
    BetweenPair {
        front: pair.front.api.name.to_owned(),
        upstream: pair.upstream.api.name.to_owned(),
        mode: mode_name(pair.mode).to_owned(),
        passed: 0,
        failed: 0,
        skipped: 0,
    }
}

/// Returns the name of a mode.
pub const fn mode_name(mode: HandlingMode) -> &'static str {
    match mode {
        HandlingMode::Passthrough => "passthrough",
        HandlingMode::Inspect => "inspect",
        HandlingMode::Transform => "transform",
        HandlingMode::Local => "local",
    }
}

/// Judges a test by its recordings, and writes them to a folder if there is one.
fn judged(test: &Test, evidence: &Evidence, out: Option<&Path>) -> io::Result<BetweenTest> {
    // Verdicts on what is recorded are the same when it is read again.
    let evidence = folder::recorded(test, evidence)?;
    let mut result = BetweenTest { moments: moments(&evidence), ..of_judged(test, judge(test, &evidence)) };
    if let Some(out) = out {
        result.files = folder::write(out, test, &evidence)?;
        result.hash = folder::hash_of(out, &result)?;
    }
    Ok(result)
}

fn of_judged(test: &Test, judged: Judged) -> BetweenTest {
    let verdict =
        if judged.findings.iter().any(|finding| finding.fails) { Verdict::Fail } else { Verdict::Pass };
    BetweenTest {
        verdict,
        stream: judged.outcome,
        findings: judged.findings,
        limits: judged.limits,
        ..result(test)
    }
}

fn harness_error(test: &Test, reason: String) -> BetweenTest {
    BetweenTest { verdict: Verdict::HarnessError, reason, ..result(test) }
}

fn other_upstream(test: &Test, api: &Api) -> String {
    let (title, wanted) = (api.title, test.upstream.api.title);
    format!(
        "the gateway sends requests of {title} to the upstream, but this pair needs {wanted}; configure it so, or pass --upstream {}",
        api.name
    )
}

/// Returns the result of a test before it is judged.
fn result(test: &Test) -> BetweenTest {
    BetweenTest {
        name: test.name.clone(),
        case: test.case.id.to_owned(),
        front: test.front.api.name.to_owned(),
        upstream: test.upstream.api.name.to_owned(),
        verdict: Verdict::Pass,
        reason: String::new(),
        stream: None,
        findings: Vec::new(),
        limits: Vec::new(),
        files: Vec::new(),
        hash: String::new(),
        moments: Vec::new(),
        expected: None,
        ms: 0,
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

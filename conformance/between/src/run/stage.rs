//! How a test is played.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use catalogue::{AgentProfile, SessionCase, UpstreamFault};
use harness::live::RunRuntime;
use results::BetweenTest;
use spec::Api;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::clients::Clients;
use super::milliseconds;
use super::result::{harness_error, judged, other_upstream, says_unserved, unserved};
use crate::connection::Connection;
use crate::evidence::{Evidence, Exchanged, Fault, Test};
use crate::keys::Keys;
use crate::mark::{letters_of, mark, of_crowd};
use crate::plan::plain;
use crate::question::{Questions, has_turns};
use crate::session::{PlayedSession, Session, of_test};
use crate::settings::Settings;
use crate::upstream::{Playing, Upstream};

/// How often a test looks whether the gateway has closed its connections.
const LOOK: Duration = Duration::from_millis(5);
/// How much longer a test waits than a gateway declares to read after its client has left.
const DRAINED: Duration = Duration::from_secs(2);
/// No turn has this number, so that requests of the gateway for a probe belong to none.
const PROBING: usize = 1 << 20;
/// The rule that is judged again if it is broken, as a loaded machine may be late.
const LATE: &str = "cancel/upstream-left";

/// State that the tests of a run share.
pub(super) struct Stage {
    upstream: Arc<Upstream>,
    keys: Arc<Keys>,
    settings: Settings,
    clients: Clients,
    machine: RunRuntime,
    /// Number of plain questions after faults, and of tests that are played again.
    count: AtomicUsize,
    begun: Instant,
    /// Number of recorded bytes.
    recorded: AtomicU64,
}

pub(super) async fn play_all(
    stage: &Arc<Stage>,
    tests: &[Test],
    done: &mut dyn FnMut(&BetweenTest),
) -> Vec<(usize, BetweenTest)> {
    let mut results = Vec::new();
    let mut playing = JoinSet::new();
    let mut waiting = tests.iter().cloned().enumerate();
    loop {
        // A session is alone with its upstream.
        let jobs = if stage.settings.sessions.is_empty() { stage.settings.jobs.max(1) } else { 1 };
        while playing.len() < jobs
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
    pub(super) fn new(
        upstream: Arc<Upstream>,
        keys: Arc<Keys>,
        settings: Settings,
        clients: Clients,
        machine: RunRuntime,
    ) -> Self {
        let (count, recorded) = (AtomicUsize::new(0), AtomicU64::new(0));
        Self { upstream, keys, settings, clients, machine, count, begun: Instant::now(), recorded }
    }

    /// The exceeded limit of the run, after which no more tests may begin.
    fn exhausted(&self) -> Option<&'static str> {
        let Settings { max_bytes, max_time, .. } = self.settings;
        if max_bytes.is_some_and(|most| self.recorded.load(Ordering::Relaxed) >= most) {
            return Some("the run reached --max-total-bytes");
        }
        let is_over = max_time.is_some_and(|most| self.begun.elapsed() >= most);
        is_over.then_some("the run reached --max-total-time")
    }

    async fn test(self: Arc<Self>, test: Test) -> BetweenTest {
        if let Some(reason) = self.exhausted() {
            return harness_error(&test, reason.to_owned());
        }
        let result = self.attempt(test.clone()).await;
        if result.findings.iter().all(|finding| finding.rule != LATE) || self.machine.is_interrupted() {
            return result;
        }
        self.attempt(Test { mark: self.other_mark(), ..test }).await
    }

    /// No test of the plan has this mark.
    fn other_mark(&self) -> String {
        mark(2 * self.count.fetch_add(1, Ordering::Relaxed) + 1)
    }

    async fn attempt(&self, test: Test) -> BetweenTest {
        let begun = Instant::now();
        let (evidence, other_api) = tokio::select! {
            // The gateway ends with the interruption, and what is seen then is no fault of it.
            biased;
            () = self.machine.interrupted() => return harness_error(&test, "interrupted".to_owned()),
            played = self.play(&test) => played,
        };
        let ms = milliseconds(begun.elapsed());
        let other_api = other_api.filter(|_| evidence.upstream.is_empty());
        let is_unserved = evidence.upstream.is_empty() && evidence.client.iter().any(says_unserved);
        let (judged_test, out) = (test.clone(), self.settings.out.clone());
        let judged = tokio::task::spawn_blocking(move || judged(&judged_test, &evidence, out.as_deref()));
        let mut result = match judged.await {
            Ok(Ok(judged)) => match other_api {
                None if is_unserved => harness_error(&test, unserved()),
                None => judged,
                Some(api) => harness_error(&test, other_upstream(&test, api)),
            },
            Ok(Err(error)) => harness_error(&test, format!("the recordings could not be written: {error}")),
            Err(error) => harness_error(&test, format!("the judge failed: {error}")),
        };
        result.ms = ms;
        result
    }

    /// Also returns the API of the gateway's requests, if it is another one.
    async fn play(&self, test: &Test) -> (Evidence, Option<&'static Api>) {
        let tag = letters_of(&test.mark).to_owned();
        let playing = Playing::new(test.clone(), tag, self.settings.patience);
        let session = of_test(&self.settings.sessions, &test.name);
        let playing = Arc::new(match session {
            Some(session) => playing.of_session(session),
            None => playing,
        });
        self.upstream.begin(&playing);
        let mut probes = self.probes(test, &playing).await;
        let mut client = match (session, test.agent, test.case.crowd) {
            (Some(session), ..) => self.replay(test, session, &playing).await,
            (None, Some(agent), _) => self.converse(test, agent, &playing).await,
            (None, None, Some(count)) => self.crowd(test, &playing, count).await,
            (None, None, None) => self.turns(test, &playing).await,
        };
        if !matches!(test.fault, Some(Fault::Stream(UpstreamFault::Stall, _))) {
            self.quiet(&playing).await;
        }
        let mut upstream = playing.exchanges();
        self.upstream.end(&test.mark);
        let (mut after, mut after_upstream) = (None, Vec::new());
        let has_failed = test.fault.is_some() && !test.is_session();
        if has_failed || test.case.leaves_after.is_some() {
            (after, after_upstream) = self.after(test, playing.elapsed()).await;
        }
        let all = probes
            .iter_mut()
            .chain(&mut client)
            .chain(&mut upstream)
            .chain(&mut after)
            .chain(&mut after_upstream);
        for exchange in all {
            self.keys.hide_response(exchange);
        }
        for exchange in probes.iter_mut().chain(&mut client).chain(&mut after) {
            self.keys.hide_request(exchange);
        }
        let unmarked = playing.unmarked();
        let evidence = Evidence { probes, client, upstream, after, after_upstream, unmarked };
        self.recorded.fetch_add(evidence.bytes(), Ordering::Relaxed);
        (evidence, playing.other_api())
    }

    fn connection(&self, test: &Test) -> Option<Connection<'_>> {
        let is_warmed = test.agent.is_some_and(|agent| agent.is_warmed);
        Some(Connection::new(self.clients.of(test)?, test.front, test.declared.websocket, is_warmed))
    }

    /// Each turn of a case continues the previous answer.
    async fn turns(&self, test: &Test, playing: &Playing) -> Vec<Exchanged> {
        let Some(mut connection) = self.connection(test) else { return Vec::new() };
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
            let exchange = connection.ask(questions.body(), leaves_after, playing).await;
            exchanges.push(Exchanged { turn, ..exchange });
            if !has_turns(test) {
                break;
            }
        }
        exchanges
    }

    async fn converse(&self, test: &Test, agent: &'static AgentProfile, playing: &Playing) -> Vec<Exchanged> {
        let (Some(mut connection), Some(case)) = (self.connection(test), &test.case.session) else {
            return Vec::new();
        };
        let mut session = PlayedSession::new(test, case, agent);
        let mut exchanges = Vec::new();
        for turn in 0..session.len() {
            playing.begin_turn(turn);
            let exchange = Exchanged { turn, ..connection.repeat(&session.request(turn), playing).await };
            session.go_on(&exchange, turn);
            exchanges.push(exchange);
            self.quiet(playing).await;
        }
        exchanges
    }

    /// An agent asks before its first turn.
    async fn probes(&self, test: &Test, playing: &Playing) -> Vec<Exchanged> {
        let is_probed = |case: &&SessionCase| case.is_probed;
        let Some((agent, case)) = test.agent.zip(test.case.session.as_ref().filter(is_probed)) else {
            return Vec::new();
        };
        let Some(client) = self.clients.of(test) else { return Vec::new() };
        let like = PlayedSession::new(test, case, agent).request(0);
        playing.begin_turn(PROBING);
        let mut exchanges = Vec::new();
        for probe in agent.probes {
            exchanges.push(Exchanged { turn: PROBING, ..client.probe(probe, &like, playing).await });
            self.quiet(playing).await;
        }
        exchanges
    }

    async fn replay(&self, test: &Test, session: &Session, playing: &Playing) -> Vec<Exchanged> {
        let Some(mut connection) = self.connection(test) else { return Vec::new() };
        let mut exchanges = Vec::new();
        for (turn, request) in session.requests.iter().enumerate() {
            playing.begin_turn(turn);
            let exchange = connection.repeat(request, playing).await;
            exchanges.push(Exchanged { turn, ..exchange });
            // The requests of a turn are over before the next one begins.
            self.quiet(playing).await;
        }
        exchanges
    }

    /// All clients ask at once.
    async fn crowd(&self, test: &Test, playing: &Arc<Playing>, count: u32) -> Vec<Exchanged> {
        let mut asking = JoinSet::new();
        for number in 0..usize::try_from(count).unwrap_or(1) {
            let Some(client) = self.clients.of(test).cloned() else { continue };
            let body = Questions::new(test, &of_crowd(&test.mark, number)).body();
            let playing = Arc::clone(playing);
            let (dialect, is_socket) = (test.front, test.declared.websocket);
            asking.spawn(async move {
                let mut connection = Connection::new(&client, dialect, is_socket, false);
                (number, connection.ask(body, None, &playing).await)
            });
        }
        let mut exchanges = asking.join_all().await;
        exchanges.sort_by_key(|(number, _)| *number);
        exchanges.into_iter().map(|(_, exchange)| exchange).collect()
    }

    /// Waits until the upstream is quiet, and no longer than the patience.
    async fn quiet(&self, playing: &Playing) {
        let drained = self.settings.declared.drains.map(|drains| Duration::from_secs(drains) + DRAINED);
        let until = playing.elapsed() + drained.unwrap_or_default().max(self.settings.patience * 2);
        while !playing.is_quiet() && playing.elapsed() < until {
            sleep(LOOK).await;
        }
    }

    /// Times count from the start of the test.
    async fn after(&self, test: &Test, begun: Duration) -> (Option<Exchanged>, Vec<Exchanged>) {
        let Some((case, client)) = plain().zip(self.clients.of(test)) else {
            return (Some(Exchanged::default()), Vec::new());
        };
        let plain = Test { case, fault: None, mark: self.other_mark(), ..test.clone() };
        let tag = letters_of(&plain.mark).to_owned();
        let playing = Playing::new(plain.clone(), tag, self.settings.patience);
        let playing = Arc::new(playing);
        self.upstream.begin(&playing);
        let exchange = client.ask(Questions::new(&plain, &plain.mark).body(), &playing).await;
        let upstream = playing.exchanges().into_iter().map(|exchange| exchange.later(begun)).collect();
        self.upstream.end(&plain.mark);
        (Some(exchange.later(begun)), upstream)
    }
}

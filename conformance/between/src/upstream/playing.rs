//! A test while it runs: what both sides know of each other, and what is recorded of the upstream.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use harness::lock;
use serde_json::Value;
use spec::{Api, Dialect};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::script::{Piece, Script, recorded};
use crate::content::{ContentCounter, LANES, Said};
use crate::dialects::upstream_dialect;
use crate::evidence::{Ended, Exchanged, Response, Test};
use crate::session::{Session, answer};

/// Maximum number of requests of a test that are recorded.
const MOST: usize = 256;

/// A delta that a client did not get in time.
#[derive(Debug, Clone, Copy, Default)]
struct Late {
    /// Number of bytes that are not waited for again.
    missing: usize,
    /// Text that it had received by then.
    received: usize,
    /// Whether nothing more had arrived since the last time: nothing is waited for.
    is_over: bool,
}

pub(crate) struct Playing {
    pub(crate) test: Test,
    pub(super) session: Option<Arc<Session>>,
    /// A part that makes the ids of its responses unique.
    tag: String,
    start: Instant,
    /// How long the upstream waits for the client.
    patience: Duration,
    turn: AtomicUsize,
    /// Whether the upstream answers in any API: the first request shows which one the gateway speaks.
    answers_any: bool,
    /// The API of the last request, if it is not the test's.
    other_api: Mutex<Option<&'static Api>>,
    /// How much the client has received in this turn.
    seen: watch::Sender<Said>,
    counter: Mutex<ContentCounter>,
    has_left: watch::Sender<bool>,
    /// Whether the client did not leave in time.
    stays: AtomicBool,
    /// Content that the client did not get in time, for each of [`LANES`].
    late: Mutex<[Late; LANES.len()]>,
    exchanges: Mutex<Vec<Exchanged>>,
    unmarked: AtomicU64,
}

impl Playing {
    pub(crate) fn new(test: Test, tag: String, patience: Duration) -> Self {
        Self {
            counter: Mutex::new(ContentCounter::new(test.front.api)),
            test,
            session: None,
            tag,
            start: Instant::now(),
            patience,
            turn: AtomicUsize::new(0),
            seen: watch::Sender::default(),
            has_left: watch::Sender::default(),
            stays: AtomicBool::default(),
            late: Mutex::default(),
            exchanges: Mutex::default(),
            unmarked: AtomicU64::default(),
            answers_any: false,
            other_api: Mutex::default(),
        }
    }

    pub(crate) fn of_session(self, session: &Arc<Session>) -> Self {
        Self { session: Some(Arc::clone(session)), ..self }
    }

    /// A request repeats the first one of its turn with another body.
    pub(super) fn is_changed(&self, number: usize) -> bool {
        let exchanges = lock(&self.exchanges);
        exchanges.get(number).is_some_and(|own| {
            let first = exchanges.iter().find(|exchange| exchange.turn == own.turn);
            first.is_some_and(|first| first.body != own.body)
        })
    }

    /// The answer of the session to a request. Requests that repeat the first one of their turn with other bodies get the next
    /// answer that is none of a refusal.
    pub(super) fn recorded(
        &self,
        number: usize,
        turn: usize,
        dialect: &'static Dialect,
        asked: &Value,
    ) -> Option<Script> {
        let session = self.session.as_ref()?;
        answer(session, dialect, turn, self.is_changed(number), asked).map(recorded)
    }

    pub(crate) fn in_any_api(self) -> Self {
        Self { answers_any: true, ..self }
    }

    pub(super) fn dialect(&self, api: &'static Api) -> Option<&'static Dialect> {
        if api.name == self.test.upstream.api.name {
            return Some(self.test.upstream);
        }
        *lock(&self.other_api) = Some(api);
        upstream_dialect(api).filter(|_| self.answers_any)
    }

    /// `None` if it is the test's.
    pub(crate) fn other_api(&self) -> Option<&'static Api> {
        *lock(&self.other_api)
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    pub(crate) fn begin_turn(&self, turn: usize) {
        self.turn.store(turn, Ordering::SeqCst);
        *lock(&self.counter) = ContentCounter::new(self.test.front.api);
        self.seen.send_replace(Said::default());
        *lock(&self.late) = Default::default();
    }

    pub(crate) fn received(&self, bytes: &[u8]) {
        let size = lock(&self.counter).push(bytes);
        self.seen.send_replace(size);
    }

    pub(crate) fn left(&self) {
        self.has_left.send_replace(true);
    }

    pub(crate) fn exchanges(&self) -> Vec<Exchanged> {
        let mut exchanges = lock(&self.exchanges).clone();
        for response in exchanges.iter_mut().filter_map(|exchange| exchange.response.as_mut()) {
            if response.ended_at.is_zero() {
                response.ended_at = self.elapsed();
                response.end = Ended::Silent("the script sends nothing more".to_owned());
            }
        }
        exchanges
    }

    /// The gateway holds no connection to the upstream any more.
    pub(crate) fn is_quiet(&self) -> bool {
        let exchanges = lock(&self.exchanges);
        exchanges.iter().filter_map(|exchange| exchange.response.as_ref()).all(|it| !it.ended_at.is_zero())
    }

    /// The number of the exchange, its turn, and the tag of its response. `None` after too many requests.
    pub(super) fn requested(&self, exchange: Exchanged) -> Option<(usize, usize, String)> {
        let turn = self.turn.load(Ordering::SeqCst);
        let mut exchanges = lock(&self.exchanges);
        let number = exchanges.len();
        let most = MOST + self.session.as_ref().map_or(0, |session| session.requests.len());
        if number == most {
            return None;
        }
        exchanges.push(Exchanged { at: self.elapsed(), turn, ..exchange });
        Some((number, turn, format!("{}{number:x}", self.tag)))
    }

    /// A request without a mark may belong to this test.
    pub(super) fn requested_unmarked(&self) {
        self.unmarked.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn unmarked(&self) -> u64 {
        self.unmarked.load(Ordering::Relaxed)
    }

    pub(super) fn responds(&self, exchange: usize, status: u16, headers: &[(String, String)]) {
        let headers = headers.to_vec();
        self.change(exchange, |exchange| {
            exchange.response = Some(Response { status, headers, ..Response::default() });
        });
    }

    pub(super) fn sent(&self, exchange: usize, bytes: &[u8]) {
        let at = self.elapsed();
        self.change(exchange, |exchange| {
            if let Some(response) = &mut exchange.response {
                response.pieces.push((at, bytes.to_vec()));
            }
        });
    }

    pub(super) fn ended(&self, exchange: usize, how: Ended) {
        let at = self.elapsed();
        self.change(exchange, |exchange| {
            if let Some(response) = &mut exchange.response {
                (response.end, response.ended_at) = (how, at);
            }
        });
    }

    fn change(&self, exchange: usize, change: impl FnOnce(&mut Exchanged)) {
        if let Some(exchange) = lock(&self.exchanges).get_mut(exchange) {
            change(exchange);
        }
    }

    pub(super) async fn wait_before(&self, piece: &Piece) {
        if let Some(pause) = piece.after_leave {
            let mut left = self.has_left.subscribe();
            // A client that stays is waited for once.
            if !self.stays.load(Ordering::Relaxed)
                && timeout(self.patience, left.wait_for(|left| *left)).await.is_err()
            {
                self.stays.store(true, Ordering::Relaxed);
            }
            sleep(pause).await;
        } else if let Some(pause) = piece.pause {
            sleep(pause).await;
        } else if let Some(wanted) = piece.after {
            self.wait_for(wanted).await;
        }
    }

    /// Content that is late once may be lost, and is not waited for again; content behind it is, while more arrives.
    async fn wait_for(&self, wanted: Said) {
        let late = *lock(&self.late);
        let lacks = |seen: &Said, lane: usize| match late[lane] {
            Late { is_over: true, .. } => 0,
            Late { missing, .. } => wanted[lane].saturating_sub(missing + seen[lane]),
        };
        let mut seen = self.seen.subscribe();
        let has_all = |seen: &Said| (0..LANES.len()).all(|lane| lacks(seen, lane) == 0);
        if timeout(self.patience, seen.wait_for(has_all)).await.is_ok() {
            return;
        }
        let received = *self.seen.borrow();
        for (lane, late) in
            lock(&self.late).iter_mut().enumerate().filter(|(lane, _)| lacks(&received, *lane) > 0)
        {
            late.missing += lacks(&received, lane);
            late.is_over = received[lane] == std::mem::replace(&mut late.received, received[lane]);
        }
    }
}

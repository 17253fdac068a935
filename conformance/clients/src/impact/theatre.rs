//! Plays recorded responses to clients, to several at once.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use checker::Answer;
use gateway::{Act, Director, Stage};
use harness::live::RunRuntime;
use harness::lock;
use harness::process::Processes;
use results::{Beside, PlayedClient, PlayedOutcome};
use serde_json::Value;
use spec::Dialect;

use super::cache::Cache;
use super::clients::ImpactClient;
use super::compare::{Intact, outcome};
use super::home::Home;
use super::said::Said;
use super::stage::Acts;
use crate::evidence::millis;
use crate::judge::{error_of, quoted};
use crate::play::child::{Ended, Running};
use crate::protocol::{self, CaseMessage, Status};
use crate::suite::KEY;

/// Why a client was not played, if the time is over.
const LATE: &str = "the time was over";

/// A recorded response.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// The response, as it is sent.
    pub act: Act,
    /// The dialect that it is written in.
    pub dialect: &'static Dialect,
    /// The rules that it breaks.
    pub rules: Vec<String>,
    /// The same response intact, if it is known.
    pub intact: Option<Arc<Act>>,
}

/// Clients that play responses.
#[derive(Debug, Clone)]
pub struct Theatre {
    /// The cache of their packages.
    pub cache: Cache,
    /// The clients, whose packages are installed.
    pub clients: Vec<&'static ImpactClient>,
    /// Limit on the time of a client.
    pub timeout: Duration,
    /// Number of clients that run at once.
    pub jobs: usize,
}

struct Piece {
    said: Said,
    act: Arc<Act>,
    intact: Arc<Act>,
    beside: Beside,
    /// Of the intact response, if it was given.
    readings: Vec<Answer>,
    is_still_broken: bool,
    request: Value,
    /// The number of the first response with the same intact one and request.
    control: usize,
}

impl Piece {
    /// `seen` has the number of each pair of an intact response and its request.
    fn of(number: usize, recorded: Recorded, seen: &mut HashMap<(Vec<u8>, String), usize>) -> Self {
        let Recorded { act, dialect, rules, intact } = recorded;
        let said = Said::of(&act, dialect);
        let (intact, beside) = match intact {
            Some(intact) => (intact, Beside::Given),
            None if said.is_cut || said.has_error => (Arc::new(said.mended()), Beside::Wire),
            None => (Arc::new(said.mended()), Beside::Mended),
        };
        let is_still_broken = beside == Beside::Mended && said.is_still_broken(&intact, &rules);
        let request = said.request();
        let readings = match beside {
            Beside::Given => Said::of(&intact, dialect).readings,
            Beside::Mended | Beside::Wire => Vec::new(),
        };
        let control = *seen.entry((intact.body(), request.to_string())).or_insert(number);
        Self { said, act: Arc::new(act), intact, beside, readings, is_still_broken, request, control }
    }
}

impl Theatre {
    /// Plays responses to the clients of their API. Returns what each is compared with, and what each client did, in the order
    /// of the clients.
    ///
    /// # Errors
    ///
    /// If this machine cannot listen, or start programs.
    pub fn play(&self, recorded: Vec<Recorded>) -> io::Result<Vec<(Beside, Vec<PlayedClient>)>> {
        self.play_until(recorded, None)
    }

    /// Plays responses as [`Theatre::play`] does, and begins with none after this time.
    ///
    /// # Errors
    ///
    /// As [`Theatre::play`].
    pub fn play_until(
        &self,
        recorded: Vec<Recorded>,
        end: Option<Instant>,
    ) -> io::Result<Vec<(Beside, Vec<PlayedClient>)>> {
        let mut seen = HashMap::new();
        let recorded = recorded.into_iter().enumerate();
        let pieces: Vec<Piece> = recorded.map(|(at, one)| Piece::of(at, one, &mut seen)).collect();
        drop(seen);
        let acts = Arc::new(Acts::default());
        let director: Arc<dyn Director> = Arc::clone(&acts) as Arc<dyn Director>;
        let stage = Stage::start(0, director)?;
        let home = Home::new()?;
        let machine = RunRuntime::start()?;
        let processes = Processes::default();
        machine.on_interrupt({
            let processes = processes.clone();
            move || processes.end()
        });
        let next = AtomicUsize::new(0);
        let done = Mutex::new(BTreeMap::new());
        let work = || {
            while !machine.is_interrupted() {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(client) = self.clients.get(at) else { break };
                let mut player = Player {
                    theatre: self,
                    client,
                    home: &home,
                    acts: &acts,
                    stage: &stage,
                    processes: &processes,
                    running: None,
                };
                let is_late = || end.is_some_and(|end| Instant::now() >= end);
                let outcomes = player.all(&pieces, &|| machine.is_interrupted(), &is_late);
                lock(&done).insert(at, outcomes);
            }
        };
        thread::scope(|scope| {
            // Where the system starts no more threads, this one does the work.
            for _ in 1..self.jobs.clamp(1, self.clients.len().max(1)) {
                if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            work();
        });
        if machine.is_interrupted() {
            return Err(io::Error::other("interrupted"));
        }
        let done = std::mem::take(&mut *lock(&done));
        let of_piece = |at: usize| done.values().filter_map(|of| of.get(&at).cloned()).collect();
        Ok(pieces.iter().enumerate().map(|(at, piece)| (piece.beside, of_piece(at))).collect())
    }
}

struct Player<'t> {
    theatre: &'t Theatre,
    client: &'static ImpactClient,
    home: &'t Home,
    acts: &'t Acts,
    stage: &'t Stage,
    processes: &'t Processes,
    running: Option<Running>,
}

impl Player<'_> {
    /// Only responses of the client's API are played, by their number.
    fn all(
        &mut self,
        pieces: &[Piece],
        is_over: &dyn Fn() -> bool,
        is_late: &dyn Fn() -> bool,
    ) -> BTreeMap<usize, PlayedClient> {
        let mut controls: BTreeMap<usize, Ended> = BTreeMap::new();
        let mut played = BTreeMap::new();
        for (at, piece) in pieces.iter().enumerate() {
            if is_over() {
                break;
            }
            if piece.said.dialect.api.name != self.client.api {
                continue;
            }
            if is_late() {
                let name = self.client.name.clone();
                let (outcome, detail) = (PlayedOutcome::NotPlayed, LATE.to_owned());
                played.insert(at, PlayedClient { name, version: None, outcome, detail });
                continue;
            }
            let control = controls.entry(piece.control).or_insert_with(|| self.ask(piece, &piece.intact).0);
            let (ended, times) = if control_problem(control).is_some() {
                (None, 0)
            } else {
                let (ended, times) = self.ask(piece, &piece.act);
                (Some(ended), times)
            };
            let (outcome, mut detail) = match (&ended, control.reply()) {
                (Some(ended), Some(reply)) => {
                    let intact = Intact {
                        reply,
                        beside: piece.beside,
                        readings: &piece.readings,
                        is_still_broken: piece.is_still_broken,
                    };
                    outcome(&piece.said, &intact, ended)
                }
                _ => (PlayedOutcome::NotPlayed, quoted(&control_problem(control).unwrap_or_default())),
            };
            if times > 1 && outcome != PlayedOutcome::NotPlayed {
                let again = format!("it asks {times} times");
                detail = if detail.is_empty() { again } else { format!("{detail}; {again}") };
            }
            let reply = ended.as_ref().and_then(Ended::reply).or_else(|| control.reply());
            let version = reply.and_then(|reply| reply.client_version.clone());
            let version = version.or_else(|| control.reply()?.client_version.clone());
            played.insert(at, PlayedClient { name: self.client.name.clone(), version, outcome, detail });
        }
        played
    }

    /// A client that does not come to an end is asked again, because a busy machine also delays clients.
    fn ask(&mut self, piece: &Piece, act: &Arc<Act>) -> (Ended, usize) {
        match self.ask_once(piece, act) {
            (Ended::Hung, _) => self.ask_once(piece, act),
            ended => ended,
        }
    }

    fn ask_once(&mut self, piece: &Piece, act: &Arc<Act>) -> (Ended, usize) {
        let cue = self.acts.add(self.stage, act, piece.said.dialect.api);
        let timeout = self.theatre.timeout + Duration::from_secs(self.client.start_seconds);
        let message = CaseMessage {
            protocol: protocol::VERSION,
            case: "impact".to_owned(),
            base_url: cue.base_url.clone(),
            api_key: KEY.to_owned(),
            transport: if piece.said.is_body { "json" } else { "sse" }.to_owned(),
            request: piece.request.clone(),
            timeout_ms: millis(timeout),
            cancel_after_events: None,
            dialect: piece.said.dialect.name.to_owned(),
            steps: Vec::new(),
            max_retries: None,
        };
        let mut running = match self.running.take() {
            Some(running) => running,
            None => match self.start() {
                Ok(running) => running,
                Err(error) => return (Ended::Unreadable(format!("it cannot be started: {error}")), 0),
            },
        };
        let ended = running.ask(&message, timeout);
        match &ended {
            Ended::Replied(reply) => {
                if reply.status == Status::Ok && cue.times() == 0 {
                    return (Ended::Unreadable("it replied before it sent a request".to_owned()), 0);
                }
                if running.is_alive() {
                    self.running = Some(running);
                }
            }
            Ended::Died(how) if cue.times() == 0 => {
                return (Ended::Unreadable(format!("it cannot be started: {how}")), 0);
            }
            _ => {}
        }
        (ended, cue.times())
    }

    fn start(&self) -> io::Result<Running> {
        let mut command = self.home.command(self.client, &self.theatre.cache)?;
        Running::start(&mut command, None, false, self.processes)
    }
}

/// If the client does not handle the intact response, nothing follows from its other replies.
fn control_problem(control: &Ended) -> Option<String> {
    let intact = "it fails on the intact response, too";
    match control {
        Ended::Hung => Some(format!("{intact}: it does not come to an end")),
        Ended::Died(how) => Some(format!("{intact}: {how}")),
        Ended::Unreadable(why) => Some(why.clone()),
        Ended::Replied(reply) => match reply.status {
            Status::Ok => None,
            Status::Error => Some(format!("{intact}: {}", error_of(reply))),
            Status::Unsupported => {
                let why = error_of(reply);
                Some(if why.is_empty() { "its driver cannot send such a request".to_owned() } else { why })
            }
        },
    }
}

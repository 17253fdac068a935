//! The suite for a client.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use catalogue::Expect;
use gateway::Stage;
use harness::evidence::Evidence;
use harness::live::RunRuntime;
use harness::process::Processes;
use harness::{ProgressLine, lock};
use results::text::cut;
use results::{
    CLIENT_RUN_VERSION, ClientOutcome, ClientRun, ClientTest, ExpectedFailure, FailOn, LevelChange, OfClient,
    Shard, Test, Transport,
};
use spec::{Api, Dialect};

use super::cases::{cases, measured_cases};
use super::certificate::profiles;
use super::evidence::{CaseEvidence, millis};
use super::journal::Sent;
use super::judge::judge;
use super::protocol::{self, CaseMessage, Status};
use crate::cases::case::PlayedCase;
use crate::cases::retries;
use crate::cases::turns::PlayedTurn;
use crate::judge::requests::{problems, unsent};
use crate::play::child::{Ended, Running};
use crate::play::intact::Intact;
use crate::play::serving::CaseDesk;
use crate::play::spawn;
use crate::play::stage::{Playing, base_url};

/// The file with the report of a run.
pub const REPORT: &str = "client.json";
/// The API key for clients. It is not a secret.
pub(super) const KEY: &str = "sk-conformance-0000";
/// Maximum number of failures of all processes before the first reply.
const STARTS: usize = 3;

/// The mode in which a client runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// One process receives all cases, one a line.
    #[default]
    Lines,
    /// A process for each case.
    Spawn,
    /// The client fetches its cases over HTTP.
    Server,
}

impl Mode {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lines => "lines",
            Self::Spawn => "spawn",
            Self::Server => "server",
        }
    }
}

/// Maximum length of an error in a message.
const LONGEST: usize = 300;

/// The suite for a client.
#[derive(Debug, Clone)]
pub struct ClientSuite {
    /// The dialect of the server.
    pub dialect: &'static Dialect,
    /// The command of the client.
    pub command: Vec<OsString>,
    /// Its mode.
    pub mode: Mode,
    /// The transports of responses.
    pub transports: Vec<Transport>,
    /// Number of parallel processes.
    pub jobs: usize,
    /// Timeout of each case, instead of its own.
    pub timeout: Option<Duration>,
    /// The findings that fail the run.
    pub fail_on: FailOn,
    /// Rules with another level than their own.
    pub levels: Vec<LevelChange>,
    /// The name of the client.
    pub name: String,
    /// Its version; if absent, the one that its replies state.
    pub version: Option<String>,
    /// The profiles to check; all if empty.
    pub profiles: Vec<String>,
    /// Whether only some of their cases are sent, so that none can be complete.
    pub is_part: bool,
    /// The part of the run.
    pub shard: Option<Shard>,
    /// The expected failures.
    pub expected: Vec<ExpectedFailure>,
    /// The folder for the evidence of each case, if it is kept.
    pub out: Option<PathBuf>,
    /// The port of the server; 0 means any free port.
    pub port: u16,
    /// Origins of web pages that may fetch cases, besides pages of this machine.
    pub origins: Vec<String>,
    /// Whether each member of each event is made wrong, too, and the intact streams are played.
    pub has_members: bool,
    /// Maximum time without a request in the mode `server`.
    pub patience: Duration,
}

struct Finished {
    ended: Ended,
    took: Duration,
    /// Whether the request of the case had come by then: a reply without one is about no response.
    was_asked: bool,
}

impl ClientSuite {
    /// Returns a suite for a client that reads requests as lines, over all transports.
    pub fn new(dialect: &'static Dialect, name: String, command: Vec<OsString>) -> Self {
        Self {
            dialect,
            command,
            mode: Mode::Lines,
            transports: Transport::ALL.to_vec(),
            jobs: 2,
            timeout: None,
            fail_on: FailOn::default(),
            levels: Vec::new(),
            name,
            version: None,
            profiles: Vec::new(),
            is_part: false,
            shard: None,
            expected: Vec::new(),
            out: None,
            port: 0,
            origins: Vec::new(),
            has_members: false,
            patience: Duration::from_secs(20),
        }
    }

    /// Returns the cases to send, of those with a wanted name.
    pub fn cases(&self, is_wanted: &dyn Fn(&str) -> bool) -> Vec<PlayedCase> {
        let measured = if self.has_members { measured_cases(self.dialect) } else { Vec::new() };
        let is_sent = |case: &&PlayedCase| self.transports.contains(&case.transport) && is_wanted(&case.name);
        let mut all: Vec<_> = cases(self.dialect).iter().chain(&measured).filter(is_sent).cloned().collect();
        // Parts of a run are joined in this order.
        all.sort_by(|one, other| one.name.cmp(&other.name));
        if let Some(timeout) = self.timeout {
            for case in &mut all {
                case.set_timeout(timeout);
            }
        }
        all
    }

    /// Plays cases to the client, and judges its replies. In the mode `server`, `listening` receives the address of the
    /// server.
    ///
    /// # Errors
    ///
    /// Fails if the client cannot be started, or never replies.
    pub fn run(&self, cases: Vec<PlayedCase>, listening: &dyn Fn(&str)) -> io::Result<ClientRun> {
        let began = Instant::now();
        let cases: Arc<[PlayedCase]> = cases.into();
        let finished = Arc::new(AtomicUsize::new(0));
        let progress = {
            let (finished, all) = (Arc::clone(&finished), cases.len());
            ProgressLine::start(move |_| format!("{} of {all} cases", finished.load(Ordering::Relaxed)))
        };
        let machine = RunRuntime::start()?;
        let processes = Processes::default();
        machine.on_interrupt({
            let processes = processes.clone();
            move || processes.end()
        });
        let refused =
            |error: io::Error| io::Error::other(format!("the server cannot listen on a port: {error}"));
        let (playing, done) = if self.mode == Mode::Server {
            let (playing, done) = self.serve(&cases, listening, &finished, &machine).map_err(refused)?;
            (playing, Ok(done))
        } else {
            let (playing, stage) =
                Playing::start(self.dialect.api, Arc::clone(&cases), self.port, None).map_err(refused)?;
            let done = self.drive(&cases, &playing, &stage, &finished, (&processes, &machine));
            (playing, done)
        };
        drop(progress);
        if machine.is_interrupted() {
            let (finished, all) = (finished.load(Ordering::Relaxed), cases.len());
            return Err(io::Error::other(format!("interrupted after {finished} of {all} cases")));
        }
        let done = done?;
        let evidence: Vec<CaseEvidence> = done
            .iter()
            .enumerate()
            .map(|(at, done)| {
                let ended = done.as_ref().map(|done| (&done.ended, done.was_asked, done.took));
                CaseEvidence::new(ended, &playing.take(at), (self.dialect.api, KEY))
            })
            .collect();
        let replies = done.iter().filter_map(|done| done.as_ref()?.ended.reply());
        let replied_version = replies.into_iter().find_map(|reply| reply.client_version.clone());
        let mut tests = tests(self.dialect, &cases, &evidence);
        if let Some(folder) = &self.out {
            Evidence::open(folder).write_dialect(self.dialect)?;
            for (test, evidence) in tests.iter_mut().zip(&evidence) {
                let (file, hash) = evidence.write(folder, &test.name)?;
                (test.files, test.hash) = (vec![file], hash);
            }
        }
        Ok(ClientRun {
            client_run: CLIENT_RUN_VERSION,
            suite: env!("CARGO_PKG_VERSION").to_owned(),
            client: self.name.clone(),
            client_version: self.version.clone().or(replied_version),
            command: self.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            mode: self.mode.name().to_owned(),
            dialect: self.dialect.name.to_owned(),
            dialect_folder: self.dialect.folder_hash(),
            fail_on: self.fail_on,
            levels: self.levels.clone(),
            shard: self.shard,
            ms: millis(began.elapsed()),
            timeout: self.timeout.map(millis),
            profiles: profiles(&self.profiles, self.dialect, &tests),
            asked: self.profiles.clone(),
            is_part: self.is_part,
            tests,
            ..ClientRun::default()
        }
        .expecting(&self.expected))
    }

    fn message(&self, case: &PlayedCase, base_url: String) -> CaseMessage {
        CaseMessage {
            protocol: protocol::VERSION,
            case: case.name.clone(),
            base_url,
            api_key: KEY.to_owned(),
            transport: case.transport.name().to_owned(),
            request: case.request.clone(),
            timeout_ms: millis(case.timeout),
            cancel_after_events: case.cancel_after,
            dialect: self.dialect.name.to_owned(),
            max_retries: case.max_retries(),
            steps: case.turns.iter().map(PlayedTurn::case_step).collect(),
        }
    }

    fn drive(
        &self,
        cases: &[PlayedCase],
        playing: &Playing,
        stage: &Stage,
        finished: &AtomicUsize,
        (processes, machine): (&Processes, &RunRuntime),
    ) -> io::Result<Vec<Option<Finished>>> {
        let next = AtomicUsize::new(0);
        let starts = Starts::default();
        let done: Mutex<Vec<Option<Finished>>> = Mutex::new(cases.iter().map(|_| None).collect());
        let failed = OnceLock::new();
        let work = || {
            let mut child =
                Worker { suite: self, processes, starts: &starts, running: None, replied_after: None };
            while failed.get().is_none() && !machine.is_interrupted() {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(case) = cases.get(at) else { break };
                let began = Instant::now();
                let message = self.message(case, base_url(stage, at, self.dialect.api));
                match child.ask(case, &message, &|| playing.is_asked(at)) {
                    Ok(_) if machine.is_interrupted() => break,
                    Ok(ended) => {
                        let took = began.elapsed();
                        let was_asked = playing.is_asked(at);
                        if let Some(place) = lock(&done).get_mut(at) {
                            *place = Some(Finished { ended, took, was_asked });
                        }
                        finished.fetch_add(1, Ordering::Relaxed);
                    }
                    // The first problem counts.
                    Err(problem) => drop(failed.set(problem)),
                }
            }
        };
        thread::scope(|scope| {
            // Where the system starts no more threads, this one does the work.
            for _ in 1..self.jobs.clamp(1, cases.len().max(1)) {
                if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            work();
        });
        match failed.into_inner() {
            Some(problem) => Err(problem),
            None => self.tested(std::mem::take(&mut *lock(&done))),
        }
    }

    /// It is an error if the client did nothing for any of the cases: it was not tested then.
    fn tested(&self, done: Vec<Option<Finished>>) -> io::Result<Vec<Option<Finished>>> {
        let is_unsupported =
            |ended: &Ended| ended.reply().is_some_and(|reply| reply.status == Status::Unsupported);
        let has_tried = |done: &Finished| done.was_asked || is_unsupported(&done.ended);
        if done.iter().flatten().any(has_tried) {
            return Ok(done);
        }
        let how = match done.iter().flatten().next().map(|done| &done.ended) {
            Some(Ended::Died(how) | Ended::Unreadable(how)) => format!(": {how}"),
            Some(Ended::Replied(reply)) => {
                let error = reply.error.as_ref().and_then(|error| error.message.as_deref());
                let error = error.map(|error| format!(": {}", cut(error, LONGEST)));
                error.unwrap_or_else(|| "; docs/clients.md explains how a driver is asked".to_owned())
            }
            Some(Ended::Hung) | None => String::new(),
        };
        Err(io::Error::other(format!("{} sent no request for any case{how}", self.program())))
    }

    fn program(&self) -> String {
        self.command.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default()
    }

    fn serve(
        &self,
        cases: &Arc<[PlayedCase]>,
        listening: &dyn Fn(&str),
        finished: &AtomicUsize,
        machine: &RunRuntime,
    ) -> io::Result<(Arc<Playing>, Vec<Option<Finished>>)> {
        // The cases contain the address, which is known once the server listens.
        let (playing, stage) = Playing::start(
            self.dialect.api,
            Arc::clone(cases),
            self.port,
            Some(CaseDesk::new(self.origins.clone())),
        )?;
        let messages = cases
            .iter()
            .enumerate()
            .map(|(at, case)| (self.message(case, base_url(&stage, at, self.dialect.api)), case.limit()));
        let mut done = Vec::new();
        if let Some(desk) = &playing.desk {
            desk.open(messages.collect());
            listening(&format!("http://{}", stage.address()));
            while !desk.is_over(self.patience) && !machine.is_interrupted() {
                finished.store(desk.count(), Ordering::Relaxed);
                thread::sleep(Duration::from_millis(50));
            }
            done.extend((0..cases.len()).map(|at| {
                let (ended, took) = desk.take(at)?;
                Some(Finished { ended, took, was_asked: playing.is_asked(at) })
            }));
        }
        Ok((playing, done))
    }
}

pub(super) fn tests(
    dialect: &'static Dialect,
    cases: &[PlayedCase],
    evidence: &[CaseEvidence],
) -> Vec<ClientTest> {
    let ended: Vec<Option<Ended>> = evidence.iter().map(CaseEvidence::ended).collect();
    let intact = Intact::new(cases, &ended.iter().map(Option::as_ref).collect::<Vec<_>>());
    let all = cases.iter().zip(evidence).zip(&ended);
    all.map(|((case, evidence), ended)| {
        let sent = evidence.sent();
        let (outcome, detail) = match ended {
            Some(ended) => judged(case, (ended, evidence.was_asked), &intact, (&sent, dialect.api)),
            None => (ClientOutcome::NotExercised, "the client did not fetch this case".to_owned()),
        };
        let about = OfClient {
            title: case.title.clone(),
            expect: case.expect.name().to_owned(),
            because: case.reason.clone(),
            authority: case.authority.clone(),
            transport: case.transport,
            control: case.control.clone(),
            outcome,
        };
        let problems = problems(case, KEY, dialect, &sent);
        let problems: Vec<(&str, &str)> =
            problems.iter().map(|problem| (problem.rule, &*problem.message)).collect();
        ClientTest { ms: evidence.ms, ..Test::of_client(&case.name, about, detail, &problems) }
    })
    .collect()
}

fn judged(
    case: &PlayedCase,
    (ended, was_asked): (&Ended, bool),
    intact: &Intact<'_>,
    (sent, api): (&[Sent], &Api),
) -> (ClientOutcome, String) {
    let (outcome, detail) = judge(case, &intact.with_losses(case, ended));
    if ended.reply().is_some_and(|reply| reply.status != Status::Unsupported) && !was_asked {
        return (ClientOutcome::NotExercised, "the client replied before it sent a request".to_owned());
    }
    let is_read = matches!(outcome, ClientOutcome::Right | ClientOutcome::Wrong);
    if let Some(unsent) = unsent(case, sent).filter(|_| is_read) {
        return (ClientOutcome::NotExercised, unsent);
    }
    let Some(retries) = &case.retries else { return (outcome, detail) };
    match retries.unused(outcome, ended.reply(), sent, api) {
        Some(unused) => (ClientOutcome::NotExercised, unused),
        None if outcome == ClientOutcome::Fragile => {
            (outcome, format!("{}: {detail}", retries::count(sent, api)))
        }
        None => (outcome, detail),
    }
}

/// State that the processes of a client share until one of them replies.
#[derive(Default)]
struct Starts {
    failures: AtomicUsize,
    has_replied: AtomicBool,
}

struct Worker<'s> {
    suite: &'s ClientSuite,
    processes: &'s Processes,
    starts: &'s Starts,
    running: Option<Running>,
    replied_after: Option<Duration>,
}

impl Worker<'_> {
    /// `is_asked` returns whether the request of the case has come.
    fn ask(
        &mut self,
        case: &PlayedCase,
        message: &CaseMessage,
        is_asked: &dyn Fn() -> bool,
    ) -> io::Result<Ended> {
        let timeout = case.limit();
        let Self { suite, processes, starts, .. } = self;
        let refuse =
            |error: io::Error| io::Error::other(format!("{} cannot be started: {error}", suite.program()));
        if suite.mode == Mode::Spawn {
            return spawn::run(&suite.command, message, timeout, processes).map_err(refuse);
        }
        let mut running = if let Some(running) = self.running.take() {
            running
        } else {
            let is_late = starts.failures.load(Ordering::Relaxed) > 0;
            let (program, arguments) =
                suite.command.split_first().ok_or_else(|| refuse(io::Error::other("no command is set")))?;
            let mut command = Command::new(program);
            command.args(arguments);
            Running::start(&mut command, self.replied_after, is_late, processes).map_err(refuse)?
        };
        let ended = running.ask(message, timeout);
        self.replied_after = self.replied_after.or(running.replied_after());
        if let Ended::Replied(_) = ended {
            let is_alive = running.is_alive();
            self.running = is_alive.then_some(running);
            starts.has_replied.store(true, Ordering::Relaxed);
            return Ok(ended);
        }
        // A client may exit on a case that it must report, after it has sent the request.
        if (case.expect == Expect::MustSurvive || !is_asked())
            && starts.failures.fetch_add(1, Ordering::Relaxed) + 1 >= STARTS
            && !starts.has_replied.load(Ordering::Relaxed)
        {
            let how = match &ended {
                Ended::Died(how) => how.clone(),
                Ended::Unreadable(why) => why.clone(),
                _ => format!("no reply; the last line of stderr is {:?}", running.complaint()),
            };
            return Err(io::Error::other(format!("{} did not reply to any case: {how}", suite.program())));
        }
        Ok(ended)
    }
}

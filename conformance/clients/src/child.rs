//! A client as a child process that reads cases from stdin and writes replies to stdout, one JSON object a line.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

use super::protocol::{CaseMessage, Reply, Status, UNSUPPORTED};

/// Grace period after the timeout of a case.
const GRACE: Duration = Duration::from_secs(3);
/// Maximum time for a client to start for the first time.
const START: Duration = Duration::from_secs(30);
/// Maximum length of a line.
const LONGEST: usize = 8 << 20;
/// Number of other lines that a client may print before its reply.
const NOISE: usize = 10_000;
/// Maximum number of bytes kept of stderr.
const TAIL: usize = 4096;
/// Maximum time for the end of stderr to arrive.
const MOMENT: Duration = Duration::from_millis(500);

/// The end of a case.
#[derive(Debug, Clone, PartialEq)]
pub enum Ended {
    /// The client replied.
    Replied(Box<Reply>),
    /// It exited without a reply.
    Died(String),
    /// It did not reply in time.
    Hung,
    /// Its output is not a valid reply.
    Unreadable(String),
}

impl Ended {
    /// Returns the reply, if there is one.
    pub(super) fn reply(&self) -> Option<&Reply> {
        match self {
            Self::Replied(reply) => Some(reply),
            _ => None,
        }
    }
}

/// A running client.
pub(super) struct Running {
    process: Process,
    stdin: Option<ChildStdin>,
    lines: Receiver<Line>,
    stderr: Tail,
    /// Maximum time to start.
    start: Duration,
    /// Time until the first reply.
    replied_after: Option<Duration>,
    is_over: bool,
}

enum Line {
    Text(Vec<u8>),
    TooLong,
}

/// The programs of a run, which end with it.
#[derive(Debug, Clone, Default)]
pub(super) struct Processes(Arc<Mutex<Groups>>);

#[derive(Debug, Default)]
struct Groups {
    running: BTreeSet<u32>,
    is_over: bool,
}

impl Processes {
    /// Starts a program in a process group of its own.
    pub(super) fn start(&self, command: &mut Command) -> io::Result<Process> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let mut groups = self.groups();
        if groups.is_over {
            return Err(io::Error::other("the run was interrupted"));
        }
        let child = command.spawn()?;
        groups.running.insert(child.id());
        Ok(Process { child, all: self.clone() })
    }

    /// Kills all programs and their descendants, and lets no more start.
    pub(super) fn end(&self) {
        let mut groups = self.groups();
        groups.is_over = true;
        groups.running.iter().for_each(|group| kill(*group));
    }

    fn groups(&self) -> MutexGuard<'_, Groups> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A running program. When dropped, it and its descendants are killed.
pub(super) struct Process {
    pub(super) child: Child,
    all: Processes,
}

impl Drop for Process {
    fn drop(&mut self) {
        // Also if it has exited: its descendants may run on.
        kill(self.child.id());
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.all.groups().running.remove(&self.child.id());
    }
}

/// Kills a process group.
#[cfg_attr(not(unix), expect(unused_variables, reason = "other systems have no process groups"))]
fn kill(group: u32) {
    #[cfg(unix)]
    let _ = Command::new("kill")
        .args(["-KILL", "--", &format!("-{group}")])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
}

/// The end of what a program prints to stderr.
pub(super) struct Tail {
    kept: Arc<Mutex<Vec<u8>>>,
    /// Disconnected when stderr is closed.
    closed: Receiver<()>,
}

impl Tail {
    /// Reads stderr in a thread.
    pub(super) fn of(stderr: Option<impl Read + Send + 'static>) -> io::Result<Self> {
        let kept: Arc<Mutex<Vec<u8>>> = Arc::default();
        let tail = Arc::clone(&kept);
        let (open, closed) = sync_channel(0);
        Builder::new().spawn(move || {
            let (_open, Some(mut stderr)) = (open, stderr) else { return };
            let mut buffer = vec![0; TAIL];
            while let Ok(read @ 1..) = stderr.read(&mut buffer) {
                let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
                tail.extend_from_slice(buffer.get(..read).unwrap_or_default());
                let excess = tail.len().saturating_sub(TAIL);
                tail.drain(..excess);
            }
        })?;
        Ok(Self { kept, closed })
    }

    /// Returns the last line. The last message of a program that has ended may take a moment to arrive.
    pub(super) fn last_line(&self) -> String {
        let _ = self.closed.recv_timeout(MOMENT);
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&kept).into_owned();
        text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned()
    }
}

impl Running {
    /// Starts a client. `before` is the time until the first reply of an earlier process, if there was one: this one is
    /// not given much more.
    pub(super) fn start(
        command: &[OsString],
        before: Option<Duration>,
        processes: &Processes,
    ) -> io::Result<Self> {
        let (program, arguments) =
            command.split_first().ok_or_else(|| io::Error::other("no command is set"))?;
        let mut process = processes.start(Command::new(program).args(arguments))?;
        let child = &mut process.child;
        let (sender, lines) = sync_channel(64);
        let stdin = child.stdin.take();
        if let Some(stdout) = child.stdout.take() {
            Builder::new().spawn(move || read_lines(stdout, &sender))?;
        }
        let stderr = Tail::of(child.stderr.take())?;
        let start = before.map_or(START, |before| (2 * before + GRACE).min(START));
        Ok(Self { process, stdin, lines, stderr, start, replied_after: None, is_over: false })
    }

    /// Returns the time until its first reply, if there was one.
    pub(super) const fn replied_after(&self) -> Option<Duration> {
        self.replied_after
    }

    /// Returns whether the client can take another case.
    pub(super) fn is_alive(&mut self) -> bool {
        self.stdin.is_some() && !self.is_over
    }

    /// Returns the last line that the client printed to stderr.
    pub(super) fn complaint(&self) -> String {
        self.stderr.last_line()
    }

    /// Sends a case to the client and waits for the reply. A client that does not reply is killed.
    pub(super) fn ask(&mut self, message: &CaseMessage, timeout: Duration) -> Ended {
        let mut line = serde_json::to_string(message).unwrap_or_default();
        line.push('\n');
        let began = Instant::now();
        // Another thread writes, so that a client that reads slowly does not block the suite.
        let Some(mut stdin) = self.stdin.take() else { return self.died() };
        let (sender, written) = sync_channel(1);
        let writing = Builder::new().spawn(move || {
            let is_done = stdin.write_all(line.as_bytes()).and_then(|()| stdin.flush()).is_ok();
            let _ = sender.send(is_done.then_some(stdin));
        });
        if let Err(error) = writing {
            return Ended::Died(format!("no thread can be started to write to the client: {error}"));
        }
        let limit = timeout + if self.replied_after.is_some() { GRACE } else { self.start };
        match written.recv_timeout(limit) {
            Ok(Some(stdin)) => self.stdin = Some(stdin),
            Ok(None) => return self.died(),
            Err(_) => return Ended::Hung,
        }
        for _ in 0..NOISE {
            let left = limit.saturating_sub(began.elapsed());
            match self.lines.recv_timeout(left) {
                Ok(Line::Text(line)) => {
                    if let Some(ended) = reply(&line, &message.case) {
                        if let Ended::Replied(_) = ended {
                            self.replied_after.get_or_insert(began.elapsed());
                        }
                        return ended;
                    }
                }
                Ok(Line::TooLong) => {
                    return Ended::Unreadable(format!("a line of stdout is longer than {LONGEST} bytes"));
                }
                Err(RecvTimeoutError::Timeout) => return Ended::Hung,
                Err(RecvTimeoutError::Disconnected) => return self.died(),
            }
        }
        Ended::Unreadable(format!("none of the first {NOISE} lines of stdout is the reply"))
    }

    fn died(&mut self) -> Ended {
        self.is_over = true;
        let status = wait(&mut self.process.child, Duration::from_secs(1));
        died(status, &self.complaint())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A client exits when its stdin ends; one that does not is killed, with all that it has started.
        self.stdin = None;
        let _ = wait(&mut self.process.child, Duration::from_millis(500));
    }
}

/// Waits for a program. Returns its exit status, or none on a timeout.
pub(super) fn wait(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    let began = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if began.elapsed() < limit => thread::sleep(Duration::from_millis(2)),
            Ok(None) | Err(_) => return None,
        }
    }
}

/// Describes how a program ended without a reply.
pub(super) fn died(status: Option<ExitStatus>, complaint: &str) -> Ended {
    if status.and_then(|status| status.code()) == Some(UNSUPPORTED) {
        return Ended::Replied(Box::new(Reply { status: Status::Unsupported, ..Reply::default() }));
    }
    let how = match status {
        Some(status) => format!("the client exited ({status})"),
        None => "the client closed its stdout".to_owned(),
    };
    Ended::Died(if complaint.is_empty() { how } else { format!("{how}: {complaint}") })
}

/// Parses the reply to a case; none if the line is something else.
fn reply(line: &[u8], case: &str) -> Option<Ended> {
    let value: serde_json::Value = serde_json::from_slice(line).ok().filter(serde_json::Value::is_object)?;
    let named = value.get("case").and_then(serde_json::Value::as_str)?;
    if named != case {
        return None;
    }
    Some(match serde_json::from_value::<Reply>(value) {
        Ok(reply) => Ended::Replied(Box::new(reply)),
        Err(error) => Ended::Unreadable(format!("the reply does not match its schema: {error}")),
    })
}

/// Reads lines up to a maximum length, until the receiver is dropped.
fn read_lines(from: impl Read, to: &SyncSender<Line>) {
    let mut from = BufReader::new(from);
    loop {
        let mut line = Vec::new();
        let limit = u64::try_from(LONGEST).unwrap_or(u64::MAX);
        let sent = match from.by_ref().take(limit).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) if line.len() >= LONGEST => to.send(Line::TooLong),
            Ok(_) => to.send(Line::Text(line)),
        };
        if sent.is_err() {
            return;
        }
    }
}

//! A client as a child process that reads cases from stdin and writes replies to stdout, one JSON object a line.

use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::process::{ChildStderr, ChildStdin, Command, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use checker::lone_surrogate;
use harness::process::{Process, Processes, Tail, wait};
use harness::wire::Secrets;
use serde_json::Value;

use crate::protocol::{CaseMessage, Reply, Status, UNSUPPORTED};

/// Grace period after the timeout of a case.
const GRACE: Duration = Duration::from_secs(3);
/// Maximum time for a client to start for the first time.
const START: Duration = Duration::from_secs(30);
/// The same after a process that did not reply.
const START_AGAIN: Duration = Duration::from_secs(5);
const LONGEST: usize = 8 << 20;
/// Number of other lines that a client may print before its reply.
const NOISE: usize = 10_000;

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
    pub(crate) fn of(reply: Value) -> Self {
        match serde_json::from_value(reply) {
            Ok(reply) => Self::Replied(Box::new(reply)),
            Err(error) => Self::Unreadable(format!("the reply does not match its schema: {error}")),
        }
    }

    pub(crate) fn reply(&self) -> Option<&Reply> {
        match self {
            Self::Replied(reply) => Some(reply),
            _ => None,
        }
    }
}

pub(crate) struct Running {
    process: Process,
    stdin: Option<ChildStdin>,
    lines: Receiver<OutputLine>,
    stderr: Tail,
    start: Duration,
    /// Time until the first reply.
    replied_after: Option<Duration>,
    is_over: bool,
}

enum OutputLine {
    Text(Vec<u8>),
    TooLong,
}

impl Running {
    /// `before` is the time until the first reply of an earlier process. This process gets little more, nor does it if
    /// another one was late.
    pub(crate) fn start(
        command: &mut Command,
        before: Option<Duration>,
        is_late: bool,
        processes: &Processes,
    ) -> io::Result<Self> {
        let mut process = processes.start(command)?;
        let child = &mut process.child;
        let (sender, lines) = sync_channel(64);
        let stdin = child.stdin.take();
        if let Some(stdout) = child.stdout.take() {
            Builder::new().spawn(move || read_lines(stdout, &sender))?;
        }
        let stderr = tail(child.stderr.take())?;
        let first = if is_late { START_AGAIN } else { START };
        let start = before.map_or(first, |before| (2 * before + GRACE).min(START));
        Ok(Self { process, stdin, lines, stderr, start, replied_after: None, is_over: false })
    }

    pub(crate) const fn replied_after(&self) -> Option<Duration> {
        self.replied_after
    }

    pub(crate) fn is_alive(&mut self) -> bool {
        self.stdin.is_some() && !self.is_over
    }

    /// The last line on stderr.
    pub(crate) fn complaint(&self) -> String {
        self.stderr.last_line()
    }

    /// A client that does not reply is killed.
    pub(crate) fn ask(&mut self, message: &CaseMessage, timeout: Duration) -> Ended {
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
                Ok(OutputLine::Text(line)) => {
                    if let Some(ended) = reply(&line, &message.case) {
                        if let Ended::Replied(_) = ended {
                            self.replied_after.get_or_insert(began.elapsed());
                        }
                        return ended;
                    }
                }
                Ok(OutputLine::TooLong) => {
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

pub(crate) fn tail(stderr: Option<ChildStderr>) -> io::Result<Tail> {
    Tail::of(stderr.map(|stderr| Box::new(stderr) as Box<dyn Read + Send>), None, &Secrets::new(&[]))
}

pub(crate) fn died(status: Option<ExitStatus>, complaint: &str) -> Ended {
    if status.and_then(|status| status.code()) == Some(UNSUPPORTED) {
        return Ended::Replied(Box::new(Reply { status: Status::Unsupported, ..Reply::default() }));
    }
    let how = match status {
        Some(status) => format!("the client exited ({status})"),
        None => "the client closed its stdout".to_owned(),
    };
    Ended::Died(if complaint.is_empty() { how } else { format!("{how}: {complaint}") })
}

/// `None` if the line is something else.
fn reply(line: &[u8], case: &str) -> Option<Ended> {
    let value = json(&String::from_utf8_lossy(line))?;
    let is_meant = value.get("case").is_some_and(|named| named == case);
    is_meant.then(|| Ended::of(value))
}

/// A client may hand half of a character on. U+FFFD takes its place.
pub(crate) fn json(line: &str) -> Option<Value> {
    let mut whole = String::new();
    let mut rest = line;
    while let Some(at) = lone_surrogate(rest) {
        let (before, half) = rest.split_at_checked(at)?;
        whole.push_str(before);
        whole.push(char::REPLACEMENT_CHARACTER);
        rest = half.get("\\ud800".len()..)?;
    }
    whole.push_str(rest);
    serde_json::from_str(&whole).ok()
}

/// Lines have a maximum length. Ends when the receiver is dropped.
fn read_lines(from: impl Read, to: &SyncSender<OutputLine>) {
    let mut from = BufReader::new(from);
    loop {
        let mut line = Vec::new();
        let limit = u64::try_from(LONGEST).unwrap_or(u64::MAX);
        let sent = match from.by_ref().take(limit).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) if line.len() >= LONGEST => to.send(OutputLine::TooLong),
            Ok(_) => to.send(OutputLine::Text(line)),
        };
        if sent.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_a_character_is_read() {
        let text = |line| json(line).and_then(|value| value.as_str().map(str::to_owned));
        assert_eq!(text(r#""a\ud83d\ude00 \ud83d\ude"#), None);
        assert_eq!(
            text(r#""a\ud83d\ude00 \ud83d b\ude00\\ud83d""#).unwrap(),
            "a😀 \u{fffd} b\u{fffd}\\ud83d"
        );
    }
}

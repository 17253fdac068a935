//! A client that is started once for each case, with the base URL as its last argument.

use std::ffi::OsString;
use std::io::Read as _;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::Builder;
use std::time::Duration;
use std::{env, fs, io, process};

use harness::process::{Processes, wait};
use serde_json::Value;

use super::child::{Ended, died, json, tail};
use crate::protocol::{CaseMessage, Reply, ReplyError, Status};

/// Grace period after the timeout of a case, for the start of the client.
const GRACE: Duration = Duration::from_secs(10);
/// Maximum number of bytes read of stdout.
const LONGEST: u64 = 8 << 20;

/// The reply is the last line of stdout that is a JSON object with a `status`. Without such a line, stdout is the text
/// of the response, and an exit code other than 0 reports an error.
pub(crate) fn run(
    command: &[OsString],
    message: &CaseMessage,
    timeout: Duration,
    processes: &Processes,
) -> io::Result<Ended> {
    let (program, arguments) = command.split_first().ok_or_else(|| io::Error::other("no command is set"))?;
    let request = RequestFile::new(message)?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .arg(&message.base_url)
        .env("CONFORMANCE_CASE", &message.case)
        .env("CONFORMANCE_BASE_URL", &message.base_url)
        .env("CONFORMANCE_API_KEY", &message.api_key)
        .env("CONFORMANCE_TRANSPORT", &message.transport)
        .env("CONFORMANCE_DIALECT", &message.dialect)
        .env("CONFORMANCE_TIMEOUT_MS", message.timeout_ms.to_string())
        .env("CONFORMANCE_REQUEST", &request.0);
    if let Some(events) = message.cancel_after_events {
        command.env("CONFORMANCE_CANCEL_AFTER_EVENTS", events.to_string());
    }
    if let Some(retries) = message.max_retries {
        command.env("CONFORMANCE_MAX_RETRIES", retries.to_string());
    }
    if !message.steps.is_empty() {
        command.env("CONFORMANCE_STEPS", serde_json::to_string(&message.steps).unwrap_or_default());
    }
    let mut process = processes.start(&mut command)?;
    drop(process.child.stdin.take());
    let stderr = tail(process.child.stderr.take())?;
    let stdout = process.child.stdout.take();
    let reading = Builder::new().spawn(move || {
        let mut text = Vec::new();
        // Longer output is cut, and is not a reply.
        let _ = stdout.map(|stdout| stdout.take(LONGEST).read_to_end(&mut text));
        text
    })?;
    let Some(status) = wait(&mut process.child, timeout + GRACE) else { return Ok(Ended::Hung) };
    // Its descendants may hold its output open.
    drop(process);
    let text = reading.join().unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    if let Some(reply) = text.lines().rev().find_map(|line| reply(line, &message.case)) {
        return Ok(reply);
    }
    Ok(match status.code() {
        Some(0) => Ended::Replied(Box::new(Reply {
            text: Some(Some(text.strip_suffix('\n').unwrap_or(&text).to_owned())),
            ..Reply::default()
        })),
        Some(code) if code != crate::protocol::UNSUPPORTED => {
            let message = Some(format!("exit code {code}: {}", stderr.last_line()));
            let error = Some(ReplyError { message, ..ReplyError::default() });
            Ended::Replied(Box::new(Reply { status: Status::Error, error, ..Reply::default() }))
        }
        _ => died(Some(status), &stderr.last_line()),
    })
}

fn reply(line: &str, case: &str) -> Option<Ended> {
    let value = json(line)?;
    let is_reply = value.get("status").is_some_and(Value::is_string);
    let is_meant = value.get("case").is_none_or(|named| named == case);
    (is_reply && is_meant).then(|| Ended::of(value))
}

/// A temporary file with the request of a case, removed on drop.
struct RequestFile(std::path::PathBuf);

impl RequestFile {
    fn new(message: &CaseMessage) -> io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = env::temp_dir().join(format!("conformance-client-{}-{number}.json", process::id()));
            let mut file = match fs::File::create_new(&path) {
                // It is left from a process that was killed, or prepared by somebody else.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                created => created?,
            };
            let made = Self(path);
            io::Write::write_all(&mut file, message.request.to_string().as_bytes())?;
            return Ok(made);
        }
    }
}

impl Drop for RequestFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

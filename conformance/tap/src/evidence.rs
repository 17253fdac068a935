//! Recordings of what passed, within limits, and an index of them.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::Serialize;

use crate::judge::{Judged, recording};
use crate::metrics::Metrics;
use crate::outcome::{Outcome, Turn};
use crate::passed::Passed;

/// Which exchanges are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Keep {
    /// Those with findings, or with a bad end
    #[default]
    Findings,
    /// All of them
    All,
}

/// The index of the evidence, a line of JSON for each exchange.
const INDEX: &str = "index.ndjson";
/// The recordings, beside it.
const FOLDER: &str = "exchanges";

/// Limits of the recordings that are kept.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Exchanges to keep.
    pub keep: Keep,
    /// Beyond this size, the oldest are removed.
    pub most_bytes: u64,
    /// Older ones are removed.
    pub most_age: Duration,
    /// The number of recordings of a rule in an hour.
    pub per_hour: u32,
    /// The header of requests whose value is the session in the index.
    pub session: Option<String>,
    /// Filler takes the place of texts in recordings.
    pub shape_only: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            keep: Keep::default(),
            most_bytes: 1 << 30,
            most_age: Duration::MAX,
            per_hour: 20,
            session: None,
            shape_only: false,
        }
    }
}

/// A folder of recordings.
#[derive(Debug)]
pub struct Evidence {
    folder: PathBuf,
    metrics: Metrics,
    state: Mutex<Store>,
}

#[derive(Debug)]
struct Store {
    limits: Limits,
    index: File,
    files: VecDeque<(PathBuf, u64)>,
    bytes: u64,
    count: u64,
    /// The number of recordings of a rule in the hour that began then.
    hour: Instant,
    rules: BTreeMap<String, u32>,
}

#[derive(Debug, Serialize)]
struct IndexLine<'l> {
    time: f64,
    session: Option<&'l str>,
    api: &'l str,
    upstream: &'l str,
    model: Option<&'l str>,
    status: Option<u16>,
    /// The number of turns of a WebSocket.
    #[serde(skip_serializing_if = "Option::is_none")]
    turns: Option<usize>,
    outcome: Outcome,
    rules: Vec<&'l str>,
    clients: &'l [String],
    first_event_ms: Option<u128>,
    max_gap_ms: Option<u128>,
    input_tokens: Option<u64>,
    cached_tokens: Option<u64>,
    output_tokens: Option<u64>,
    bytes: usize,
    /// The recording, if it is kept.
    path: Option<&'l str>,
}

impl Evidence {
    /// The folder is made if it is not there. Recordings in it count as its own.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn open(folder: &Path, limits: Limits, metrics: &Metrics) -> io::Result<Self> {
        fs::create_dir_all(folder.join(FOLDER))?;
        let mut files = Vec::new();
        for entry in fs::read_dir(folder.join(FOLDER))? {
            let entry = entry?;
            let about = entry.metadata()?;
            if about.is_file() {
                files.push((entry.path(), about.len()));
            }
        }
        files.sort();
        let bytes = files.iter().map(|(_, size)| size).sum();
        metrics.evidence(bytes);
        Ok(Self {
            folder: folder.to_owned(),
            metrics: metrics.clone(),
            state: Mutex::new(Store {
                limits,
                index: OpenOptions::new().create(true).append(true).open(folder.join(INDEX))?,
                files: files.into(),
                bytes,
                count: 0,
                hour: Instant::now(),
                rules: BTreeMap::new(),
            }),
        })
    }

    /// Exchanges from now on are kept by these limits.
    pub fn limit(&self, limits: Limits) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).limits = limits;
    }

    /// Every exchange has a line in the index, and some are kept.
    ///
    /// # Errors
    ///
    /// Those of the file system.
    pub fn add(&self, passed: &Passed, judged: &Judged) -> io::Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let rules: Vec<&str> = judged.report.findings.iter().map(|finding| &*finding.rule).collect();
        let limits = state.limits.clone();
        let (outcome, turns) = (judged.outcome(), &judged.turns);
        let is_meant = limits.keep == Keep::All || !rules.is_empty() || !outcome.is_regular();
        let path = if is_meant && state.is_due(&rules, outcome) {
            let shape = limits.shape_only.then(|| recording(passed, true));
            Some(self.write(&mut state, passed, shape.as_ref().unwrap_or(&judged.recording))?)
        } else {
            None
        };
        let session =
            limits.session.as_deref().and_then(|name| passed.request_headers.get(name)?.to_str().ok());
        let line = IndexLine {
            time: passed.began.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64(),
            session,
            api: judged.api.name,
            upstream: &passed.upstream,
            model: turns.iter().find_map(|turn| turn.model.as_deref()),
            status: passed.response.as_ref().map(|(status, _)| *status),
            turns: passed.is_socket().then_some(turns.len()),
            outcome,
            rules,
            clients: &judged.broken,
            first_event_ms: turns.iter().find_map(|turn| turn.first).map(|time| time.as_millis()),
            max_gap_ms: turns.iter().filter_map(|turn| turn.gap).max().map(|time| time.as_millis()),
            input_tokens: sum(turns, |turn| turn.tokens?.input),
            cached_tokens: sum(turns, |turn| Some(turn.cache?.0)),
            output_tokens: sum(turns, |turn| turn.tokens?.output),
            bytes: passed.body.len(),
            path: path.as_deref(),
        };
        let line = serde_json::to_string(&line)? + "\n";
        state.index.write_all(line.as_bytes())
    }

    /// The oldest recordings beyond the limits are removed.
    fn write(&self, state: &mut Store, passed: &Passed, recording: &str) -> io::Result<String> {
        state.count += 1;
        let began = passed.began.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis();
        let name = format!("{FOLDER}/{began:015}-{:06}.jsonl", state.count);
        let (path, size) = (self.folder.join(&name), recording.len() as u64);
        fs::write(&path, recording)?;
        state.files.push_back((path, size));
        state.bytes += size;
        let surplus = surplus(&state.files, state.bytes, &state.limits, began);
        for (oldest, size) in state.files.drain(..surplus) {
            // Somebody may have removed it.
            let _ = fs::remove_file(oldest);
            state.bytes = state.bytes.saturating_sub(size);
        }
        self.metrics.evidence(state.bytes);
        Ok(name)
    }
}

/// The oldest recordings come first, and their names begin with their time in milliseconds.
fn surplus(files: &VecDeque<(PathBuf, u64)>, mut bytes: u64, limits: &Limits, now: u128) -> usize {
    let age = |path: &Path| {
        let (began, _) = path.file_name()?.to_str()?.split_once('-')?;
        Some(now.saturating_sub(began.parse().ok()?))
    };
    let goes = |(path, size): &&(PathBuf, u64)| {
        let goes =
            bytes > limits.most_bytes || age(path).is_some_and(|age| age > limits.most_age.as_millis());
        bytes = bytes.saturating_sub(*size);
        goes
    };
    files.iter().take_while(goes).count()
}

fn sum(turns: &[Turn], count: impl Fn(&Turn) -> Option<u64>) -> Option<u64> {
    turns.iter().filter_map(count).reduce(u64::saturating_add)
}

const HOUR: Duration = Duration::from_secs(3600);

impl Store {
    /// One of the rules, or else the outcome, has few recordings in this hour.
    fn is_due(&mut self, rules: &[&str], outcome: Outcome) -> bool {
        if self.hour.elapsed() >= HOUR {
            (self.hour, self.rules) = (Instant::now(), BTreeMap::new());
        }
        let names = if rules.is_empty() { &[outcome.name()] } else { rules };
        let mut is_due = false;
        for name in names {
            let count = self.rules.entry((*name).to_owned()).or_default();
            is_due |= *count < self.limits.per_hour;
            *count += 1;
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_recordings_go_first() {
        let files: VecDeque<_> = [100, 200, 300]
            .map(|began: u64| (PathBuf::from(format!("exchanges/{began:015}-000001.jsonl")), 10))
            .into();
        let surplus = |most_bytes, age| {
            let most_age = Duration::from_millis(age);
            surplus(&files, 30, &Limits { most_bytes, most_age, ..Limits::default() }, 350)
        };
        assert_eq!(surplus(30, 250), 0);
        assert_eq!((surplus(20, 250), surplus(9, 250)), (1, 3));
        assert_eq!((surplus(30, 249), surplus(30, 149)), (1, 2));
    }
}

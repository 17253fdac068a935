//! Requests and end of each case as files, so that a run can be judged again.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use gateway::Received;
use harness::evidence::{EXCHANGES, Evidence};
use harness::{hash, replace};
use recordings::capture::{REDACTED, is_public_header};
use serde::{Deserialize, Serialize};
use spec::Api;

use super::journal::Sent;
use super::protocol::Reply;
use crate::cases::retries::REQUEST_KEY;
use crate::play::child::Ended;

pub(super) const FILE: &str = ".case.json";

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct CaseEvidence {
    /// How the case ended; absent if the client did not fetch it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ended: Option<EndedFile>,
    /// Whether the client had sent the request when the case ended.
    pub(super) was_asked: bool,
    pub(super) ms: u64,
    sent: Vec<SentFile>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum EndedFile {
    Replied { reply: Box<Reply> },
    Died { how: String },
    Hung,
    Unreadable { why: String },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum SentFile {
    Request {
        /// Microseconds since the first request.
        at_us: u64,
        method: String,
        path: String,
        headers: Vec<(String, String)>,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        body: String,
        /// The body, if it is no text.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        bytes: Vec<u8>,
    },
    Message {
        text: String,
    },
}

impl CaseEvidence {
    /// Headers that may have secrets of the user are left out.
    pub(super) fn new(
        ended: Option<(&Ended, bool, Duration)>,
        sent: &[Sent],
        (api, key): (&Api, &str),
    ) -> Self {
        let first = sent.iter().find_map(|one| match one {
            Sent::Request(_, at) => Some(*at),
            Sent::Message(_) => None,
        });
        let since = |at: Instant| at.saturating_duration_since(first.unwrap_or(at));
        let of_sent = |one: &Sent| match one {
            Sent::Message(text) => SentFile::Message { text: text.clone() },
            Sent::Request(request, at) => {
                let text = String::from_utf8(request.body.clone());
                let (body, bytes) =
                    text.map_or_else(|error| (String::new(), error.into_bytes()), |text| (text, Vec::new()));
                SentFile::Request {
                    at_us: u64::try_from(since(*at).as_micros()).unwrap_or(u64::MAX),
                    method: request.method.clone(),
                    path: request.path.clone(),
                    headers: request.headers.iter().map(|header| masked(header, api, key)).collect(),
                    body,
                    bytes,
                }
            }
        };
        let (was_asked, took) =
            ended.map_or((false, Duration::ZERO), |(_, was_asked, took)| (was_asked, took));
        Self {
            ended: ended.map(|(ended, ..)| EndedFile::of(ended)),
            was_asked,
            ms: millis(took),
            sent: sent.iter().map(of_sent).collect(),
        }
    }

    pub(super) fn ended(&self) -> Option<Ended> {
        self.ended.clone().map(|ended| match ended {
            EndedFile::Replied { reply } => Ended::Replied(reply),
            EndedFile::Died { how } => Ended::Died(how),
            EndedFile::Hung => Ended::Hung,
            EndedFile::Unreadable { why } => Ended::Unreadable(why),
        })
    }

    pub(super) fn sent(&self) -> Vec<Sent> {
        let began = Instant::now();
        let of_file = |one: &SentFile| match one {
            SentFile::Message { text } => Sent::Message(text.clone()),
            SentFile::Request { at_us, method, path, headers, body, bytes } => {
                let request = Received {
                    method: method.clone(),
                    path: path.clone(),
                    query: String::new(),
                    headers: headers.clone(),
                    body: if bytes.is_empty() { body.clone().into_bytes() } else { bytes.clone() },
                };
                let at = began.checked_add(Duration::from_micros(*at_us)).unwrap_or(began);
                Sent::Request(request, at)
            }
        };
        self.sent.iter().map(of_file).collect()
    }

    pub(super) fn write(&self, folder: &Path, case: &str) -> io::Result<(String, String)> {
        let (file, text) = (file_of(case), serde_json::to_string(self)? + "\n");
        let path = folder.join(&file);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        replace(&path, &text)?;
        Ok((file, hash(text.as_bytes())))
    }

    pub(super) fn read(folder: &Path, case: &str) -> io::Result<(Self, String)> {
        let bytes = Evidence::open(folder).read(&file_of(case))?;
        Ok((serde_json::from_slice(&bytes)?, hash(&bytes)))
    }
}

impl EndedFile {
    fn of(ended: &Ended) -> Self {
        match ended.clone() {
            Ended::Replied(reply) => Self::Replied { reply },
            Ended::Died(how) => Self::Died { how },
            Ended::Hung => Self::Hung,
            Ended::Unreadable(why) => Self::Unreadable { why },
        }
    }
}

pub(super) fn file_of(case: &str) -> String {
    format!("{EXCHANGES}/{case}{FILE}")
}

fn masked((name, value): &(String, String), api: &Api, key: &str) -> (String, String) {
    let is_own =
        || api.request.with_key(key).any(|(header, own)| header.eq_ignore_ascii_case(name) && own == *value);
    let names_request = || name.eq_ignore_ascii_case(REQUEST_KEY);
    let value = if is_public_header(name) || names_request() || is_own() { value } else { REDACTED };
    (name.clone(), value.to_owned())
}

pub(super) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_that_may_have_secrets_are_left_out() {
        let api = spec::dialect("openai").unwrap().api;
        let kept = |name: &str, value: &str| masked(&(name.to_owned(), value.to_owned()), api, "sk-own").1;
        assert_eq!(kept("Content-Type", "text/plain"), "text/plain");
        assert_eq!(kept("authorization", "Bearer sk-own"), "Bearer sk-own");
        assert_eq!(kept("Idempotency-Key", "1"), "1");
        for name in ["authorization", "cookie", "x-own-token"] {
            assert_eq!(kept(name, "Bearer sk-of-user"), REDACTED, "{name}");
        }
    }
}

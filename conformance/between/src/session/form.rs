//! The form of a session: a JSON object in each line, in the order of the requests.

use std::collections::BTreeMap;
use std::io;

use serde::Deserialize;
use serde_json::json;

use super::recording::FileExchange;
use super::{RecordedRequest, Session};

/// Maximum size of all request bodies.
pub(super) const LARGEST_BODIES: usize = 256 << 20;
/// How the name of a fault begins that breaks the connection.
const CUT: &str = "cut";

/// A line of a file. Other members are ignored.
#[derive(Debug, Deserialize)]
struct SessionLine {
    method: String,
    target: String,
    #[serde(default)]
    headers: Headers,
    #[serde(default)]
    body: Option<Body>,
    #[serde(default)]
    fault: Option<String>,
    #[serde(default)]
    response: Option<RecordedResponse>,
}

/// A body: its text, or what differs from the body before it.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Body {
    Text(String),
    Change { head: usize, mid: String, tail: usize },
}

/// Headers: pairs, or an object.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Headers {
    Pairs(Vec<(String, String)>),
    Object(BTreeMap<String, String>),
}

impl Default for Headers {
    fn default() -> Self {
        Self::Pairs(Vec::new())
    }
}

impl Headers {
    fn pairs(self) -> Vec<(String, String)> {
        match self {
            Self::Pairs(pairs) => pairs,
            Self::Object(members) => members.into_iter().collect(),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
struct RecordedResponse {
    #[serde(default)]
    status: Option<u16>,
    #[serde(default)]
    headers: Headers,
    #[serde(default)]
    body: Option<String>,
}

/// Whether the first line is one of a session.
pub(super) fn is_form(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty());
    first.is_some_and(|line| serde_json::from_str::<SessionLine>(line).is_ok())
}

pub(super) fn read(text: &str) -> io::Result<Vec<FileExchange>> {
    let (mut before, mut size) = (String::new(), 0);
    let mut exchanges = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let wrong = |problem: &str| io::Error::other(format!("line {}: {problem}", number + 1));
        let line: SessionLine = serde_json::from_str(line).map_err(|error| wrong(&error.to_string()))?;
        let body = match line.body {
            None => String::new(),
            Some(Body::Text(text)) => text,
            Some(Body::Change { head, mid, tail }) => changed(&before, head, &mid, tail)
                .ok_or_else(|| wrong("`body` does not fit the body before it"))?,
        };
        size += body.len();
        if size > LARGEST_BODIES {
            return Err(wrong(&format!("the bodies are larger than {LARGEST_BODIES} bytes")));
        }
        if !body.is_empty() {
            before.clone_from(&body);
        }
        let is_answered = line.response.is_some();
        let response = line.response.unwrap_or_default();
        exchanges.push(FileExchange {
            method: line.method,
            target: line.target,
            is_answered,
            recorded: RecordedRequest {
                headers: line.headers.pairs(),
                body,
                status: response.status.unwrap_or(200),
                response_headers: response.headers.pairs(),
                response: response.body.unwrap_or_default(),
                is_cut: line.fault.is_some_and(|fault| fault.starts_with(CUT)),
                ..RecordedRequest::default()
            },
        });
    }
    Ok(exchanges)
}

impl Session {
    /// The lines of its file.
    pub fn lines(&self) -> String {
        let mut text = String::new();
        for (number, request) in self.requests.iter().enumerate() {
            let line = json!({
                "n": number + 1,
                "method": "POST",
                "target": request.target(self.front.api),
                "headers": request.headers,
                "body": request.body,
                "fault": if request.is_cut { CUT } else { "" },
                "response": {"status": request.status, "headers": request.response_headers, "body": request.response},
            });
            text += &line.to_string();
            text.push('\n');
        }
        text
    }
}

fn changed(before: &str, head: usize, mid: &str, tail: usize) -> Option<String> {
    let at = |characters: usize| {
        if before.is_ascii() {
            return (characters <= before.len()).then_some(characters);
        }
        before.char_indices().map(|(at, _)| at).chain([before.len()]).nth(characters)
    };
    let count = if before.is_ascii() { before.len() } else { before.chars().count() };
    let begin = before.get(..at(head)?)?;
    let end = before.get(at(count.checked_sub(tail)?)?..)?;
    Some([begin, mid, end].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_read_from_its_changes() {
        assert_eq!(changed("{\"a\":1}", 5, "22", 1).unwrap(), "{\"a\":22}");
        assert_eq!(changed("äöü", 1, "x", 1).unwrap(), "äxü");
        assert_eq!(changed("abc", 4, "", 0), None);
        assert_eq!(changed("abc", 0, "", 4), None);
    }
}

//! Sessions in files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;

use super::{RecordedRequest, Session};
use crate::dialects::front_dialect;

/// The end of the names of files with sessions.
const EXTENSION: &str = "jsonl";
/// The usual name of such a file: its folder has the name of the session.
const USUAL: &str = "session";
/// Maximum size of a file, of all request bodies, and depth of folders.
const LARGEST: u64 = 64 << 20;
const LARGEST_BODIES: usize = 256 << 20;
const DEEPEST: usize = 8;
/// Headers of one connection, of the body as it was sent, and keys: the suite sends its own.
const OWN: [&str; 15] = [
    "host",
    "connection",
    "content-length",
    "transfer-encoding",
    "te",
    "trailer",
    "upgrade",
    "expect",
    "accept-encoding",
    "content-encoding",
    "cookie",
    "set-cookie",
    "date",
    "proxy-authorization",
    "authorization",
];
/// How the name of a fault begins that breaks the connection.
const CUT: &str = "cut";

/// A line of a file. Other members are ignored.
#[derive(Debug, Deserialize)]
struct Line {
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
    /// With names in lower case, and without those that the suite sends itself.
    fn kept(self, is_key: &dyn Fn(&str) -> bool) -> Vec<(String, String)> {
        let all = match self {
            Self::Pairs(pairs) => pairs,
            Self::Object(members) => members.into_iter().collect(),
        };
        let all = all.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value));
        all.filter(|(name, _)| !OWN.contains(&&**name) && !is_key(name)).collect()
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

/// The session of a file, or all sessions of a folder and its folders. Sessions without a request of a known API are left out;
/// their number is returned, too.
///
/// # Errors
///
/// If a file cannot be read or is no session, or there is none.
pub fn read_sessions(paths: &[PathBuf]) -> io::Result<(Vec<Arc<Session>>, usize)> {
    let mut sessions: Vec<Arc<Session>> = Vec::new();
    let mut others = 0;
    for root in paths {
        let mut files = Vec::new();
        find(root, DEEPEST, &mut files)?;
        files.sort();
        if files.is_empty() {
            return Err(named(root, &io::Error::other(format!("there is no file *.{EXTENSION}"))));
        }
        for file in files {
            match read(&file).map_err(|error| named(&file, &error))? {
                None => others += 1,
                Some(session) => {
                    let name = unique(&name(root, &file), &sessions);
                    sessions.push(Arc::new(Session { name, ..session }));
                }
            }
        }
    }
    Ok((sessions, others))
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

fn find(path: &Path, depth: usize, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if path.is_file() {
        files.push(path.to_owned());
        return Ok(());
    }
    let Some(depth) = depth.checked_sub(1) else { return Ok(()) };
    for entry in fs::read_dir(path).map_err(|error| named(path, &error))? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            find(&entry.path(), depth, files)?;
        } else if kind.is_file() && entry.path().extension().is_some_and(|end| end == EXTENSION) {
            files.push(entry.path());
        }
    }
    Ok(())
}

/// The path below the given folder, in characters of test names.
fn name(root: &Path, file: &Path) -> String {
    let below = file.strip_prefix(root).ok().filter(|below| below.components().next().is_some());
    let below = below.unwrap_or_else(|| Path::new(file.file_name().unwrap_or_default()));
    let below = below.with_extension("");
    let own = match (below.file_name(), below.parent()) {
        (Some(last), Some(parent)) if last == USUAL && parent.components().next().is_some() => {
            parent.to_owned()
        }
        // A file by itself is named after its folder.
        (Some(last), _) if last == USUAL => {
            file.parent().and_then(Path::file_name).map_or_else(|| below.clone(), PathBuf::from)
        }
        _ => below.clone(),
    };
    let parts = own.components().map(|part| {
        let part = part.as_os_str().to_string_lossy();
        let plain: String = part
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' })
            .collect();
        plain.trim_start_matches('.').to_owned()
    });
    let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { USUAL.to_owned() } else { parts.join("/") }
}

fn unique(name: &str, known: &[Arc<Session>]) -> String {
    let taken: BTreeSet<&str> = known.iter().map(|session| &*session.name).collect();
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    std::iter::once(name.to_owned()).chain(numbered).find(|name| !taken.contains(&**name)).unwrap_or_default()
}

/// `None` if no request creates a response in an API that the suite speaks, or if requests are of several.
fn read(file: &Path) -> io::Result<Option<Session>> {
    if fs::metadata(file)?.len() > LARGEST {
        return Err(io::Error::other(format!("it is larger than {LARGEST} bytes")));
    }
    let (mut before, mut size) = (String::new(), 0);
    let mut front = None;
    let (mut requests, mut left_out) = (Vec::new(), 0);
    for (number, line) in BufReader::new(fs::File::open(file)?).lines().enumerate() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let wrong = |problem: &str| io::Error::other(format!("line {}: {problem}", number + 1));
        let line: Line = serde_json::from_str(&line).map_err(|error| wrong(&error.to_string()))?;
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
        let (path, query) =
            line.target.split_once('?').map_or((&*line.target, None), |(path, query)| (path, Some(query)));
        let api = spec::spoken().find(|api| api.is_at(path)).filter(|_| line.method == "POST");
        let (Some(dialect), Some(response)) = (api.and_then(front_dialect), line.response) else {
            left_out += 1;
            continue;
        };
        if front.is_some_and(|known: &spec::Dialect| known.name != dialect.name) {
            return Ok(None);
        }
        front = Some(dialect);
        let is_key =
            |name: &str| dialect.api.request.keys.iter().any(|(key, _)| key.eq_ignore_ascii_case(name));
        let asked = dialect.api.asked_at(path);
        requests.push(RecordedRequest {
            at: asked.map(|(model, is_stream)| dialect.api.path_for(model, is_stream)).unwrap_or_default(),
            query: query.map(str::to_owned),
            headers: line.headers.kept(&is_key),
            body,
            status: response.status.unwrap_or(200),
            response_headers: response.headers.kept(&is_key),
            response: response.body.unwrap_or_default(),
            is_cut: line.fault.is_some_and(|fault| fault.starts_with(CUT)),
        });
    }
    Ok(front.map(|front| Session { name: String::new(), front, requests, left_out }))
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

    #[test]
    fn names_are_those_of_tests() {
        let of = |root: &str, file: &str| name(Path::new(root), Path::new(file));
        assert_eq!(of("/s", "/s/a/long+1/session.jsonl"), "a/long-1");
        assert_eq!(of("/s", "/s/a/b.jsonl"), "a/b");
        assert_eq!(of("/s/.x/session.jsonl", "/s/.x/session.jsonl"), "x");
        assert_eq!(of("/s/one.jsonl", "/s/one.jsonl"), "one");
    }
}

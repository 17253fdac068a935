//! Sessions in files.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use catalogue::AgentProfile;
use harness::read_within;
use serde::Deserialize;

use super::recording::FileExchange;
use super::{Session, form, recording, transcript};
use crate::dialects::front_dialect;

const EXTENSION: &str = "jsonl";
/// The usual name of such a file: its folder has the name of the session.
const USUAL: &str = "session";
/// The index in the evidence of a tap.
const INDEX: &str = "index.ndjson";
const LARGEST: u64 = 64 << 20;
const DEEPEST: usize = 8;

/// The sessions of a file, of a folder and its folders, or of the evidence of a tap. A file is a session, or a recording with
/// requests; each API has a session of its own. A transcript asks like its agent, or like another one. Files
/// without a request of a known API are left out; their number is returned, too.
///
/// # Errors
///
/// If a file cannot be read or is no session, or there is none.
pub fn read_sessions(
    paths: &[PathBuf],
    agent: Option<&'static AgentProfile>,
) -> io::Result<(Vec<Arc<Session>>, usize)> {
    let mut sessions: Vec<Arc<Session>> = Vec::new();
    let mut others = 0;
    for root in paths {
        let index = root.join(INDEX);
        if index.is_file() {
            for (name, session) in of_tap(root, &index).map_err(|error| named(root, &error))? {
                let name = unique(&plain(&name), &sessions);
                sessions.push(Arc::new(Session { name, ..session }));
            }
            continue;
        }
        let mut files = Vec::new();
        find(root, DEEPEST, &mut files)?;
        files.sort();
        if files.is_empty() {
            return Err(named(root, &io::Error::other(format!("there is no file *.{EXTENSION}"))));
        }
        for file in files {
            let found = read(&file, agent).map_err(|error| named(&file, &error))?;
            others += usize::from(found.is_empty());
            for session in found {
                let name = unique(&name(root, &file), &sessions);
                sessions.push(Arc::new(Session { name, ..session }));
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
    let parts = own.components().map(|part| plain(&part.as_os_str().to_string_lossy()));
    let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { USUAL.to_owned() } else { parts.join("/") }
}

fn plain(name: &str) -> String {
    let plain = name.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' });
    plain.collect::<String>().trim_start_matches('.').to_owned()
}

fn unique(name: &str, known: &[Arc<Session>]) -> String {
    let taken: BTreeSet<&str> = known.iter().map(|session| &*session.name).collect();
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    std::iter::once(name.to_owned()).chain(numbered).find(|name| !taken.contains(&**name)).unwrap_or_default()
}

/// The sessions of a file, one for each API.
fn read(file: &Path, agent: Option<&'static AgentProfile>) -> io::Result<Vec<Session>> {
    let bytes = bounded(file)?;
    let text = String::from_utf8_lossy(&bytes);
    if let Some(transcript) = transcript::read(&text) {
        return Ok(vec![transcript.session(agent)?]);
    }
    let exchanges = if form::is_form(&text) { form::read(&text)? } else { recording::read(&bytes)? };
    Ok(of_apis(exchanges))
}

fn bounded(file: &Path) -> io::Result<Vec<u8>> {
    read_within(file, LARGEST)
}

/// Exchanges of no API, and those without an answer, are left out, and counted with the first session.
fn of_apis(exchanges: Vec<FileExchange>) -> Vec<Session> {
    let mut sessions: Vec<Session> = Vec::new();
    let mut left_out = 0;
    for exchange in exchanges {
        let path = exchange.target.split('?').next().unwrap_or_default();
        let api = spec::spoken().find(|api| api.is_at(path)).filter(|_| exchange.method == "POST");
        let Some(front) = api.and_then(front_dialect).filter(|_| exchange.is_answered) else {
            left_out += 1;
            continue;
        };
        let request = exchange.request(front.api);
        match sessions.iter_mut().find(|session| session.front.name == front.name) {
            Some(session) => session.requests.push(request),
            None => {
                sessions.push(Session {
                    name: String::new(),
                    front,
                    requests: vec![request],
                    left_out: 0,
                    made_as: None,
                });
            }
        }
    }
    if let Some(first) = sessions.first_mut() {
        first.left_out = left_out;
    }
    sessions
}

#[derive(Debug, Deserialize)]
struct Indexed {
    session: Option<String>,
    path: Option<PathBuf>,
}

/// The sessions in the evidence of a tap, with their names. Exchanges without a recording are left out.
fn of_tap(folder: &Path, index: &Path) -> io::Result<Vec<(String, Session)>> {
    let mut sessions: Vec<(String, Vec<FileExchange>)> = Vec::new();
    for line in String::from_utf8_lossy(&bounded(index)?).lines() {
        let Ok(Indexed { session, path }) = serde_json::from_str(line) else { continue };
        let name = session.unwrap_or_else(|| USUAL.to_owned());
        // It is a file of the evidence, and no other.
        let is_inside = |path: &PathBuf| path.components().all(|part| matches!(part, Component::Normal(_)));
        let file = path.filter(is_inside).map(|path| folder.join(path)).filter(|file| file.is_file());
        let found = match &file {
            Some(file) => recording::read(&bounded(file)?).map_err(|error| named(file, &error))?,
            None => vec![FileExchange::default()],
        };
        match sessions.iter_mut().find(|(known, _)| *known == name) {
            Some((_, exchanges)) => exchanges.extend(found),
            None => sessions.push((name, found)),
        }
    }
    let all = sessions.into_iter().flat_map(|(name, exchanges)| {
        of_apis(exchanges).into_iter().map(move |session| (name.clone(), session))
    });
    Ok(all.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_tests() {
        let of = |root: &str, file: &str| name(Path::new(root), Path::new(file));
        assert_eq!(of("/s", "/s/a/long+1/session.jsonl"), "a/long-1");
        assert_eq!(of("/s", "/s/a/b.jsonl"), "a/b");
        assert_eq!(of("/s/.x/session.jsonl", "/s/.x/session.jsonl"), "x");
        assert_eq!(of("/s/one.jsonl", "/s/one.jsonl"), "one");
    }
}

//! The folder of a run: the recordings of each test, and what is beside them.
//!
//! `exchanges/TEST/client.exchange` and `upstream.exchange` have the exchanges in the format of all recordings, and
//! `test.json` has the test, and what that format does not hold. The request after a fault is the last one of each side.

mod lines;
mod test_file;

use std::fs;
use std::io;
use std::path::Path;

use harness::certificate::{CERTIFICATE, PAGE, SIGNATURE};
use harness::evidence::{EXCHANGES, Evidence as Files};
use harness::wire::{Mask, Secrets};
use harness::{hash, replace};
use results::BetweenTest;

use crate::evidence::{Evidence, Exchanged, Test};
use test_file::TestFile;

/// The file with the report.
pub const REPORT: &str = "between.json";
/// The file with the output of a gateway that the run started.
pub const LOG: &str = "gateway.log";
const CLIENT: &str = "client.exchange";
const UPSTREAM: &str = "upstream.exchange";
const TEST: &str = "test.json";

/// Relative to the folder of the run: the recordings of the client and of the upstream, and the file with what is beside
/// them.
///
/// # Errors
///
/// If the name is none of a test.
fn files(name: &str) -> io::Result<[String; 3]> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '@' | ':' | '/');
    let parts: Vec<&str> = name.split('/').collect();
    let is_name = |part: &&str| !part.is_empty() && !part.starts_with('.');
    if !name.chars().all(is_plain) || !parts.iter().all(is_name) || parts.len() < 2 {
        return Err(io::Error::other(format!("{name:?} is no name of a test")));
    }
    // Some systems have no files with colons.
    let folder = format!("{EXCHANGES}/{}", name.replace(':', "-"));
    Ok([CLIENT, UPSTREAM, TEST].map(|file| format!("{folder}/{file}")))
}

/// Writes the recordings of a test, and returns their names relative to the folder.
///
/// # Errors
///
/// If they cannot be written.
pub fn write(folder: &Path, test: &Test, evidence: &Evidence) -> io::Result<Vec<String>> {
    let [client, upstream, beside] = files(&test.name)?;
    let [of_client, of_upstream, of_test] = texts(test, evidence)?;
    for (file, text) in [(&client, of_client), (&upstream, of_upstream), (&beside, of_test)] {
        let path = folder.join(file);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        replace(&path, &text)?;
    }
    Ok(vec![client, upstream])
}

fn texts(test: &Test, evidence: &Evidence) -> io::Result<[String; 3]> {
    let Evidence { probes, client, upstream, after, after_upstream, .. } = evidence;
    let of = |exchanges: &[&Exchanged]| exchanges.iter().map(|exchange| lines::write(exchange)).collect();
    let of_client: Vec<&Exchanged> = probes.iter().chain(client).chain(after).collect();
    let of_upstream: Vec<&Exchanged> = upstream.iter().chain(after_upstream).collect();
    Ok([of(&of_client), of(&of_upstream), TestFile::new(test, evidence).text()?])
}

/// Returns evidence as it is recorded: without what recordings leave out. Verdicts are computed from this, so that they are
/// the same when they are computed from a folder.
///
/// # Errors
///
/// If it cannot be recorded.
pub fn recorded(test: &Test, evidence: &Evidence) -> io::Result<Evidence> {
    let [client, upstream, beside] = texts(test, evidence)?;
    TestFile::parse(&beside)?.evidence(lines::read(&client)?, lines::read(&upstream)?)
}

/// Reads the recordings of a test.
///
/// # Errors
///
/// If they cannot be read, or do not fit together.
pub fn read(folder: &Path, test: &BetweenTest) -> io::Result<Evidence> {
    let [client, upstream, beside] = files(&test.name)?;
    let exchanges = |file: &str| lines::read(&text(folder, file)?).map_err(|error| within(file, &error));
    let (of_client, of_upstream) = (exchanges(&client)?, exchanges(&upstream)?);
    let of_test = TestFile::parse(&text(folder, &beside)?).map_err(|error| within(&beside, &error))?;
    of_test.evidence(of_client, of_upstream).map_err(|error| within(&beside, &error))
}

/// Reads a test: what was asked, in which APIs, and what went wrong upstream.
///
/// # Errors
///
/// If its file cannot be read, or is about another test.
pub fn test(folder: &Path, test: &BetweenTest) -> io::Result<Test> {
    let [.., beside] = files(&test.name)?;
    let read = TestFile::parse(&text(folder, &beside)?)
        .and_then(|file| file.test(&test.name))
        .map_err(|error| within(&beside, &error))?;
    let apis = [read.front.api.name, read.upstream.api.name];
    if apis != [&*test.about.front, &*test.about.upstream] || read.case.id != test.about.case {
        return Err(within(&beside, &io::Error::other("it is about another case or pair of APIs")));
    }
    Ok(read)
}

/// The hash of the files of a test.
///
/// # Errors
///
/// If they cannot be read.
pub fn hash_of(folder: &Path, test: &BetweenTest) -> io::Result<String> {
    let mut all = String::new();
    for file in files(&test.name)? {
        all += &hash(text(folder, &file)?.as_bytes());
    }
    Ok(hash(all.as_bytes()))
}

/// Returns the names of the files in the folder of a test that no checker of streams should judge: what the suite's own
/// upstream sent, and what a gateway made of a fault of it. There are none in another folder.
pub fn scripted(folder: &Path) -> &'static [&'static str] {
    let is_test = [TEST, UPSTREAM].iter().all(|file| folder.join(file).is_file());
    let test = is_test.then(|| text(folder, TEST).and_then(|text| TestFile::parse(&text)).ok()).flatten();
    match test {
        None => &[],
        Some(test) if test.has_fault() => &[CLIENT, UPSTREAM, TEST],
        Some(_) => &[UPSTREAM, TEST],
    }
}

/// Returns the files of a folder that belong neither to these tests nor to a run. The log of a gateway is no evidence, but
/// must be a file.
///
/// # Errors
///
/// If the folder cannot be read.
pub fn strangers(folder: &Path, tests: &[BetweenTest]) -> io::Result<Vec<String>> {
    let of_tests: Vec<String> = tests.iter().filter_map(|test| files(&test.name).ok()).flatten().collect();
    let of_run = [REPORT, LOG, CERTIFICATE, PAGE, SIGNATURE];
    Files::open(folder).strangers(&of_tests.iter().map(String::as_str).chain(of_run).collect())
}

/// Makes room for a run in a folder: it must have none, unless that is to be replaced. Then its recordings are removed.
///
/// # Errors
///
/// If the folder has a run, or other files among its recordings.
pub fn make_room(folder: &Path, replaces: bool) -> io::Result<()> {
    harness::evidence::make_room(folder, REPORT, replaces, &|name| [CLIENT, UPSTREAM, TEST].contains(&name))
}

pub(crate) fn hide_in_log(folder: &Path, secrets: &[String]) -> io::Result<()> {
    let file = folder.join(LOG);
    let text = match fs::read(&file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        text => text?,
    };
    let mut mask = Mask::new(Secrets::new(secrets));
    let mut hidden = mask.push(&text);
    hidden.extend(mask.finish());
    if hidden == text { Ok(()) } else { fs::write(&file, hidden) }
}

/// Links are refused.
fn text(folder: &Path, file: &str) -> io::Result<String> {
    let bytes = Files::open(folder).read(file).map_err(|error| within(file, &error))?;
    String::from_utf8(bytes).map_err(|error| within(file, &io::Error::other(error)))
}

fn within(file: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{file}: {error}"))
}

#[cfg(test)]
mod tests;

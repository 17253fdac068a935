//! Files and folders of recordings.

use std::collections::HashSet;
use std::fs::{self, DirEntry, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use recordings::capture::{Compression, Decompressing, Format};

/// File extensions of recordings in folders, compressed or not.
const ENDINGS: [&str; 11] =
    ["exchange", "har", "http", "json", "jsonl", "ndjson", "sse", "txt", "txtar", "yaml", "yml"];

/// The recordings at paths.
#[derive(Default)]
pub(super) struct Found {
    /// The recordings, sorted.
    pub(super) files: Vec<PathBuf>,
    /// Number of other files in folders, by their names.
    pub(super) passed_over: u64,
}

/// Returns the files at the paths and below, sorted. Duplicates and links are listed once, under the first
/// name.
pub(super) fn recordings(paths: &[PathBuf]) -> Found {
    let mut search = Search::default();
    for path in paths {
        if path.is_dir() { search.below(path) } else { search.add(path) }
    }
    search.found
}

#[derive(Default)]
struct Search {
    found: Found,
    seen: HashSet<PathBuf>,
}

impl Search {
    /// Returns whether this path is new. A dangling link counts as its own file.
    fn is_new(&mut self, path: &Path) -> bool {
        self.seen.insert(path.canonicalize().unwrap_or_else(|_| path.to_owned()))
    }

    fn add(&mut self, path: &Path) {
        if self.is_new(path) {
            self.found.files.push(path.to_owned());
        }
    }

    fn below(&mut self, folder: &Path) {
        if !self.is_new(folder) {
            return;
        }
        let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let Ok(mut entries) = entries else {
            // Opening it reports the error.
            self.found.files.push(folder.to_owned());
            return;
        };
        entries.sort_by_cached_key(DirEntry::file_name);
        let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        for entry in entries {
            let path = entry.path();
            // The directory entry has the type.
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() || kind.is_symlink() && path.is_dir() {
                self.below(&path);
            } else if !is_special(&path) && (is_recording(&path) || is_blob(&path)) {
                if kind.is_symlink() {
                    self.add(&path);
                } else if kind.is_file() && self.seen.insert(real.join(entry.file_name())) {
                    self.found.files.push(path);
                }
            } else {
                self.found.passed_over += 1;
            }
        }
    }
}

/// Returns whether a path is a special file, such as a pipe without a writer.
fn is_special(path: &Path) -> bool {
    path.metadata().is_ok_and(|about| !about.is_file())
}

fn is_recording(path: &Path) -> bool {
    let ending = |path: &Path| path.extension().and_then(|end| end.to_str()).map(str::to_ascii_lowercase);
    let last = ending(path);
    let compression = last.as_deref().and_then(Compression::named);
    let last =
        if compression.is_some() { path.file_stem().and_then(|stem| ending(Path::new(stem))) } else { last };
    last.is_some_and(|end| ENDINGS.contains(&&*end))
}

/// Returns whether a file is the body of a stream that a recorder stores separately.
fn is_blob(path: &Path) -> bool {
    let is_bin = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("bin"));
    let mut start = [0; 7];
    let mut read = || File::open(path)?.read_exact(&mut start);
    is_bin
        && path.is_file()
        && read().is_ok()
        && [&b"event:"[..], b"data:"].iter().any(|field| start.starts_with(field))
}

/// Opens a recording; `-` is standard input.
pub(super) fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        fs::read_dir(path)?.try_for_each(|entry| entry.map(drop))?;
        return Err(io::Error::other("it is a folder"));
    }
    // Brotli has no signature.
    let is_brotli = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("br"));
    if !is_brotli {
        return Ok(Box::new(file));
    }
    let decompressing = Decompressing::new(file, Compression::Brotli).map_err(io::Error::other)?;
    Ok(Box::new(decompressing))
}

/// Returns the name of a recording in reports.
pub(super) fn name(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}

/// The formats, for the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum FormatIn {
    /// Server-sent events
    Sse,
    /// One event per line
    Ndjson,
    /// A list of events, a response body, or recorded exchanges
    Json,
    /// A response as printed by `curl -i`
    Http,
    /// WebSocket messages, one per line
    Websocket,
    /// HTTP archive
    Har,
    /// YAML cassette of VCR, or httpmock
    Cassette,
    /// Text archive of Go tests
    Txtar,
    /// Exchange recorded by this program
    Exchange,
}

impl From<FormatIn> for Format {
    fn from(format: FormatIn) -> Self {
        match format {
            FormatIn::Sse => Self::Sse,
            FormatIn::Ndjson => Self::Ndjson,
            FormatIn::Json => Self::Json,
            FormatIn::Http => Self::Http,
            FormatIn::Websocket => Self::WebSocket,
            FormatIn::Har => Self::Har,
            FormatIn::Cassette => Self::Cassette,
            FormatIn::Txtar => Self::Txtar,
            FormatIn::Exchange => Self::Exchange,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_recordings() {
        for name in ["a.sse", "a.SSE", "a.b.jsonl", "a.sse.gz", "a.har.zst", "a.http.br", "a.exchange"] {
            assert!(is_recording(Path::new(name)), "{name}");
        }
        for name in ["a", "sse", "a.tsv", "a.gz", "a.tar.gz", "a.sse.gz.old", ".sse.d"] {
            assert!(!is_recording(Path::new(name)), "{name}");
        }
    }
}

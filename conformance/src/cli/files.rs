//! The recordings that a command is about.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use crate::capture::Format;

/// Files of a folder whose names end so are taken for recordings.
const ENDINGS: [&str; 9] = ["har", "http", "json", "jsonl", "ndjson", "sse", "txt", "yaml", "yml"];

/// The files that the paths name: themselves, or all recordings below them, in a stable order.
pub(super) fn recordings(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() { below(path, &mut files) } else { files.push(path.clone()) }
    }
    files
}

fn below(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        // Opening it will say why.
        files.push(folder.to_owned());
        return;
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_symlink() && path.is_dir() {
            // It could lead back here.
        } else if path.is_dir() {
            below(&path, files);
        } else if path.extension().is_some_and(|end| ENDINGS.iter().any(|known| end == *known)) {
            files.push(path);
        }
    }
}

/// Opens a recording; `-` is standard input.
pub(super) fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    if path == Path::new("-") { Ok(Box::new(io::stdin().lock())) } else { Ok(Box::new(File::open(path)?)) }
}

/// The name under which a recording is reported.
pub(super) fn name(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}

/// The formats, for the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum FormatIn {
    /// Server-sent events.
    Sse,
    /// One event a line.
    Ndjson,
    /// A list of events, or a body that is no stream.
    Json,
    /// An answer as `curl -i` prints it.
    Http,
    /// The messages of a WebSocket, one a line.
    Websocket,
    /// An HTTP archive.
    Har,
    /// A YAML cassette.
    Cassette,
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
        }
    }
}

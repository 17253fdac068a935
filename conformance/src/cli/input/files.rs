//! Files and folders of recordings.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::builder::TypedValueParser;

use crate::cli::input::known::one_of;
use recordings::capture::{Compression, Decompressing, Format};

/// File extensions of recordings in folders, compressed or not.
const ENDINGS: [&str; 11] =
    ["exchange", "har", "http", "json", "jsonl", "ndjson", "sse", "txt", "txtar", "yaml", "yml"];

/// The recordings at paths.
#[derive(Default)]
pub(in crate::cli) struct FoundFiles {
    /// The recordings: in the order of the paths, and sorted in folders.
    pub(in crate::cli) files: Vec<PathBuf>,
    /// Number of other files in folders, by their names.
    pub(in crate::cli) passed_over: u64,
    /// Number of files in the folder of a run of `between` that say nothing about the gateway.
    pub(in crate::cli) scripted: u64,
}

/// A file is listed once: as it is named by a path, or else under its first name in a folder. Without any, it is an error.
pub(in crate::cli) fn recordings(paths: &[PathBuf]) -> anyhow::Result<FoundFiles> {
    let named = |path: &PathBuf| (!is_folder(path)).then(|| canonical(path));
    let named: Vec<Option<PathBuf>> = paths.iter().map(named).collect();
    let mut search = Search { named: named.iter().flatten().cloned().collect(), ..Search::default() };
    for (path, named) in paths.iter().zip(named) {
        match named {
            Some(real) => search.add(path, real),
            None => search.below(path, canonical(path)),
        }
    }
    let searched = || paths.iter().map(|path| name(path)).collect::<Vec<_>>().join(", ");
    anyhow::ensure!(!search.found.files.is_empty(), "there is no recording in {}", searched());
    Ok(search.found)
}

#[derive(Default)]
struct Search {
    found: FoundFiles,
    /// The files that paths name. All of these paths are canonical.
    named: HashSet<PathBuf>,
    /// The searched folders. Of most files, only the name is looked at.
    folders: HashSet<PathBuf>,
    /// The listed files that are named, or found through links.
    single: HashSet<PathBuf>,
}

impl Search {
    fn add(&mut self, path: &Path, real: PathBuf) {
        if self.single.insert(real) {
            self.found.files.push(path.to_owned());
        }
    }

    /// A dangling link counts as its own file.
    fn follow(&mut self, link: &Path) {
        let real = canonical(link);
        let is_searched = real.parent().is_some_and(|folder| self.folders.contains(folder));
        if !(self.named.contains(&real) || is_searched && real.is_file() && is_wanted(&real)) {
            self.add(link, real);
        }
    }

    fn below(&mut self, folder: &Path, real: PathBuf) {
        if self.folders.contains(&real) {
            return;
        }
        let entries = fs::read_dir(folder).and_then(|entries| {
            entries.map(|entry| entry.map(|entry| (entry.path(), entry.file_type()))).collect()
        });
        let Ok(mut entries): io::Result<Vec<_>> = entries else {
            // Opening it reports the error.
            return self.add(folder, real);
        };
        self.folders.insert(real.clone());
        let scripted = between::folder::scripted(folder);
        // By their bytes: the comparison of paths parses them.
        entries.sort_unstable_by(|(path, _), (other, _)| path.as_os_str().cmp(other.as_os_str()));
        for (path, kind) in entries {
            // The directory entry has the type.
            let Ok(kind) = kind else { continue };
            let real = || path.file_name().map_or_else(|| canonical(&path), |name| real.join(name));
            let is_in = |files: &HashSet<PathBuf>| !files.is_empty() && files.contains(&real());
            if is_in(&self.named) {
                continue;
            }
            if scripted.iter().any(|name| path.file_name() == Some(OsStr::new(name))) {
                self.found.scripted += 1;
                continue;
            }
            if kind.is_dir() {
                self.below(&path, real());
            } else if kind.is_symlink() && path.is_dir() {
                self.below(&path, canonical(&path));
            } else if kind.is_file() && is_wanted(&path) {
                if !is_in(&self.single) {
                    self.found.files.push(path);
                }
            } else if kind.is_symlink() && !leads_to_special(&path) && is_wanted(&path) {
                self.follow(&path);
            } else {
                self.found.passed_over += 1;
            }
        }
    }
}

/// Standard input and dangling links have none.
fn canonical(path: &Path) -> PathBuf {
    let real = if is_stdin(path) { None } else { path.canonicalize().ok() };
    real.unwrap_or_else(|| path.to_owned())
}

fn is_wanted(path: &Path) -> bool {
    is_recording(path) || is_blob(path)
}

fn leads_to_special(path: &Path) -> bool {
    path.metadata().is_ok_and(|about| !about.is_file())
}

fn is_recording(path: &Path) -> bool {
    let is_ending = |end: &OsStr| ENDINGS.iter().any(|ending| end.eq_ignore_ascii_case(ending));
    let is_known = |path: &Path| path.extension().is_some_and(is_ending);
    let compression = || path.extension().and_then(OsStr::to_str).and_then(Compression::named);
    is_known(path)
        || compression().is_some() && path.file_stem().is_some_and(|stem| is_known(Path::new(stem)))
}

/// Some recorders store the body of a stream in a file of its own.
fn is_blob(path: &Path) -> bool {
    let is_bin = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("bin"));
    let mut start = [0; 7];
    let mut read = || File::open(path)?.read_exact(&mut start);
    is_bin
        && path.is_file()
        && read().is_ok()
        && [&b"event:"[..], b"data:"].iter().any(|field| start.starts_with(field))
}

/// `-` is standard input.
pub(in crate::cli) fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    if is_stdin(path) {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file = File::open(path)?;
    // Brotli has no signature.
    let is_brotli = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("br"));
    if is_brotli { Ok(Box::new(Decompressing::new(file, Compression::Brotli))) } else { Ok(Box::new(file)) }
}

pub(in crate::cli) fn name(path: &Path) -> String {
    if is_stdin(path) {
        "standard input".to_owned()
    } else {
        path.to_str().map_or_else(|| path.to_string_lossy().into_owned(), str::to_owned)
    }
}

fn is_folder(path: &Path) -> bool {
    !is_stdin(path) && path.is_dir()
}

pub(in crate::cli) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

pub(in crate::cli) fn formats() -> impl TypedValueParser<Value = Format> {
    one_of(FORMATS, Format::name)
}

const FORMATS: &[(Format, &str)] = &[
    (Format::Sse, "Server-sent events"),
    (Format::Ndjson, "One event per line"),
    (Format::Json, "A list of events, a response body, or recorded exchanges"),
    (Format::Http, "A response as printed by `curl -i`"),
    (Format::WebSocket, "WebSocket messages, one per line"),
    (Format::Har, "HTTP archive"),
    (Format::Cassette, "YAML cassette of VCR, or httpmock"),
    (Format::Txtar, "Text archive of Go tests"),
    (Format::Exchange, "Exchange recorded by this program"),
    (Format::Csv, "Table with rows of a log"),
];

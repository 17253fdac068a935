//! The files of a dialect, read from a folder or given as texts.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde_json::Value;

/// A file of the specification that cannot be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadError {
    /// The file.
    pub file: PathBuf,
    /// The line at fault, counted from 1, if it is known.
    pub line: Option<usize>,
    /// The problem, and what was expected.
    pub message: String,
}

impl std::fmt::Display for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: ", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for LoadError {}

pub(super) fn fail(file: &Path, message: impl std::fmt::Display) -> LoadError {
    LoadError { file: file.to_owned(), line: None, message: message.to_string() }
}

/// The file of a dialect.
pub(crate) const DIALECT: &str = "dialect.toml";

/// The file of its corrections.
pub(crate) const ERRATA: &str = "errata.toml";

/// The extension of patches.
pub(crate) const PATCH: &str = ".patch.json";

/// The files of a dialect by their path in its folder, such as `events/response.created.json`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Folder {
    /// Its place, for messages.
    pub path: PathBuf,
    /// The texts of its files.
    pub files: BTreeMap<String, String>,
}

/// The folders in the folder of a dialect.
const KINDS: [&str; 2] = ["events", "types"];

/// Maximum number of files of a dialect.
const MOST_FILES: usize = 4096;

/// Maximum number of bytes of all files of a dialect.
const MOST_BYTES: u64 = 16 << 20;

impl Folder {
    /// Reads the files of a folder. A link in it is refused, as it can lead anywhere.
    ///
    /// # Errors
    ///
    /// If one cannot be read, or if they are too many or too large.
    pub fn read(path: &Path) -> Result<Self, LoadError> {
        let mut folder = Self { path: path.to_owned(), files: BTreeMap::new() };
        let mut left = MOST_BYTES;
        let own = [DIALECT, ERRATA].into_iter().map(str::to_owned);
        let mut found: Vec<String> = own.filter(|name| path.join(name).exists()).collect();
        for kind in KINDS {
            let inner = path.join(kind);
            if !inner.exists() {
                continue;
            }
            if inner.is_symlink() {
                return Err(fail(&inner, LINK));
            }
            let names = entries(&inner)?.into_iter();
            found.extend(names.filter_map(|path| Some(format!("{kind}/{}", path.file_name()?.to_str()?))));
        }
        if found.len() > MOST_FILES {
            return Err(fail(path, format!("{} files: a dialect has at most {MOST_FILES}", found.len())));
        }
        for name in found {
            let file = path.join(&name);
            let about = fs::symlink_metadata(&file).map_err(|error| fail(&file, error))?;
            if about.is_symlink() {
                return Err(fail(&file, LINK));
            }
            if !about.is_file() {
                return Err(fail(&file, "expected a file"));
            }
            left = left.checked_sub(about.len()).ok_or_else(|| fail(&file, TOO_LARGE))?;
            let text = fs::read_to_string(&file).map_err(|error| fail(&file, error))?;
            folder.files.insert(name, text);
        }
        Ok(folder)
    }

    /// Takes files that are given as texts.
    ///
    /// # Errors
    ///
    /// If no dialect has a path, or if they are too many or too large.
    pub fn of_texts(
        path: &Path,
        texts: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, LoadError> {
        let mut folder = Self { path: path.to_owned(), files: BTreeMap::new() };
        let mut left = MOST_BYTES;
        for (name, text) in texts {
            let is_plain =
                |name: &str| !name.is_empty() && !name.contains(['/', '\\']) && !name.starts_with('.');
            let is_known = match name.split_once('/') {
                None => name == DIALECT || name == ERRATA,
                Some((kind, name)) => KINDS.contains(&kind) && is_plain(name),
            };
            let file = path.join(&name);
            if !is_known {
                return Err(fail(
                    &file,
                    "expected dialect.toml, errata.toml, or a file in events/ or types/",
                ));
            }
            left = left.checked_sub(text.len() as u64).ok_or_else(|| fail(&file, TOO_LARGE))?;
            folder.files.insert(name, text);
            if folder.files.len() > MOST_FILES {
                return Err(fail(path, format!("a dialect has at most {MOST_FILES} files")));
            }
        }
        Ok(folder)
    }

    /// The path of its file, or of its patch of an inherited one.
    pub fn file(&self, relative: &str) -> PathBuf {
        let patch = relative.replace(".json", PATCH);
        self.path.join(if self.files.contains_key(&patch) { &patch } else { relative })
    }

    pub(super) fn owns(&self, file: &str) -> bool {
        self.files.contains_key(file) || self.files.contains_key(&file.replace(".json", PATCH))
    }

    pub(super) fn json(&self, file: &str) -> Result<Value, LoadError> {
        let path = self.path.join(file);
        serde_json::from_str(self.text(file)?).map_err(|error| fail(&path, error))
    }

    pub(super) fn toml<T: DeserializeOwned>(&self, file: &str) -> Result<T, LoadError> {
        let path = self.path.join(file);
        let text = self.text(file)?;
        toml::from_str(text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start));
            let line = before.map(|before| before.matches('\n').count() + 1);
            LoadError { file: path, line, message: error.message().to_owned() }
        })
    }

    fn text(&self, file: &str) -> Result<&str, LoadError> {
        let text = self.files.get(file).map(String::as_str);
        text.ok_or_else(|| fail(&self.path.join(file), "the dialect needs this file"))
    }
}

const LINK: &str = "a dialect has no symbolic links: copy the file";
const TOO_LARGE: &str = "the files of a dialect have at most 16 MiB together";

/// Returns the entries of a folder, sorted.
pub(crate) fn entries(folder: &Path) -> Result<Vec<PathBuf>, LoadError> {
    let read = fs::read_dir(folder)
        .and_then(|list| list.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, _>>());
    let mut paths = read.map_err(|error| fail(folder, error))?;
    paths.sort();
    Ok(paths)
}

/// Reads a TOML file; the error has the file, the line and what was expected.
pub(crate) fn read_toml<T: DeserializeOwned>(path: &Path) -> Result<T, LoadError> {
    let text = fs::read_to_string(path).map_err(|error| fail(path, error))?;
    toml::from_str(&text).map_err(|error| fail(path, error))
}

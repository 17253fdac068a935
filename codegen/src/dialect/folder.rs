//! The files of a dialect, read from a folder or given as texts.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::position::Position;

/// A file of the specification that cannot be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadError {
    /// The file.
    pub file: PathBuf,
    /// The place at fault, if it is known.
    pub at: Option<Position>,
    /// The problem, and what was expected.
    pub message: String,
}

impl std::fmt::Display for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.file.display().fmt(f)?;
        self.at.map_or(Ok(()), |at| at.fmt(f))?;
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for LoadError {}

pub(super) fn fail(file: &Path, message: impl std::fmt::Display) -> LoadError {
    LoadError { file: file.to_owned(), at: None, message: message.to_string() }
}

pub(crate) const DIALECT: &str = "dialect.toml";

pub(crate) const ERRATA: &str = "errata.toml";

/// The extension of patches.
pub const PATCH: &str = ".patch.json";

/// The files of a dialect by their path in its folder, such as `events/response.created.json`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Folder {
    /// Its place, for messages.
    pub path: PathBuf,
    /// The texts of its files.
    pub files: BTreeMap<String, String>,
    /// The folder that it extends, if it extends one.
    pub base: Option<Box<Self>>,
}

const KINDS: [&str; 2] = ["events", "types"];

/// Maximum number of files of a dialect and of the folders that it extends, together.
const MOST_FILES: usize = 4096;

/// Maximum number of bytes of these files.
const MOST_BYTES: u64 = 16 << 20;

/// Maximum number of folders that extend each other.
pub const MOST_FOLDERS: usize = 8;

/// The files and bytes that a dialect can still have.
struct Left {
    files: usize,
    bytes: u64,
}

impl Left {
    const ALL: Self = Self { files: MOST_FILES, bytes: MOST_BYTES };

    fn take(&mut self, file: &Path, bytes: u64) -> Result<(), LoadError> {
        let few = || fail(file, format!("a dialect has at most {MOST_FILES} files"));
        self.files = self.files.checked_sub(1).ok_or_else(few)?;
        self.bytes = self.bytes.checked_sub(bytes).ok_or_else(|| fail(file, TOO_LARGE))?;
        Ok(())
    }
}

/// The only entry of `dialect.toml` that decides which files are read.
#[derive(Default, Deserialize)]
struct Head {
    extends: Option<String>,
}

/// A dialect of the suite has no slash in its name, and the path of a folder has one.
pub(super) fn is_path(extends: &str) -> bool {
    extends.contains('/')
}

/// The name of the folder at a path.
pub(super) fn last_of(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

/// The place of the folder at a path from another one: relative to the folder around that. Without links, no path leads further
/// than its parts say.
fn place_of(heir: &str, extends: &str) -> Option<String> {
    let is_plain = |part: &&str| !part.contains(['\\', ':']) && !part.starts_with("...");
    let mut parts = vec![heir];
    for part in extends.strip_prefix('/').is_none().then(|| extends.split('/'))? {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            _ => parts.push(Some(part).filter(is_plain)?),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

impl Folder {
    /// Reads the files of a folder, and of the folders that it extends. A link is refused, as it can lead anywhere.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, if they are too many or too large, or if a folder extends one outside of the folder around it.
    pub fn read(path: &Path) -> Result<Self, LoadError> {
        let whole = path.canonicalize().map_err(|error| fail(path, error))?;
        Self::read_all(path, &whole, &mut Vec::new(), &mut Left { ..Left::ALL })
    }

    /// `heirs` are the folders that extend this one, by their true paths.
    fn read_all(
        path: &Path,
        whole: &Path,
        heirs: &mut Vec<PathBuf>,
        left: &mut Left,
    ) -> Result<Self, LoadError> {
        let mut folder = Self::read_files(path, left)?;
        heirs.push(whole.to_owned());
        let Some(extends) = folder.extended_path() else { return Ok(folder) };
        let failed = |message: String| folder.fault(DIALECT, Position::of_entry, "extends", message);
        let (around, name) = (whole.parent(), whole.file_name().and_then(|name| name.to_str()));
        let place = place_of(name.unwrap_or("."), &extends);
        let (Some(around), Some(place)) = (around, place) else {
            return Err(failed(format!(
                "`extends` leads to \"{extends}\", which is not in the folder around this one: a dialect extends a folder beside \
                 its own, such as ../{}, or one below that; move or copy the folder",
                last_of(&extends)
            )));
        };
        let base = match path.file_name() {
            Some(_) => path.parent().unwrap_or(path).join(&place),
            None => path.join(&extends),
        };
        let found = base.canonicalize().map_err(|error| failed(format!("`extends`: {extends}: {error}")))?;
        if found != around.join(&place) {
            return Err(failed(format!(
                "`extends`: {extends} is reached through a symbolic link, or is spelled otherwise"
            )));
        }
        let chain = || {
            let names = heirs.iter().chain([&found]).filter_map(|heir| heir.file_name()?.to_str());
            names.collect::<Vec<_>>().join(" -> ")
        };
        if heirs.contains(&found) {
            return Err(failed(format!("`extends` is circular: {}", chain())));
        }
        if heirs.iter().any(|heir| heir.file_name() == found.file_name()) {
            return Err(failed(format!("two folders have the same name: {}", chain())));
        }
        if heirs.len() >= MOST_FOLDERS {
            return Err(failed(format!("more than {MOST_FOLDERS} folders extend each other: {}", chain())));
        }
        folder.base = Some(Box::new(Self::read_all(&base, &found, heirs, left)?));
        Ok(folder)
    }

    /// The path in its `extends`, if that leads to a folder. The result is none if the file is invalid, too.
    pub fn extended_path(&self) -> Option<String> {
        let head: Head = toml::from_str(self.files.get(DIALECT)?).ok()?;
        head.extends.filter(|extends| is_path(extends))
    }

    /// The name of the folder that it extends.
    pub fn base_name(&self) -> Option<String> {
        self.extended_path().map(|path| last_of(&path).to_owned())
    }

    /// The folder and those that it extends, each with its place relative to the folder around the first. `name` is the name of the
    /// first.
    pub fn chain(&self, name: &str) -> Vec<(String, &Self)> {
        let mut all = vec![(name.to_owned(), self)];
        while let Some((heir, folder)) = all.last()
            && let Some(base) = &folder.base
        {
            let path = folder.extended_path().unwrap_or_default();
            let place = match heir.rsplit_once('/') {
                None => place_of(heir, &path),
                Some((around, heir)) => place_of(heir, &path).map(|place| format!("{around}/{place}")),
            };
            all.push((place.unwrap_or_default(), base));
        }
        all
    }

    fn read_files(path: &Path, left: &mut Left) -> Result<Self, LoadError> {
        let mut folder = Self { path: path.to_owned(), ..Self::default() };
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
        for name in found {
            let file = path.join(&name);
            let about = fs::symlink_metadata(&file).map_err(|error| fail(&file, error))?;
            if about.is_symlink() {
                return Err(fail(&file, LINK));
            }
            if !about.is_file() {
                return Err(fail(&file, "expected a file"));
            }
            left.take(&file, about.len())?;
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
        let mut folder = Self { path: path.to_owned(), ..Self::default() };
        let mut left = Left { ..Left::ALL };
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
            left.take(&file, text.len() as u64)?;
            folder.files.insert(name, text);
        }
        Ok(folder)
    }

    /// The path of a file, or of its patch of an inherited one, here or in the nearest folder that has it.
    pub fn file(&self, relative: &str) -> PathBuf {
        self.owner(relative).unwrap_or_else(|| (self, self.path.join(relative))).1
    }

    fn owner(&self, relative: &str) -> Option<(&Self, PathBuf)> {
        let patch = relative.replace(".json", PATCH);
        let own = [&*patch, relative].into_iter().find(|file| self.files.contains_key(*file));
        let own = own.map(|file| (self, self.path.join(file)));
        own.or_else(|| self.base.as_ref()?.owner(relative))
    }

    /// The position of a value in a file, which `find` looks for in the text, or in the patch of the file. The nearest folder that
    /// has it counts.
    pub fn position(
        &self,
        relative: &str,
        find: fn(&str, &str) -> Option<Position>,
        sought: &str,
    ) -> Option<(PathBuf, Position)> {
        let patch = relative.replace(".json", PATCH);
        let own = [&*patch, relative]
            .into_iter()
            .find_map(|file| Some((self.path.join(file), find(self.files.get(file)?, sought)?)));
        own.or_else(|| self.base.as_ref()?.position(relative, find, sought))
    }

    pub(super) fn fault(
        &self,
        relative: &str,
        find: fn(&str, &str) -> Option<Position>,
        sought: &str,
        message: String,
    ) -> LoadError {
        match self.position(relative, find, sought) {
            Some((file, at)) => LoadError { file, at: Some(at), message },
            None => LoadError { file: self.file(relative), at: None, message },
        }
    }

    pub(super) fn owns(&self, file: &str) -> bool {
        self.files.contains_key(file) || self.files.contains_key(&file.replace(".json", PATCH))
    }

    pub(super) fn json(&self, file: &str) -> Result<Value, LoadError> {
        serde_json::from_str(self.text(file)?).map_err(|error| {
            let at =
                Position { line: error.line(), column: Some(error.column()).filter(|column| *column > 0) };
            let message = error.to_string();
            // The place is said before the message.
            let message =
                message.rsplit_once(" at line ").map_or(&*message, |(message, _)| message).to_owned();
            LoadError { file: self.path.join(file), at: Some(at), message }
        })
    }

    pub(super) fn toml<T: DeserializeOwned>(&self, file: &str) -> Result<T, LoadError> {
        let text = self.text(file)?;
        toml::from_str(text).map_err(|error| {
            let at = error.span().and_then(|span| Position::of_byte(text, span.start));
            LoadError { file: self.path.join(file), at, message: error.message().to_owned() }
        })
    }

    fn text(&self, file: &str) -> Result<&str, LoadError> {
        let text = self.files.get(file).map(String::as_str);
        text.ok_or_else(|| fail(&self.path.join(file), "the dialect needs this file"))
    }
}

const LINK: &str = "a dialect has no symbolic links: copy the file";
const TOO_LARGE: &str = "the files of a dialect have at most 16 MiB together";

/// The entries are sorted, so that every machine reads them in one order.
pub(crate) fn entries(folder: &Path) -> Result<Vec<PathBuf>, LoadError> {
    let read = fs::read_dir(folder)
        .and_then(|list| list.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, _>>());
    let mut paths = read.map_err(|error| fail(folder, error))?;
    paths.sort();
    Ok(paths)
}

/// Reads a TOML file; the error has the file, the line and what was expected.
pub fn read_toml<T: DeserializeOwned>(path: &Path) -> Result<T, LoadError> {
    let text = fs::read_to_string(path).map_err(|error| fail(path, error))?;
    toml::from_str(&text).map_err(|error| fail(path, error))
}

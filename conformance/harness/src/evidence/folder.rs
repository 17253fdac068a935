//! The folder of a run.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;
use spec::Dialect;
use spec::folder::Folder;

use super::run_file::{RunFile, VERSION};
use crate::digest::hash;
use crate::file::{LARGEST, first_difference, read_within, remove, replace};
use crate::wire::Target;

/// The members that every version of the format has.
#[derive(Debug, Deserialize)]
struct Versioned {
    version: u32,
}

/// The members by which a run is recognized, in every version of the format.
#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "that they are there is enough")]
struct Recognized {
    version: u32,
    suite: String,
    dialect: String,
    target: String,
    exchanges: Vec<serde::de::IgnoredAny>,
}

/// The folder of a run.
#[derive(Debug, Clone)]
pub struct Evidence {
    folder: PathBuf,
    /// Whether it is removed after the run, so that no report names its recordings.
    is_passing: bool,
}

/// The file that describes the run.
pub const RUN: &str = "run.json";
/// The file with the results.
pub const REPORT: &str = "report.json";
/// The file with the certificate.
pub const CERTIFICATE: &str = "certificate.json";
/// The file with the certificate as Markdown.
pub const PAGE: &str = "certificate.md";
/// The file with the signature.
pub const SIGNATURE: &str = "certificate.sigstore.json";
/// The file with the comparison of the runs of several dialects, beside their folders.
pub const TWINS: &str = "twins.json";
/// The folder of the exchanges.
pub const EXCHANGES: &str = "exchanges";
/// The folder with the folder of a dialect that is not one of the suite.
pub const DIALECT: &str = "dialect";

impl Evidence {
    /// Creates the folder of a new run. The folder may exist, but must not contain another run, unless that is to be
    /// replaced: then its files are removed, and no others.
    ///
    /// # Errors
    ///
    /// If it contains a run, cannot be created, or what is to be replaced is not a run.
    pub fn create(folder: &Path, replaces: bool) -> io::Result<Self> {
        Self::check(folder, replaces)?;
        fs::create_dir_all(folder)?;
        let new = Self::open(folder);
        new.clear()?;
        // A run of one dialect replaces runs of several.
        remove(&folder.join(TWINS))?;
        for other in Self::runs_within(folder)? {
            Self::open(&other).clear()?;
            // Files that are not of the run stay.
            let _ = fs::remove_dir(other);
        }
        Ok(new)
    }

    /// Returns the folders of the runs at a path: itself, or those in it, which are of several dialects.
    ///
    /// # Errors
    ///
    /// If the folder cannot be read.
    pub fn runs(folder: &Path) -> io::Result<Vec<PathBuf>> {
        if folder.join(RUN).exists() {
            return Ok(vec![folder.to_owned()]);
        }
        Self::runs_within(folder)
    }

    fn runs_within(folder: &Path) -> io::Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        let entries = match fs::read_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
            entries => entries?,
        };
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().and_then(OsStr::to_str);
            // Each has the name of its dialect.
            let is_dialect =
                |name: &str| spec::dialect(name).is_some() || path.join(DIALECT).join(name).is_dir();
            if name.is_some_and(is_dialect) && path.join(RUN).exists() {
                found.push(path);
            }
        }
        found.sort_unstable();
        Ok(found)
    }

    /// Fails unless a new run may be kept in this folder.
    ///
    /// # Errors
    ///
    /// As [`Evidence::create`].
    pub fn check(folder: &Path, replaces: bool) -> io::Result<()> {
        if folder.join(RUN).exists() || folder.join(EXCHANGES).exists() {
            Self::open(folder).may_go(replaces)?;
        }
        Self::runs_within(folder)?.iter().try_for_each(|run| Self::open(run).may_go(replaces))
    }

    /// Makes room for the runs of several dialects in a folder: it must have no run, unless that is to be replaced.
    ///
    /// # Errors
    ///
    /// As [`Evidence::create`].
    pub fn make_room(folder: &Path, replaces: bool) -> io::Result<()> {
        let runs = Self::runs(folder)?;
        runs.iter().try_for_each(|run| Self::open(run).may_go(replaces))?;
        runs.iter().try_for_each(|run| Self::open(run).clear())?;
        remove(&folder.join(TWINS))
    }

    /// The folder may go only if the run is to be replaced, and it has a run.
    fn may_go(&self, replaces: bool) -> io::Result<()> {
        if !replaces {
            let advice = "it already contains a run; replace it with --replace, or choose another folder";
            return Err(io::Error::other(advice));
        }
        // A file of this name, but of another program, is not replaced.
        let run = self.read(RUN).and_then(|text| Ok(serde_json::from_slice::<Recognized>(&text)?));
        run.map(drop).map_err(|error| {
            let problem = format!("it contains no run that --replace could replace: {RUN}: {error}");
            io::Error::other(problem)
        })
    }

    /// The folders of exchanges go, too, once they are empty.
    fn clear(&self) -> io::Result<()> {
        remove_exchanges(&self.folder.join(EXCHANGES))?;
        if let Ok(run) = self.run() {
            self.remove_dialect(&run.dialect)?;
        }
        // Without its description, what is left of an interrupted removal would not be recognized: it goes last.
        for name in [CERTIFICATE, PAGE, SIGNATURE, REPORT, RUN] {
            remove(&self.folder.join(name))?;
        }
        Ok(())
    }

    /// Removes the files of a dialect that the run has loaded: it stated their hash, so that they are its own.
    ///
    /// # Errors
    ///
    /// If a file cannot be removed.
    pub fn remove_dialect(&self, name: &str) -> io::Result<()> {
        let Some(folder) = spec::dialect(name).and_then(|dialect| dialect.folder) else { return Ok(()) };
        let all = self.folder.join(DIALECT);
        for (place, files) in &folder.folders {
            let own = all.join(place);
            for file in files.keys() {
                remove(&own.join(file))?;
            }
            let around = own.ancestors().take_while(|folder| folder.starts_with(&all));
            for inner in [own.join("events"), own.join("types")].iter().map(PathBuf::as_path).chain(around) {
                // Files that are not of the run stay.
                let _ = fs::remove_dir(inner);
            }
        }
        Ok(())
    }

    /// Returns the folder of an existing run.
    pub fn open(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), is_passing: false }
    }

    /// Its recordings are read once, and no report names them.
    pub(crate) fn passing(folder: &Path) -> Self {
        Self { is_passing: true, ..Self::open(folder) }
    }

    /// `None` if no report names its recordings.
    pub(crate) fn kept(&self) -> Option<&Self> {
        (!self.is_passing).then_some(self)
    }

    /// The path of the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn begin(&self, file: &str) -> io::Result<File> {
        let path = self.folder.join(file);
        fs::create_dir_all(path.parent().unwrap_or(&self.folder))?;
        File::create_new(path)
    }

    /// Secrets can be spread over several events. The result is the redacted text.
    pub(crate) fn hide(&self, file: &str, target: &Target) -> io::Result<String> {
        let hidden = target.hidden(&fs::read_to_string(self.folder.join(file))?);
        self.write(file, &hidden)?;
        Ok(hidden)
    }

    /// Writes the description of the run.
    pub fn write_run(&self, run: &RunFile) -> io::Result<()> {
        self.write(RUN, &run.text()?)
    }

    /// Keeps the files of a dialect that is not one of the suite.
    ///
    /// # Errors
    ///
    /// If a file cannot be written, or exists.
    pub fn write_dialect(&self, dialect: &Dialect) -> io::Result<()> {
        for (name, text) in files_of(dialect) {
            let path = self.folder.join(name);
            fs::create_dir_all(path.parent().unwrap_or(&self.folder))?;
            File::create_new(&path)
                .and_then(|mut file| file.write_all(text.as_bytes()))
                .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
        }
        Ok(())
    }

    /// Loads the dialect of a run, if the run states the hash of its folder.
    ///
    /// # Errors
    ///
    /// If the kept folder cannot be loaded, or has another hash.
    pub fn load_dialect(&self, name: &str, stated: Option<&str>) -> io::Result<()> {
        let Some(stated) = stated else { return Ok(()) };
        let own = Path::new(DIALECT).join(name);
        if own.components().any(|part| !matches!(part, Component::Normal(_))) {
            return Err(io::Error::other(format!("{name:?} is no name of a dialect")));
        }
        let path = self.folder.join(own);
        for path in [self.folder.join(DIALECT), path.clone()] {
            if fs::symlink_metadata(&path)?.is_symlink() {
                return Err(io::Error::other(format!("{} is a symbolic link", path.display())));
            }
        }
        let loaded = Folder::read(&path).and_then(|folder| spec::folder::load(name, &folder));
        let loaded = loaded.map_err(io::Error::other)?;
        if loaded.folder_hash().as_deref() == Some(stated) {
            return Ok(());
        }
        Err(io::Error::other(format!("{}: its files are not those of the run, {stated}", path.display())))
    }

    /// Writes the results, and returns their hash.
    pub fn write_report(&self, report: &str) -> io::Result<String> {
        self.write(REPORT, report)?;
        Ok(hash(report.as_bytes()))
    }

    /// Atomic: the file never exists in part.
    pub(crate) fn write(&self, name: &str, text: &str) -> io::Result<()> {
        replace(&self.folder.join(name), text)
    }

    /// Reads the description of the run, and loads its dialect if that is not one of the suite.
    pub fn run(&self) -> io::Result<RunFile> {
        let path = self.folder.join(RUN);
        let text = self
            .read(RUN)
            .and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other))
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
        let wrong = |problem: &dyn Display| io::Error::other(format!("{}: {problem}", path.display()));
        // The version is checked first, as the members of another version may differ.
        let format: Versioned = serde_json::from_str(&text).map_err(|error| wrong(&error))?;
        if format.version != VERSION {
            let other =
                format!("has format {}, but this build reads {VERSION}: run it again", format.version);
            return Err(wrong(&other));
        }
        let run: RunFile = serde_json::from_str(&text).map_err(|error| wrong(&error))?;
        self.load_dialect(&run.dialect, run.dialect_folder.as_deref())?;
        Ok(run)
    }

    /// Reads a file of the run. Paths outside the folder are refused, even through links, as `run.json` is untrusted.
    pub fn read(&self, file: &str) -> io::Result<Vec<u8>> {
        let is_below = |part| matches!(part, Component::Normal(_));
        if !Path::new(file).components().all(is_below) {
            return Err(io::Error::other("it is not in the folder"));
        }
        let mut path = self.folder.clone();
        for part in Path::new(file).components() {
            path.push(part);
            if fs::symlink_metadata(&path)?.is_symlink() {
                return Err(io::Error::other("it is reached through a symbolic link"));
            }
        }
        if !fs::symlink_metadata(&path)?.is_file() {
            return Err(io::Error::other("it is not a file"));
        }
        read_within(&path, LARGEST)
    }

    /// Returns the paths of files in the folder that are not among these.
    pub fn strangers(&self, files: &BTreeSet<&str>) -> io::Result<Vec<String>> {
        let mut strangers = Vec::new();
        let mut folders = vec![String::new()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(self.folder.join(&folder))? {
                let entry = entry?;
                let name = format!("{folder}{}", entry.file_name().to_string_lossy());
                let kind = entry.file_type()?;
                let below = format!("{name}/");
                if kind.is_dir() && files.iter().any(|file| file.starts_with(&below)) {
                    folders.push(below);
                } else if !kind.is_file() || !files.contains(&*name) {
                    strangers.push(name);
                }
            }
        }
        strangers.sort_unstable();
        Ok(strangers)
    }

    /// Returns the first line of `run.json` that differs from the one that the suite writes for this run.
    pub fn run_difference(&self, run: &RunFile) -> io::Result<Option<usize>> {
        let written = run.text()?;
        let found = self.read(RUN)?;
        if found == written.as_bytes() {
            return Ok(None);
        }
        let found = String::from_utf8_lossy(&found);
        Ok(Some(first_difference(&written, &found)))
    }

    /// Reads the results.
    pub fn report(&self) -> io::Result<Vec<u8>> {
        self.read(REPORT)
    }
}

/// The files of a dialect that is not one of the suite, below the folder of a run, with their texts.
pub fn files_of(dialect: &Dialect) -> impl Iterator<Item = (String, &str)> {
    dialect.folder.into_iter().flat_map(|folder| &folder.folders).flat_map(|(place, files)| {
        files.iter().map(move |(file, text)| (format!("{DIALECT}/{place}/{file}"), text.as_str()))
    })
}

/// Links are not followed.
fn remove_exchanges(folder: &Path) -> io::Result<()> {
    match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
        Ok(found) if found.is_symlink() => {
            return Err(io::Error::other(format!("{} is a symbolic link", folder.display())));
        }
        Ok(_) => {}
    }
    for entry in fs::read_dir(folder)? {
        let (path, kind) = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))?;
        let is_exchange = path.extension().is_some_and(|extension| extension == "exchange");
        if kind.is_dir() {
            remove_exchanges(&path)?;
        } else if kind.is_file() && is_exchange {
            fs::remove_file(path)?;
        } else {
            let problem = "is no exchange of a run: move it, or choose another folder";
            return Err(io::Error::other(format!("{} {problem}", path.display())));
        }
    }
    fs::remove_dir(folder)
}

//! The result of a check.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::dialect::Position;

/// Findings, and places and requirements that are still open.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Violated checks, by file.
    pub findings: Vec<Finding>,
    /// Whether files of dialects are invalid, so that references to them were not checked.
    pub only_files: bool,
    /// Places of skeletons that are still to be filled in, by file.
    pub todo: Vec<Finding>,
    /// Number of normative sentences.
    pub requirements: usize,
    /// Number of guarantees of dialects.
    pub guarantees: usize,
    /// Normative sentences without a rule or scenario.
    pub open_requirements: Vec<Open>,
    /// Guarantees without a rule.
    pub open_guarantees: Vec<Open>,
}

/// A violated check.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The file, relative to the folder of the specification.
    pub file: PathBuf,
    /// The place in it.
    pub place: SourcePlace,
    /// The problem, with found and expected values.
    pub message: String,
    /// The fix.
    pub help: String,
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum SourcePlace {
    /// The file as a whole.
    File,
    /// A line, counted from 1.
    Line(usize),
    /// A position, and the pointer or the entry there.
    At(Position, String),
    /// The value at a JSON pointer.
    Pointer(String),
    /// An entry that has a name.
    Entry(String),
}

/// A normative sentence or guarantee without coverage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    /// The file, relative to the folder of the specification.
    pub file: PathBuf,
    /// Its id.
    pub id: String,
    /// Its statement.
    pub statement: String,
    /// The missing rule or scenario.
    pub plan: String,
}

impl Report {
    /// The same finding of several dialects is added once.
    pub fn find(
        &mut self,
        file: impl AsRef<Path>,
        place: impl Into<SourcePlace>,
        message: impl fmt::Display,
        help: impl fmt::Display,
    ) {
        let (file, place) = (file.as_ref().to_owned(), place.into());
        let finding = Finding { file, place, message: message.to_string(), help: help.to_string() };
        if !self.findings.contains(&finding) {
            self.findings.push(finding);
        }
    }

    /// Orders the findings by file and place.
    pub fn sort(&mut self) {
        self.findings.sort();
    }
}

impl SourcePlace {
    /// The place at a JSON pointer; the whole file if that is empty.
    pub fn pointer(pointer: impl Into<String>) -> Self {
        match pointer.into() {
            root if root.is_empty() => Self::File,
            pointer => Self::Pointer(pointer),
        }
    }
}

/// Begins a message about the place.
impl fmt::Display for SourcePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File => Ok(()),
            Self::Line(line) => write!(f, "line {line}: "),
            Self::At(_, place) if place.is_empty() => Ok(()),
            Self::Pointer(place) | Self::Entry(place) | Self::At(_, place) => write!(f, "at {place}: "),
        }
    }
}

impl<T: Into<String>> From<T> for SourcePlace {
    fn from(name: T) -> Self {
        Self::Entry(name.into())
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.display();
        writeln!(f, "error: {}", self.message)?;
        match &self.place {
            SourcePlace::File => writeln!(f, "  --> {file}")?,
            SourcePlace::Line(line) => writeln!(f, "  --> {file}:{line}")?,
            SourcePlace::At(at, place) if place.is_empty() => writeln!(f, "  --> {file}{at}")?,
            SourcePlace::At(at, place) => writeln!(f, "  --> {file}{at}   {place}")?,
            SourcePlace::Pointer(pointer) => writeln!(f, "  --> {file}#{pointer}")?,
            SourcePlace::Entry(name) => writeln!(f, "  --> {file}   {name}")?,
        }
        writeln!(f, "   = help: {}", self.help)
    }
}

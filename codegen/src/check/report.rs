//! What a check has to say.

use std::fmt;
use std::path::{Path, PathBuf};

/// What was found, and what is still to be written.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// What does not hold, by file.
    pub findings: Vec<Finding>,
    /// Whether files of dialects could not be used, so that what refers to them was not looked at.
    pub only_files: bool,
    /// What skeletons left to be filled in, by file.
    pub todo: Vec<Finding>,
    /// How many normative sentences there are.
    pub requirements: usize,
    /// How many guarantees of dialects there are.
    pub guarantees: usize,
    /// Normative sentences that no rule or scenario covers yet.
    pub open_requirements: Vec<Open>,
    /// Guarantees that no rule covers yet.
    pub open_guarantees: Vec<Open>,
}

/// Something that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The file, relative to the folder of the specification.
    pub file: PathBuf,
    /// The place in it.
    pub place: Place,
    /// What is wrong, and what was expected.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The file as a whole.
    File,
    /// A line, counted from 1.
    Line(usize),
    /// The value at a JSON pointer.
    Pointer(String),
    /// An entry that has a name.
    Entry(String),
}

/// A normative sentence or a guarantee that nothing covers yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    /// The file, relative to the folder of the specification.
    pub file: PathBuf,
    /// Its id.
    pub id: String,
    /// What it demands.
    pub statement: String,
    /// What is to be written.
    pub plan: String,
}

impl Report {
    /// Notes that something does not hold. What follows from several dialects is noted once.
    pub(super) fn find(
        &mut self,
        file: impl AsRef<Path>,
        place: Place,
        message: impl fmt::Display,
        help: impl fmt::Display,
    ) {
        let file = file.as_ref().to_owned();
        let finding = Finding { file, place, message: message.to_string(), help: help.to_string() };
        if !self.findings.contains(&finding) {
            self.findings.push(finding);
        }
    }

    pub(super) fn sort(&mut self) {
        self.findings.sort();
    }
}

impl Place {
    pub(super) fn pointer(pointer: impl Into<String>) -> Self {
        match pointer.into() {
            root if root.is_empty() => Self::File,
            pointer => Self::Pointer(pointer),
        }
    }

    pub(super) fn entry(name: impl Into<String>) -> Self {
        Self::Entry(name.into())
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.display();
        writeln!(f, "error: {}", self.message)?;
        match &self.place {
            Place::File => writeln!(f, "  --> {file}")?,
            Place::Line(line) => writeln!(f, "  --> {file}:{line}")?,
            Place::Pointer(pointer) => writeln!(f, "  --> {file}#{pointer}")?,
            Place::Entry(name) => writeln!(f, "  --> {file}   {name}")?,
        }
        writeln!(f, "   = help: {}", self.help)
    }
}

//! Finds the places of skeletons that are still to be filled in.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use super::context::paths;
use super::report::{Finding, Place, Report};
use crate::todo::{MARK, marked};

/// Folders of files that are written by hand. Recordings may contain the mark.
const WRITTEN: [&str; 7] =
    ["client-profiles", "clients", "dialects", "profiles", "requirements", "rules", "scenarios"];

pub(super) fn check(spec: &Path, report: &mut Report) {
    for folder in WRITTEN {
        look(spec, &spec.join(folder), report);
    }
    for path in paths(spec).iter().filter(|path| path.extension() == Some(OsStr::new("toml"))) {
        read(spec, path, report);
    }
    report.todo.sort();
}

fn look(spec: &Path, folder: &Path, report: &mut Report) {
    for path in paths(folder) {
        if path.is_dir() {
            look(spec, &path, report);
        } else {
            read(spec, &path, report);
        }
    }
}

fn read(spec: &Path, path: &Path, report: &mut Report) {
    // The parser of the file reports text that is not UTF-8.
    let Ok(text) = fs::read_to_string(path) else { return };
    let file = path.strip_prefix(spec).unwrap_or(path);
    report.todo.extend(marked(&text).map(|(line, what)| Finding {
        file: file.to_owned(),
        place: Place::Line(line),
        message: format!("still to be filled in: {what}"),
        help: format!("replace the text marked {MARK}, or pass --allow-todo"),
    }));
}

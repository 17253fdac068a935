//! What skeletons leave to be filled in.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use super::context::paths;
use super::report::{Finding, Place, Report};
use crate::todo::{MARK, marked};

/// What is written by hand. Recordings may say anything.
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
    // A file that is no text is refused where it is read for what it says.
    let Ok(text) = fs::read_to_string(path) else { return };
    let file = path.strip_prefix(spec).unwrap_or(path);
    report.todo.extend(marked(&text).map(|(line, what)| Finding {
        file: file.to_owned(),
        place: Place::Line(line),
        message: format!("this is still to be filled in: {what}"),
        help: format!("write it in place of what is marked {MARK}, or leave it for later with --allow-todo"),
    }));
}

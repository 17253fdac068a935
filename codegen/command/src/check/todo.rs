//! Finds the places of skeletons that are still to be filled in.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use codegen::folders::{self, paths};
use codegen::todo::{MARK, marked};

use super::report::{Finding, Report, SourcePlace};

pub(super) fn check(spec: &Path, report: &mut Report) {
    look(spec, &spec.join("dialects"), report);
    // Recordings may contain the mark.
    for kind in folders::PAGES {
        for path in folders::of_kind(spec, kind) {
            look(spec, &path, report);
        }
    }
    let tables = folders::apis(spec).into_iter().map(|api| spec.join(folders::APIS).join(api));
    for folder in tables.chain([spec.to_owned()]) {
        for path in paths(&folder).iter().filter(|path| path.extension() == Some(OsStr::new("toml"))) {
            read(spec, path, report);
        }
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
        place: SourcePlace::Line(line),
        message: format!("still to be filled in: {what}"),
        help: format!("replace the text marked {MARK}, or pass --allow-todo"),
    }));
}

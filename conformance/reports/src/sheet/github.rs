//! A sheet as annotations of a GitHub workflow: one for each cause, the worst first.

use std::fmt::Write as _;

use catalogue::Level;
use results::Verdict;
use results::text::{counted, listed};

use super::rule::window;
use super::{Sheet, SheetCause};
use crate::github::{Annotation, lines, passing};

/// Maximum number of groups in a message.
const GROUPS: usize = 6;
/// Maximum number of characters of a side.
const SIDE: usize = 160;

pub(super) fn github(sheet: &Sheet<'_>, shown: Level) -> String {
    let causes = sheet.causes.iter().filter(|cause| cause.of.is_shown(shown));
    let mut all: Vec<Annotation> = causes.map(|cause| of_cause(sheet, cause)).collect();
    let unjudged = sheet.count(Verdict::HarnessError);
    if let Some(test) = sheet.tests.iter().find(|test| test.verdict == Verdict::HarnessError) {
        let message = format!("{}, first {}: {}", counted(unjudged, "test"), test.name, test.reason);
        all.push(Annotation::new(Level::Must, "not judged", message));
    }
    let of_profile = |profile: &&results::ProfileReport| {
        Annotation::new(Level::Must, "profile", format!("{}: {}", profile.name, profile.words()))
    };
    all.extend(sheet.unmet.iter().map(of_profile));
    all.extend(passing(sheet.stale));
    all.extend(sheet.remarks.iter().map(|(title, text)| Annotation::new(Level::May, title, text.clone())));
    lines(&all)
}

fn of_cause(sheet: &Sheet<'_>, cause: &SheetCause<'_>) -> Annotation {
    let SheetCause { of, finding, .. } = cause;
    let test = &sheet.tests[cause.test];
    let groups = listed(&of.groups, GROUPS, String::clone);
    let mut message = format!("{} ({} of {groups})", finding.message, counted(of.tests, "test"));
    for (name, side) in test.sides(finding) {
        let _ = write!(message, "; {name}: {}", window(finding, side, SIDE));
    }
    if let Some(page) = cause.page(sheet) {
        let _ = write!(message, "; fix: {}", page.fix);
    }
    let _ = write!(message, "; example: {}", test.name);
    Annotation::new(cause.shown_level(), &of.rule, message)
}

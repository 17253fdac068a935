//! Every defect names a golden and rules that there are, and says one thing of itself.

use super::context::Context;
use super::report::{Place, Report};
use super::{catalogue, violations};
use crate::catalogue::DEFECTS as FILE;
use crate::formats::{Defect, DefectVerdict};

pub(super) fn check(context: &Context, report: &mut Report) {
    let defects = &context.catalogue.defects.defects;
    for (index, defect) in defects.iter().enumerate() {
        let name = &defect.name;
        if defects.iter().take(index).any(|before| before.name == *name) {
            report.find(FILE, Place::entry(name), format!("{name} is there twice"), "give each its own name");
        }
        for rule in defect.at.keys().filter(|rule| !defect.rules.contains(rule)) {
            let message = format!("`at` says where {rule} is broken, but {rule} does not catch it");
            report.find(FILE, Place::entry(name), message, "name one of its `rules`");
        }
        check_verdict(context, defect, report);
        check_expectation(defect, report);
        violations::check_entry(context, &defect.golden, &defect.edits, FILE, name, report);
    }
}

fn check_verdict(context: &Context, defect: &Defect, report: &mut Report) {
    let entry = || Place::entry(&defect.name);
    match defect.verdict() {
        None => {
            let message = "it says nothing, or more than one thing, of what catches it";
            report.find(FILE, entry(), message, "give exactly one of `rules`, `legal`, `unseen` and `gap`");
        }
        Some(DefectVerdict::Caught(rules)) => {
            for rule in rules {
                catalogue::known_rule(context, rule, FILE, &defect.name, report);
            }
        }
        Some(DefectVerdict::Legal(why) | DefectVerdict::Unseen(why) | DefectVerdict::Gap(why)) => {
            if why.trim().is_empty() {
                report.find(FILE, entry(), "the reason is empty", "say why, or what is to be written");
            }
        }
    }
}

/// What a client has to do with a defect, and why.
fn check_expectation(defect: &Defect, report: &mut Report) {
    let mut find = |message: &str, help: &str| report.find(FILE, Place::entry(&defect.name), message, help);
    if defect.expect.is_some() != defect.because.is_some() {
        find("`expect` and `because` go together", "give both, or none");
    }
    let is_due = matches!(defect.verdict(), Some(DefectVerdict::Legal(why) | DefectVerdict::Unseen(why)) if !why.trim().is_empty());
    if is_due && defect.authority.is_none() || !defect.rules.is_empty() && defect.authority.is_some() {
        find(
            "a client may ask what makes this binding",
            "name an `authority` where no rule does, and only there",
        );
    }
}

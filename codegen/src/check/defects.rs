//! Checks that every defect refers to an existing golden and existing rules, and has one verdict.

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
            report.find(
                FILE,
                Place::entry(name),
                format!("the name {name} is used twice"),
                "rename one of them",
            );
        }
        if let Some(control) = defect.control.as_ref().filter(|control| {
            !defects.iter().any(|other| other.name == **control && other.golden == defect.golden)
        }) {
            let message = format!("there is no defect \"{control}\" of the same golden");
            report.find(FILE, Place::entry(name), message, "name a defect of the same golden as `control`");
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
            let message = "the verdict is missing or ambiguous";
            report.find(FILE, entry(), message, "set exactly one of `rules`, `legal`, `unseen` and `gap`");
        }
        Some(DefectVerdict::Caught(rules)) => {
            for rule in rules {
                catalogue::known_rule(context, rule, FILE, &defect.name, report);
            }
        }
        Some(DefectVerdict::Legal(why) | DefectVerdict::Unseen(why) | DefectVerdict::Gap(why)) => {
            if why.trim().is_empty() {
                report.find(FILE, entry(), "the reason is empty", "explain why, or which rule is missing");
            }
        }
    }
}

/// Checks the expectation of a defect on clients, and its authority.
fn check_expectation(defect: &Defect, report: &mut Report) {
    let mut find = |message: &str, help: &str| report.find(FILE, Place::entry(&defect.name), message, help);
    if defect.expect.is_some() != defect.because.is_some() {
        find("only one of `expect` and `because` is set", "set both, or remove both");
    }
    let is_due = matches!(defect.verdict(), Some(DefectVerdict::Legal(why) | DefectVerdict::Unseen(why)) if !why.trim().is_empty());
    if is_due && defect.authority.is_none() || !defect.rules.is_empty() && defect.authority.is_some() {
        find(
            "a defect needs either `rules` or `authority` for its expectation on clients",
            "set `authority` if no rule catches the defect; otherwise remove it",
        );
    }
}

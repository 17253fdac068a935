//! Checks that every defect refers to an existing golden and existing rules, and has one verdict.

use std::path::Path;

use codegen::folders::{self, DEFECTS};
use codegen::formats::{Defect, DefectVerdict};

use super::context::Context;
use super::report::Report;
use super::{catalogue, violations};

pub(super) fn check(context: &Context, report: &mut Report) {
    let defects = &context.catalogue.defects.defects;
    for (index, defect) in defects.iter().enumerate() {
        let file = folders::table_of(&defect.api, DEFECTS);
        let name = &defect.name;
        if defects.iter().take(index).any(|before| before.name == *name) {
            report.find(&file, name, format!("the name {name} is used twice"), "rename one of them");
        }
        if let Some(control) = defect.control.as_ref().filter(|control| {
            !defects.iter().any(|other| other.name == **control && other.golden == defect.golden)
        }) {
            let message = format!("there is no defect \"{control}\" of the same golden");
            report.find(&file, name, message, "name a defect of the same golden as `control`");
        }
        check_verdict(context, defect, &file, report);
        check_expectation(defect, &file, report);
        violations::check_entry(context, &defect.golden, &defect.edits, &file, name, report);
    }
}

fn check_verdict(context: &Context, defect: &Defect, file: &Path, report: &mut Report) {
    match defect.verdict() {
        None => {
            let message = "the verdict is missing or ambiguous";
            report.find(
                file,
                &defect.name,
                message,
                "set exactly one of `rules`, `legal`, `unseen` and `gap`",
            );
        }
        Some(DefectVerdict::Caught(rules)) => {
            for rule in rules {
                catalogue::known_rule(context, rule, file, &defect.name, report);
            }
        }
        Some(DefectVerdict::Legal(why) | DefectVerdict::Unseen(why) | DefectVerdict::Gap(why)) => {
            if why.trim().is_empty() {
                let help = "explain why, or which rule is missing";
                report.find(file, &defect.name, "the reason is empty", help);
            }
        }
    }
}

fn check_expectation(defect: &Defect, file: &Path, report: &mut Report) {
    let mut find = |message: &str, help: &str| report.find(file, &defect.name, message, help);
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

//! The causes of a run.

use std::borrow::Cow;

use catalogue::Level;
use results::text::counted;
use results::{Cause, Finding, Run};

use super::scanning::ANSWER;
use crate::human::{frequency, unsaid};
use crate::impact::{in_all, in_run};
use crate::sheet::{Cell, Remark, SheetCause};
use crate::terms::reason;

/// Maximum number of clients that were not played to, in a line.
const CLIENTS: usize = 16;

/// Responses that were not requested are causes, too.
pub(super) fn causes(run: &Run) -> Vec<SheetCause<'_>> {
    let answers = run.wrong_answers().into_iter().map(|(reason, tests)| SheetCause {
        heading: "Unexpected responses",
        rule: ANSWER,
        kind: reason,
        level: Level::Must,
        sign: Level::Must,
        fails: true,
        message: Cow::Borrowed(reason),
        extent: vec![Cell::Plain(counted(tests.len() as u64, "test"))],
        times: tests.len() as u64,
        remarks: vec![("tests", Cell::codes(tests))],
        file: None,
    });
    run.own_causes().iter().filter_map(|cause| of_cause(run, cause)).chain(answers).collect()
}

fn of_cause<'r>(run: &'r Run, cause: &'r Cause) -> Option<SheetCause<'r>> {
    let (capture, finding) = run.first_of(cause)?;
    let (path, line) = (run.name(capture).into_owned(), finding.place.line.max(1));
    let remarks = remarks(run, cause, finding, &format!("{path}:{line}"));
    let mut extent = vec![Cell::Plain(frequency(run, cause))];
    if cause.cases.len() > 1 {
        extent.extend([Cell::plain(": "), Cell::codes(&cause.cases)]);
    }
    let is_in_repository = run.live.is_none() && !path.starts_with('/');
    Some(SheetCause {
        heading: "Causes",
        rule: &cause.rule,
        kind: &cause.id,
        level: cause.level,
        sign: cause.level,
        fails: cause.fails.is_some(),
        message: Cow::Borrowed(&cause.message),
        extent,
        times: cause.times,
        remarks,
        file: is_in_repository.then_some((path, line)),
    })
}

fn remarks(run: &Run, cause: &Cause, finding: &Finding, place: &str) -> Vec<Remark> {
    let mut remarks: Vec<Remark> =
        unsaid(finding).into_iter().map(|(name, text)| (name, Cell::Code(text))).collect();
    if !cause.clients.is_empty() {
        remarks.push(("breaks", Cell::codes(&cause.clients)));
    }
    remarks.extend(reason(cause).map(|reason| ("fails", Cell::code(reason))));
    remarks.extend(cause.fix.as_ref().map(|fix| ("fix", Cell::code(fix))));
    let effects = run.effects_by_rule(cause);
    if !effects.is_empty() {
        let named = |(rule, times): (&str, u64)| format!("{rule} ({})", counted(times, "time"));
        remarks.push(("effects", Cell::codes(effects.into_iter().map(named))));
    }
    remarks.push(("first in", Cell::code(place)));
    remarks.extend(in_run(run, cause).into_iter().map(|line| ("played", Cell::Code(line))));
    let authority = match catalogue::rule(&cause.rule) {
        Some(rule) => Some(rule.in_api(&finding.api).citation.to_string()),
        None => catalogue::log_rule(&cause.rule).map(catalogue::TestRule::foundation),
    };
    remarks.extend(authority.map(|authority| ("authority", Cell::Code(authority))));
    remarks
}

pub(super) fn below(run: &Run) -> Vec<Cell> {
    let omitted = run.totals.omitted;
    let omitted = (omitted > 0).then(|| Cell::Plain(format!("and {} not listed", counted(omitted, "fault"))));
    let played = run.own_causes().iter().filter_map(|cause| cause.played.as_ref());
    let played = in_all(played, &run.not_played, CLIENTS).into_iter().map(Cell::Code);
    omitted.into_iter().chain(played).collect()
}

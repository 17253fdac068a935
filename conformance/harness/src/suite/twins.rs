//! Twins of the sessions of a run.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use libtest_mimic::Trial;
use spec::Dialect;

use super::session::{Session, completed};
use super::{Selection, SuiteError};
use crate::evidence::TWINS;
use crate::file::replace;
use crate::live::Live;
use crate::plan::About;
use crate::twins::{Strictness, TwinSide, is_comparable, name, names, twin};
use reports::{Form, twins_in};
use results::{TWINS_VERSION, TwinResult, TwinsReport};

/// The twins of several sessions: for each case, the sessions that send it.
pub(super) struct Twins {
    dialects: Vec<String>,
    twins: Vec<Sides>,
}

#[derive(Clone)]
struct Sides {
    case: String,
    each: Vec<(&'static Dialect, Arc<Live>, usize)>,
    strictness: Strictness,
}

impl Sides {
    fn judge(&self) -> TwinResult {
        let sides: Vec<TwinSide<'_>> = self
            .each
            .iter()
            .filter_map(|(dialect, live, at)| {
                let case = live.plan.cases.get(*at)?;
                Some(TwinSide { dialect, case, attempts: live.attempts_of(*at) })
            })
            .collect();
        twin(&self.case, &sides, self.strictness)
    }
}

impl Twins {
    pub(super) fn of(sessions: &[Session], selection: &Selection) -> Self {
        // Dialects of one API are no twins.
        let api = |session: &Session| session.live().rules.dialect().api.name;
        if sessions.iter().map(api).collect::<BTreeSet<_>>().len() < sessions.len().max(2) {
            return Self { dialects: Vec::new(), twins: Vec::new() };
        }
        let is_scripted = sessions.iter().all(Session::is_reference);
        let strictness = if is_scripted { Strictness::Exact } else { Strictness::Kinds };
        let cases = names(sessions.iter().map(|session| session.live().plan.cases.as_slice()));
        let selected = cases.into_iter().filter(|case| selection.includes(&name(case)));
        let sides = |case: String| {
            let side = |session: &Session| {
                let at = session
                    .live()
                    .plan
                    .cases
                    .iter()
                    .position(|own| own.name == case && is_comparable(own))?;
                let is_due = session.is_due(at, About::Answer);
                is_due.then(|| (session.live().rules.dialect(), Arc::clone(&session.tests().live), at))
            };
            let sides: Vec<_> = sessions.iter().filter_map(side).collect();
            (sides.len() > 1).then_some(Sides { case, each: sides, strictness })
        };
        let dialects =
            sessions.iter().map(|session| session.live().rules.dialect().name.to_owned()).collect();
        Self { dialects, twins: selected.filter_map(sides).collect() }
    }

    pub(super) fn trials(&self) -> impl Iterator<Item = Trial> {
        self.twins.iter().map(|sides| {
            let sides = sides.clone();
            Trial::ignorable_test(name(&sides.case), move || completed(sides.judge().judged))
        })
    }

    pub(super) fn report(&self) -> TwinsReport {
        TwinsReport {
            version: TWINS_VERSION,
            suite: env!("CARGO_PKG_VERSION").to_owned(),
            dialects: self.dialects.clone(),
            twins: self.twins.iter().map(Sides::judge).collect(),
        }
    }
}

pub(super) fn keep(report: &TwinsReport, folder: Option<&Path>) -> Result<(), SuiteError> {
    let Some(folder) = folder.filter(|_| !report.dialects.is_empty()) else { return Ok(()) };
    let file = folder.join(TWINS);
    let text = twins_in(report, Form::Json).unwrap_or_default();
    replace(&file, &text).map_err(|error| SuiteError::new(format!("{}: {error}", file.display())))
}

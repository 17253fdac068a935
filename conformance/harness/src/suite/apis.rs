//! Which APIs an endpoint serves: one short request to each.

use spec::Dialect;

use super::print::eprint_line;
use super::session::Session;
use super::{Selection, Suite, SuiteError};
use crate::judge::foreign;
use crate::live::{CaseOutcome, RunRuntime, first_model};
use crate::wire::{Client, Limits};
use checker::Rules;
use results::{Filters, Options, Transport, UndecidedKind};

/// The scenario that an endpoint of every API can answer.
const FIRST: &str = "text/hello";

/// The APIs of an endpoint.
#[derive(Debug)]
pub struct Served {
    /// The suites of those that it serves, with the models to request.
    pub suites: Vec<Suite>,
    /// The others.
    pub others: Vec<Unserved>,
}

/// An API that an endpoint does not serve, or that cannot be tested now.
#[derive(Debug, Clone)]
pub struct Unserved {
    /// Its dialect.
    pub dialect: &'static Dialect,
    /// The kind of obstacle that shows it.
    pub class: UndecidedKind,
    /// The request and the response.
    pub reason: String,
}

impl Unserved {
    /// Returns whether nothing of the API is at the endpoint, or why it was not tested.
    pub fn state(&self) -> String {
        let state = if self.class == UndecidedKind::Path { "not served" } else { "not tested" };
        format!("{state}: {}", self.reason)
    }

    pub(super) fn line(&self) -> String {
        format!("{}: {}", self.dialect.api.title, self.state())
    }
}

/// Asks an endpoint for the APIs of these suites, and prints what came back. If it serves none, the result has the suite of
/// the one that it came closest to: its run reports the obstacle.
///
/// # Errors
///
/// If nothing could be sent.
pub fn served(suites: Vec<Suite>) -> Result<Served, SuiteError> {
    let machine = RunRuntime::start().map_err(|error| SuiteError::new(error.to_string()))?;
    let suites = with_models(suites, &machine)?;
    eprint_line(&format!("one request to each API, to find those that the endpoint serves: {FIRST}"));
    let probes: Vec<Suite> = suites.iter().map(Suite::probe).collect();
    let start = |probe: &Suite| {
        let planned = probe.plan(&|name| name.strip_suffix("::answer") == Some(FIRST));
        planned.start(&machine, &Filters::default(), &[])
    };
    // All of them at once: an endpoint may take its time.
    let sessions = probes.iter().map(start).collect::<Result<Vec<_>, _>>()?;
    let asked: Vec<Option<(UndecidedKind, String)>> = sessions.iter().map(Session::foreign).collect();
    if machine.is_interrupted() {
        return Err(SuiteError::new("interrupted"));
    }
    let widest = suites.iter().map(|suite| suite.dialect.api.title.len()).max().unwrap_or_default();
    let mut served = Served { suites: Vec::new(), others: Vec::new() };
    let mut unserved = Vec::new();
    for (suite, asked) in suites.into_iter().zip(asked) {
        let title = suite.dialect.api.title;
        let Some((class, reason)) = asked else {
            eprint_line(&format!("  {title:<widest$}  served"));
            served.suites.push(suite);
            continue;
        };
        let other = Unserved { dialect: suite.dialect, class, reason };
        eprint_line(&format!("  {title:<widest$}  {}", other.state()));
        served.others.push(other);
        unserved.push((class, suite));
    }
    if served.suites.is_empty() {
        // An endpoint that answers at all is closer than an unknown path.
        let closest = unserved.iter().position(|(class, _)| *class != UndecidedKind::Path);
        served.suites.extend(unserved.into_iter().nth(closest.unwrap_or_default()).map(|(_, suite)| suite));
    }
    Ok(served)
}

/// The first list of models serves all APIs.
fn with_models(suites: Vec<Suite>, machine: &RunRuntime) -> Result<Vec<Suite>, SuiteError> {
    let mut found = None;
    for suite in suites.iter().filter(|suite| suite.model.is_none()) {
        let client = Client::new(suite.open()?.0, Limits::of(&suite.options), machine.interrupt());
        let client = client.map_err(|problem| SuiteError::new(format!("cannot connect: {problem}")))?;
        let first = machine.runtime().block_on(first_model(&client, &Rules::of(suite.dialect)));
        let is_last = first.is_listed || !first.is_answered;
        if found.is_none() || first.is_listed {
            found = Some(first);
        }
        if is_last {
            break;
        }
    }
    let Some(first) = found else { return Ok(suites) };
    eprint_line(&first.line);
    let with_model = |suite: Suite| {
        let directives = suite.directives.or(Some(first.is_reference));
        let suite = Suite { directives, ..suite };
        if suite.model.is_none() { suite.model(&*first.name) } else { suite }
    };
    Ok(suites.into_iter().map(with_model).collect())
}

impl Suite {
    /// The dialect.
    pub const fn dialect(&self) -> &'static Dialect {
        self.dialect
    }

    /// The model to request, if it is known.
    pub fn requested_model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// Failures can be expected, or listed instead of failing.
    pub(super) const fn bears_failures(&self) -> bool {
        !self.known.is_empty() || self.failures.is_some()
    }

    /// Returns whether a selection has any of its tests.
    pub fn has_any_of(&self, selection: &Selection) -> bool {
        !self.plan(&|name| selection.includes(name)).is_empty()
    }

    /// Sends the first request alone, once.
    fn probe(&self) -> Self {
        Self {
            options: Options {
                transports: vec![Transport::Sse],
                profiles: Vec::new(),
                attempts: 1,
                jobs: 1,
                concurrent: 1,
                ..self.options.clone()
            },
            known: Vec::new(),
            failures: None,
            max_failures: None,
            snapshots: None,
            out: None,
            is_named: false,
            ..self.clone()
        }
    }
}

impl Session {
    /// The reason why the response to the only request does not come from an endpoint of the API.
    fn foreign(&self) -> Option<(UndecidedKind, String)> {
        let live = self.live();
        let at = live.plan.wanted.iter().position(|wanted| *wanted)?;
        let case = live.plan.cases.get(at)?;
        let found = match live.wait(at) {
            CaseOutcome::Sent(attempts) => foreign(case, attempts.last()?, live.rules.dialect())?,
            CaseOutcome::Skipped(judged) => (judged.kind, judged.reason.clone()),
            CaseOutcome::Broken(reason) => (UndecidedKind::Other, reason.clone()),
        };
        Some((found.0, live.masked(&found.1)))
    }
}

//! Faults of a request, and whether they were applied.

use std::fmt::Write as _;

use axum::http::{HeaderMap, HeaderValue};
use catalogue::Rule;
use serde_json::Value;
use spec::Api;

use super::regardless::regardless;
use super::socket::SOCKET_FAULTS;
use crate::content::problem::Problem;
use crate::content::refusal::refusal;
use crate::content::speech::{example, input_text};
use crate::content::text;
use crate::rendering::wire::{Wire, WireFault};
use checker::Rules;

/// The header that requests faults; in the response it reports whether they were applied.
pub(crate) const HEADER: &str = "x-conformance-fault";
/// Prefix of a model that requests faults.
const MODEL: &str = "fault:";
/// Prefix of a directive that requests faults.
const DIRECTIVE: &str = "[[fault ";
/// Maximum number of faults of a request, as each one is tried on the response.
const MAX_FAULTS: usize = 8;

/// The faults of a request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Faults {
    /// Rules to break where that breaks no other rule.
    pub(super) rules: Vec<&'static Rule>,
    /// Transport faults.
    pub(crate) wire: Vec<WireFault>,
    /// Results by name: `None` if applied, or why not.
    done: Vec<(&'static str, Option<String>)>,
}

impl Faults {
    pub(crate) const fn new(rules: Vec<&'static Rule>, wire: Vec<WireFault>) -> Self {
        Self { rules, wire, done: Vec::new() }
    }

    pub(crate) fn add_headers(&mut self, headers: &HeaderMap) -> Result<(), Problem> {
        let values = headers.get_all(HEADER).iter();
        values.into_iter().try_for_each(|value| self.add(&String::from_utf8_lossy(value.as_bytes())))
    }

    /// Faults are named by the model of a request, or by directives in its input.
    pub(crate) fn add_request(&mut self, request: &Value, api: &Api) -> Result<(), Problem> {
        if let Some(names) = text(request, "model").and_then(|model| model.strip_prefix(MODEL)) {
            self.add(names)?;
        }
        let Some(input) = request.get(api.request.input) else { return Ok(()) };
        let input = input.to_string();
        let directives = input.split(DIRECTIVE).skip(1).filter_map(|rest| rest.split_once("]]"));
        directives.take(MAX_FAULTS + 1).try_for_each(|(names, _)| self.add(names))
    }

    fn add(&mut self, names: &str) -> Result<(), Problem> {
        for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            if self.rules.len() + self.wire.len() >= MAX_FAULTS {
                let message = format!("A request can ask for {MAX_FAULTS} faults.");
                return Err(Problem::invalid("too_many_faults", message, None));
            }
            match (WireFault::named(name), catalogue::rule(name)) {
                (Some(fault), _) if !self.wire.contains(&fault) => self.wire.push(fault),
                (None, Some(rule)) if !self.breaks(rule.id) => self.rules.push(rule),
                (None, None) => {
                    let name: String = name.chars().take(100).collect();
                    let message = format!("There is no fault {name:?}; GET /faults lists them all.");
                    return Err(Problem::invalid("unknown_fault", message, None));
                }
                _ => {}
            }
        }
        Ok(())
    }

    pub(crate) fn breaks(&self, id: &str) -> bool {
        self.rules.iter().any(|rule| rule.id == id)
    }

    pub(crate) fn applies(&mut self, id: &'static str) -> bool {
        let is_broken = self.breaks(id);
        if is_broken {
            self.note(id, None);
        }
        is_broken
    }

    pub(crate) fn break_rules(&mut self, mut wire: Wire, rules: &Rules) -> Wire {
        let mut already: Vec<&str> = Vec::new();
        for rule in self.rules.clone() {
            match wire.breaking(rule, rules, &already) {
                Some(broken) => {
                    wire = broken;
                    already.push(rule.id);
                    already.extend(rule.in_dialect(rules.dialect()).violation.also);
                    self.note(rule.id, None);
                }
                None if SOCKET_FAULTS.contains_key(rule.id) => {}
                None => self.note(rule.id, Some(why_not(&wire, rule, rules))),
            }
        }
        wire
    }

    /// If one of the selected rules is about obeying requests, the response does not do what a valid request asks for.
    pub(crate) fn regardless(&mut self, request: &Value, rules: &Rules) -> Option<Wire> {
        if self.rules.is_empty() || refusal(request, rules.dialect()).is_some() {
            return None;
        }
        let broken = |rule: &&'static Rule| Some((rule.id, regardless(request, rule, rules)?));
        let (id, wire) = self.rules.iter().find_map(broken)?;
        self.note(id, None);
        Some(wire)
    }

    /// An applied fault stays applied.
    pub(crate) fn note(&mut self, name: &'static str, problem: Option<String>) {
        match self.done.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) if known.is_some() => *known = problem,
            Some(_) => {}
            None => self.done.push((name, problem)),
        }
    }

    /// One line, empty if there are none.
    pub(crate) fn outcome(&self) -> String {
        let all = self.rules.iter().map(|rule| rule.id).chain(self.wire.iter().map(|fault| fault.name()));
        let mut outcomes = String::new();
        for name in all {
            let done = self.done.iter().find(|(known, _)| *known == name).map(|(_, problem)| problem);
            let _ = match done {
                Some(None) => write!(outcomes, "; {name}: applied"),
                Some(Some(problem)) => write!(outcomes, "; {name}: not applied, {problem}"),
                None => write!(outcomes, "; {name}: not applied, this response is not of that kind"),
            };
        }
        outcomes.split_off(outcomes.len().min(2))
    }

    pub(crate) fn header(&self) -> Option<HeaderValue> {
        let header: String = self.outcome().chars().filter(|c| (' '..='~').contains(c)).take(1000).collect();
        HeaderValue::from_str(&header).ok().filter(|value| !value.is_empty())
    }
}

fn why_not(wire: &Wire, rule: &Rule, rules: &Rules) -> String {
    if rules.iter().all(|bound| bound.id != rule.id) {
        return format!("the rule does not apply to {}", rules.dialect().name);
    }
    let violation = &rule.in_dialect(rules.dialect()).violation;
    let like = example(violation.golden).and_then(|request| input_text(&request).map(str::to_owned));
    let like = like.map_or_else(String::new, |input| format!("; try the input {input}"));
    match wire.edited(violation.edits, 0) {
        None => format!("this response lacks the events it needs{like}"),
        Some(_) => format!("this response cannot break only this rule{like}"),
    }
}

//! Answers that break a rule: the edits that prove the rule, made of the answer.

use catalogue::{Edit, Rule};

use super::sending::event_end;
use super::{Answer, answer, example, plan};
use checker::Rules;
use recordings::capture::Format;
use recordings::{check, violation};

/// An answer on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wire {
    /// The status.
    pub status: u16,
    /// The type of the content.
    pub content_type: String,
    /// The body.
    pub body: Vec<u8>,
}

/// Maximum number of items of a response in which a rule is tried to be broken.
const ITEMS: usize = 3;

impl Wire {
    /// A stream.
    pub fn stream(answer: &Answer) -> Self {
        Self { status: 200, content_type: "text/event-stream".to_owned(), body: answer.stream().into_bytes() }
    }

    /// An answer that is no stream.
    pub fn json(status: u16, body: &str) -> Self {
        Self { status, content_type: "application/json".to_owned(), body: body.as_bytes().to_vec() }
    }

    /// Whether it is a stream.
    pub fn is_stream(&self) -> bool {
        self.content_type == "text/event-stream"
    }

    /// The events of a stream, as they are sent.
    pub fn events(&self) -> Vec<Vec<u8>> {
        let mut events = Vec::new();
        let mut rest = self.body.as_slice();
        while !rest.is_empty() {
            let (event, others) = rest.split_at(event_end(rest));
            events.push(event.to_vec());
            rest = others;
        }
        events
    }

    /// As it is recorded: with its head, as far as that tells something.
    pub fn recording(&self) -> Vec<u8> {
        let head = format!("HTTP/1.1 {} \r\ncontent-type: {}\r\n\r\n", self.status, self.content_type);
        [head.as_bytes(), &self.body].concat()
    }

    fn read(recording: &[u8], unchanged: &Self) -> Option<Self> {
        let Some(rest) = recording.strip_prefix(b"HTTP/1.1 ") else {
            return Some(Self { body: recording.to_vec(), ..unchanged.clone() });
        };
        let end = rest.windows(4).position(|window| window == b"\r\n\r\n")?;
        let head = String::from_utf8_lossy(rest.get(..end)?);
        let status = head.split_whitespace().next()?.parse().ok()?;
        let header = |line: &str| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("content-type").then(|| value.to_owned())
        };
        let content_type = head.lines().find_map(header).unwrap_or_else(|| unchanged.content_type.clone());
        Some(Self { status, content_type, body: rest.get(end + 4..)?.to_vec() })
    }

    /// The rules of a dialect that it breaks.
    pub fn broken(&self, rules: &Rules) -> Vec<&'static str> {
        let report = check("answer", &mut &*self.recording(), Some(Format::Http), rules);
        report.findings.iter().filter_map(|finding| Some(catalogue::rule(&finding.rule)?.id)).collect()
    }

    /// The same, with a rule broken: `None` when it cannot be, or not without breaking others besides it and
    /// those that are broken already.
    #[must_use]
    pub fn breaking(&self, rule: &'static Rule, rules: &Rules, already: &[&str]) -> Option<Self> {
        let is_meant =
            |id: &&'static str| *id == rule.id || rule.violation.also.contains(id) || already.contains(id);
        let of_item = |item: usize| {
            let wire = Self::read(&self.edited(rule.violation.edits, item)?, self)?;
            let broken = wire.broken(rules);
            (broken.contains(&rule.id) && broken.iter().all(is_meant)).then_some(wire)
        };
        // What the page does with the first item may fit a later one only.
        let is_of_item = rule.violation.edits.iter().any(violation::is_of_item);
        let last = if is_of_item && self.is_stream() { ITEMS } else { 1 };
        (0..last).find_map(of_item)
    }

    pub(super) fn edited(&self, edits: &[Edit], item: usize) -> Option<Vec<u8>> {
        if self.is_stream() {
            return violation::edited_from(Format::Sse, &self.body, edits, item).ok();
        }
        violation::edited(Format::Http, &self.recording(), edits).ok()
    }
}

/// The rules that can be broken in a dialect, each with a request in whose answer it can.
pub fn faults(rules: &Rules) -> Vec<(&'static Rule, &'static str)> {
    let dialect = rules.dialect();
    // An answer in the words of the golden that proves a rule breaks it if any does. Other answers take seconds to try,
    // all for nothing.
    let is_alike = |golden: &str| {
        let of = golden.split_once('/').map_or(golden, |(of, _)| of);
        LIKE_GOLDENS.contains(&of) && LIKE_GOLDENS.iter().any(|name| dialect.is_or_extends(name))
    };
    find_faults(rules, &is_alike)
}

/// Dialects with the same events, up to the names of a few.
const LIKE_GOLDENS: [&str; 3] = ["open-responses", "open-responses@2026-01-15", "openai"];

/// Looks for an answer that can break each rule: first the one that is like the golden of the rule, and if that is not
/// enough to know, all others.
fn find_faults(rules: &Rules, is_enough: &dyn Fn(&str) -> bool) -> Vec<(&'static Rule, &'static str)> {
    let wires: Vec<(&'static str, Wire)> = super::examples()
        .filter_map(|golden| {
            let request = example(golden)?;
            Some((golden, respond(&request, rules.dialect())))
        })
        .collect();
    let can_break = |rule: &'static Rule| {
        let golden = rule.violation.golden;
        let own = wires.iter().filter(|(name, _)| *name == golden);
        let others = wires.iter().filter(|(name, _)| *name != golden && !is_enough(golden));
        let (golden, _) = own.chain(others).find(|(_, wire)| wire.breaking(rule, rules, &[]).is_some())?;
        Some((rule, *golden))
    };
    let bound = |rule: &&'static Rule| rules.iter().any(|bound| bound.id == rule.id);
    catalogue::RULES.iter().filter(bound).filter_map(can_break).collect()
}

/// What a request is answered with, as long as nothing is stored.
pub fn respond(request: &serde_json::Value, dialect: &'static spec::Dialect) -> Wire {
    if let Some(problem) = super::refusal(request, dialect) {
        return Wire::json(problem.status, &problem.body().to_string());
    }
    let answer = answer(request, &plan(request, dialect, 0), dialect, 0);
    if request.get("stream") == Some(&serde_json::Value::Bool(true)) {
        return Wire::stream(&answer);
    }
    Wire::json(200, &answer.response().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_answer_like_its_golden_does_not_break_no_answer_breaks() {
        let rules = Rules::of(spec::dialect("openai").expect("it is there"));
        assert_eq!(faults(&rules).len(), find_faults(&rules, &|_| false).len());
    }
}

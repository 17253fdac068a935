//! Responses that break a rule: the edits of the rule's violation, applied to a response.

use catalogue::{Edit, Rule};

use super::sending::event_end;
use super::{Answer, answer, example, plan};
use checker::Rules;
use recordings::capture::Format;
use recordings::{check, violation};

/// A response on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wire {
    /// Its status.
    pub status: u16,
    /// Its content type.
    pub content_type: String,
    /// Its body.
    pub body: Vec<u8>,
}

/// Maximum number of items of a response in which a violation is tried.
const ITEMS: usize = 3;

impl Wire {
    /// Creates a streaming response.
    pub fn stream(answer: &Answer) -> Self {
        Self { status: 200, content_type: "text/event-stream".to_owned(), body: answer.stream().into_bytes() }
    }

    /// Creates a non-streaming response.
    pub fn json(status: u16, body: &str) -> Self {
        Self { status, content_type: "application/json".to_owned(), body: body.as_bytes().to_vec() }
    }

    /// Returns whether it is a stream.
    pub fn is_stream(&self) -> bool {
        self.content_type == "text/event-stream"
    }

    /// Returns the events of a stream as sent.
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

    /// Returns its recording, with the head if that is relevant.
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

    /// Returns the rules of a dialect that it breaks.
    pub fn broken(&self, rules: &Rules) -> Vec<&'static str> {
        let report = check("answer", &mut &*self.recording(), Some(Format::Http), rules);
        report.findings.iter().filter_map(|finding| Some(catalogue::rule(&finding.rule)?.id)).collect()
    }

    /// Returns a copy that also breaks a rule, or `None` if that is impossible without breaking rules other than this
    /// one and those that are already broken.
    #[must_use]
    pub fn breaking(&self, rule: &'static Rule, rules: &Rules, already: &[&str]) -> Option<Self> {
        let is_meant =
            |id: &&'static str| *id == rule.id || rule.violation.also.contains(id) || already.contains(id);
        let of_item = |item: usize| {
            let wire = Self::read(&self.edited(rule.violation.edits, item)?, self)?;
            let broken = wire.broken(rules);
            (broken.contains(&rule.id) && broken.iter().all(is_meant)).then_some(wire)
        };
        // An edit of the first item may only apply to a later one.
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

/// Returns the rules that can be broken in a dialect, each with a request whose response can break it.
pub fn faults(rules: &Rules) -> Vec<(&'static Rule, &'static str)> {
    let dialect = rules.dialect();
    // If any response can break a rule, one like its golden can. Trying the others would waste seconds.
    let is_alike = |golden: &str| {
        let of = golden.split_once('/').map_or(golden, |(of, _)| of);
        LIKE_GOLDENS.contains(&of) && LIKE_GOLDENS.iter().any(|name| dialect.is_or_extends(name))
    };
    find_faults(rules, &is_alike)
}

/// Dialects with the same events, except for a few names.
const LIKE_GOLDENS: [&str; 3] = ["open-responses", "open-responses@2026-01-15", "openai"];

/// Finds a response that can break each rule. Tries the one like the golden of the rule first, and all others unless
/// `is_enough`.
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

/// Returns the response to a request when nothing is stored.
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

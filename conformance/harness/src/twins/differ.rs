//! How the answers to one scenario over two APIs differ.

use std::collections::BTreeSet;

use serde_json::Value;
use spec::Api;

use super::terms::{self, Aspect};
use super::tool::unfit;
use crate::judge::Facts;
use crate::plan::ScenarioCase;
use checker::{Answer, ToolCall};
use results::text::{cut, visible};

#[derive(Debug, Clone, Copy)]
pub(super) struct Side<'s> {
    pub(super) dialect: &'static str,
    pub(super) case: &'s ScenarioCase,
    /// All attempts at it; the last one counts.
    pub(super) facts: &'s [&'s Facts],
}

/// Whether models or one script wrote the compared answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    /// Models choose their words.
    Kinds,
    /// All texts, arguments and counts are equal.
    Exact,
}

/// A difference between two sides, with the value of each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unlike {
    pub(super) aspect: Aspect,
    pub(super) sides: [String; 2],
}

impl Unlike {
    /// One line, with the exchanges that show the difference.
    pub(super) fn text(&self, one: &Side<'_>, other: &Side<'_>, files: [String; 2]) -> String {
        let [own, its] = &self.sides;
        let [file, other_file] = files;
        format!(
            "{}: {own} in {} ({file}), but {its} in {} ({other_file})",
            self.aspect.name(),
            one.dialect,
            other.dialect
        )
    }
}

/// The class of what fails.
const FAILED: &str = "failed";
/// Maximum length of a value.
const LONGEST: usize = 80;

impl<'s> Side<'s> {
    fn last(&self) -> Option<&'s Facts> {
        self.facts.last().copied()
    }

    fn api(&self) -> &'static Api {
        self.case.api
    }
}

pub(super) fn differences(one: &Side<'_>, other: &Side<'_>, strictness: Strictness) -> Vec<Unlike> {
    let (Some(own), Some(its)) = (one.last(), other.last()) else { return Vec::new() };
    let mut found = Vec::new();
    let mut add = |aspect, sides: [String; 2]| {
        if sides[0] != sides[1] {
            found.push(Unlike { aspect, sides });
        }
    };
    if !one.case.scenario.status.is_empty() {
        let statuses = [own, its].map(|facts| facts.status.unwrap_or_default());
        let [class, its_class] = statuses.map(terms::class);
        if class != its_class || class.is_none() {
            add(Aspect::Error, statuses.map(|status| format!("status {status}")));
        }
        return found;
    }
    add(Aspect::Kinds, [&own.answer, &its.answer].map(kinds));
    add(Aspect::Calls, [&own.answer, &its.answer].map(|answer| calls(answer, strictness)));
    for (side, facts, at) in [(one, own, 0), (other, its, 1)] {
        for call in &facts.answer.calls {
            if let Some(problem) = facts.request.as_ref().and_then(|request| unfit(side.api(), request, call))
            {
                let mut sides = ["they fit".to_owned(), "they fit".to_owned()];
                sides[at] = format!("{}: {problem}", visible(&cut(&call.name, LONGEST)));
                add(Aspect::Calls, sides);
            }
        }
    }
    let stops = [(one, own), (other, its)].map(|(side, facts)| stop(side.api(), facts));
    if stops[0].1.is_disjoint(&stops[1].1) {
        add(Aspect::Stop, [&stops[0].0, &stops[1].0].map(Clone::clone));
    }
    add(Aspect::Words, [one, other].map(says));
    add(Aspect::Reasoning, [own, its].map(|facts| shown(&facts.answer.reasoning, strictness)));
    // The texts before a failure depend on when it comes.
    let has_failed = stops.iter().any(|(_, classes)| classes.contains(FAILED));
    if strictness == Strictness::Exact && !has_failed {
        add(Aspect::Kinds, [own, its].map(|facts| quoted(&facts.answer.text())));
        add(Aspect::Kinds, [own, its].map(|facts| quoted(&facts.answer.refusal)));
    }
    match [(one, own), (other, its)].map(|(side, facts)| tokens(side.api(), facts)) {
        [Some(one), Some(other)] if strictness == Strictness::Exact => {
            add(Aspect::Usage, [one.1, other.1].map(counted));
        }
        // An API may count more for its frame, but not another text.
        [Some(one), Some(other)] => {
            let is_far =
                |one: u64, other: u64| one.abs_diff(other) > 64 && one.max(other) > 2 * one.min(other);
            if is_far(one.0, other.0) {
                add(Aspect::Usage, [one.0, other.0].map(|count| format!("{count} of the input")));
            }
        }
        sides => add(
            Aspect::Counted,
            sides.map(|side| if side.is_some() { "counted" } else { "not counted" }.to_owned()),
        ),
    }
    found
}

fn counted(output: u64) -> String {
    format!("{output} of the output")
}

/// Where there are calls, models choose whether they also write a text.
fn kinds(answer: &Answer) -> String {
    let has_calls = !answer.calls.is_empty();
    let kinds = [
        ("calls", has_calls),
        ("a refusal", !answer.refusal.is_empty()),
        ("text", !has_calls && answer.refusal.is_empty() && !answer.text().is_empty()),
    ];
    let kinds: Vec<&str> =
        kinds.into_iter().filter(|(_, is_there)| *is_there).map(|(kind, _)| kind).collect();
    if kinds.is_empty() { "nothing".to_owned() } else { kinds.join(", ") }
}

fn calls(answer: &Answer, strictness: Strictness) -> String {
    let shown = |call: &ToolCall| match strictness {
        Strictness::Kinds => call.name.clone(),
        // Spaces are no part of the arguments.
        Strictness::Exact => match serde_json::from_str::<Value>(&call.arguments) {
            Ok(arguments) => format!("{}({arguments})", call.name),
            Err(_) => format!("{}({})", call.name, call.arguments),
        },
    };
    let mut calls: Vec<String> =
        answer.calls.iter().map(shown).map(|call| visible(&cut(&call, LONGEST))).collect();
    calls.sort_unstable();
    if calls.is_empty() { "none".to_owned() } else { calls.join(", ") }
}

/// The word of the API, with its classes. A word with several classes means the one that the content shows.
fn stop(api: &Api, facts: &Facts) -> (String, BTreeSet<&'static str>) {
    if facts.error_event.is_some() {
        return ("an error".to_owned(), BTreeSet::from([FAILED]));
    }
    let answer = &facts.answer;
    let word = answer.status.as_deref().unwrap_or("none");
    let mut classes: BTreeSet<&str> = terms::stops(api.name, word).iter().map(String::as_str).collect();
    if classes.len() > 1 && classes.contains("calls") {
        let shown = if !answer.calls.is_empty() {
            "calls"
        } else if answer.refusal.is_empty() {
            "ended"
        } else {
            "refused"
        };
        classes.retain(|class| *class == shown);
    }
    (visible(&cut(word, LONGEST)), classes)
}

fn says(side: &Side<'_>) -> String {
    let Some(words) = &side.case.says else { return String::new() };
    let is_said = side.facts.iter().any(|facts| facts.says(words));
    format!("{} {}", if is_said { "said" } else { "not said" }, quoted(words))
}

fn shown(reasoning: &str, strictness: Strictness) -> String {
    match (strictness, reasoning.is_empty()) {
        (_, true) => "none".to_owned(),
        (Strictness::Kinds, false) => "shown".to_owned(),
        (Strictness::Exact, false) => quoted(reasoning),
    }
}

fn quoted(text: &str) -> String {
    format!("{:?}", cut(text, LONGEST))
}

/// The counts of the whole input and of the output.
fn tokens(api: &Api, facts: &Facts) -> Option<(u64, u64)> {
    let tokens = facts.answer.tokens?;
    Some((tokens.input? + apart(api, facts).unwrap_or_default(), tokens.output?))
}

/// Some APIs count cached tokens beside the input, not in it.
fn apart(api: &Api, facts: &Facts) -> Option<u64> {
    let (member, None) = api.usage.cached else { return None };
    facts.response.as_ref()?.get(api.usage.member)?.get(member)?.as_u64()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::plan::{Offer, cases};
    use checker::{Rules, Tokens};
    use results::Transport;

    fn case(dialect: &str, name: &str) -> ScenarioCase {
        let dialect = spec::dialect(dialect).unwrap();
        let cases = cases(dialect, &Rules::of(dialect), &Offer::All, &[Transport::Sse]);
        let case = cases.into_iter().find(|case| case.name == name).unwrap();
        ScenarioCase { says: Some("amber".to_owned()), ..case }
    }

    fn call(arguments: &str) -> ToolCall {
        ToolCall { id: "c".to_owned(), name: "f".to_owned(), arguments: arguments.to_owned() }
    }

    /// Returns what differs if this is done to the answer of one side.
    fn found(name: &str, strictness: Strictness, change: &dyn Fn(&mut Facts)) -> Vec<&'static str> {
        let (one, two) = (case("anthropic", name), case("chat", name));
        let schema = json!({"properties": {"city": {"type": "string"}}, "required": ["city"]});
        let facts = |status: &str| Facts {
            status: Some(404),
            request: Some(json!({"tools": [{"function": {"name": "f", "parameters": schema}}]})),
            answer: Answer {
                texts: vec!["amber".to_owned()],
                status: Some(status.to_owned()),
                tokens: Some(Tokens { input: Some(10), output: Some(10) }),
                ..Answer::default()
            },
            ..Facts::default()
        };
        let (own, mut its) = (facts("end_turn"), facts("stop"));
        change(&mut its);
        let one = Side { dialect: "anthropic", case: &one, facts: &[&own] };
        let two = Side { dialect: "chat", case: &two, facts: &[&its] };
        differences(&one, &two, strictness).iter().map(|unlike| unlike.aspect.name()).collect()
    }

    #[test]
    fn each_kind_of_difference_is_found() {
        use Strictness::{Exact, Kinds};

        const NONE: [&str; 0] = [];
        let hello = |strictness, change: &dyn Fn(&mut Facts)| found("text/hello", strictness, change);
        assert_eq!(hello(Exact, &|_| {}), NONE);
        let text = |facts: &mut Facts| facts.answer.texts = vec!["amber, too".to_owned()];
        assert_eq!(hello(Kinds, &text), NONE);
        assert_eq!(hello(Exact, &text), ["kinds"]);
        assert_eq!(hello(Kinds, &|facts| facts.answer.texts = vec!["lilac".to_owned()]), ["words"]);
        assert_eq!(hello(Kinds, &|facts| facts.answer.texts.clear()), ["kinds", "words"]);
        for word in ["length", "content_filter", "tool_calls", "surprise"] {
            assert_eq!(
                hello(Kinds, &|facts| facts.answer.status = Some(word.to_owned())),
                ["stop"],
                "{word}"
            );
        }
        assert_eq!(hello(Kinds, &|facts| facts.error_event = Some(json!({}))), ["stop"]);
        assert_eq!(hello(Kinds, &|facts| facts.answer.refusal = "No.".to_owned()), ["kinds"]);
        assert_eq!(hello(Kinds, &|facts| facts.answer.reasoning = "Well.".to_owned()), ["reasoning"]);
        assert_eq!(hello(Kinds, &|facts| facts.answer.tokens = None), ["counted"]);
        let tokens = |input, output| {
            move |facts: &mut Facts| {
                facts.answer.tokens = Some(Tokens { input: Some(input), output: Some(output) });
            }
        };
        assert_eq!(hello(Kinds, &tokens(40, 90)), NONE);
        assert_eq!(hello(Kinds, &tokens(100, 10)), ["usage"]);
        assert_eq!(hello(Exact, &tokens(10, 11)), ["usage"]);
        let calls = |facts: &mut Facts| {
            facts.answer.calls = vec![call(r#"{"city": "Oslo"}"#)];
            facts.answer.status = Some("tool_calls".to_owned());
        };
        assert_eq!(hello(Kinds, &calls), ["kinds", "calls", "stop"]);
        let unfit = |facts: &mut Facts| facts.answer.calls = vec![call("{}")];
        assert_eq!(hello(Kinds, &unfit), ["kinds", "calls", "calls"]);
        let status = |status| move |facts: &mut Facts| facts.status = Some(status);
        assert_eq!(found("error/unknown-model", Kinds, &status(404)), NONE);
        assert_eq!(found("error/unknown-model", Kinds, &status(400)), ["error"]);
    }
}

//! The history of a session, which the client sends again in each turn.

use std::cell::LazyCell;
use std::collections::BTreeSet;

use catalogue::Level;
use results::text::{counted, listed};
use serde_json::Value;
use translation::{Part, Question, Role};

use super::canonical::ATTRIBUTION;
use super::{End, Session, SessionTurn, letters};
use crate::content::{COMPACTION, TRIGGER};
use crate::evidence::Response;
use crate::judge::parts::findings::{Findings, Problem, shown};
use crate::judge::parts::values::difference;
use crate::judge::request::history::behind_texts;
use crate::judge::request::tool_schema::plain;

/// Maximum number of names that are shown.
const MOST: usize = 20;
/// A text of as many characters belongs to one agent alone.
const OWN_TEXT: usize = 24;

pub(super) fn judge(findings: &mut Findings<'_>, session: &Session<'_>) {
    for (turn, upstream) in session.both() {
        system(findings, turn, upstream);
        tools(findings, turn, upstream);
        results(findings, turn, upstream);
        interrupted(findings, turn, upstream);
        phases(findings, turn, upstream);
    }
    lanes(findings, session);
    compaction(findings, session);
}

pub(super) fn walk<'v>(value: &'v Value, found: &mut impl FnMut(&'v serde_json::Map<String, Value>)) {
    match value {
        Value::Object(members) => {
            found(members);
            members.values().for_each(|member| walk(member, found));
        }
        Value::Array(entries) => entries.iter().for_each(|entry| walk(entry, found)),
        _ => {}
    }
}

pub(super) fn kind(members: &serde_json::Map<String, Value>) -> &str {
    members.get("type").and_then(Value::as_str).unwrap_or_default()
}

#[derive(Debug, PartialEq, Eq)]
struct Entry {
    role: Role,
    /// Without white space, so that texts may be joined.
    letters: String,
}

fn entries(question: &Question) -> Vec<Entry> {
    let parts = question.turns.iter().flat_map(|turn| turn.parts.iter().map(|part| (turn.role, part)));
    let entry = |(role, part): (Role, &Part)| {
        let letters = match part {
            Part::Text(text) | Part::Refusal(text) => letters(text),
            Part::Call(call) => letters(&call.arguments),
            Part::Result(output) => letters(&output.text),
            Part::Image(_) | Part::Reasoning(_) => return None,
        };
        (!letters.is_empty()).then_some(Entry { role, letters })
    };
    parts.filter_map(entry).collect()
}

fn system(findings: &mut Findings<'_>, turn: &SessionTurn<'_>, upstream: &End) {
    const RULE: &str = "session/system-inside";
    let (asked, got) = (&turn.sent.question, &upstream.question);
    // Most conversations have no text of the system inside.
    let has_inside = asked.turns.iter().any(|turn| turn.role == Role::System);
    let wanted = if has_inside { entries(asked) } else { Vec::new() };
    let own = LazyCell::new(|| entries(got));
    let head: String = got.instructions.iter().map(|text| letters(text)).collect();
    let number = turn.number;
    for text in asked.instructions.iter().filter(|text| !text.starts_with(ATTRIBUTION)) {
        let letters = letters(text);
        if head.contains(&letters) {
            continue;
        }
        let place = own.iter().find(|entry| entry.letters.contains(&letters));
        let problem = match place {
            None => Problem::new(
                "lost",
                format!("turn {number}: a text of the system is not in the upstream's request"),
            ),
            Some(entry) if entry.role == Role::System => continue,
            Some(_) => Problem::new(
                "speaker",
                format!("turn {number}: a text of the system has another speaker upstream"),
            )
            .at(Level::Should),
        };
        findings.add(RULE, problem.showing("", text));
    }
    if let Some(text) = added(&turn.sent, &wanted, head.clone()) {
        let message =
            format!("turn {number}: the upstream gets a text of the system that the client did not send");
        findings.add(RULE, Problem::new("added", message).showing(&text, ""));
    }
    for (at, entry) in wanted.iter().enumerate().filter(|(_, entry)| entry.role == Role::System) {
        let is_it = |own: &&Entry| own.letters.contains(&entry.letters);
        let times = own.iter().filter(is_it).count();
        let wanted_times = wanted.iter().filter(is_it).count();
        let add = |findings: &mut Findings<'_>, kind: &str, message: &str, level: Level| {
            let message = format!("turn {number}: a text of the system within the conversation {message}");
            findings.add(RULE, Problem::new(kind, message).at(level).showing("", &shown(&entry.letters)));
        };
        if times == 0 {
            let is_in_front = head.contains(&entry.letters);
            let (kind, message) = if is_in_front {
                ("moved", "stands in front of it upstream")
            } else {
                ("lost", "is not in the upstream's request")
            };
            add(findings, kind, message, Level::Must);
            continue;
        }
        if times > wanted_times {
            add(findings, "repeated", "is there more often upstream", Level::Must);
        }
        let before = wanted.get(..at).unwrap_or_default().iter().rev().find(|it| it.role != Role::System);
        let places = own.iter().enumerate().filter(|(_, own)| is_it(own));
        let is_behind = |at: usize| match before {
            None => true,
            Some(before) => {
                let earlier = own.get(..=at).unwrap_or_default().iter().rev();
                // A gateway may add texts around it.
                earlier
                    .take(3)
                    .any(|own| own.letters.contains(&before.letters) || before.letters.contains(&own.letters))
            }
        };
        if !places.clone().any(|(at, _)| is_behind(at)) {
            add(findings, "moved", "stands in another place upstream", Level::Must);
        }
        if !places.clone().any(|(_, own)| own.role == Role::System) {
            add(findings, "speaker", "has another speaker upstream", Level::Should);
        }
    }
}

fn added(sent: &End, wanted: &[Entry], head: String) -> Option<String> {
    let blocks = sent.request.get("system").and_then(Value::as_array).into_iter().flatten();
    let blocks = blocks.filter_map(|block| block.get("text")?.as_str());
    let texts = sent.question.instructions.iter().map(String::as_str).chain(blocks);
    let texts = texts.map(letters);
    let inside = wanted.iter().filter(|entry| entry.role == Role::System).map(|entry| entry.letters.clone());
    let mut known: Vec<String> = texts.chain(inside).filter(|letters| !letters.is_empty()).collect();
    // A short text may be a part of a longer one.
    known.sort_by_key(|text| std::cmp::Reverse(text.len()));
    let rest = known.iter().fold(head, |rest, text| rest.replacen(&**text, "", 1));
    (!rest.is_empty()).then_some(rest)
}

fn tools(findings: &mut Findings<'_>, turn: &SessionTurn<'_>, upstream: &End) {
    const RULE: &str = "session/tools-kept";
    let (asked, got) = (&turn.sent.question.tools, &upstream.question.tools);
    let names = |tools: &[translation::Tool]| listed(tools, MOST, |tool| tool.name.clone());
    for tool in asked {
        let Some(own) = got.iter().find(|own| own.name == tool.name) else {
            let message = format!("turn {}: the tool {} is not upstream", turn.number, shown(&tool.name));
            findings.add(RULE, Problem::new("lost", message).showing(&names(got), &names(asked)));
            continue;
        };
        if let Some(place) = difference(&plain(&tool.parameters), &plain(&own.parameters)) {
            let message = format!(
                "turn {}: the parameters of {} differ at {}",
                turn.number,
                shown(&tool.name),
                shown(if place.is_empty() { "/" } else { &place })
            );
            let [own, wanted] = [&own.parameters, &tool.parameters].map(Value::to_string);
            findings.add(RULE, Problem::new("parameters", message).between(&own, &wanted));
        }
    }
    let order = |tools: &[translation::Tool], others: &[translation::Tool]| {
        let known = tools.iter().filter(|tool| others.iter().any(|other| other.name == tool.name));
        known.map(|tool| tool.name.clone()).collect::<Vec<_>>()
    };
    if order(got, asked) != order(asked, got) {
        let message = format!("turn {}: the tools are in another order upstream", turn.number);
        findings.add(RULE, Problem::new("order", message).showing(&names(got), &names(asked)));
    }
}

fn results(findings: &mut Findings<'_>, turn: &SessionTurn<'_>, upstream: &End) {
    let ids = |question: &Question| -> Vec<String> {
        let parts = question.turns.iter().flat_map(|turn| &turn.parts);
        parts
            .filter_map(|part| if let Part::Result(output) = part { Some(output.id.clone()) } else { None })
            .collect()
    };
    let [own, wanted] = [&upstream.question, &turn.sent.question].map(ids);
    if own.len() < wanted.len() {
        let [kept, all] = [own.len(), wanted.len()];
        let message = format!("turn {}: {kept} of {all} results of tools are results upstream", turn.number);
        findings.add("session/tools-kept", Problem::new("results", message));
        return;
    }
    let set = |ids: &[String]| ids.iter().cloned().collect::<BTreeSet<_>>();
    if own != wanted && own.len() == wanted.len() && set(&own) == set(&wanted) {
        let message = format!("turn {}: the results of tools are in another order upstream", turn.number);
        let [own, wanted] = [own, wanted].map(|ids| listed(&ids, MOST, Clone::clone));
        findings.add("session/results-order", Problem::new("order", message).between(&own, &wanted));
    }
}

fn phases(findings: &mut Findings<'_>, turn: &SessionTurn<'_>, upstream: &End) {
    let of = |end: &End| {
        let items = end.request.get("input").and_then(Value::as_array).cloned().unwrap_or_default();
        items.iter().filter_map(|item| item.get("phase")?.as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    let [own, wanted] = [upstream, &turn.sent].map(of);
    if own != wanted && !wanted.is_empty() {
        let message = format!(
            "turn {}: the client's messages have {}, the upstream's {}",
            turn.number,
            counted(wanted.len() as u64, "phase"),
            own.len()
        );
        findings.add("session/phase-kept", Problem::new("lost", message));
    }
}

/// Providers refuse a result of a tool behind a text of the user.
fn interrupted(findings: &mut Findings<'_>, turn: &SessionTurn<'_>, upstream: &End) {
    let [own, wanted] = [&upstream.question, &turn.sent.question].map(behind_texts);
    if let Some(id) = own.difference(&wanted).next() {
        let message = format!(
            "turn {}: a text of the user stands between a call and its result upstream, and none does in the client's request",
            turn.number
        );
        findings.add("session/tools-kept", Problem::new("behind a text", message).showing(id, ""));
    }
}

/// Texts of the agents of one session do not mix.
fn lanes(findings: &mut Findings<'_>, session: &Session<'_>) {
    let lanes: BTreeSet<&str> = session.turns.iter().map(|turn| &*turn.lane).collect();
    if lanes.len() < 2 {
        return;
    }
    let texts = |question: &Question| -> Vec<String> {
        let all = entries(question).into_iter().map(|entry| entry.letters);
        all.filter(|letters| letters.chars().count() >= OWN_TEXT).collect()
    };
    let said: Vec<(&str, BTreeSet<String>)> = session
        .turns
        .iter()
        .map(|turn| (&*turn.lane, texts(&turn.sent.question).into_iter().collect()))
        .collect();
    for ((turn, upstream), (lane, own)) in
        session.turns.iter().zip(&said).filter_map(|(turn, own)| Some(((turn, turn.got.as_ref()?), own)))
    {
        let is_foreign = |text: &String| {
            !own.contains(text)
                && !own.iter().any(|own| own.contains(&**text))
                && said.iter().any(|(other, texts)| other != lane && texts.contains(text))
        };
        if let Some(text) = texts(&upstream.question).into_iter().find(is_foreign) {
            let message = format!("turn {}: the upstream gets a text of another agent", turn.number);
            findings.add("session/lanes-apart", Problem::new("text", message).showing(&text, ""));
        }
    }
}

/// A trigger, the compaction that answers it, and the compaction in later requests.
fn compaction(findings: &mut Findings<'_>, session: &Session<'_>) {
    const RULE: &str = "session/compaction";
    let sealed = |value: &Value| {
        let mut all: Vec<String> = Vec::new();
        walk(value, &mut |members| {
            if kind(members) == COMPACTION {
                let seal =
                    ["encrypted_content", "content"].iter().find_map(|name| members.get(*name)?.as_str());
                all.extend(seal.map(str::to_owned).filter(|seal| !all.contains(seal)));
            }
        });
        all
    };
    let is_trigger = |end: &End| {
        let last = end.request.get("input").and_then(Value::as_array).and_then(|items| items.last());
        last.and_then(Value::as_object).is_some_and(|item| kind(item) == TRIGGER)
    };
    for (turn, upstream) in session.both() {
        let number = turn.number;
        if is_trigger(&turn.sent) && !is_trigger(upstream) {
            let message = format!("turn {number}: the request for a compaction does not reach the upstream");
            findings.add(RULE, Problem::new("trigger", message));
        }
        let [own, wanted] = [upstream, &turn.sent].map(|end| sealed(&end.request));
        if wanted.iter().any(|seal| !own.contains(seal)) {
            let message = format!("turn {number}: a compaction of the client does not reach the upstream");
            findings.add(RULE, Problem::new("history", message));
        }
        let events = |response: Option<&Response>| -> Vec<String> {
            let has_one =
                |response: &&Response| String::from_utf8_lossy(&response.body()).contains(COMPACTION);
            let values = response.filter(has_one).map(Response::values).unwrap_or_default();
            values.iter().flat_map(sealed).collect()
        };
        let [sent, told] = [events(turn.answer()), events(turn.response())];
        if sent.iter().any(|seal| !told.contains(seal)) {
            let message = format!("turn {number}: the compaction of the upstream does not reach the client");
            findings.add(RULE, Problem::new("answer", message));
        }
    }
}

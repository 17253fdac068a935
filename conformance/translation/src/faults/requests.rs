//! Faults of questions.

use crate::question::{Choice, Format, Part, Question, Role, Turn};

/// A change of a question.
type Change = fn(&mut Question);

/// The rules, and how each is broken.
pub(super) const REQUESTS: &[(&str, Change)] = &[
    ("request/instructions", |question| drop(question.instructions.pop())),
    ("request/messages", |question| {
        if let Some(Part::Text(text)) = parts(question).find(|part| matches!(part, Part::Text(_))) {
            text.insert_str(0, "Hello. ");
        }
    }),
    ("request/roles", roles),
    ("request/tools", |question| {
        if let Some(tool) = question.tools.first_mut() {
            tool.description = Some("A tool.".to_owned());
        }
    }),
    ("request/tool-choice", |question| question.choice = Choice::Free),
    ("request/one-call", |question| question.is_one_call = false),
    ("request/limit", |question| question.limit = question.limit.map(|limit| limit.saturating_add(1))),
    ("request/stops", |question| question.stops.clear()),
    ("request/sampling", |question| {
        question.temperature = None;
        question.top_p = None;
    }),
    ("request/format", |question| question.format = Format::Text),
    ("request/images", |question| {
        for turn in &mut question.turns {
            turn.parts.retain(|part| !matches!(part, Part::Image(_)));
        }
    }),
    ("request/results", |question| {
        if let Some(Part::Result(output)) = parts(question).find(|part| matches!(part, Part::Result(_))) {
            output.text.push('!');
        }
    }),
    ("request/reasoning", |question| {
        question.effort = None;
        for part in parts(question) {
            if let Part::Reasoning(reasoning) = part {
                reasoning.seal = None;
            }
        }
    }),
    ("request/model", |question| question.model.clear()),
    ("request/nothing-invented", |question| {
        if question.temperature.is_none() {
            question.temperature = Some(0.5);
        }
    }),
];

fn parts(question: &mut Question) -> impl Iterator<Item = &mut Part> {
    question.turns.iter_mut().flat_map(|turn| &mut turn.parts)
}

/// Instructions become a text of the user, or else the model's first text does.
fn roles(question: &mut Question) {
    if question.instructions.is_empty() {
        let is_text = |turn: &&mut Turn| turn.parts.iter().all(|part| matches!(part, Part::Text(_)));
        let mut turns = question.turns.iter_mut();
        if let Some(turn) = turns.find(|turn| turn.role == Role::Assistant && is_text(turn)) {
            turn.role = Role::User;
        }
        return;
    }
    let texts = std::mem::take(&mut question.instructions);
    let turn = Turn { role: Role::User, parts: texts.into_iter().map(Part::Text).collect() };
    question.turns.insert(0, turn);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_fault_changes_a_full_question() {
        let turns = json!([
            {"role": "user", "parts": [{"text": "Look"}, {"image": {}}]},
            {"role": "assistant", "parts": [{"reasoning": {"seal": "s"}}, {"text": "I call"}, {"call": {}}]},
            {"role": "user", "parts": [{"result": {}}]},
        ]);
        let full = json!({"model": "m", "instructions": ["Be brief"], "turns": turns, "tools": [{}], "choice": "any",
            "is_one_call": true, "limit": 5, "stops": ["x"], "top_p": 0.5, "effort": "low", "format": "object"});
        let full: Question = serde_json::from_value(full).unwrap();
        for (rule, change) in REQUESTS {
            let mut question = full.clone();
            change(&mut question);
            assert_ne!(question, full, "{rule}");
        }
    }
}

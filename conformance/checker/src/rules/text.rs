//! Rules about the texts of any API.

use std::borrow::Cow;

use catalogue::Level;
use spec::json;

use crate::Answer;
use crate::engine::{Case, FaultPlace, Node, Object, Snapshot, Tokens, short};

pub(super) fn deltas_add(case: &mut Case<'_>, text: &Node) {
    let are_all = text.repeats.are_all();
    let is_repeated = are_all || text.repeats.is_whole_at_end(&text.joined, text.fragments);
    if !is_repeated || text.partial || text.disputed || case.stream.has_gap {
        return;
    }
    let (name, count) = (case.name(text), text.fragments);
    if !are_all {
        // A model may write a text twice.
        case.limit(Level::Should);
    }
    let which = if are_all { "each" } else { "the last" };
    case.fault_of_event("only what is new in each delta", &short(&format!("{:?}", text.joined)), || {
        format!("{which} of the {count} deltas of {name} repeats all before it")
    });
}

pub(super) fn no_model_markup(case: &mut Case<'_>, text: &Node) {
    if !case.dialect().api.list.is_empty() {
        return;
    }
    if let Some(text) = text.whole_text(case.stream.has_gap) {
        markup_in(case, &text, Markup::known(case, None), None);
    }
}

/// The texts of messages and reasoning in the final output, or in a body, must have no markup.
pub(super) fn no_model_markup_in_response(case: &mut Case<'_>, snapshot: &Snapshot<'_>) {
    let api = case.dialect().api;
    let response = snapshot.response;
    if api.list.is_empty() {
        if case.is_of_body() && Tokens::may_be_in_json(response.text()) {
            let answer = serde_json::from_str(response.text()).unwrap_or_default();
            let answer = Answer::of_response(api, &answer);
            let known = Markup::known(case, None);
            for text in answer.texts.iter().chain([&answer.reasoning]) {
                markup_in(case, text, known, None);
            }
        }
        return;
    }
    let Some(output) = response.get(api.list).filter(|_| snapshot.is_terminal()) else { return };
    if !Tokens::may_be_in_json(output) {
        return;
    }
    let known = Markup::known(case, response.value("instructions"));
    for (at, entry) in json::entries(output).unwrap_or_default().into_iter().enumerate() {
        let item = Object::new(entry);
        if !matches!(item.plain("type"), Some("message" | "reasoning")) {
            continue;
        }
        for list in ["content", "summary"] {
            for (index, part) in item.entries(list).unwrap_or_default().into_iter().enumerate() {
                let text = Object::new(part).string("text").map(Cow::into_owned).unwrap_or_default();
                let pointer = snapshot.pointer(&format!("output/{at}/{list}/{index}/text"));
                markup_in(case, &text, known, Some(&pointer));
            }
        }
    }
}

/// The markup that a text may have, as the request has it.
#[derive(Clone, Copy)]
struct Markup {
    tokens: Tokens,
    /// Whether all that the model has read is known.
    is_all: bool,
}

impl Markup {
    fn known(case: &Case<'_>, instructions: Option<&str>) -> Self {
        let request = case.turn().map(|turn| turn.tokens).or(case.head.tokens);
        let tokens = request.map(|request| request.tokens).unwrap_or_default();
        let of_instructions = instructions.map(Tokens::in_json).unwrap_or_default();
        Self {
            tokens: tokens.and(of_instructions),
            is_all: request.is_some_and(|request| !request.is_continued),
        }
    }
}

fn markup_in(case: &mut Case<'_>, text: &str, known: Markup, pointer: Option<&str>) {
    let Some(token) = Tokens::in_text(text).first_beside(known.tokens) else { return };
    let level = case.bound.level;
    if !known.is_all {
        case.limit(Level::May);
    }
    let expected = Some("text without markup of the model");
    let place = FaultPlace { pointer, expected, actual: Some(token), ..FaultPlace::WHOLE };
    case.report(&place, || format!("the text contains {token}, by which models mark their output"));
    case.bound.level = level;
}

//! Plans of the responses to requests.

use checker::{Asked, Chosen};
use recordings::capture::base64_of;
use serde_json::Value;
use spec::table::Content;
use spec::{Api, Dialect};
use translation::{Choice, Format, Question, Tool};

use super::ask::{Ask, word_after};
use super::items::ToolItem;
use super::pieces::{fragments, fragments_of, tokens};
use super::plan::{Ending, Item, Part, ResponsePlan, Thought};
use super::speech::{Hosted, Speech, speech};
use super::text;

/// Returns the plan of the response to a valid request: its directives, or else thoughts, items of tools, and calls of
/// functions or a text.
pub fn plan(request: &Value, dialect: &Dialect, seed: u64) -> ResponsePlan {
    let (api, speech) = (dialect.api, speech(dialect.api));
    let ask = Ask::read(request, api);
    let directives = ask.directives();
    let input_tokens = directives.input_tokens().unwrap_or_else(|| ask.tokens());
    let mut plan = directives.plan;
    plan.input_tokens = input_tokens;
    // A blocked prompt has one answer: none.
    plan.choices = if plan.ending == Ending::Blocked { 1 } else { ask.choices() };
    plan.is_routed = text(request, "model") == Some("auto");
    plan.is_background = api.request.background.is_some_and(|name| request.get(name) == Some(&true.into()));
    let is_unpadded = |place: &String| request.pointer(place) == Some(&false.into());
    plan.is_obfuscated |= dialect.render.pads && !speech.unpadded.as_ref().is_some_and(is_unpadded);
    plan.has_logprobs = is_any_on(request, &speech.logprobs);
    plan.cached_tokens = speech.cached.as_ref().map_or(0, |mark| cached(request, mark, api));
    let asked = Asked::read(&request.to_string(), api);
    if ask.is_trigger && speech.compacts.as_ref().is_some_and(|event| dialect.event(event).is_some()) {
        // Only this gateway can read it.
        let compacted = ToolItem::new("compaction", &base64_of(ask.said.as_bytes()));
        plan.items = compacted.map(Item::Tool).into_iter().collect();
    }
    if plan.items.is_empty() {
        plan.items.extend(thought(request, speech, dialect).map(Item::Reasoning));
        let (hosted, calls) = match &asked {
            Some(asked) => (hosted(request, speech, &ask), calls(&ask, asked)),
            None => chosen(request, speech, api, &ask),
        };
        let types = api.client_call.map_or(&[][..], |call| call.types);
        let is_answered = hosted.iter().any(|item| types.contains(&&*item.page.kind));
        plan.items.extend(hosted.into_iter().map(Item::Tool));
        if calls.is_empty() && !is_answered {
            plan.items.push(Item::Message(vec![Part::Text(ask.words(seed), Vec::new())]));
        }
        plan.items.extend(calls);
    }
    plan.stop_before(&ask.question.stops);
    plan.limit(ask.question.limit);
    plan
}

/// Only some dialects show reasoning.
fn thought(request: &Value, speech: &Speech, dialect: &Dialect) -> Option<Thought> {
    let is_shown = match &speech.shown_by {
        Some(event) => dialect.event(event).is_some(),
        None => dialect.effects().any(|effect| effect.level.content == Some(Content::Reasoning)),
    };
    let is_summarized = request.pointer(&speech.summarizes).is_some_and(Value::is_string);
    let asks = is_any_on(request, &speech.thinks) && (is_shown || !speech.summary.is_empty());
    let is_hidden =
        speech.hides.as_ref().is_some_and(|hides| request.pointer(&hides.at) == Some(&(&*hides.is).into()));
    let words = || if is_hidden { Vec::new() } else { speech.thought.clone() };
    (asks || is_summarized).then(|| Thought {
        summary: if is_summarized { speech.summary.clone() } else { Vec::new() },
        text: (is_shown && !is_summarized).then(words),
        is_encrypted: is_any_on(request, &speech.encrypts),
    })
}

/// The last segment of a place may be an entry of a list.
fn is_any_on(request: &Value, places: &[String]) -> bool {
    let is_listed = |place: &str| {
        let (list, name) = place.rsplit_once('/')?;
        Some(request.pointer(list)?.as_array()?.iter().any(|entry| entry == name))
    };
    let is_on = |place: &String| match request.pointer(place) {
        Some(Value::String(word)) => !["none", "disabled"].contains(&&**word),
        Some(Value::Number(number)) => number.as_u64().is_some_and(|number| number > 0),
        Some(value) => *value == Value::Bool(true),
        None => is_listed(place) == Some(true),
    };
    places.iter().any(is_on)
}

fn tools(request: &Value) -> impl Iterator<Item = &Value> {
    request.get("tools").and_then(Value::as_array).into_iter().flatten()
}

/// The items of all tools that the service runs itself.
fn hosted(request: &Value, speech: &Speech, ask: &Ask) -> Vec<ToolItem> {
    let rows = speech.hosted.iter().filter(|_| !ask.is_tool_output);
    let of_first =
        |row: &Hosted| tools(request).find(|tool| row.is_of(tool)).and_then(|tool| row.item(tool, ask));
    rows.filter_map(of_first).collect()
}

/// The tokens before the last mark.
fn cached(request: &Value, mark: &str, api: &Api) -> u64 {
    let members = ["tools", api.request.instructions.unwrap_or_default(), api.request.input];
    let prompt: String = members.iter().filter_map(|name| Some(request.get(name)?.to_string())).collect();
    prompt.rfind(&format!("\"{mark}\"")).and_then(|end| prompt.get(..end)).map_or(0, tokens)
}

fn calls(ask: &Ask, asked: &Asked) -> Vec<Item> {
    let offered = asked.tools();
    let is_offered = |tool: &&Tool| offered.is_none_or(|offered| offered.contains(&tool.name));
    let mut functions = ask.question.tools.iter().filter(is_offered);
    let chosen = match asked.chosen() {
        Chosen::None => return Vec::new(),
        Chosen::Free if ask.is_tool_output => return Vec::new(),
        Chosen::Free | Chosen::Any => functions.next(),
        Chosen::One(name) => functions.find(|tool| tool.name == name),
    };
    chosen.map_or_else(Vec::new, |tool| ask.calls(&tool.name, &tool.parameters, asked.is_for_one_call()))
}

/// The items or calls of the first tool that may be called, where a choice names tools of all kinds by their members.
fn chosen(request: &Value, speech: &Speech, api: &Api, ask: &Ask) -> (Vec<ToolItem>, Vec<Item>) {
    let choice = api.request.choice.and_then(|choice| request.get(choice.member)).unwrap_or(&Value::Null);
    let allowed = choice.get("tools").and_then(Value::as_array);
    let may_call = match ask.question.choice {
        Choice::None => false,
        Choice::Free => !ask.is_tool_output || (choice.is_object() && allowed.is_none()),
        Choice::Any | Choice::One(_) => true,
    };
    let wanted = allowed.map_or(std::slice::from_ref(choice), Vec::as_slice);
    let tool = tools(request).find(|tool| wanted.iter().any(|wanted| are_alike(wanted, tool)));
    let Some(tool) = tool.filter(|_| may_call) else { return Default::default() };
    let items = speech.hosted.iter().filter(|row| row.is_of(tool));
    let items: Vec<ToolItem> = items.filter_map(|row| row.item(tool, ask)).collect();
    let function = ask.question.tools.iter().find(|own| text(tool, "name") == Some(&own.name));
    let function = function.filter(|_| items.is_empty());
    let calls = function.map(|own| ask.calls(&own.name, &own.parameters, ask.question.is_one_call));
    (items, calls.unwrap_or_default())
}

/// Members that only one of them has do not count.
fn are_alike(choice: &Value, tool: &Value) -> bool {
    let members = choice.as_object().into_iter().flatten();
    members.filter_map(|(name, value)| Some((value, tool.get(name)?))).all(|(value, own)| value == own)
}

impl Hosted {
    fn is_of(&self, tool: &Value) -> bool {
        text(tool, "type").is_some_and(|kind| kind.starts_with(&self.tool)) || tool.get(&self.tool).is_some()
    }

    fn item(&self, tool: &Value, ask: &Ask) -> Option<ToolItem> {
        let mut item = ToolItem::new(&self.item, "")?;
        item.set(self.values.filled(|hole| match hole {
            "query" => Some(ask.plain().trim().into()),
            "word" => {
                Some(word_after(&ask.text, "for the word ").unwrap_or_else(|| "migration".into()).into())
            }
            place => tool.pointer(place).cloned(),
        }));
        if let Some(text) = item.value("text") {
            item.texts = vec![if text.contains('|') { fragments(text) } else { fragments_of(text) }];
        }
        Some(item)
    }
}

/// Lengthens the texts of a response unless the request determines them.
pub(crate) fn lengthen(plan: &mut ResponsePlan, request: &Value, fragments: usize, dialect: &Dialect) {
    let question = Question::read(dialect.api, request);
    if question.format == Format::Text {
        plan.lengthen(fragments);
        plan.limit(question.limit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_name_what_there_is() {
        for api in spec::spoken() {
            let speech = speech(api);
            for row in &speech.hosted {
                assert!(ToolItem::new(&row.item, "").is_some(), "{}: {}", api.name, row.item);
            }
            for kind in speech.says.iter().flatten() {
                assert!(ToolItem::has_kind(kind), "{}: {kind}", api.name);
            }
            let of_api = || spec::DIALECTS.iter().filter(|dialect| dialect.api.name == api.name);
            for event in speech.shown_by.iter().chain(&speech.compacts) {
                assert!(of_api().any(|dialect| dialect.event(event).is_some()), "{}: {event}", api.name);
            }
        }
    }
}

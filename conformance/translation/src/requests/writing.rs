//! Writes a question as a request by the forms of an API.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::Turns;
use super::form::{Form, Speaker};
use super::values::{budget_of, usual_parameters};
use crate::question::{Choice, Format, Image, Part, Question, Turn};
use crate::template::{Context, Template, are_set, fill};

/// Number of output tokens where an API requires a limit and the question has none.
const USUAL_LIMIT: u64 = 4096;

/// The efforts of reasoning.
pub(super) const EFFORTS: &[&str] = &["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/// Values for templates.
#[derive(Debug, Default)]
struct Values(Map<String, Value>);

impl Context for Values {
    const IS_SPARSE: bool = true;

    fn get(&self, name: &str) -> Option<Cow<'_, Value>> {
        let (name, place) = name.find('/').map_or((name, ""), |end| name.split_at(end));
        self.0.get(name)?.pointer(place).filter(|value| !value.is_null()).map(Cow::Borrowed)
    }
}

impl Values {
    fn of(value: Value) -> Self {
        match value {
            Value::Object(members) => Self(members),
            text => Self([("text".to_owned(), text)].into_iter().collect()),
        }
    }

    fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.to_owned(), value.into());
    }

    fn set_list(&mut self, name: &str, list: Vec<impl Into<Value>>) {
        self.set(name, Some(list).filter(|list| !list.is_empty()));
    }

    /// A single text is not written as a list.
    fn set_parts(&mut self, parts: Vec<Value>, text: &str, list: &str) {
        let only = if let [only] = &*parts { only.get("text").cloned() } else { None };
        self.set_list(list, parts.clone());
        match only {
            Some(only) => self.set(text, only),
            None => self.set_list(text, parts),
        }
    }

    fn filled(&self, Template(template): &Template) -> Value {
        fill(template, self)
    }
}

/// A request that is written.
#[derive(Debug)]
struct Writer {
    form: &'static Form,
    lost: Vec<&'static str>,
    /// The names of functions by the ids of their calls.
    names: BTreeMap<String, String>,
    /// The conversation.
    entries: Vec<Value>,
    /// A message that may go on with the next turn.
    open: Option<(&'static Speaker, Lanes)>,
}

/// The parts of a message.
#[derive(Debug, Default)]
struct Lanes {
    first: Vec<Value>,
    thoughts: String,
    content: Vec<Value>,
    last: Vec<Value>,
    /// A seal that the next part carries.
    seal: Option<String>,
}

/// Returns the request, and what it cannot carry.
pub(super) fn write(form: &'static Form, mut question: Question) -> (Value, Vec<&'static str>) {
    let turns = Turns::from_iter(std::mem::take(&mut question.turns)).list;
    let calls = turns.iter().flat_map(|turn| &turn.parts).filter_map(|part| match part {
        Part::Call(call) => Some((call.id.clone(), call.name.clone())),
        _ => None,
    });
    let names = calls.collect();
    let mut writer = Writer { form, lost: Vec::new(), names, entries: Vec::new(), open: None };
    let body = writer.body(&question, turns);
    (body, writer.lost)
}

impl Writer {
    fn lose_if(&mut self, is_lost: bool, name: &'static str) {
        if is_lost && !self.lost.contains(&name) {
            self.lost.push(name);
        }
    }

    fn lose_by(&mut self, said: &Values) {
        for (name, flags) in &self.form.losses {
            self.lose_if(are_set(flags, said), name);
        }
    }

    fn body(&mut self, question: &Question, turns: Vec<Turn>) -> Value {
        let (form, mut said) = (self.form, Values::of(json!(question)));
        let instruction = |text: &String| Values::of(json!(text)).filled(&form.instruction);
        let instructions: Vec<Value> = question.instructions.iter().map(instruction).collect();
        self.entries.extend(instructions.iter().skip(form.leads_from.unwrap_or(usize::MAX)).cloned());
        for turn in turns {
            self.turn(turn);
        }
        self.flush();
        if self.entries.is_empty() {
            self.entries.extend(form.nothing.as_ref().map(|nothing| said.filled(nothing)));
        }
        said.set("turns", std::mem::take(&mut self.entries));
        said.set("first", question.instructions.first().cloned());
        said.set_parts(instructions, "instruction", "instructions");
        // Every API gives one, so one is not written.
        said.set("choices", question.choices.filter(|number| *number != 1));
        let most = form.most_temperature.unwrap_or(f64::INFINITY);
        self.lose_if(question.temperature.is_some_and(|temperature| temperature > most), "temperature");
        said.set("temperature", question.temperature.map(|temperature| temperature.min(most)));
        let most = form.most_stops.unwrap_or(usize::MAX);
        self.lose_if(question.stops.len() > most, "stops");
        said.set_list("stops", question.stops.iter().take(most).cloned().collect());
        self.tools(question, &mut said);
        self.effort(question, &mut said);
        match &question.format {
            Format::Text => {}
            Format::Object => said.set("object", true),
            Format::Schema { name, schema } => {
                said.set("schema", schema.as_object().cloned().unwrap_or_default());
                let is_named = !form.format_name.is_empty();
                self.lose_if(name.is_empty() == is_named, "format.name");
                said.set("format_name", if name.is_empty() { &*form.format_name } else { name });
            }
        }
        self.lose_by(&said);
        said.filled(&form.body)
    }

    /// A request without tools must not have a choice of them.
    fn tools(&mut self, question: &Question, said: &mut Values) {
        if question.tools.is_empty() {
            self.lose_if(question.choice != Choice::Free, "choice");
            self.lose_if(question.is_one_call, "is_one_call");
            for name in ["tools", "choice", "is_one_call"] {
                said.set(name, Value::Null);
            }
            return;
        }
        let tools = question.tools.iter().map(|tool| {
            let mut said = Values::of(json!(tool));
            said.set("parameters", usual_parameters(Some(&tool.parameters)));
            said.filled(&self.form.tool)
        });
        said.set("tools", tools.collect::<Value>());
        if let Value::String(word) = json!(question.choice) {
            said.set("choice", json!({word: true}));
        }
    }

    /// An effort is a budget of reasoning if the limit is above it, and a word otherwise.
    fn effort(&mut self, question: &Question, said: &mut Values) {
        let form = self.form;
        let wanted = question.effort.as_deref();
        let effort = wanted.map(|wanted| form.nearest.get(wanted).map_or(wanted, String::as_str));
        let budget = effort.and_then(budget_of).filter(|_| form.budgets);
        let usual = form.needs_limit.then(|| USUAL_LIMIT + budget.unwrap_or_default());
        let limit = question.limit.or(usual).map(|limit| limit.max(form.least_limit));
        let budget = budget.filter(|budget| !form.needs_limit || Some(*budget) < limit);
        let is_word = |effort: &&str| form.words && budget.is_none() && EFFORTS.contains(effort);
        let (word, is_none) = (effort.filter(is_word), effort == Some("none"));
        let is_written = is_none || word.is_some() || budget.is_some();
        self.lose_if(question.limit != limit, "limit");
        self.lose_if(effort != wanted || wanted.is_some() && !is_written, "effort");
        said.set("limit", limit);
        said.set("budget", budget);
        said.set("effort", word);
        said.set("word", word.filter(|_| !is_none));
        said.set("thinks_not", is_none);
    }

    fn turn(&mut self, turn: Turn) {
        let own = self.form.speaker(turn.role);
        self.lose_if(own.is_none(), "turns.role");
        let speaker = own.unwrap_or(&self.form.user);
        let mut lanes = Lanes::default();
        for part in turn.parts {
            self.part(speaker, part, &mut lanes);
        }
        if lanes.seal.is_some() {
            self.part(speaker, Part::Text(String::new()), &mut lanes);
        }
        self.end(speaker, lanes);
    }

    fn part(&mut self, speaker: &'static Speaker, part: Part, lanes: &mut Lanes) {
        let form = self.form;
        let is_refusal = matches!(part, Part::Refusal(_)) && !speaker.parts.contains_key("refusal");
        self.lose_if(is_refusal, "refusal");
        let part = match part {
            Part::Refusal(text) if is_refusal => Part::Text(text),
            part => part,
        };
        let Value::Object(tagged) = json!(part) else { return };
        let Some((kind, own)) = tagged.into_iter().next() else { return };
        let (mut kind, mut said) = (kind.as_str(), Values::of(own));
        said.set("number", self.entries.len());
        match &part {
            Part::Image(image) => {
                let Some(own) = form.image(speaker, image) else { return self.lose_if(true, "images") };
                kind = own;
                said.set("address", image.address());
            }
            Part::Reasoning(reasoning) => {
                let is_sealed = reasoning.text.is_empty() && reasoning.seal.is_some();
                said.set("reasoning", true);
                said.set("misredacted", reasoning.is_redacted != is_sealed);
                if form.needs_seal && reasoning.seal.is_none() {
                    self.lose_by(&said);
                    return self.lose_if(!reasoning.text.is_empty(), "reasoning");
                }
                if reasoning.is_redacted && speaker.parts.contains_key("redacted") {
                    kind = "redacted";
                }
            }
            Part::Call(call) => {
                let input: Option<Map<String, Value>> = serde_json::from_str(&call.arguments).ok();
                said.set("unparsed", input.is_none());
                said.set("input", input.unwrap_or_default());
            }
            Part::Result(output) => said.set("name", &**self.names.get(&output.id).unwrap_or(&output.id)),
            Part::Text(_) | Part::Refusal(_) => {}
        }
        self.lose_by(&said);
        let written = speaker.parts.get(kind).map(|template| said.filled(template));
        match (part, written) {
            (Part::Reasoning(reasoning), None) => {
                self.lose_if(lanes.has_begun(), "order");
                lanes.thoughts.push_str(&reasoning.text);
            }
            (Part::Reasoning(reasoning), Some(written)) if form.seal.is_some() => {
                lanes.content.extend(Some(written).filter(|_| !reasoning.text.is_empty()));
                lanes.seal = reasoning.seal.or(lanes.seal.take());
            }
            (_, Some(mut written)) => {
                if let (Some(member), Some(seal)) = (&form.seal, lanes.seal.take())
                    && let Some(members) = written.as_object_mut()
                {
                    members.insert(member.clone(), json!(seal));
                }
                self.put(speaker, kind, written, lanes);
            }
            _ => {}
        }
    }

    fn put(&mut self, speaker: &'static Speaker, kind: &str, written: Value, lanes: &mut Lanes) {
        let has = |names: &[String]| names.iter().any(|name| name == kind);
        let (is_first, is_own) = (has(&speaker.first), has(&speaker.own));
        if is_first {
            self.lose_if(lanes.has_begun(), "order");
        }
        match (is_own, is_first) {
            (true, true) => self.entries.push(written),
            (true, false) => {
                self.end(speaker, std::mem::take(lanes));
                self.entries.push(written);
            }
            (false, true) => lanes.first.push(written),
            _ if has(&speaker.last) => lanes.last.push(written),
            _ => {
                self.lose_if(!lanes.last.is_empty(), "order");
                lanes.content.push(written);
            }
        }
    }

    fn end(&mut self, speaker: &'static Speaker, mut lanes: Lanes) {
        drop(lanes.content.splice(..0, std::mem::take(&mut lanes.first)));
        match &mut self.open {
            _ if !lanes.has_begun() => {}
            Some((before, open)) if self.form.merges && std::ptr::eq(*before, speaker) => {
                open.content.append(&mut lanes.content);
            }
            _ => {
                self.flush();
                self.open = Some((speaker, lanes));
            }
        }
        if !self.form.merges {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let Some((speaker, lanes)) = self.open.take() else { return };
        let mut said = Values::default();
        said.set("thoughts", Some(lanes.thoughts).filter(|thoughts| !thoughts.is_empty()));
        said.set_list("calls", lanes.last);
        said.set_parts(lanes.content, "content", "parts");
        self.entries.push(said.filled(&speaker.message));
    }
}

impl Lanes {
    const fn has_begun(&self) -> bool {
        !(self.thoughts.is_empty() && self.content.is_empty() && self.last.is_empty())
    }
}

impl Form {
    /// The kind of an image, if it can be written.
    fn image(&self, speaker: &Speaker, image: &Image) -> Option<&'static str> {
        let has = |kind: &&str| speaker.parts.contains_key(*kind);
        let is_known = |kind: &String| self.media_types.is_empty() || self.media_types.contains(kind);
        match (&image.data, &image.url) {
            (None, None) => None,
            _ if has(&"image") => Some("image"),
            (Some(_), _) => {
                Some("image_data").filter(has).filter(|_| image.media_type.as_ref().is_some_and(is_known))
            }
            (None, Some(_)) => Some("image_link").filter(has),
        }
    }
}

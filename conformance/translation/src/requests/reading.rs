//! Reads the request of an API by the tables and steps of its page.

use serde_json::Value;

use super::Turns;
use super::page::{Field, Kind, Page, Step, only, usual_name};
use super::values::{effort_of, full_text, lower_types, output_of, plain, some_text, text, usual_parameters};
use crate::question::{Call, Choice, Format, Image, Output, Part, Question, Reasoning, Role, Tool};

/// Number of names in [`Question::others`], and of characters in each. A request may have any number.
const MOST_OTHERS: usize = 64;

/// How ids begin of calls that have none. Their order tells them apart.
pub const NO_ID: &str = "call_without_id_";

/// The calls without a result: some have no id, and their results name the function.
#[derive(Debug, Default)]
struct Calls {
    open: Vec<(String, String)>,
    count: usize,
}

impl Calls {
    fn called(&mut self, id: Option<String>, name: &str) -> String {
        self.count += 1;
        let id = id.filter(|id| !id.is_empty()).unwrap_or_else(|| format!("{NO_ID}{}", self.count));
        self.open.push((id.clone(), name.to_owned()));
        id
    }

    fn answered(&mut self, id: Option<String>, name: &str) -> String {
        let is_it = |known: &(String, String)| match &id {
            Some(id) => known.0 == *id,
            None => known.1 == name,
        };
        match self.open.iter().position(is_it) {
            Some(at) => self.open.remove(at).0,
            None => id.unwrap_or_else(|| name.to_owned()),
        }
    }
}

/// A question that is read from a request.
#[derive(Debug)]
struct Reader {
    page: &'static Page,
    question: Question,
    turns: Turns,
    calls: Calls,
    /// Who speaks.
    role: Role,
}

pub(super) fn read(page: &'static Page, request: &Value) -> Question {
    let (turns, calls) = (Turns::default(), Calls::default());
    let mut reader = Reader { page, question: Question::default(), turns, calls, role: Role::User };
    reader.table("request", request);
    Question { turns: reader.turns.list, ..reader.question }
}

impl Reader {
    fn table(&mut self, name: &str, value: &Value) {
        let (Some(table), Some(of)) = (self.page.table(name), value.as_object()) else { return };
        let named = |names: &'static [String]| names.iter().filter_map(|name| of.get_key_value(name));
        let others = of.iter().filter(|(name, _)| !table.first.contains(name) && !table.last.contains(name));
        let all = named(&table.first).chain(others).chain(named(&table.last));
        for (name, value) in all.filter(|(_, value)| !value.is_null()) {
            if let Some(field) = table.fields.get(name) {
                self.field(*field, name, value);
            } else if let Some(steps) = table.on.get(name) {
                self.steps(steps, value);
            } else if !table.read.contains(name) && !table.is_silent(name, value) {
                self.other(&format!("{}{name}", table.notes.as_deref().unwrap_or_default()));
            }
        }
    }

    fn other(&mut self, name: &str) {
        let name: String = name.chars().take(MOST_OTHERS).collect();
        let others = &mut self.question.others;
        if others.len() < MOST_OTHERS && !others.contains(&name) {
            others.push(name);
        }
    }

    fn field(&mut self, field: Field, name: &str, value: &Value) {
        let question = &mut self.question;
        let text = || value.as_str().map(str::to_owned);
        match field {
            Field::Model => question.model = text().unwrap_or_default(),
            Field::Limit => question.limit = question.limit.or(value.as_u64()),
            Field::Temperature => question.temperature = value.as_f64(),
            Field::TopP => question.top_p = value.as_f64(),
            Field::IsStream => question.is_stream = value.as_bool().unwrap_or_default(),
            Field::Stops => {
                let list = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
                let texts = list.iter().filter_map(Value::as_str).filter(|stop| !stop.is_empty());
                question.stops = texts.map(str::to_owned).collect();
            }
            // Every API gives one.
            Field::Choices => question.choices = value.as_u64().filter(|number| *number != 1),
            Field::Effort => question.effort = text(),
            Field::Level => question.effort = text().map(|level| level.to_ascii_lowercase()),
            Field::Budget => {
                let effort =
                    value.as_u64().map(|budget| if budget == 0 { "none" } else { effort_of(budget) });
                question.effort = question.effort.take().or(effort.map(str::to_owned));
            }
            Field::CacheKey => question.cache_key = text(),
            Field::User => match &question.user {
                Some(known) if value != known => self.other(name),
                _ => question.user = text(),
            },
            Field::OneCall => question.is_one_call = *value == Value::Bool(true),
            Field::ManyCalls => question.is_one_call = *value == Value::Bool(false),
        }
    }

    fn steps(&mut self, steps: &'static [Step], value: &Value) {
        let mut is_taken = false;
        for step in steps {
            if step.is_else && is_taken {
                continue;
            }
            if let Some(list) = step.at.strip_suffix("/*") {
                for entry in value.pointer(list).and_then(Value::as_array).into_iter().flatten() {
                    is_taken |= self.step(step, entry);
                }
            } else if let Some(found) = value.pointer(&step.at) {
                is_taken |= self.step(step, found);
            }
        }
    }

    fn step(&mut self, step: &'static Step, value: &Value) -> bool {
        if !step.fits(self.page, value) {
            return false;
        }
        let before = self.role;
        self.role = step.says.unwrap_or(before);
        if let Some(note) = &step.note {
            let kind = if note.ends_with('.') { usual_name(step.kind(value)) } else { "" };
            self.other(&format!("{note}{kind}"));
        }
        if let Some(place) = &step.named {
            self.question.choice = Choice::One(only(value, place).unwrap_or_default().to_owned());
        }
        if let Some(choice) = step.choice.as_ref().and_then(|place| self.page.choice(text(value, place))) {
            self.question.choice = choice.clone();
        }
        if let Some(effort) = &step.effort
            && (self.question.effort.is_none() || effort == "none")
        {
            self.question.effort = Some(effort.clone());
        }
        if let Some(seal) = full_text(value, step.seals.as_deref()) {
            self.turns.seal_last(seal);
        }
        if let Some(kind) = step.part {
            let part = self.part(kind, step, value);
            self.say(part);
        }
        if let Some(place) = &step.tool {
            self.tool(value, place, step.lowers);
        }
        if let Some(format) = &step.format {
            self.question.format = format.clone();
        }
        if let Some(place) = &step.schema {
            let schema = value.pointer(place).cloned().unwrap_or_default();
            let schema = if step.lowers { lower_types(schema) } else { schema };
            self.question.format = Format::Schema { name: step.name_in(value).to_owned(), schema };
        }
        if let Some(inner) = value.pointer(&step.into) {
            if let Some(field) = step.field {
                self.field(field, "", inner);
            }
            if let Some(name) = &step.go {
                self.steps(self.page.steps(name), inner);
            }
        }
        if let Some(name) = &step.table {
            self.table(name, value);
        }
        self.role = before;
        true
    }

    fn part(&mut self, kind: Kind, step: &Step, value: &Value) -> Part {
        let name = step.name_in(value);
        let id = some_text(value, step.id.as_deref());
        match kind {
            Kind::Text => Part::Text(joined(value, &step.text)),
            Kind::Refusal => Part::Refusal(joined(value, &step.text)),
            Kind::Image => Part::Image(match (&step.data, some_text(value, step.media.as_deref())) {
                (Some(place), media) => Image::of_bytes(media.as_deref(), text(value, place)),
                (None, _) => Image::read(text(value, &step.url)),
            }),
            Kind::Reasoning => {
                let text = joined(value, &step.text);
                let seal = full_text(value, step.seal.as_deref());
                let is_redacted = step.is_redacted && text.is_empty() && seal.is_some();
                Part::Reasoning(Reasoning { id, text, seal, is_redacted })
            }
            Kind::Call => {
                let id = if step.makes_id { self.calls.called(id, name) } else { id.unwrap_or_default() };
                let found = |place: &String| value.pointer(place);
                let arguments = match &step.input {
                    Some(place) => found(place).map_or_else(|| "{}".to_owned(), Value::to_string),
                    None => found(&step.arguments).filter(|it| !it.is_null()).map(plain).unwrap_or_default(),
                };
                Part::Call(Call { id, name: name.to_owned(), arguments })
            }
            Kind::Result => {
                let id = if step.makes_id { self.calls.answered(id, name) } else { id.unwrap_or_default() };
                let is_true = |place: &String| value.pointer(place) == Some(&Value::Bool(true));
                let (text, is_error) = match &step.response {
                    Some(place) => output_of(value.pointer(place), name),
                    None => {
                        (self.output(value.pointer(&step.output)), step.failed.as_ref().is_some_and(is_true))
                    }
                };
                Part::Result(Output { id, text, is_error })
            }
        }
    }

    /// Texts of the system before the conversation are instructions.
    fn say(&mut self, part: Part) {
        match part {
            Part::Text(text) if self.role == Role::System && self.turns.list.is_empty() => {
                self.question.instructions.extend(Some(text).filter(|text| !text.is_empty()));
            }
            part => self.turns.push(self.role, part),
        }
    }

    /// A text, or a list of parts with texts. Other parts are noted.
    fn output(&mut self, content: Option<&Value>) -> String {
        let Some(list) = content.and_then(Value::as_array) else {
            return content.filter(|content| !content.is_null()).map(plain).unwrap_or_default();
        };
        let mut output = String::new();
        for part in list {
            if let Some(text) = part.as_str().or_else(|| part.get("text")?.as_str()) {
                output.push_str(text);
            } else {
                let kind = part.get("type").and_then(Value::as_str).unwrap_or("unknown");
                self.other(&format!("result.{}", usual_name(kind)));
            }
        }
        output
    }

    fn tool(&mut self, tool: &Value, place: &str, lowers: bool) {
        let schema = tool.pointer(place).cloned();
        let schema = if lowers { schema.map(lower_types) } else { schema };
        self.question.tools.push(Tool {
            name: text(tool, "/name").to_owned(),
            // An empty one says nothing.
            description: tool.get("description").and_then(|text| full_text(text, Some(""))),
            parameters: usual_parameters(schema.as_ref()),
        });
    }
}

fn joined(value: &Value, places: &[String]) -> String {
    let mut texts = String::new();
    for place in places {
        match place.split_once("/*") {
            Some((list, inner)) => {
                let entries = value.pointer(list).and_then(Value::as_array).into_iter().flatten();
                texts.extend(entries.map(|entry| text(entry, inner)));
            }
            None => texts.push_str(text(value, place)),
        }
    }
    texts
}

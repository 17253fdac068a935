//! How the requests of an API are read and written: `spec/apis/<api>/question.toml`, and `spec/questions.toml` for what APIs have in
//! common.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde_json::Value;

use super::form::Form;
use super::values::text;
use crate::pages::{self, Pages};
use crate::question::{Choice, Format, Role};
use crate::template::hole;

/// The page of an API.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Page {
    /// How members of objects are read. The table `request` is where reading begins.
    tables: BTreeMap<String, Table>,
    /// Steps that tables and other steps name.
    steps: BTreeMap<String, Vec<Step>>,
    choices: BTreeMap<String, Choice>,
    pub(super) write: Form,
}

/// How the members of an object are read, except for those that are null.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Table {
    /// Members that are read before and after the others, in whatever order they stand.
    pub(super) first: Vec<String>,
    pub(super) last: Vec<String>,
    /// Members that are members of the question, besides those that the template of the body has at this place.
    written: Option<String>,
    pub(super) fields: BTreeMap<String, Field>,
    pub(super) on: BTreeMap<String, Vec<Step>>,
    /// Members that something else reads.
    pub(super) read: Vec<String>,
    /// How the names of members without counterpart begin, if they are inside of something.
    pub(super) notes: Option<String>,
    notes_all: bool,
}

/// A member of a question.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Field {
    Model,
    /// The first one counts.
    Limit,
    Temperature,
    TopP,
    IsStream,
    Stops,
    Choices,
    Effort,
    /// An effort in letters of any case.
    Level,
    /// An effort as budget, unless there is one in words.
    Budget,
    CacheKey,
    User,
    OneCall,
    ManyCalls,
}

/// A step: it reads a value. All places are JSON pointers.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Step {
    /// The place of the value; with `/*` at its end, it is read from each entry of a list.
    pub(super) at: String,
    /// Only if no step before it in the list was taken.
    #[serde(rename = "else")]
    pub(super) is_else: bool,
    is: Option<Shape>,
    /// The texts that the value may have at a place, which is its type otherwise. `*` at the end stands for the rest of a line.
    kinds: Vec<String>,
    by: Option<String>,
    /// A member that is a text, and one that is neither null, false nor empty.
    has: Option<String>,
    set: Option<String>,
    /// A word that chooses tools, or the name of the only one that the reply may call.
    pub(super) choice: Option<String>,
    pub(super) named: Option<String>,
    /// Who speaks.
    pub(super) says: Option<Role>,
    /// Notes a name; with a point at its end, the kind of the value follows.
    pub(super) note: Option<String>,
    /// Goes on with these steps, at a place of the value.
    pub(super) go: Option<String>,
    pub(super) into: String,
    /// The table for the members of the value, after all else.
    pub(super) table: Option<String>,
    pub(super) field: Option<Field>,
    /// An effort, unless there is one in words.
    pub(super) effort: Option<String>,
    pub(super) part: Option<Kind>,
    /// The places of texts, which are joined. `/*/` stands for all entries of a list.
    pub(super) text: Vec<String>,
    pub(super) id: Option<String>,
    /// A call without an id gets one, and its result has it by the name of the function.
    pub(super) makes_id: bool,
    pub(super) name: Option<String>,
    /// The arguments as text, which some clients send as JSON; or as JSON.
    pub(super) arguments: String,
    pub(super) input: Option<String>,
    /// The output of a tool as text or parts, and whether the call failed; or both as an object.
    pub(super) output: String,
    pub(super) failed: Option<String>,
    pub(super) response: Option<String>,
    pub(super) seal: Option<String>,
    /// A seal of the reasoning before the part.
    pub(super) seals: Option<String>,
    /// A seal without a text is all of the reasoning.
    pub(super) is_redacted: bool,
    /// The address of an image, or its bytes with their media type.
    pub(super) url: String,
    pub(super) data: Option<String>,
    pub(super) media: Option<String>,
    /// The place of the parameters of a tool.
    pub(super) tool: Option<String>,
    /// The form of the reply's text, or the schema of it.
    pub(super) format: Option<Format>,
    pub(super) schema: Option<String>,
    /// The types of the schema may have capital letters.
    pub(super) lowers: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Shape {
    Text,
    Object,
    /// Neither a text, a list nor null.
    Other,
}

/// The kind of a part.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    Text,
    Refusal,
    Image,
    Reasoning,
    Call,
    Result,
}

impl Step {
    pub(super) fn name_in<'v>(&self, value: &'v Value) -> &'v str {
        self.name.as_ref().map_or("", |place| text(value, place))
    }

    pub(super) fn kind<'v>(&self, value: &'v Value) -> &'v str {
        match self.by.as_deref().unwrap_or("/type") {
            // The name of the first member.
            "*" => {
                value.as_object().and_then(|members| members.keys().next()).map_or("unknown", String::as_str)
            }
            place => text(value, place),
        }
    }

    pub(super) fn fits(&self, page: &Page, value: &Value) -> bool {
        let is_known = |kind: &str| {
            self.kinds.iter().any(|known| match known.strip_suffix('*') {
                Some(begin) => kind.starts_with(begin) && !kind.trim_end().contains('\n'),
                None => kind == known,
            })
        };
        let is = |place: &Option<String>, of: fn(&Value) -> bool| {
            place.as_ref().is_none_or(|place| value.pointer(place).is_some_and(of))
        };
        let has_shape = match self.is {
            None => true,
            Some(Shape::Text) => value.is_string(),
            Some(Shape::Object) => value.is_object(),
            Some(Shape::Other) => !(value.is_string() || value.is_array() || value.is_null()),
        };
        has_shape
            && (self.kinds.is_empty() || is_known(self.kind(value)))
            && is(&self.has, Value::is_string)
            && is(&self.set, |it| !is_empty(it) && *it != Value::Bool(false) && *it != "")
            && self.choice.as_ref().is_none_or(|place| page.choice(text(value, place)).is_some())
            && self.named.as_ref().is_none_or(|place| only(value, place).is_some())
    }
}

/// A text that is not empty, or the only one of a list.
pub(super) fn only<'v>(value: &'v Value, place: &str) -> Option<&'v str> {
    let value = value.pointer(place)?;
    let only = match value.as_array().map(Vec::as_slice) {
        Some([only]) => only,
        _ => value,
    };
    only.as_str().filter(|only| !only.is_empty())
}

/// Facts that APIs share.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Common {
    /// Members without meaning for the reply, and such members of tools, messages and parts.
    silent: Vec<String>,
    silent_inside: Vec<String>,
    /// Values that ask for what the API does by default.
    defaults: BTreeMap<String, Value>,
    /// Kinds of content with several names.
    names: BTreeMap<String, String>,
    /// Words that choose tools, where the API has no others.
    choices: BTreeMap<String, Choice>,
    tables: BTreeMap<String, Table>,
    steps: BTreeMap<String, Vec<Step>>,
}

static COMMON: LazyLock<Common> =
    LazyLock::new(|| pages::parsed(include_str!("../../../../spec/questions.toml")));

static PAGES: LazyLock<Pages<Page>> =
    LazyLock::new(|| Pages::new(include!(concat!(env!("OUT_DIR"), "/question.rs")), Page::learned));

impl Page {
    /// Nothing is read from the requests of an API without a page.
    pub(super) fn of(api: &str) -> &'static Self {
        PAGES.of(api)
    }

    /// Members of templates are read, too.
    fn learned(mut self) -> Self {
        for table in self.tables.values_mut() {
            let written = table.written.as_ref().and_then(|place| self.write.body.0.pointer(place));
            for (member, value) in written.and_then(Value::as_object).into_iter().flatten() {
                let hole = value.as_str().and_then(hole).unwrap_or_default();
                let field: Result<_, serde::de::value::Error> = Field::deserialize(hole.into_deserializer());
                let name = member.split('?').next().unwrap_or_default();
                table.fields.extend(field.ok().map(|field| (name.to_owned(), field)));
            }
        }
        self
    }

    pub(super) fn choice(&self, word: &str) -> Option<&Choice> {
        if self.choices.is_empty() { COMMON.choices.get(word) } else { self.choices.get(word) }
    }

    pub(super) fn table(&self, name: &str) -> Option<&Table> {
        self.tables.get(name).or_else(|| COMMON.tables.get(name))
    }

    pub(super) fn steps(&self, name: &str) -> &[Step] {
        self.steps.get(name).or_else(|| COMMON.steps.get(name)).map(Vec::as_slice).unwrap_or_default()
    }
}

impl Table {
    /// The member has no meaning for the reply, or its value is the default.
    pub(super) fn is_silent(&self, name: &str, value: &Value) -> bool {
        let (silent, is_default) = if self.notes.is_some() {
            (&COMMON.silent_inside, *value == Value::Bool(false))
        } else {
            (&COMMON.silent, COMMON.defaults.get(name).is_some_and(|default| is_same(value, default)))
        };
        !self.notes_all && (is_default || is_empty(value) || silent.iter().any(|silent| silent == name))
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

/// Numbers may be written in any form.
fn is_same(value: &Value, default: &Value) -> bool {
    match value.as_f64() {
        Some(number) => default.as_f64() == Some(number),
        None => value == default,
    }
}

/// The name of a kind of content that all APIs share, without a date: `web_search_20250305` is `web_search`.
pub(super) fn usual_name(kind: &str) -> &str {
    if let Some(name) = COMMON.names.get(kind) {
        return name;
    }
    let dated = kind.rsplit_once('_').filter(|(_, date)| date.len() == 8);
    match dated {
        Some((name, date)) if date.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => kind,
    }
}

#[cfg(test)]
mod tests {
    use super::super::writing::EFFORTS;
    use super::*;

    const PARTS: [&str; 9] =
        ["text", "refusal", "image", "image_data", "image_link", "reasoning", "redacted", "call", "result"];

    /// The values that a request may lose, besides members of the question.
    const LOST: [&str; 5] =
        ["reasoning.id", "reasoning.is_redacted", "reasoning.seal", "result.is_error", "arguments"];

    #[test]
    fn names_of_pages_are_known() {
        let members = serde_json::json!(crate::Question::default());
        for api in spec::spoken() {
            let page = Page::of(api.name);
            let tables = page.tables.iter().chain(&COMMON.tables);
            let of_tables = tables.clone().flat_map(|(_, table)| table.on.values());
            let of_steps = page.steps.values().chain(COMMON.steps.values());
            let all: Vec<&Step> = of_tables.chain(of_steps).flatten().collect();
            for step in &all {
                assert!(step.go.as_ref().is_none_or(|name| !page.steps(name).is_empty()), "{step:?}");
                assert!(step.table.as_ref().is_none_or(|name| page.table(name).is_some()), "{step:?}");
                let places = [&step.by, &step.has, &step.set, &step.choice, &step.id, &step.name, &step.seal];
                let places = places.into_iter().flatten().chain([&step.at, &step.into]).chain(&step.text);
                for place in places.filter(|place| *place != "*") {
                    assert!(place.is_empty() || place.starts_with('/'), "{} {place}", api.name);
                }
            }
            // Whatever the page has of its own is named by something.
            for name in page.steps.keys() {
                assert!(all.iter().any(|step| step.go.as_ref() == Some(name)), "{} {name}", api.name);
            }
            for name in page.tables.keys().filter(|name| *name != "request") {
                assert!(all.iter().any(|step| step.table.as_ref() == Some(name)), "{} {name}", api.name);
            }
            for name in page.write.losses.keys() {
                let is_member = members.get(name).is_some();
                assert!(is_member || LOST.contains(&&**name), "{} {name}", api.name);
            }
            for (effort, nearest) in &page.write.nearest {
                assert!(
                    [effort, nearest].iter().all(|it| EFFORTS.contains(&&***it)),
                    "{} {effort}",
                    api.name
                );
            }
            let speakers = [Role::User, Role::Assistant, Role::System].map(|role| page.write.speaker(role));
            for speaker in speakers.into_iter().flatten() {
                let named = [&speaker.own, &speaker.first, &speaker.last].into_iter().flatten();
                for name in named.chain(speaker.parts.keys()) {
                    assert!(PARTS.contains(&&**name), "{} {name}", api.name);
                }
            }
        }
    }
}

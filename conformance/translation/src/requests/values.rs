//! Values of requests in the forms that questions have.

use serde_json::{Value, json};

use crate::question::Image;

/// Budgets of reasoning for each effort, in ascending order.
const BUDGETS: [(&str, u64); 3] = [("low", 1024), ("medium", 2048), ("high", 4096)];

/// The highest effort whose budget fits.
pub(super) fn effort_of(budget: u64) -> &'static str {
    let fitting = BUDGETS.iter().rev().find(|(_, least)| *least <= budget);
    fitting.map_or("low", |(effort, _)| *effort)
}

pub(super) fn budget_of(effort: &str) -> Option<u64> {
    BUDGETS.iter().find(|(name, _)| *name == effort).map(|(_, budget)| *budget)
}

/// The types of a schema in lower case. A schema of OpenAPI has them in capital letters.
pub fn lower_types(mut schema: Value) -> Value {
    match &mut schema {
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(kind) if name == "type" => kind.make_ascii_lowercase(),
                    member => *member = lower_types(member.take()),
                }
            }
        }
        Value::Array(entries) => entries.iter_mut().for_each(|entry| *entry = lower_types(entry.take())),
        _ => {}
    }
    schema
}

/// Empty if there is no text.
pub(super) fn text<'a>(of: &'a Value, place: &str) -> &'a str {
    of.pointer(place).and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn some_text(of: &Value, place: Option<&str>) -> Option<String> {
    of.pointer(place?).and_then(Value::as_str).map(str::to_owned)
}

/// `None` also if the text is empty.
pub(super) fn full_text(of: &Value, place: Option<&str>) -> Option<String> {
    some_text(of, place).filter(|text| !text.is_empty())
}

/// A text, or another value as JSON.
pub(super) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A tool without a schema takes no arguments.
pub(super) fn usual_parameters(schema: Option<&Value>) -> Value {
    match schema {
        Some(Value::Object(schema)) if !schema.is_empty() => Value::Object(schema.clone()),
        _ => json!({"type": "object", "properties": {}}),
    }
}

/// The members that have the output of a call by convention. Some clients repeat the name of the function beside it.
const OUTPUTS: [&str; 3] = ["output", "result", "content"];

/// By convention, `error` says why a call failed.
pub(super) fn output_of(response: Option<&Value>, function: &str) -> (String, bool) {
    let Some(response) = response.and_then(Value::as_object) else { return ("{}".to_owned(), false) };
    let is_name = |(name, value): &(&String, &Value)| *name == "name" && *value == function;
    let members: Vec<_> = response.iter().filter(|member| !is_name(member)).collect();
    match *members {
        [(name, output)] if OUTPUTS.contains(&name.as_str()) => (plain(output), false),
        [(name, error)] if name == "error" => (plain(error), true),
        _ => (Value::Object(response.clone()).to_string(), false),
    }
}

impl Image {
    /// The address may be a data URL.
    pub(super) fn read(address: &str) -> Self {
        let data_url = || {
            let (head, data) = address.strip_prefix("data:")?.split_once(',')?;
            let head = head.strip_suffix(";base64")?;
            let media_type = head.split(';').next().filter(|name| !name.is_empty());
            Some(Self::of_bytes(media_type, data))
        };
        data_url().unwrap_or_else(|| Self { url: Some(address.to_owned()), ..Self::default() })
    }

    /// The media type is written in the usual way.
    pub(super) fn of_bytes(media_type: Option<&str>, data: &str) -> Self {
        let usual = |name: &str| match name.to_ascii_lowercase() {
            name if name == "image/jpg" => "image/jpeg".to_owned(),
            name => name,
        };
        Self { url: None, media_type: media_type.map(usual), data: Some(data.to_owned()) }
    }

    /// A data URL if the bytes are here.
    pub(super) fn address(&self) -> Option<String> {
        match &self.data {
            Some(data) => {
                Some(format!("data:{};base64,{data}", self.media_type.as_deref().unwrap_or_default()))
            }
            None => self.url.clone(),
        }
    }
}

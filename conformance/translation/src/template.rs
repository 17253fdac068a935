//! JSON with holes, which pages of APIs have as text.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// JSON with holes.
#[derive(Debug, Default, PartialEq)]
pub struct Template(pub(crate) Value);

impl Template {
    /// The template with values in its holes, by their names.
    pub fn filled(&self, value: impl Fn(&str) -> Option<Value>) -> Value {
        fill(&self.0, &Values(value))
    }
}

struct Values<F>(F);

impl<F: Fn(&str) -> Option<Value>> Context for Values<F> {
    fn get(&self, name: &str) -> Option<Cow<'_, Value>> {
        (self.0)(name).map(Cow::Owned)
    }
}

impl<'de> Deserialize<'de> for Template {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        serde_json::from_str(&text)
            .map(Self)
            .map_err(|error| serde::de::Error::custom(format!("{error}: {text}")))
    }
}

/// Values for the holes of templates.
pub(crate) trait Context {
    /// A member without a value is left out, and an object without any of its members. Otherwise it is null.
    const IS_SPARSE: bool = false;

    fn get(&self, name: &str) -> Option<Cow<'_, Value>>;

    /// The response as a whole, as it is when it begins or ends.
    fn response(&self, _moment: &str, _inner: &Value) -> Value {
        Value::Null
    }
}

/// The hole of a fragment.
const INNER: &str = "{it}";

/// Fills a template. `"{name}"` is a value, `{name}` within a text one as text. A member `name?flag` is there if the flag holds, and
/// so is an entry with a member `?flag`. `{"@begun": …}` and `{"@ended": …}` are the response as a whole.
pub(crate) fn fill<C: Context>(template: &Value, context: &C) -> Value {
    match template {
        Value::String(text) => match hole(text) {
            Some(name) => context.get(name).map(Cow::into_owned).unwrap_or_default(),
            None => filled(text, context).into(),
        },
        Value::Array(entries) => {
            entries.iter().filter(|it| holds(it, context)).map(|it| fill(it, context)).collect()
        }
        Value::Object(members) => {
            if let Some((name, inner)) = fragment(members) {
                return context.response(name, &fill(inner, context));
            }
            let mut object = Map::with_capacity(members.len());
            for (member, value) in members {
                let (name, flags) = member.split_once('?').unwrap_or((member, ""));
                if name.is_empty() || !are_set(flags, context) {
                    continue;
                }
                let own = match value.as_str().and_then(hole).map(|name| context.get(name)) {
                    None => fill(value, context),
                    Some(None) if C::IS_SPARSE => continue,
                    Some(own) => own.map(Cow::into_owned).unwrap_or_default(),
                };
                let is_empty = |value: &Value| value.as_object().is_some_and(Map::is_empty);
                if !(C::IS_SPARSE && is_empty(&own) && value.is_object() && !is_empty(value)) {
                    object.insert(filled(name, context), own);
                }
            }
            Value::Object(object)
        }
        other => other.clone(),
    }
}

/// Puts fragments in the place of `{"@name": …}`, with what is there in their hole or else beside their members.
pub(crate) fn expand(template: &mut Value, fragments: &BTreeMap<String, Value>) {
    if let Value::Object(members) = template
        && let Some((name, inner)) = fragment(members)
        && let Some(own) = fragments.get(name)
    {
        let (mut own, inner) = (own.clone(), inner.clone());
        if !put(&mut own, &inner) {
            add(&mut own, inner);
        }
        let flags = members.iter().filter(|(name, _)| name.starts_with('?'));
        add(&mut own, Value::Object(flags.map(|(name, flag)| (name.clone(), flag.clone())).collect()));
        *template = own;
        return expand(template, fragments);
    }
    match template {
        Value::Array(entries) => entries.iter_mut().for_each(|entry| expand(entry, fragments)),
        Value::Object(members) => members.values_mut().for_each(|member| expand(member, fragments)),
        _ => {}
    }
}

pub(crate) fn holds(template: &Value, context: &impl Context) -> bool {
    let flags =
        template.as_object().and_then(|members| members.keys().find_map(|name| name.strip_prefix('?')));
    flags.is_none_or(|flags| are_set(flags, context))
}

pub(crate) fn add(object: &mut Value, other: Value) {
    if let (Value::Object(members), Value::Object(other)) = (object, other) {
        members.extend(other);
    }
}

fn put(value: &mut Value, inner: &Value) -> bool {
    match value {
        Value::String(text) if text == INNER => {
            *value = inner.clone();
            true
        }
        Value::Array(entries) => entries.iter_mut().any(|entry| put(entry, inner)),
        Value::Object(members) => members.values_mut().any(|member| put(member, inner)),
        _ => false,
    }
}

fn fragment(members: &Map<String, Value>) -> Option<(&str, &Value)> {
    members.iter().find_map(|(name, inner)| Some((name.strip_prefix('@')?, inner)))
}

pub(crate) fn are_set(flags: &str, context: &impl Context) -> bool {
    flags.split('?').filter(|flag| !flag.is_empty()).all(|flag| is_set(flag, context))
}

/// Nothing, 0 and what is empty do not count.
pub(crate) fn is_set(flag: &str, context: &impl Context) -> bool {
    if let Some(flag) = flag.strip_prefix('!') {
        return !is_set(flag, context);
    }
    match context.get(flag).as_deref() {
        None | Some(Value::Null) => false,
        Some(Value::Bool(is_true)) => *is_true,
        Some(Value::Number(number)) => number.as_f64() != Some(0.0),
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Array(entries)) => !entries.is_empty(),
        Some(Value::Object(_)) => true,
    }
}

pub(crate) fn hole(text: &str) -> Option<&str> {
    text.strip_prefix('{')?.strip_suffix('}').filter(|name| is_name(name) && text != INNER)
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || b"_./".contains(&byte))
}

fn filled(text: &str, context: &impl Context) -> String {
    let (mut filled, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let inside = after.split_once('}').filter(|(name, _)| is_name(name));
        if let Some((value, after)) = inside.and_then(|(name, after)| Some((context.get(name)?, after))) {
            filled.push_str(&value.as_str().map_or_else(|| value.to_string(), str::to_owned));
            rest = after;
        } else {
            filled.push('{');
            rest = after;
        }
    }
    filled + rest
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    struct Words;

    impl Context for Words {
        fn get(&self, name: &str) -> Option<Cow<'_, Value>> {
            let value = match name {
                "text" => json!("a {it} {count} \""),
                "count" => json!(3),
                "zero" => json!(0),
                _ => return None,
            };
            Some(Cow::Owned(value))
        }

        fn response(&self, moment: &str, inner: &Value) -> Value {
            json!([moment, inner])
        }
    }

    #[test]
    fn holes_are_filled() {
        let text = "a {it} {count} \"";
        let fragments =
            [("box", json!({"kind": "box", "of": ["{it}"]})), ("open", json!({"kind": "{text}", "n": 1}))];
        let fragments = fragments.into_iter().map(|(name, own)| (name.to_owned(), own)).collect();
        for (mut template, filled) in [
            (json!({"a": "{text}", "b": "{count}-{none}-{ }"}), json!({"a": text, "b": "3-{none}-{ }"})),
            (json!("{none}"), json!(null)),
            (json!("{}"), json!("{}")),
            (json!({"m{count}": 1}), json!({"m3": 1})),
            (json!({"a?count": 1, "b?zero": 1, "c?!zero": 1, "d?count?none": 1}), json!({"a": 1, "c": 1})),
            (json!([{"?zero": true, "a": 1}, {"?count": true, "a": 2}, 3]), json!([{"a": 2}, 3])),
            (json!({"@box": "{text}"}), json!({"kind": "box", "of": [text]})),
            (json!({"@box": {"@box": 1}}), json!({"kind": "box", "of": [{"kind": "box", "of": [1]}]})),
            (json!({"@open": {"n": 2, "m": "{count}"}}), json!({"kind": text, "n": 2, "m": 3})),
            (
                json!([{"@box": 1, "?zero": true}, {"@box": 1, "?count": true}]),
                json!([{"kind": "box", "of": [1]}]),
            ),
            (json!({"@begun": {"a": "{count}"}}), json!(["begun", {"a": 3}])),
        ] {
            expand(&mut template, &fragments);
            assert_eq!(fill(&template, &Words), filled, "{template}");
        }
    }
}

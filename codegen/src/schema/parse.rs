//! Parses JSON into the model. Schemas that are not in normal form are errors.

use std::fmt;

use serde_json::{Map, Value};

use super::{Additional, Array, Object, Pattern, Property, Range, Schema, StringRules};

/// A schema that is not in normal form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// JSON pointer to the place.
    pub pointer: String,
    /// The found and the expected content.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() { "the root" } else { &self.pointer };
        write!(f, "at {place}: {}", self.message)
    }
}

impl std::error::Error for ParseError {}

/// Keywords without effect on validity.
const ANNOTATIONS: &[&str] =
    &["$schema", "$id", "description", "deprecated", "default", "examples", "format", "x-lifecycle"];

/// Parses a schema in normal form.
///
/// # Errors
///
/// Fails on the first keyword or combination that is not normal form.
pub fn parse(json: &Value) -> Result<Schema, ParseError> {
    schema(json, "")
}

fn fail<T>(pointer: &str, message: impl Into<String>) -> Result<T, ParseError> {
    Err(ParseError { pointer: pointer.to_owned(), message: message.into() })
}

fn schema(json: &Value, at: &str) -> Result<Schema, ParseError> {
    let Value::Object(map) = json else {
        return fail(at, format!("expected a schema object, found {json}"));
    };
    if let Some(target) = map.get("$ref") {
        only(map, at, &["$ref"])?;
        return reference(target, at);
    }
    if let Some(value) = map.get("const") {
        only(map, at, &["const"])?;
        return match value {
            Value::String(_) | Value::Bool(_) | Value::Number(_) => Ok(Schema::Const(value.clone())),
            other => fail(at, format!("`const` must be a scalar, found {other}")),
        };
    }
    if let Some(branches) = map.get("anyOf") {
        only(map, at, &["anyOf"])?;
        return union(branches, at);
    }
    match map.get("type") {
        None => {
            only(map, at, &[])?;
            Ok(Schema::Any)
        }
        Some(Value::String(name)) => typed(name, map, at),
        Some(Value::Array(names)) => match names.as_slice() {
            [Value::String(name), Value::String(null)] if null == "null" && !map.contains_key("enum") => {
                Ok(Schema::Nullable(Box::new(typed(name, map, at)?)))
            }
            _ => fail(
                at,
                "`type` must be one name, or a name and \"null\" (without `enum`); write other unions as `anyOf`",
            ),
        },
        Some(other) => fail(at, format!("`type` must be a name, found {other}")),
    }
}

fn reference(target: &Value, at: &str) -> Result<Schema, ParseError> {
    target
        .as_str()
        .and_then(|text| text.strip_prefix("../types/"))
        .and_then(|text| text.strip_suffix(".json"))
        .map_or_else(
            || fail(at, format!("`$ref` must be \"../types/<Name>.json\", found {target}")),
            |name| Ok(Schema::Ref(name.to_owned())),
        )
}

fn union(branches: &Value, at: &str) -> Result<Schema, ParseError> {
    let Some(list) = branches.as_array() else {
        return fail(at, "`anyOf` must be a list");
    };
    let mut nullable = false;
    let mut parsed = Vec::new();
    for (index, branch) in list.iter().enumerate() {
        match schema(branch, &format!("{at}/anyOf/{index}"))? {
            Schema::Null => nullable = true,
            Schema::Nullable(inner) => {
                nullable = true;
                parsed.push(*inner);
            }
            Schema::Union(inner) => parsed.extend(inner),
            other => parsed.push(other),
        }
    }
    let joined = match parsed.len() {
        0 => return fail(at, "`anyOf` must have a branch besides null"),
        1 => parsed.remove(0),
        _ => Schema::Union(parsed),
    };
    Ok(if nullable { Schema::Nullable(Box::new(joined)) } else { joined })
}

fn typed(name: &str, map: &Map<String, Value>, at: &str) -> Result<Schema, ParseError> {
    match name {
        "null" => only(map, at, &["type"]).map(|()| Schema::Null),
        "boolean" => only(map, at, &["type"]).map(|()| Schema::Boolean),
        "integer" => range(map, at).map(Schema::Integer),
        "number" => range(map, at).map(Schema::Number),
        "string" if map.contains_key("enum") => {
            only(map, at, &["type", "enum", "x-open", "x-closed"])?;
            let is_open = decision(map, at)?;
            let values: Option<Vec<String>> = map["enum"]
                .as_array()
                .and_then(|list| list.iter().map(|v| v.as_str().map(str::to_owned)).collect());
            match values {
                Some(values) if !values.is_empty() && is_open => Ok(Schema::OpenEnum(values)),
                Some(values) if !values.is_empty() => Ok(Schema::Enum(values)),
                _ => fail(at, "`enum` must be a list of strings"),
            }
        }
        "string" => {
            only(map, at, &["type", "minLength", "maxLength", "pattern"])?;
            string_rules(map, at).map(Schema::String)
        }
        "array" => {
            only(map, at, &["type", "items", "minItems", "maxItems"])?;
            let items = match map.get("items") {
                Some(items) => schema(items, &format!("{at}/items"))?,
                None => Schema::Any,
            };
            let (min_items, max_items) = (count(map, "minItems", at)?, count(map, "maxItems", at)?);
            Ok(Schema::Array(Box::new(Array { items, min_items, max_items })))
        }
        "object" => object(map, at),
        other => fail(at, format!("unknown type \"{other}\"")),
    }
}

/// Both decisions need a reason.
fn decision(map: &Map<String, Value>, at: &str) -> Result<bool, ParseError> {
    let reason = |keyword: &str| match map.get(keyword) {
        None => Ok(false),
        Some(Value::String(reason)) if !reason.trim().is_empty() => Ok(true),
        Some(other) => fail(at, format!("`{keyword}` must be a string with the reason, found {other}")),
    };
    match (reason("x-open")?, reason("x-closed")?) {
        (true, true) => fail(at, "an enumeration has either `x-open` or `x-closed`"),
        (is_open, _) => Ok(is_open),
    }
}

fn object(map: &Map<String, Value>, at: &str) -> Result<Schema, ParseError> {
    only(
        map,
        at,
        &["type", "required", "properties", "additionalProperties", "propertyNames", "maxProperties"],
    )?;
    let required: Vec<&str> = match map.get("required") {
        None => Vec::new(),
        Some(list) => match list.as_array().and_then(|l| l.iter().map(Value::as_str).collect()) {
            Some(names) => names,
            None => return fail(at, "`required` must be a list of names"),
        },
    };
    let mut properties = Vec::new();
    if let Some(declared) = map.get("properties") {
        let Some(declared) = declared.as_object() else {
            return fail(at, "`properties` must be an object");
        };
        for (name, value) in declared {
            let pointer = format!("{at}/properties/{}", escape(name));
            properties.push(Property {
                name: name.clone(),
                required: required.contains(&name.as_str()),
                schema: schema(value, &pointer)?,
                description: value.get("description").and_then(Value::as_str).map(str::to_owned),
                deprecated: value.get("deprecated").and_then(Value::as_bool).unwrap_or(false),
                default: value.get("default").cloned(),
            });
        }
    }
    if let Some(name) = required.iter().find(|name| properties.iter().all(|p| p.name != **name)) {
        return fail(
            at,
            format!("\"{name}\" is required but not declared; declare it, as {{}} if nothing is known"),
        );
    }
    let additional = match map.get("additionalProperties") {
        None | Some(Value::Bool(true)) => Additional::Open,
        Some(Value::Bool(false)) => Additional::Closed,
        Some(Value::Object(any)) if any.is_empty() => Additional::Open,
        Some(values) => Additional::Typed(schema(values, &format!("{at}/additionalProperties"))?),
    };
    let property_names = match map.get("propertyNames") {
        None => None,
        Some(names) => match schema(names, &format!("{at}/propertyNames"))? {
            Schema::String(rules) => Some(rules),
            Schema::Any => None,
            _ => return fail(at, "`propertyNames` must be a string schema"),
        },
    };
    let max_properties = count(map, "maxProperties", at)?;
    Ok(Schema::Object(Box::new(Object { properties, additional, property_names, max_properties })))
}

fn range(map: &Map<String, Value>, at: &str) -> Result<Range, ParseError> {
    only(map, at, &["type", "minimum", "maximum"])?;
    let limit = |name: &str| match map.get(name) {
        None => Ok(None),
        Some(value) => {
            value.as_f64().map_or_else(|| fail(at, format!("`{name}` must be a number")), |n| Ok(Some(n)))
        }
    };
    Ok(Range { minimum: limit("minimum")?, maximum: limit("maximum")? })
}

fn string_rules(map: &Map<String, Value>, at: &str) -> Result<StringRules, ParseError> {
    let pattern = match map.get("pattern") {
        None => None,
        Some(Value::String(source)) => match pattern(source) {
            Some(pattern) => Some(pattern),
            None => {
                return fail(
                    at,
                    format!("pattern {source:?} is neither `^[class]+$` nor `^prefix[class]{{n}}$`"),
                );
            }
        },
        Some(other) => return fail(at, format!("`pattern` must be a string, found {other}")),
    };
    Ok(StringRules {
        min_length: count(map, "minLength", at)?,
        max_length: count(map, "maxLength", at)?,
        pattern,
    })
}

fn pattern(source: &str) -> Option<Pattern> {
    let inner = source.strip_prefix('^')?.strip_suffix('$')?;
    let (prefix, rest) = inner.split_once('[')?;
    let (class, repeat) = rest.split_once(']')?;
    if !prefix.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-') {
        return None;
    }
    let count = match repeat {
        "+" => None,
        "" => Some(1),
        braces => Some(braces.strip_prefix('{')?.strip_suffix('}')?.parse().ok()?),
    };
    let chars: Vec<char> = class.chars().collect();
    let mut ranges = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        if chars[i] == '\\' || chars[i] == '^' {
            return None;
        }
        if i + 2 < chars.len() && chars[i + 1] == '-' {
            ranges.push((chars[i], chars[i + 2]));
            i += 3;
        } else {
            ranges.push((chars[i], chars[i]));
            i += 1;
        }
    }
    Some(Pattern { source: source.to_owned(), prefix: prefix.to_owned(), class: ranges, count })
}

fn count(map: &Map<String, Value>, name: &str, at: &str) -> Result<Option<u64>, ParseError> {
    match map.get(name) {
        None => Ok(None),
        Some(value) => value.as_u64().map_or_else(
            || fail(at, format!("`{name}` must be a whole number, found {value}")),
            |n| Ok(Some(n)),
        ),
    }
}

fn only(map: &Map<String, Value>, at: &str, keywords: &[&str]) -> Result<(), ParseError> {
    match map.keys().find(|key| !keywords.contains(&key.as_str()) && !ANNOTATIONS.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) if keywords.is_empty() => fail(at, format!("keyword `{key}` needs a `type` beside it")),
        Some(key) => fail(at, format!("keyword `{key}` is not supported beside `{}`", keywords.join("`, `"))),
    }
}

/// A segment of a JSON pointer for a name.
pub fn escape(segment: &str) -> String {
    segment.replace('~', "~0").replace('/', "~1")
}

/// The name that a segment of a JSON pointer stands for.
pub fn unescape(segment: &str) -> String {
    segment.replace("~1", "/").replace("~0", "~")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_way_to_say_nullable() {
        let expected = Schema::Nullable(Box::new(Schema::String(StringRules::default())));
        assert_eq!(parse(&json!({"type": ["string", "null"]})).unwrap(), expected);
        assert_eq!(parse(&json!({"anyOf": [{"type": "string"}, {"type": "null"}]})).unwrap(), expected);
    }

    #[test]
    fn patterns_are_a_prefix_and_a_class() {
        let tunnel = pattern("^tunnel_[a-z0-9]{32}$").unwrap();
        assert_eq!((tunnel.prefix.as_str(), tunnel.count), ("tunnel_", Some(32)));
        assert_eq!(tunnel.class, [('a', 'z'), ('0', '9')]);
        assert_eq!(pattern("^[a-zA-Z0-9_-]+$").unwrap().class.last(), Some(&('-', '-')));
        assert_eq!(pattern("^(a|b)$"), None);
    }
}

//! Converts schemas of a document to normal form.

mod all_of;
mod unions;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::Note;
use super::document::{Document, reference};
use super::pointer::Pointer;
use super::schemas::{ANNOTATIONS, Result, fail, members, referred};
use super::text::ordered;
use unions::Union;
pub(super) use unions::nullable;

/// Keywords without effect on validity that are dropped.
const DROPPED: &[&str] = &[
    "description",
    "title",
    "example",
    "examples",
    "externalDocs",
    "$comment",
    "discriminator",
    "$recursiveAnchor",
    "enumDescriptions",
];

/// The keywords that each type allows beside it.
const TYPES: &[(&str, &[&str])] = &[
    ("null", &[]),
    ("boolean", &[]),
    ("integer", &["format", "minimum", "maximum"]),
    ("number", &["format", "minimum", "maximum"]),
    ("string", &["minLength", "maxLength", "pattern", "format"]),
    ("array", &["items", "minItems", "maxItems"]),
    ("object", &["required", "properties", "additionalProperties", "propertyNames", "maxProperties"]),
];

/// Converts the schemas of one document, each named one once.
pub(super) struct Normaliser<'d> {
    document: &'d Document<'d>,
    named: BTreeMap<String, Value>,
    under_way: Vec<String>,
    unions: Vec<Union>,
    /// Places with a `$ref` beside a `type`, with both.
    typed_references: Vec<(Pointer, String, Value)>,
    notes: Vec<Note>,
}

impl<'d> Normaliser<'d> {
    pub(super) fn new(document: &'d Document<'d>) -> Self {
        Self {
            document,
            named: BTreeMap::new(),
            under_way: Vec::new(),
            unions: Vec::new(),
            typed_references: Vec::new(),
            notes: Vec::new(),
        }
    }

    pub(super) fn named(&mut self, name: &str) -> Result<Value> {
        if let Some(done) = self.named.get(name) {
            return Ok(done.clone());
        }
        let place = Pointer::named(name);
        if self.under_way.iter().any(|outer| outer == name) {
            return Err(fail(
                &place,
                "a schema that directly contains itself",
                "recursion only through properties, items or unions",
            ));
        }
        let schema = self.document.referred(&place, name)?;
        self.under_way.push(name.to_owned());
        let normal = self.schema(&place, schema)?;
        self.under_way.pop();
        self.named.insert(name.to_owned(), normal.clone());
        Ok(normal)
    }

    pub(super) fn note(&mut self, place: &Pointer, text: impl Into<String>) {
        self.notes.push(Note { place: place.to_string(), text: text.into() });
    }

    pub(super) fn resolved(&mut self, schema: &Value) -> Result<Value> {
        match schema.get("$ref").and_then(referred) {
            None => Ok(schema.clone()),
            Some(name) => {
                let target = self.named(name)?;
                self.resolved(&target)
            }
        }
    }

    pub(super) fn finish(mut self) -> Result<Vec<Note>> {
        for (place, kind, target) in std::mem::take(&mut self.typed_references) {
            if !unions::only_type(&mut self, &target, &kind)? {
                return Err(fail(
                    &place.at("type"),
                    format!("`type` \"{kind}\" beside schemas that allow other types"),
                    "their own type, or no `type`",
                ));
            }
        }
        for union in std::mem::take(&mut self.unions) {
            unions::review(&mut self, &union)?;
        }
        Ok(self.notes)
    }

    pub(super) fn schema(&mut self, place: &Pointer, schema: &Value) -> Result<Value> {
        let map = match schema {
            Value::Object(map) => map,
            Value::Bool(true) => return Ok(json!({})),
            other => return Err(fail(place, other.to_string(), "a schema that allows some value")),
        };
        let core = if let Some(members) = map.get("allOf") {
            self.all_of(place, map, members)?
        } else if let Some(target) = map.get("$ref") {
            self.reference(place, map, target)?
        } else if let Some(target) = map.get("$recursiveRef") {
            self.recursion(place, map, target)?
        } else if map.contains_key("anyOf") || map.contains_key("oneOf") {
            self.union(place, map)?
        } else if let Some(value) = map.get("const") {
            constant(place, map, value)?
        } else if let Some(values) = map.get("enum") {
            self.enumeration(place, map, values)?
        } else {
            self.typed(place, map)?
        };
        annotate(place, map, core)
    }

    /// The keywords beside an `allOf` are a part of it.
    fn all_of(&mut self, place: &Pointer, map: &Map<String, Value>, list: &Value) -> Result<Value> {
        let Some(list) = list.as_array() else {
            return Err(fail(&place.at("allOf"), list.to_string(), "a list of schemas"));
        };
        let mut parts = Vec::new();
        for (index, member) in list.iter().enumerate() {
            let here = place.at("allOf").at(index);
            parts.push((self.schema(&here, member)?, here));
        }
        let beside: Map<String, Value> = map
            .iter()
            .filter(|(key, _)| !ANNOTATIONS.contains(&key.as_str()) && *key != "allOf" && *key != "nullable")
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        parts.push((self.schema(place, &Value::Object(beside))?, place.clone()));
        all_of::merge(self, parts)
    }

    fn reference(&mut self, place: &Pointer, map: &Map<String, Value>, target: &Value) -> Result<Value> {
        only(place, map, &["$ref", "type", "nullable"])?;
        let name = reference(place, target)?;
        self.document.referred(place, &name)?;
        let core = json!({ "$ref": format!("../types/{name}.json") });
        if let Some(kind) = map.get("type") {
            self.expect_type(place, kind, &core)?;
        }
        Ok(core)
    }

    fn recursion(&mut self, place: &Pointer, map: &Map<String, Value>, target: &Value) -> Result<Value> {
        only(place, map, &["$recursiveRef"])?;
        let name = place.component().unwrap_or_default();
        let anchored = self.document.schema(&name).and_then(|schema| schema.get("$recursiveAnchor"));
        if target != "#" || anchored != Some(&Value::Bool(true)) {
            return Err(fail(
                &place.at("$recursiveRef"),
                target.to_string(),
                "\"#\" inside a named schema with `$recursiveAnchor`: true",
            ));
        }
        Ok(json!({ "$ref": format!("../types/{name}.json") }))
    }

    fn union(&mut self, place: &Pointer, map: &Map<String, Value>) -> Result<Value> {
        let keyword = if map.contains_key("oneOf") { "oneOf" } else { "anyOf" };
        only(place, map, &[keyword, "type", "nullable"])?;
        let Some(Value::Array(list)) = map.get(keyword) else {
            return Err(fail(&place.at(keyword), map[keyword].to_string(), "a list of schemas"));
        };
        let mut branches = Vec::new();
        for (index, branch) in list.iter().enumerate() {
            branches.push(self.schema(&place.at(keyword).at(index), branch)?);
        }
        if let Some(kind) = map.get("type") {
            self.expect_type(place, kind, &json!({ "anyOf": branches }))?;
        }
        let union = Union {
            place: place.at(keyword),
            exclusive: keyword == "oneOf",
            discriminator: map.get("discriminator").cloned(),
            branches: branches.clone(),
        };
        let closed = union.discriminator.is_some();
        self.unions.push(union);
        unions::join(self, place, branches, closed)
    }

    fn expect_type(&mut self, place: &Pointer, kind: &Value, target: &Value) -> Result<()> {
        let Some(kind) = kind.as_str() else {
            return Err(fail(
                &place.at("type"),
                kind.to_string(),
                "one type name beside a reference or union",
            ));
        };
        self.typed_references.push((place.clone(), kind.to_owned(), target.clone()));
        Ok(())
    }

    fn typed(&mut self, place: &Pointer, map: &Map<String, Value>) -> Result<Value> {
        let names: Vec<String> = match map.get("type") {
            None => match implied_type(map) {
                None => {
                    only(place, map, &["nullable"])?;
                    return Ok(json!({}));
                }
                Some((keyword, kind)) => {
                    self.note(place, format!("`{keyword}` without a `type`; treated as {kind}"));
                    vec![kind.to_owned()]
                }
            },
            Some(Value::String(name)) => vec![name.clone()],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            Some(other) => {
                return Err(fail(
                    &place.at("type"),
                    other.to_string(),
                    "the name of a type, or a list of names",
                ));
            }
        };
        let mut known: Vec<&str> = vec!["type", "nullable"];
        for name in &names {
            match TYPES.iter().find(|(kind, _)| kind == name) {
                Some((_, keywords)) => known.extend(*keywords),
                None => return Err(fail(&place.at("type"), format!("\"{name}\""), "a type of JSON Schema")),
            }
        }
        only(place, map, &known)?;
        let mut branches = Vec::new();
        for name in &names {
            branches.push(self.of_type(place, map, name)?);
        }
        unions::join(self, place, branches, false)
    }

    fn enumeration(&mut self, place: &Pointer, map: &Map<String, Value>, values: &Value) -> Result<Value> {
        only(place, map, &["enum", "type", "nullable"])?;
        let here = place.at("enum");
        let Some(list) = values.as_array().filter(|list| !list.is_empty()) else {
            return Err(fail(&here, values.to_string(), "a list of values"));
        };
        let mut kept: Vec<&Value> = list.iter().filter(|value| !value.is_null()).collect();
        kept.dedup();
        let core = match kept.as_slice() {
            [] => json!({ "type": "null" }),
            [only] => constant(place, &Map::new(), only)?,
            several => {
                if map.get("x-stainless-const") == Some(&Value::Bool(true)) {
                    self.note(&here, "several values despite `x-stainless-const`; treated as an enum");
                }
                if let Some(other) = several.iter().find(|value| !value.is_string()) {
                    return Err(fail(
                        &here,
                        other.to_string(),
                        "only strings: enums of other values are not supported",
                    ));
                }
                json!({ "type": "string", "enum": several })
            }
        };
        Ok(if list.contains(&Value::Null) { unions::nullable(core) } else { core })
    }

    fn of_type(&mut self, place: &Pointer, map: &Map<String, Value>, kind: &str) -> Result<Value> {
        let keywords = TYPES.iter().find(|(name, _)| *name == kind).map_or(&[][..], |(_, keywords)| keywords);
        let mut out = Map::new();
        out.insert("type".to_owned(), Value::from(kind));
        for keyword in keywords {
            let Some(value) = map.get(*keyword) else { continue };
            let here = place.at(keyword);
            let value = match *keyword {
                "items" | "propertyNames" => self.schema(&here, value)?,
                "properties" | "required" => continue,
                "additionalProperties" => match value {
                    Value::Bool(true) => continue,
                    Value::Bool(false) => value.clone(),
                    schema => match self.schema(&here, schema)? {
                        any if any == json!({}) => continue,
                        schema => schema,
                    },
                },
                "pattern" => pattern(&here, value)?,
                "format" => value.clone(),
                _ if value.is_number() => value.clone(),
                _ => return Err(fail(&here, value.to_string(), "a number")),
            };
            out.insert((*keyword).to_owned(), value);
        }
        if kind == "object" {
            let mut properties = Map::new();
            if let Some(declared) = map.get("properties") {
                let here = place.at("properties");
                let Value::Object(declared) = declared else {
                    return Err(fail(&here, declared.to_string(), "an object of schemas"));
                };
                for (name, schema) in declared {
                    properties.insert(name.clone(), self.schema(&here.at(name), schema)?);
                }
            }
            let required = match map.get("required") {
                None => Vec::new(),
                Some(names) => names
                    .as_array()
                    .and_then(|list| list.iter().map(|name| name.as_str().map(str::to_owned)).collect())
                    .ok_or_else(|| fail(&place.at("required"), names.to_string(), "a list of names"))?,
            };
            members(&mut out, properties, &required);
        }
        Ok(ordered(out))
    }
}

fn constant(place: &Pointer, map: &Map<String, Value>, value: &Value) -> Result<Value> {
    only(place, map, &["const", "type", "enum", "nullable"])?;
    if value.is_null() {
        return Ok(json!({ "type": "null" }));
    }
    if !value.is_string() && !value.is_boolean() && !value.is_number() {
        return Err(fail(&place.at("const"), value.to_string(), "a string, number or boolean"));
    }
    Ok(json!({ "const": value }))
}

fn implied_type(map: &Map<String, Value>) -> Option<(&'static str, &'static str)> {
    [("properties", "object"), ("required", "object"), ("additionalProperties", "object"), ("items", "array")]
        .into_iter()
        .find(|(keyword, _)| map.contains_key(*keyword))
}

fn annotate(place: &Pointer, map: &Map<String, Value>, core: Value) -> Result<Value> {
    let core = match map.get("nullable") {
        Some(Value::Bool(true)) => unions::nullable(core),
        None | Some(Value::Bool(false)) => core,
        Some(other) => return Err(fail(&place.at("nullable"), other.to_string(), "true or false")),
    };
    let Value::Object(mut out) = core else { return Ok(core) };
    match map.get("deprecated") {
        Some(Value::Bool(true)) => drop(out.insert("deprecated".to_owned(), Value::Bool(true))),
        None | Some(Value::Bool(false)) => {}
        Some(other) => return Err(fail(&place.at("deprecated"), other.to_string(), "true or false")),
    }
    if let Some(default) = map.get("default").filter(|default| out.get("const") != Some(default)) {
        out.insert("default".to_owned(), default.clone());
    }
    Ok(ordered(out))
}

/// Generated validators support few patterns.
fn pattern(place: &Pointer, value: &Value) -> Result<Value> {
    match value.as_str() {
        Some(_) if codegen::schema::parse(&json!({ "type": "string", "pattern": value })).is_ok() => {
            Ok(value.clone())
        }
        _ => Err(fail(
            place,
            value.to_string(),
            "`^[class]+$`, or a literal prefix and `[class]{n}` between `^` and `$`",
        )),
    }
}

pub(super) fn only(place: &Pointer, map: &Map<String, Value>, known: &[&str]) -> Result<()> {
    let understood = |key: &str| {
        known.contains(&key) || DROPPED.contains(&key) || ANNOTATIONS.contains(&key) || key.starts_with("x-")
    };
    match map.keys().find(|key| !understood(key)) {
        None => Ok(()),
        Some(key) => Err(fail(
            &place.at(key),
            format!("the keyword `{key}`"),
            format!(
                "only {} here; rewrite the document, or add support for this keyword to the importer",
                known.join(", ")
            ),
        )),
    }
}

//! Adds entries of the document that the dialect does not have.

use codegen::todo::todo;
use serde_json::{Value, json};

use super::leaves::{Kind, Leaf};
use super::{FilePointer, Merge, Phase, referred_in, type_file};
use crate::import::lifecycle;
use crate::import::sample::sample;

impl Merge<'_> {
    pub(super) fn adopted(&mut self, schema: &Value) -> Value {
        if let Some(name) = referred_in(schema) {
            let own = self.adopted_type(name);
            let mut reference = schema.clone();
            reference["$ref"] = json!(format!("../{}", type_file(&own)));
            return reference;
        }
        if let Some(opened) = open_enumeration(schema) {
            return opened;
        }
        match schema {
            Value::Object(map) => {
                let inner = |merge: &mut Self, key: &str, value: &Value| match (key, value) {
                    ("items" | "additionalProperties", value) => merge.adopted(value),
                    ("anyOf", Value::Array(list)) => {
                        list.iter().map(|branch| merge.adopted(branch)).collect()
                    }
                    ("properties", Value::Object(all)) => {
                        let all = all.iter().map(|(name, value)| (name.clone(), merge.adopted(value)));
                        Value::Object(all.collect())
                    }
                    _ => value.clone(),
                };
                let map = map.iter().map(|(key, value)| (key.clone(), inner(self, key, value)));
                Value::Object(map.collect())
            }
            other => other.clone(),
        }
    }

    /// The type is added to the dialect if necessary.
    fn adopted_type(&mut self, name: &str) -> String {
        if let Some(own) = self.names.get(name) {
            return own.clone();
        }
        let plain = self.plain_name(name);
        let free = |name: &str| !self.files.contains_key(&type_file(name));
        let numbered = (2..=self.files.len() + 2).map(|number| format!("{plain}-{number}"));
        let own = [plain.clone(), qualified(name)].into_iter().chain(numbered).find(|name| free(name));
        let own = own.unwrap_or_else(|| plain.clone());
        self.adopt_as(name, &own);
        if own != plain && self.is_same(&own, &plain) {
            self.files.remove(&type_file(&own));
            self.names.insert(name.to_owned(), plain.clone());
            return plain;
        }
        own
    }

    fn is_same(&self, left: &str, right: &str) -> bool {
        let body = |name: &str| {
            let mut file = self.files.get(&type_file(name))?.clone();
            for keyword in ["$id", "description"] {
                file.as_object_mut()?.shift_remove(keyword);
            }
            Some(file)
        };
        body(left).is_some() && body(left) == body(right)
    }

    fn plain_name(&self, name: &str) -> String {
        let name = name.rsplit("__").next().unwrap_or(name);
        let name = name.strip_prefix(self.variant).unwrap_or(name);
        name.trim_start_matches('_').to_owned()
    }

    pub(super) fn adopt_as(&mut self, name: &str, own: &str) {
        self.names.insert(name.to_owned(), own.to_owned());
        let Some(schema) = self.document.get(&type_file(name)).cloned() else { return };
        // Insert it before the types that it refers to, which may include itself.
        self.files.insert(type_file(own), Value::Null);
        let schema = with_description(self.adopted(&schema), own, "what it is, in a sentence");
        self.files.insert(type_file(own), schema);
    }

    pub(super) fn new_event(&mut self, path: &str, schema: &Value) {
        let schema = self.adopted(schema);
        let name = path.trim_start_matches("events/").trim_end_matches(".json").to_owned();
        let mut event = with_description(schema, &name, "what happened, in a sentence");
        event["x-lifecycle"] = lifecycle::guess(&name, &event, &self.files, self.root);
        event["examples"] = json!([sample(&event, &self.files)]);
        let Value::Object(map) = event else { return };
        self.files.insert(path.to_owned(), crate::import::text::ordered(map));
    }

    pub(super) fn add_branch(&mut self, new: &Leaf, place: &FilePointer, olds: &[(FilePointer, Leaf)]) {
        if self.phase == Phase::Look || olds.is_empty() {
            return;
        }
        let adopted = match &new.name {
            Some(name) => json!({ "$ref": format!("../{}", type_file(&self.adopted_type(name))) }),
            None => self.adopted(&new.schema),
        };
        let holder = self.holder(place);
        let named = adopted.get("$ref").cloned();
        self.note(&holder, format!("also allows {}", named.unwrap_or_else(|| adopted["type"].clone())));
        self.edit(&holder, |schema| {
            if let Some(Value::Array(branches)) = schema.get_mut("anyOf") {
                let is_null = |branch: &Value| branch.get("type").is_some_and(|kind| kind == "null");
                let end = branches.iter().position(is_null).unwrap_or(branches.len());
                branches.insert(end, adopted);
                return;
            }
            let Value::Object(old) = schema.take() else { return };
            let (head, body): (serde_json::Map<_, _>, serde_json::Map<_, _>) =
                old.into_iter().partition(|(key, _)| HEAD.contains(&key.as_str()));
            let mut body = Value::Object(body);
            let mut nullable = false;
            if let Some(Value::Array(names)) = body.get("type").cloned() {
                body["type"] = names[0].clone();
                nullable = true;
            }
            let mut branches = vec![body, adopted];
            if nullable {
                branches.push(json!({ "type": "null" }));
            }
            *schema = Value::Object(head);
            schema["anyOf"] = json!(branches);
        });
    }
}

/// Keywords beside a union, which its branches do not have.
const HEAD: &[&str] = &["$schema", "$id", "description", "deprecated", "x-lifecycle", "default", "examples"];

/// A union of values and any string is an open enumeration.
fn open_enumeration(schema: &Value) -> Option<Value> {
    let branches = schema.get("anyOf")?.as_array()?;
    let leaves = || branches.iter().map(|schema| Leaf { name: None, schema: schema.clone() });
    let nullable = leaves().any(|leaf| leaf.kind() == Kind::Null);
    let mut strings = leaves().filter(|leaf| leaf.kind() != Kind::Null);
    if strings.clone().any(|leaf| leaf.kind() != Kind::String || leaf.schema.get("$ref").is_some())
        || strings.clone().all(|leaf| leaf.values().is_some())
    {
        return None;
    }
    let values: Vec<Value> = strings.clone().filter_map(|leaf| leaf.values()).flatten().collect();
    let only_values =
        strings.all(|leaf| leaf.values().is_some() || leaf.schema == json!({ "type": "string" }));
    if values.is_empty() || !only_values {
        return None;
    }
    let reason = todo("the document allows any string here: explain why a server may add values");
    let open = json!({ "type": "string", "enum": values, "x-open": reason });
    Some(if nullable { json!({ "anyOf": [open, { "type": "null" }] }) } else { open })
}

fn qualified(name: &str) -> String {
    let mut parts = name.rsplit("__");
    let last = parts.next().unwrap_or_default();
    let module = parts.next().unwrap_or_default();
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    module.split('_').filter(|word| !word.is_empty()).map(capital).collect::<String>() + last
}

fn with_description(schema: Value, id: &str, what: &str) -> Value {
    let mut schema = schema;
    schema["$id"] = json!(id);
    schema["description"] = json!(todo(what));
    let Value::Object(map) = schema else { return schema };
    crate::import::text::ordered(map)
}

//! Normalises unions: flattens nested ones, puts null last, and checks their discriminator.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::Normaliser;
use crate::import::pointer::Pointer;
use crate::import::schemas::{ANNOTATIONS, Result, referred, requires, values};
use crate::import::text::ordered;

/// A union of the document, which is checked when every schema is known.
pub(super) struct Union {
    pub(super) place: Pointer,
    pub(super) exclusive: bool,
    pub(super) discriminator: Option<Value>,
    pub(super) branches: Vec<Value>,
}

/// A `closed` union stays one even with a single branch.
pub(super) fn join(
    schemas: &mut Normaliser<'_>,
    place: &Pointer,
    branches: Vec<Value>,
    closed: bool,
) -> Result<Value> {
    let mut flat = Flat::default();
    for branch in branches {
        flat.add(branch);
    }
    let Flat { mut branches, null, mut defaults } = flat;
    if branches.len() == 1 && !closed {
        let only = branches.remove(0);
        return Ok(if null { nullable(only) } else { only });
    }
    if branches.is_empty() {
        return Ok(json!({ "type": "null" }));
    }
    defaults.dedup();
    if defaults.len() > 1 {
        schemas.note(place, "branches have different defaults; dropped all of them");
    }
    free_strings_last(schemas, &mut branches)?;
    if null {
        branches.push(json!({ "type": "null" }));
    }
    let mut out = Map::new();
    out.insert("anyOf".to_owned(), Value::Array(branches));
    if let [default] = defaults.as_slice() {
        out.insert("default".to_owned(), default.clone());
    }
    Ok(Value::Object(out))
}

#[derive(Default)]
struct Flat {
    branches: Vec<Value>,
    null: bool,
    defaults: Vec<Value>,
}

impl Flat {
    fn add(&mut self, branch: Value) {
        let Value::Object(mut map) = branch else { return };
        match map.get("type") {
            Some(Value::String(name)) if name == "null" => {
                self.null = true;
                return;
            }
            Some(Value::Array(names)) => {
                self.null = true;
                let name = names[0].clone();
                map.insert("type".to_owned(), name);
            }
            _ => {}
        }
        if let Some(Value::Array(inner)) = map.get("anyOf") {
            self.defaults.extend(map.get("default").cloned());
            for branch in inner.clone() {
                self.add(branch);
            }
            return;
        }
        if !self.branches.contains(&Value::Object(map.clone())) {
            self.branches.push(Value::Object(map));
        }
    }
}

pub(in crate::import) fn nullable(schema: Value) -> Value {
    let Value::Object(mut map) = schema else { return schema };
    if map.keys().all(|key| ANNOTATIONS.contains(&key.as_str())) {
        return Value::Object(map);
    }
    let absent = json!({ "type": "null" });
    if let Some(Value::Array(branches)) = map.get_mut("anyOf") {
        if !branches.contains(&absent) {
            branches.push(absent);
        }
        return Value::Object(map);
    }
    match map.get("type") {
        Some(Value::Array(_)) => return Value::Object(map),
        Some(Value::String(name)) if name == "null" => return Value::Object(map),
        Some(Value::String(name)) if !map.contains_key("enum") => {
            let names = json!([name, "null"]);
            map.insert("type".to_owned(), names);
            return Value::Object(map);
        }
        _ => {}
    }
    let mut out = Map::new();
    for keyword in ANNOTATIONS {
        out.extend(map.shift_remove(*keyword).map(|value| ((*keyword).to_owned(), value)));
    }
    out.insert("anyOf".to_owned(), json!([map, absent]));
    ordered(out)
}

/// A branch that allows any string would hide the enumerated values after it.
fn free_strings_last(schemas: &mut Normaliser<'_>, branches: &mut Vec<Value>) -> Result<()> {
    let Some(last_enum) = branches.iter().rposition(|branch| branch.get("enum").is_some()) else {
        return Ok(());
    };
    let mut late = Vec::new();
    for (index, branch) in branches.iter().enumerate().take(last_enum) {
        if takes_any_string(schemas, branch)? {
            late.push(index);
        }
    }
    let mut moved: Vec<Value> = late.iter().rev().map(|index| branches.remove(*index)).collect();
    let position = last_enum + 1 - moved.len();
    moved.reverse();
    branches.splice(position..position, moved);
    Ok(())
}

fn takes_any_string(schemas: &mut Normaliser<'_>, schema: &Value) -> Result<bool> {
    let schema = schemas.resolved(schema)?;
    if let Some(Value::Array(branches)) = schema.get("anyOf") {
        for branch in branches {
            if takes_any_string(schemas, branch)? {
                return Ok(true);
            }
        }
        return Ok(false);
    }
    Ok(schema.get("type").is_some_and(|kind| kind == "string") && schema.get("enum").is_none())
}

pub(super) fn only_type(schemas: &mut Normaliser<'_>, schema: &Value, kind: &str) -> Result<bool> {
    Ok(leaves(schemas, schema)?.iter().all(|leaf| match leaf.get("const") {
        Some(value) => value.is_string() && kind == "string",
        None => leaf.get("type").is_some_and(|found| found == kind),
    }))
}

fn leaves(schemas: &mut Normaliser<'_>, schema: &Value) -> Result<Vec<Value>> {
    let mut seen = BTreeSet::new();
    let mut out = Vec::new();
    let mut pending = vec![schema.clone()];
    while let Some(schema) = pending.pop() {
        if let Some(name) = schema.get("$ref").and_then(referred) {
            if seen.insert(name.to_owned()) {
                pending.push(schemas.named(name)?);
            }
        } else if let Some(Value::Array(branches)) = schema.get("anyOf") {
            pending.extend(branches.iter().rev().cloned());
        } else {
            out.push(schema);
        }
    }
    Ok(out)
}

/// Overlapping branches and a wrong discriminator are worth a remark.
pub(super) fn review(schemas: &mut Normaliser<'_>, union: &Union) -> Result<()> {
    if let Some(discriminator) = &union.discriminator {
        review_discriminator(schemas, union, discriminator)?;
    }
    if !union.exclusive {
        return Ok(());
    }
    let mut branches = Vec::new();
    for branch in &union.branches {
        branches.push(leaves(schemas, branch)?);
    }
    let name = |index: usize| label(&union.branches[index], index);
    let mut pairs = Vec::new();
    for (index, left) in branches.iter().enumerate() {
        for (other, right) in branches.iter().enumerate().skip(index + 1) {
            if left.iter().any(|l| right.iter().any(|r| !disjoint(l, r))) {
                pairs.push(format!("{} and {}", name(index), name(other)));
            }
        }
    }
    if !pairs.is_empty() {
        schemas.note(
            &union.place,
            format!("treated as anyOf, as a value can match two branches: {}", pairs.join(", ")),
        );
    }
    Ok(())
}

fn review_discriminator(schemas: &mut Normaliser<'_>, union: &Union, discriminator: &Value) -> Result<()> {
    let property = discriminator.get("propertyName").and_then(Value::as_str).unwrap_or("type");
    for (index, branch) in union.branches.iter().enumerate() {
        for leaf in leaves(schemas, branch)? {
            if values(&leaf["properties"][property]).is_none()
                && leaf.get("type").is_none_or(|kind| kind != "null")
            {
                let label = label(branch, index);
                schemas.note(
                    &union.place,
                    format!("{label} has no constant `{property}`, although it is the discriminator"),
                );
            }
        }
    }
    let Some(mapping) = discriminator.get("mapping").and_then(Value::as_object) else { return Ok(()) };
    for (value, target) in mapping {
        let name = target.as_str().and_then(|text| text.rsplit('/').next()).unwrap_or_default().to_owned();
        let target = json!({ "$ref": format!("../types/{name}.json") });
        let known = match schemas.named(&name) {
            Ok(_) => leaves(schemas, &target)?,
            Err(_) => Vec::new(),
        };
        if !known
            .iter()
            .any(|leaf| values(&leaf["properties"][property]).is_some_and(|set| set.contains(&json!(value))))
        {
            schemas.note(
                &union.place,
                format!(
                    "the discriminator maps \"{value}\" to {name}, but its `{property}` has another value"
                ),
            );
        }
    }
    Ok(())
}

fn label(branch: &Value, index: usize) -> String {
    branch.get("$ref").and_then(referred).map_or_else(|| format!("branch {index}"), str::to_owned)
}

fn disjoint(left: &Value, right: &Value) -> bool {
    if let (Some(left), Some(right)) = (values(left), values(right)) {
        return !left.iter().any(|value| right.contains(value));
    }
    let (left_types, right_types) = (types(left), types(right));
    if left_types.is_empty() || right_types.is_empty() {
        return false;
    }
    let shared: Vec<&&str> = left_types.iter().filter(|kind| right_types.contains(kind)).collect();
    match shared.as_slice() {
        [] => true,
        [kind] if **kind == "object" => told_apart(left, right),
        _ => false,
    }
}

/// Empty if the schema allows all types.
fn types(schema: &Value) -> Vec<&str> {
    let names = match (schema.get("const"), schema.get("type")) {
        (Some(Value::String(_)), _) => vec!["string"],
        (Some(Value::Bool(_)), _) => vec!["boolean"],
        (Some(Value::Number(_)), _) => vec!["number"],
        (_, Some(Value::String(name))) => vec![name.as_str()],
        (_, Some(Value::Array(names))) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    names.into_iter().map(|name| if name == "integer" { "number" } else { name }).collect()
}

fn told_apart(left: &Value, right: &Value) -> bool {
    let Some(properties) = left.get("properties").and_then(Value::as_object) else { return false };
    properties.iter().any(|(name, schema)| {
        let other = &right["properties"][name.as_str()];
        (requires(left, name) || requires(right, name))
            && matches!((values(schema), values(other)), (Some(a), Some(b)) if !a.iter().any(|value| b.contains(value)))
    })
}

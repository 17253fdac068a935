//! Values that a JSON Schema accepts: arguments of tools, and structured output.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    reason = "schemas have one kind of number, and what is out of range is tried and refused"
)]

use std::cell::Cell;

use serde_json::{Map, Value, json};

/// Maximum depth of a value. Below half of it, values are as small as they may be, so that recursive schemas end.
const DEPTH: usize = 16;
/// Maximum number of schemas that are tried for a value.
const STEPS: usize = 20_000;
/// Maximum number of members of an array.
const MEMBERS: u64 = 64;
/// Maximum length of a string.
const LENGTH: u64 = 4096;

pub(crate) fn value(schema: &Value) -> Value {
    let fitting = Fitting { root: schema, left: Cell::new(STEPS) };
    fitting.value(&[schema], 0).unwrap_or_default()
}

struct Fitting<'s> {
    root: &'s Value,
    left: Cell<usize>,
}

/// The schemas that a value must match together.
#[derive(Clone, Default)]
struct Joined<'s> {
    all: Vec<&'s Map<String, Value>>,
    /// Of each of these lists, a value matches at least one.
    choices: Vec<&'s Vec<Value>>,
    /// Whether one of them accepts nothing.
    is_never: bool,
}

impl<'s> Fitting<'s> {
    fn value(&self, schemas: &[&'s Value], depth: usize) -> Option<Value> {
        let mut joined = Joined::default();
        for schema in schemas {
            self.join(schema, &mut joined);
        }
        let fits = |value: &Value| schemas.iter().all(|schema| self.fits(schema, value, 0));
        self.chosen(joined, depth, &fits)
    }

    fn join(&self, schema: &'s Value, to: &mut Joined<'s>) {
        let members = match schema {
            Value::Object(members) => members,
            Value::Bool(false) => {
                to.is_never = true;
                return;
            }
            _ => return,
        };
        if to.all.iter().any(|known| std::ptr::eq(*known, members)) {
            return;
        }
        to.all.push(members);
        let all = members.get("allOf").and_then(Value::as_array).into_iter().flatten();
        for schema in all.chain(self.target(members)) {
            self.join(schema, to);
        }
        to.choices.extend(["anyOf", "oneOf"].iter().filter_map(|name| members.get(*name)?.as_array()));
    }

    fn target(&self, members: &Map<String, Value>) -> Option<&'s Value> {
        self.root.pointer(members.get("$ref")?.as_str()?.strip_prefix('#')?)
    }

    /// The value matches one branch of each choice.
    fn chosen(&self, mut joined: Joined<'s>, depth: usize, fits: &dyn Fn(&Value) -> bool) -> Option<Value> {
        let left = self.left.get().checked_sub(1)?;
        self.left.set(left);
        if joined.is_never || depth > DEPTH {
            return None;
        }
        let Some(branches) = joined.choices.pop() else {
            return self.candidates(&joined.all, depth).into_iter().find(fits);
        };
        // Null ends recursive schemas.
        let is_null = |branch: &&Value| branch.get("type").is_some_and(|kind| kind == "null");
        let first = branches.iter().filter(|branch| depth > DEPTH / 2 && is_null(branch));
        first.chain(branches).find_map(|branch| {
            let mut with = joined.clone();
            self.join(branch, &mut with);
            self.chosen(with, depth, fits)
        })
    }

    /// The first value that fits is taken.
    fn candidates(&self, all: &[&'s Map<String, Value>], depth: usize) -> Vec<Value> {
        if let Some(value) = all.iter().find_map(|schema| schema.get("const")) {
            return vec![value.clone()];
        }
        if let Some(values) = all.iter().find_map(|schema| schema.get("enum")?.as_array()) {
            return values.clone();
        }
        let mut found = Vec::new();
        for kind in kinds(all) {
            match kind {
                "object" => found.extend(self.object(all, depth)),
                "array" => found.extend(self.array(all, depth)),
                "string" => found.extend(strings(all)),
                "integer" | "number" => found.extend(numbers(all, kind == "integer")),
                "boolean" => found.extend([json!(true), json!(false)]),
                _ => found.push(Value::Null),
            }
        }
        found
    }

    /// All described properties are set, as long as the object is not deep.
    fn object(&self, all: &[&'s Map<String, Value>], depth: usize) -> Option<Value> {
        let required: Vec<&str> = all
            .iter()
            .filter_map(|schema| schema.get("required")?.as_array())
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let described = all.iter().filter_map(|schema| schema.get("properties")?.as_object());
        let described: Vec<&str> = described.flat_map(|all| all.keys()).map(String::as_str).collect();
        let most = bound(all, "maxProperties", f64::min).map_or(usize::MAX, |most| most as usize);
        let mut object = Map::new();
        let is_deep = depth > DEPTH / 2;
        let wanted = described.iter().filter(|name| !is_deep || required.contains(name));
        for name in wanted.chain(&required) {
            let is_required = required.contains(name);
            let is_full = object.len() >= most.max(required.len()) && !is_required;
            if object.contains_key(*name) || is_full {
                continue;
            }
            match self.property(all, name, depth) {
                Some(value) => drop(object.insert((*name).to_owned(), value)),
                None if is_required => return None,
                None => {}
            }
        }
        while object.len() > most
            && let Some(name) = object.keys().rfind(|name| !required.contains(&name.as_str())).cloned()
        {
            object.shift_remove(&name);
        }
        let least = bound(all, "minProperties", f64::max).unwrap_or(0.0).min(MEMBERS as f64) as usize;
        for number in 1..=least {
            let name = format!("member_{number}");
            if object.len() < least {
                object.insert(name.clone(), self.property(all, &name, depth)?);
            }
        }
        Some(Value::Object(object))
    }

    fn property(&self, all: &[&'s Map<String, Value>], name: &str, depth: usize) -> Option<Value> {
        let of = |schema: &&'s Map<String, Value>| {
            let own = schema.get("properties").and_then(|all| all.get(name));
            own.or_else(|| schema.get("additionalProperties"))
        };
        let schemas: Vec<&Value> = all.iter().filter_map(of).collect();
        self.value(&schemas, depth + 1)
    }

    fn array(&self, all: &[&'s Map<String, Value>], depth: usize) -> Option<Value> {
        let least = bound(all, "minItems", f64::max).unwrap_or(0.0).min(MEMBERS as f64) as usize;
        let most = bound(all, "maxItems", f64::min).map_or(usize::MAX, |most| most as usize);
        let contained = all.iter().filter_map(|schema| schema.get("contains"));
        let contained: Vec<&Value> = contained.collect();
        let is_unique = all.iter().any(|schema| schema.get("uniqueItems") == Some(&Value::Bool(true)));
        let wanted = least.max(usize::from(depth < DEPTH / 2 || !contained.is_empty())).min(most);
        let mut entries: Vec<Value> = Vec::new();
        for at in 0..wanted {
            let of = |schema: &&'s Map<String, Value>| {
                let tuple =
                    schema.get("prefixItems").or_else(|| schema.get("items").filter(|it| it.is_array()));
                tuple
                    .and_then(|tuple| tuple.get(at))
                    .or_else(|| schema.get("items").filter(|it| !it.is_array()))
            };
            let mut schemas: Vec<&Value> = all.iter().filter_map(of).collect();
            if at == 0 {
                schemas.extend(&contained);
            }
            let Some(value) = self.value(&schemas, depth + 1) else {
                if entries.len() < least {
                    return None;
                }
                break;
            };
            let other = || self.unlike(&entries, &value, &schemas);
            let value = if is_unique && entries.contains(&value) { other()? } else { value };
            entries.push(value);
        }
        Some(Value::Array(entries))
    }

    /// The new value is made of one of these, and is none of them.
    fn unlike(&self, entries: &[Value], value: &Value, schemas: &[&'s Value]) -> Option<Value> {
        let listed = schemas.iter().filter_map(|schema| schema.get("enum")?.as_array()).flatten().cloned();
        let next = (1..=MEMBERS).filter_map(|number| match value {
            Value::String(text) => Some(json!(format!("{text}{number}"))),
            Value::Number(_) => Some(json!(value.as_i64()? + i64::try_from(number).ok()?)),
            Value::Bool(is) => Some(json!(!is)),
            _ => None,
        });
        let fits = |value: &Value| schemas.iter().all(|schema| self.fits(schema, value, 0));
        listed.chain(next).find(|value| !entries.contains(value) && fits(value))
    }

    /// Knows only the keywords that this module knows.
    fn fits(&self, schema: &Value, value: &Value, depth: usize) -> bool {
        let members = match schema {
            Value::Object(members) if depth <= 4 * DEPTH => members,
            Value::Bool(is) => return *is,
            _ => return true,
        };
        members.iter().all(|(name, of)| self.keeps(members, name, of, value, depth + 1))
    }

    fn keeps(
        &self,
        members: &Map<String, Value>,
        name: &str,
        of: &Value,
        value: &Value,
        depth: usize,
    ) -> bool {
        let matches = |schema: &Value| self.fits(schema, value, depth);
        let branches = || of.as_array().into_iter().flatten();
        let number = value.as_f64().zip(of.as_f64());
        let count = of.as_f64().map(|count| count as usize);
        let within = |found: Option<usize>, is: fn(&usize, &usize) -> bool| {
            found.zip(count).is_none_or(|(found, count)| is(&found, &count))
        };
        let length = || value.as_str().map(|text| text.chars().count());
        let entries = || value.as_array();
        let properties = value.as_object();
        match name {
            "$ref" => self.target(members).is_none_or(matches),
            "allOf" => branches().all(matches),
            "anyOf" => branches().any(matches),
            "oneOf" => branches().filter(|schema| matches(schema)).count() == 1,
            "not" => !matches(of),
            "const" => equals(of, value),
            "enum" => branches().any(|known| equals(known, value)),
            "type" => match of {
                Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).any(|kind| is_of(kind, value)),
                kind => kind.as_str().is_none_or(|kind| is_of(kind, value)),
            },
            "minimum" => number.is_none_or(|(found, bound)| {
                found > bound || found == bound && members.get("exclusiveMinimum") != Some(&Value::Bool(true))
            }),
            "maximum" => number.is_none_or(|(found, bound)| {
                found < bound || found == bound && members.get("exclusiveMaximum") != Some(&Value::Bool(true))
            }),
            "exclusiveMinimum" => number.is_none_or(|(found, bound)| found > bound),
            "exclusiveMaximum" => number.is_none_or(|(found, bound)| found < bound),
            "multipleOf" => number.is_none_or(|(found, step)| (found / step).fract() == 0.0),
            "minLength" => within(length(), usize::ge),
            "maxLength" => within(length(), usize::le),
            "minItems" => within(entries().map(Vec::len), usize::ge),
            "maxItems" => within(entries().map(Vec::len), usize::le),
            "minProperties" => within(properties.map(Map::len), usize::ge),
            "maxProperties" => within(properties.map(Map::len), usize::le),
            "required" => properties
                .is_none_or(|all| branches().filter_map(Value::as_str).all(|name| all.contains_key(name))),
            "properties" => properties.is_none_or(|all| {
                all.iter().all(|(name, value)| of.get(name).is_none_or(|of| self.fits(of, value, depth)))
            }),
            "items" if !of.is_array() => entries().is_none_or(|all| {
                let tuple = members.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
                all.iter().skip(tuple).all(|value| self.fits(of, value, depth))
            }),
            _ => true,
        }
    }
}

/// In the order of the schemas.
fn kinds<'s>(all: &[&'s Map<String, Value>]) -> Vec<&'s str> {
    let named = |schema: &&'s Map<String, Value>| -> Option<Vec<&'s str>> {
        match schema.get("type")? {
            Value::Array(kinds) => Some(kinds.iter().filter_map(Value::as_str).collect()),
            kind => Some(vec![kind.as_str()?]),
        }
    };
    let mut named = all.iter().filter_map(named);
    if let Some(mut kinds) = named.next() {
        for others in named {
            let is_there =
                |kind: &str| others.contains(&kind) || kind == "integer" && others.contains(&"number");
            let wide = kinds.contains(&"number") && others.contains(&"integer");
            kinds.retain(|kind| is_there(kind));
            kinds.extend(wide.then_some("integer"));
        }
        return kinds;
    }
    let has = |names: &[&str]| all.iter().any(|schema| names.iter().any(|name| schema.contains_key(*name)));
    let usual = [
        ("object", &["properties", "required", "additionalProperties", "minProperties"][..]),
        ("array", &["items", "prefixItems", "minItems", "contains"]),
        ("string", &["minLength", "maxLength", "pattern", "format"]),
        ("number", &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]),
    ];
    let likely = usual.into_iter().filter(|(_, names)| has(names)).map(|(kind, _)| kind);
    likely.chain(["null", "string", "number", "boolean", "array", "object"]).collect()
}

fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        _ => true,
    }
}

fn equals(one: &Value, other: &Value) -> bool {
    one == other || one.as_f64().is_some_and(|number| other.as_f64() == Some(number))
}

fn bound(all: &[&Map<String, Value>], name: &str, strictest: fn(f64, f64) -> f64) -> Option<f64> {
    all.iter().filter_map(|schema| schema.get(name)?.as_f64()).reduce(strictest)
}

fn numbers(all: &[&Map<String, Value>], is_whole: bool) -> Vec<Value> {
    let low = [bound(all, "minimum", f64::max), bound(all, "exclusiveMinimum", f64::max)];
    let high = [bound(all, "maximum", f64::min), bound(all, "exclusiveMaximum", f64::min)];
    let low = low.into_iter().flatten().reduce(f64::max);
    let high = high.into_iter().flatten().reduce(f64::min);
    let steps = all.iter().filter_map(|schema| schema.get("multipleOf")?.as_f64()).filter(|step| *step > 0.0);
    let steps: Vec<f64> = steps.collect();
    let mut found = vec![7.0, 1.0, 0.0];
    for step in steps.iter().copied().chain(common(&steps)) {
        let from =
            low.map(|low| (low / step).ceil()).or_else(|| high.map(|high| (high / step).floor() - 2.0));
        found.extend((0..3).map(|number| (from.unwrap_or(1.0) + f64::from(number)) * step));
    }
    found.extend(low.into_iter().flat_map(|low| [low.ceil(), low.floor() + 1.0]));
    found.extend(high.into_iter().flat_map(|high| [high.floor(), high.ceil() - 1.0]));
    if !is_whole {
        let (low, high) = (low.or(high.map(|high| high - 1.0)), high.or(low.map(|low| low + 1.0)));
        found.extend(low.zip(high).map(|(low, high)| low.midpoint(high)));
        found.extend(low.into_iter().chain(high));
    }
    let number = |found: f64| {
        let is_exact = found.fract() == 0.0 && found.abs() < 9.0e15;
        if is_exact { json!(found as i64) } else { json!(found) }
    };
    // Bounds can be larger than what a float holds exactly.
    let bounds = ["minimum", "maximum"].into_iter();
    let exact = bounds.flat_map(|name| all.iter().filter_map(move |schema| schema.get(name).cloned()));
    found.into_iter().map(number).chain(exact.filter(Value::is_number)).collect()
}

fn common(steps: &[f64]) -> Option<f64> {
    let whole: Vec<u64> = steps.iter().filter(|step| step.fract() == 0.0).map(|step| *step as u64).collect();
    let divisor = |mut one: u64, mut other: u64| {
        while other > 0 {
            (one, other) = (other, one % other);
        }
        one
    };
    let multiple = |one: u64, other: u64| one.checked_mul(other / divisor(one, other).max(1));
    whole.into_iter().try_fold(1, multiple).map(|all| all as f64)
}

fn strings(all: &[&Map<String, Value>]) -> Vec<Value> {
    let text = match all.iter().find_map(|schema| schema.get("format")?.as_str()) {
        Some("date") => "2026-01-15",
        Some("date-time") => "2026-01-15T12:00:00Z",
        Some("time") => "12:00:00Z",
        Some("email") => "ada@example.org",
        Some("uri") => "https://example.org/",
        Some("uuid") => "550e8400-e29b-41d4-a716-446655440000",
        _ => "Oslo",
    };
    let least = bound(all, "minLength", f64::max).unwrap_or(0.0).min(LENGTH as f64) as usize;
    let most = bound(all, "maxLength", f64::min).map_or(usize::MAX, |most| most as usize);
    let missing = least.saturating_sub(text.chars().count());
    let text: String = text.chars().chain(std::iter::repeat_n('o', missing)).take(most).collect();
    vec![json!(text), json!("a"), json!("")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_small_and_within_bounds() {
        for (schema, expected) in [
            (
                json!({"type": "integer", "minimum": -9_007_199_254_740_991_i64, "exclusiveMinimum": 0}),
                json!(7),
            ),
            (json!({"allOf": [{"type": "integer"}, {"exclusiveMinimum": 0}]}), json!(7)),
            (json!({"type": "number"}), json!(7)),
            (json!({"type": "integer", "minimum": 0, "maximum": 3}), json!(1)),
            (json!({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}), json!(0.5)),
            (json!({"type": "integer", "minimum": 10, "exclusiveMinimum": true, "maximum": 11}), json!(11)),
            (
                json!({"type": "integer", "multipleOf": 4, "allOf": [{"multipleOf": 6}, {"minimum": 20}]}),
                json!(24),
            ),
            (json!({"type": ["string", "null"], "maxLength": 2}), json!("Os")),
            (json!({"type": "string", "enum": ["a", "b"], "not": {"const": "a"}}), json!("b")),
            (
                json!({"type": "array", "items": {"type": "integer"}, "minItems": 2, "uniqueItems": true}),
                json!([7, 8]),
            ),
            (
                json!({"oneOf": [{"minimum": 5}, {"type": "integer", "minimum": 7}], "type": "integer", "maximum": 7}),
                json!(null),
            ),
        ] {
            if !expected.is_null() {
                assert_eq!(value(&schema), expected, "{schema}");
            }
        }
        let schema = json!({"$defs": {"node": {"type": "object", "required": ["next"], "properties": {
            "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}}}}, "$ref": "#/$defs/node"});
        assert!(value(&schema).is_object());
        let endless = json!({"$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}], "type": "string"}}, "$ref": "#/$defs/a"});
        assert_eq!(value(&endless), json!("Oslo"));
    }

    /// A source of numbers that are the same in each run.
    struct Dice(u64);

    impl Dice {
        fn roll(&mut self, most: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % most
        }

        fn is(&mut self, one_of: u64) -> bool {
            self.roll(one_of) == 0
        }

        fn whole(&mut self) -> i64 {
            i64::try_from(self.roll(60)).unwrap() - 20
        }

        fn value(&mut self, depth: u64) -> Value {
            match self.roll(if depth > 2 { 5 } else { 7 }) {
                0 => Value::Null,
                1 => json!(self.is(2)),
                2 => json!(self.whole()),
                3 => json!(self.whole() as f64 / 4.0),
                4 => json!(["", "a", "Oslo", "longer than that"][usize::try_from(self.roll(4)).unwrap()]),
                5 => (0..self.roll(4)).map(|_| self.value(depth + 1)).collect(),
                _ => (0..self.roll(4)).map(|at| (format!("p{at}"), self.value(depth + 1))).collect(),
            }
        }

        /// Returns a schema that accepts a value, and others.
        fn schema(&mut self, value: &Value, depth: u64) -> Value {
            let mut schema = Map::new();
            let mut add = |name: &str, value: Value| drop(schema.insert(name.to_owned(), value));
            match self.roll(12) {
                0 => return json!({"const": value}),
                1 => return json!({"enum": [self.value(2), value]}),
                2 if depth < 4 => {
                    return json!({"allOf": [self.schema(value, depth + 1), self.schema(value, depth + 1)]});
                }
                3 if depth < 4 => {
                    let other = self.value(2);
                    let branches = [self.schema(&other, depth + 1), self.schema(value, depth + 1)];
                    return json!({"anyOf": branches});
                }
                _ => {}
            }
            match value {
                Value::Null => add("type", json!("null")),
                Value::Bool(_) => add("type", json!("boolean")),
                Value::Number(_) => {
                    let number = value.as_f64().unwrap();
                    add("type", json!(if value.is_i64() && self.is(2) { "integer" } else { "number" }));
                    let near = [0.0, 0.25, 1.0, 30.0];
                    let mut gap = || near[usize::try_from(self.roll(4)).unwrap()];
                    let bounds = [gap(), gap(), gap() + 0.25, gap() + 0.25];
                    let names = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
                    for (name, gap) in names.into_iter().zip(bounds) {
                        let sign = if name.ends_with("inimum") { -1.0 } else { 1.0 };
                        if self.is(2) {
                            add(name, json!(number + sign * gap));
                        }
                    }
                    if number.fract() == 0.0 && number != 0.0 && self.is(3) {
                        add("multipleOf", json!(number.abs()));
                    }
                }
                Value::String(text) => {
                    add("type", json!("string"));
                    let length = text.chars().count() as u64;
                    if self.is(2) {
                        add("minLength", json!(length.saturating_sub(self.roll(3))));
                    }
                    if self.is(2) {
                        add("maxLength", json!(length + self.roll(3)));
                    }
                }
                Value::Array(entries) => {
                    add("type", json!("array"));
                    if self.is(2) {
                        add("minItems", json!(entries.len()));
                    }
                    if self.is(2) {
                        add("maxItems", json!(entries.len()));
                    }
                    let tuple: Vec<Value> =
                        entries.iter().map(|entry| self.schema(entry, depth + 1)).collect();
                    if self.is(2) && !tuple.is_empty() {
                        add("prefixItems", json!(tuple));
                    } else if !tuple.is_empty() {
                        add("items", json!({"anyOf": tuple}));
                    }
                }
                Value::Object(members) => {
                    add("type", json!("object"));
                    let of: Map<String, Value> = members
                        .iter()
                        .map(|(name, value)| (name.clone(), self.schema(value, depth + 1)))
                        .collect();
                    add("properties", Value::Object(of));
                    let required: Vec<&String> = members.keys().filter(|_| self.is(2)).collect();
                    add("required", json!(required));
                    if self.is(2) {
                        add("additionalProperties", json!(false));
                    }
                    if self.is(3) {
                        add("maxProperties", json!(members.len()));
                    }
                }
            }
            Value::Object(schema)
        }
    }

    #[test]
    fn values_match_their_schemas() {
        let mut dice = Dice(1);
        for number in 0..4000 {
            let wanted = dice.value(0);
            let schema = dice.schema(&wanted, 0);
            assert!(jsonschema::is_valid(&schema, &wanted), "{number}: {schema}");
            let found = value(&schema);
            assert!(
                jsonschema::is_valid(&schema, &found),
                "{number}: {found} for {schema}, such as {wanted}"
            );
        }
    }
}

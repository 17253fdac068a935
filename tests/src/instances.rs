//! Values generated from a schema: valid ones, and ones with a single fault.

use codegen::schema::{Additional, Array, Kind, Object, Pattern, Range, Registry, Schema, StringRules};
use serde_json::{Map, Value, json};

/// A value, its description, and whether it is valid.
#[derive(Debug, Clone)]
pub struct Instance {
    /// The variation: a path, and what differs there.
    pub what: String,
    /// The value.
    pub value: Value,
    /// Whether it is valid; `None` if another branch of a union may accept it.
    pub fits: Option<bool>,
}

/// Makes values that fit a schema, and those around them.
#[derive(Debug)]
pub struct Instances<'d> {
    registry: Registry<'d>,
}

/// Named types are shown whole where they are the subject, and once in all other places.
const NEAR: usize = 1;
/// Optional members that lead further are left out: some types hold themselves.
const DEEP: usize = 4;

impl<'d> Instances<'d> {
    /// Creates a generator for the schemas of a dialect.
    pub const fn new(registry: Registry<'d>) -> Self {
        Self { registry }
    }

    /// Returns a value without optional parts.
    pub fn least(&self, schema: &Schema) -> Value {
        self.example(schema, DEEP)
    }

    /// Returns a value with all optional parts.
    pub fn full(&self, schema: &Schema) -> Value {
        self.example(schema, 0)
    }

    /// Values around a schema: the least, the full, and those that differ from the full one in one place.
    pub fn around(&self, schema: &Schema) -> Vec<Instance> {
        let mut found =
            vec![instance("least", self.least(schema), true), instance("full", self.full(schema), true)];
        self.vary(schema, 0, &mut found);
        found
    }

    fn example(&self, schema: &Schema, depth: usize) -> Value {
        match self.registry.resolve(schema) {
            Schema::Any | Schema::Ref(_) => json!({ "any": [1, "value"] }),
            Schema::Null => Value::Null,
            Schema::Boolean => json!(true),
            Schema::String(rules) => json!(text(rules)),
            Schema::Integer(range) => whole(range.minimum.or(range.maximum).unwrap_or(7.0)),
            Schema::Number(range) => json!(range.minimum.or(range.maximum).unwrap_or(0.25)),
            Schema::Const(value) => value.clone(),
            Schema::Enum(values) | Schema::OpenEnum(values) => json!(values[0]),
            Schema::Array(array) => {
                let least = usize::try_from(array.min_items.unwrap_or(0)).unwrap_or_default();
                let entries = if depth < DEEP { least.max(1) } else { least };
                (0..entries).map(|_| self.example(&array.items, depth + 1)).collect()
            }
            Schema::Object(object) => self.object(object, depth),
            Schema::Nullable(inner) => {
                if depth < DEEP {
                    self.example(inner, depth)
                } else {
                    Value::Null
                }
            }
            Schema::Union(branches) => self.example(&branches[0], depth),
        }
    }

    fn object(&self, object: &Object, depth: usize) -> Value {
        let wanted = object.properties.iter().filter(|property| {
            property.required || depth < DEEP && !is_impossible(self.registry.resolve(&property.schema))
        });
        let mut members: Map<String, Value> = wanted
            .map(|property| (property.name.clone(), self.example(&property.schema, depth + 1)))
            .collect();
        if let Additional::Typed(values) = &object.additional
            && depth < DEEP
        {
            members.insert("key".to_owned(), self.example(values, depth + 1));
        }
        Value::Object(members)
    }

    fn vary(&self, schema: &Schema, depth: usize, found: &mut Vec<Instance>) {
        let resolved = self.registry.resolve(schema);
        let kinds = self.registry.kinds(resolved);
        for (kind, value) in of_every_kind() {
            if !kinds.has(kind) {
                found.push(instance(&format!("{kind:?} in its place"), value, false));
            }
        }
        let far = matches!(schema, Schema::Ref(_)) && depth > NEAR;
        match resolved {
            Schema::Nullable(inner) => {
                found.push(instance("null", Value::Null, true));
                self.vary_known(inner, depth, far, found);
            }
            other => self.vary_known(other, depth, far, found),
        }
    }

    fn vary_known(&self, schema: &Schema, depth: usize, far: bool, found: &mut Vec<Instance>) {
        match self.registry.resolve(schema) {
            Schema::Boolean => found.push(instance("false", json!(false), true)),
            Schema::String(rules) => vary_text(rules, found),
            Schema::Integer(range) => vary_number(range, true, found),
            Schema::Number(range) => vary_number(range, false, found),
            Schema::Const(_) => found.push(instance("another constant", json!("no_such_value"), false)),
            Schema::Enum(values) => {
                found.extend(values.iter().map(|value| instance(value, json!(value), true)));
                found.push(instance("another value", json!("no_such_value"), false));
                found.push(instance("no value", json!(""), values.iter().any(String::is_empty)));
            }
            Schema::OpenEnum(values) => {
                found.extend(values.iter().map(|value| instance(value, json!(value), true)));
                found.push(instance("a newer value", json!("no_such_value"), true));
            }
            Schema::Array(array) => self.vary_array(array, depth, far, found),
            Schema::Object(object) => self.vary_object(object, depth, far, found),
            Schema::Union(branches) => self.vary_union(branches, depth, far, found),
            _ => {}
        }
    }

    fn vary_union(&self, branches: &[Schema], depth: usize, far: bool, found: &mut Vec<Instance>) {
        for (number, branch) in branches.iter().enumerate() {
            found.push(instance(&format!("branch {number}"), self.example(branch, depth), true));
            found.push(instance(&format!("branch {number}, least"), self.least(branch), true));
            if far {
                continue;
            }
            let mut around = Vec::new();
            self.vary(branch, depth + 1, &mut around);
            found.extend(around.into_iter().map(|mut around| {
                around.fits = around.fits.filter(|fits| *fits);
                around.what = format!("branch {number}/{}", around.what);
                around
            }));
        }
    }

    fn vary_array(&self, array: &Array, depth: usize, far: bool, found: &mut Vec<Instance>) {
        let entry = self.example(&array.items, depth + 1);
        let entries = |count: u64| Value::Array((0..count).map(|_| entry.clone()).collect());
        let allowed = |count: u64| {
            array.min_items.is_none_or(|least| count >= least)
                && array.max_items.is_none_or(|most| count <= most)
        };
        let mut counts = vec![0, 1, 2];
        counts.extend(
            array
                .min_items
                .into_iter()
                .chain(array.max_items)
                .flat_map(|limit| [limit.saturating_sub(1), limit, limit + 1]),
        );
        for count in counts {
            found.push(instance(&format!("{count} entries"), entries(count), allowed(count)));
        }
        if far {
            return;
        }
        let mut around = Vec::new();
        self.vary(&array.items, depth + 1, &mut around);
        let filler = usize::try_from(array.min_items.unwrap_or(0)).unwrap_or_default().max(2) - 1;
        found.extend(around.into_iter().map(|around| {
            let mut list = vec![entry.clone(); filler];
            list.push(around.value);
            let fits = around.fits.map(|fits| fits && allowed(list.len() as u64));
            Instance { what: format!("{filler}/{}", around.what), value: Value::Array(list), fits }
        }));
    }

    fn vary_object(&self, object: &Object, depth: usize, far: bool, found: &mut Vec<Instance>) {
        let Value::Object(full) = self.object(object, depth) else { return };
        let with = |name: &str, value: Value| {
            let mut members = full.clone();
            members.insert(name.to_owned(), value);
            Value::Object(members)
        };
        found.push(instance("empty", json!({}), object.properties.iter().all(|property| !property.required)));
        let more = match &object.additional {
            Additional::Open => Some(true),
            Additional::Closed => Some(false),
            // Whether it fits depends on the kind of all of them.
            Additional::Typed(_) => None,
        };
        let fits =
            if object.property_names.is_none() && object.max_properties.is_none() { more } else { None };
        found.push(Instance {
            what: "one more member".into(),
            value: with("no_such_member", json!([1])),
            fits,
        });
        found.push(Instance {
            what: "a long name".into(),
            value: with(&"n".repeat(65), json!("x")),
            fits: None,
        });
        if let Some(most) = object.max_properties {
            let members: Map<String, Value> =
                (0..=most).map(|number| (format!("k{number}"), json!("x"))).collect();
            found.push(instance("too many members", Value::Object(members), false));
        }
        if far {
            return;
        }
        for property in &object.properties {
            let name = &property.name;
            let mut without = full.clone();
            if without.shift_remove(name).is_some() {
                found.push(instance(&format!("no {name}"), Value::Object(without), !property.required));
            }
            let mut around = Vec::new();
            self.vary(&property.schema, depth + 1, &mut around);
            found.extend(around.into_iter().map(|around| Instance {
                what: format!("{name}/{}", around.what),
                value: with(name, around.value),
                fits: around.fits,
            }));
        }
        if let Additional::Typed(values) = &object.additional {
            let mut around = Vec::new();
            self.vary(values, depth + 1, &mut around);
            found.extend(around.into_iter().map(|around| Instance {
                what: format!("(any)/{}", around.what),
                value: with("key", around.value),
                fits: around.fits,
            }));
        }
    }
}

fn instance(what: &str, value: Value, fits: bool) -> Instance {
    Instance { what: what.to_owned(), value, fits: Some(fits) }
}

fn of_every_kind() -> [(Kind, Value); 6] {
    [
        (Kind::Null, Value::Null),
        (Kind::Boolean, json!(true)),
        (Kind::Number, json!(7)),
        (Kind::String, json!("text")),
        (Kind::Array, json!([])),
        (Kind::Object, json!({})),
    ]
}

/// Returns whether a schema is unsatisfiable. Schemas forbid a property by a string with contradictory lengths.
fn is_impossible(schema: &Schema) -> bool {
    matches!(schema, Schema::String(StringRules { min_length: Some(least), max_length: Some(most), .. }) if least > most)
}

fn size(limit: Option<u64>) -> Option<usize> {
    limit.and_then(|limit| usize::try_from(limit).ok())
}

fn text(rules: &StringRules) -> String {
    let least = size(rules.min_length).unwrap_or(0);
    if let Some(Pattern { prefix, class, count, .. }) = &rules.pattern {
        let count = size(*count).unwrap_or(least.max(1));
        return format!("{prefix}{}", class[0].0.to_string().repeat(count));
    }
    let length = least.max(4).min(size(rules.max_length).unwrap_or(usize::MAX));
    "text".chars().cycle().take(length).collect()
}

fn vary_text(rules: &StringRules, found: &mut Vec<Instance>) {
    if is_impossible(&Schema::String(rules.clone())) {
        found.extend(["", "a"].map(|text| instance("impossible", json!(text), false)));
        return;
    }
    let good = text(rules);
    let least = size(rules.min_length).unwrap_or(0);
    found.push(instance("no text", json!(""), least == 0 && rules.pattern.is_none()));
    if least > 0 {
        found.push(instance("too short", json!("é".repeat(least - 1)), false));
    }
    // Greater limits are not worth their megabytes.
    if let Some(most) = size(rules.max_length).filter(|most| *most <= 100_000) {
        found.push(instance("too long", json!("é".repeat(most + 1)), false));
        if rules.pattern.is_none() {
            found.push(instance("longest", json!("é".repeat(most)), true));
        }
    }
    if rules.pattern.is_some() {
        found.push(instance("outside of the class", json!(format!("{good}é")), false));
        found.push(instance("a line break at the end", json!(format!("{good}\n")), false));
    }
}

fn vary_number(range: &Range, integral: bool, found: &mut Vec<Instance>) {
    let within = |value: f64| {
        range.minimum.is_none_or(|least| value >= least) && range.maximum.is_none_or(|most| value <= most)
    };
    for limit in range.minimum.into_iter().chain(range.maximum) {
        for value in [limit - 1.0, limit, limit + 1.0] {
            found.push(instance(&format!("{value}"), whole(value), within(value)));
        }
    }
    for value in [-1.0, 0.0, 5.0, 1e300] {
        found.push(instance(&format!("{value:?} as a fraction"), json!(value), within(value)));
    }
    found.push(instance("a fraction", json!(1.5), !integral && within(1.5)));
}

/// Returns a number without a fraction, if it has none.
fn whole(value: f64) -> Value {
    let written = format!("{value}");
    serde_json::from_str(&written).unwrap_or(json!(value))
}

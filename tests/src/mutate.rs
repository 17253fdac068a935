//! Values that are nearly right: a valid one, with something done to it somewhere.

use codegen::dialect::Dialect;
use codegen::schema::{Additional, Schema};
use serde_json::{Map, Value, json};

use crate::random::Xorshift;
use crate::write::{Style, write};

/// Makes mutants, the same ones in every run.
#[derive(Debug)]
pub struct Mutator {
    random: Xorshift,
    words: Vec<String>,
    names: Vec<String>,
}

impl Mutator {
    /// Creates a mutator that uses the words and names of a dialect, so that mutants often have a meaning elsewhere.
    pub fn new(dialect: &Dialect, seed: u64) -> Self {
        let (mut words, mut names) = (Vec::new(), Vec::new());
        let events = dialect.events.values().map(|event| &event.schema);
        for schema in events.chain(dialect.types.values()) {
            collect(schema, &mut words, &mut names);
        }
        for list in [&mut words, &mut names] {
            list.sort();
            list.dedup();
        }
        Self { random: Xorshift::new(seed), words, names }
    }

    /// Returns its random generator.
    pub const fn random(&mut self) -> &mut Xorshift {
        &mut self.random
    }

    /// Returns a mutant of a value as text.
    pub fn mutant(&mut self, value: &Value) -> String {
        let mut mutant = value.clone();
        let steps = *self.random.pick(&[1, 1, 1, 1, 2, 3]);
        for _ in 0..steps {
            self.step(&mut mutant);
        }
        let style = Style::any(&mut self.random);
        write(&mutant, style, &mut self.random)
    }

    fn step(&mut self, root: &mut Value) {
        let count = count(root);
        let at = if count > 1 { 1 + self.random.below(count - 1) } else { 0 };
        match self.random.below(14) {
            0..=2 => self.change_container(root, at),
            3 => {
                let other = node(root, &mut self.random.below(count)).cloned().unwrap_or_default();
                put(root, at, other);
            }
            4 => {
                let other_at = self.random.below(count);
                let other = node(root, &mut other_at.clone()).cloned().unwrap_or_default();
                if let Some(here) = node_mut(root, &mut at.clone()) {
                    let here = std::mem::replace(here, other);
                    // Inside one another they cannot be swapped; the one place then holds both.
                    put(root, other_at.max(1), here);
                }
            }
            5 => put(root, at, Value::Null),
            6 => {
                let any = self.any();
                put(root, at, any);
            }
            _ => {
                let Some(here) = node(root, &mut at.clone()) else { return };
                let new = self.near(here);
                put(root, at, new);
            }
        }
    }

    /// Drops, adds, renames or repeats something in the container at, or around, a place.
    fn change_container(&mut self, root: &mut Value, at: usize) {
        let is_container =
            |at: usize| matches!(node(root, &mut at.clone()), Some(Value::Object(_) | Value::Array(_)));
        let around =
            |random: &mut Xorshift| (0..8).map(|_| random.below(count(root))).find(|at| is_container(*at));
        let at = if is_container(at) { at } else { around(&mut self.random).unwrap_or(0) };
        match node_mut(root, &mut at.clone()) {
            Some(Value::Array(entries)) if !entries.is_empty() => {
                let which = self.random.below(entries.len());
                match self.random.below(4) {
                    0 => drop(entries.remove(which)),
                    1 => entries.clear(),
                    2 => entries.push(self.any()),
                    _ => {
                        let repeated = entries[which].clone();
                        let times = *self.random.pick(&[1, 1, 20]);
                        entries.extend(std::iter::repeat_n(repeated, times));
                    }
                }
            }
            Some(Value::Array(entries)) => entries.push(self.any()),
            Some(Value::Object(members)) => self.change_members(members),
            _ => {}
        }
    }

    fn change_members(&mut self, members: &mut Map<String, Value>) {
        let which = (!members.is_empty()).then(|| self.random.below(members.len()));
        let name = which.and_then(|which| members.keys().nth(which).cloned()).unwrap_or_default();
        match self.random.below(5) {
            0 | 1 => drop(members.shift_remove(&name)),
            2 => drop(members.insert(self.name(), self.any())),
            3 => {
                if let Some(value) = members.shift_remove(&name) {
                    members.insert(self.name(), value);
                }
            }
            _ => {
                for number in 0..20 {
                    members.insert(format!("more {number}"), json!("x"));
                }
            }
        }
    }

    fn name(&mut self) -> String {
        match self.random.below(4) {
            0 => (*self.random.pick(&["", "extra", "Type", "a/b~c", "näme", "\u{1}"])).to_owned(),
            1 => "n".repeat(65),
            _ => self.random.pick(&self.names).clone(),
        }
    }

    /// Returns a value of the same kind, at its limits or beyond them.
    fn near(&mut self, value: &Value) -> Value {
        match value {
            Value::Number(_) => self.number(),
            Value::String(text) => self.text(text),
            Value::Bool(flag) => json!(!flag),
            Value::Array(_) => self.random.pick(&[json!([]), json!([[]]), json!([null]), json!({})]).clone(),
            Value::Object(_) => self.random.pick(&[json!({}), json!([]), json!({"type": ""})]).clone(),
            Value::Null => self.any(),
        }
    }

    fn number(&mut self) -> Value {
        let numbers = [
            json!(0),
            json!(1),
            json!(-1),
            json!(2),
            json!(5.0),
            json!(5.5),
            json!(0.5),
            json!(-0.0),
            json!(20),
            json!(21),
            json!(100),
            json!(128),
            json!(1e3),
            json!(1e300),
            json!(-1e300),
            json!(5e-324),
            json!(i64::MIN),
            json!(u64::MAX),
            json!(9_007_199_254_740_993_u64),
        ];
        self.random.pick(&numbers).clone()
    }

    fn text(&mut self, now: &str) -> Value {
        match self.random.below(10) {
            0 => json!(""),
            1 => json!("no_such_value"),
            2 => json!("x".repeat(*self.random.pick(&[63, 64, 65, 512, 513, 2_000]))),
            3 => json!("é😀".repeat(*self.random.pick(&[16, 32, 33]))),
            4 => json!(format!("{now}x")),
            5 => json!(now.to_uppercase()),
            6 => json!("a \"quoted\" \\ line\n\u{1}\u{7f}\u{fffd}😀"),
            _ => json!(self.random.pick(&self.words)),
        }
    }

    fn any(&mut self) -> Value {
        match self.random.below(8) {
            0 => Value::Null,
            1 => json!(true),
            2 => self.number(),
            3 => json!([]),
            4 => json!({}),
            5 => json!([{ "type": self.random.pick(&self.words) }]),
            6 => json!({ "type": self.random.pick(&self.words) }),
            _ => self.text("x"),
        }
    }
}

fn collect(schema: &Schema, words: &mut Vec<String>, names: &mut Vec<String>) {
    match schema {
        Schema::Const(Value::String(word)) => words.push(word.clone()),
        Schema::Enum(of) | Schema::OpenEnum(of) => words.extend(of.iter().cloned()),
        Schema::Array(array) => collect(&array.items, words, names),
        Schema::Nullable(inner) => collect(inner, words, names),
        Schema::Union(branches) => branches.iter().for_each(|branch| collect(branch, words, names)),
        Schema::Object(object) => {
            for property in &object.properties {
                names.push(property.name.clone());
                collect(&property.schema, words, names);
            }
            if let Additional::Typed(values) = &object.additional {
                collect(values, words, names);
            }
        }
        _ => {}
    }
}

/// Returns the number of values in a value, including itself.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(entries) => entries.iter().map(count).sum(),
        Value::Object(members) => members.values().map(count).sum(),
        _ => 0,
    }
}

/// Returns the value at a position, counted in preorder.
fn node<'v>(value: &'v Value, at: &mut usize) -> Option<&'v Value> {
    if *at == 0 {
        return Some(value);
    }
    *at -= 1;
    match value {
        Value::Array(entries) => entries.iter().find_map(|entry| node(entry, at)),
        Value::Object(members) => members.values().find_map(|member| node(member, at)),
        _ => None,
    }
}

fn node_mut<'v>(value: &'v mut Value, at: &mut usize) -> Option<&'v mut Value> {
    if *at == 0 {
        return Some(value);
    }
    *at -= 1;
    match value {
        Value::Array(entries) => entries.iter_mut().find_map(|entry| node_mut(entry, at)),
        Value::Object(members) => members.values_mut().find_map(|member| node_mut(member, at)),
        _ => None,
    }
}

fn put(root: &mut Value, at: usize, new: Value) {
    if let Some(place) = node_mut(root, &mut at.clone()) {
        *place = new;
    }
}

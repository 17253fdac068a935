//! A schema as the set of values that it allows, by kind, with references and unions resolved.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::schema::{Array, Object, Range, Schema, StringRules};

use super::side::{Node, Side};

/// The values that a schema allows.
#[derive(Debug, Default)]
pub(super) struct Shape<'d> {
    pub(super) any: bool,
    pub(super) null: bool,
    pub(super) booleans: Scalars<'d, ()>,
    pub(super) strings: Scalars<'d, &'d StringRules>,
    pub(super) numbers: Scalars<'d, Number<'d>>,
    pub(super) arrays: Vec<(&'d Array, Node<'d>)>,
    pub(super) objects: Vec<Variant<'d>>,
    /// Named types, other than single objects, that it consists of.
    pub(super) parts: Vec<&'d str>,
}

/// Values of one scalar kind.
#[derive(Debug)]
pub(super) struct Scalars<'d, R> {
    /// The limits of open values, if any value of the kind is allowed. Unions can have more than one.
    pub(super) open: Vec<R>,
    pub(super) known: Vec<Value>,
    pub(super) formats: BTreeSet<&'d str>,
}

impl<R> Default for Scalars<'_, R> {
    fn default() -> Self {
        Self { open: Vec::new(), known: Vec::new(), formats: BTreeSet::new() }
    }
}

impl<R> Scalars<'_, R> {
    pub(super) const fn is_empty(&self) -> bool {
        self.open.is_empty() && self.known.is_empty()
    }

    fn name(&mut self, value: Value) {
        if !self.known.contains(&value) {
            self.known.push(value);
        }
    }
}

/// Numbers of any value within limits.
#[derive(Debug)]
pub(super) struct Number<'d> {
    pub(super) integer: bool,
    pub(super) range: &'d Range,
}

#[derive(Debug)]
pub(super) struct Variant<'d> {
    pub(super) object: &'d Object,
    pub(super) node: Node<'d>,
    /// Properties with enumerated strings.
    pub(super) tags: Vec<(&'d str, Vec<String>)>,
}

impl Side {
    pub(super) fn describe(&self, node: Node<'_>) -> String {
        Shape::of(self, node, &[]).describe()
    }
}

impl<'d> Shape<'d> {
    pub(super) fn of(side: &'d Side, node: Node<'d>, without: &[&str]) -> Self {
        let mut shape = Self { null: side.nullable(node.schema), ..Self::default() };
        shape.collect(side, node, without, &mut Vec::new());
        shape
    }

    fn collect(&mut self, side: &'d Side, node: Node<'d>, without: &[&str], open: &mut Vec<&'d str>) {
        for branch in node.branches() {
            let format = branch.json.get("format").and_then(Value::as_str);
            match branch.schema {
                Schema::Any => self.any = true,
                Schema::Null | Schema::Nullable(_) | Schema::Union(_) => {}
                Schema::Boolean => self.booleans.open.push(()),
                Schema::String(rules) => {
                    self.strings.open.push(rules);
                    self.strings.formats.extend(format);
                }
                Schema::Integer(range) | Schema::Number(range) => {
                    let integer = matches!(branch.schema, Schema::Integer(_));
                    self.numbers.open.push(Number { integer, range });
                    self.numbers.formats.extend(format);
                }
                Schema::Const(value) => match value {
                    Value::Bool(_) => self.booleans.name(value.clone()),
                    Value::Number(_) => self.numbers.name(value.clone()),
                    _ => self.strings.name(value.clone()),
                },
                Schema::Enum(values) | Schema::OpenEnum(values) => {
                    for value in values {
                        self.strings.name(Value::from(value.as_str()));
                    }
                }
                Schema::Array(array) => self.arrays.push((array, branch)),
                Schema::Object(object) => {
                    let tags = object.properties.iter().filter_map(|property| {
                        Some((property.name.as_str(), side.strings(&property.schema)?))
                    });
                    self.objects.push(Variant { object, node: branch, tags: tags.collect() });
                }
                Schema::Ref(name) if without.contains(&name.as_str()) || open.contains(&name.as_str()) => {}
                Schema::Ref(name) => {
                    if let Some(target) = side.named(name) {
                        if !is_object(target) {
                            self.parts.push(name);
                        }
                        open.push(name);
                        self.collect(side, target, without, open);
                        open.pop();
                    }
                }
            }
        }
    }

    pub(super) fn describe(&self) -> String {
        let null = (self.null && !self.any).then_some("null");
        self.kinds().into_iter().chain(null).collect::<Vec<_>>().join(" or ")
    }

    pub(super) fn kinds(&self) -> Vec<&'static str> {
        if self.any {
            return vec!["any value"];
        }
        let number = if self.numbers.open.iter().all(|number| number.integer) { "integer" } else { "number" };
        let kinds = [
            (!self.strings.is_empty(), "string"),
            (!self.booleans.is_empty(), "boolean"),
            (!self.numbers.is_empty(), number),
            (!self.arrays.is_empty(), "array"),
            (!self.objects.is_empty(), "object"),
        ];
        kinds.into_iter().filter(|(there, _)| *there).map(|(_, kind)| kind).collect()
    }

    pub(super) fn overlaps(&self, other: &Self) -> bool {
        let kinds = |shape: &Self| {
            [
                !shape.strings.is_empty(),
                !shape.booleans.is_empty(),
                !shape.numbers.is_empty(),
                !shape.arrays.is_empty(),
                !shape.objects.is_empty(),
            ]
        };
        kinds(self).into_iter().zip(kinds(other)).any(|(one, two)| one && two)
    }
}

pub(super) fn is_object(node: Node<'_>) -> bool {
    matches!(node.branches().as_slice(), [Node { schema: Schema::Object(_), .. }])
}

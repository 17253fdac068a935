//! Converts the schemas of a dialect to Rust types.

use std::collections::{BTreeMap, BTreeSet};

use super::model::{Body, Item, Items, Member, Start, Ty, Value, Variant, Word};
use crate::dialect::Dialect;
use crate::formats::Glossary;
use crate::names;
use crate::schema::{Kind, Object, Property, Registry, Schema};

/// Names that generated code uses itself.
const TAKEN: &[&str] = &[
    "Event",
    "UnknownEvent",
    "Str",
    "Integer",
    "Number",
    "Raw",
    "Map",
    "Extra",
    "Nullable",
    "Read",
    "Write",
    "IntoOwned",
    "Option",
    "Some",
    "None",
    "Vec",
    "Box",
    "Result",
    "Ok",
    "Err",
    "From",
    "Self",
];

#[derive(Debug)]
pub(super) struct EventItem {
    pub(super) wire: String,
    pub(super) variant: String,
    pub(super) item: String,
}

pub(super) struct Lowered {
    pub(super) items: Items,
    /// The items of another module.
    pub(super) shared: BTreeSet<String>,
    pub(super) events: Vec<EventItem>,
    /// The items of named types, by the name in the schemas.
    pub(super) types: BTreeMap<String, String>,
}

/// The Rust names of types and events.
pub(in crate::emit) struct Names<'d> {
    /// Types, by the name in the schemas.
    pub(in crate::emit) types: BTreeMap<&'d str, String>,
    /// Structs of events, by event type.
    pub(in crate::emit) events: BTreeMap<&'d str, String>,
    taken: Vec<String>,
}

impl<'d> Names<'d> {
    pub(in crate::emit) fn of(dialect: &'d Dialect, glossary: &Glossary) -> Self {
        let plain = |wire: &String| glossary.names.get(wire).cloned().unwrap_or_else(|| names::pascal(wire));
        let others: BTreeSet<String> = dialect
            .types
            .keys()
            .map(plain)
            .chain(dialect.events.keys().map(|wire| names::event(wire)))
            .collect();
        let mut taken: Vec<String> = TAKEN.iter().map(|&name| name.to_owned()).collect();
        let mut own = |name: String, suffix: &str| {
            let name = if taken.contains(&name) { name + suffix } else { name };
            taken.push(name.clone());
            name
        };
        let mut types: BTreeMap<&str, String> = BTreeMap::new();
        for wire in dialect.types.keys() {
            let copied = original(dialect, wire).and_then(|original| types.get(original)).cloned();
            let name = copied.unwrap_or_else(|| {
                let plain = plain(wire);
                let short = names::without_suffix(&plain)
                    .filter(|short| !glossary.names.contains_key(wire) && !others.contains(*short));
                own(short.map_or_else(|| plain.clone(), str::to_owned), "Type")
            });
            types.insert(wire, name);
        }
        let events =
            dialect.events.keys().map(|wire| (wire.as_str(), own(names::event(wire), "Event"))).collect();
        Self { types, events, taken }
    }
}

/// A numbered type repeats it: `MessagePhase` for `MessagePhase-2`.
fn original<'d>(dialect: &Dialect, wire: &'d str) -> Option<&'d str> {
    names::copied(wire).filter(|original| dialect.types.get(*original) == dialect.types.get(wire))
}

pub(super) fn lower(dialect: &Dialect, glossary: &Glossary) -> Lowered {
    let Names { types, events, taken } = Names::of(dialect, glossary);
    let events: Vec<EventItem> = events
        .into_iter()
        .map(|(wire, item)| EventItem { wire: wire.to_owned(), variant: names::event(wire), item })
        .collect();

    let mut lowering = Lowering { registry: dialect.registry(), glossary, types, taken, items: Items::new() };
    for (wire, schema) in dialect.types.iter().filter(|(wire, _)| original(dialect, wire).is_none()) {
        let name = lowering.types[wire.as_str()].clone();
        let mut doc =
            dialect.type_description(wire).map_or_else(|| format!("The type `{wire}`."), str::to_owned);
        if name != names::pascal(wire) {
            doc.extend(["\n\nIn the schemas: `", wire, "`."]);
        }
        lowering.declare(&name, wire, &doc, schema);
    }
    for (event, item) in dialect.events.values().zip(&events) {
        let doc = format!("{}\n\nOn the wire: `{}`.", event.description, event.name);
        lowering.declare(&item.item, &event.name, &doc, &event.schema);
    }
    let types = lowering.types.into_iter().map(|(wire, item)| (wire.to_owned(), item)).collect();
    Lowered { items: lowering.items, shared: BTreeSet::new(), events, types }
}

struct Lowering<'d> {
    registry: Registry<'d>,
    glossary: &'d Glossary,
    /// Names of types: in the schemas, in Rust.
    types: BTreeMap<&'d str, String>,
    taken: Vec<String>,
    items: Items,
}

impl Lowering<'_> {
    /// Declares an item with a reserved name. `wire` is its name in the glossary.
    fn declare(&mut self, name: &str, wire: &str, doc: &str, schema: &Schema) {
        let mut schema = schema;
        while let Schema::Nullable(inner) = schema {
            schema = inner;
        }
        let body = match schema {
            Schema::Object(object) if !object.properties.is_empty() => self.object(name, wire, object),
            Schema::Enum(values) | Schema::OpenEnum(values) => Body::Strings(words(values)),
            Schema::Union(branches) => self.union(name, branches),
            other => Body::Alias(self.ty(other, name, doc)),
        };
        self.items.insert(name.to_owned(), Item { name: name.to_owned(), doc: doc.to_owned(), body });
    }

    /// A type without a name gets the hinted one.
    fn ty(&mut self, schema: &Schema, hint: &str, doc: &str) -> Ty {
        match schema {
            Schema::Any | Schema::Null => Ty::Any,
            Schema::Boolean | Schema::Const(serde_json::Value::Bool(_)) => Ty::Boolean,
            Schema::Number(_) | Schema::Const(serde_json::Value::Number(_)) => Ty::Number,
            Schema::Integer(_) => Ty::Integer,
            Schema::String(_) | Schema::Const(_) => Ty::Text,
            Schema::Array(array) => Ty::List(Box::new(self.ty(&array.items, &names::entry(hint), doc))),
            Schema::Nullable(inner) => nullable(self.ty(inner, hint, doc)),
            Schema::Ref(wire) => {
                let named = Ty::Named(self.types[wire.as_str()].clone());
                if matches!(self.registry.resolve(schema), Schema::Nullable(_)) {
                    nullable(named)
                } else {
                    named
                }
            }
            Schema::Object(object) if object.properties.is_empty() => match object.as_map() {
                Some(values) => Ty::Map(Box::new(self.ty(values, &format!("{hint}Value"), doc))),
                None => Ty::Members,
            },
            Schema::Union(branches) if self.words_of(branches).is_some_and(|words| words.is_empty()) => {
                Ty::Text
            }
            Schema::Object(_) | Schema::Enum(_) | Schema::OpenEnum(_) | Schema::Union(_) => {
                let name = self.free(hint);
                self.declare(&name, hint, doc, schema);
                Ty::Named(name)
            }
        }
    }

    fn free(&mut self, hint: &str) -> String {
        let numbered = (2..).map(|number| format!("{hint}{number}"));
        let name = std::iter::once(hint.to_owned()).chain(numbered).find(|name| !self.taken.contains(name));
        let name = name.unwrap_or_default();
        self.taken.push(name.clone());
        name
    }

    fn object(&mut self, name: &str, wire: &str, object: &Object) -> Body {
        let mut used = vec!["extra".to_owned()];
        let members = object.properties.iter().map(|property| self.member(name, wire, property, &mut used));
        Body::Struct(members.collect())
    }

    fn member(&mut self, owner: &str, wire: &str, property: &Property, used: &mut Vec<String>) -> Member {
        let name = unique(&names::snake(&property.name), used);
        let meaning = property.description.as_deref().or_else(|| self.glossary.meaning(wire, &property.name));
        let mut doc =
            meaning.map_or_else(|| format!("The `{}` of this object.", property.name), str::to_owned);
        if property.deprecated {
            doc += "\n\nDeprecated.";
        }
        let value = match self.constant(&property.schema) {
            Some(constant) if property.required => Value::Constant(constant),
            _ => {
                let hint = format!("{owner}{}", names::pascal(&property.name));
                let ty = self.ty(&property.schema, &hint, meaning.unwrap_or(&doc));
                if property.required { Value::Required(ty) } else { Value::Optional(ty) }
            }
        };
        let start = match &value {
            Value::Required(_) => self.start(wire, property),
            _ => Start::Empty,
        };
        Member { wire: property.name.clone(), name, doc, value, start }
    }

    /// The initial value of a required member.
    fn start(&self, wire: &str, property: &Property) -> Start {
        let own = self.glossary.defaults.get(wire).and_then(|own| own.get(&property.name));
        let stated = property.default.as_ref().filter(|value| !value.is_null()).map(ToString::to_string);
        if let Some(json) = own.cloned().or(stated) {
            return Start::Json(json);
        }
        match self.registry.resolve(&property.schema) {
            Schema::Null | Schema::Nullable(_) => Start::Empty,
            Schema::Array(array) if array.min_items.unwrap_or(0) == 0 => Start::Empty,
            Schema::Object(object) if object.properties.is_empty() => Start::Empty,
            Schema::Object(_) => Start::Inner,
            _ => Start::Given,
        }
    }

    fn constant(&self, schema: &Schema) -> Option<String> {
        match self.registry.resolve(schema) {
            Schema::Const(value) => value.as_str().map(str::to_owned),
            _ => None,
        }
    }

    /// `None` unless the schema allows only strings. Empty if it allows any.
    fn strings(&self, schema: &Schema) -> Option<Vec<String>> {
        match self.registry.resolve(schema) {
            Schema::String(_) => Some(Vec::new()),
            Schema::Enum(values) | Schema::OpenEnum(values) => Some(values.clone()),
            Schema::Const(serde_json::Value::String(value)) => Some(vec![value.clone()]),
            Schema::Union(branches) => self.words_of(branches),
            _ => None,
        }
    }

    fn words_of(&self, branches: &[Schema]) -> Option<Vec<String>> {
        let mut all = Vec::new();
        for branch in branches {
            let more =
                self.strings(branch)?.into_iter().filter(|value| !all.contains(value)).collect::<Vec<_>>();
            all.extend(more);
        }
        Some(all)
    }

    fn union(&mut self, name: &str, branches: &[Schema]) -> Body {
        if let Some(values) = self.words_of(branches) {
            return if values.is_empty() { Body::Alias(Ty::Text) } else { Body::Strings(words(&values)) };
        }
        let plan = self.registry.plan(branches);
        let textual: Vec<usize> =
            (0..branches.len()).filter(|&at| self.strings(&branches[at]).is_some()).collect();
        let mut used = vec!["Unknown".to_owned()];
        let mut variants = Vec::new();
        for (at, branch) in branches.iter().enumerate() {
            if textual.contains(&at) && textual.first() != Some(&at) {
                continue;
            }
            let tags: Vec<String> = plan
                .tag
                .iter()
                .flat_map(|tag| &tag.values)
                .filter(|(_, of)| *of == at)
                .map(|(value, _)| value.clone())
                .collect();
            let mut kinds: Vec<Kind> =
                plan.by_kind.iter().filter(|(_, of)| of.contains(&at)).map(|(kind, _)| *kind).collect();
            if plan.tag.is_none() && plan.objects.contains(&at) {
                kinds.push(Kind::Object);
            }
            let variant = match distinct(branches, at) {
                Some(member) if tags.len() != 1 => format!("With{}", names::pascal(member)),
                _ => self.variant(branch, &tags),
            };
            let variant = unique(&variant, &mut used);
            let hint = format!("{name}{variant}");
            let doc = format!("The `{variant}` variant of [`{name}`].");
            let merged: Vec<Schema> = textual.iter().map(|&at| branches[at].clone()).collect();
            let ty = match merged.len() {
                many if many > 1 && textual.contains(&at) => self.ty(&Schema::Union(merged), &hint, &doc),
                _ => self.ty(branch, &hint, &doc),
            };
            variants.push(Variant { name: variant, ty: not_null(ty), tags, kinds });
        }
        Body::Union { tag: plan.tag.map(|tag| tag.property).unwrap_or_default(), variants }
    }

    fn variant(&self, branch: &Schema, tags: &[String]) -> String {
        let resolved = self.registry.resolve(branch);
        match (branch, resolved) {
            (_, Schema::Object(_)) if tags.len() == 1 => names::pascal(&tags[0]),
            (
                Schema::Ref(wire),
                Schema::Object(_)
                | Schema::Union(_)
                | Schema::Enum(_)
                | Schema::OpenEnum(_)
                | Schema::Nullable(_),
            ) => names::pascal(wire),
            (_, Schema::Any | Schema::Null | Schema::Ref(_)) => "Any".to_owned(),
            (_, Schema::Boolean | Schema::Const(serde_json::Value::Bool(_))) => "Boolean".to_owned(),
            (
                _,
                Schema::String(_)
                | Schema::Enum(_)
                | Schema::OpenEnum(_)
                | Schema::Const(serde_json::Value::String(_)),
            ) => "Text".to_owned(),
            (_, Schema::Integer(_) | Schema::Number(_) | Schema::Const(_)) => "Number".to_owned(),
            (_, Schema::Array(_)) => "List".to_owned(),
            (_, Schema::Object(_) | Schema::Union(_) | Schema::Nullable(_)) => "Object".to_owned(),
        }
    }
}

/// The required member that distinguishes an unnamed object from the others of its union.
fn distinct(branches: &[Schema], at: usize) -> Option<&str> {
    let others = branches.iter().enumerate().filter(|(other, _)| *other != at);
    let others: Vec<&[Property]> = others.filter_map(|(_, branch)| properties(branch)).collect();
    let is_own = |name: &str| !others.iter().any(|all| all.iter().any(|it| it.required && it.name == name));
    let own = properties(branches.get(at)?)?.iter();
    let own = own.map(|property| (property.required, property.name.as_str()));
    own.filter(|_| !others.is_empty())
        .find_map(|(is_required, name)| (is_required && is_own(name)).then_some(name))
}

fn properties(schema: &Schema) -> Option<&[Property]> {
    match schema {
        Schema::Object(object) => Some(&object.properties),
        _ => None,
    }
}

fn nullable(ty: Ty) -> Ty {
    match ty {
        Ty::Nullable(_) | Ty::Any => ty,
        other => Ty::Nullable(Box::new(other)),
    }
}

fn not_null(ty: Ty) -> Ty {
    match ty {
        Ty::Nullable(inner) => *inner,
        other => other,
    }
}

fn unique(name: &str, used: &mut Vec<String>) -> String {
    let numbered = (2..).map(|number| format!("{name}{number}"));
    let name = std::iter::once(name.to_owned()).chain(numbered).find(|name| !used.contains(name));
    let name = name.unwrap_or_default();
    used.push(name.clone());
    name
}

fn words(values: &[String]) -> Vec<Word> {
    let mut used = vec!["Unknown".to_owned()];
    let word = |wire: &String| Word { wire: wire.clone(), name: unique(&names::pascal(wire), &mut used) };
    values.iter().map(word).collect()
}

//! A model of the Rust types of a dialect.

use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Ty {
    Text,
    Integer,
    Number,
    Boolean,
    Any,
    /// An object of unknown content.
    Members,
    List(Box<Ty>),
    Map(Box<Ty>),
    Nullable(Box<Ty>),
    Named(String),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Item {
    pub(super) name: String,
    pub(super) doc: String,
    pub(super) body: Body,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Body {
    Struct(Vec<Member>),
    Strings(Vec<Word>),
    Union { tag: String, variants: Vec<Variant> },
    Alias(Ty),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Member {
    pub(super) wire: String,
    /// Its Rust name.
    pub(super) name: String,
    pub(super) doc: String,
    pub(super) value: Value,
    pub(super) start: Start,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Start {
    /// An argument of the constructor.
    Given,
    /// Absent, `null` or empty.
    Empty,
    /// The default of its type, if that has one.
    Inner,
    Json(String),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// Always this string, without a field.
    Constant(String),
    Required(Ty),
    Optional(Ty),
}

/// A string of a known set.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Word {
    pub(super) wire: String,
    pub(super) name: String,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Variant {
    pub(super) name: String,
    pub(super) ty: Ty,
    /// The values of the union's tag that select it.
    pub(super) tags: Vec<String>,
    /// The kinds of value that it can match otherwise.
    pub(super) kinds: Vec<crate::schema::Kind>,
}

/// The items of a dialect, by name.
pub(super) type Items = BTreeMap<String, Item>;

/// Sizes of types, and which of them need a box inside others because they are large or recursive.
#[derive(Debug)]
pub(super) struct Sizes<'i> {
    items: &'i Items,
    recursive: Vec<&'i str>,
    known: BTreeMap<&'i str, usize>,
}

/// Position of a type inside another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inside {
    /// In a field, or as an event.
    Struct,
    /// In a variant.
    Union,
    /// In a list or map, where its size does not matter.
    Collection,
}

impl Inside {
    /// In machine words: about eight fields, and less in variants, where smaller siblings take as much.
    const fn room(self) -> usize {
        match self {
            Self::Struct => 27,
            Self::Union => 14,
            Self::Collection => usize::MAX,
        }
    }
}

impl<'i> Sizes<'i> {
    pub(super) fn new(items: &'i Items) -> Self {
        let mut sizes = Self { items, recursive: Vec::new(), known: BTreeMap::new() };
        sizes.recursive = items
            .keys()
            .map(String::as_str)
            .filter(|name| sizes.reaches(name, name, &mut Vec::new()))
            .collect();
        for name in items.keys() {
            sizes.item(name);
        }
        sizes
    }

    pub(super) fn is_boxed(&self, name: &str, inside: Inside) -> bool {
        inside != Inside::Collection
            && (self.recursive.contains(&name)
                || self.known.get(name).is_some_and(|&size| size > inside.room()))
    }

    pub(super) fn borrows(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Integer | Ty::Boolean => false,
            Ty::List(inner) | Ty::Nullable(inner) => self.borrows(inner),
            Ty::Named(name) => match &self.items[name].body {
                Body::Alias(ty) => self.borrows(ty),
                _ => true,
            },
            _ => true,
        }
    }

    pub(super) fn starts(&self, name: &str) -> bool {
        match &self.items[name].body {
            Body::Struct(members) => members.iter().all(|member| !self.is_given(member)),
            Body::Alias(Ty::Named(name)) => self.starts(name),
            Body::Alias(_) | Body::Strings(_) | Body::Union { .. } => false,
        }
    }

    pub(super) fn is_given(&self, member: &Member) -> bool {
        match (&member.start, &member.value) {
            (Start::Given, _) => true,
            (Start::Inner, Value::Required(Ty::Named(name))) => {
                self.recursive.contains(&name.as_str()) || !self.starts(name)
            }
            _ => false,
        }
    }

    pub(super) fn resolve<'t>(&'t self, ty: &'t Ty) -> &'t Ty {
        match ty {
            Ty::Named(name) => match &self.items[name].body {
                Body::Alias(ty) => self.resolve(ty),
                _ => ty,
            },
            _ => ty,
        }
    }

    pub(super) fn body(&self, ty: &Ty) -> Option<&'i Body> {
        match ty {
            Ty::Named(name) => self.items.get(name).map(|item| &item.body),
            _ => None,
        }
    }

    /// Approximate, in machine words.
    fn item(&mut self, name: &'i str) -> usize {
        if let Some(&size) = self.known.get(name) {
            return size;
        }
        let size = match &self.items[name].body {
            Body::Struct(members) => 3 + members.iter().map(|member| self.member(member)).sum::<usize>(),
            Body::Strings(_) => 3,
            Body::Union { variants, .. } => {
                1 + variants
                    .iter()
                    .map(|variant| self.ty(&variant.ty, Inside::Union))
                    .max()
                    .unwrap_or(0)
                    .max(3)
            }
            Body::Alias(ty) => self.ty(ty, Inside::Struct),
        };
        self.known.insert(name, size);
        size
    }

    fn member(&mut self, member: &'i Member) -> usize {
        match &member.value {
            Value::Constant(_) => 0,
            Value::Required(ty) | Value::Optional(ty) => self.ty(ty, Inside::Struct),
        }
    }

    fn ty(&mut self, ty: &'i Ty, inside: Inside) -> usize {
        match ty {
            Ty::Integer => 2,
            Ty::Boolean => 1,
            Ty::Nullable(inner) => self.ty(inner, inside),
            Ty::Named(name) if self.recursive.contains(&name.as_str()) => 1,
            Ty::Named(name) => match self.item(name) {
                size if size > inside.room() => 1,
                size => size,
            },
            _ => 3,
        }
    }

    /// Without a list or map between them.
    fn reaches(&self, from: &str, to: &str, seen: &mut Vec<String>) -> bool {
        inside(&self.items[from].body).into_iter().any(|name| {
            name == to
                || (!seen.iter().any(|known| known == name) && {
                    seen.push(name.to_owned());
                    self.reaches(name, to, seen)
                })
        })
    }
}

fn types(body: &Body) -> Vec<&Ty> {
    match body {
        Body::Struct(members) => members
            .iter()
            .filter_map(|member| match &member.value {
                Value::Constant(_) => None,
                Value::Required(ty) | Value::Optional(ty) => Some(ty),
            })
            .collect(),
        Body::Strings(_) => Vec::new(),
        Body::Union { variants, .. } => variants.iter().map(|variant| &variant.ty).collect(),
        Body::Alias(ty) => vec![ty],
    }
}

fn inside(body: &Body) -> Vec<&str> {
    types(body)
        .into_iter()
        .filter_map(|mut ty| {
            while let Ty::Nullable(inner) = ty {
                ty = inner;
            }
            match ty {
                Ty::Named(name) => Some(name.as_str()),
                _ => None,
            }
        })
        .collect()
}

pub(super) fn shared(items: &Items, others: &Items) -> BTreeSet<String> {
    let is_same = |(name, item): &(&String, &Item)| others.get(*name) == Some(*item);
    let mut shared: BTreeSet<String> = items.iter().filter(is_same).map(|(name, _)| name.clone()).collect();
    loop {
        let is_whole =
            |name: &&String| held(&items[*name].body).into_iter().all(|held| shared.contains(held));
        let whole: BTreeSet<String> = shared.iter().filter(is_whole).cloned().collect();
        if whole.len() == shared.len() {
            return shared;
        }
        shared = whole;
    }
}

fn held(body: &Body) -> Vec<&str> {
    let mut rest = types(body);
    let mut held = Vec::new();
    while let Some(ty) = rest.pop() {
        match ty {
            Ty::Named(name) => held.push(name.as_str()),
            Ty::List(inner) | Ty::Map(inner) | Ty::Nullable(inner) => rest.push(inner),
            _ => {}
        }
    }
    held
}

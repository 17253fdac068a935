//! Code that a dialect shares with the one that it extends, so that it is generated once.

use std::collections::BTreeSet;

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use crate::dialect::{Dialect, Event};
use crate::formats::ApiFile;
use crate::names;
use crate::schema::{Registry, Schema};

/// The types and events that a dialect shares with another one of the same build.
pub(super) struct Shared<'d> {
    pub(super) base: &'d Dialect,
    /// Types that are equal, including the types that they refer to.
    pub(super) types: BTreeSet<&'d str>,
    /// Events that are equal in this way.
    pub(super) events: BTreeSet<&'d str>,
}

impl<'d> Shared<'d> {
    /// `is_alike` returns whether the code of a type is the same in both.
    pub(super) fn new(
        dialect: &'d Dialect,
        base: &'d Dialect,
        api: &ApiFile,
        is_alike: impl Fn(&str) -> bool,
    ) -> Self {
        let is_same =
            |(name, schema): &(&String, &Schema)| base.types.get(*name) == Some(*schema) && is_alike(name);
        let mut types: BTreeSet<&str> =
            dialect.types.iter().filter(is_same).map(|(name, _)| name.as_str()).collect();
        loop {
            let is_whole = |name: &&str| dialect.types.get(*name).is_some_and(|it| refers_to(it, &types));
            let whole: BTreeSet<&str> = types.iter().copied().filter(is_whole).collect();
            if whole.len() == types.len() {
                break;
            }
            types = whole;
        }
        // All events of a dialect have the same slots.
        let is_placed_alike =
            api.slots.keys().all(|slot| dialect.file.envelope.0.get(slot) == base.file.envelope.0.get(slot));
        let is_same = |event: &&Event| {
            base.events
                .get(&event.name)
                .is_some_and(|other| event.schema == other.schema && event.lifecycle == other.lifecycle)
                && refers_to(&event.schema, &types)
        };
        let events = dialect.events.values().filter(|_| is_placed_alike).filter(is_same);
        let events = events.map(|event| event.name.as_str()).collect();
        Self { base, types, events }
    }

    pub(super) fn path(&self) -> TokenStream {
        path(self.base)
    }

    pub(super) fn event(&self, name: &str) -> TokenStream {
        let place = self.base.events.keys().position(|other| other == name).unwrap_or_default();
        let (path, place) = (self.path(), Literal::usize_unsuffixed(place));
        quote!(#path::check::EVENTS[#place])
    }
}

pub(super) fn path(dialect: &Dialect) -> TokenStream {
    let module = names::ident(&super::module(&dialect.name));
    quote!(crate::#module)
}

fn refers_to(schema: &Schema, types: &BTreeSet<&str>) -> bool {
    let mut found = Vec::new();
    Registry::references(schema, &mut found);
    found.iter().all(|name| types.contains(name.as_str()))
}

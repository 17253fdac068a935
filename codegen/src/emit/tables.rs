//! Emits the static tables of dialects, events and scopes.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::names;
use super::words::{declare, word};
use crate::dialect::{Dialect, Event};
use crate::formats::{
    Aside, EventLine, Framing, Level, Lifecycle, Marker, Operation, Outer, Role, RuleLevel, ScopesFile,
    UnknownEvents,
};

/// Emits the enums of the words in dialect files.
pub fn words() -> TokenStream {
    let words = [
        declare::<EventLine>(),
        declare::<Level>(),
        declare::<Marker>(),
        declare::<Operation>(),
        declare::<Role>(),
        declare::<UnknownEvents>(),
    ];
    let all = || Operation::ALL.into_iter();
    let with_body = all().filter(|one| one.has_body()).map(word);
    let asides = all().filter(|one| one.is_aside()).map(word);
    quote! {
        #(#words)*

        impl Operation {
            /// Returns whether its request has a body.
            pub const fn has_body(self) -> bool {
                matches!(self, #(#with_body)|*)
            }

            /// Returns whether it is a WebSocket message about a response of that connection.
            pub const fn is_aside(self) -> bool {
                matches!(self, #(#asides)|*)
            }
        }
    }
}

/// Emits the scopes and the slots.
pub fn scopes(file: &ScopesFile) -> TokenStream {
    let slots: Vec<&str> = file.slots.keys().map(String::as_str).chain(["value"]).collect();
    let slot_names = slots.iter().map(|slot| pascal_ident(slot));
    let slot_idents = slot_names.clone();
    let slot_docs = slots.iter().map(|slot| format!(" The `{slot}` of the event."));
    let count = slots.len();
    let usual = file.slots.iter().filter_map(|(slot, pointer)| {
        let member = pointer.strip_prefix('/').filter(|member| !member.contains('/'))?;
        let slot = pascal_ident(slot);
        Some(quote!((#member, Slot::#slot)))
    });
    let variants: Vec<_> = file.scopes.keys().map(|name| pascal_ident(name)).collect();
    let Outer { root, snapshot, container, id } = &file.outer;
    let most_keys = file.scopes.values().map(|scope| scope.key.len()).max().unwrap_or_default();
    let index = file.scopes.get(container).and_then(|scope| scope.key.first()).unwrap_or(snapshot);
    let keys = file.scopes.values().flat_map(|scope| &scope.key);
    let places: BTreeSet<&String> = id.iter().chain(keys).collect();
    let (count_of_places, places) = (places.len(), places.into_iter().map(|slot| pascal_ident(slot)));
    let id = option(id.as_ref().map(|slot| {
        let slot = pascal_ident(slot);
        quote!(Self::#slot)
    }));
    let (root, container) = (pascal_ident(root), pascal_ident(container));
    let (snapshot, index) = (pascal_ident(snapshot), pascal_ident(index));
    let docs = file.scopes.values().map(|scope| format!(" {}", scope.description));
    let rows = file.scopes.iter().map(|(name, scope)| {
        let description = &scope.description;
        let parent = option(scope.parent.as_ref().map(|parent| {
            let parent = pascal_ident(parent);
            quote!(Scope::#parent)
        }));
        let key = scope.key.iter().map(|slot| {
            let slot = pascal_ident(slot);
            quote!(Slot::#slot)
        });
        let (of, phases, ends) = (&scope.of, &scope.phases, &scope.ends);
        let in_parent = option_text(scope.in_parent.as_deref());
        let in_response = option_text(scope.in_response.as_deref());
        quote! {
            ScopeInfo {
                name: #name,
                description: #description,
                parent: #parent,
                key: &[#(#key),*],
                of: &[#(#of),*],
                in_parent: #in_parent,
                in_response: #in_response,
                phases: &[#(#phases),*],
                ends: &[#(#ends),*],
            }
        }
    });
    quote! {
        /// A value that parsing an event extracts.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Slot {
            #(#[doc = #slot_docs] #slot_names,)*
        }

        impl Slot {
            /// Number of slots.
            pub const COUNT: usize = #count;

            /// All slots.
            pub const ALL: [Self; #count] = [#(Self::#slot_idents),*];

            /// The value of the root.
            pub const SNAPSHOT: Self = Self::#snapshot;

            /// The index of a container, in its own events and in those of its descendants.
            pub const CONTAINER_INDEX: Self = Self::#index;

            /// The id of a container, in events of its descendants.
            pub const CONTAINER_ID: Option<Self> = #id;

            /// Ids and indices.
            pub const PLACES: [Self; #count_of_places] = [#(Self::#places),*];

            /// The default members of the slots.
            pub(crate) const USUAL: &'static [(&'static str, Self)] = &[#(#usual),*];
        }

        /// A level of a stream that opens, receives values and closes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Scope {
            #(#[doc = #docs] #variants,)*
        }

        impl Scope {
            /// The outermost scope.
            pub const ROOT: Self = Self::#root;

            /// The child of the root that contains most other scopes.
            pub const CONTAINER: Self = Self::#container;

            /// Maximum number of slots of a key.
            pub const MOST_KEYS: usize = #most_keys;

            /// All scopes.
            pub const ALL: &'static [Self] = &[#(Self::#variants),*];

            /// Returns the properties of the scope.
            pub const fn info(self) -> &'static ScopeInfo {
                &SCOPES[self as usize]
            }

            /// Returns the scope and those around it, from the inside.
            pub fn with_parents(self) -> impl Iterator<Item = Self> {
                std::iter::successors(Some(self), |scope| scope.info().parent)
            }
        }

        static SCOPES: &[ScopeInfo] = &[#(#rows),*];
    }
}

/// Emits the constant of the dialect. Rows that another dialect shares are used from there.
pub(super) fn dialect(dialect: &Dialect, base: Option<&Dialect>, scopes: &ScopesFile) -> TokenStream {
    let file = &dialect.file;
    let (name, product, source, summary) = (&dialect.name, &file.product, &file.source, &file.summary);
    let lineage = &dialect.lineage;
    let event_line = word(file.framing.event_line);
    let done = word(file.framing.done);
    let Framing { websocket, lanes, create, steer, inject, .. } = &file.framing;
    let create = option_text(create.as_deref());
    let (steer, inject) = (option(steer.as_ref().map(aside)), option(inject.as_ref().map(aside)));
    let error = &file.terminal.error;
    let unknown = word(file.framing.unknown_events);
    let opening = option_text(dialect.opening(&scopes.outer.root));
    let envelope = file.envelope.0.iter().filter_map(|(slot, pointer)| {
        let (slot, member) = (pascal_ident(slot), pointer.strip_prefix('/')?);
        Some(quote!((Slot::#slot, #member)))
    });
    let terminal = &file.terminal.events;
    let roots = file.roots.iter().map(|(role, name)| quote!((#role, #name)));
    let operations = file.operations.iter().map(|one| word(*one));
    let rules = file.rules.iter().map(|RuleLevel { id, level, reason }| {
        let level = word(*level);
        quote!(RuleLevel { id: #id, level: #level, reason: #reason })
    });
    let shared = base.map(|base| (super::shared::path(base), base));
    let events = dialect.events.values().enumerate().map(|(place, info)| {
        let row = shared.as_ref().and_then(|(path, base)| {
            let is_same = |other: &Event| {
                other.name == info.name
                    && other.description == info.description
                    && other.lifecycle == info.lifecycle
            };
            let at = Literal::usize_unsuffixed(place);
            let there = Literal::usize_unsuffixed(base.events.values().position(is_same)?);
            Some(quote!(EventInfo { schema: check::EVENTS[#at], ..#path::EVENTS[#there] }))
        });
        row.unwrap_or_else(|| event(place, info))
    });
    let names = dialect.types.keys();
    let same_types = shared.as_ref().filter(|(_, base)| base.types.keys().eq(dialect.types.keys()));
    let types = same_types.map_or_else(|| quote!(&[#(#names),*]), |(path, _)| quote!(#path::TYPES));
    quote! {
        #[allow(unused_imports)]
        pub(crate) const EVENTS: &[crate::table::EventInfo] = {
            use crate::table::*;
            &[#(#events),*]
        };
        pub(crate) const TYPES: &[&str] = #types;

        /// The dialect.
        pub static DIALECT: crate::Dialect = {
            use crate::table::*;
            crate::Dialect {
                name: #name,
                product: #product,
                source: #source,
                summary: #summary,
                lineage: &[#(#lineage),*],
                framing: Framing {
                    event_line: #event_line,
                    done: #done,
                    unknown_events: #unknown,
                    websocket: #websocket,
                    lanes: #lanes,
                    create: #create,
                    steer: #steer,
                    inject: #inject,
                },
                opening: #opening,
                envelope: &[#(#envelope),*],
                terminal: &[#(#terminal),*],
                error: #error,
                roots: &[#(#roots),*],
                operations: &[#(#operations),*],
                rules: &[#(#rules),*],
                events: EVENTS,
                types: TYPES,
                place_of_event: check::place_of_event,
                schema_named: check::named,
            }
        };
    }
}

fn aside(aside: &Aside) -> TokenStream {
    let Aside { message, accepted, pending, failed } = aside;
    let pending = option_text(pending.as_deref());
    quote!(Aside { message: #message, accepted: #accepted, pending: #pending, failed: #failed })
}

fn event(place: usize, event: &Event) -> TokenStream {
    let Event { name, description, lifecycle: Lifecycle { scope, role, value, phase, early }, .. } = event;
    let scope = pascal_ident(scope);
    let role = word(*role);
    let (value, phase) = (option_text(value.as_deref()), option_text(phase.as_deref()));
    quote! {
        EventInfo {
            name: #name,
            description: #description,
            scope: Scope::#scope,
            role: #role,
            value: #value,
            phase: #phase,
            early: #early,
            schema: check::EVENTS[#place],
        }
    }
}

fn pascal_ident(wire: &str) -> Ident {
    names::ident(&names::pascal(wire))
}

pub(super) fn option(value: Option<TokenStream>) -> TokenStream {
    value.map_or_else(|| quote!(None), |value| quote!(Some(#value)))
}

pub(super) fn option_text(value: Option<&str>) -> TokenStream {
    option(value.map(|text| quote!(#text)))
}

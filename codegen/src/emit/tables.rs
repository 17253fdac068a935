//! Emits the static tables of dialects, events and scopes.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use crate::dialect::{Dialect, Event};
use crate::formats::{
    ApiFile, Aside, BodyShape, CallShape, Calls, Choice, Constant, Content, DialectSignature, EncryptedShape,
    ErrorCodes, ErrorShape, EventLine, Fallback, ForeignApi, ForeignFile, ForeignFormat, Framing, Level,
    Mark, Marker, Misnomers, ModelList, Offers, Operation, Outer, Render, RenderEdit, RenderMoment,
    RenderResponse, RenderTarget, RequestShape, ResultShape, Role, RootEnd, RootOpening, Route, RuleLevel,
    Scope, SessionShape, Signature, StatusWords, Stop, StreamOrder, Switch, Trigger, TurnShape, TypeRule,
    UnknownEvents, Usage,
};
use crate::names;
use crate::tables::Tables;

/// Emits the types of the words and settings in dialect files.
pub fn words() -> TokenStream {
    let words = declarations! {
        Aside BodyShape CallShape Choice Content DialectSignature EncryptedShape ErrorCodes ErrorShape
        EventLine Fallback ForeignApi ForeignFormat Framing Level Mark Marker Misnomers ModelList Offers Operation Render RenderEdit
        RenderMoment RenderResponse RenderTarget RequestShape ResultShape Role Route RuleLevel SessionShape
        Signature StatusWords StreamOrder Switch Trigger TurnShape TypeRule UnknownEvents
    };
    let all = || Operation::ALL.into_iter();
    let with_body = all().filter(|one| one.has_body()).map(|one| one.expression());
    let asides = all().filter(|one| one.is_aside()).map(|one| one.expression());
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

/// Emits how a program makes the values of dialects that it loads from folders.
pub fn leaks() -> TokenStream {
    let files = leaking! {
        formats: Aside DialectSignature EventLine Fallback Framing Level Mark Marker Operation Render RenderEdit
        RenderMoment RenderResponse RenderTarget Role RuleLevel TypeRule UnknownEvents
    };
    let tables = leaking! {
        tables: EventInfo EventMember EventSchema ListSchema Member MemberRules NumberRules ObjectSchema Others Schema Tag
        TextPattern TextRules UnionSchema Watch
    };
    quote!(#(#files)* #(#tables)*)
}

/// Emits the scopes and the slots of all APIs, and a table for each API. The tables of APIs that are not listed are
/// for tests.
pub fn apis(apis: &[(&str, &ApiFile, bool)], foreign: &ForeignFile) -> TokenStream {
    let files = || apis.iter().map(|(_, file, _)| *file);
    let slots: BTreeSet<&str> = files().flat_map(|file| file.slots.keys()).map(String::as_str).collect();
    let slots: Vec<&str> = slots.into_iter().chain(["value"]).collect();
    let slot_names = slots.iter().map(|slot| names::pascal_ident(slot));
    let slot_idents = slot_names.clone();
    let slot_docs = slots.iter().map(|slot| format!(" The `{slot}` of the event."));
    let count = slots.len();
    let usual: BTreeSet<(&str, &str)> = files()
        .flat_map(|file| &file.slots)
        .filter_map(|(slot, pointer)| {
            let member = pointer.strip_prefix('/').filter(|member| !member.contains('/'))?;
            Some((member, slot.as_str()))
        })
        .collect();
    let usual = usual.into_iter().map(|(member, name)| {
        let slot = slot(name);
        quote!((#member, #slot))
    });
    let keys = || files().flat_map(|file| file.scopes.values().flat_map(|scope| &scope.key));
    let ids = files().filter_map(|file| file.outer.id.as_ref());
    let places: BTreeSet<&String> = ids.chain(keys()).collect();
    let (count_of_places, places) = (places.len(), places.into_iter().map(|slot| names::pascal_ident(slot)));
    let mut counts = vec!["sequence_number"];
    for key in keys() {
        if !counts.contains(&key.as_str()) {
            counts.push(key);
        }
    }
    let (count_of_counts, counts) = (counts.len(), counts.into_iter().map(names::pascal_ident));
    let scopes: BTreeMap<&str, &str> = files()
        .rev()
        .flat_map(|file| &file.scopes)
        .map(|(name, scope)| (scope.identity(name), scope.description.as_str()))
        .collect();
    let variants: Vec<_> = scopes.keys().map(|name| names::pascal_ident(name)).collect();
    let (count_of_scopes, docs) = (scopes.len(), scopes.values().map(|text| format!(" {text}")));
    let most_keys = files().flat_map(|file| file.scopes.values()).map(|scope| scope.key.len()).max();
    let most_keys = most_keys.unwrap_or_default();
    let tables = apis.iter().map(|(name, file, _)| api(name, file, &scopes));
    let listed: Vec<_> =
        apis.iter().filter(|(.., is_listed)| *is_listed).map(|(name, ..)| names::api(name)).collect();
    let (foreign, formats) = (foreign.apis.expression(), foreign.formats.expression());
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

            /// Their names in the files of APIs, in this order.
            #[cfg(feature = "folders")]
            pub(crate) const NAMES: [&'static str; #count] = [#(#slots),*];

            /// Ids and indices.
            pub const PLACES: [Self; #count_of_places] = [#(Self::#places),*];

            /// Indices and sequence numbers.
            pub(crate) const COUNTS: [Self; #count_of_counts] = [#(Self::#counts),*];

            /// The default members of the slots.
            pub(crate) const USUAL: &'static [(&'static str, Self)] = &[#(#usual),*];
        }

        /// A level of a stream that opens, receives values and closes. Scopes of different APIs can be the same: each
        /// API has its own properties of it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Scope {
            #(#[doc = #docs] #variants,)*
        }

        impl Scope {
            /// Maximum number of slots of a key.
            pub const MOST_KEYS: usize = #most_keys;

            /// Number of scopes.
            pub const COUNT: usize = #count_of_scopes;

            /// All scopes.
            pub const ALL: &'static [Self] = &[#(Self::#variants),*];
        }

        /// The APIs.
        pub mod apis {
            use super::{
    Api, BodyShape, CallPlaces, CallShape, Choice, Content, EncryptedShape, ErrorCodes, ErrorShape, Mark, Misnomers, ModelList, Offers, Operation, RequestShape, ResultShape, Route, Scope, ScopeInfo, SessionShape, Signature, Slot, StatusWords, StreamOrder, Switch, Trigger,
                TurnShape, UsagePlaces,
            };

            #(#tables)*
        }

        /// All APIs.
        pub static APIS: &[&Api] = &[#(&apis::#listed),*];

        /// The APIs that the suite recognises, and does not check.
        pub static FOREIGN: &[ForeignApi] = #foreign;

        /// The formats of files that are no recordings.
        pub static FORMATS: &[ForeignFormat] = #formats;
    }
}

/// Emits the table of an API, with a row for each scope of any API.
fn api(name: &str, file: &ApiFile, scopes: &BTreeMap<&str, &str>) -> TokenStream {
    let ident = names::api(name);
    let (title, path, list) = (&file.title, &file.path, file.list());
    let (path_of_body, version, response_id) =
        (option_text(file.path_of_body.as_deref()), &file.version, &file.response_id);
    let (provider, operation, sign_of_life) = (&file.provider, &file.operation, &file.sign_of_life);
    let (signature, operations) = (file.signature.expression(), file.operations.expression());
    let (request, bodies, error) =
        (file.request.expression(), file.bodies.expression(), file.error.expression());
    let (call, session, misnomers) =
        (file.call.expression(), file.session.expression(), file.misnomers.expression());
    let (status, order, encrypted) =
        (file.status.expression(), file.order.expression(), file.encrypted.expression());
    let Usage { member: usage, events: usage_events, written_parts: [longer, shorter], .. } = &file.usage;
    let is_reasoning_apart = file.usage.is_reasoning_apart;
    let Usage { input, cached, written, output, reasoning, total, .. } = &file.usage;
    let [input, cached, written, longer, shorter, output, reasoning, total] =
        [input, cached, written, longer, shorter, output, reasoning, total].map(|pointer| {
            let place = pointer.trim_start_matches('/');
            let (member, inner) =
                place.split_once('/').map_or((place, None), |(member, inner)| (member, Some(inner)));
            let inner = option_text(inner);
            quote!((#member, #inner))
        });
    let Outer { root, snapshot, container, id, item, extensible, used_when_closed, opens, ends } =
        &file.outer;
    let of_file =
        |name: &String| scope(file.scopes.get(name).map_or(name.as_str(), |found| found.identity(name)));
    let (root_scope, container_scope) = (of_file(root), of_file(container));
    let [snapshot, id] = [snapshot, id].map(|name| option(name.as_deref().map(slot)));
    let (index, slots) = (slot(file.index()), places(&file.slots));
    let padding = &file.padding;
    let (first_event_opens, marker_ends) = (*opens == RootOpening::FirstEvent, *ends != RootEnd::Event);
    let client_call = option(file.client_call.as_ref().map(|Calls { scope, types, id, name }| {
        let scope = of_file(scope);
        quote!(CallPlaces { scope: #scope, types: &[#(#types),*], id: #id, name: #name })
    }));
    let stop = option(file.stop.as_ref().map(|Stop { scope, member, .. }| {
        let scope = of_file(scope);
        quote!((#scope, #member))
    }));
    let usual_stops = file.stop.iter().flat_map(|stop| &stop.usual);
    let rows = scopes.keys().map(|variant| {
        let scope = self::scope(variant);
        let own = file.scopes.iter().find(|(name, own)| own.identity(name) == *variant);
        let Some((name, own)) = own else { return quote!(ScopeInfo::none(#scope)) };
        let parent = option(own.parent.as_ref().map(of_file));
        let outer = own.parent.as_ref().and_then(|parent| file.scopes.get(parent));
        let own_index = own.key.get(outer.map_or(0, |outer| outer.key.len()));
        let own_index = option(own_index.map(|name| slot(name)));
        let key = own.key.iter().map(|name| slot(name));
        let (is_root, is_container) = (name == root, name == container);
        let Scope { description, of, phases, repeatable, ends, withdraws, kept, exclusive, .. } = own;
        let [until, again, complete, in_parent, in_response] =
            [&own.until, &own.again, &own.complete, &own.in_parent, &own.in_response]
                .map(|text| option_text(text.as_deref()));
        let (content, in_body) = (own.content.expression(), file.places_in_body(own));
        quote! {
            ScopeInfo {
                scope: #scope,
                name: #name,
                description: #description,
                is_root: #is_root,
                is_container: #is_container,
                parent: #parent,
                key: &[#(#key),*],
                own_index: #own_index,
                of: &[#(#of),*],
                content: #content,
                in_parent: #in_parent,
                in_response: #in_response,
                in_body: &[#(#in_body),*],
                phases: &[#(#phases),*],
                repeatable: &[#(#repeatable),*],
                ends: &[#(#ends),*],
                withdraws: #withdraws,
                kept: #kept,
                exclusive: #exclusive,
                until: #until,
                again: #again,
                complete: #complete,
            }
        }
    });
    let doc = format!(" {title}.");
    quote! {
        #[doc = #doc]
        pub static #ident: Api = Api {
            name: #name,
            title: #title,
            path: #path,
            path_of_body: #path_of_body,
            version: #version,
            provider: #provider,
            operation: #operation,
            response_id: #response_id,
            sign_of_life: #sign_of_life,
            signature: #signature,
            operations: #operations,
            request: #request,
            bodies: #bodies,
            error: #error,
            call: #call,
            session: #session,
            encrypted: #encrypted,
            misnomers: #misnomers,
            status: #status,
            order: #order,
            stop: #stop,
            usual_stops: &[#(#usual_stops),*],
            usage: UsagePlaces {
                member: #usage,
                events: &[#(#usage_events),*],
                input: #input,
                cached: #cached,
                written: #written,
                written_parts: [#longer, #shorter],
                output: #output,
                reasoning: #reasoning,
                is_reasoning_apart: #is_reasoning_apart,
                total: #total,
            },
            list: #list,
            root: #root_scope,
            container: #container_scope,
            snapshot: #snapshot,
            index: #index,
            id: #id,
            client_call: #client_call,
            item: #item,
            extensible: &[#(#extensible),*],
            used_when_closed: &[#(#used_when_closed),*],
            first_event_opens: #first_event_opens,
            marker_ends: #marker_ends,
            slots: &[#(#slots),*],
            padding: &[#(#padding),*],
            scopes: [#(#rows),*],
        };
    }
}

/// Emits the constant of the dialect. Rows that another dialect shares are used from there.
pub(super) fn dialect(
    dialect: &Dialect,
    base: Option<&Dialect>,
    api: &ApiFile,
    tables: &Tables,
) -> TokenStream {
    let file = &dialect.file;
    let (name, product, source, summary) = (&dialect.name, &file.product, &file.source, &file.summary);
    let lineage = &dialect.lineage;
    let (framing, rules) = (file.framing.expression(), file.rules.expression());
    let error = &file.error;
    let (signature, fallback) = (dialect.own.signature.expression(), dialect.own.fallback.expression());
    let api_name = names::api(&file.api);
    let opening = option_text(dialect.opening(&api.outer.root));
    let envelope = places(&file.envelope.0);
    let terminal = api.scopes.get(&api.outer.root).map(|root| dialect.terminal(root)).unwrap_or_default();
    let roots = file.roots.iter().map(|(role, name)| quote!((#role, #name)));
    let operations = file.operations.expression();
    let shared = base.map(|base| (super::shared::path(base), base));
    let same_api = shared.as_ref().filter(|(_, base)| base.file.api == file.api);
    let events = tables.events.iter().enumerate().map(|(place, row)| {
        let shared = same_api.filter(|_| row.effects.is_empty()).and_then(|(path, base)| {
            let info = &dialect.events[&row.name];
            let is_same = |other: &Event| {
                other.name == info.name
                    && other.description == info.description
                    && other.lifecycle == info.lifecycle
            };
            let at = Literal::usize_unsuffixed(place);
            let there = Literal::usize_unsuffixed(base.events.values().position(is_same)?);
            let own = row.number;
            Some(quote!(EventInfo { number: #own, schema: check::EVENTS[#at], ..#path::EVENTS[#there] }))
        });
        shared.unwrap_or_else(|| row.expression())
    });
    let names = dialect.types.keys();
    let same_types = shared.as_ref().filter(|(_, base)| base.types.keys().eq(dialect.types.keys()));
    let types = same_types.map_or_else(|| quote!(&[#(#names),*]), |(path, _)| quote!(#path::TYPES));
    let same_render = shared.as_ref().filter(|(_, base)| base.file.render == file.render);
    let render = same_render.map_or_else(|| file.render.expression(), |(path, _)| quote!(#path::RENDER));
    quote! {
        #[allow(unused_imports)]
        pub(crate) const EVENTS: &[crate::table::EventInfo] = {
            use crate::table::*;
            &[#(#events),*]
        };
        const PLACES: &[u16] = &crate::places::places::<{ crate::places::slots(EVENTS) }>(EVENTS);
        pub(crate) const TYPES: &[&str] = #types;
        #[allow(unused_imports)]
        pub(crate) const RENDER: crate::table::Render = {
            use crate::table::*;
            #render
        };

        /// The dialect.
        pub static DIALECT: crate::Dialect = {
            use crate::table::*;
            crate::Dialect {
                name: #name,
                api: &apis::#api_name,
                product: #product,
                source: #source,
                summary: #summary,
                lineage: &[#(#lineage),*],
                signature: #signature,
                fallback: #fallback,
                framing: #framing,
                opening: #opening,
                envelope: &[#(#envelope),*],
                terminal: &[#(#terminal),*],
                error: #error,
                roots: &[#(#roots),*],
                operations: #operations,
                rules: #rules,
                render: RENDER,
                events: EVENTS,
                places: PLACES,
                types: TYPES,
                schemas: &check::TYPES,
                folder: None,
            }
        };
    }
}

fn slot(name: &str) -> TokenStream {
    let name = names::pascal_ident(name);
    quote!(Slot::#name)
}

fn scope(name: &str) -> TokenStream {
    let name = names::pascal_ident(name);
    quote!(Scope::#name)
}

fn places(pointers: &BTreeMap<String, String>) -> impl Iterator<Item = TokenStream> {
    pointers.iter().map(|(name, pointer)| {
        let slot = slot(name);
        quote!((#slot, #pointer))
    })
}

pub(super) fn option(value: Option<TokenStream>) -> TokenStream {
    value.map_or_else(|| quote!(None), |value| quote!(Some(#value)))
}

pub(super) fn option_text(value: Option<&str>) -> TokenStream {
    option(value.map(|text| quote!(#text)))
}

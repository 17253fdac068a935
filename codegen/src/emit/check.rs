//! Tables of schemas as constants.

use proc_macro2::TokenStream;
use quote::quote;

use super::shared::Shared;
use crate::dialect::Dialect;
use crate::formats::{ApiFile, Constant as _};
use crate::names::{self, type_path};
use crate::tables::{NamedTable, Table, Tables, noted};

/// Emits the tables of a dialect, except those shared with another one, and the lists of the tables of events and types.
pub(super) fn emit(dialect: &Dialect, base: Option<&Dialect>, api: &ApiFile, tables: &Tables) -> TokenStream {
    let shared = base.map(|base| {
        let (own, others) = (noted(dialect, api), noted(base, api));
        Shared::new(dialect, base, api, |name| {
            let path = type_path(name);
            own.contains(&path) == others.contains(&path)
        })
    });
    let has_type = |name: &str| shared.as_ref().is_some_and(|shared| shared.types.contains(name));
    let mut printed = Vec::new();
    let own_types = tables.types.iter().filter(|(name, _)| !has_type(name));
    printed.extend(own_types.flat_map(|(_, tables)| tables).map(print));
    let mut events = Vec::new();
    for (name, (schema, tables)) in dialect.events.keys().zip(&tables.schemas) {
        if let Some(shared) = shared.as_ref().filter(|shared| shared.events.contains(name.as_str())) {
            events.push(shared.event(name));
            continue;
        }
        events.push(schema.expression());
        printed.extend(tables.iter().map(print));
    }
    let types: Vec<_> = tables.schemas_of_types().map(|schema| schema.expression()).collect();
    let (count, count_of_types) = (events.len(), types.len());
    let imports = shared.as_ref().map(|shared| {
        let (path, tables) = (shared.path(), shared.types.iter().map(|name| names::table(&type_path(name))));
        quote!(pub(crate) use #path::check::{#(#tables),*};)
    });
    quote! {
        use crate::event::{EventMember, EventSchema, Watch};
        use crate::json::{
            ListSchema, Member, MemberRules, NumberRules, ObjectSchema, Others, Schema, Tag, TextPattern,
            TextRules, UnionSchema,
        };
        use crate::Slot;
        #imports

        /// The schemas of events, sorted by type.
        pub(crate) const EVENTS: [EventSchema; #count] = [#(#events),*];

        /// The schemas of types, sorted by name.
        pub(crate) const TYPES: [Schema; #count_of_types] = [#(#types),*];

        #(#printed)*
    }
}

fn print(NamedTable { name, table }: &NamedTable) -> TokenStream {
    let name = names::table(name);
    let (of_type, table) = match table {
        Table::Object(object) => (quote!(ObjectSchema), object.expression()),
        Table::Union(union) => (quote!(UnionSchema), union.expression()),
        Table::Other(other) => (quote!(Schema), other.expression()),
    };
    quote! { pub(crate) static #name: #of_type = #table; }
}

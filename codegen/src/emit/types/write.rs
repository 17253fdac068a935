//! Writes the types as Rust.

use proc_macro2::TokenStream;
use quote::quote;

use super::lower::{EventItem, Lowered};
use super::model::{Body, Inside, Item, Member, Sizes, Ty, Value, Variant, Word};
use super::new;
use super::ty::{doc, ty};
use crate::names::ident;

pub(super) fn write(lowered: &Lowered) -> TokenStream {
    let sizes = Sizes::new(&lowered.items);
    let events = events(lowered, &sizes);
    let of_events: Vec<&str> = lowered.events.iter().map(|event| event.item.as_str()).collect();
    let structs = of_events.iter().filter_map(|name| lowered.items.get(*name));
    let others = lowered.items.values().filter(|item| !of_events.contains(&item.name.as_str()));
    let is_own = |item: &&Item| !lowered.shared.contains(&item.name);
    let items = structs.chain(others).filter(is_own).map(|item| self::item(item, &sizes));
    let samples = samples(lowered, &sizes);
    quote!(#events #(#items)* #samples)
}

/// A table of new values, each the name of its event or type and its JSON, which a test validates.
fn samples(lowered: &Lowered, sizes: &Sizes<'_>) -> TokenStream {
    let own = lowered.items.values().filter(|item| !lowered.shared.contains(&item.name));
    let impls = own.filter_map(|item| match &item.body {
        Body::Struct(members) => Some(new::sample(&ident(&item.name), members, sizes)),
        _ => None,
    });

    let events = lowered.events.iter().map(|event| (&event.wire, &event.item));
    let rows = lowered.types.iter().chain(events).filter_map(|(wire, item)| {
        let is_struct = matches!(lowered.items.get(item)?.body, Body::Struct(_));
        let name = ident(item);
        is_struct.then(|| quote!((#wire, || #name::to_json(&Sample::sample())),))
    });
    quote! {
        #[cfg(feature = "samples")]
        #[doc(hidden)]
        pub mod samples {
            use super::*;
            use crate::Sample;

            #(#impls)*
            pub const ALL: &[(&str, fn() -> String)] = &[#(#rows)*];
        }
    }
}

fn events(lowered: &Lowered, sizes: &Sizes<'_>) -> TokenStream {
    let events = &lowered.events;
    let accessors = accessors(lowered);
    let is_struct = |event: &&EventItem| matches!(lowered.items[&event.item].body, Body::Struct(_));
    let conversions = events.iter().filter(is_struct).map(|event| {
        let (variant, item) = (ident(&event.variant), ident(&event.item));
        quote! {
            impl<'a> From<#item<'a>> for Event<'a> {
                #[inline]
                fn from(event: #item<'a>) -> Self {
                    Self::#variant(event.into())
                }
            }
        }
    });
    let variants = events.iter().map(|event| {
        let doc = doc(&format!("`{}`", event.wire));
        let (variant, ty) =
            (ident(&event.variant), ty(&Ty::Named(event.item.clone()), Inside::Struct, sizes));
        quote!(#doc #variant(#ty),)
    });
    let rows = events.iter().map(|EventItem { wire, variant, .. }| {
        let variant = ident(variant);
        quote!(#wire #variant;)
    });
    quote! {
        /// An event of a stream.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum Event<'a> {
            #(#variants)*
            /// An event that the dialect does not list, or that does not match its type.
            Unknown(UnknownEvent<'a>),
        }
        events! { Event; #(#rows)* }
        #(#conversions)*
        #accessors
    }
}

/// For members that locate an event, which clients need for every event.
fn accessors(lowered: &Lowered) -> TokenStream {
    let arms = |name: &str, text: bool| {
        let arm = |event: &EventItem| {
            let Body::Struct(members) = &lowered.items.get(&event.item)?.body else { return None };
            let member = members.iter().find(|member| member.wire == name)?;
            let (variant, field) = (ident(&event.variant), ident(&member.name));
            Some(match (&member.value, text) {
                (Value::Required(Ty::Text), true) => {
                    quote!(Self::#variant(event) => Some(event.#field.as_str().into()),)
                }
                (Value::Optional(Ty::Text), true) => {
                    quote!(Self::#variant(event) => event.#field.as_ref().map(|id| id.as_str().into()),)
                }
                (Value::Required(Ty::Integer), false) => {
                    quote!(Self::#variant(event) => event.#field.as_u64(),)
                }
                (Value::Optional(Ty::Integer), false) => {
                    quote!(Self::#variant(event) => event.#field.as_ref().and_then(Integer::as_u64),)
                }
                _ => return None,
            })
        };
        lowered.events.iter().filter_map(arm).collect::<Vec<_>>()
    };
    let (numbers, indices, ids) =
        (arms("sequence_number", false), arms("output_index", false), arms("item_id", true));
    quote! {
        impl Event<'_> {
            /// Returns the `sequence_number`, if the event has a valid one.
            pub fn sequence_number(&self) -> Option<u64> {
                match self {
                    #(#numbers)*
                    Self::Unknown(unknown) => unknown.whole("/sequence_number"),
                    #[allow(unreachable_patterns)]
                    _ => None,
                }
            }

            /// Returns the `output_index`: the position of the event's item in the output.
            pub fn output_index(&self) -> Option<u64> {
                match self {
                    #(#indices)*
                    Self::Unknown(unknown) => unknown.whole("/output_index"),
                    #[allow(unreachable_patterns)]
                    _ => None,
                }
            }

            /// Returns the `item_id`: the id of the event's item.
            pub fn item_id(&self) -> Option<std::borrow::Cow<'_, str>> {
                match self {
                    #(#ids)*
                    Self::Unknown(unknown) => unknown.text("/item_id"),
                    #[allow(unreachable_patterns)]
                    _ => None,
                }
            }
        }
    }
}

fn item(item: &Item, sizes: &Sizes<'_>) -> TokenStream {
    let (name, doc) = (ident(&item.name), doc(&item.doc));
    match &item.body {
        Body::Struct(members) => {
            let fields = members.iter().filter_map(|member| field(member, sizes));
            let rows = members.iter().map(row);
            let new = new::constructor(&name, members, sizes);
            quote! {
                #doc
                #[derive(Debug, Clone, PartialEq)]
                pub struct #name<'a> {
                    #(#fields)*
                    /// Members that are not declared, or are invalid.
                    pub extra: Extra<'a>,
                }
                object! { #name; #(#rows)* }
                #new
            }
        }
        Body::Strings(words) => strings(&name, &doc, words),
        Body::Union { tag, variants } => union(&name, &doc, tag, variants, sizes),
        Body::Alias(target) => {
            let lifetime = if sizes.borrows(target) { quote!(<'a>) } else { quote!() };
            let target = ty(target, Inside::Collection, sizes);
            quote!(#doc pub type #name #lifetime = #target;)
        }
    }
}

fn field(member: &Member, sizes: &Sizes<'_>) -> Option<TokenStream> {
    let ty = match &member.value {
        Value::Constant(_) => return None,
        Value::Required(inner) => ty(inner, Inside::Struct, sizes),
        Value::Optional(inner) => {
            let inner = ty(inner, Inside::Struct, sizes);
            quote!(Option<#inner>)
        }
    };
    let (name, doc) = (ident(&member.name), doc(&member.doc));
    Some(quote!(#doc pub #name: #ty,))
}

fn row(member: &Member) -> TokenStream {
    let (wire, name) = (&member.wire, ident(&member.name));
    if wire.contains(['"', '\\']) || wire.contains(char::is_control) {
        let problem =
            format!("property {wire:?} needs escapes in JSON; `ObjectWriter` does not escape names");
        return quote!(compile_error!(#problem););
    }
    match &member.value {
        Value::Constant(value) => quote!(const #wire #name = #value;),
        Value::Required(_) => quote!(#wire #name required;),
        Value::Optional(_) => quote!(#wire #name optional;),
    }
}

fn strings(name: &proc_macro2::Ident, doc: &TokenStream, words: &[Word]) -> TokenStream {
    let variants = words.iter().map(|word| {
        let (variant, doc) = (ident(&word.name), self::doc(&format!("`{}`", word.wire)));
        quote!(#doc #variant,)
    });
    let rows = words.iter().map(|word| {
        let (wire, variant) = (&word.wire, ident(&word.name));
        quote!(#wire #variant;)
    });
    quote! {
        #doc
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum #name<'a> {
            #(#variants)*
            /// An unknown value.
            Unknown(Str<'a>),
        }
        strings! { #name; #(#rows)* }
    }
}

fn union(
    name: &proc_macro2::Ident,
    doc: &TokenStream,
    tag: &str,
    variants: &[Variant],
    sizes: &Sizes<'_>,
) -> TokenStream {
    let declared = variants.iter().map(|variant| {
        let doc = self::doc(&variant_doc(tag, variant));
        let (name, ty) = (ident(&variant.name), ty(&variant.ty, Inside::Union, sizes));
        quote!(#doc #name(#ty),)
    });
    let rows = variants.iter().map(|variant| {
        let (name, tags) = (ident(&variant.name), &variant.tags);
        let tags = (!tags.is_empty()).then(|| quote!(= #(#tags)*));
        let kinds = variant.kinds.iter().map(|kind| ident(&format!("{kind:?}").to_uppercase()));
        let kinds = (!variant.kinds.is_empty()).then(|| quote!(in #(#kinds)*));
        quote!(#name #tags #kinds;)
    });
    quote! {
        #doc
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum #name<'a> {
            #(#declared)*
            /// An unknown value.
            Unknown(Raw<'a>),
        }
        union! { #name by #tag; #(#rows)* }
    }
}

fn variant_doc(tag: &str, variant: &Variant) -> String {
    let values: Vec<String> = variant.tags.iter().map(|value| format!("`{value}`")).collect();
    let kinds: Vec<&str> = variant.kinds.iter().map(|kind| kind.in_words()).collect();
    let mut doc = Vec::new();
    if !values.is_empty() {
        doc.push(format!("`{tag}` is {}", values.join(" or ")));
    }
    if !kinds.is_empty() {
        doc.push(format!("it is {}", kinds.join(" or ")));
    }
    let mut doc = doc.join(", or ") + ".";
    if let Some(first) = doc.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    doc
}

//! Emits the edits that break a recording.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::tables::{option, option_text};
use super::words::word;
use crate::formats::{Edit, Target};

pub(super) fn edit(edit: &Edit) -> TokenStream {
    let targets = edit.targets().into_iter().map(target);
    let targets = quote!(#(#targets),*);
    match edit {
        Edit::Drop(_) => quote!(Edit::Drop(#targets)),
        Edit::Duplicate(_) => quote!(Edit::Duplicate(#targets)),
        Edit::Swap(..) => quote!(Edit::Swap(#targets)),
        Edit::Set(_, pointer, value) => {
            let value = value.to_string();
            quote!(Edit::Set(#targets, #pointer, #value))
        }
        Edit::Prepend(_, pointer, text) => quote!(Edit::Prepend(#targets, #pointer, #text)),
        Edit::Unset(_, pointer) => quote!(Edit::Unset(#targets, #pointer)),
        Edit::Insert(at, _, data) => {
            let (at, data) = (word(*at), data.to_string());
            quote!(Edit::Insert(#at, #targets, #data))
        }
        Edit::Truncate(_) => quote!(Edit::Truncate(#targets)),
        Edit::Renumber => quote!(Edit::Renumber),
        Edit::Data(_, data) => {
            let data = bytes(data);
            quote!(Edit::Data(#targets, #data))
        }
        Edit::Field(_, name, value) => {
            let value = bytes(value);
            quote!(Edit::Field(#targets, #name, #value))
        }
        Edit::Unfield(_, name) => quote!(Edit::Unfield(#targets, #name)),
        Edit::Replace(_, from, to) => {
            let (from, to) = (bytes(from), bytes(to));
            quote!(Edit::Replace(#targets, #from, #to))
        }
        Edit::Comment(at, _, text) => {
            let (at, text) = (word(*at), bytes(text));
            quote!(Edit::Comment(#at, #targets, #text))
        }
        Edit::Header(name, value) => {
            let value = bytes(value);
            quote!(Edit::Header(#name, #value))
        }
        Edit::Status(status) => quote!(Edit::Status(#status)),
    }
}

fn target(target: &Target) -> TokenStream {
    let event = option_text(target.event.as_deref());
    let number = option(target.number.map(|number| quote!(#number)));
    quote!(Target { event: #event, number: #number })
}

fn bytes(bytes: &[u8]) -> Literal {
    Literal::byte_string(bytes)
}

//! Writes the names of types, and documentation.

use proc_macro2::TokenStream;
use quote::quote;

use super::model::{Inside, Sizes, Ty};
use crate::names::ident;

pub(super) fn ty(of: &Ty, inside: Inside, sizes: &Sizes<'_>) -> TokenStream {
    match of {
        Ty::Text => quote!(Str<'a>),
        Ty::Integer => quote!(Integer),
        Ty::Number => quote!(Number<'a>),
        Ty::Boolean => quote!(bool),
        Ty::Any => quote!(Raw<'a>),
        Ty::Members => quote!(Extra<'a>),
        Ty::List(inner) => {
            let inner = ty(inner, Inside::Collection, sizes);
            quote!(Vec<#inner>)
        }
        Ty::Map(inner) => {
            let inner = ty(inner, Inside::Collection, sizes);
            quote!(Map<'a, #inner>)
        }
        Ty::Nullable(inner) => {
            let inner = ty(inner, inside, sizes);
            quote!(Nullable<#inner>)
        }
        Ty::Named(name) => {
            let lifetime = if sizes.borrows(of) { quote!(<'a>) } else { quote!() };
            let boxed = sizes.is_boxed(name, inside);
            let name = ident(name);
            if boxed { quote!(Box<#name #lifetime>) } else { quote!(#name #lifetime) }
        }
    }
}

pub(super) fn doc(text: &str) -> TokenStream {
    let lines = text.lines().map(|line| if line.is_empty() { String::new() } else { format!(" {line}") });
    quote!(#(#[doc = #lines])*)
}

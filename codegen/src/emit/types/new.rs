//! Emits constructors: with the required values as arguments, or `Default` if there are none.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::model::{Body, Inside, Member, Sizes, Start, Ty, Value};
use super::ty::{doc, ty};
use crate::names::ident;

/// `Default` if there are no arguments.
pub(super) fn constructor(name: &Ident, members: &[Member], sizes: &Sizes<'_>) -> TokenStream {
    let (given, rest): (Vec<_>, Vec<_>) = required(members).partition(|(member, _)| sizes.is_given(member));
    let set = rest.into_iter().filter_map(|(member, _)| {
        let field = ident(&member.name);
        match &member.start {
            Start::Json(json) => Some(quote!(#field: crate::literal(#json),)),
            Start::Inner => Some(quote!(#field: Default::default(),)),
            Start::Empty | Start::Given => None,
        }
    });
    let preset = members.iter().filter_map(|member| match &member.start {
        Start::Json(json) => Some(format!("`{}` is `{json}`", member.wire)),
        _ => None,
    });
    let preset = preset.collect::<Vec<_>>();
    let others = match preset.as_slice() {
        [] => "Other members are absent, `null` or empty.".to_owned(),
        preset => format!("{}. Other members are absent, `null` or empty.", preset.join(", ")),
    };
    if given.is_empty() {
        let doc = doc(&others);
        return quote! {
            #doc
            impl Default for #name<'_> {
                #[inline]
                fn default() -> Self {
                    Self { #(#set)* ..crate::Blank::blank() }
                }
            }
        };
    }
    let doc = doc(&format!("Creates a value from the required members. {others}"));
    let parameters = given.iter().map(|(member, of)| {
        let (field, of) = (ident(&member.name), parameter(of, sizes));
        quote!(#field: #of)
    });
    let fields = given.iter().map(|(member, _)| {
        let field = ident(&member.name);
        quote!(#field: #field.into(),)
    });
    quote! {
        impl<'a> #name<'a> {
            #doc
            #[inline]
            pub fn new(#(#parameters),*) -> Self {
                Self { #(#fields)* #(#set)* ..crate::Blank::blank() }
            }
        }
    }
}

/// A test creates a value with it.
pub(super) fn sample(name: &Ident, members: &[Member], sizes: &Sizes<'_>) -> TokenStream {
    let given = required(members).filter(|(member, _)| sizes.is_given(member));
    let given: Vec<_> = given.map(|(_, of)| ty(of, Inside::Collection, sizes)).collect();
    let value = if given.is_empty() {
        quote!(Self::default())
    } else {
        quote!(Self::new(#(<#given as Sample>::sample()),*))
    };
    quote! {
        impl<'a> Sample for #name<'a> {
            fn sample() -> Self {
                #value
            }
        }
    }
}

fn required(members: &[Member]) -> impl Iterator<Item = (&Member, &Ty)> {
    members.iter().filter_map(|member| match &member.value {
        Value::Required(ty) => Some((member, ty)),
        _ => None,
    })
}

/// `impl Into` for texts and numbers.
fn parameter(of: &Ty, sizes: &Sizes<'_>) -> TokenStream {
    let plain = ty(of, Inside::Collection, sizes);
    let resolved = sizes.resolve(of);
    let is_lenient = matches!(resolved, Ty::Text | Ty::Integer | Ty::Number)
        || matches!(sizes.body(resolved), Some(Body::Strings(_)));
    if is_lenient { quote!(impl Into<#plain>) } else { plain }
}

//! Emits the enums of the closed lists of words in the files, and single words.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use crate::formats::Word;

/// Returns the enum of all words of a list.
pub(super) fn declare<W: Word>() -> TokenStream {
    let (of, meaning, count) = (format_ident!("{}", W::TYPE), docs(W::MEANING), W::ALL.len());
    let variants: Vec<Ident> = W::ALL.iter().map(|(word, _)| variant(*word)).collect();
    let meanings = W::ALL.iter().map(|(_, meaning)| docs(meaning));
    let names = W::ALL.iter().map(|(word, _)| word.text());
    quote! {
        #meaning
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum #of { #(#meanings #variants,)* }

        impl #of {
            /// All words.
            pub const ALL: [Self; #count] = [#(Self::#variants),*];

            /// Returns its name in the files of the specification.
            pub const fn name(self) -> &'static str {
                match self { #(Self::#variants => #names,)* }
            }
        }
    }
}

/// Returns a word as an expression.
pub(super) fn word<W: Word>(word: W) -> TokenStream {
    let (of, variant) = (format_ident!("{}", W::TYPE), variant(word));
    quote!(#of::#variant)
}

fn variant<W: Word>(word: W) -> Ident {
    format_ident!("{}", word.variant())
}

fn docs(text: &str) -> TokenStream {
    let lines = text.lines();
    quote!(#(#[doc = #lines])*)
}

//! Emits the enums of the closed lists of words in the files, and single words.

use proc_macro2::TokenStream;

use crate::formats::{Constant, Declared};

/// Returns the enum of all words of a list.
pub(super) fn declare<W: Declared>() -> TokenStream {
    W::declaration()
}

/// Returns a word as an expression.
pub(super) fn word<W: Constant + Copy>(word: W) -> TokenStream {
    word.expression()
}

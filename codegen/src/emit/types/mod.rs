//! Emits the typed events of a dialect: what they hold, and how they are read and written.

#[cfg(feature = "cli")]
mod layout;
mod lower;
mod model;
mod write;

use proc_macro2::TokenStream;
use quote::quote;

use crate::dialect::Dialect;
use crate::formats::Glossary;

#[cfg(feature = "cli")]
pub use layout::layout;
#[cfg(feature = "cli")]
pub(super) use lower::Names;

/// Emits the types of one dialect.
pub fn emit(dialect: &Dialect, glossary: &Glossary) -> TokenStream {
    let items = write::write(&lower::lower(dialect, glossary));
    quote! {
        pub use crate::json::UnknownEvent;
        #[allow(unused_imports)]
        use crate::json::{Extra, Integer, Map, Nullable, Number, Raw, Str, events, object, strings, union};
        #items
    }
}

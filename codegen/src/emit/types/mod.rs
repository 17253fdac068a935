//! Emits the typed events of a dialect, with readers and writers.

#[cfg(feature = "show")]
mod layout;
mod lower;
mod model;
mod new;
mod ty;
mod write;

use proc_macro2::TokenStream;
use quote::quote;

use crate::dialect::Dialect;
use crate::formats::Glossary;
use crate::names;

#[cfg(feature = "show")]
pub(super) use layout::layout;
#[cfg(feature = "show")]
pub(super) use lower::Names;

/// Emits the module of a dialect in the crate `types`. Types shared with `base`, a dialect of the same build that it
/// extends, are used from there.
pub fn emit(dialect: &Dialect, base: Option<&Dialect>, glossary: &Glossary) -> TokenStream {
    let mut lowered = lower::lower(dialect, glossary);
    let shared = base.map(|base| {
        let other = lower::lower(base, glossary);
        let module = names::ident(&super::module(&base.name));
        let shared = model::shared(&lowered.items, &other.items);
        let idents = shared.iter().map(|name| names::ident(name));
        let imports = quote!(pub use crate::#module::{#(#idents),*};);
        (imports, shared)
    });
    let (imports, shared) = shared.unwrap_or_default();
    lowered.shared = shared;
    let items = write::write(&lowered);
    let module = names::ident(&super::module(&dialect.name));
    quote! {
        #imports
        pub use spec::#module::DIALECT;
        pub use crate::UnknownEvent;
        #[allow(unused_imports)]
        use crate::{Extra, Integer, Map, Nullable, Number, Raw, Str, events, object, strings, union};
        #items
    }
}

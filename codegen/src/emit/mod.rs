//! Emits the generated Rust of the crates `spec`, `types` and `catalogue`.

macro_rules! declarations {
    ($($of:ident)+) => {
        [$(<$of as crate::formats::Declared>::declaration()),+]
    };
}

/// The code that makes values of these types of a module.
macro_rules! leaking {
    ($from:ident: $($of:ident)+) => {{
        let from = quote!(::codegen::$from);
        [$(<crate::$from::$of as crate::formats::Leaked>::leaking(&from)),+]
    }};
}

mod catalogue;
mod check;
mod impact;
mod shared;
#[cfg(feature = "show")]
mod show;
mod tables;
mod types;

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use quote::quote;

use crate::dialect::Dialect;
use crate::formats::ApiFile;
use crate::names;
use crate::tables::Tables;

pub use catalogue::catalogue;
#[cfg(feature = "show")]
pub use show::show;
pub use tables::{apis, leaks, words};
pub use types::emit as types;

/// Emits the module of a dialect in the crate `spec`: its validators and tables. Code shared with `base`, a dialect of the
/// same build that it extends, is used from there.
///
/// # Errors
///
/// Fails on a schema that validators do not support.
pub fn dialect(dialect: &Dialect, base: Option<&Dialect>, api: &ApiFile) -> Result<TokenStream, String> {
    let built = Tables::of(dialect, api)?;
    let checks = check::emit(dialect, base, api, &built);
    let table = tables::dialect(dialect, base, api, &built);
    Ok(quote! {
        #[allow(unused_imports, unused_variables)]
        pub(crate) mod check { #checks }
        #table
    })
}

/// Emits the declarations of the modules of dialects, whose code is in files of their names, and a macro that hands
/// their names on. Modules that are `hidden` are not among these, and not documented.
pub fn modules(listed: &[Dialect], hidden: &[Dialect]) -> TokenStream {
    let all = listed.iter().map(|one| (one, false)).chain(hidden.iter().map(|one| (one, true)));
    let modules = all.map(|(dialect, is_hidden)| {
        let name = module(&dialect.name);
        let (ident, file, summary) = (names::ident(&name), format!("/{name}.rs"), &dialect.file.summary);
        let hidden = is_hidden.then(|| quote!(#[doc(hidden)]));
        quote! {
            #hidden
            #[doc = #summary]
            #[allow(clippy::pedantic, clippy::all)]
            pub mod #ident {
                include!(concat!(env!("OUT_DIR"), #file));
            }
        }
    });
    let names = listed.iter().map(|dialect| {
        let (ident, name) = (names::ident(&module(&dialect.name)), &dialect.name);
        quote!(#ident #name)
    });
    quote! {
        #(#modules)*

        /// Hands a macro the modules and the names of all dialects of this build.
        #[macro_export]
        macro_rules! with_dialects {
            ($then:ident) => {
                $then! { #(#names)* }
            };
        }
    }
}

/// Emits the modules of dialects in the crate `spec`, and the list of those that it lists.
pub fn dialects(listed: &[Dialect], hidden: &[Dialect]) -> TokenStream {
    let modules = modules(listed, hidden);
    let names = listed.iter().map(|dialect| names::ident(&module(&dialect.name)));
    quote! {
        #modules

        /// The dialects that this build has.
        pub static DIALECTS: &[&Dialect] = &[#(&#names::DIALECT),*];
    }
}

/// Returns the name of the module of a dialect. With dashes, it is the name of the cargo feature.
pub fn module(dialect: &str) -> String {
    names::snake(dialect)
}

/// Writes tokens as a file for the compiler, with a line for each statement and item, so that its messages have
/// useful lines.
pub fn source(tokens: TokenStream) -> String {
    let mut text = String::new();
    write(tokens, &mut text);
    text
}

fn write(tokens: TokenStream, text: &mut String) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Brace => ("{\n", "}\n"),
                    Delimiter::Bracket => ("[", "] "),
                    Delimiter::Parenthesis => ("(", ") "),
                    Delimiter::None => ("", " "),
                };
                text.push_str(open);
                write(group.stream(), text);
                text.push_str(close);
            }
            TokenTree::Punct(mark) => {
                text.push(mark.as_char());
                match (mark.as_char(), mark.spacing()) {
                    (_, Spacing::Joint) => {}
                    (';' | ',', Spacing::Alone) => text.push('\n'),
                    (_, Spacing::Alone) => text.push(' '),
                }
            }
            TokenTree::Ident(name) => text.extend([&name.to_string(), " "]),
            TokenTree::Literal(literal) => text.extend([&literal.to_string(), " "]),
        }
    }
}

/// Formats tokens as a readable file.
///
/// # Panics
///
/// Panics if the tokens are not Rust, which is a bug of the emitter.
#[cfg(feature = "show")]
pub fn format(tokens: &TokenStream) -> String {
    let file = syn::parse2(tokens.clone())
        .unwrap_or_else(|error| panic!("the generator wrote invalid Rust: {error}\n{tokens}"));
    types::layout(&prettyplease::unparse(&file))
}

//! Emits the generated Rust of the crates `spec` and `catalogue`.

/// Returns the declarations of these types.
macro_rules! declarations {
    ($($of:ident)+) => {
        [$(<$of as crate::formats::Declared>::declaration()),+]
    };
}

mod catalogue;
mod check;
mod measured;
mod names;
mod order;
mod shared;
#[cfg(feature = "cli")]
mod show;
mod tables;
pub mod types;

use proc_macro2::{Delimiter, Literal, Spacing, TokenStream, TokenTree};
use quote::quote;

use crate::dialect::Dialect;
use crate::formats::{ApiFile, Glossary};

pub use catalogue::catalogue;
#[cfg(feature = "cli")]
pub use show::show;
pub use tables::{apis, words};

/// Emits the module of a dialect: its validators and tables, and with a glossary its types. Code shared with `base`, a
/// dialect of the same build that it extends, is used from there.
///
/// # Errors
///
/// Fails on a schema without a Rust equivalent.
pub fn dialect(
    dialect: &Dialect,
    base: Option<&Dialect>,
    api: &ApiFile,
    glossary: Option<&Glossary>,
) -> Result<TokenStream, String> {
    let types = glossary.map(|glossary| types::emit(dialect, base, glossary));
    let checks = check::emit(dialect, base, api)?;
    let table = tables::dialect(dialect, base, api);
    Ok(quote! {
        #types
        #[allow(unused_imports, unused_variables)]
        pub(crate) mod check { #checks }
        #table
    })
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
#[cfg(feature = "cli")]
pub fn format(tokens: &TokenStream) -> String {
    let file = syn::parse2(tokens.clone())
        .unwrap_or_else(|error| panic!("the generator wrote invalid Rust: {error}\n{tokens}"));
    types::layout(&prettyplease::unparse(&file))
}

/// Returns a `match` over strings, by length first to save comparisons.
fn lookup<'n>(
    subject: &TokenStream,
    arms: impl IntoIterator<Item = (&'n str, TokenStream)>,
    otherwise: &TokenStream,
) -> TokenStream {
    let arms = arms.into_iter().map(|(name, body)| {
        let (length, name) = (Literal::usize_unsuffixed(name.len()), Literal::string(name));
        quote!((#length, #name) => #body,)
    });
    quote!(match (#subject.len(), #subject) { #(#arms)* _ => #otherwise })
}

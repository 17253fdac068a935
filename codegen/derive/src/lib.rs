//! `#[derive(Constant)]` for the types of `codegen::formats`.
//!
//! A value that is read into `String` and `Vec` is written into generated code as a constant of `&'static str` and `&'static
//! [T]`. The type is declared once, and the declaration for programs follows from it: with the same name, members and
//! documentation.

use proc_macro2::{Ident, Punct, Spacing, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Attribute, Data, DeriveInput, Error, Field, Fields, Result, Token, Type, Variant};

/// Implements `Constant`, `Declared` and `Leaked`.
///
/// A struct can differ in programs: `#[constant(skip)]` is for a member that only files have, and an attribute of the
/// struct lists members that only programs have. Methods return their values:
///
/// ```text
/// #[constant(
///     /// Its length.
///     length: usize
/// )]
/// ```
///
/// A struct with `#[constant(new)]` is made by `new` of the type in programs, with its members in order. A variant with
/// `#[constant(inner)]` stands for the value in it, and is none in programs.
///
/// If no variant of an enum has data, the enum has `ALL` and `name`, both here and in programs.
#[proc_macro_derive(Constant, attributes(constant))]
pub fn constant(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let expanded = syn::parse(input).and_then(|input| expand(&input));
    expanded.unwrap_or_else(Error::into_compile_error).into()
}

fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let (name, docs) = (&input.ident, docs(&input.attrs));
    let (expression, leaked, declaration, words) = match &input.data {
        Data::Struct(data) => {
            let members = of_struct(input, &data.fields)?;
            let expression = members.expression(&quote!(#name));
            let leaked = members.leaked(&quote!(#name));
            let head = quote!(#(#docs)* #[derive(Debug, Clone, Copy, PartialEq, Eq)] pub struct #name);
            (expression, leaked, members.declaration(&head, &quote!(pub)), None)
        }
        Data::Enum(data) => {
            let all = data.variants.iter().map(|variant| Ok((&variant.ident, of_variant(variant)?)));
            let all: Vec<(&Ident, Members)> = all.collect::<Result<_>>()?;
            let arms = all.iter().map(|(variant, members)| {
                let (pattern, expression) = (&members.pattern, members.expression(&quote!(#name::#variant)));
                quote!(Self::#variant #pattern => #expression)
            });
            let leaking = all.iter().map(|(variant, members)| {
                let (pattern, leaked) = (&members.pattern, members.leaked(&quote!(#name::#variant)));
                quote!(Self::#variant #pattern => #leaked)
            });
            let leaked = quote!(match self { #(#leaking,)* });
            let listed =
                data.variants.iter().zip(&all).filter(|(_, (_, members))| members.form != Form::Inner);
            let variants = listed.map(|(variant, (_, members))| {
                let (docs, variant_name) = (self::docs(&variant.attrs), &variant.ident);
                members.declaration(&quote!(#(#docs)* #variant_name), &quote!())
            });
            let words = words(data.variants.iter());
            let order = words.as_ref().map(|_| quote!(, Hash, PartialOrd, Ord));
            let derives = quote!(#[derive(Debug, Clone, Copy, PartialEq, Eq #order)]);
            let words = words.map(|words| quote!(impl #name { #words }));
            let pound = Punct::new('#', Spacing::Alone);
            let declaration = quote!({
                let variants = [#(#variants),*];
                ::quote::quote!(#(#docs)* #derives pub enum #name { #pound(#pound variants,)* } #words)
            });
            (quote!(match self { #(#arms,)* }), leaked, declaration, words)
        }
        Data::Union(_) => return Err(Error::new_spanned(name, "expected a struct or an enum")),
    };
    let pound = Punct::new('#', Spacing::Alone);
    Ok(quote! {
        impl crate::formats::Leaked for #name {
            fn leaking(from: &::proc_macro2::TokenStream) -> ::proc_macro2::TokenStream {
                ::quote::quote! {
                    impl crate::folder::Leak for #pound from::#name {
                        type To = #name;

                        fn leaked(&self, tables: &crate::folder::Tables) -> #name {
                            #leaked
                        }
                    }
                }
            }
        }

        impl crate::formats::Constant for #name {
            fn of() -> ::proc_macro2::TokenStream {
                ::quote::quote!(#name)
            }

            fn expression(&self) -> ::proc_macro2::TokenStream {
                #expression
            }
        }

        impl crate::formats::Declared for #name {
            fn declaration() -> ::proc_macro2::TokenStream {
                #declaration
            }
        }

        #words
    })
}

/// The members of a struct or of a variant, as far as programs have them.
struct Members {
    all: Vec<Member>,
    form: Form,
    /// The pattern that takes a variant apart.
    pattern: TokenStream,
}

/// How a value is written in programs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Named,
    Unnamed,
    /// By the function `new`.
    New,
    /// As the value in it.
    Inner,
}

struct Member {
    docs: Vec<Attribute>,
    name: Ident,
    of: Type,
    value: TokenStream,
}

fn of_struct(input: &DeriveInput, fields: &Fields) -> Result<Members> {
    let (mut all, mut form) = (Vec::new(), Form::Named);
    for field in fields {
        let Some(name) = &field.ident else {
            return Err(Error::new_spanned(field, "expected a member with a name"));
        };
        if !is_skipped(field)? {
            all.push(Member::new(field, name.clone(), quote!(&self.#name)));
        }
    }
    for attribute in settings(&input.attrs) {
        if has_word(attribute, "new") {
            form = Form::New;
            continue;
        }
        let parse = |input: ParseStream<'_>| {
            Punctuated::<_, Token![,]>::parse_terminated_with(input, Field::parse_named)
        };
        let more = attribute.parse_args_with(parse)?;
        for field in &more {
            let Some(name) = &field.ident else { continue };
            all.push(Member::new(field, name.clone(), quote!(&self.#name())));
        }
    }
    Ok(Members { all, form, pattern: TokenStream::new() })
}

fn has_word(attribute: &Attribute, word: &str) -> bool {
    attribute.parse_args::<Ident>().is_ok_and(|written| written == word)
}

fn is_skipped(field: &Field) -> Result<bool> {
    let Some(attribute) = settings(&field.attrs).next() else { return Ok(false) };
    let word: Ident = attribute.parse_args()?;
    if word == "skip" { Ok(true) } else { Err(Error::new_spanned(word, "expected `skip`")) }
}

fn settings(attributes: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attributes.iter().filter(|attribute| attribute.path().is_ident("constant"))
}

fn of_variant(variant: &Variant) -> Result<Members> {
    let all = variant.fields.iter().enumerate().map(|(at, field)| {
        let name = field.ident.clone().unwrap_or_else(|| format_ident!("member_{at}"));
        let value = quote!(#name);
        Member::new(field, name, value)
    });
    let all: Vec<Member> = all.collect();
    let names = all.iter().map(|member| &member.name);
    let pattern = match &variant.fields {
        Fields::Named(_) => quote!({ #(#names),* }),
        Fields::Unnamed(_) => quote!((#(#names),*)),
        Fields::Unit => TokenStream::new(),
    };
    let form = match (&variant.fields, settings(&variant.attrs).next()) {
        (Fields::Unnamed(fields), Some(attribute))
            if fields.unnamed.len() == 1 && has_word(attribute, "inner") =>
        {
            Form::Inner
        }
        (_, Some(attribute)) => return Err(Error::new_spanned(attribute, "expected `inner`, and one value")),
        (Fields::Named(_), None) => Form::Named,
        (_, None) => Form::Unnamed,
    };
    Ok(Members { all, form, pattern })
}

impl Member {
    fn new(field: &Field, name: Ident, value: TokenStream) -> Self {
        Self { docs: docs(&field.attrs), name, of: field.ty.clone(), value }
    }

    /// It holds the tokens of the type or value.
    fn variable(&self) -> Ident {
        format_ident!("of_{}", self.name.unraw())
    }
}

impl Members {
    fn expression(&self, of: &TokenStream) -> TokenStream {
        let values =
            self.all.iter().map(|Member { value, .. }| quote!(crate::formats::Constant::expression(#value)));
        self.tokens(values, of, |_, name| quote!(#name:))
    }

    fn leaked(&self, of: &TokenStream) -> TokenStream {
        let names = self.all.iter().map(|member| &member.name);
        let values =
            self.all.iter().map(|Member { value, .. }| quote!(crate::folder::Leak::leaked(#value, tables)));
        match self.form {
            Form::Named => quote!(#of { #(#names: #values),* }),
            Form::New => quote!(#of::new(#(#values),*)),
            Form::Inner => quote!(#(#values)*),
            Form::Unnamed if self.all.is_empty() => quote!(#of),
            Form::Unnamed => quote!(#of(#(#values),*)),
        }
    }

    fn declaration(&self, of: &TokenStream, visible: &TokenStream) -> TokenStream {
        let kinds = self.all.iter().map(|Member { of, .. }| quote!(<#of as crate::formats::Constant>::of()));
        self.tokens(kinds, of, |docs, name| quote!(#(#docs)* #visible #name:))
    }

    /// The code returns `of`, followed by the members with their tokens.
    fn tokens(
        &self,
        tokens: impl Iterator<Item = TokenStream>,
        of: &TokenStream,
        label: impl Fn(&[Attribute], &Ident) -> TokenStream,
    ) -> TokenStream {
        let variables: Vec<Ident> = self.all.iter().map(Member::variable).collect();
        let pound = Punct::new('#', Spacing::Alone);
        let written = match self.form {
            Form::Named => {
                let labels = self.all.iter().map(|member| label(&member.docs, &member.name));
                quote!(#of { #(#labels #pound #variables,)* })
            }
            Form::New => quote!(#of::new(#(#pound #variables),*)),
            Form::Inner => quote!(#(#pound #variables)*),
            Form::Unnamed if self.all.is_empty() => quote!(#of),
            Form::Unnamed => quote!(#of(#(#pound #variables),*)),
        };
        quote!({
            #(let #variables = #tokens;)*
            ::quote::quote!(#written)
        })
    }
}

/// The variants and their names in files. `None` if one has data.
fn words<'v>(variants: impl Iterator<Item = &'v Variant>) -> Option<TokenStream> {
    let names: Option<Vec<&Ident>> =
        variants.map(|variant| variant.fields.is_empty().then_some(&variant.ident)).collect();
    let names = names?;
    let (count, texts) = (names.len(), names.iter().map(|name| kebab(&name.to_string())));
    Some(quote! {
        /// All words.
        pub const ALL: [Self; #count] = [#(Self::#names),*];

        /// Returns its name in the files of the specification.
        pub const fn name(self) -> &'static str {
            match self { #(Self::#names => #texts,)* }
        }
    })
}

/// Converts `NeverClosed` to `never-closed`, as serde does with `rename_all = "kebab-case"`.
fn kebab(name: &str) -> String {
    let mut kebab = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !kebab.is_empty() {
            kebab.push('-');
        }
        kebab.push(letter.to_ascii_lowercase());
    }
    kebab
}

fn docs(attributes: &[Attribute]) -> Vec<Attribute> {
    attributes.iter().filter(|attribute| attribute.path().is_ident("doc")).cloned().collect()
}

//! Types of the files that programs have, too, with their values as constants.

use std::collections::BTreeMap;

use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens as _, quote};
use serde_json::Value;

/// A type whose values are constants of generated code.
pub trait Constant {
    /// Returns the type of the constants.
    fn of() -> TokenStream;

    /// Returns this value as an expression.
    fn expression(&self) -> TokenStream;
}

/// A type that generated code declares, with the members and the documentation that it has here.
pub trait Declared: Constant {
    /// Returns the declaration.
    fn declaration() -> TokenStream;
}

/// A type whose values a program can also make from files, in memory that it never frees.
pub trait Leaked {
    /// The code that makes them, for the type of this name in a module.
    fn leaking(from: &TokenStream) -> TokenStream;
}

/// Implements it for types that are the same in programs.
macro_rules! as_it_is {
    ($($of:ident)+) => {$(
        impl Constant for $of {
            fn of() -> TokenStream {
                quote!($of)
            }

            fn expression(&self) -> TokenStream {
                quote!(#self)
            }
        }
    )+};
}

as_it_is!(bool char u16 usize);

impl Constant for u32 {
    fn of() -> TokenStream {
        quote!(u32)
    }

    /// Returns its digits in groups, as literals are written.
    fn expression(&self) -> TokenStream {
        let digits = self.to_string();
        let is_first_of_group = |at: usize| at > 0 && (digits.len() - at).is_multiple_of(3);
        let written = digits.chars().enumerate();
        let written: String = written
            .flat_map(|(at, digit)| is_first_of_group(at).then_some('_').into_iter().chain([digit]))
            .collect();
        written.parse().unwrap_or_default()
    }
}

impl Constant for u64 {
    fn of() -> TokenStream {
        quote!(u64)
    }

    fn expression(&self) -> TokenStream {
        if *self == Self::MAX { quote!(u64::MAX) } else { Literal::u64_unsuffixed(*self).into_token_stream() }
    }
}

impl Constant for f64 {
    fn of() -> TokenStream {
        quote!(f64)
    }

    fn expression(&self) -> TokenStream {
        match *self {
            Self::INFINITY => quote!(f64::INFINITY),
            Self::NEG_INFINITY => quote!(f64::NEG_INFINITY),
            value => Literal::f64_suffixed(value).into_token_stream(),
        }
    }
}

impl<T: Constant> Constant for Box<T> {
    fn of() -> TokenStream {
        let of = T::of();
        quote!(&'static #of)
    }

    fn expression(&self) -> TokenStream {
        let value = T::expression(self);
        quote!(&#value)
    }
}

impl Constant for String {
    fn of() -> TokenStream {
        quote!(&'static str)
    }

    fn expression(&self) -> TokenStream {
        quote!(#self)
    }
}

/// It is JSON in programs.
impl Constant for Value {
    fn of() -> TokenStream {
        quote!(&'static str)
    }

    fn expression(&self) -> TokenStream {
        self.to_string().expression()
    }
}

impl<T: Constant> Constant for Option<T> {
    fn of() -> TokenStream {
        let of = T::of();
        quote!(Option<#of>)
    }

    fn expression(&self) -> TokenStream {
        let Some(value) = self.as_ref().map(T::expression) else { return quote!(None) };
        quote!(Some(#value))
    }
}

impl<T: Constant> Constant for Vec<T> {
    fn of() -> TokenStream {
        let of = T::of();
        quote!(&'static [#of])
    }

    fn expression(&self) -> TokenStream {
        let values = self.iter().map(T::expression);
        quote!(&[#(#values),*])
    }
}

impl Constant for Vec<u8> {
    fn of() -> TokenStream {
        quote!(&'static [u8])
    }

    fn expression(&self) -> TokenStream {
        let bytes = Literal::byte_string(self);
        quote!(#bytes)
    }
}

impl<K: Constant, V: Constant> Constant for (K, V) {
    fn of() -> TokenStream {
        let (key, value) = (K::of(), V::of());
        quote!((#key, #value))
    }

    fn expression(&self) -> TokenStream {
        let (key, value) = (self.0.expression(), self.1.expression());
        quote!((#key, #value))
    }
}

/// It is a list in programs.
impl<K: Constant + Clone, V: Constant + Clone> Constant for BTreeMap<K, V> {
    fn of() -> TokenStream {
        Vec::<(K, V)>::of()
    }

    fn expression(&self) -> TokenStream {
        let entries: Vec<(K, V)> = self.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        entries.expression()
    }
}

/// Declares enums whose variants are in kebab case in the files; `= Variant` sets the default.
macro_rules! words {
    ($(
        $(#[$doc:meta])+
        pub enum $name:ident $(= $default:ident)? {
            $($(#[$variant_doc:meta])+ $variant:ident,)+
        }
    )+) => {$(
        $(#[$doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[derive(serde::Serialize, serde::Deserialize, codegen_derive::Constant)]
        #[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
        #[serde(rename_all = "kebab-case")]
        pub enum $name {
            $($(#[$variant_doc])+ $variant,)+
        }

        $(impl Default for $name {
            fn default() -> Self {
                Self::$default
            }
        })?
    )+};
}

pub(super) use words;

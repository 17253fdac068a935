//! Initial values.

use crate::{Integer, Map, Nullable, Number, Raw, Read, Str};

/// A type with an initial value, whose members are absent, `null`, zero or empty. It may be invalid until required
/// members are set.
pub(crate) trait Blank {
    fn blank() -> Self;
}

macro_rules! blank_is_default {
    ($([$($parameter:ident)?] $type:ty;)*) => {$(
        impl$(<$parameter>)? Blank for $type {
            #[inline]
            fn blank() -> Self {
                Self::default()
            }
        }
    )*};
}

blank_is_default! {
    [] bool;
    [] Integer;
    [] Number<'_>;
    [] Raw<'_>;
    [] Str<'_>;
    [T] Map<'_, T>;
    [T] Nullable<T>;
    [T] Option<T>;
    [T] Vec<T>;
}

impl<T: Blank> Blank for Box<T> {
    #[inline]
    fn blank() -> Self {
        Self::new(T::blank())
    }
}

/// The text is from the files under `spec/`. A test parses each of them.
pub(crate) fn literal<T: Read<'static> + Blank>(text: &'static str) -> T {
    T::parse(text).unwrap_or_else(|_| T::blank())
}

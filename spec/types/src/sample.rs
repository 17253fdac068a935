//! Values for tests of constructors.

use crate::{Integer, Map, Nullable, Number, Raw, Str};

/// A type with a sample value, made from its required members by its constructor.
pub(crate) trait Sample {
    fn sample() -> Self;
}

impl Sample for bool {
    fn sample() -> Self {
        true
    }
}

impl Sample for Str<'_> {
    fn sample() -> Self {
        "a".into()
    }
}

impl Sample for Integer {
    fn sample() -> Self {
        1.into()
    }
}

impl Sample for Number<'_> {
    fn sample() -> Self {
        1.into()
    }
}

impl Sample for Raw<'_> {
    fn sample() -> Self {
        Raw::of(&true)
    }
}

impl<T: Sample> Sample for Nullable<T> {
    fn sample() -> Self {
        Self::Value(T::sample())
    }
}

impl<T: Sample> Sample for Box<T> {
    fn sample() -> Self {
        Self::new(T::sample())
    }
}

impl<T: Sample> Sample for Vec<T> {
    fn sample() -> Self {
        vec![T::sample()]
    }
}

impl<T: Sample> Sample for Map<'_, T> {
    fn sample() -> Self {
        [("a", T::sample())].into_iter().collect()
    }
}

//! Closed lists of words in the files. Each is defined once, as an enum of the formats; the generator emits the same
//! enum for the crates `spec` and `catalogue`.

use std::fmt::Debug;

use serde::Serialize;

/// A word of a closed list.
pub trait Word: Copy + Debug + Serialize + 'static {
    /// The name of the enum.
    const TYPE: &'static str;
    /// The description of the list.
    const MEANING: &'static str;
    /// All words, each with its description.
    const ALL: &'static [(Self, &'static str)];

    /// Returns the name of its variant.
    fn variant(self) -> String {
        format!("{self:?}")
    }

    /// Returns the word in the files.
    fn text(self) -> String {
        let text = serde_json::to_value(self).ok().and_then(|word| word.as_str().map(str::to_owned));
        text.unwrap_or_else(|| self.variant())
    }
}

/// Declares enums whose variants are in kebab case in the files; `= Variant` sets the default.
macro_rules! words {
    ($(
        #[doc = $meaning:literal]
        $(#[doc = $more:literal])*
        pub enum $name:ident $(= $default:ident)? {
            $($(#[doc = $doc:literal])+ $variant:ident,)+
        }
    )+) => {$(
        #[doc = $meaning]
        $(#[doc = $more])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
        #[serde(rename_all = "kebab-case")]
        pub enum $name {
            $($(#[doc = $doc])+ $variant,)+
        }

        $(impl Default for $name {
            fn default() -> Self {
                Self::$default
            }
        })?

        impl $crate::formats::Word for $name {
            const TYPE: &'static str = stringify!($name);
            const MEANING: &'static str = concat!($meaning $(, "\n", $more)*);
            const ALL: &'static [(Self, &'static str)] = &[$((Self::$variant, concat!($($doc, "\n"),+))),+];
        }
    )+};
}

pub(crate) use words;

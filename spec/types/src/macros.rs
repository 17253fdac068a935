//! Macros that implement reading and writing of generated types.
//!
//! Methods are marked `#[inline]` so that they are compiled only for programs that call them.

/// Implements the public methods of every typed value: its JSON text, and an owned copy.
macro_rules! conversions {
    ($name:ident) => {
        impl std::fmt::Display for $name<'_> {
            #[inline]
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                $crate::display(self, f)
            }
        }

        impl $name<'_> {
            /// Returns the value as JSON text.
            #[inline]
            pub fn to_json(&self) -> String {
                $crate::Write::to_json(self)
            }

            /// Returns the value without borrowing from the text it was read from.
            #[inline]
            pub fn into_owned(self) -> $name<'static> {
                $crate::IntoOwned::detach(&self)
            }
        }

        $crate::serde_by_text!($name);
    };
}

/// Implements the traits of serde by JSON text, if the feature is enabled.
macro_rules! serde_by_text {
    ($name:ident) => {
        #[cfg(feature = "serde")]
        impl serde_core::Serialize for $name<'_> {
            #[inline]
            fn serialize<S: serde_core::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::serialize(self, serializer)
            }
        }

        #[cfg(feature = "serde")]
        impl<'de> serde_core::Deserialize<'de> for $name<'_> {
            #[inline]
            fn deserialize<D: serde_core::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::deserialize(deserializer, |text| {
                    <$name<'_> as $crate::Read<'_>>::parse(text).map(|read| read.into_owned())
                })
            }
        }
    };
}

/// Implements an object: its constant members and its fields, each with its JSON name.
macro_rules! object {
    (
        $name:ident;
        $(const $head:literal $head_slot:ident = $head_value:literal;)*
        $($wire:literal $field:ident $presence:ident; $(const $inner:literal $inner_slot:ident = $inner_value:literal;)*)*
    ) => {
        impl<'a> $crate::Read<'a> for $name<'a> {
            fn read(reader: &mut $crate::Reader<'a>) -> Result<Self, $crate::Miss> {
                #[allow(non_camel_case_types)]
                enum At {
                    $($head_slot,)*
                    $($field, $($inner_slot,)*)*
                }
                const NAMES: &[&str] = &[$($head,)* $($wire, $($inner,)*)*];
                const REQUIRED: u128 = 0
                    $(| 1 << At::$head_slot as u32)*
                    $(| $crate::presence::$presence << At::$field as u32 $(| 1 << At::$inner_slot as u32)*)*;
                let mut this: Self = $crate::Blank::blank();
                let extra = reader.fields(REQUIRED, NAMES, &mut |members, reader| match members.name() {
                    $($head => members.constant(reader, At::$head_slot as u32, $head_value),)*
                    $(
                        $wire => members.$presence(reader, At::$field as u32, $wire, &mut this.$field),
                        $($inner => members.constant(reader, At::$inner_slot as u32, $inner_value),)*
                    )*
                    _ => members.unknown(reader),
                })?;
                this.extra = extra;
                Ok(this)
            }
        }

        impl $crate::Write for $name<'_> {
            #[inline]
            fn write(&self, out: &mut String) {
                let mut object = $crate::ObjectWriter::open(out);
                $(object.constant(concat!(",\"", $head, "\":"), $head_value);)*
                $(
                    object.$presence(concat!(",\"", $wire, "\":"), &self.$field);
                    $(object.constant(concat!(",\"", $inner, "\":"), $inner_value);)*
                )*
                object.finish(self.extra.entries());
            }
        }

        impl $crate::Blank for $name<'_> {
            fn blank() -> Self {
                $name { $($field: $crate::Blank::blank(),)* extra: $crate::Extra::new() }
            }
        }

        $crate::conversions!($name);

        impl $crate::IntoOwned for $name<'_> {
            type Owned = $name<'static>;

            #[inline]
            fn detach(&self) -> $name<'static> {
                $name {
                    $($field: $crate::IntoOwned::detach(&self.$field),)*
                    extra: $crate::IntoOwned::detach(&self.extra),
                }
            }
        }
    };
}

/// Implements the writing and copying of an enumeration of values, each in its own type, or unknown.
macro_rules! variants {
    ($name:ident; $($variant:ident)*) => {
        impl $crate::Write for $name<'_> {
            #[inline]
            fn write(&self, out: &mut String) {
                match self {
                    $(Self::$variant(value) => value.write(out),)*
                    Self::Unknown(raw) => raw.write(out),
                }
            }
        }

        impl $crate::IntoOwned for $name<'_> {
            type Owned = $name<'static>;

            #[inline]
            fn detach(&self) -> $name<'static> {
                match self {
                    $(Self::$variant(value) => $name::$variant(value.detach()),)*
                    Self::Unknown(raw) => $name::Unknown(raw.detach()),
                }
            }
        }

        $crate::conversions!($name);
    };
}

/// Implements a union: the member that distinguishes its objects (or ""), and for every variant the values of that
/// member, or the kinds of value, that select it.
macro_rules! union {
    ($name:ident by $tag:literal; $($variant:ident $(= $($value:literal)+)? $(in $($kind:ident)+)?;)*) => {
        impl $crate::Blank for $name<'_> {
            fn blank() -> Self {
                Self::Unknown(Default::default())
            }
        }

        impl<'a> $crate::Read<'a> for $name<'a> {
            fn read(reader: &mut $crate::Reader<'a>) -> Result<Self, $crate::Miss> {
                let place = reader.checkpoint();
                Self::read_known(reader).or_else(|miss| reader.missed(miss, place).map(Self::Unknown))
            }

            fn read_known(reader: &mut $crate::Reader<'a>) -> Result<Self, $crate::Miss> {
                if let Some(tag) = reader.tag($tag)? {
                    return match &*tag {
                        $($($($value)|+ => $crate::Read::read_known(reader).map(Self::$variant),)?)*
                        _ => Err($crate::Miss::Field($tag)),
                    };
                }
                let branches: &[$crate::Branch<'a, Self>] = &[$($((
                    $($crate::kind::$kind)|+,
                    |reader| $crate::Read::read_known(reader).map(Self::$variant),
                ),)?)*];
                let mut found = <Self as $crate::Blank>::blank();
                reader.best(&mut |reader, at, kind| {
                    let (kinds, read) = branches.get(at)?;
                    Some(if kinds & kind == 0 { Ok(false) } else { read(reader).map(|value| { found = value; true }) })
                })?;
                Ok(found)
            }
        }

        $crate::variants!($name; $($variant)*);

        #[cfg(feature = "samples")]
        impl $crate::Sample for $name<'_> {
            fn sample() -> Self {
                let all: &[fn() -> Self] = &[$(|| Self::$variant($crate::Sample::sample()),)*];
                all.first().map_or_else($crate::Blank::blank, |first| first())
            }
        }
    };
}

/// Implements an open enumeration of strings.
macro_rules! strings {
    ($name:ident; $($wire:literal $variant:ident;)*) => {
        impl $crate::Blank for $name<'_> {
            fn blank() -> Self {
                Self::Unknown(Default::default())
            }
        }

        impl<'a> $name<'a> {
            /// Returns the string.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $wire,)*
                    Self::Unknown(text) => text,
                }
            }

            /// Returns the value without borrowing from the text it was read from.
            #[inline]
            pub fn into_owned(self) -> $name<'static> {
                $crate::IntoOwned::detach(&self)
            }
        }

        $crate::serde_by_text!($name);

        impl<'a> From<$crate::Str<'a>> for $name<'a> {
            fn from(text: $crate::Str<'a>) -> Self {
                match text.as_str() {
                    $($wire => Self::$variant,)*
                    _ => Self::Unknown(text),
                }
            }
        }

        impl From<String> for $name<'_> {
            fn from(text: String) -> Self {
                $crate::Str::from(text).into()
            }
        }

        impl<'a> From<&'a str> for $name<'a> {
            fn from(text: &'a str) -> Self {
                $crate::Str::from(text).into()
            }
        }

        #[cfg(feature = "samples")]
        impl $crate::Sample for $name<'_> {
            fn sample() -> Self {
                [$(Self::$variant),*][0].clone()
            }
        }

        impl std::fmt::Display for $name<'_> {
            #[inline]
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl<'a> $crate::Read<'a> for $name<'a> {
            fn read(reader: &mut $crate::Reader<'a>) -> Result<Self, $crate::Miss> {
                let read = Self::from(<$crate::Str<'a> as $crate::Read<'a>>::read(reader)?);
                if matches!(read, Self::Unknown(_)) {
                    reader.not_understood();
                }
                Ok(read)
            }
        }

        impl $crate::Write for $name<'_> {
            #[inline]
            fn write(&self, out: &mut String) {
                match self {
                    Self::Unknown(text) => text.write(out),
                    known => $crate::encode(known.as_str(), out),
                }
            }
        }

        impl $crate::IntoOwned for $name<'_> {
            type Owned = $name<'static>;

            #[inline]
            fn detach(&self) -> $name<'static> {
                match self {
                    $(Self::$variant => $name::$variant,)*
                    Self::Unknown(text) => $name::Unknown(text.detach()),
                }
            }
        }
    };
}

/// Implements the events of a dialect.
macro_rules! events {
    ($name:ident; $($wire:literal $variant:ident;)*) => {
        impl<'a> $name<'a> {
            /// Parses an event by its member `type`, or by its other members in a dialect whose events have no
            /// `type`. Fails only if the text is not a JSON object; an invalid event becomes an unknown event.
            pub fn parse(text: &'a str) -> Result<Self, $crate::ParseError> {
                <Self as $crate::Read<'a>>::parse(text)
            }

            /// Parses an event whose type is outside of the data, such as in the `event:` field.
            pub fn parse_as(event_type: &str, text: &'a str) -> Result<Self, $crate::ParseError> {
                $crate::event::parse_as(event_type, text, Self::read_as, Self::Unknown)
            }

            /// Parses an event of an imperfect server: one that lacks members that its type requires is still an event
            /// of that type.
            pub fn parse_lenient(
                text: &'a str,
            ) -> Result<$crate::Lenient<Self>, $crate::ParseError> {
                <Self as $crate::Read<'a>>::parse_lenient(text)
            }

            /// Parses an event of an imperfect server whose type is outside of the data.
            pub fn parse_lenient_as(
                event_type: &str,
                text: &'a str,
            ) -> Result<$crate::Lenient<Self>, $crate::ParseError> {
                $crate::event::parse_lenient_as(event_type, text, Self::read_as, Self::Unknown)
            }

            /// Returns the `type`; empty if it is unknown.
            pub fn event_type(&self) -> &str {
                match self {
                    $(Self::$variant(_) => $wire,)*
                    Self::Unknown(unknown) => unknown.event_type.as_deref().unwrap_or_default(),
                }
            }

            fn read_as(
                event_type: &str,
                reader: &mut $crate::Reader<'a>,
            ) -> Option<Result<Self, $crate::Miss>> {
                Some(match event_type {
                    $($wire => $crate::Read::read_known(reader).map(Self::$variant),)*
                    _ => return None,
                })
            }
        }

        impl<'a> $crate::Read<'a> for $name<'a> {
            fn read(reader: &mut $crate::Reader<'a>) -> Result<Self, $crate::Miss> {
                $crate::event::read(reader, &DIALECT, Self::read_as, Self::Unknown)
            }
        }

        $crate::variants!($name; $($variant)*);
    };
}

pub(crate) use {conversions, events, object, serde_by_text, strings, union, variants};

/// The presence of members: required or optional.
#[expect(non_upper_case_globals, reason = "named as the methods of `Fields` are")]
pub(crate) mod presence {
    pub(crate) const required: u128 = 1;
    pub(crate) const optional: u128 = 0;
}

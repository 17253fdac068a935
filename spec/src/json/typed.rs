//! How generated types are read and written. The generator says what the members are; these macros
//! say what is done with them.

/// Implements an object: its constant members and its fields, each with its name on the wire.
macro_rules! object {
    (
        $name:ident;
        $(const $head:literal $head_slot:ident = $head_value:literal;)*
        $($wire:literal $field:ident $presence:ident; $(const $inner:literal $inner_slot:ident = $inner_value:literal;)*)*
    ) => {
        impl<'a> $crate::json::Read<'a> for $name<'a> {
            #[allow(unused_mut)]
            fn read(reader: &mut $crate::json::Reader<'a>) -> Result<Self, $crate::json::Miss> {
                let mut members = $crate::json::Fields::open(reader)?;
                $(let mut $head_slot = None;)*
                $(let mut $field = None; $(let mut $inner_slot = None;)*)*
                while let Some(name) = members.next(reader)? {
                    match name.as_str() {
                        $($head => members.constant(reader, $head_value, &mut $head_slot)?,)*
                        $(
                            $wire => members.$presence(reader, $wire, &mut $field)?,
                            $($inner => members.constant(reader, $inner_value, &mut $inner_slot)?,)*
                        )*
                        _ => members.unknown(reader, name)?,
                    }
                }
                let extra = members.finish(reader);
                $($crate::json::presence::required($head_slot, $head)?;)*
                $($($crate::json::presence::required($inner_slot, $inner)?;)*)*
                Ok(Self { $($field: $crate::json::presence::$presence($field, $wire)?,)* extra })
            }
        }

        impl $crate::json::Write for $name<'_> {
            fn write(&self, out: &mut String) {
                let mut object = $crate::json::ObjectWriter::open(out);
                $(object.constant($head, $head_value);)*
                $(object.$presence($wire, &self.$field); $(object.constant($inner, $inner_value);)*)*
                object.finish(&self.extra);
            }
        }

        impl $crate::json::IntoOwned for $name<'_> {
            type Owned = $name<'static>;

            fn into_owned(self) -> $name<'static> {
                $name {
                    $($field: $crate::json::IntoOwned::into_owned(self.$field),)*
                    extra: $crate::json::IntoOwned::into_owned(self.extra),
                }
            }
        }
    };
}

/// Implements a union: the member that tells its objects apart (or ""), and for every variant the
/// values of that member, or the kinds of value, that mean it.
macro_rules! union {
    ($name:ident by $tag:literal; $($variant:ident $(= $($value:literal)+)? $(in $($kind:ident)+)?;)*) => {
        impl<'a> $crate::json::Read<'a> for $name<'a> {
            fn read(reader: &mut $crate::json::Reader<'a>) -> Result<Self, $crate::json::Miss> {
                reader.known_or(Self::read_known, Self::Unknown)
            }

            #[allow(clippy::match_single_binding, clippy::redundant_closure_for_method_calls)]
            fn read_known(reader: &mut $crate::json::Reader<'a>) -> Result<Self, $crate::json::Miss> {
                if let Some(tag) = reader.tag($tag)? {
                    return match &*tag {
                        $($($($value)|+ => Ok(Self::$variant($crate::json::Read::read_known(reader)?)),)?)*
                        _ => Err($crate::json::Miss::Field($tag)),
                    };
                }
                reader.best(&[$($((
                    $($crate::json::kind::$kind)|+,
                    |reader| $crate::json::Read::read_known(reader).map(Self::$variant),
                ),)?)*])
            }
        }

        impl $crate::json::Write for $name<'_> {
            fn write(&self, out: &mut String) {
                match self {
                    $(Self::$variant(value) => value.write(out),)*
                    Self::Unknown(raw) => raw.write(out),
                }
            }
        }

        impl $crate::json::IntoOwned for $name<'_> {
            type Owned = $name<'static>;

            fn into_owned(self) -> $name<'static> {
                match self {
                    $(Self::$variant(value) => $name::$variant(value.into_owned()),)*
                    Self::Unknown(raw) => $name::Unknown(raw.into_owned()),
                }
            }
        }
    };
}

/// Implements a set of strings that may hold others.
macro_rules! strings {
    ($name:ident; $($wire:literal $variant:ident;)*) => {
        impl<'a> $name<'a> {
            /// The string on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $wire,)*
                    Self::Unknown(text) => text,
                }
            }
        }

        impl<'a> From<$crate::json::Str<'a>> for $name<'a> {
            fn from(text: $crate::json::Str<'a>) -> Self {
                match text.as_str() {
                    $($wire => Self::$variant,)*
                    _ => Self::Unknown(text),
                }
            }
        }

        impl<'a> From<&'a str> for $name<'a> {
            fn from(text: &'a str) -> Self {
                $crate::json::Str::from(text).into()
            }
        }

        impl std::fmt::Display for $name<'_> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl<'a> $crate::json::Read<'a> for $name<'a> {
            fn read(reader: &mut $crate::json::Reader<'a>) -> Result<Self, $crate::json::Miss> {
                let read = Self::from(<$crate::json::Str<'a> as $crate::json::Read<'a>>::read(reader)?);
                if matches!(read, Self::Unknown(_)) {
                    reader.not_understood();
                }
                Ok(read)
            }
        }

        impl $crate::json::Write for $name<'_> {
            fn write(&self, out: &mut String) {
                match self {
                    Self::Unknown(text) => text.write(out),
                    known => $crate::json::encode(known.as_str(), out),
                }
            }
        }

        impl $crate::json::IntoOwned for $name<'_> {
            type Owned = $name<'static>;

            fn into_owned(self) -> $name<'static> {
                match self {
                    $(Self::$variant => $name::$variant,)*
                    Self::Unknown(text) => $name::Unknown(text.into_owned()),
                }
            }
        }
    };
}

/// Implements the events of a dialect.
macro_rules! events {
    ($name:ident; $($wire:literal $variant:ident;)*) => {
        impl<'a> $name<'a> {
            /// Reads an event, which its member `type` tells from others. Fails only when the text is no
            /// JSON object; whatever else is wrong makes it an unknown event.
            pub fn parse(text: &'a str) -> Result<Self, $crate::json::ParseError> {
                <Self as $crate::json::Read<'a>>::parse(text)
            }

            /// Reads an event whose type stands outside of the data, such as in the `event:` line.
            pub fn parse_as(event_type: &str, text: &'a str) -> Result<Self, $crate::json::ParseError> {
                $crate::json::event::parse_as(event_type, text, Self::read_as, Self::Unknown)
            }

            /// The type on the wire; empty when it is not known.
            pub fn event_type(&self) -> &str {
                match self {
                    $(Self::$variant(_) => $wire,)*
                    Self::Unknown(unknown) => unknown.event_type.as_deref().unwrap_or_default(),
                }
            }

            fn read_as(
                event_type: &str,
                reader: &mut $crate::json::Reader<'a>,
            ) -> Option<Result<Self, $crate::json::Miss>> {
                Some(match event_type {
                    $($wire => $crate::json::Read::read_known(reader).map(Self::$variant),)*
                    _ => return None,
                })
            }
        }

        impl<'a> $crate::json::Read<'a> for $name<'a> {
            fn read(reader: &mut $crate::json::Reader<'a>) -> Result<Self, $crate::json::Miss> {
                $crate::json::event::read(reader, Self::read_as, Self::Unknown)
            }
        }

        impl $crate::json::Write for $name<'_> {
            fn write(&self, out: &mut String) {
                match self {
                    $(Self::$variant(event) => event.write(out),)*
                    Self::Unknown(unknown) => unknown.raw.write(out),
                }
            }
        }

        impl $crate::json::IntoOwned for $name<'_> {
            type Owned = $name<'static>;

            fn into_owned(self) -> $name<'static> {
                match self {
                    $(Self::$variant(event) => $name::$variant(event.into_owned()),)*
                    Self::Unknown(unknown) => $name::Unknown(unknown.into_owned()),
                }
            }
        }
    };
}

pub(crate) use {events, object, strings, union};

/// What the absence of a member means for the field that it is read into.
pub(crate) mod presence {
    use crate::json::Miss;

    #[inline]
    pub(crate) fn required<T>(slot: Option<T>, name: &'static str) -> Result<T, Miss> {
        slot.ok_or(Miss::Field(name))
    }

    #[expect(clippy::unnecessary_wraps, reason = "called in place of `required`")]
    #[inline]
    pub(crate) fn optional<T>(slot: Option<T>, _: &'static str) -> Result<Option<T>, Miss> {
        Ok(slot)
    }
}

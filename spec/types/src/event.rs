//! Unknown events, and the selection of event types.

use std::borrow::Cow;
use std::fmt;

use crate::choice::Checkpoint;
use crate::{IntoOwned, Lenient, Miss, ParseError, Raw, Reader, Str, Write};
use spec::Dialect;
use spec::json::{at, string};

/// An event that its dialect does not list, or that does not match its type.
#[derive(Debug, Clone, PartialEq)]
pub struct UnknownEvent<'a> {
    /// Its type.
    pub event_type: Option<Str<'a>>,
    /// Why it is unknown.
    pub reason: Reason,
    /// The whole event.
    pub raw: Raw<'a>,
}

/// The reason why an event is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// It has no type.
    NoType,
    /// The dialect does not list its type.
    NotListed,
    /// It does not match its type.
    Miss(Miss),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoType => f.write_str("the event has no `type`"),
            Self::NotListed => f.write_str("the dialect has no event of that type"),
            Self::Miss(miss) => miss.fmt(f),
        }
    }
}

impl UnknownEvent<'_> {
    pub(crate) fn whole(&self, pointer: &str) -> Option<u64> {
        at(self.raw.as_str(), pointer)?.parse().ok()
    }

    pub(crate) fn text(&self, pointer: &str) -> Option<Cow<'_, str>> {
        at(self.raw.as_str(), pointer).and_then(string)
    }
}

impl Write for UnknownEvent<'_> {
    fn write(&self, out: &mut String) {
        self.raw.write(out);
    }
}

impl IntoOwned for UnknownEvent<'_> {
    type Owned = UnknownEvent<'static>;

    fn detach(&self) -> UnknownEvent<'static> {
        UnknownEvent { event_type: self.event_type.detach(), reason: self.reason, raw: self.raw.detach() }
    }
}

type ReadAs<'a, T> = fn(&str, &mut Reader<'a>) -> Option<Result<T, Miss>>;
type Unknown<'a, T> = fn(UnknownEvent<'a>) -> T;

pub(crate) fn read<'a, T>(
    reader: &mut Reader<'a>,
    dialect: &Dialect,
    read_as: ReadAs<'a, T>,
    unknown: Unknown<'a, T>,
) -> Result<T, Miss> {
    let place = reader.start_of_object()?;
    let event_type = match dialect.framing.types {
        [] => reader.scanner.member("type")?.map(Str::from_raw),
        // Data that is not JSON is reported where it is read.
        _ => { reader.scanner }.raw().ok().and_then(|data| dialect.type_by_members(data)).map(Str::from),
    };
    let read = event_type.as_ref().and_then(|name| read_as(name, reader));
    known_or(reader, place, read, event_type, unknown)
}

pub(crate) fn parse_as<'a, T>(
    event_type: &str,
    text: &'a str,
    read_as: ReadAs<'a, T>,
    unknown: Unknown<'a, T>,
) -> Result<T, ParseError> {
    Reader::new(text).whole(|reader| as_type(reader, event_type, read_as, unknown))
}

pub(crate) fn parse_lenient_as<'a, T>(
    event_type: &str,
    text: &'a str,
    read_as: ReadAs<'a, T>,
    unknown: Unknown<'a, T>,
) -> Result<Lenient<T>, ParseError> {
    Reader::lenient(text).whole_lenient(|reader| as_type(reader, event_type, read_as, unknown))
}

fn as_type<'a, T>(
    reader: &mut Reader<'a>,
    event_type: &str,
    read_as: ReadAs<'a, T>,
    unknown: Unknown<'a, T>,
) -> Result<T, Miss> {
    let place = reader.start_of_object()?;
    let read = read_as(event_type, reader);
    known_or(reader, place, read, Some(event_type.to_owned().into()), unknown)
}

fn known_or<'a, T>(
    reader: &mut Reader<'a>,
    place: Checkpoint,
    read: Option<Result<T, Miss>>,
    event_type: Option<Str<'a>>,
    unknown: Unknown<'a, T>,
) -> Result<T, Miss> {
    let reason = match read {
        Some(Ok(event)) => return Ok(event),
        Some(Err(Miss::Syntax)) => return Err(Miss::Syntax),
        Some(Err(miss)) => Reason::Miss(miss),
        None if event_type.is_none() => Reason::NoType,
        None => Reason::NotListed,
    };
    Ok(unknown(UnknownEvent { event_type, reason, raw: reader.misfit(place)? }))
}

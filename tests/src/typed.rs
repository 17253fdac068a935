//! The typed readers of all dialects behind one function.

use spec::table::EventLine;
use types::{ParseError, Reason};

/// The result of reading an event and writing it again.
#[derive(Debug)]
pub struct Reading {
    /// The type of the event.
    pub event_type: String,
    /// The reason why it was not read as its own type.
    pub unknown: Option<Reason>,
    /// Number of union values that were preserved without being understood, except strings outside an open enum.
    pub unknown_inside: usize,
    /// Written again.
    pub json: String,
    /// Written again after its ties to the text were cut.
    pub owned: String,
}

macro_rules! reading {
    ($module:ident, $line:expr, $text:expr, $dialect:expr) => {{
        use types::$module::Event;
        let mut event = match $dialect.framing.event_line {
            EventLine::Discriminator => Event::parse_as($line, $text)?,
            _ => Event::parse($text)?,
        };
        // A mutant may have the members of another type.
        if !$dialect.framing.types.is_empty() && event.event_type() != $line {
            event = Event::parse_as($line, $text)?;
        }
        if $dialect.framing.event_line == EventLine::DiscriminatorIfUntyped
            && matches!(&event, Event::Unknown(unknown) if unknown.reason == Reason::NoType)
        {
            event = Event::parse_as($line, $text)?;
        }
        let unknown = match &event {
            Event::Unknown(unknown) => Some(unknown.reason),
            _ => None,
        };
        let debug = format!("{event:?}");
        let unknown_inside = debug.matches("Unknown(").count() - debug.matches("Unknown(\"").count();
        let (event_type, json) = (event.event_type().to_owned(), event.to_json());
        Ok(Reading { event_type, unknown, unknown_inside, json, owned: event.into_owned().to_json() })
    }};
}

macro_rules! by_name {
    ($($module:ident $name:literal)*) => {
        /// Reads an event by the discriminator of its dialect, and writes it again.
        pub fn read(dialect: &spec::Dialect, line: &str, text: &str) -> Result<Reading, ParseError> {
            match dialect.name {
                $($name => reading!($module, line, text, dialect),)*
                other => panic!("{other}: it is not in this build"),
            }
        }
    };
}

types::with_dialects!(by_name);

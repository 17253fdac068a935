//! The typed readers of all dialects behind one function.

use spec::json::{ParseError, Reason};
use spec::table::EventLine;

/// What came of reading an event and writing it again.
#[derive(Debug)]
pub struct Reading {
    /// The type of the event.
    pub event_type: String,
    /// Why it was not read as what its type says.
    pub unknown: Option<Reason>,
    /// How many values of unions were kept without being understood; strings outside of an enum that
    /// the schema leaves open are none.
    pub unknown_inside: usize,
    /// Written again.
    pub json: String,
    /// Written again after its ties to the text were cut.
    pub owned: String,
}

macro_rules! reading {
    ($module:ident, $line:expr, $text:expr, $dialect:expr) => {{
        use spec::$module::Event;
        let mut event = match $dialect.framing.event_line {
            EventLine::Discriminator => Event::parse_as($line, $text)?,
            _ => Event::parse($text)?,
        };
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
        /// Reads an event the way its dialect tells events apart, and writes it again.
        pub fn read(dialect: &spec::Dialect, line: &str, text: &str) -> Result<Reading, ParseError> {
            match dialect.name {
                $($name => reading!($module, line, text, dialect),)*
                other => panic!("{other}: it is not in this build"),
            }
        }
    };
}

spec::with_dialects!(by_name);

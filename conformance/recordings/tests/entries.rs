//! What is read from recordings of all formats: `entries.toml`.

use recordings::capture::{Entry, Format, Frame, read};
use serde::Deserialize;

#[derive(Deserialize)]
struct File {
    case: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    about: String,
    /// The format, if it is not detected.
    format: Option<String>,
    /// Whether the places of events are shown.
    #[serde(default)]
    places: bool,
    /// Recordings with the same entries.
    recordings: Vec<String>,
    entries: Vec<String>,
}

#[test]
fn entries_are_read() {
    let File { case } = toml::from_str(include_str!("entries.toml")).unwrap();
    for Case { about, format, places, recordings, entries } in case {
        let format = format.map(|name| Format::ALL.into_iter().find(|format| format.name() == name).unwrap());
        for recording in recordings {
            let mut told = Vec::new();
            let outcome = read(recording.as_bytes(), format, &mut |entry| told.push(tell(entry, places)));
            told.extend(outcome.err().map(|error| format!("error: {error}")));
            assert_eq!(told, entries, "{about}: {recording}");
        }
    }
}

/// Returns an entry as text: an exchange with its status and the body of its request; a frame with its line and time.
fn tell(entry: Entry<'_>, places: bool) -> String {
    match entry {
        Entry::Exchange(exchange) => {
            let status = exchange.status.map(|status| format!(" {status}")).unwrap_or_default();
            let asked = exchange.request.and_then(|request| request.body);
            let asked = asked.map(|body| format!(" asked {body}")).unwrap_or_default();
            format!("# {}{status}{asked}", exchange.label.unwrap_or_default())
        }
        Entry::Event(frame) => {
            let data = frame.place(0).map_or("nowhere".to_owned(), |place| format!("from {place}"));
            let place = if places { format!(" at {:?}, data {data}", frame.bytes) } else { String::new() };
            let name = frame.event.as_deref().map(|name| format!(", named {name}")).unwrap_or_default();
            format!("{}{place}{name}", of(&frame, "event"))
        }
        Entry::Body(frame) => of(&frame, "body"),
        Entry::Sent(frame) => of(&frame, "sent"),
        Entry::Row(row) => of(&row.frame, row.log.name),
        Entry::Lost(reason) => format!("lost: {reason}"),
    }
}

fn of(frame: &Frame<'_>, what: &str) -> String {
    let time = frame.time.map(|time| format!(" after {time:?}")).unwrap_or_default();
    format!("{}: {what} {}{time}", frame.line, frame.data.as_deref().unwrap_or_default())
}

//! Streams of several events alike, in which one is missing, is sent twice, changes places with the next one or has another
//! text, or which all have a wrong member.

use catalogue::{REORDERED, groups};
use checker::Rules;
use recordings::goldens::{self, Golden};
use serde_json::{Value, json};
use spec::Dialect;

use super::case::{PlayedCase, speaks};
use super::event::{event_type, shape, text, typed};
use super::member::{Edited, Frames, Wrong, findings, id, is_of, with_data, wrong_member};
use super::streams::Streams;

/// The change of an event; its type is lost in all events like it.
#[derive(Debug, Clone, Copy)]
enum Change {
    Dropped,
    Repeated,
    Swapped,
    Altered,
    Untyped,
}

impl Change {
    const ALL: [Self; 5] = [Self::Dropped, Self::Repeated, Self::Swapped, Self::Altered, Self::Untyped];

    const fn name(self) -> &'static str {
        match self {
            Self::Dropped => "dropped",
            Self::Repeated => "repeated",
            Self::Swapped => "swapped",
            Self::Altered => "altered",
            Self::Untyped => "untyped",
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Dropped => "is missing",
            Self::Repeated => "is sent twice",
            Self::Swapped => "is sent after the next one",
            Self::Altered => "has another text",
            Self::Untyped => "does not say what it is about",
        }
    }
}

pub(crate) fn orders(dialect: &'static Dialect, streams: &mut Streams) -> Vec<PlayedCase> {
    let mut cases = Vec::new();
    for_each_edit(dialect, |edited, _| cases.extend(edited.case(dialect, streams)));
    cases
}

fn for_each_edit(client: &'static Dialect, mut found: impl FnMut(Edited, &Rules)) {
    for id in REORDERED {
        let Some(golden) = goldens::golden(id) else { continue };
        let Some(dialect) = spec::dialect(golden.dialect).filter(|_| speaks(client, id)) else { continue };
        let (frames, rules) = (Frames::of(golden.bytes), Rules::of(dialect));
        with_wrong_members(golden, &frames, &rules, &mut |edited| found(edited, &rules));
        let frames = frames.0;
        for at in 0..frames.len() {
            for change in Change::ALL {
                let Some(changed) = changed(&frames, at, change, dialect) else { continue };
                let data = frames.get(at).and_then(|(_, data)| data.as_ref());
                let kind = data.and_then(|data| event_type(dialect, data)).unwrap_or_default();
                let number = at + 1;
                let edited = Edited {
                    golden,
                    name: format!("{}{id}/{number}-{}", groups::ORDER, change.name()),
                    title: format!("Event {number} of `{id}`, `{kind}`, {}", change.title()),
                    bytes: renumbered(changed),
                };
                found(edited, &rules);
            }
        }
    }
}

/// Streams with a wrong member in events of one type, and no other finding. Where several places have the member, it is wrong
/// at all of them or at the first: only then it shows whether a client reads one by what the others say.
fn with_wrong_members(
    golden: &'static Golden,
    frames: &Frames,
    rules: &Rules,
    found: &mut impl FnMut(Edited),
) {
    let id = id(golden);
    for ((event, member), places) in frames.places(rules.dialect()) {
        if places.len() < 2 || member == "/type" || member.strip_prefix('/') == Some(NUMBER) {
            continue;
        }
        for (which, title, places) in [("", "Each", &places[..]), ("#1", "The first", &places[..1])] {
            for wrong in Wrong::ALL {
                let Some((bytes, form)) = frames.edited(places, wrong) else { continue };
                // The consequences of a wrong member are not to be measured with it.
                let found_in = findings(&bytes, rules);
                if found_in.is_empty()
                    || !found_in.iter().all(|finding| is_of(finding, &event, &member, form))
                {
                    continue;
                }
                let path = member.trim_start_matches('/').replace('/', ".");
                found(Edited {
                    golden,
                    name: format!("{}{id}/{event}{which} {path}={form}", groups::ORDER),
                    title: format!("{title} `{event}` of `{id}` {}", wrong_member(&member, form)),
                    bytes,
                });
            }
        }
    }
}

/// The events of a stream, with their data.
type Events = Vec<(String, Option<Value>)>;

fn changed(frames: &Events, at: usize, change: Change, dialect: &Dialect) -> Option<Events> {
    let mut frames = frames.clone();
    let data = frames.get(at)?.1.clone()?;
    match change {
        Change::Dropped => drop(frames.remove(at)),
        Change::Repeated => frames.insert(at, frames.get(at)?.clone()),
        Change::Swapped => {
            // Two events that do the same are the same out of order as with other texts.
            let next = frames.get(at + 1)?.1.as_ref()?;
            if shape(dialect, next) == shape(dialect, &data) {
                return None;
            }
            frames.swap(at, at + 1);
        }
        Change::Altered => {
            let place = text(dialect, &data)?;
            let Some(Value::String(text)) = frames.get_mut(at)?.1.as_mut()?.pointer_mut(&place) else {
                return None;
            };
            text.push('x');
        }
        // A client may read one of them by what the others say.
        Change::Untyped => {
            let place = typed(dialect, &data)?;
            let kind = event_type(dialect, &data);
            let all = frames.iter_mut().filter_map(|(_, other)| other.as_mut());
            for other in all.filter(|other| event_type(dialect, other) == kind) {
                *other.pointer_mut(place)?.get_mut("type")? = Value::Null;
            }
        }
    }
    Some(frames)
}

/// The member that numbers events, where they are numbered.
const NUMBER: &str = "sequence_number";

/// Numbered in their order: a wrong number is another defect.
fn renumbered(frames: Events) -> Vec<u8> {
    let mut number = 0;
    let frames = frames.into_iter().map(|(frame, mut data)| {
        if let Some(own) = data.as_mut().and_then(|data| data.get_mut(NUMBER)) {
            *own = json!(number);
            number += 1;
        }
        with_data(&frame, data.as_ref())
    });
    frames.collect::<String>().into_bytes()
}

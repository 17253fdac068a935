//! Streams in which one member of one type of event is absent, null, or of another type.

use std::collections::{BTreeMap, BTreeSet};

use catalogue::{About, Channel, Expect, Level, groups};
use checker::{Finding, Rules};
use recordings::capture::Format;
use recordings::goldens::{self, Golden};
use serde_json::{Value, json};
use spec::Dialect;

use super::case::{PlayedCase, expected, of_streams, request, sound_name, written_in};
use super::event::event_type;
use super::played::Played;
use super::streams::Streams;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Wrong {
    Absent,
    Null,
    /// Another JSON type.
    Type,
}

impl Wrong {
    pub(crate) const ALL: [Self; 3] = [Self::Absent, Self::Null, Self::Type];
}

pub(crate) struct Edited {
    pub(crate) golden: &'static Golden,
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) bytes: Vec<u8>,
}

impl Edited {
    pub(crate) fn case(self, dialect: &'static Dialect, streams: &mut Streams) -> Option<PlayedCase> {
        let id = id(self.golden);
        let request = request(&id, dialect)?;
        let dialect = written_in(self.golden, dialect);
        let (whole, edited) = (streams.intact(self.golden, dialect)?, Played::read(&self.bytes, dialect)?);
        Some(PlayedCase {
            name: self.name,
            title: self.title,
            expect: expected(Level::Must, &whole, &edited),
            reason: "A client may reject such a stream, but must not return other content.".to_owned(),
            control: Some(sound_name(&id, Channel::Sse)),
            ..of_streams(request, (&whole, &edited), Channel::Sse, &[])
        })
    }
}

/// One for each defect of a member, and one for each golden that they are made of.
pub(crate) fn members(dialect: &'static Dialect, streams: &mut Streams) -> Vec<PlayedCase> {
    let mut cases: Vec<_> = playable(dialect, streams).into_iter().map(|(_, case)| case).collect();
    let rule = catalogue::rule("schema/event-valid");
    let authority = rule.map(|rule| rule.in_dialect(dialect).citation.to_string()).unwrap_or_default();
    for edited in defects(dialect, streams) {
        let case = edited.case(dialect, streams);
        cases.extend(case.map(|case| PlayedCase { authority: authority.clone(), ..case }));
    }
    cases
}

pub(crate) fn is_of(finding: &Finding, event: &str, member: &str, form: &str) -> bool {
    finding.place.event_type.as_deref() == Some(event)
        && finding.member.as_deref() == Some(member)
        && finding.form() == form
}

pub(crate) fn findings(bytes: &[u8], rules: &Rules) -> Vec<Finding> {
    recordings::check("edited", &mut &*bytes, None, rules).findings
}

pub(crate) fn id(golden: &Golden) -> String {
    format!("{}/{}", golden.dialect, golden.name)
}

/// Goldens whose requests clients of the dialect can send, each with its case.
fn playable(dialect: &'static Dialect, streams: &mut Streams) -> Vec<(&'static Golden, PlayedCase)> {
    let of_stream = goldens::GOLDENS.iter().filter(|golden| golden.format == Format::Sse);
    of_stream.filter_map(|golden| Some((golden, intact(golden, dialect, streams)?))).collect()
}

fn intact(golden: &'static Golden, dialect: &'static Dialect, streams: &mut Streams) -> Option<PlayedCase> {
    let request = request(&id(golden), dialect)?;
    let played = streams.intact(golden, written_in(golden, dialect))?;
    let expect = expected(Level::Should, &played, &played);
    Some(PlayedCase {
        name: sound_name(&id(golden), Channel::Sse),
        title: format!("The stream `{}`, intact", id(golden)),
        expect,
        reason: "The stream breaks no rule.".to_owned(),
        ..of_streams(request, (&played, &played), Channel::Sse, &[])
    })
}

/// Each defect once, of goldens whose requests clients of the dialect can send.
fn defects(dialect: &'static Dialect, streams: &mut Streams) -> Vec<Edited> {
    let mut playable = playable(dialect, streams);
    // The plainest stream that has the member shows the defect: more clients can ask for it, and read it.
    playable.sort_by_key(|(golden, case)| {
        let is_text = case.about == [About::Text];
        let members = case.request.as_object().map_or(0, serde_json::Map::len);
        (case.expect == Expect::MustReport, !is_text, members, golden.bytes.len())
    });
    let mut known = BTreeSet::new();
    let mut defects = Vec::new();
    for (golden, _) in playable {
        add(golden, streams, &mut known, &mut defects);
    }
    defects
}

fn add(
    golden: &'static Golden,
    streams: &mut Streams,
    known: &mut BTreeSet<(String, String, Wrong)>,
    defects: &mut Vec<Edited>,
) {
    let Some(dialect) = spec::dialect(golden.dialect) else { return };
    let Some(whole) = streams.intact(golden, dialect) else { return };
    let (frames, rules) = (Frames::of(golden.bytes), Rules::of(dialect));
    for ((event, member), places) in frames.places(dialect) {
        for wrong in Wrong::ALL {
            if known.contains(&(event.clone(), member.clone(), wrong)) {
                continue;
            }
            let Some((bytes, form)) = frames.edited(&places, wrong) else { continue };
            let found = findings(&bytes, &rules);
            if !found.iter().any(|finding| is_of(finding, &event, &member, form))
                || wrong == Wrong::Null && is_nothing(&whole, &bytes, &frames, &places, &rules)
            {
                continue;
            }
            known.insert((event.clone(), member.clone(), wrong));
            let name = format!("{}{event}{member}={form}", groups::MEMBER);
            let title = format!("`{event}` {}", wrong_member(&member, form));
            defects.push(Edited { golden, name, title, bytes });
        }
    }
}

/// A null stands where the member may be absent, and means as much: the stream then has less content, and what clients return
/// shows nothing about nulls where nothing is to be said.
fn is_nothing(whole: &Played, with_null: &[u8], frames: &Frames, places: &Places, rules: &Rules) -> bool {
    let is_of_schema = |finding: &Finding| finding.rule.starts_with("schema/");
    let may_be_absent = || {
        let without = frames.edited(places, Wrong::Absent);
        without.is_some_and(|(bytes, _)| !findings(&bytes, rules).iter().any(is_of_schema))
    };
    let with_null = Played::read(with_null, whole.dialect);
    whole.deltas() != with_null.as_ref().and_then(Played::deltas) && may_be_absent()
}

/// The frames of a stream, with their data as JSON.
pub(crate) struct Frames(pub(super) Vec<(String, Option<Value>)>);

/// The places of a member: the number of the frame, and the pointer.
type Places = Vec<(usize, String)>;

const DATA: &str = "data: ";

impl Frames {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let frame = |frame: &str| {
            let data = frame.lines().find_map(|line| line.strip_prefix(DATA));
            let data = data.and_then(|data| serde_json::from_str(data).ok());
            (frame.to_owned(), data.filter(Value::is_object))
        };
        Self(text.split_inclusive("\n\n").map(frame).collect())
    }

    pub(crate) fn places(&self, dialect: &Dialect) -> BTreeMap<(String, String), Places> {
        let mut places: BTreeMap<(String, String), Places> = BTreeMap::new();
        for (number, (_, data)) in self.0.iter().enumerate() {
            let Some(data) = data else { continue };
            let Some(event) = event_type(dialect, data) else { continue };
            walk(data, (String::new(), String::new()), &mut |pointer, member| {
                places.entry((event.clone().into_owned(), member)).or_default().push((number, pointer));
            });
        }
        places
    }

    /// The member is wrong at all of its places. The second value is the form that it has there.
    pub(crate) fn edited(&self, places: &[(usize, String)], wrong: Wrong) -> Option<(Vec<u8>, &'static str)> {
        let mut changed: BTreeMap<usize, Value> = BTreeMap::new();
        let mut form = None;
        for (number, pointer) in places {
            let data = self.0.get(*number)?.1.as_ref()?;
            let data = changed.entry(*number).or_insert_with(|| data.clone());
            let (holder, name) = pointer.rsplit_once('/')?;
            let members = data.pointer_mut(holder)?.as_object_mut()?;
            let (value, new) = match wrong {
                Wrong::Absent => (None, "absent"),
                Wrong::Null => (Some(Value::Null), "null"),
                Wrong::Type => {
                    let (value, form) = of_another_type(members.get(name)?);
                    (Some(value), form)
                }
            };
            // The value has different types in different events.
            if form.is_some_and(|form| form != new) {
                return None;
            }
            form = Some(new);
            match value {
                Some(value) => drop(members.insert(name.to_owned(), value)),
                None => drop(members.shift_remove(name)),
            }
        }
        let frames = self.0.iter().enumerate();
        let text: String =
            frames.map(|(number, (frame, _))| with_data(frame, changed.get(&number))).collect();
        Some((text.into_bytes(), form?))
    }
}

pub(crate) fn wrong_member(member: &str, form: &str) -> String {
    match form {
        "absent" => format!("lacks `{member}`"),
        form => format!("has a {form} as `{member}`")
            .replace("a array", "an array")
            .replace("a object", "an object"),
    }
}

pub(crate) fn with_data(frame: &str, data: Option<&Value>) -> String {
    let Some(data) = data else { return frame.to_owned() };
    let mut text = String::new();
    for line in frame.split_inclusive('\n') {
        if line.starts_with(DATA) {
            text.extend([DATA, &data.to_string(), "\n"]);
        } else {
            text += line;
        }
    }
    text
}

fn walk(value: &Value, (pointer, member): (String, String), found: &mut impl FnMut(String, String)) {
    match value {
        Value::Object(members) => {
            let kind = members.get("type").and_then(Value::as_str).filter(|_| !pointer.is_empty());
            for (name, value) in members {
                let kind =
                    kind.filter(|_| name != "type").map(|kind| format!("[{kind}]")).unwrap_or_default();
                let at = (format!("{pointer}/{name}"), format!("{member}{kind}/{name}"));
                found(at.0.clone(), at.1.clone());
                walk(value, at, found);
            }
        }
        Value::Array(entries) => {
            for (index, value) in entries.iter().enumerate() {
                walk(value, (format!("{pointer}/{index}"), format!("{member}/*")), found);
            }
        }
        _ => {}
    }
}

fn of_another_type(value: &Value) -> (Value, &'static str) {
    match value {
        Value::String(_) | Value::Null => (json!(7), "number"),
        // The same number, quoted: another one would be a defect of its own.
        Value::Number(number) => (json!(number.to_string()), "string"),
        Value::Bool(_) => (json!("7"), "string"),
        Value::Array(_) => (json!({}), "object"),
        Value::Object(_) => (json!([]), "array"),
    }
}

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

/// What is wrong with a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wrong {
    Absent,
    Null,
    /// Another JSON type.
    Type,
}

impl Wrong {
    pub(super) const ALL: [Self; 3] = [Self::Absent, Self::Null, Self::Type];
}

/// An edited golden.
pub(super) struct Edited {
    pub(super) golden: &'static Golden,
    pub(super) name: String,
    pub(super) title: String,
    pub(super) bytes: Vec<u8>,
}

impl Edited {
    /// Returns the case that plays it.
    pub(super) fn case(self, dialect: &'static Dialect) -> Option<PlayedCase> {
        let id = id(self.golden);
        let request = request(&id, dialect)?;
        let (whole, edited) = (Played::read(self.golden.bytes)?, Played::read(&self.bytes)?);
        let dialect = written_in(self.golden, dialect);
        Some(PlayedCase {
            name: self.name,
            title: self.title,
            expect: expected(Level::Must, &whole, &edited, dialect),
            reason: "A client may reject such a stream, but must not return other content.".to_owned(),
            control: Some(sound_name(&id, Channel::Sse)),
            ..of_streams(request, (&whole, &edited), Channel::Sse, &[], dialect)
        })
    }
}

/// A golden with one defect in each event that has a member, and the kinds of its findings.
type Defect = (Edited, Vec<String>);

/// Returns a case for each defect of a member, and one for each golden that they are made of.
pub(super) fn members(dialect: &'static Dialect) -> Vec<PlayedCase> {
    let streams = goldens::GOLDENS.iter().filter(|golden| golden.format == Format::Sse);
    let intact = streams.filter_map(|golden| intact(golden, dialect));
    let rule = catalogue::rule("schema/event-valid");
    let authority = rule.map(|rule| rule.citation.to_string()).unwrap_or_default();
    let of_defect =
        |(edited, _): Defect| Some(PlayedCase { authority: authority.clone(), ..edited.case(dialect)? });
    intact.chain(defects(dialect).into_iter().filter_map(of_defect)).collect()
}

/// Returns the stream of each defect of a member, with the kinds of its findings in the dialect of its golden.
pub(super) fn kinds(dialect: &'static Dialect) -> BTreeMap<String, Vec<String>> {
    defects(dialect).into_iter().map(|(edited, kinds)| (edited.name, kinds)).collect()
}

/// Returns the kinds of findings in an edited golden, in its own dialect.
pub(super) fn kinds_in(golden: &Golden, bytes: &[u8]) -> Vec<String> {
    let found = spec::dialect(golden.dialect).map(|dialect| findings(bytes, dialect)).unwrap_or_default();
    kinds_of(&found)
}

fn kinds_of(findings: &[Finding]) -> Vec<String> {
    let kinds: BTreeSet<String> = findings.iter().map(Finding::kind).collect();
    kinds.into_iter().collect()
}

fn findings(bytes: &[u8], dialect: &'static Dialect) -> Vec<Finding> {
    recordings::check("edited", &mut &*bytes, None, &Rules::of(dialect)).findings
}

pub(super) fn id(golden: &Golden) -> String {
    format!("{}/{}", golden.dialect, golden.name)
}

fn intact(golden: &'static Golden, dialect: &'static Dialect) -> Option<PlayedCase> {
    let request = request(&id(golden), dialect)?;
    let played = Played::read(golden.bytes)?;
    let dialect = written_in(golden, dialect);
    let expect = expected(Level::Should, &played, &played, dialect);
    Some(PlayedCase {
        name: sound_name(&id(golden), Channel::Sse),
        title: format!("The stream `{}`, intact", id(golden)),
        expect,
        reason: "The stream breaks no rule.".to_owned(),
        ..of_streams(request, (&played, &played), Channel::Sse, &[], dialect)
    })
}

/// Returns the defects that can be made of the goldens whose requests clients of a dialect can send, each once.
fn defects(dialect: &'static Dialect) -> Vec<Defect> {
    let mut playable: Vec<(&Golden, PlayedCase)> = goldens::GOLDENS
        .iter()
        .filter(|golden| golden.format == Format::Sse)
        .filter_map(|golden| Some((golden, intact(golden, dialect)?)))
        .collect();
    // The plainest stream that has the member shows the defect: more clients can ask for it, and read it.
    playable.sort_by_key(|(golden, case)| {
        let is_text = case.about == [About::Text];
        let members = case.request.as_object().map_or(0, serde_json::Map::len);
        (case.expect == Expect::MustReport, !is_text, members, golden.bytes.len())
    });
    let mut known = BTreeSet::new();
    let mut defects = Vec::new();
    for (golden, _) in playable {
        add(golden, &mut known, &mut defects);
    }
    defects
}

fn add(golden: &'static Golden, known: &mut BTreeSet<(String, String, Wrong)>, defects: &mut Vec<Defect>) {
    let Some(dialect) = spec::dialect(golden.dialect) else { return };
    let frames = Frames::of(golden.bytes);
    for ((event, member), places) in frames.places(dialect) {
        for wrong in Wrong::ALL {
            if known.contains(&(event.clone(), member.clone(), wrong)) {
                continue;
            }
            let Some((bytes, form)) = frames.edited(&places, wrong) else { continue };
            let found = findings(&bytes, dialect);
            let is_it = |finding: &Finding| {
                finding.place.event_type.as_ref() == Some(&event)
                    && finding.member.as_ref() == Some(&member)
                    && finding.kind().ends_with(&format!(" {form}"))
            };
            if !found.iter().any(is_it) || is_nothing(golden, &bytes, wrong, &places, &frames, dialect) {
                continue;
            }
            known.insert((event.clone(), member.clone(), wrong));
            let name = format!("{}{event}{member}={form}", groups::MEMBER);
            let title = format!("`{event}` {}", wrong_member(&member, form));
            defects.push((Edited { golden, name, title, bytes }, kinds_of(&found)));
        }
    }
}

/// Returns whether a null stands where the member may be absent, and means as much: the stream then has less content, and what
/// clients return shows nothing about nulls where nothing is to be said.
fn is_nothing(
    golden: &Golden,
    bytes: &[u8],
    wrong: Wrong,
    places: &Places,
    frames: &Frames,
    dialect: &'static Dialect,
) -> bool {
    let content = |bytes: &[u8]| Played::read(bytes).and_then(|played| played.deltas(dialect));
    let may_be_absent = || {
        let without = frames.edited(places, Wrong::Absent);
        without.is_some_and(|(bytes, _)| {
            findings(&bytes, dialect).iter().all(|finding| !finding.rule.starts_with("schema/"))
        })
    };
    wrong == Wrong::Null && content(golden.bytes) != content(bytes) && may_be_absent()
}

/// The frames of a stream, with their data as JSON.
pub(super) struct Frames(pub(super) Vec<(String, Option<Value>)>);

/// The places of a member: the number of the frame, and the pointer.
type Places = Vec<(usize, String)>;

const DATA: &str = "data: ";

impl Frames {
    pub(super) fn of(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let frame = |frame: &str| {
            let data = frame.lines().find_map(|line| line.strip_prefix(DATA));
            let data = data.and_then(|data| serde_json::from_str(data).ok());
            (frame.to_owned(), data.filter(Value::is_object))
        };
        Self(text.split_inclusive("\n\n").map(frame).collect())
    }

    /// Returns the members of all events, by event type and name.
    pub(super) fn places(&self, dialect: &Dialect) -> BTreeMap<(String, String), Places> {
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

    /// Returns the stream with a member made wrong at all of its places, and the form that it has there.
    pub(super) fn edited(&self, places: &[(usize, String)], wrong: Wrong) -> Option<(Vec<u8>, &'static str)> {
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

/// Returns what a stream has instead of a member.
pub(super) fn wrong_member(member: &str, form: &str) -> String {
    match form {
        "absent" => format!("lacks `{member}`"),
        form => format!("has a {form} as `{member}`")
            .replace("a array", "an array")
            .replace("a object", "an object"),
    }
}

/// Returns a frame with other data, if there are any.
pub(super) fn with_data(frame: &str, data: Option<&Value>) -> String {
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

/// Calls a function with the pointer and the name of each member of a value.
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

/// Returns a value of another JSON type, and the name of its type.
fn of_another_type(value: &Value) -> (Value, &'static str) {
    match value {
        Value::String(_) | Value::Null => (json!(7), "number"),
        Value::Number(_) | Value::Bool(_) => (json!("7"), "string"),
        Value::Array(_) => (json!({}), "object"),
        Value::Object(_) => (json!([]), "array"),
    }
}

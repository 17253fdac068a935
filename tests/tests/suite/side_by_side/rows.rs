//! The tables of what corresponds.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use conformance::checker::is_sign_of_life;
use serde::Deserialize;
use serde_json::Value;
use spec::Dialect;
use spec::table::{Content, EventInfo, Marker, Role, Scope, ScopeInfo};
use tests::corpus;

use super::Column;

/// What a scope is in any API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Answer,
    Entry,
    Call,
    Part,
    Said(Content),
}

impl Meaning {
    /// Returns what a scope is; none if it is like nothing in other APIs.
    fn of(dialect: &Dialect, level: &ScopeInfo) -> Option<Self> {
        let api = dialect.api;
        let call = api.client_call?;
        let is_called = || level.of.is_empty() || level.of.iter().any(|kind| call.types.contains(kind));
        match level.content {
            _ if level.is_root => Some(Self::Answer),
            None if level.scope == call.scope => Some(Self::Call),
            None => None,
            Some(Content::Item | Content::Choice) => Some(Self::Entry),
            Some(Content::Part) => Some(Self::Part),
            // Hosted calls have arguments, too.
            Some(Content::Arguments) => is_called().then_some(Self::Said(Content::Arguments)),
            // A transcript beside the output is no part of it.
            Some(said) => (level.parent != Some(api.root)).then_some(Self::Said(said)),
        }
    }

    const fn noun(self) -> &'static str {
        match self {
            Self::Answer => "the answer",
            Self::Entry => "an entry",
            Self::Call => "a call",
            Self::Part => "a part of an entry",
            Self::Said(Content::Refusal) => "a refusal",
            Self::Said(Content::Reasoning) => "reasoning",
            Self::Said(Content::Arguments) => "the input of a call",
            Self::Said(_) => "text",
        }
    }
}

/// The rows in the order of a stream.
const ROWS: &[(Meaning, Role)] = &[
    (Meaning::Answer, Role::Open),
    (Meaning::Answer, Role::Phase),
    (Meaning::Entry, Role::Open),
    (Meaning::Part, Role::Open),
    (Meaning::Said(Content::Reasoning), Role::Delta),
    (Meaning::Said(Content::Reasoning), Role::Final),
    (Meaning::Said(Content::Text), Role::Delta),
    (Meaning::Said(Content::Text), Role::Final),
    (Meaning::Said(Content::Refusal), Role::Delta),
    (Meaning::Said(Content::Refusal), Role::Final),
    (Meaning::Part, Role::Close),
    (Meaning::Call, Role::Open),
    (Meaning::Said(Content::Arguments), Role::Delta),
    (Meaning::Said(Content::Arguments), Role::Final),
    (Meaning::Call, Role::Close),
    (Meaning::Entry, Role::Close),
    (Meaning::Answer, Role::Terminal),
];

/// What an API has not.
const NOTHING: &str = "–";

/// Returns the effects of a dialect that take place.
fn effects(dialect: &Dialect) -> impl Iterator<Item = &'static EventInfo> + use<> {
    dialect.effects().filter(|event| event.effects.is_empty())
}

fn code(words: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let all: Vec<String> = words.into_iter().map(|word| format!("`{}`", word.as_ref())).collect();
    all.join(", ")
}

/// Writes a table with a column for each API.
fn table(columns: &[Column], rows: &[(String, Vec<String>)]) -> String {
    let titles: Vec<&str> = columns.iter().map(|column| column.dialect.api.title).collect();
    let mut text = format!("| | {} |\n|{}\n", titles.join(" | "), "---|".repeat(columns.len() + 1));
    for (what, cells) in rows {
        let _ = writeln!(text, "| {what} | {} |", cells.join(" | "));
    }
    text + "\n"
}

/// Returns the table of what happens in the streams.
pub(crate) fn events(columns: &[Column]) -> String {
    let verb = |role| match role {
        Role::Open => "begins",
        Role::Delta => "grows",
        Role::Final => "is repeated as a whole",
        Role::Phase => "goes on to its next phase",
        Role::Close | Role::Terminal | Role::Point => "ends",
    };
    let rows = ROWS.iter().map(|(meaning, role)| {
        let cells = columns.iter().map(|column| event(column.dialect, *meaning, *role));
        (format!("{} {}", meaning.noun(), verb(*role)), cells.collect())
    });
    let mut rows: Vec<(String, Vec<String>)> = rows.collect();
    let by = |what: &str, cell: &dyn Fn(&Dialect) -> String| {
        (what.to_owned(), columns.iter().map(|column| cell(column.dialect)).collect::<Vec<_>>())
    };
    rows.push(by("an error ends it", &|dialect| code([dialect.error])));
    rows.push(by("a sign of life", &|dialect| {
        let alive = code(effects(dialect).map(|event| event.name).filter(|name| is_sign_of_life(name)));
        if alive.is_empty() { NOTHING.to_owned() } else { alive }
    }));
    rows.push(by("the marker `[DONE]`", &|dialect| {
        let word = match dialect.framing.done {
            Marker::Required => "required",
            Marker::Forbidden => "forbidden",
            Marker::Allowed => "allowed",
        };
        word.to_owned()
    }));
    format!(
        "## What happens, in the order of a stream\n\nPointers in parentheses are the places of the values in the data of an \
         event, `*` is each entry of a list. {NOTHING}: the API has no such thing.\n\n{}",
        table(columns, &rows)
    )
}

/// Returns what tells in a dialect that something happens.
fn event(dialect: &Dialect, meaning: Meaning, role: Role) -> String {
    let api = dialect.api;
    let is_it = |level: &ScopeInfo| Meaning::of(dialect, level) == Some(meaning);
    let found = effects(dialect).filter(|effect| effect.role == role && is_it(effect.level));
    let cells: Vec<String> = found.map(|effect| place(dialect, effect)).collect();
    if !cells.is_empty() {
        return cells.join(", ");
    }
    let call = api.client_call.map_or(&[][..], |call| call.types);
    match (meaning, role) {
        (Meaning::Call, role) if !call.is_empty() => {
            format!("{}, type {}", event(dialect, Meaning::Entry, role), code(call))
        }
        (Meaning::Answer, Role::Open) if api.first_event_opens => "with the first event".to_owned(),
        (Meaning::Answer, Role::Terminal) if api.marker_ends => "with `[DONE]`".to_owned(),
        _ if !effects(dialect).any(|effect| is_it(effect.level)) => NOTHING.to_owned(),
        (_, Role::Open) => "with what is in it".to_owned(),
        (_, Role::Close) => "with what is around it".to_owned(),
        _ => "no event".to_owned(),
    }
}

/// Returns an event, the place of its value, and the type of the object around that, if it has one.
fn place(dialect: &Dialect, effect: &EventInfo) -> String {
    let mut text = format!("`{}`", effect.name);
    let value = effect.value.filter(|_| effect.role == Role::Delta || effect.effect.is_some());
    if let Some(value) = value {
        let kind = kind_around(dialect, effect.name, value);
        let kind = kind.map(|kind| format!("`{kind}`: ")).unwrap_or_default();
        let when = effect.when.map(|when| format!(" with `{when}`")).unwrap_or_default();
        let _ = write!(text, " ({kind}`{value}`{when})");
    }
    text
}

/// Returns a file of an event or of a type.
fn file(dialect: &Dialect, path: &str) -> Option<Value> {
    let folder = corpus::repository().join("spec/dialects").join(dialect.name).join("events");
    serde_json::from_slice(&fs::read(folder.join(path)).ok()?).ok()
}

/// Returns the `type` of the objects of a union that have a value in this place.
fn kind_around(dialect: &Dialect, event: &str, pointer: &str) -> Option<String> {
    let (outer, member) = pointer.strip_prefix('/')?.split_once('/')?;
    let event = file(dialect, &format!("{event}.json"))?;
    let branches = event["properties"][outer]["anyOf"].as_array()?;
    let types = branches.iter().filter_map(|branch| file(dialect, branch["$ref"].as_str()?));
    let mut with_it = types.filter(|object| !object["properties"][member].is_null());
    with_it.find_map(|object| object["properties"]["type"]["const"].as_str().map(str::to_owned))
}

/// Returns the table of values in events.
pub(crate) fn values(columns: &[Column]) -> String {
    let by = |what: &str, cell: &dyn Fn(&Dialect) -> Option<String>| {
        let cells = columns.iter().map(|column| cell(column.dialect).unwrap_or_else(|| NOTHING.to_owned()));
        (what.to_owned(), cells.collect::<Vec<_>>())
    };
    let slot = |dialect: &Dialect, slot| {
        dialect.api.slots.iter().find(|(other, _)| *other == slot).map(|(_, pointer)| member(pointer))
    };
    let index = |dialect: &Dialect, meaning: Meaning| {
        let level = dialect.api.scopes().find(|level| Meaning::of(dialect, level) == Some(meaning))?;
        slot(dialect, level.own_index?)
    };
    let count = |place: (&str, Option<&str>)| {
        let (member, inner) = place;
        let pointer = inner.map_or_else(|| member.to_owned(), |inner| format!("{member}/{inner}"));
        (!member.is_empty()).then(|| code([pointer]))
    };
    let rows = [
        by("number of the event", &|dialect| {
            let known = dialect.api.slots.iter().find(|(slot, _)| slot.name() == "sequence_number");
            known.map(|(_, pointer)| member(pointer))
        }),
        by("which entry", &|dialect| index(dialect, Meaning::Entry)),
        by("which part of it", &|dialect| index(dialect, Meaning::Part)),
        by("which call of it", &|dialect| index(dialect, Meaning::Call)),
        by("id of the entry, in events about what is in it", &|dialect| slot(dialect, dialect.api.id?)),
        by("id of a call, where it begins", &|dialect| Some(code([dialect.api.client_call?.id]))),
        by("name of what is called", &|dialect| Some(code([dialect.api.client_call?.name]))),
        by("why it ended", &|dialect| stop(dialect)),
        by("token counts", &|dialect| Some(code(dialect.api.usage.events)).filter(|text| !text.is_empty())),
        by("tokens of the input", &|dialect| count(dialect.api.usage.input)),
        by("of those, cached", &|dialect| count(dialect.api.usage.cached)),
        by("tokens of the output", &|dialect| count(dialect.api.usage.output)),
        by("of those, for reasoning", &|dialect| count(dialect.api.usage.reasoning)),
        by("all tokens", &|dialect| count(dialect.api.usage.total)),
        by("the answer as a whole, where an event has it", &|dialect| slot(dialect, dialect.api.snapshot?)),
    ];
    format!("## Where values are\n\n{}", table(columns, &rows))
}

/// Returns the member at the end of a pointer, with the pointer if that is longer.
fn member(pointer: &str) -> String {
    let name = pointer.rsplit('/').next().unwrap_or_default();
    if pointer.len() > name.len() + 1 { format!("`{name}` (`{pointer}`)") } else { format!("`{name}`") }
}

/// Returns where a dialect says why the answer ended.
fn stop(dialect: &Dialect) -> Option<String> {
    let (scope, member) = dialect.api.stop?;
    // An event without a value of its own can have the answer as a whole.
    let whole = dialect.snapshot_member().unwrap_or_default();
    let has_whole = |event: &str| {
        let event = file(dialect, &format!("{event}.json"));
        event.is_some_and(|event| !event["properties"][whole].is_null())
    };
    let own = || {
        let all = effects(dialect).filter(|effect| effect.scope == scope);
        all.filter(|effect| effect.value.is_some() || has_whole(effect.name))
    };
    let roles = [Role::Terminal, Role::Close, Role::Phase];
    let role = roles.into_iter().find(|role| own().any(|effect| effect.role == *role))?;
    let has_it = |effect: &&EventInfo| effect.when == Some(member);
    let all: Vec<_> = own().filter(|effect| effect.role == role).collect();
    let exact: Vec<_> = all.iter().copied().filter(has_it).collect();
    let events = if exact.is_empty() { all } else { exact };
    Some(format!("`{member}`, in {}", code(events.into_iter().map(|effect| effect.name))))
}

/// What corresponds although no table says so.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Alike {
    row: Vec<AlikeRow>,
}

#[derive(Debug, Deserialize)]
struct AlikeRow {
    what: String,
    reason: String,
    #[serde(flatten)]
    cells: BTreeMap<String, AlikeCell>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum AlikeCell {
    Scope(String),
    Text(String),
}

/// Returns the tables of what no table relates: what is alike nevertheless, and what only one API has.
pub(crate) fn alone(columns: &[Column]) -> String {
    let alike: Alike = toml::from_str(include_str!("alike.toml")).expect("it is valid");
    let mut named: Vec<Scope> = Vec::new();
    let mut rows = Vec::new();
    for row in &alike.row {
        let cell = |column: &Column| match row.cells.get(column.dialect.api.name) {
            Some(AlikeCell::Text(text)) => (None, text.clone()),
            Some(AlikeCell::Scope(name)) => {
                let level =
                    column.dialect.api.scopes().find(|level| level.name == name).expect("it is there");
                (Some(level.scope), of_scope(column.dialect, level))
            }
            None => (None, NOTHING.to_owned()),
        };
        let cells: Vec<_> = columns.iter().map(cell).collect();
        named.extend(cells.iter().filter_map(|(scope, _)| *scope));
        rows.push((
            format!("{}. {}", row.what, row.reason),
            cells.into_iter().map(|(_, text)| text).collect(),
        ));
    }
    let mut text = format!("## What is alike in other ways\n\n{}", table(columns, &rows));
    text += "## What only one has\n\n| API | what | events |\n|---|---|---|\n";
    let is_related = |dialect: &Dialect, level: &ScopeInfo| {
        Meaning::of(dialect, level).is_some() || named.contains(&level.scope) || is_count(dialect, level)
    };
    for Column { dialect, .. } in columns {
        for level in dialect.api.scopes().filter(|level| !is_related(dialect, level)) {
            let events = of_scope(dialect, level);
            if events != NOTHING {
                let what = level.description.trim_end_matches('.');
                let _ = writeln!(text, "| {} | {what} | {events} |", dialect.api.title);
            }
        }
    }
    text + "\n"
}

/// Returns whether a scope is that of the token counts.
fn is_count(dialect: &Dialect, level: &ScopeInfo) -> bool {
    let mut own = effects(dialect).filter(|effect| effect.scope == level.scope).peekable();
    own.peek().is_some()
        && own.all(|effect| effect.value.is_some_and(|value| dialect.api.usage.events.contains(&value)))
}

fn of_scope(dialect: &Dialect, level: &ScopeInfo) -> String {
    let own = effects(dialect).filter(|effect| effect.scope == level.scope);
    let cells: Vec<String> = own.map(|effect| place(dialect, effect)).collect();
    if cells.is_empty() { NOTHING.to_owned() } else { cells.join(", ") }
}

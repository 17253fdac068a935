//! The effect of findings on clients.

use std::collections::BTreeSet;
use std::fmt;

use catalogue::{CLIENTS, Client, Level, Measured, Measurement};
use serde::{Deserialize, Serialize};

use super::finding::{Finding, NO_NUMBER, ODD, without_index};

/// The known effect of findings on a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It fails.
    Fails(Harm),
    /// Its result is wrong.
    Wrong(Harm),
    /// It passes on what the server changed.
    PassesOn(Harm),
    /// It reports the error of the server, as it should.
    Reports,
    /// Its result is the same as without the findings.
    Unaffected,
    /// Nothing was measured, and users reported that it breaks.
    IsReported(Harm),
    /// Nothing is known.
    NotMeasured(Unmeasured),
}

/// How a client is harmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Harm {
    /// The rule whose violation does it.
    pub rule: &'static str,
    /// The error, or what is wrong with the result.
    pub detail: &'static str,
}

/// Why it is not known whether a client reads a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Unmeasured {
    /// It is known only from reports.
    OnlyReports,
    /// It was not played enough streams with these findings.
    // Reports of earlier releases tell the other reasons apart.
    #[serde(alias = "among-others", alias = "fails-on-intact", alias = "not-exercised", alias = "not-played")]
    Kind,
    /// It does one thing on some streams with these findings, and another on others.
    Varies,
    /// The stream has no finding, or nothing but notes.
    NoFinding,
    /// The stream has more findings than are listed.
    NotListed,
}

impl fmt::Display for Unmeasured {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Self::OnlyReports => "known only from reports",
            Self::Kind => "not played with these findings",
            Self::Varies => "not the same on all streams with these findings",
            Self::NoFinding => "nothing was found",
            Self::NotListed => "not all findings are listed",
        })
    }
}

impl Effect {
    /// Returns the harm in words, if it is measured.
    pub fn failure(&self) -> Option<String> {
        let (what, detail) = match self {
            Self::Fails(harm) => ("fails", harm.detail),
            Self::Wrong(harm) => ("is wrong", harm.detail),
            _ => return None,
        };
        Some(if detail.is_empty() { what.to_owned() } else { format!("{what}: {detail}") })
    }
}

/// Returns the effect of the findings in one response on each known client, in the order of [`CLIENTS`].
pub fn effects(findings: &[&Finding]) -> Vec<Effect> {
    let api = findings.first().map_or("", |found| &*found.api);
    let needed = needed(findings);
    let rows = Rows::of(api, findings, &needed);
    let effect = |client: &Client| {
        if !client.is_of(api) {
            return Effect::NotMeasured(Unmeasured::Kind);
        }
        of_client(client, findings, &needed, &rows)
    };
    CLIENTS.iter().map(effect).collect()
}

/// The rows for findings of some kinds, the most exact ones first.
struct Rows {
    /// For streams with these kinds, and no other.
    own: Vec<&'static Measurement>,
    /// For streams with one of them and any others.
    among_others: Vec<Vec<&'static Measurement>>,
    /// For streams with one of the notes beside them: these break a client, or say nothing of it.
    notes: Vec<Vec<&'static Measurement>>,
}

impl Rows {
    fn of(api: &str, findings: &[&Finding], needed: &[String]) -> Self {
        let row = |key: Vec<String>| catalogue::measurement(api, &key);
        let own = |kinds: &[String]| (0..=LOOSEST).filter_map(|level| row(alike(kinds, level))).collect();
        let notes = kinds(findings).into_iter().filter(|kind| !needed.contains(kind));
        Self {
            own: own(needed),
            among_others: among_others(needed)
                .into_iter()
                .map(|keys| keys.into_iter().filter_map(row).collect())
                .collect(),
            notes: notes.map(|note| own(&[note])).collect(),
        }
    }
}

/// Kinds are most loosely alike at this level.
pub const LOOSEST: usize = 5;
/// The same for rows of one kind among others.
const LOOSEST_OF_MANY: usize = 2;
/// Stands for a part of a kind that may be any, and for any other kinds.
const ANY: &str = "*";
/// Stands for an event, with a call or not.
const ANY_EVENT: &str = "**";
/// Stands for an error, with a call or not.
const ANY_ERROR: &str = "**error";
/// Begins what a kind says of the stream, and not of its event.
const MARK: char = '@';
/// The marks that clients of all kinds react to: what data begin as, and whether the response is complete.
const SHAPES: [&str; 3] = ["@object", "@array", "@text"];
const STAGES: [&str; 2] = ["@open", "@ended"];
/// The forms of data that is no syntax error to all clients: each parser and client has its own answer.
const VALUES: [&str; 8] =
    ["an array", "a string", "null", "a boolean", "a number", "two", "it is empty", NO_NUMBER];

/// Returns what kinds of findings have in common with others: at level 0 all, then without what else the event says, then
/// without the form or the types of objects around the member, then little more than the rule. At the last two levels, events
/// with calls are like others; of a value that a schema forbids, the member is left, whatever the event and the type. Unreadable
/// data are grouped by their defect, and not by their event.
pub fn alike(kinds: &[String], level: usize) -> Vec<String> {
    let all: BTreeSet<String> = kinds.iter().map(|kind| loosened(kind, level)).collect();
    all.into_iter().collect()
}

/// The keys of rows for each of several kinds with any others beside it.
pub fn among_others(kinds: &[String]) -> Vec<Vec<Vec<String>>> {
    // A member that comes twice is one finding, and its first value another. Where the server reports an error, clients do, too.
    let is_alone = |kind: &String| kind.contains(" repeated ") || says(kind, &catalogue::ERRORS);
    if kinds.len() < 2 || kinds.iter().any(is_alone) {
        return Vec::new();
    }
    let keys = |kind: &String| {
        (0..=LOOSEST_OF_MANY).map(|level| vec![ANY.to_owned(), loosened(kind, level)]).collect()
    };
    kinds.iter().map(keys).collect()
}

fn says(kind: &str, words: &[&str]) -> bool {
    kind.rsplit(' ').next().unwrap_or_default().split('+').any(|word| words.contains(&word))
}

fn loosened(kind: &str, level: usize) -> String {
    if level == 0 {
        return kind.to_owned();
    }
    let mut words = kind.splitn(4, ' ');
    let [rule, event, member, rest] = std::array::from_fn(|_| words.next().unwrap_or_default());
    let (form, said) = rest.rsplit_once(' ').unwrap_or((rest, ""));
    let marked = |some: &[&str]| -> String {
        let marks = said.split('+').filter(|word| word.starts_with(MARK));
        marks.filter(|mark| some.is_empty() || some.contains(mark)).collect()
    };
    let (about, any_event) = match () {
        () if says(kind, &catalogue::CALLS) => ("*call", ANY_EVENT),
        () if says(kind, &catalogue::ERRORS) => ("*error", ANY_ERROR),
        () => (ANY, ANY_EVENT),
    };
    if rule.starts_with("wire/") {
        // It does not matter where the syntax of JSON ends.
        let like = if rule == "wire/json-object" && !VALUES.contains(&form) { ANY } else { form };
        let shape = marked(&SHAPES);
        return match level {
            1 => format!("{rule} {event} {member} {form} {about}{}", marked(&[])),
            2 => format!("{rule} {ANY} {member} {form} {ANY}{shape}{}", marked(&STAGES)),
            3 => format!("{rule} {ANY} {ANY} {like} {ANY}{shape}{}", marked(&STAGES)),
            _ => format!("{rule} {ANY} {ANY} {like} {ANY_EVENT}{shape}"),
        };
    }
    let marks = if level < 3 { marked(&[]) } else { marked(&SHAPES) + &marked(&STAGES) };
    let plain: String =
        member.split('[').map(|part| part.split_once(']').map_or(part, |(_, after)| after)).collect();
    let any_form = if form == ODD { form } else { ANY };
    // Clients convert these, or leave them out.
    let typed = match form {
        "absent" | "null" | "empty" | "string" | "quoted" | "boolean" | "repeated" | ODD => form,
        _ => "*type",
    };
    let is_schema = rule.starts_with("schema/") && rule.ends_with("-valid");
    match level {
        1 => format!("{rule} {event} {member} {form} {about}{marks}"),
        2 if is_schema => format!("{rule} {event} {plain} {form} {about}{marks}"),
        3 if is_schema => format!("{rule} {event} {plain} {typed} {about}{marks}"),
        4 if is_schema => format!("{rule} {event} {plain} {typed} {any_event}"),
        _ if is_schema => format!("{rule} {ANY} {plain} {typed} {any_event}"),
        2 => format!("{rule} {event} {plain} {any_form} {about}{marks}"),
        3 => format!("{rule} {event} {ANY} {any_form} {about}{marks}"),
        _ => format!("{rule} {ANY} {ANY} {any_form} {any_event}{marks}"),
    }
}

/// Returns the kinds of findings that must be measured before a client is said to read a response that has these: notes only where
/// there is nothing else.
pub fn needed(findings: &[&Finding]) -> Vec<String> {
    let more: Vec<&Finding> = findings.iter().filter(|found| found.level > Level::May).copied().collect();
    kinds(if more.is_empty() { findings } else { &more })
}

fn kinds(findings: &[&Finding]) -> Vec<String> {
    let kinds: BTreeSet<String> = findings.iter().map(|found| found.kind()).collect();
    kinds.into_iter().collect()
}

/// The first row where the client was played decides.
fn of_client(client: &Client, findings: &[&Finding], needed: &[String], rows: &Rows) -> Effect {
    // It was not measured with the values that it knows.
    let has_others = findings.iter().any(|found| found.is_other_value(client));
    let first = |rows: &[&'static Measurement]| {
        let outcomes = rows.iter().filter(|_| !has_others).map(|row| (*row, row.outcome(client)));
        outcomes.into_iter().find(|(_, outcome)| *outcome != Measured::NotPlayed)
    };
    let own = first(&rows.own);
    let varies = matches!(own, Some((_, Measured::Varies)));
    let noted = rows.notes.iter().find_map(|rows| first(rows).filter(|(_, outcome)| breaks(outcome)));
    let broken = own.filter(|(_, outcome)| breaks(outcome)).or(noted);
    let effect = if let Some((row, outcome)) = broken.or(own.filter(|_| !varies)) {
        effect_of(row, outcome, needed)
    } else {
        let each: Vec<_> = rows.among_others.iter().map(|rows| first(rows)).collect();
        among_any(&each, varies).and_then(|(row, outcome)| effect_of(row, outcome, needed))
    };
    if let Some(effect) = effect {
        return effect;
    }
    if let Some(reported) = findings.iter().find_map(|found| found.reported(client)) {
        return Effect::IsReported(reported);
    }
    Effect::NotMeasured(match client.column {
        None => Unmeasured::OnlyReports,
        Some(_) if needed.is_empty() => Unmeasured::NoFinding,
        Some(_) if varies => Unmeasured::Varies,
        Some(_) => Unmeasured::Kind,
    })
}

const fn breaks(outcome: &Measured) -> bool {
    matches!(outcome, Measured::Fails(_) | Measured::Wrong(_))
}

/// One finding that breaks a client is enough. It is not affected if no finding affects it.
fn among_any<'m>(
    each: &[Option<(&'m Measurement, Measured)>],
    varies: bool,
) -> Option<(&'m Measurement, Measured)> {
    if let Some(broken) = each.iter().flatten().find(|(_, outcome)| breaks(outcome)) {
        return Some(*broken);
    }
    let all: Vec<_> = each.iter().copied().collect::<Option<_>>().filter(|_| !varies)?;
    let passed = all.iter().find(|(_, outcome)| matches!(outcome, Measured::PassesOn(_)));
    passed.or(all.first()).copied()
}

fn effect_of(row: &Measurement, outcome: Measured, needed: &[String]) -> Option<Effect> {
    let harm = |detail| {
        // Streams that are only alike break it elsewhere.
        let detail = if row.kinds.iter().eq(needed) { detail } else { "" };
        let kind = row.kinds.iter().find(|kind| **kind != ANY);
        Harm { rule: kind.map_or("", |kind| kind.split(' ').next().unwrap_or_default()), detail }
    };
    Some(match outcome {
        Measured::Fails(detail) => Effect::Fails(harm(detail)),
        Measured::Wrong(detail) => Effect::Wrong(harm(detail)),
        Measured::PassesOn(detail) => Effect::PassesOn(harm(detail)),
        Measured::Reports => Effect::Reports,
        Measured::Unaffected => Effect::Unaffected,
        Measured::Varies | Measured::NotPlayed => return None,
    })
}

impl Finding {
    /// Returns its effect on each known client, in the order of [`CLIENTS`], as if it was the only finding.
    pub fn effects(&self) -> Vec<Effect> {
        effects(&[self])
    }

    /// Returns the clients that it breaks, with their failures: those measured, then those that users reported.
    pub fn broken_clients(&self) -> Vec<(&'static str, String)> {
        let (mut measured, mut reported) = (Vec::new(), Vec::new());
        for (client, effect) in CLIENTS.iter().zip(self.effects()) {
            match effect {
                Effect::IsReported(harm) => reported.push((client.name, harm.detail.to_owned())),
                effect => measured.extend(effect.failure().map(|failure| (client.name, failure))),
            }
        }
        measured.extend(reported);
        measured
    }

    /// Returns the clients for which it fails: those that it was measured to break, and not only by the reports of users. There
    /// are none if the product of the dialect is recorded to send such streams.
    pub fn measured_breaks(&self) -> Vec<&'static str> {
        if self.is_recorded {
            return Vec::new();
        }
        let effects = CLIENTS.iter().zip(self.effects());
        effects.filter(|(_, effect)| effect.failure().is_some()).map(|(client, _)| client.name).collect()
    }

    /// The failure that users reported of a client.
    fn reported(&self, client: &Client) -> Option<Harm> {
        let rule = catalogue::rule(&self.rule).filter(|_| !self.is_fine_in(client))?;
        let reports = rule.in_api(&self.api).breaks.iter();
        let mut reports = reports.filter(|report| report.is_reported && report.client == client.name);
        let report = reports.find(|report| self.is_at(report.at))?;
        Some(Harm { rule: rule.id, detail: report.failure })
    }

    /// Whether the client knows the value, and was measured with others.
    fn is_other_value(&self, client: &Client) -> bool {
        !matches!(self.form(), "absent" | "null") && self.is_fine_in(client)
    }

    fn is_fine_in(&self, client: &Client) -> bool {
        self.fine_in.iter().any(|dialect| dialect == client.dialect)
    }

    fn is_at(&self, members: &[&str]) -> bool {
        let pointer = self.pointer.as_deref().unwrap_or_default();
        let segments = || pointer.split('/').map(without_index).chain(self.missing.as_deref());
        members.is_empty() || members.iter().any(|member| segments().eq(member.split('/')))
    }
}

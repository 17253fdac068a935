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
    let rows = rows(api, &needed);
    let effect = |client: &Client| {
        if !client.is_of(api) {
            return Effect::NotMeasured(Unmeasured::Kind);
        }
        of_client(client, findings, &needed, &rows)
    };
    CLIENTS.iter().map(effect).collect()
}

/// The rows for findings of these kinds: the most exact ones first, and at last rows of one kind among any others.
fn rows(api: &str, needed: &[String]) -> Vec<&'static Measurement> {
    let mut keys: Vec<Vec<String>> = (0..=LOOSEST).map(|level| alike(needed, level)).collect();
    keys.extend(among_others(needed));
    keys.iter().filter_map(|key| catalogue::measurement(api, key)).collect()
}

/// Kinds are most loosely alike at this level.
pub const LOOSEST: usize = 5;
/// One of several kinds may be known to break a client up to this level.
pub const LOOSEST_OF_MANY: usize = 1;
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

/// Returns what kinds of findings have in common with others: at level 0 all, then without what else the event says, then
/// without the form or the types of objects around the member, then little more than the rule. At the last two levels, events
/// with calls are like others; of a value that a schema forbids, the member is left, whatever the event and the type. Unreadable
/// data are grouped by their defect, and not by their event.
pub fn alike(kinds: &[String], level: usize) -> Vec<String> {
    let all: BTreeSet<String> = kinds.iter().map(|kind| loosened(kind, level)).collect();
    all.into_iter().collect()
}

/// The keys of rows for one of several kinds with any others beside it.
pub fn among_others(kinds: &[String]) -> Vec<Vec<String>> {
    // A member that comes twice is one finding, and its first value another. Where the server reports an error, clients do, too.
    let is_alone = |kind: &String| kind.contains(" repeated ") || says(kind, &catalogue::ERRORS);
    if kinds.len() < 2 || kinds.iter().any(is_alone) {
        return Vec::new();
    }
    let key = |kind: &String, level| vec![ANY.to_owned(), loosened(kind, level)];
    kinds.iter().flat_map(|kind| (0..=LOOSEST_OF_MANY).map(move |level| key(kind, level))).collect()
}

/// Whether the event of a kind says one of these words.
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
        let like = if rule == "wire/json-object" && form != NO_NUMBER { ANY } else { form };
        let shape = marked(&SHAPES);
        return match level {
            1 => format!("{rule} {event} {member} {form} {about}{}", marked(&[])),
            2 => format!("{rule} {ANY} {member} {form} {ANY}{shape}{}", marked(&STAGES)),
            3 => format!("{rule} {ANY} {ANY} {like} {ANY}{shape}{}", marked(&STAGES)),
            _ => format!("{rule} {ANY} {ANY} {like} {ANY_EVENT}{shape}"),
        };
    }
    let marks = if level < 3 { marked(&[]) } else { String::new() };
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
        3 if is_schema => format!("{rule} {event} {plain} {typed} {about}"),
        4 if is_schema => format!("{rule} {event} {plain} {typed} {any_event}"),
        _ if is_schema => format!("{rule} {ANY} {plain} {typed} {any_event}"),
        2 => format!("{rule} {event} {plain} {any_form} {about}{marks}"),
        3 => format!("{rule} {event} {ANY} {any_form} {about}"),
        _ => format!("{rule} {ANY} {ANY} {any_form} {any_event}"),
    }
}

/// Returns the kinds of findings that must be measured before a client is said to read a response that has these: notes only where
/// there is nothing else.
pub fn needed(findings: &[&Finding]) -> Vec<String> {
    let more: Vec<&Finding> = findings.iter().filter(|found| found.level > Level::May).copied().collect();
    kinds(if more.is_empty() { findings } else { &more })
}

/// Returns whether a finding of a kind says what is wrong with its event, and not only where: a member that it lacks, or that is of
/// another type, or a rule that a single damage breaks.
pub fn tells(kind: &str) -> bool {
    let mut words = kind.split(' ');
    let (rule, form) = (words.next().unwrap_or_default(), words.nth(2).unwrap_or_default());
    match rule {
        "schema/event-valid" => {
            matches!(form, "absent" | "null" | "empty" | "quoted" | "number" | ODD | "boolean")
        }
        rule => catalogue::rule(rule).is_some_and(|rule| rule.exact),
    }
}

fn kinds(findings: &[&Finding]) -> Vec<String> {
    let kinds: BTreeSet<String> = findings.iter().map(|found| found.kind()).collect();
    kinds.into_iter().collect()
}

/// The first row where the client was played decides.
fn of_client(client: &Client, findings: &[&Finding], needed: &[String], rows: &[&Measurement]) -> Effect {
    let harm = |row: &Measurement, detail| {
        // Streams that are only alike break it elsewhere.
        let detail = if row.kinds.iter().eq(needed) { detail } else { "" };
        let kind = row.kinds.iter().find(|kind| **kind != ANY);
        Harm { rule: kind.map_or("", |kind| kind.split(' ').next().unwrap_or_default()), detail }
    };
    // It was not measured with the values that it knows.
    let has_others = findings.iter().any(|found| found.is_other_value(client));
    let mut outcomes = rows.iter().filter(|_| !has_others).map(|row| (*row, row.outcome(client)));
    let first = outcomes.find(|(_, outcome)| *outcome != Measured::NotPlayed);
    let varies = matches!(first, Some((_, Measured::Varies)));
    // Some of the findings may be known to break it, whatever the others are.
    let is_known = |outcome: &Measured| *outcome != Measured::NotPlayed;
    let broken = outcomes.find(|(row, outcome)| row.kinds.first() == Some(&ANY) && is_known(outcome));
    let broken = broken.filter(|_| varies);
    match broken.or(first) {
        Some((row, Measured::Fails(detail))) => return Effect::Fails(harm(row, detail)),
        Some((row, Measured::Wrong(detail))) => return Effect::Wrong(harm(row, detail)),
        Some((row, Measured::PassesOn(detail))) => return Effect::PassesOn(harm(row, detail)),
        Some((_, Measured::Reports)) => return Effect::Reports,
        Some((_, Measured::Unaffected)) => return Effect::Unaffected,
        _ => {}
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
        let effects = CLIENTS.iter().zip(self.effects()).filter(|_| !self.is_recorded);
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

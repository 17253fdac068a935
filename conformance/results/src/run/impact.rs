//! The effect of a run on clients, and other summaries for reports.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use spec::{APIS, FORMATS};

use crate::text::{counted, grouped, listed};
use crate::{Broken, CaptureReport, ClientState, ClientTotal, LogRows, Run, UNKNOWN, Unknown, Verdict};

/// Clients that fail in the same way, in the same number of recordings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailingClients<'r> {
    /// The clients.
    pub clients: Vec<&'r ClientTotal>,
    /// Number of recordings.
    pub captures: u64,
    /// The rules, most frequent first.
    pub rules: &'r [Broken],
}

impl Run {
    /// The requests without a response, by reason: their number, and the first recording.
    pub fn unanswered(&self) -> Vec<(&str, u64, &CaptureReport)> {
        let sent = self.captures.iter().filter(|_| self.live.is_some());
        let by_reason = grouped(sent.filter_map(|capture| Some((capture.unanswered()?, capture))));
        by_reason.into_iter().map(|(reason, all)| (reason, all.len() as u64, all[0])).collect()
    }

    /// Returns why recordings say nothing about clients, if no response of this API was read.
    pub fn without_responses(&self) -> Option<String> {
        if self.live.is_some() || self.captures.iter().any(CaptureReport::has_responses) {
            return None;
        }
        let named = |capture: &CaptureReport| {
            if self.captures.len() == 1 { "it".to_owned() } else { capture.name.clone() }
        };
        let unread = self.captures.iter().find_map(|capture| Some((capture, capture.error.as_ref()?)));
        if let Some((capture, error)) = unread {
            return Some(format!("{} could not be read: {error}", named(capture)));
        }
        if let Some(log) = self.logs().first() {
            return Some(log.clone());
        }
        let mut apis: BTreeMap<&str, u64> = BTreeMap::new();
        for (name, count) in
            self.captures.iter().flat_map(|capture| capture.foreign.iter().chain(&capture.other_apis))
        {
            *apis.entry(name).or_default() += count;
        }
        let hints: Vec<String> = apis.keys().filter_map(|name| hint(name)).collect();
        let apis: Vec<&str> = apis.into_keys().filter(|name| hint(name).is_none()).collect();
        Some(match (&*apis, &*hints) {
            ([], []) => "no stream or response was found".to_owned(),
            ([], hints) => format!("not a recording of an API: {}", hints.join("; ")),
            (apis, _) => format!("another protocol: {}", apis.join(", ")),
        })
    }

    /// Returns why responses are unexpected, with the tests that failed.
    pub fn wrong_answers(&self) -> Vec<(&str, Vec<&str>)> {
        let wrong = self.live.iter().flat_map(|live| &live.cases).flat_map(|case| {
            let failed = case.trials.iter().filter(|told| told.judged.verdict == Verdict::Fail);
            failed.filter(|told| case.findings(told, self).next().is_none())
        });
        let mut all = grouped(wrong.map(|told| (told.judged.reason.as_str(), told.name.as_str())));
        all.sort_by_key(|(_, names)| Reverse(names.len()));
        all
    }

    /// The expected failures that passed.
    pub fn stale(&self) -> &[String] {
        self.live.as_ref().map(|live| &*live.stale).unwrap_or_default()
    }

    /// Returns what was not checked, with the recordings.
    pub fn not_judged(&self) -> Vec<(String, Vec<Cow<'_, str>>)> {
        let is_unanswered = |capture: &CaptureReport| self.live.is_some() && capture.unanswered().is_some();
        // Requests without a response are listed as not tested.
        let answered = || self.captures.iter().filter(|capture| !is_unanswered(capture));
        let mut all = Vec::new();
        all.extend(self.of_other_apis());
        let mut add = |count: fn(&CaptureReport) -> u64, one: &str, [is, are]: [&str; 2]| {
            let of = answered().filter(|capture| count(capture) > 0);
            let total = of.clone().map(count).sum();
            if total > 0 {
                let what = format!("{} {}", counted(total, one), if total == 1 { is } else { are });
                all.push((what, of.map(|capture| self.name(capture)).collect()));
            }
        };
        let neither = ["that is neither a response nor an error", "that are neither responses nor errors"];
        add(|capture| capture.unjudged, "answer", neither);
        if self.live.is_none() {
            let is_empty = |capture: &CaptureReport| {
                let holds_nothing =
                    capture.bodies == 0 && capture.other_apis.is_empty() && capture.logs.is_empty();
                u64::from(capture.error.is_none() && holds_nothing && capture.is_blank())
            };
            add(is_empty, "file", ["without streams or responses", "without streams or responses"]);
        }
        let file = if self.live.is_some() { "answer" } else { "file" };
        let unread = "that could not be read completely";
        add(|capture| capture.error.is_some().into(), file, [unread; 2]);
        add(|capture| capture.lost, "connection", ["truncated before the end"; 2]);
        if self.passed_over > 0 {
            let what = counted(self.passed_over, "file");
            all.push((format!("{what} skipped: not the name of a recording"), Vec::new()));
        }
        if self.scripted > 0 {
            let what = counted(self.scripted, "file");
            let why = "recorded of the scripted upstream of `between`, or after a fault of it";
            all.push((format!("{what} skipped: {why}"), Vec::new()));
        }
        all
    }

    /// The logs among the recordings, each with the number of its answers, in words.
    pub fn logs(&self) -> Vec<String> {
        let mut logs: BTreeMap<&str, LogRows> = BTreeMap::new();
        for (name, log) in self.captures.iter().flat_map(|capture| &capture.logs) {
            let all = logs.entry(name).or_default();
            (all.rows, all.answers) = (all.rows + log.rows, all.answers + log.answers);
        }
        let words = |(name, LogRows { rows, answers }): (&str, LogRows)| {
            let rows = counted(rows, "row");
            match answers {
                0 => format!("{name}: {rows}, without an answer"),
                _ => format!(
                    "{name}: {rows}, assembled: {}; the order of events is not in this log",
                    counted(answers, "answer")
                ),
            }
        };
        logs.into_iter().map(words).collect()
    }

    /// In one line, with the most frequent first.
    fn of_other_apis(&self) -> Option<(String, Vec<Cow<'_, str>>)> {
        let mut apis: BTreeMap<&str, u64> = BTreeMap::new();
        for (name, count) in self.captures.iter().flat_map(|capture| &capture.other_apis) {
            *apis.entry(name).or_default() += count;
        }
        let total: u64 = apis.values().sum();
        let mut apis: Vec<(&str, u64)> = apis.into_iter().collect();
        apis.sort_by_key(|(_, count)| Reverse(*count));
        let names: Vec<String> = apis.iter().map(|(name, count)| format!("{name} {count}")).collect();
        let formats = apis.iter().filter(|(name, _)| hint(name).is_some()).count();
        let api = match (apis.len(), formats) {
            (1, 0) => "another API",
            (_, 0) => "other APIs",
            (1, 1) => "another format",
            (all, formats) if all == formats => "other formats",
            _ => "other APIs and formats",
        };
        (total > 0)
            .then(|| (format!("{} of {api} ({})", counted(total, "recording"), names.join(", ")), Vec::new()))
    }

    /// The clients that responses break.
    pub fn broken_clients(&self) -> Vec<&ClientTotal> {
        self.clients.iter().filter(|client| client.state.is_broken()).collect()
    }

    /// The clients with this state.
    pub fn clients_that_are(&self, state: ClientState) -> Vec<&ClientTotal> {
        self.clients.iter().filter(|client| client.state == state).collect()
    }

    /// Returns the clients that responses do not break, as far as something is known of them: with what they do.
    pub fn other_clients(&self) -> Vec<(ClientState, Vec<&ClientTotal>)> {
        let states = [
            ClientState::ReportedBroken,
            ClientState::PassesOn,
            ClientState::Reports,
            ClientState::Unaffected,
        ];
        let of = states.map(|state| (state, self.clients_that_are(state)));
        of.into_iter().filter(|(_, clients)| !clients.is_empty()).collect()
    }

    /// Returns whether the state of any client is known.
    pub fn has_measured_clients(&self) -> bool {
        self.clients.iter().any(|client| client.state != ClientState::NotMeasured)
    }

    /// Returns the measured clients whose state is not known, grouped by what they were not measured with.
    pub fn unmeasured_clients(&self) -> Vec<(&[Unknown], Vec<&ClientTotal>)> {
        let unmeasured = self.clients_that_are(ClientState::NotMeasured).into_iter();
        let measured = unmeasured.filter(|client| client.version.is_some());
        grouped(measured.map(|client| (&*client.unmeasured, client)))
    }

    /// The broken clients, grouped if they fail alike.
    pub fn failing_clients(&self) -> impl Iterator<Item = FailingClients<'_>> {
        let broken = self.clients.iter().filter(|client| client.captures > 0);
        let alike = grouped(broken.map(|client| ((client.captures, &*client.rules), client)));
        alike.into_iter().map(|((captures, rules), clients)| FailingClients { clients, captures, rules })
    }
}

/// For a format that is no recording: the thing to check instead.
fn hint(name: &str) -> Option<String> {
    if name == UNKNOWN {
        let apis: Vec<&str> = APIS.iter().map(|api| api.title).collect();
        return Some(format!("no object is an event or a response of {}", apis.join(", ")));
    }
    let format = FORMATS.iter().find(|format| format.name == name)?;
    Some(format!("{name} ({})", format.hint))
}

impl Unknown {
    /// Returns the reason in words, with some of the rules.
    pub fn words(&self) -> String {
        let rules = listed(&self.rules, NAMED, String::clone);
        if rules.is_empty() { self.reason.to_string() } else { format!("{} ({rules})", self.reason) }
    }
}

/// Maximum number of rules that are named where a client was not measured with them.
const NAMED: usize = 3;

impl ClientTotal {
    /// Returns why its state is not known.
    pub fn why_unknown(&self) -> String {
        self.unmeasured.iter().map(Unknown::words).collect::<Vec<_>>().join("; ")
    }

    /// Its name, with the tested version if known.
    pub fn named(&self) -> String {
        match self.number() {
            Some(number) => format!("{} ({number})", self.name),
            None => self.name.clone(),
        }
    }

    /// The number of the tested version.
    pub fn number(&self) -> Option<&str> {
        let number = self.version.as_deref()?.split(',').next()?;
        number.split(" on ").next().map(str::trim)
    }
}

//! The findings that fail a check.

use std::collections::BTreeMap;

use catalogue::Level;
use checker::Finding;
use serde::{Deserialize, Serialize};

/// The findings that fail a check or a test. Each value includes those before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FailOn {
    /// Broken MUST rules.
    Must,
    /// Also what is measured to break a client.
    #[default]
    Breaks,
    /// Also broken SHOULD rules.
    Should,
    /// Any finding.
    May,
}

impl FailOn {
    /// All values, from the most lenient.
    pub const ALL: [Self; 4] = [Self::Must, Self::Breaks, Self::Should, Self::May];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Must => "must",
            Self::Breaks => "breaks",
            Self::Should => "should",
            Self::May => "may",
        }
    }

    /// Returns which findings fail, for reports.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Must => "MUST",
            Self::Breaks => "MUST, and what breaks a client",
            Self::Should => "MUST, SHOULD, and what breaks a client",
            Self::May => "any finding",
        }
    }

    /// Returns whether a finding fails.
    pub fn fails(self, finding: &Finding) -> bool {
        // Most findings fail by their level.
        self.fails_all(finding.level) || self >= Self::Breaks && !finding.measured_breaks().is_empty()
    }

    /// Returns whether a finding of a level fails, which is measured to break a client or not.
    pub fn fails_with(self, level: Level, breaks: bool) -> bool {
        self.fails_all(level) || self >= Self::Breaks && breaks
    }

    fn fails_all(self, level: Level) -> bool {
        match level {
            Level::Must => true,
            Level::Should => self >= Self::Should,
            Level::May => self >= Self::May,
            Level::Off => false,
        }
    }

    /// Returns the value with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|on| on.name() == name)
    }

    /// Returns the most lenient value that a finding fails; `None` if none does.
    pub fn of(finding: &Finding) -> Option<Self> {
        Self::ALL.into_iter().find(|on| on.fails(finding))
    }

    /// Returns the rules that fail in a line. One that is broken below MUST has the reason why it fails.
    pub fn broken<'f>(self, findings: impl Iterator<Item = &'f Finding>) -> String {
        let mut worst: BTreeMap<&str, &Finding> = BTreeMap::new();
        for finding in findings.filter(|finding| self.fails(finding)) {
            let known = worst.entry(&finding.rule).or_insert(finding);
            if known.level < finding.level {
                *known = finding;
            }
        }
        let told = worst.into_iter().map(|(rule, finding)| match self.reason(finding) {
            Some(reason) if finding.level < Level::Must => format!("{rule} ({reason})"),
            _ => rule.to_owned(),
        });
        told.collect::<Vec<_>>().join(", ")
    }

    /// Returns why a finding fails: its level, and the clients that it breaks. `None` if it does not fail.
    pub fn reason(self, finding: &Finding) -> Option<String> {
        let clients = if finding.level == Level::Must { Vec::new() } else { finding.measured_breaks() };
        let breaks = self >= Self::Breaks && !clients.is_empty();
        if !self.fails_all(finding.level) && !breaks {
            return None;
        }
        let level = finding.level.keyword();
        Some(match &*clients {
            [] => level.to_owned(),
            [one] => format!("{level}, and breaks {one}"),
            [first, others @ ..] => format!("{level}, and breaks {first} and {} more", others.len()),
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use checker::Location;

    pub(crate) fn finding(rule: &'static str, level: Level) -> Finding {
        Finding {
            rule: rule.into(),
            api: "responses".into(),
            dialect: "".into(),
            level,
            message: String::new(),
            exchange: None,
            exchange_number: None,
            place: Location { event_type: Some("response.output_text.delta".into()), ..Location::default() },
            pointer: None,
            missing: None,
            expected: None,
            actual: None,
            form: "".into(),
            says: "".into(),
            related: None,
            supply: None,
            is_recorded: false,
            follows_from: None,
            member: None,
            fine_in: Vec::new(),
            count: 1,
        }
    }

    /// Of a kind that breaks several clients.
    fn breaking(level: Level) -> Finding {
        let (_, table) = catalogue::MEASURED.iter().find(|(api, _)| *api == "responses").unwrap();
        let breaking = table.iter().filter(|row| row.outcomes.matches(['x', 'w']).count() > 2);
        let mut found = breaking.filter_map(|row| match row.kinds {
            [kind] => match kind.split(' ').collect::<Vec<_>>()[..] {
                [rule, event, "-", "-", "-"] if event != "-" => Some((rule, event)),
                _ => None,
            },
            _ => None,
        });
        let (rule, event) = found.next_back().unwrap();
        let place = Location { event_type: Some(event.into()), ..Location::default() };
        Finding { place, ..finding(rule, level) }
    }

    fn failing(finding: &Finding) -> Vec<&'static str> {
        let failing: Vec<FailOn> = FailOn::ALL.into_iter().filter(|on| on.fails(finding)).collect();
        assert_eq!(FailOn::of(finding), failing.first().copied());
        failing.into_iter().map(FailOn::name).collect()
    }

    #[test]
    fn each_value_includes_those_before_it() {
        let harmless = |level| finding("wire/no-id-line", level);
        assert_eq!(failing(&harmless(Level::Must)), ["must", "breaks", "should", "may"]);
        assert_eq!(failing(&breaking(Level::Should)), ["breaks", "should", "may"]);
        assert_eq!(failing(&breaking(Level::May)), ["breaks", "should", "may"]);
        assert_eq!(failing(&harmless(Level::Should)), ["should", "may"]);
        assert_eq!(failing(&harmless(Level::May)), ["may"]);
    }

    #[test]
    fn a_client_that_is_known_from_reports_alone_fails_nothing() {
        let is_unmeasured = |rule: &&catalogue::Rule| {
            let breaks = rule.in_api("").breaks;
            !breaks.is_empty()
                && breaks
                    .iter()
                    .all(|broken| catalogue::client(broken.client).is_none_or(|it| it.version.is_none()))
        };
        let rules: Vec<_> = catalogue::RULES.iter().filter(is_unmeasured).collect();
        assert!(!rules.is_empty(), "no rule shows it");
        for rule in rules {
            assert_eq!(failing(&finding(rule.id, Level::Should)), ["should", "may"], "{}", rule.id);
        }
    }

    #[test]
    fn the_reason_names_level_and_clients() {
        let of = |finding| FailOn::Breaks.reason(&finding).unwrap_or_default();
        assert_eq!(of(finding("wire/no-id-line", Level::Should)), "");
        assert_eq!(of(finding("wire/no-id-line", Level::Must)), "MUST");
        let told = of(breaking(Level::Should));
        assert!(told.starts_with("SHOULD, and breaks ") && told.contains(" more"), "{told}");
    }
}

//! Names that were mistaken for others.

use anyhow::{Result, anyhow};
use catalogue::{Requirement, Rule};
use spec::Dialect;

pub(super) use harness::suite::did_you_mean as meant;

/// The dialect of that name.
pub(super) fn dialect(name: &str) -> Result<&'static Dialect> {
    let all = || spec::dialects().map(|(name, _)| name);
    spec::dialect(name).ok_or_else(|| {
        let names: Vec<_> = all().collect();
        let hint = if name == "all" { " but for the reference gateway" } else { &*meant(name, all()) };
        anyhow!("there is no dialect \"{name}\"{hint}; there are: {}", names.join(", "))
    })
}

/// What can be explained.
#[derive(Debug, Clone, Copy)]
pub(super) enum Topic {
    Rule(&'static Rule),
    Sentence(&'static Requirement),
}

/// The rule, or the normative sentence, of that name. A sentence that is named without a version is that of the
/// dialect, and else of the latest version.
pub(super) fn topic(name: &str, dialect: &Dialect) -> Result<Topic> {
    if let Some(rule) = catalogue::rule(name) {
        return Ok(Topic::Rule(rule));
    }
    Requirement::find(name, dialect).map(Topic::Sentence).ok_or_else(|| {
        let sentences: Vec<String> = catalogue::REQUIREMENTS.iter().map(Requirement::name).collect();
        let short = catalogue::REQUIREMENTS.iter().map(|sentence| sentence.id);
        let rules = catalogue::RULES.iter().map(|rule| rule.id);
        let hint = meant(name, rules.chain(short).chain(sentences.iter().map(String::as_str)));
        anyhow!(
            "there is no rule and no sentence \"{name}\"{hint}; `conformance list rules` and `conformance list \
             requirements` name them all"
        )
    })
}

/// The rule of that id.
pub(super) fn rule(id: &str) -> Result<&'static Rule> {
    catalogue::rule(id).ok_or_else(|| {
        let hint = meant(id, catalogue::RULES.iter().map(|rule| rule.id));
        anyhow!("there is no rule \"{id}\"{hint}; `conformance list rules` names them all")
    })
}

/// That there are profiles of these names.
pub(super) fn profiles(names: &[String]) -> Result<()> {
    let all = || catalogue::PROFILES.iter().map(|profile| profile.name);
    match names.iter().find(|name| !all().any(|known| known == *name)) {
        None => Ok(()),
        Some(name) => {
            let known: Vec<_> = all().collect();
            Err(anyhow!(
                "there is no profile \"{name}\"{}; there are: {}",
                meant(name, all()),
                known.join(", ")
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_version_has_two_names() {
        assert_eq!(dialect("open-responses@2026-04-24").unwrap().name, "open-responses");
        assert_eq!(dialect("open-responses@2026-01-15").unwrap().name, "open-responses@2026-01-15");
        assert!(dialect("open-responses@2027-01-01").is_err());
    }

    #[test]
    fn sentences_are_those_of_the_dialect() {
        let told = |name, of| match topic(name, dialect(of).unwrap()) {
            Ok(Topic::Sentence(sentence)) => sentence.version,
            _ => "no sentence",
        };
        assert_eq!(told("N35", "openai"), "open-responses@2026-04-24");
        assert_eq!(told("n35", "open-responses"), "open-responses@2026-04-24");
        assert_eq!(told("N35", "open-responses@2026-01-15"), "open-responses@2026-01-15");
        assert_eq!(told("open-responses@2026-01-15#N35", "openai"), "open-responses@2026-01-15");
        assert_eq!(told("open-responses#N35", "openai"), "open-responses@2026-04-24");
        for unknown in ["N99", "openai#N35", "open-responses@2025-01-01#N35"] {
            assert_eq!(told(unknown, "openai"), "no sentence", "{unknown}");
        }
    }

    #[test]
    fn typing_errors_and_parts_get_a_hint() {
        let error = |result: Result<&Rule>| result.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error(rule("schema/event-vlaid")).contains("did you mean schema/event-valid"));
        assert!(error(rule("event-known")).contains("did you mean schema/event-known"));
        assert!(!error(rule("nothing-of-that-kind")).contains("did you mean"));
    }
}

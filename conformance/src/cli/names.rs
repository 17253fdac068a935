//! Names that were mistaken for others.

use anyhow::{Result, anyhow};
use spec::Dialect;
use spec::catalogue::{self, Rule};

/// The dialect of that name.
pub(super) fn dialect(name: &str) -> Result<&'static Dialect> {
    let all = || spec::DIALECTS.iter().map(|dialect| dialect.name);
    crate::dialect(name).ok_or_else(|| {
        let names: Vec<_> = all().collect();
        let hint = if name == "all" { " but for the reference gateway" } else { &*meant(name, all()) };
        anyhow!("there is no dialect \"{name}\"{hint}; there are: {}", names.join(", "))
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

/// A question after the names that are nearest to a mistaken one.
pub(super) fn meant<'n>(mistaken: &str, names: impl Iterator<Item = &'n str>) -> String {
    let wanted = mistaken.to_lowercase();
    let limit = wanted.chars().count() / 3 + 1;
    let is_part = |name: &str| wanted.len() > 3 && (name.starts_with(&wanted) || name.ends_with(&wanted));
    let distance = |name: &str| {
        if is_part(name) { 0 } else { strsim::damerau_levenshtein(&wanted, &name.to_lowercase()) }
    };
    let mut near: Vec<(usize, &str)> =
        names.map(|name| (distance(name), name)).filter(|(distance, _)| *distance <= limit).collect();
    near.sort_unstable();
    near.truncate(3);
    let near: Vec<_> = near.into_iter().map(|(_, name)| name).collect();
    if near.is_empty() { String::new() } else { format!(" (did you mean {}?)", near.join(" or ")) }
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
    fn typing_errors_and_parts_get_a_hint() {
        let error = |result: Result<&Rule>| result.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error(rule("schema/event-vlaid")).contains("did you mean schema/event-valid"));
        assert!(error(rule("event-known")).contains("did you mean schema/event-known"));
        assert!(!error(rule("nothing-of-that-kind")).contains("did you mean"));
    }
}

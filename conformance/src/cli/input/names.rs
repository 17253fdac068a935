//! Look-up of names, with hints for unknown ones.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail};
use catalogue::{
    BETWEEN_CASES, BetweenCase, Feature, Profile, Requirement, Rule, Scenario, TestRule, between_rule,
    client_rule, test_rules,
};
use checker::fallback;
use clients::PlayedCase;
use gateway::WireFault;
use spec::Dialect;
use spec::folder::{Folder, place_of_level};
use spec::table::{EventInfo, Fallback};

pub(in crate::cli) use harness::suite::did_you_mean as meant;

/// The dialect with this name, or the one in the folder at this path, such as `./acme`.
///
/// # Errors
///
/// If there is none, or a file of the folder is invalid.
pub fn dialect(name: &str) -> Result<&'static Dialect> {
    if is_folder(name) {
        return dialect_in(Path::new(name));
    }
    let all = || spec::dialects().map(|(name, _)| name);
    spec::dialect(name).ok_or_else(|| {
        let names: Vec<_> = all().collect();
        let hint = match name {
            "all" => " but for the reference gateway".to_owned(),
            _ if Path::new(name).join("dialect.toml").is_file() => {
                format!("; for the folder, write ./{name}")
            }
            _ => meant(name, all()),
        };
        anyhow!("there is no dialect \"{name}\"{hint}; there are: {}", names.join(", "))
    })
}

/// A path has a slash; a dialect of the suite has none.
fn is_folder(name: &str) -> bool {
    name.contains(['/', '\\']) || matches!(name, "." | "..")
}

/// In a file, the path of a dialect's folder is relative to the folder of that file.
pub(in crate::cli) fn dialects_at(names: &str, folder: &Path) -> String {
    names.split(',').map(|name| dialect_at(name, folder)).collect::<Vec<_>>().join(",")
}

fn dialect_at(name: &str, folder: &Path) -> String {
    let path = folder.join(name).display().to_string();
    if is_folder(name) { if is_folder(&path) { path } else { format!("./{path}") } } else { name.to_owned() }
}

/// The dialect has the name of the folder.
pub(in crate::cli) fn dialect_in(path: &Path) -> Result<&'static Dialect> {
    let (name, folder) = dialect_folder(path)?;
    let dialect = spec::folder::load(&name, &folder)?;
    for level in dialect.rules {
        let place = || format!("{}: [[rule]] {}", place_of_level(&folder, level.id), level.id);
        rule(level.id).with_context(place)?;
        if level.reason.trim().is_empty() {
            bail!("{}: the reason is empty: explain why the level differs", place());
        }
    }
    Ok(dialect)
}

pub(in crate::cli) fn dialect_folder(path: &Path) -> Result<(String, Folder)> {
    let whole = path.canonicalize().with_context(|| format!("--dialect {}", path.display()))?;
    let name = whole.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok((name, Folder::read(path)?))
}

/// The usual dialect of each API that the suite serves: the one of its first party.
pub(in crate::cli) fn served() -> impl Iterator<Item = &'static Dialect> {
    let mut all: Vec<_> = spec::APIS.iter().filter_map(|api| fallback(Some(*api))).collect();
    all.retain(|dialect| gateway::is_spoken(dialect));
    all.sort_by_key(|dialect| (dialect.fallback != Fallback::Any, dialect.api.title));
    all.into_iter()
}

/// The usual dialect of each API that the suite also calls.
pub(in crate::cli) fn usual() -> impl Iterator<Item = &'static Dialect> {
    served().filter(|dialect| !dialect.api.operations.is_empty())
}

pub(in crate::cli) fn dialect_of_api(api: &str) -> Result<&'static Dialect> {
    if let Some(known) = spec::APIS.iter().find(|known| known.name == api).and_then(|api| fallback(Some(api)))
    {
        return spoken(known);
    }
    let names: Vec<_> = usual().map(|dialect| dialect.api.name).collect();
    let hint = meant(api, names.iter().copied());
    Err(anyhow!("there is no API \"{api}\"{hint}; there are: {}", names.join(", ")))
}

/// Some APIs are not called.
pub(in crate::cli) fn spoken(dialect: &'static Dialect) -> Result<&'static Dialect> {
    if !dialect.api.operations.is_empty() {
        return Ok(dialect);
    }
    let (name, title) = (dialect.name, dialect.api.title);
    let serves = if gateway::is_spoken(dialect) {
        "and serves it, but does not call it"
    } else {
        "and neither serves nor calls it"
    };
    Err(anyhow!("{name}: the suite judges recordings of {title}, {serves}"))
}

/// An API that is not called can be served.
pub(in crate::cli) fn served_or_spoken(dialect: &'static Dialect) -> Result<&'static Dialect> {
    if gateway::is_spoken(dialect) { Ok(dialect) } else { spoken(dialect) }
}

/// The dialects of these names. It is an error if one is not allowed, or if two are of one API.
pub(in crate::cli) fn one_of_each_api(
    names: &[String],
    allowed: fn(&'static Dialect) -> Result<&'static Dialect>,
    why: &str,
) -> Result<Vec<&'static Dialect>> {
    let mut dialects: Vec<&'static Dialect> = Vec::new();
    for name in names {
        let found = allowed(dialect(name)?)?;
        if let Some(other) = dialects.iter().find(|other| other.api.name == found.api.name) {
            return Err(anyhow!(
                "--dialect {} and {}: both are of the API {:?}; {why}",
                other.name,
                found.name,
                found.api.title
            ));
        }
        dialects.push(found);
    }
    Ok(dialects)
}

#[derive(Debug, Clone)]
pub(in crate::cli) enum Topic {
    Rule(&'static Rule),
    Sentence(&'static Requirement),
    Event(&'static EventInfo, &'static Dialect),
    Scenario(&'static Scenario),
    Profile(&'static Profile),
    Group(&'static str),
    Feature(&'static Feature),
    Case(Box<PlayedCase>, &'static Dialect),
    Fault(WireFault),
    BetweenRule(&'static TestRule),
    ClientRule(&'static TestRule),
    LogRule(&'static TestRule),
    BetweenCase(&'static BetweenCase),
}

impl Topic {
    pub(in crate::cli) const fn noun(&self) -> &'static str {
        match self {
            Self::Rule(_) => "a rule for streams",
            Self::Sentence(_) => "a sentence",
            Self::Event(..) => "an event",
            Self::Scenario(_) => "a scenario",
            Self::Profile(_) => "a profile",
            Self::Group(_) => "a group",
            Self::Feature(_) => "a feature",
            Self::Case(..) => "a case for clients",
            Self::Fault(_) => "a fault",
            Self::BetweenRule(_) => "a rule of `between`",
            Self::ClientRule(_) => "a rule of `client`",
            Self::LogRule(_) => "a rule for logs",
            Self::BetweenCase(_) => "a case of `between`",
        }
    }
}

/// A sentence without a version is taken from the dialect's version, or else from the latest; an event that the dialect lacks
/// is taken from another one.
pub(in crate::cli) fn topics(name: &str, dialect: &'static Dialect) -> Result<Vec<Topic>> {
    let mut found: Vec<Topic> = Vec::new();
    found.extend(catalogue::rule(name).map(Topic::Rule));
    found.extend(Requirement::find(name, dialect).map(Topic::Sentence));
    let dialects = [dialect].into_iter().chain(spec::DIALECTS.iter().copied());
    let event = |of: &'static Dialect| of.event(name).map(|event| Topic::Event(event, of));
    found.extend(dialects.clone().find_map(event));
    let scenario = catalogue::scenario_in(name, dialect).or_else(|| catalogue::scenario(name));
    found.extend(scenario.map(Topic::Scenario));
    found.extend(catalogue::PROFILES.iter().find(|profile| profile.name == name).map(Topic::Profile));
    found.extend(groups().into_iter().find(|group| *group == name).map(Topic::Group));
    found.extend(catalogue::FEATURES.iter().find(|feature| feature.name == name).map(Topic::Feature));
    found.extend(case(name, dialect).map(|(case, dialect)| Topic::Case(Box::new(case), dialect)));
    found.extend(WireFault::named(name).map(Topic::Fault));
    found.extend(between_rule(name).map(Topic::BetweenRule));
    found.extend(client_rule(name).map(Topic::ClientRule));
    found.extend(catalogue::log_rule(name).map(Topic::LogRule));
    found.extend(between_case(name).map(Topic::BetweenCase));
    if !found.is_empty() {
        return Ok(found);
    }
    let sentences = catalogue::REQUIREMENTS.iter().map(Requirement::name);
    let faults = catalogue::RULES.iter().map(|rule| format!("{FAULT}{}", rule.id));
    let faults = faults.filter(|_| name.starts_with(FAULT));
    let of_transport = WireFault::ALL.into_iter().map(|fault| fault.name().to_owned());
    let made: Vec<String> = sentences.chain(faults).chain(of_transport).collect();
    let mut names: Vec<&str> = made.iter().map(String::as_str).collect();
    names.extend(catalogue::RULES.iter().map(|rule| rule.id));
    names.extend(catalogue::REQUIREMENTS.iter().map(|sentence| sentence.id));
    names.extend(dialect.events.iter().map(|event| event.name));
    names.extend(catalogue::SCENARIOS.iter().map(|scenario| scenario.id));
    names.extend(catalogue::PROFILES.iter().map(|profile| profile.name));
    names.extend(catalogue::FEATURES.iter().map(|feature| feature.name));
    names.extend(catalogue::CLIENT_CASES.iter().map(|case| case.id));
    names.extend(groups());
    names.extend(test_rules().map(|rule| rule.id));
    names.extend(BETWEEN_CASES.iter().map(|case| case.id));
    let hint = meant(name, names.into_iter());
    Err(anyhow!(
        "nothing has the name \"{name}\"{hint}; `conformance list` prints rules, events, scenarios, profiles, \
         features and requirements, `conformance client --list` cases for clients"
    ))
}

/// Prefix of the cases for clients that break a rule.
const FAULT: &str = "fault/";

/// If the dialect has none, the usual dialects of other APIs are searched.
fn case(name: &str, dialect: &'static Dialect) -> Option<(PlayedCase, &'static Dialect)> {
    let id = name.strip_suffix(".json").or_else(|| name.strip_suffix(".ws")).unwrap_or(name);
    let is_measured = clients::is_measured_only(id);
    // Cases are made, which takes a moment.
    if !id.starts_with(FAULT) && !is_measured && catalogue::CLIENT_CASES.iter().all(|case| case.id != id) {
        return None;
    }
    let of = |dialect: &'static Dialect| {
        let found = if is_measured {
            clients::measured_cases(dialect).into_iter().find(|case| case.name == name)
        } else {
            clients::cases(dialect).iter().find(|case| case.name == name).cloned()
        };
        found.map(|case| (case, dialect))
    };
    of(dialect).or_else(|| usual().find_map(of))
}

/// The name can also be the name of a test: `FRONT-UPSTREAM/CASE@FAULT`.
fn between_case(name: &str) -> Option<&'static BetweenCase> {
    let is_api = |name: &str| spec::APIS.iter().any(|api| api.name == name);
    let is_pair =
        |pair: &str| pair.split_once('-').is_some_and(|(front, upstream)| is_api(front) && is_api(upstream));
    let (id, _) = name.split_once('@').unwrap_or((name, ""));
    let id = id.split_once('/').filter(|(pair, _)| is_pair(pair)).map_or(id, |(_, id)| id);
    BETWEEN_CASES.iter().find(|case| case.id == id)
}

pub(in crate::cli) fn client_case(
    name: &str,
    dialect: &'static Dialect,
) -> Result<(PlayedCase, &'static Dialect)> {
    case(name, dialect).ok_or_else(|| {
        let all = clients::cases(dialect);
        let hint = meant(name, all.iter().map(|case| case.name.as_str()));
        anyhow!("there is no case \"{name}\"{hint}; `conformance client --list` lists them all")
    })
}

pub(in crate::cli) fn groups() -> BTreeSet<&'static str> {
    let scenarios = catalogue::SCENARIOS.iter().map(|scenario| scenario.id);
    let tests = test_rules().map(|rule| rule.id).chain(BETWEEN_CASES.iter().map(|case| case.id));
    catalogue::RULES.iter().map(Rule::group).chain(scenarios.chain(tests).map(catalogue::group)).collect()
}

/// A word that can only be the name of tests, such as `text/hello` or `::item`, or the whole name of a group of scenarios or
/// of a sentence.
pub(in crate::cli) fn is_of_tests(word: &str) -> bool {
    let is_group = || catalogue::SCENARIOS.iter().any(|scenario| catalogue::group(scenario.id) == word);
    let is_sentence = || spec::DIALECTS.iter().any(|dialect| Requirement::find(word, dialect).is_some());
    word.contains('/') || word.contains("::") || is_group() || is_sentence()
}

pub(in crate::cli) fn path(word: &str) -> Option<String> {
    let path = Path::new(word);
    if path.join("run.json").is_file() || path.join("report.json").is_file() {
        return Some(format!("{word} is the folder of a run: conformance report {word}"));
    }
    path.exists().then(|| format!("{word} is a file or folder: conformance check {word}"))
}

pub(in crate::cli) fn rule(id: &str) -> Result<&'static Rule> {
    catalogue::rule(id).ok_or_else(|| {
        let hint = meant(id, catalogue::RULES.iter().map(|rule| rule.id));
        anyhow!("there is no rule \"{id}\"{hint}; `conformance list rules` lists them all")
    })
}

pub(in crate::cli) fn rules_and_groups() -> Vec<&'static str> {
    let ids =
        || catalogue::RULES.iter().map(|rule| rule.id).chain(catalogue::LOG_RULES.iter().map(|rule| rule.id));
    let groups: BTreeSet<&str> = ids().map(catalogue::group).collect();
    ids().chain(groups).collect()
}

pub(in crate::cli) fn rule_or_group(name: &str) -> Result<()> {
    let all = rules_and_groups();
    if all.contains(&name) {
        return Ok(());
    }
    let hint = meant(name, all.into_iter());
    Err(anyhow!("there is no rule or group \"{name}\"{hint}; `conformance list rules` lists them all"))
}

pub(in crate::cli) fn profiles(names: &[String]) -> Result<()> {
    are_profiles(names, &catalogue::PROFILES.iter().map(|profile| profile.name).collect::<Vec<_>>())
}

pub(in crate::cli) fn client_profiles(names: &[String]) -> Result<()> {
    are_profiles(names, &catalogue::CLIENT_PROFILES.iter().map(|profile| profile.name).collect::<Vec<_>>())
}

fn are_profiles(names: &[String], all: &[&'static str]) -> Result<()> {
    match names.iter().find(|name| !all.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => Err(anyhow!(
            "there is no profile \"{name}\"{}; there are: {}",
            meant(name, all.iter().copied()),
            all.join(", ")
        )),
    }
}

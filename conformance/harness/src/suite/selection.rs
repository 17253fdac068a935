//! Selection of tests by name.

use std::collections::BTreeSet;

use catalogue::{Coverage, Requirement};
use libtest_mimic::Arguments;
use regex::bytes::{Regex, RegexBuilder};
use spec::Dialect;

use super::did_you_mean;
use crate::twins;
use results::{Filters, Shard, Transport};

/// The selected tests: those that any filter includes, and no filter skips.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    with: Vec<Filter>,
    without: Vec<Filter>,
    is_exact: bool,
    /// The tests of an earlier run to repeat.
    only: Option<BTreeSet<String>>,
    shard: Option<Shard>,
    api: &'static str,
}

#[derive(Debug, Clone)]
struct Filter {
    text: String,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    /// Part of a name, or the whole name where names are exact.
    Name,
    /// A regular expression between slashes.
    Pattern(Regex),
    /// A sentence of a specification: the tests of its scenarios, and those that judge its rules.
    Sentence { api: &'static str, scenarios: BTreeSet<&'static str>, rules: BTreeSet<&'static str> },
}

impl Selection {
    /// Parses filters: `call/parallel`, `/item|part/`, or the id of a sentence such as `N35`. A sentence without a
    /// version belongs to the dialect.
    ///
    /// # Errors
    ///
    /// When a regular expression cannot be parsed, or nothing covers a sentence.
    pub fn new(
        with: &[String],
        without: &[String],
        is_exact: bool,
        dialect: &Dialect,
    ) -> Result<Self, String> {
        let parse = |texts: &[String]| -> Result<Vec<Filter>, String> {
            texts.iter().map(|text| Filter::parse(text, dialect)).collect()
        };
        Ok(Self {
            with: parse(with)?,
            without: parse(without)?,
            is_exact,
            only: None,
            shard: None,
            api: dialect.api.name,
        })
    }

    /// Selects what a run with these filters selects.
    ///
    /// # Errors
    ///
    /// As [`Selection::new`].
    pub fn of_filters(filters: &Filters, dialect: &Dialect) -> Result<Self, String> {
        let Filters { with, exact, without, shard } = filters;
        Ok(Self::new(with, without, *exact, dialect)?.shard(*shard))
    }

    pub(super) fn of(arguments: &Arguments) -> Self {
        let name = |text: &String| Filter { text: text.clone(), kind: Kind::Name };
        Self {
            with: arguments.filter.iter().map(name).collect(),
            without: arguments.skip.iter().map(name).collect(),
            is_exact: arguments.exact,
            ..Self::default()
        }
    }

    /// Selects only the tests of this part of those selected so far.
    #[must_use]
    pub fn shard(self, shard: Option<Shard>) -> Self {
        Self { shard, ..self }
    }

    /// Selects only these tests of those selected so far.
    #[must_use]
    pub fn only(self, names: impl IntoIterator<Item = String>) -> Self {
        Self { only: Some(names.into_iter().collect()), ..self }
    }

    /// Returns whether a test of this name is selected.
    pub fn includes(&self, name: &str) -> bool {
        let is_one_of =
            |filters: &[Filter]| filters.iter().any(|filter| filter.includes(name, self.is_exact));
        let is_compared = || self.with.iter().any(|filter| filter.compares(name, self.is_exact));
        (self.with.is_empty() || is_one_of(&self.with) || is_compared())
            && !is_one_of(&self.without)
            && self.only.as_ref().is_none_or(|only| only.contains(name))
            && self.shard.is_none_or(|shard| shard.has_test(name, api_of(name).unwrap_or(self.api)))
    }

    /// Returns the first filter that includes none of these tests, ignoring skipped ones.
    pub fn unmatched<'s>(&'s self, names: &[String]) -> Option<&'s str> {
        let includes_none = |filter: &&Filter| !names.iter().any(|name| filter.includes(name, self.is_exact));
        self.with.iter().find(includes_none).map(|filter| filter.text.as_str())
    }

    /// Returns why none of these tests is selected, or a filter matches none; `None` otherwise.
    pub fn problem(&self, names: &[String]) -> Option<String> {
        if let Some(filter) = self.unmatched(names) {
            let known = || names.iter().flat_map(|name| self::names(name));
            let scenarios = known().filter_map(|name| name.split("::").next().filter(|_| !self.is_exact));
            let hint = did_you_mean(filter, known().chain(scenarios));
            let how = if self.is_exact { "is named" } else { "matches" };
            return Some(format!("no test {how} \"{filter}\"{hint}; --list prints the names of all tests"));
        }
        let is_wanted = names.iter().any(|name| self.includes(name));
        let all = names.len();
        let whole = Self { shard: None, ..self.clone() };
        match self.shard.filter(|_| names.iter().any(|name| whole.includes(name))) {
            _ if is_wanted || self.is_everything() => None,
            Some(shard) => Some(format!("no test is left: shard {shard} has none of the selected tests")),
            None => Some(format!("no test is left: the filters exclude all {all} tests")),
        }
    }

    /// Returns whether all tests are selected.
    pub fn is_everything(&self) -> bool {
        self.with.is_empty() && self.without.is_empty() && self.only.is_none() && self.shard.is_none()
    }

    /// The filters as a run records them.
    pub fn filters(&self) -> Filters {
        if let Some(only) = &self.only {
            let with = only.iter().filter(|name| self.includes(name)).cloned().collect();
            return Filters { with, exact: true, ..Filters::default() };
        }
        let texts = |filters: &[Filter]| filters.iter().map(|filter| filter.text.clone()).collect();
        let (with, without) = (texts(&self.with), texts(&self.without));
        Filters { with, exact: self.is_exact, without, shard: self.shard }
    }
}

/// The last line states the reason; the others draw where it is.
fn reason(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

impl Filter {
    fn compares(&self, name: &str, is_exact: bool) -> bool {
        let Some(case) = self.text.strip_prefix(twins::PREFIX) else { return false };
        let bare = api_of(name).and_then(|_| name.split_once('/')?.1.strip_suffix("::answer"));
        bare.is_some_and(|bare| if is_exact { bare == case } else { bare.contains(case) })
    }

    fn parse(text: &str, dialect: &Dialect) -> Result<Self, String> {
        let pattern = text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
        let kind = match pattern {
            Some(pattern) if !pattern.is_empty() => {
                let built = RegexBuilder::new(pattern).unicode(false).build();
                Kind::Pattern(built.map_err(|error| format!("the filter {text}: {}", reason(&error)))?)
            }
            _ => sentence(text, dialect).transpose()?.unwrap_or(Kind::Name),
        };
        Ok(Self { text: text.to_owned(), kind })
    }

    fn includes(&self, name: &str, is_exact: bool) -> bool {
        match &self.kind {
            Kind::Name if is_exact => names(name).any(|name| name == self.text),
            Kind::Name => name.contains(&self.text),
            Kind::Pattern(pattern) if is_exact => names(name)
                .any(|name| pattern.find_iter(name.as_bytes()).any(|found| found.len() == name.len())),
            Kind::Pattern(pattern) => names(name).any(|name| pattern.is_match(name.as_bytes())),
            Kind::Sentence { api, .. } if api_of(name).is_some_and(|of| of != *api) => false,
            Kind::Sentence { scenarios, rules, .. } => {
                let (case, about) = name.rsplit_once("::").unwrap_or((name, ""));
                let scenario = Transport::scenario(case);
                // With several dialects, theirs is the first segment.
                let bare = scenario.split_once('/').map_or(scenario, |(_, rest)| rest);
                let is_of_rule = |rule: &&str| about == *rule || about == catalogue::group(rule);
                scenarios.contains(scenario) || scenarios.contains(bare) || rules.iter().any(is_of_rule)
            }
        }
    }
}

/// If there are several runs, names of tests begin with their dialects.
fn api_of(name: &str) -> Option<&'static str> {
    let (first, _) = name.split_once('/')?;
    spec::dialect(first).map(|dialect| dialect.api.name)
}

/// The name with and without the dialect of one of several runs.
fn names(name: &str) -> impl Iterator<Item = &str> {
    let bare = api_of(name).and_then(|_| name.split_once('/'));
    std::iter::once(name).chain(bare.map(|(_, bare)| bare))
}

/// `None` if the text is not the id of a sentence.
fn sentence(text: &str, dialect: &Dialect) -> Option<Result<Kind, String>> {
    let found = Requirement::find(text, dialect)?;
    Some(match found.coverage {
        Coverage::Covered { rules, scenarios } => Ok(Kind::Sentence {
            api: spec::dialect(found.version).map_or(dialect.api.name, |dialect| dialect.api.name),
            scenarios: scenarios.iter().copied().collect(),
            rules: rules.iter().copied().collect(),
        }),
        Coverage::Unobservable(why) | Coverage::Open(why) => {
            Err(format!("no test is about {}: {why}", found.name()))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(with: &[&str], without: &[&str], is_exact: bool) -> Selection {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        Selection::new(&owned(with), &owned(without), is_exact, spec::dialect("openai").unwrap()).unwrap()
    }

    #[test]
    fn any_filter_includes_and_any_skip_leaves_out() {
        let chosen = selection(&["text/", "/^call.*::item$/"], &["refusal"], false);
        for (name, is_wanted) in [
            ("text/hello::item", true),
            ("text/refusal::item", false),
            ("call/parallel::item", true),
            ("call/parallel::part", false),
        ] {
            assert_eq!(chosen.includes(name), is_wanted, "{name}");
        }
    }

    #[test]
    fn exact_filters_are_whole_names() {
        let chosen = selection(&["text/hello::item", "/text.*answer/"], &[], true);
        assert!(chosen.includes("text/hello::item") && chosen.includes("text/long::answer"));
        assert!(!chosen.includes("text/hello::items") && !chosen.includes("a text/long::answer"));
    }

    #[test]
    fn the_dialect_of_one_of_several_runs_can_be_left_out() {
        for (filter, is_exact) in [("text/hello::item", true), ("/^text.*item$/", false), ("/text.*/", true)]
        {
            let chosen = selection(&[filter], &[], is_exact);
            assert!(
                chosen.includes("text/hello::item") && chosen.includes("chat/text/hello::item"),
                "{filter}"
            );
        }
        let chosen = selection(&[], &["/^text/"], false);
        assert!(!chosen.includes("chat/text/hello::item") && chosen.includes("chat/call/single::item"));
    }

    #[test]
    fn twins_select_the_answers_that_they_compare() {
        let chosen = selection(&["twins::text/hello"], &[], true);
        assert!(chosen.includes("twins::text/hello") && chosen.includes("chat/text/hello::answer"));
        for other in ["text/hello::answer", "chat/text/hello.json::answer", "chat/text/hello::item"] {
            assert!(!chosen.includes(other), "{other}");
        }
        assert!(selection(&[], &["twins::text/hello"], false).includes("chat/text/hello::answer"));
    }

    #[test]
    fn sentences_select_what_covers_them() {
        for is_exact in [false, true] {
            let chosen = selection(&["N35"], &[], is_exact);
            assert!(chosen.includes("text/hello::part"));
            assert!(chosen.includes("a.sse::part/before-open"));
            assert!(chosen.includes("violation::part/before-open"));
            assert!(!chosen.includes("text/hello::ws"));
        }
        let of = |text: &str| {
            Selection::new(&[text.to_owned()], &[], false, spec::dialect("openai").unwrap()).map(drop)
        };
        assert!(of("/(/").is_err());
        let open = catalogue::REQUIREMENTS
            .iter()
            .find(|sentence| matches!(sentence.coverage, Coverage::Unobservable(_)));
        assert!(of(&open.unwrap().name()).unwrap_err().starts_with("no test is about"));
    }

    #[test]
    fn sentences_are_of_one_api() {
        let has_schema = |found: &&catalogue::Requirement| match found.coverage {
            Coverage::Covered { rules, .. } => rules.iter().any(|rule| catalogue::group(rule) == "schema"),
            _ => false,
        };
        let sentence = catalogue::REQUIREMENTS.iter().rfind(has_schema).unwrap();
        let chosen = selection(&[&sentence.name()], &[], false);
        let names = ["text/hello::schema", "openai/text/hello::schema", "chat/text/hello::schema"];
        assert_eq!(names.map(|name| chosen.includes(name)), [true, true, false]);
    }

    #[test]
    fn filters_that_match_nothing_are_a_problem() {
        let names = ["text/hello::item".to_owned(), "text/long::item".to_owned()];
        let problem = |with: &[&str], without: &[&str]| selection(with, without, false).problem(&names);
        assert_eq!(problem(&["hello"], &[]), None);
        assert_eq!(problem(&[], &[]), None);
        let mistaken = problem(&["hello", "text/helo"], &[]).unwrap();
        assert!(
            mistaken.starts_with("no test matches \"text/helo\" (did you mean text/hello?)"),
            "{mistaken}"
        );
        assert!(problem(&["hello"], &["item"]).unwrap().contains("exclude all 2 tests"));
        let of_shard =
            |text: &str| selection(&["hello"], &[], false).shard(Some(text.parse().unwrap())).problem(&names);
        let empty = ["1/2", "2/2"].into_iter().filter_map(of_shard).collect::<Vec<_>>();
        assert_eq!(empty.len(), 1, "{empty:?}");
        assert!(empty[0].ends_with("has none of the selected tests"), "{empty:?}");
        assert!(selection(&[], &[], false).only([]).problem(&names).is_some());
    }
}

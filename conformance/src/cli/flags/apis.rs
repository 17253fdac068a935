//! The APIs of a run: those that flags name, or those that the endpoint serves.

use anyhow::{Result, bail};
use catalogue::Profile;
use checker::fallback;
use clap::Args;
use spec::Dialect;

use super::target::HEADING;
use crate::Suite;
use crate::cli::input::{known, names};
use harness::suite::{Selection, Served, served};
use results::AUTO;

/// The APIs to test, and their dialects.
#[derive(Debug, Args)]
pub(in crate::cli) struct ApiArgs {
    /// APIs to test: responses, messages, chat, gemini [default: all that it serves].
    ///
    /// A short request to each API shows whether the endpoint serves it. No such request is sent for APIs that are named:
    /// by this flag, --dialect, --profile, the path of --target, or tests that only one API has. These must be there.
    #[arg(long, value_name = "API", value_delimiter = ',', conflicts_with_all = ["capture", "dialect"], value_parser = known::APIS, hide_possible_values = true, help_heading = HEADING)]
    api: Vec<String>,
    /// Dialect, of `conformance list dialects` or of a folder, such as ./acme; one for each API [default: openai, anthropic, chat].
    ///
    /// `all` tests the reference gateway in each dialect. `auto` recognises the dialects of recordings: the default with
    /// `--capture`.
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = known::DIALECTS_OR_ALL, hide_possible_values = true, help_heading = HEADING)]
    dialect: Vec<String>,
}

/// Dialects of a run: each API has one.
pub(in crate::cli) struct Chosen {
    pub(in crate::cli) dialects: Vec<&'static Dialect>,
    /// Whether they were named, so that the endpoint must serve their APIs.
    is_named: bool,
}

impl ApiArgs {
    pub(in crate::cli) fn of_recordings(&self) -> Result<&str> {
        match &*self.dialect {
            [] => Ok(AUTO),
            [name] => Ok(name),
            _ => bail!("all recordings are of one dialect, or of those that auto recognises"),
        }
    }

    /// Without a target, the dialects of the reference gateway.
    pub(in crate::cli) fn chosen(&self, target: Option<&str>, profiles: &[String]) -> Result<Chosen> {
        names::profiles(profiles)?;
        let is_at = |dialect: &&'static Dialect| target.is_some_and(|url| dialect.api.is_at(path(url)));
        let mut dialects: Vec<&'static Dialect> = match (&*self.dialect, &*self.api) {
            ([name], _) if name == "all" && target.is_none() => gateway::called_dialects().collect(),
            ([], []) => match names::usual().find(is_at) {
                Some(dialect) => return Ok(Chosen { dialects: vec![dialect], is_named: true }),
                None => names::usual().collect(),
            },
            ([], apis) => {
                let each = apis.iter().map(|api| names::dialect_of_api(api));
                let mut dialects = each.collect::<Result<Vec<_>>>()?;
                dialects.sort_by_key(|dialect| names::usual().position(|usual| usual.name == dialect.name));
                dialects.dedup_by_key(|dialect| dialect.name);
                dialects
            }
            (names, _) if names.iter().any(|name| name == AUTO) => {
                bail!("--dialect auto recognises the dialects of recordings: name the one of the endpoint")
            }
            (names, _) => {
                names::one_of_each_api(names, names::spoken, "a run tests each API in one dialect")?
            }
        };
        if self.dialect.is_empty() && !profiles.is_empty() {
            dialects.retain(|dialect| !own(profiles, dialect).is_empty());
        }
        if !(self.dialect.is_empty() || self.dialect.len() == 1 && self.dialect[0] == "all") {
            every_profile_has_a_dialect(profiles, &dialects)?;
        }
        if dialects.is_empty() {
            bail!("--profile {} and --api {} have no API in common", profiles.join(","), self.api.join(","));
        }
        let is_named = !(self.dialect.is_empty() && self.api.is_empty() && profiles.is_empty());
        Ok(Chosen { dialects, is_named })
    }
}

/// The tests of such a profile would be left out.
fn every_profile_has_a_dialect(profiles: &[String], dialects: &[&'static Dialect]) -> Result<()> {
    for profile in
        catalogue::PROFILES.iter().filter(|profile| profiles.iter().any(|name| name == profile.name))
    {
        if dialects.iter().any(|dialect| profile.is_of(dialect.api)) {
            continue;
        }
        let title = spec::APIS.iter().find(|api| profile.is_of(api)).map_or("another API", |api| api.title);
        let of = |dialect: &&Dialect| format!("--dialect {} is one of {}", dialect.name, dialect.api.title);
        let named: Vec<String> = dialects.iter().map(of).collect();
        bail!("--profile {} is for {title}, but {}", profile.name, named.join(", "));
    }
    Ok(())
}

impl Chosen {
    /// Usual dialects of APIs that were not named. Empty if the path of the endpoint shows its API.
    pub(in crate::cli) fn others(&self, target: Option<&str>) -> Vec<&'static Dialect> {
        let Some(url) = target.filter(|_| self.is_named) else { return Vec::new() };
        if names::usual().any(|dialect| dialect.api.is_at(path(url))) {
            return Vec::new();
        }
        let is_chosen =
            |dialect: &&Dialect| self.dialects.iter().any(|other| other.api.name == dialect.api.name);
        names::usual().filter(|dialect| !is_chosen(dialect)).collect()
    }

    /// Filters mean its sentences.
    pub(in crate::cli) fn first(&self) -> Result<&'static Dialect> {
        match self.dialects.first().copied().or_else(|| fallback(None)) {
            Some(dialect) => Ok(dialect),
            None => bail!("there is no dialect"),
        }
    }

    /// Without named APIs, the suites of the APIs that the endpoint answers. An API without any of the selected tests is not
    /// asked for.
    pub(in crate::cli) fn served(
        &self,
        mut suites: Vec<Suite>,
        selection: &Selection,
        is_list: bool,
    ) -> Result<Served> {
        if !self.is_named {
            let is_due = |suite: &Suite| {
                suite.has_any_of(selection) || suite.clone().prefix_with_dialect().has_any_of(selection)
            };
            // Without any, the run says so.
            if !suites.iter().any(is_due) {
                return Ok(Served { suites, others: Vec::new() });
            }
            suites.retain(is_due);
            if suites.len() > 1 && !is_list {
                return Ok(served(suites)?);
            }
        }
        Ok(Served { suites, others: Vec::new() })
    }
}

pub(in crate::cli) fn own(profiles: &[String], dialect: &Dialect) -> Vec<String> {
    let is_own = |profile: &Profile| profile.is_of(dialect.api);
    let named =
        |name: &&String| catalogue::PROFILES.iter().any(|profile| profile.name == **name && is_own(profile));
    profiles.iter().filter(named).cloned().collect()
}

fn path(url: &str) -> &str {
    let url = url.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.find('/').map_or("", |at| &rest[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(api: &[&str], dialect: &[&str], target: &str, profiles: &[&str]) -> Result<String, String> {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let args = ApiArgs { api: owned(api), dialect: owned(dialect) };
        let chosen = args.chosen(Some(target), &owned(profiles)).map_err(|error| error.to_string())?;
        let names: Vec<&str> = chosen.dialects.iter().map(|dialect| dialect.name).collect();
        Ok(format!("{}{}", names.join(" "), if chosen.is_named { "" } else { "?" }))
    }

    #[test]
    fn flags_profiles_and_the_path_name_apis() {
        const URL: &str = "http://a.test/v1";
        let ok = |text: &str| Ok(text.to_owned());
        assert_eq!(chosen(&[], &[], URL, &[]), ok("openai anthropic chat gemini?"));
        let gemini = "http://a.test/v1beta/models/m:streamGenerateContent";
        assert_eq!(chosen(&[], &[], gemini, &[]), ok("gemini"));
        assert_eq!(chosen(&["chat", "responses", "chat"], &[], URL, &[]), ok("openai chat"));
        assert_eq!(chosen(&[], &["groq", "azure"], URL, &[]), ok("groq azure"));
        assert_eq!(chosen(&[], &[], "http://a.test/v1/messages?x=/responses", &[]), ok("anthropic"));
        assert_eq!(chosen(&[], &[], "http://a.test/chat/completions/", &[]), ok("chat"));
        assert_eq!(chosen(&[], &[], URL, &["core"]), ok("openai"));
        assert_eq!(chosen(&[], &[], URL, &["core", "chat-core"]), ok("openai chat"));
        assert_eq!(chosen(&["chat", "messages"], &[], URL, &["chat-core"]), ok("chat"));
        for (api, dialect, profiles, error) in [
            (&["chat"][..], &[][..], &["core"][..], "--profile core and --api chat have no API in common"),
            (&[], &["groq", "chat"], &[], "both are of the API \"Chat Completions\""),
            (
                &[],
                &["anthropic"],
                &["chat-core"],
                "--profile chat-core is for Chat Completions, but --dialect anthropic is one of Anthropic Messages",
            ),
            (&[], &["auto"], &[], "recognises the dialects of recordings"),
            (&[], &[], &["cor"], "did you mean core?"),
        ] {
            let found = chosen(api, dialect, URL, profiles).unwrap_err();
            assert!(found.contains(error), "{found}");
        }
    }
}

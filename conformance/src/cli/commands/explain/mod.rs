//! `conformance explain`: the pages of everything that has a name.

mod between;
pub(in crate::cli) mod case;
mod changes;
mod page;
mod sentence;
mod steps;
mod things;
mod values;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;
use std::process::ExitCode;

use anyhow::{Context, anyhow};
use catalogue::Rule;
use clap::Args;
use spec::Dialect;

use crate::cli::color::Color;
use crate::cli::input::names::Topic;
use crate::cli::input::{known, names};
use crate::cli::{CommandArgs, print};
use checker::Rules;
use recordings::goldens;
use recordings::violation;
use reports::pages::words;
use reports::{Screen, diagnostic};
use results::FailOn;
use results::text::visible;

/// Explains a rule, sentence, event, scenario, profile, group, feature, fault or case.
///
/// For a rule: its authority, its fix, the clients that a violation breaks, and a stream that violates it. For a
/// sentence of `conformance list requirements`: its source, where it applies, and the rules and scenarios that cover it.
/// For an event: what it means, and the rules about it. For a case of `conformance client --list`, such as
/// call/custom: what the client receives, and what it must do. For a rule of `conformance between`, such as answer/usage:
/// its authority, its fix, its exceptions, and a translator that violates it. For one of its cases, or of its tests: the
/// question, the answer of the upstream, and the names of the tests.
#[derive(Debug, Args)]
pub(in crate::cli) struct ExplainArgs {
    /// Name, such as part/before-open, N35, response.completed, text/hello, core, call or store; without it, what can
    /// be explained.
    #[arg(value_name = "NAME", value_parser = known::TOPICS, hide_possible_values = true)]
    topic: Option<String>,
    /// Dialect to explain it for.
    #[arg(long, value_name = "NAME", default_value = "openai", value_parser = known::DIALECTS, hide_possible_values = true)]
    dialect: String,
    /// When to use color.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,
}

impl CommandArgs for ExplainArgs {
    fn run(self) -> anyhow::Result<ExitCode> {
        let dialect = names::dialect(&self.dialect)?;
        let screen = self.color.screen(&io::stdout());
        let Some(topic) = &self.topic else {
            print(&topics())?;
            return Ok(ExitCode::SUCCESS);
        };
        let topics = names::topics(topic, dialect)?;
        let mut nouns: Vec<&str> = topics.iter().map(Topic::noun).collect();
        let shared = match nouns.pop() {
            Some(last) if !nouns.is_empty() => {
                format!("{} is the name of {} and {last}.\n\n", visible(topic), nouns.join(", "))
            }
            _ => String::new(),
        };
        let pages: anyhow::Result<Vec<String>> = topics
            .into_iter()
            .map(|topic| {
                Ok(match topic {
                    Topic::Rule(rule) => {
                        let violation = shown(rule, dialect, screen)
                            .with_context(|| format!("the violation of {}", rule.id))?;
                        page::page(rule, dialect, screen) + &violation
                    }
                    Topic::Sentence(sentence) => sentence::page(sentence, dialect, screen),
                    Topic::Event(event, of) => things::event(event, of, screen),
                    Topic::Scenario(scenario) => things::scenario(scenario, screen),
                    Topic::Profile(profile) => things::profile(profile, dialect, screen),
                    Topic::Group(name) => things::group(name, dialect, screen),
                    Topic::Feature(feature) => things::feature(feature, screen),
                    Topic::Case(case, dialect) => case::case(&case, dialect, screen),
                    Topic::Fault(fault) => case::fault(fault, screen),
                    Topic::BetweenRule(rule) => between::rule(rule, screen),
                    Topic::ClientRule(rule) => between::client_rule(rule, screen),
                    Topic::LogRule(rule) => between::log_rule(rule, screen),
                    Topic::BetweenCase(case) => between::case(case, screen),
                })
            })
            .collect();
        print(&(shared + &pages?.join("\n")))?;
        Ok(ExitCode::SUCCESS)
    }
}

fn topics() -> String {
    let groups = names::groups();
    let rows = [
        ("rule", "part/before-open", "conformance list rules"),
        ("sentence", "N35", "conformance list requirements"),
        ("event", "response.completed", "conformance list events"),
        ("scenario", "text/hello", "conformance list scenarios"),
        ("profile", "core", "conformance list profiles"),
        ("feature", "store", "conformance list features"),
        ("rule", "answer/usage", "conformance list between-rules"),
        ("rule", "client/wrong", "conformance list client-rules"),
        ("rule", "log/tokens-counted", "conformance list log-rules"),
        ("case", "fault/cut-text", "conformance list between-cases"),
        ("group", "call", ""),
    ];
    let mut out =
        "Pass the name of one of these, as in `conformance explain part/before-open`:\n\n".to_owned();
    for (what, example, list) in rows {
        let list = if list.is_empty() {
            groups.iter().copied().collect::<Vec<_>>().join(", ")
        } else {
            list.to_owned()
        };
        let _ = writeln!(out, "  {what:10}{example:22}{list}");
    }
    out
}

/// In the API of the dialect: the edits of a golden, the changes, and the findings.
fn shown(rule: &Rule, dialect: &Dialect, screen: Screen) -> anyhow::Result<String> {
    let violation = &rule.in_dialect(dialect).violation;
    let golden = goldens::golden(violation.golden)
        .ok_or_else(|| anyhow!("there is no golden {}", violation.golden))?;
    let edited = violation::apply(violation).map_err(anyhow::Error::msg)?;
    let style = screen.style;
    let mut out = format!("\n{} {}, edited\n\n", style.bold("violation"), violation.golden);
    for edit in violation.edits {
        let _ = writeln!(out, "    {}", words::edit(edit, screen.width.saturating_sub(4)));
    }
    out.push('\n');
    out += &changes::changes(golden, &edited, violation, screen);
    let dialect = names::dialect(golden.dialect)?;
    let report =
        recordings::check(format!("{}, edited", violation.golden), &mut &*edited, None, &Rules::of(dialect));
    if let Some(error) = report.error {
        return Err(anyhow!(error));
    }
    let found: BTreeSet<&str> = report.findings.iter().map(|finding| finding.rule.as_ref()).collect();
    let _ = writeln!(out, "\n{} as {}\n", style.bold("findings"), dialect.name);
    // The findings of the rule itself come first.
    let (own, others): (Vec<_>, Vec<_>) = report.findings.iter().partition(|finding| finding.rule == rule.id);
    let told = own
        .into_iter()
        .chain(others)
        .map(|finding| diagnostic(&report.name, finding, dialect.name, FailOn::default(), screen));
    out += &told.collect::<Vec<_>>().join("\n");
    if !found.contains(rule.id) {
        return Err(anyhow!("the rule reports nothing"));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use catalogue::RULES;

    use super::*;
    use reports::Style;

    /// Words of each API: its names, documents and events, and vendors that have no other API.
    const WORDS: [(&str, &[&str]); 3] = [
        ("chat", &["Chat Completions", "chat.completion", "CreateChatCompletion"]),
        (
            "messages",
            &["Messages API", "of Messages", "Anthropic", "anthropic", "message_stop", "content_block"],
        ),
        (
            "responses",
            &[
                "Responses API",
                "Open Responses",
                "open-responses",
                "response.",
                "sequence_number",
                "output_index",
            ],
        ),
    ];

    /// Rules that are about other APIs.
    const ABOUT_OTHERS: [&str; 1] = ["schema/foreign-protocol"];

    #[test]
    fn a_rule_is_explained_in_the_words_of_its_api() {
        let screen = Screen { style: Style::Plain, width: 1000 };
        let mut told = Vec::new();
        for (rule, own) in catalogue::rules_in_apis().filter(|(rule, _)| !ABOUT_OTHERS.contains(&rule.id)) {
            let foreign = WORDS.iter().filter(|(api, _)| *api != own.api).flat_map(|(_, words)| *words);
            let judges = |dialect: &&&Dialect| {
                dialect.api.name == own.api && checker::level(rule, dialect) != catalogue::Level::Off
            };
            let mut texts: Vec<String> = spec::DIALECTS
                .iter()
                .filter(judges)
                .map(|dialect| page::page(rule, dialect, screen))
                .collect();
            let of = own.violation.golden.split('/').next().and_then(spec::dialect).unwrap();
            texts.push(shown(rule, of, screen).unwrap());
            texts.push(reports::pages::rule(rule, &[own.api]));
            for word in foreign {
                let lines = texts.iter().flat_map(|text| text.lines());
                let found = lines.into_iter().find(|line| line.contains(word));
                told.extend(found.map(|line| format!("{} in {}: {word}: {}", rule.id, own.api, line.trim())));
            }
            for broken in own.breaks {
                if catalogue::client(broken.client).is_none_or(|client| client.api != own.api) {
                    told.push(format!("{} in {}: breaks {}", rule.id, own.api, broken.client));
                }
            }
        }
        assert!(told.is_empty(), "{}\n{}", told.len(), told.join("\n"));
    }

    #[test]
    fn every_rule_can_be_explained() {
        let screen = Screen { style: Style::Plain, width: 80 };
        for rule in RULES {
            for dialect in spec::DIALECTS {
                assert!(page::page(rule, dialect, screen).contains(rule.title), "{}", rule.id);
            }
        }
        for (rule, own) in catalogue::rules_in_apis() {
            let dialect = spec::DIALECTS.iter().find(|dialect| dialect.api.name == own.api).unwrap();
            let shown = shown(rule, dialect, screen).unwrap();
            let changes =
                shown.lines().any(|line| [" | - ", " | + ", " | ~ "].iter().any(|sign| line.contains(sign)));
            assert!(changes, "{} in {}: no change is shown\n{shown}", rule.id, own.api);
        }
    }
}

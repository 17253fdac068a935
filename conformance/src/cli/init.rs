//! `conformance init`: asks an endpoint what it supports, and writes `conformance.toml`.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use catalogue::Profile;
use clap::Args;
use serde_json::Value;
use spec::Dialect;

use super::message::{note, note_lines};
use super::target::{HEADING, TargetArgs};
use super::{CommandArgs, config, known, names};
use crate::{Rules, Suite};
use harness::live::{RunRuntime, first_model};
use recordings::capture::Recorder;
use results::text::{first_dangerous, visible};
use results::{Transport, TrialResult, Verdict, shell_word};

const EXAMPLES: &str = "\
Examples:
  conformance init --target http://localhost:8080/v1
  conformance init --target https://staging.example/v1 --name staging --model my-model --no-run";

/// Asks an endpoint what it supports and writes conformance.toml.
///
/// Sends about a dozen short requests, which are listed first: the models, and one for each feature that endpoints
/// often lack. Then runs the profile core.
///
/// Exit codes: those of the run; 2 if the endpoint cannot be reached or the file exists.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct InitArgs {
    /// URL of the endpoint, with or without /v1.
    #[arg(long, value_name = "URL", help_heading = HEADING)]
    target: String,
    /// Name of the target in the file.
    #[arg(long, value_name = "NAME", default_value = "default")]
    name: String,
    /// Dialect of the endpoint, of `conformance list dialects`.
    #[arg(long, value_name = "NAME", default_value = "openai", value_parser = known::DIALECTS, hide_possible_values = true, help_heading = HEADING)]
    dialect: String,
    #[command(flatten)]
    to: TargetArgs,
    /// Write the file without running the profile core.
    #[arg(long)]
    no_run: bool,
}

/// A request that probes a feature.
struct Probe {
    /// The scenario, with the suffix `.ws` for a WebSocket.
    scenario: &'static str,
    /// The features that are missing if the scenario fails.
    lacks: &'static [&'static str],
}

/// The probes, of which each API has some. A probe that continues another follows it.
const PROBES: [Probe; 18] = [
    Probe { scenario: "text/hello", lacks: &[] },
    Probe { scenario: "text/hello.ws", lacks: &[] },
    Probe {
        scenario: "call/single",
        lacks: &["tools", "parallel-tool-calls", "interleaved-calls", "allowed-tools", "tool-choice"],
    },
    Probe { scenario: "format/json-schema", lacks: &["structured-output"] },
    Probe { scenario: "state/continued", lacks: &["store"] },
    Probe { scenario: "state/retrieved", lacks: &["retrieval"] },
    Probe { scenario: "state/input-items", lacks: &["input-items"] },
    Probe { scenario: "state/deleted", lacks: &["deletion"] },
    Probe { scenario: "background/started", lacks: &["background", "cancellation", "resumption"] },
    Probe { scenario: "background/cancelled", lacks: &["cancellation"] },
    Probe { scenario: "background/resumed", lacks: &["resumption"] },
    Probe { scenario: "compaction/compacted", lacks: &["compaction"] },
    Probe { scenario: "stop/sequence", lacks: &["stop-sequences"] },
    Probe { scenario: "thinking/enabled", lacks: &["thinking", "omitted-thinking", "redacted-thinking"] },
    Probe { scenario: "thinking/adaptive", lacks: &["adaptive-thinking", "interleaved-thinking"] },
    Probe { scenario: "choice/two", lacks: &["choices"] },
    Probe { scenario: "usage/asked", lacks: &["include-usage"] },
    Probe { scenario: "reasoning/effort", lacks: &["reasoning"] },
];

impl CommandArgs for InitArgs {
    fn run(self) -> Result<ExitCode> {
        let file = Path::new(config::FILE);
        if file.symlink_metadata().is_ok() {
            bail!("{} exists; add a target to it, or remove it first", file.display());
        }
        let dialect = names::dialect(&self.dialect)?;
        self.check()?;
        let model = self.model(dialect)?;
        note_lines(&list_of_probes(dialect));
        let suite = Suite::new(self.to.target(&self.target, dialect.api)?, dialect)
            .model(&model)
            .limits(self.to.limits())
            .given(self.to.given())
            .transports(Transport::ALL)
            .attempts(1);
        let told = suite.judge_only(&|test| PROBES.iter().any(|probe| test == probe.test()))?;
        let found = Found::of(&told);
        note_lines(&found.table());
        if let Some(problem) = &found.unreachable {
            bail!("{} cannot be tested: {problem}", self.target);
        }
        // A link in its place is not followed.
        let written = File::create_new(file)
            .and_then(|mut created| created.write_all(self.file(&model, dialect, &found).as_bytes()));
        written.with_context(|| file.display().to_string())?;
        note(&format!("wrote {}", file.display()));
        if self.no_run {
            return Ok(ExitCode::SUCCESS);
        }
        note("");
        let core = core(dialect);
        note(&format!("conformance run --target {} --profile {core}", shell_word(&self.name)));
        super::run(&self.run_of(core))
    }
}

impl InitArgs {
    /// Fails if the file could not hold the name or the URL, or should not, as it is meant to be shared.
    fn check(&self) -> Result<()> {
        plain("--name", &self.name)?;
        plain("--target", &self.target)?;
        if self.name.contains("://") {
            bail!("--name {} is a URL; choose a name such as staging", self.name);
        }
        if Recorder::new().url(&self.target) != self.target {
            bail!(
                "--target has a user, a password, or a parameter that may be a secret, and {} is a file to share: \
                 pass secrets with --api-key or --header",
                config::FILE
            );
        }
        Ok(())
    }

    /// Returns the model to request: that of --model, or the first listed by the endpoint.
    fn model(&self, dialect: &'static Dialect) -> Result<String> {
        if let Some(model) = &self.to.model {
            plain("--model", model)?;
            return Ok(model.clone());
        }
        let machine = RunRuntime::start()?;
        let client = self.to.client(&self.target, dialect.api, &machine)?;
        let (model, line) = machine.runtime().block_on(first_model(&client, &Rules::of(dialect)));
        note(&line);
        Ok(model)
    }

    /// Returns the text of the file.
    fn file(&self, model: &str, dialect: &Dialect, found: &Found) -> String {
        let quoted = |text: &str| Value::from(text).to_string();
        let list = |names: &[&str]| names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
        let mut text = format!(
            "# Written by `conformance init`; flags win over this file.\n# conformance run --target {} --profile {}\n\n\
             [targets.{}]\nurl = {}\n\n[targets.{}.settings]\nmodel = {}\ndialect = {}\n",
            shell_word(&self.name),
            core(dialect),
            quoted(&self.name),
            quoted(&self.target),
            quoted(&self.name),
            quoted(model),
            quoted(&self.dialect)
        );
        if found.has_websocket {
            text += "transport = [\"sse\", \"json\", \"websocket\"]\n";
        }
        if !found.lacks.is_empty() {
            let lacks: Vec<&str> = found.lacks.iter().copied().collect();
            let _ = writeln!(text, "without = [{}]    # `conformance list features`", list(&lacks));
        }
        text + "# api-key = \"$GATEWAY_KEY\"               # an environment variable; default CONFORMANCE_API_KEY\n\
                # expected-failures = \"known.toml\"\n"
    }

    /// Returns the command line of the run that follows.
    fn run_of(&self, profile: &str) -> Vec<OsString> {
        let mut line: Vec<OsString> =
            ["conformance", "run", "--profile", profile].map(OsString::from).to_vec();
        line.extend(["--target".into(), OsString::from(&self.name)]);
        line.extend(self.to.secrets().into_iter().map(OsString::from));
        line
    }
}

impl Probe {
    fn test(&self) -> String {
        format!("{}::answer", self.scenario)
    }
}

/// Returns the profile that every endpoint of the API of a dialect should pass.
fn core(dialect: &Dialect) -> &'static str {
    const CORE: &str = "core";
    let is_core = |profile: &&Profile| profile.is_of(dialect.api) && profile.name.ends_with(CORE);
    catalogue::PROFILES.iter().find(is_core).map_or(CORE, |profile| profile.name)
}

/// Returns what will be sent, for people.
fn list_of_probes(dialect: &Dialect) -> String {
    let titles = PROBES.iter().filter_map(|probe| {
        let scenario = catalogue::scenario_in(Transport::scenario(probe.scenario), dialect)?;
        let is_on_socket = Transport::scenario(probe.scenario) != probe.scenario;
        let is_sent = !is_on_socket || dialect.api.session.is_some();
        is_sent.then(|| format!("  {:<22}{}", probe.scenario, scenario.title))
    });
    format!("probes, with the scenarios that they continue:\n{}", titles.collect::<Vec<_>>().join("\n"))
}

/// The results of the probes.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    /// Each probe, with the reason if its feature is not supported.
    probes: Vec<(&'static str, Option<String>)>,
    lacks: BTreeSet<&'static str>,
    has_websocket: bool,
    /// Why the endpoint could not be probed.
    unreachable: Option<String>,
}

impl Found {
    fn of(told: &[TrialResult]) -> Self {
        let mut found = Self::default();
        for probe in &PROBES {
            let Some(told) = told.iter().find(|told| told.name == probe.test()) else { continue };
            let judged = &told.judged;
            let is_supported = judged.verdict == Verdict::Pass;
            if judged.verdict == Verdict::HarnessError {
                found.unreachable.get_or_insert_with(|| judged.reason.clone());
            }
            if probe.scenario == "text/hello.ws" {
                found.has_websocket = is_supported;
            }
            if !is_supported {
                found.lacks.extend(probe.lacks);
            }
            found.probes.push((probe.scenario, (!is_supported).then(|| judged.reason.clone())));
        }
        found
    }

    fn table(&self) -> String {
        let lines = self.probes.iter().map(|(scenario, problem)| match problem {
            None => format!("  {scenario:<22}supported"),
            Some(reason) => format!("  {scenario:<22}not supported: {}", visible(reason)),
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// Fails if a value has a character that conformance.toml must not have.
fn plain(what: &str, value: &str) -> Result<()> {
    match first_dangerous(value) {
        None => Ok(()),
        Some(found) => bail!("{what} has the invisible character U+{:04X}: {value}", u32::from(found)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use results::Judgement;

    #[test]
    fn probes_are_scenarios_and_features() {
        for probe in &PROBES {
            assert!(catalogue::scenario(Transport::scenario(probe.scenario)).is_some(), "{}", probe.scenario);
            for feature in probe.lacks {
                assert!(catalogue::FEATURES.iter().any(|known| known.name == *feature), "{feature}");
            }
        }
    }

    #[test]
    fn what_fails_is_lacking() {
        let told = |name: &str, judged| TrialResult { name: format!("{name}::answer"), judged };
        let found = Found::of(&[
            told("text/hello", Judgement::PASS),
            told("text/hello.ws", Judgement::new(Verdict::Fail, "status 404")),
            told("compaction/compacted", Judgement::new(Verdict::NotExercised, "unsupported")),
        ]);
        assert_eq!(found.lacks.iter().copied().collect::<Vec<_>>(), ["compaction"]);
        assert!(!found.has_websocket && found.unreachable.is_none());
        assert!(
            found.table().contains("compaction/compacted  not supported: unsupported"),
            "{}",
            found.table()
        );
        let nobody = Judgement::new(Verdict::HarnessError, "no connection");
        assert_eq!(Found::of(&[told("text/hello", nobody)]).unreachable.as_deref(), Some("no connection"));
    }
}

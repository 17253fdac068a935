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

use crate::Suite;
use crate::cli::flags::target::{HEADING, TargetArgs};
use crate::cli::input::{known, names};
use crate::cli::message::{note, note_lines};
use crate::cli::{CommandArgs, config};
use harness::suite::{Served, served};
use recordings::capture::Recorder;
use results::text::{first_dangerous, visible};
use results::{Options, Transport, TrialResult, Verdict, shell_word};

const EXAMPLES: &str = "\
Examples:
  conformance init --target http://localhost:8080/v1
  conformance init --target https://staging.example/v1 --name staging --model my-model --no-run";

/// Asks an endpoint what it supports and writes conformance.toml.
///
/// Sends short requests, which are listed first: one to each API, to find those that it serves; and to each of these about a
/// dozen, one for each feature that endpoints often lack. Then runs the core profile of each API.
///
/// Exit codes: as for the run; 2 if the endpoint cannot be reached or the file exists.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct InitArgs {
    /// URL of the endpoint, with or without /v1.
    #[arg(long, value_name = "URL", help_heading = HEADING)]
    target: String,
    /// Name of the target in the file.
    #[arg(long, value_name = "NAME", default_value = "default")]
    name: String,
    /// Dialect of the endpoint, of `conformance list dialects` or of a folder, such as ./acme; one for each API [default: openai, anthropic, chat].
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = known::DIALECTS, hide_possible_values = true, help_heading = HEADING)]
    dialect: Vec<String>,
    #[command(flatten)]
    to: TargetArgs,
    /// Write the file without running the core profiles.
    #[arg(long)]
    no_run: bool,
}

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
        self.check()?;
        let Served { suites, .. } = served(self.suites()?)?;
        let mut found = Vec::new();
        for suite in suites {
            let of_api = Probed::of(&suite)?;
            if let Some(problem) = &of_api.unreachable {
                bail!("{} cannot be tested: {problem}", self.target);
            }
            found.push(of_api);
        }
        // A link in its place is not followed.
        let written =
            File::create_new(file).and_then(|mut created| created.write_all(self.file(&found).as_bytes()));
        written.with_context(|| file.display().to_string())?;
        note(&format!("wrote {}", file.display()));
        if self.no_run {
            return Ok(ExitCode::SUCCESS);
        }
        note("");
        let core = cores(&found);
        note(&format!("conformance run --target {} --profile {core}", shell_word(&self.name)));
        crate::cli::run(&self.run_of(&core))
    }
}

impl InitArgs {
    fn suites(&self) -> Result<Vec<Suite>> {
        let dialects = match &*self.dialect {
            [] => names::usual().collect(),
            named => names::one_of_each_api(named, names::spoken, "a target has one dialect of each API")?,
        };
        let suite = |dialect: &'static Dialect| {
            let options = Options { attempts: 1, transports: Transport::ALL.to_vec(), ..self.to.options() };
            let suite = Suite::new(self.to.target(&self.target, dialect.api)?, dialect)
                .options(options)
                .given(self.to.given());
            Ok(match self.to.model_of(dialect.api) {
                Some(model) => suite.model(model),
                None => suite,
            })
        };
        dialects.into_iter().map(suite).collect()
    }

    /// The file is meant to be shared, so it must not have secrets. It cannot hold every name.
    fn check(&self) -> Result<()> {
        plain("--name", &self.name)?;
        plain("--target", &self.target)?;
        self.to.models().iter().try_for_each(|model| plain("--model", model))?;
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

    fn file(&self, found: &[Probed]) -> String {
        let quoted = |text: &str| Value::from(text).to_string();
        let list = |names: &[&str]| names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
        let name = quoted(&self.name);
        let mut text = format!(
            "# Written by `conformance init`; flags win over this file.\n# conformance run --target {} --profile {}\n\n\
             [targets.{name}]\nurl = {}\n\n[targets.{name}.settings]\n",
            shell_word(&self.name),
            cores(found),
            quoted(&self.target),
        );
        let models: BTreeSet<&str> = found.iter().map(|of_api| &*of_api.model).collect();
        let each = found.iter().map(|of| format!("{} = {}", of.dialect.api.name, quoted(&of.model)));
        let _ = match models.first().filter(|_| models.len() == 1) {
            Some(model) => writeln!(text, "model = {}", quoted(model)),
            None => writeln!(text, "models = {{ {} }}", each.collect::<Vec<_>>().join(", ")),
        };
        let dialects: Vec<&str> = found.iter().map(|of_api| of_api.dialect.name).collect();
        let _ = writeln!(text, "dialect = {}", quoted(&dialects.join(",")));
        if found.iter().any(|of_api| of_api.has_websocket) {
            text += "transport = [\"sse\", \"json\", \"websocket\"]\n";
        }
        let lacks = lacking(found);
        if !lacks.is_empty() {
            let lacks: Vec<&str> = lacks.into_iter().collect();
            let _ = writeln!(text, "without = [{}]    # `conformance list features`", list(&lacks));
        }
        text + "# api-key = \"$GATEWAY_KEY\"               # an environment variable; default CONFORMANCE_API_KEY\n\
                # expected-failures = \"known.toml\"\n"
    }

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

/// Every endpoint of these APIs should pass them.
fn cores(found: &[Probed]) -> String {
    found.iter().map(|of_api| core(of_api.dialect)).collect::<Vec<_>>().join(",")
}

/// Every endpoint of the API should pass it.
fn core(dialect: &Dialect) -> &'static str {
    const CORE: &str = "core";
    let is_core = |profile: &&Profile| profile.is_of(dialect.api) && profile.name.ends_with(CORE);
    catalogue::PROFILES.iter().find(is_core).map_or(CORE, |profile| profile.name)
}

/// Features that some APIs lack, and no other has: what the endpoint supports in one API, it is asked for in all.
fn lacking(found: &[Probed]) -> BTreeSet<&'static str> {
    let supported: BTreeSet<&str> = found.iter().flat_map(|of_api| of_api.supports.iter().copied()).collect();
    let lacks = found.iter().flat_map(|of_api| of_api.lacks.iter().copied());
    lacks.filter(|feature| !supported.contains(feature)).collect()
}

fn list_of_probes(dialect: &Dialect) -> String {
    let titles = PROBES.iter().filter_map(|probe| {
        let scenario = catalogue::scenario_in(Transport::scenario(probe.scenario), dialect)?;
        let is_on_socket = Transport::scenario(probe.scenario) != probe.scenario;
        let is_sent = !is_on_socket || dialect.api.session.is_some();
        is_sent.then(|| format!("  {:<22}{}", probe.scenario, scenario.title))
    });
    let title = dialect.api.title;
    format!(
        "probes of {title}, with the scenarios that they continue:\n{}",
        titles.collect::<Vec<_>>().join("\n")
    )
}

#[derive(Debug)]
struct Probed {
    dialect: &'static Dialect,
    model: String,
    /// Each probe, with the reason if its feature is not supported.
    probes: Vec<(&'static str, Option<String>)>,
    supports: BTreeSet<&'static str>,
    lacks: BTreeSet<&'static str>,
    has_websocket: bool,
    /// Why the endpoint could not be probed.
    unreachable: Option<String>,
}

impl Probed {
    /// Prints what came back.
    fn of(suite: &Suite) -> Result<Self> {
        note_lines(&list_of_probes(suite.dialect()));
        let told = suite.judge_only(&|test| PROBES.iter().any(|probe| test == probe.test()))?;
        let found = Self::of_trials(suite.dialect(), suite.requested_model().unwrap_or_default(), &told);
        note_lines(&found.table());
        Ok(found)
    }

    fn of_trials(dialect: &'static Dialect, model: &str, told: &[TrialResult]) -> Self {
        let mut found = Self {
            dialect,
            model: model.to_owned(),
            probes: Vec::new(),
            supports: BTreeSet::new(),
            lacks: BTreeSet::new(),
            has_websocket: false,
            unreachable: None,
        };
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
            let features = if is_supported { &mut found.supports } else { &mut found.lacks };
            features.extend(probe.lacks);
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
    fn what_one_api_supports_no_other_lacks() {
        let found = |dialect, judged: Judgement| {
            let told = |name: &str| TrialResult { name: format!("{name}::answer"), judged: judged.clone() };
            let told = ["call/single", "format/json-schema"].map(told);
            Probed::of_trials(
                spec::dialect(dialect).unwrap(),
                "m",
                &told[..if judged == Judgement::PASS { 1 } else { 2 }],
            )
        };
        let missing = Judgement::new(Verdict::Fail, "status 404");
        let found = [found("openai", missing), found("chat", Judgement::PASS)];
        assert_eq!(lacking(&found).into_iter().collect::<Vec<_>>(), ["structured-output"]);
        assert_eq!(cores(&found), "core,chat-core");
    }
}

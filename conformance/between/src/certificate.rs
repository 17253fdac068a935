//! Certificates of gateways: the result of a run for each pair of APIs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io;
use std::path::Path;

use catalogue::{AGENT_PROFILES, AgentProfile, HandlingMode, Level, between_rule};
use harness::certificate::{CERTIFICATE, CertificateTexts, PAGE, code, keep, test_result, text, verify_kept};
use harness::evidence::Evidence as Files;
use harness::hash;
use reqwest::Url;
use results::{BetweenPair, BetweenRun, BetweenTest, Declared, FailOn, LevelChange, Verdict, shell_word};
use serde::{Deserialize, Serialize};

use crate::folder::REPORT;
use crate::plan::names_of_pair;

/// Version of the format of [`BetweenCertificate`]. It increases when a member is removed or changes its meaning.
pub const BETWEEN_CERTIFICATE_VERSION: u32 = 1;
/// Version of the profiles. `frozen.txt` freezes what each demands of a gateway.
pub const BETWEEN_PROFILE_VERSION: u32 = 1;
/// How the names of profiles begin; a pair of APIs follows.
const PROFILE: &str = "between-";

/// `certificate.json`: the certificate of a gateway.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct BetweenCertificate {
    /// Version of this format.
    pub between_certificate: u32,
    /// Version of the suite.
    pub suite: String,
    /// The name of the gateway.
    pub gateway: String,
    /// The host of its URL.
    pub host: String,
    /// The model that was asked for.
    pub model: String,
    /// The declarations about the gateway.
    #[serde(flatten)]
    pub declared: Declared,
    /// The findings that fail the run.
    pub fail_on: FailOn,
    /// Rules with another level than their own. None is a MUST rule with a lower level.
    pub levels: Vec<LevelChange>,
    /// The results, by pair of APIs.
    pub profiles: Vec<BetweenProfile>,
    /// SHA-256 of `between.json`.
    pub report: String,
    /// SHA-256 over the hashes of the recordings of all tests.
    pub evidence: String,
    /// The command that reproduces the run.
    pub reproduce: String,
}

/// The result of a pair of APIs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct BetweenProfile {
    /// Its name, `between-FRONT-UPSTREAM`, or `AGENT-FRONT-UPSTREAM`.
    pub name: String,
    /// The agent that played it, its version, and the day of its requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Its version.
    pub version: u32,
    /// How the gateway handles the pair: `passthrough`, `inspect` or `transform`.
    pub mode: String,
    /// Whether each of its tests passed.
    pub is_passed: bool,
    /// Number of tests, by group of cases.
    pub tests: BTreeMap<String, u64>,
    /// Number of tests that did not pass.
    pub unmet: u64,
    /// The limits of the pair, which were therefore no findings.
    pub limits: Vec<MetLimit>,
}

/// A limit of a pair of APIs that tests met.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct MetLimit {
    /// The rule that did not apply.
    pub rule: String,
    /// Why.
    pub reason: String,
    /// Number of tests.
    pub tests: u64,
}

impl BetweenCertificate {
    /// Creates the certificate of a run from the text of its report.
    ///
    /// # Errors
    ///
    /// With the reason, if the run gets none: it was partial, lowered a MUST rule, or no pair passed.
    pub fn new(run: &BetweenRun, report: &str) -> Result<Self, String> {
        if let Some(lowered) = run.levels.iter().find(|change| is_lowered_must(change)) {
            return Err(format!("{} is a MUST rule, and the run lowered its level", lowered.rule));
        }
        let is_named = |agent: &&AgentProfile| run.profiles.contains(agent.name());
        let agents: Vec<_> = AGENT_PROFILES.iter().filter(is_named).map(Some).collect();
        let players = if run.profiles.is_empty() { vec![None] } else { agents };
        let all = run.pairs.iter().flat_map(|pair| players.iter().map(move |agent| (pair, *agent)));
        let is_pair = |(pair, agent): &(&BetweenPair, Option<&AgentProfile>)| {
            agent.is_none_or(|agent| agent.api() == pair.front)
        };
        let profiles: Vec<BetweenProfile> =
            all.filter(is_pair).map(|(pair, agent)| profile(run, pair, agent)).collect::<Result<_, _>>()?;
        if !profiles.iter().any(|profile| profile.is_passed) {
            return Err("no pair of APIs passed all of its tests".to_owned());
        }
        let hashes = run.tests.iter().map(|test| format!("{} {}\n", test.name, test.hash));
        let host = Url::parse(&run.url).ok().and_then(|url| url.host_str().map(str::to_owned));
        Ok(Self {
            between_certificate: BETWEEN_CERTIFICATE_VERSION,
            suite: run.suite.clone(),
            gateway: run.gateway.clone(),
            host: host.unwrap_or_default(),
            model: run.model.clone(),
            declared: run.declared.clone(),
            fail_on: run.fail_on,
            levels: run.levels.clone(),
            profiles,
            report: hash(report.as_bytes()),
            evidence: hash(hashes.collect::<String>().as_bytes()),
            reproduce: reproduce(run),
        })
    }

    /// The names of the profiles that passed.
    pub fn passed(&self) -> Vec<&str> {
        let passed = self.profiles.iter().filter(|profile| profile.is_passed);
        passed.map(|profile| profile.name.as_str()).collect()
    }

    /// The certificate as JSON.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    fn texts(&self) -> CertificateTexts {
        [self.json(), self.markdown()]
    }

    /// The certificate as Markdown.
    pub fn markdown(&self) -> String {
        let mut out = "# Conformance certificate of a gateway\n\n".to_owned();
        let Declared { retries, passes_key, drains, keeps_alive, other_model, websocket } = &self.declared;
        let passes_key = if *passes_key { "passed on (declared)" } else { "not passed on" };
        let seconds = |seconds: &Option<u64>| seconds.map(|it| format!("{it} s")).unwrap_or_default();
        for (name, value) in [
            ("Gateway", text(&self.gateway)),
            ("Host", code(&self.host)),
            ("Model", code(&self.model)),
            ("Suite", format!("conformance {}", text(&self.suite))),
            ("Retries declared", retries.to_string()),
            ("Drain declared", seconds(drains)),
            ("Silence declared", seconds(keeps_alive)),
            ("Other provider", other_model.as_deref().map(code).unwrap_or_default()),
            (
                "Client",
                if *websocket {
                    "over a WebSocket where the gateway takes one".to_owned()
                } else {
                    String::new()
                },
            ),
            ("Key of the client", passes_key.to_owned()),
            ("Failures", format!("{} (`--fail-on {}`)", self.fail_on.words(), self.fail_on.name())),
            ("Levels changed", text(&LevelChange::words(&self.levels, usize::MAX))),
        ] {
            if !value.is_empty() {
                let _ = writeln!(out, "- {name}: {value}");
            }
        }
        out += "\n| profile | mode | state | tests |\n|---|---|---|---|\n";
        for profile in &self.profiles {
            let BetweenProfile { name, agent, version, mode, is_passed, tests, unmet, .. } = profile;
            let groups: Vec<String> =
                tests.iter().map(|(group, count)| format!("{} {count}", text(group))).collect();
            let state = if *is_passed { "passed".to_owned() } else { format!("not passed: {unmet} tests") };
            let _ = writeln!(
                out,
                "| {} {version}{} | {} | {state} | {} |",
                text(name),
                agent.as_ref().map(|agent| format!(", {}", text(agent))).unwrap_or_default(),
                text(mode),
                groups.join(", ")
            );
        }
        out += &limits(&self.profiles);
        let _ = writeln!(
            out,
            "\n## Reproduce\n\nWith version {} of the suite:\n\n```sh\n{}\n```\n\nSHA-256 of `{REPORT}`: `{}`. SHA-256 over \
             the hashes of the recordings: `{}`.",
            text(&self.suite),
            self.reproduce.replace("```", ""),
            text(&self.report),
            text(&self.evidence)
        );
        out
    }
}

fn limits(profiles: &[BetweenProfile]) -> String {
    let mut out = String::new();
    for profile in profiles {
        for MetLimit { rule, reason, tests } in &profile.limits {
            let _ =
                writeln!(out, "- {}: {}: {} ({tests} tests)", text(&profile.name), code(rule), text(reason));
        }
    }
    if out.is_empty() { out } else { format!("\n## What pairs of APIs cannot carry\n\n{out}") }
}

/// The usual level that a file states is not trusted.
fn is_lowered_must(change: &LevelChange) -> bool {
    let own = between_rule(&change.rule).map(|rule| rule.level);
    let usual = own.or_else(|| catalogue::rule(&change.rule).map(|rule| rule.level));
    change.usual.max(usual.unwrap_or(Level::Must)) == Level::Must && change.level < Level::Must
}

/// The result of a pair, as an agent plays it if one does.
fn profile(
    run: &BetweenRun,
    pair: &BetweenPair,
    agent: Option<&'static AgentProfile>,
) -> Result<BetweenProfile, String> {
    let name = format!("{}-{}", pair.front, pair.upstream);
    if pair.mode == HandlingMode::Local.name() {
        return Err(format!("the gateway answers {name} itself (mode local)"));
    }
    let own: Vec<&BetweenTest> = run
        .tests
        .iter()
        .filter(|test| test.about.front == pair.front && test.about.upstream == pair.upstream)
        .filter(|test| {
            agent.is_none_or(|agent| test.name.starts_with(&format!("{name}/session/{}/", agent.name())))
        })
        .collect();
    let all: BTreeSet<String> = names_of_pair(&name, agent.as_slice(), &run.declared).into_iter().collect();
    let ran: BTreeSet<&str> = own.iter().map(|test| test.name.as_str()).collect();
    let count = all.iter().filter(|name| ran.contains(name.as_str())).count();
    if count < all.len() || all.is_empty() || own.len() != all.len() {
        let total = all.len();
        return Err(format!("the run was partial: it has {count} of the {total} tests of {name}"));
    }
    let mut tests: BTreeMap<String, u64> = BTreeMap::new();
    let mut met: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for test in &own {
        *tests.entry(catalogue::group(&test.about.case).to_owned()).or_default() += 1;
        for [rule, reason] in &test.about.limits {
            *met.entry((rule, reason)).or_default() += 1;
        }
    }
    let is_socket = own.iter().all(|test| test.about.is_socket == Some(true));
    let unmet = own.iter().filter(|test| test.verdict != Verdict::Pass).count() as u64;
    let limit = |((rule, reason), tests): ((&str, &str), u64)| MetLimit {
        rule: rule.to_owned(),
        reason: reason.to_owned(),
        tests,
    };
    Ok(BetweenProfile {
        name: agent.map_or_else(|| format!("{PROFILE}{name}"), |agent| format!("{}-{name}", agent.name()))
            + if is_socket { "-ws" } else { "" },
        agent: agent.map(AgentProfile::words),
        version: agent.map_or(BETWEEN_PROFILE_VERSION, |agent| agent.version),
        mode: pair.mode.clone(),
        is_passed: unmet == 0,
        tests,
        unmet,
        limits: met.into_iter().map(limit).collect(),
    })
}

fn reproduce(run: &BetweenRun) -> String {
    let mut fronts: Vec<&str> = Vec::new();
    let mut upstreams: Vec<&str> = Vec::new();
    for pair in &run.pairs {
        for (known, api) in [(&mut fronts, &pair.front), (&mut upstreams, &pair.upstream)] {
            if !known.contains(&api.as_str()) {
                known.push(api);
            }
        }
    }
    let [fronts, upstreams] = [fronts, upstreams].map(|names| shell_word(&names.join(",")).into_owned());
    let mut flags = vec![format!("--front {fronts}"), format!("--upstream {upstreams}")];
    if run.fail_on != FailOn::default() {
        flags.push(format!("--fail-on {}", run.fail_on.name()));
    }
    flags.extend(run.levels.iter().map(|change| {
        let level = format!("{}={}", change.rule, change.level.name());
        format!("--rule {}", shell_word(&level))
    }));
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    run.command_for(&[], &flags).replace(['\n', '\r'], " ")
}

/// Writes the certificate of a run to its folder, or removes an older one, and a signature of it. Returns the certificate, or why there is none.
///
/// # Errors
///
/// If a file cannot be written.
pub fn certify(
    folder: &Path,
    run: &BetweenRun,
    report: &str,
) -> io::Result<Result<BetweenCertificate, String>> {
    let certificate = BetweenCertificate::new(run, report);
    keep(folder, certificate.as_ref().ok().map(BetweenCertificate::texts).as_ref())?;
    Ok(certificate)
}

/// Compares the certificate in a folder with its run: returns the names of the profiles that passed, or what differs.
///
/// # Errors
///
/// With the difference.
pub fn verify_certificate(folder: &Path, run: &BetweenRun) -> Result<Vec<String>, String> {
    let report = Files::open(folder).read(REPORT).map_err(|error| format!("{REPORT}: {error}"))?;
    let certificate = BetweenCertificate::new(run, &String::from_utf8_lossy(&report));
    let texts = certificate.as_ref().map(BetweenCertificate::texts).map_err(Clone::clone);
    verify_kept(folder, texts)?;
    let passed = certificate.iter().flat_map(BetweenCertificate::passed);
    Ok(passed.map(str::to_owned).collect())
}

/// Returns the in-toto statement that is signed: the result of each pair of APIs, about the files of a run. It has passed if
/// all pairs have.
///
/// # Errors
///
/// If the run has no certificate.
pub fn statement(folder: &Path) -> Result<serde_json::Value, String> {
    let files = Files::open(folder);
    let certificate = files.read(CERTIFICATE).map_err(|error| format!("{CERTIFICATE}: {error}"))?;
    let certificate: BetweenCertificate =
        serde_json::from_slice(&certificate).map_err(|error| format!("{CERTIFICATE}: {error}"))?;
    let (passed, failed): (Vec<_>, Vec<_>) =
        certificate.profiles.iter().partition(|profile| profile.is_passed);
    let result = if failed.is_empty() { "PASSED" } else { "FAILED" };
    let [passed, failed] =
        [passed, failed].map(|profiles| profiles.into_iter().map(|profile| &*profile.name).collect());
    test_result(&files, &[CERTIFICATE, PAGE, REPORT], REPORT, result, [passed, Vec::new(), failed])
}

//! The suite against an endpoint, as tests.
//!
//! This runs the same tests as `conformance --target`, as a part of your own tests. In
//! `tests/conformance.rs`, which has `harness = false` in `Cargo.toml`:
//!
//! ```no_run
//! use std::process::ExitCode;
//!
//! use harness::Suite;
//! use harness::wire::Target;
//!
//! fn main() -> ExitCode {
//!     let dialect = spec::dialect("open-responses").expect("it is known");
//!     let target = Target::new("http://127.0.0.1:8080/v1", dialect.api).expect("it is an address");
//!     Suite::new(target, dialect).model("my-model").features(["tools", "store"]).main()
//! }
//! ```
//!
//! The tests have the flags of any Rust test, and `--list` sends nothing.

mod apis;
mod baseline;
mod clock;
mod invocation;
mod nearest;
mod print;
mod progress;
mod run;
mod selection;
mod session;
mod snapshot;
mod twins;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use catalogue::{Level, Profile, Rule, Scenario};
use libtest_mimic::Arguments;
use spec::Dialect;

use crate::certificate;
use crate::plan::{About, Given, Offer, ScenarioCase};
use crate::wire::{Limits, Target};
use checker::Rules;
use reports::Style;
use results::{Options, Transport, TrialResult};

pub use apis::{Served, Unserved, served};
pub use baseline::KnownFailure;
pub use invocation::{Invocation, RunCompletion, file_of};
pub use nearest::did_you_mean;
pub use print::show;
pub use run::{NOT_DONE, run};
pub use run::{is_for_people, run_quietly};
pub use selection::Selection;
pub use snapshot::Snapshots;

/// The suite against an endpoint.
#[derive(Debug, Clone)]
pub struct Suite {
    endpoint: Endpoint,
    dialect: &'static Dialect,
    model: Option<String>,
    /// How it is run. Levels, given values, headers and filters are added when it begins.
    options: Options,
    given: Given,
    seed: Option<String>,
    /// The random seed of all suites of a run, so that their answers can be compared.
    shared_seed: Option<String>,
    /// Whether prompts have the directives of the reference gateway; found out if absent.
    directives: Option<bool>,
    levels: BTreeMap<String, Level>,
    known: Vec<KnownFailure>,
    failures: Option<PathBuf>,
    max_failures: Option<usize>,
    snapshots: Option<Snapshots>,
    out: Option<PathBuf>,
    /// The folder for recordings that are read once, if they are not kept.
    passing: Option<PathBuf>,
    replaces: bool,
    target_name: Option<String>,
    is_named: bool,
}

#[derive(Debug, Clone)]
enum Endpoint {
    At(Target),
    Reference(gateway::Settings),
}

/// An error that prevents a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuiteError(String, bool);

impl SuiteError {
    /// Returns an error for this reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into(), false)
    }

    /// Filters that match no test are an error.
    pub(super) fn of_filters(reason: String) -> Self {
        Self(reason, true)
    }

    /// Returns whether a filter matches no test.
    pub const fn is_about_filters(&self) -> bool {
        self.1
    }
}

impl std::fmt::Display for SuiteError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SuiteError {}

impl Suite {
    /// Returns the suite against an endpoint in a dialect.
    pub fn new(target: Target, dialect: &'static Dialect) -> Self {
        Self::of(Endpoint::At(target), dialect)
    }

    /// Returns the suite against a reference gateway, started for the run.
    pub fn reference(settings: gateway::Settings) -> Self {
        let dialect = settings.dialect;
        Self::of(Endpoint::Reference(settings), dialect).transports(Transport::ALL)
    }

    fn of(endpoint: Endpoint, dialect: &'static Dialect) -> Self {
        Self {
            endpoint,
            dialect,
            model: None,
            options: Options::usual(),
            given: Given::new(),
            seed: None,
            shared_seed: None,
            directives: None,
            levels: BTreeMap::new(),
            known: Vec::new(),
            failures: None,
            max_failures: None,
            snapshots: None,
            out: None,
            passing: None,
            replaces: false,
            target_name: None,
            is_named: false,
        }
    }

    /// Sets the model; default: the first one that `GET /models` lists, or `default` if it lists none.
    #[must_use]
    pub fn model(self, model: impl Into<String>) -> Self {
        Self { model: Some(model.into()), ..self }
    }

    /// Sets how it is run.
    #[must_use]
    pub fn options(self, options: Options) -> Self {
        Self { options, ..self }
    }

    fn with(mut self, change: impl FnOnce(&mut Options)) -> Self {
        change(&mut self.options);
        self
    }

    /// Sets the limits.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        self.with(|options| {
            options.connect_ms = limits.connect.as_millis();
            options.first_event_ms = limits.first_event.as_millis();
            options.idle_ms = limits.idle.as_millis();
            options.total_ms = limits.total.as_millis();
            options.bytes = limits.bytes;
        })
    }

    /// Sets the transports; default: streaming and JSON over HTTP, as not every endpoint has a WebSocket.
    #[must_use]
    pub fn transports(self, transports: impl IntoIterator<Item = Transport>) -> Self {
        self.with(|options| options.transports = transports.into_iter().collect())
    }

    /// Sends only scenarios that need no other features.
    #[must_use]
    pub fn features(self, features: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.with(|options| options.features = Some(features.into_iter().map(Into::into).collect()))
    }

    /// Stops sending after this many failed tests.
    #[must_use]
    pub fn max_failures(self, failures: usize) -> Self {
        Self { max_failures: Some(failures.max(1)), ..self }
    }

    /// Sets values that only the owner of the endpoint knows. Scenarios without their values are skipped.
    ///
    /// The names are `vector-store`, the id of a vector store with searchable files; `mcp-server`, the URL of an MCP
    /// server with a tool `search_notes`; `failing-mcp-server`, the URL of one whose tools all fail; and models that
    /// fail: `down-model` before a stream begins, `failing-model` during it, and `limited-model` with status 429.
    #[must_use]
    pub fn given(self, given: Given) -> Self {
        Self { given, ..self }
    }

    /// Sends and checks only what these profiles require; everything if empty.
    #[must_use]
    pub fn profiles(self, profiles: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.with(|options| options.profiles = profiles.into_iter().map(Into::into).collect())
    }

    /// Sets the number of concurrent scenarios.
    #[must_use]
    pub fn jobs(self, jobs: usize) -> Self {
        self.with(|options| options.jobs = jobs.max(1))
    }

    /// Sets the seed of the words in requests, so that responses cannot be prepared; random by default.
    #[must_use]
    pub fn seed(self, seed: impl Into<String>) -> Self {
        Self { seed: Some(seed.into()), ..self }
    }

    /// Keeps the directives of the reference gateway in prompts, also if the endpoint only passes them on to it. Without this,
    /// they are sent to nobody else.
    #[must_use]
    pub fn directives(self) -> Self {
        Self { directives: Some(true), ..self }
    }

    /// Sets levels of rules that differ from the dialect's. Reports and certificates state them, and no profile passes
    /// if a MUST is lowered.
    #[must_use]
    pub fn levels(self, levels: impl IntoIterator<Item = (impl Into<String>, Level)>) -> Self {
        Self { levels: levels.into_iter().map(|(rule, level)| (rule.into(), level)).collect(), ..self }
    }

    /// Sets expected failures: their tests are ignored, with the reason. Findings do not change, and a listed
    /// test that passes fails the run.
    #[must_use]
    pub fn expected_failures(self, known: impl IntoIterator<Item = KnownFailure>) -> Self {
        Self { known: known.into_iter().collect(), ..self }
    }

    /// Writes all failures to this file as expected failures, instead of failing.
    #[must_use]
    pub fn write_failures_to(self, file: impl Into<PathBuf>) -> Self {
        Self { failures: Some(file.into()), ..self }
    }

    /// Compares the [shape](recordings::shape) of each stream with its snapshot, in a test `snapshot`.
    #[must_use]
    pub fn snapshots(self, snapshots: Snapshots) -> Self {
        Self { snapshots: Some(snapshots), ..self }
    }

    /// Keeps all exchanges and reports in this folder, which must not contain a run.
    #[must_use]
    pub fn out(self, folder: impl Into<PathBuf>) -> Self {
        Self { out: Some(folder.into()), ..self }
    }

    /// The run may already have a folder for everything.
    #[must_use]
    pub(super) fn passing(self, folder: &Path) -> Self {
        Self { passing: Some(folder.join(self.dialect.name)), ..self }
    }

    /// Replaces the run that the folder contains.
    #[must_use]
    pub fn replace(self, replaces: bool) -> Self {
        Self { replaces, ..self }
    }

    /// Sets the target's name in commands that repeat the run.
    #[must_use]
    pub fn target_name(self, name: impl Into<String>) -> Self {
        Self { target_name: Some(name.into()), ..self }
    }

    /// Prefixes the names of tests with the dialect, and uses a subfolder for it.
    #[must_use]
    pub fn prefix_with_dialect(self) -> Self {
        Self { out: self.out.map(|folder| folder.join(self.dialect.name)), is_named: true, ..self }
    }

    /// Runs as a test target, with the flags of the command line.
    pub fn main(self) -> ExitCode {
        let how = Invocation::of(Arguments::from_args());
        run(&[self], &how, Vec::new(), Style::Plain.into()).unwrap_or_else(|error| {
            print::eprint_line(&format!("error: {error}"));
            ExitCode::from(NOT_DONE)
        })
    }

    /// Runs all tests and returns their results.
    ///
    /// # Errors
    ///
    /// If nothing could be sent, or the evidence could not be stored.
    pub fn judge(&self) -> Result<Vec<TrialResult>, SuiteError> {
        run::judge(self, &|_| true)
    }

    /// Runs the tests selected by name and returns their results.
    ///
    /// # Errors
    ///
    /// If nothing could be sent, or the evidence could not be stored.
    pub fn judge_only(&self, is_wanted: &dyn Fn(&str) -> bool) -> Result<Vec<TrialResult>, SuiteError> {
        run::judge(self, is_wanted)
    }

    fn rules(&self) -> Rules {
        self.rules_of(&self.options.profiles)
    }

    /// Violations of rules that the profiles do not demand are counted, and fail nothing.
    fn judged_rules(&self) -> Rules {
        self.rules_of(&[])
    }

    fn rules_of(&self, profiles: &[String]) -> Rules {
        rules(self.dialect, &self.levels, profiles, &self.options.select, &self.options.ignore)
    }

    fn offer(&self) -> Offer {
        Offer::of(&self.options)
    }
}

/// Returns the rules of a dialect that profiles and selection include, with the levels that a reader chose.
pub fn rules(
    dialect: &'static Dialect,
    levels: &BTreeMap<String, Level>,
    profiles: &[String],
    select: &[String],
    ignore: &[String],
) -> Rules {
    let is_demanded = |rule: &Rule| {
        profiles.is_empty()
            || certificate::with_names(profiles).any(|profile| profile.rules.contains(&rule.id))
    };
    Rules::with_levels(dialect, levels).only(|rule| is_demanded(rule) && is_selected(rule.id, select, ignore))
}

/// Returns the names of the tests of a run with these options, in order, with a `prefix` if several dialects
/// are tested.
pub fn due_names(cases: &[ScenarioCase], options: &Options, dialect: &Dialect, prefix: &str) -> Vec<String> {
    // An invalid filter selects nothing.
    let Ok(selection) = Selection::of_filters(&options.filters, dialect) else { return Vec::new() };
    let names = demanded_tests(cases, &options.profiles).map(|(_, _, name)| name);
    names.filter(|name| selection.includes(&format!("{prefix}{name}"))).collect()
}

fn demanded_tests<'c>(
    cases: &'c [ScenarioCase],
    profiles: &'c [String],
) -> impl Iterator<Item = (usize, About, String)> + 'c {
    let cases = cases.iter().enumerate().filter(|(_, case)| is_demanded(case.scenario, profiles));
    cases.flat_map(|(at, case)| case.trials.iter().map(move |about| (at, *about, case.trial(*about))))
}

fn is_demanded(scenario: &Scenario, profiles: &[String]) -> bool {
    let names_it = |profile: &Profile| {
        profile.scenarios.iter().flat_map(|ids| ids.split('|')).any(|id| id == scenario.id)
    };
    profiles.is_empty() || certificate::with_names(profiles).any(names_it)
}

/// Returns whether a rule is selected, or nothing is, and it is not ignored.
pub fn is_selected(id: &str, select: &[String], ignore: &[String]) -> bool {
    let is_one_of = |names: &[String]| names.iter().any(|name| is_meant(id, name));
    (select.is_empty() || is_one_of(select)) && !is_one_of(ignore)
}

/// Returns whether the rule or its group has this name.
pub fn is_meant(id: &str, name: &str) -> bool {
    id == name || catalogue::group(id) == name
}

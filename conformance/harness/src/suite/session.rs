//! Sessions of a suite: its cases, tests and evidence.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use std::{fs, io};

use libtest_mimic::{Completion, Failed, Trial};

use super::baseline;
use super::clock;
use super::print::eprint_line;
use super::snapshot;
use super::{Endpoint, Suite, SuiteError, demanded_tests, is_demanded};
use crate::certificate::{Certificate, Judge, Sent};
use crate::evidence::{self, Evidence, Kept, RunFile};
use crate::judge::GivenUp;
use crate::live::{Live, RunPlan, RunRuntime, first_model, is_reference_gateway};
use crate::plan::{About, Given, Offer, ScenarioCase, Seed, all_given, cases, has_directives, random_seed};
use crate::wire::{Client, Limits, Target, secrets_of};
use checker::Rules;
use gateway::{self, Embedded, McpServer};
use recordings::capture::REDACTED;
use reports::{Style, diagnostic};
use results::text::counted;
use results::{
    Filters, Judgement, LevelChange, Options, ProfileReport, Run, RunState, Transport, TrialResult, Verdict,
};
use spec::Dialect;

pub(super) struct Planned<'s> {
    suite: &'s Suite,
    plan: RunPlan,
    due: Vec<(usize, About)>,
    /// Indices of the cases whose stream shapes are compared.
    shapes: Vec<usize>,
}

pub(super) struct Finished {
    pub(super) trials: Vec<TrialResult>,
    pub(super) report: Run,
}

pub(super) struct Session {
    tests: Arc<Tests>,
    due: Vec<(usize, About)>,
    shapes: Vec<usize>,
    file: RunFile,
    began: Instant,
    evidence: Option<Evidence>,
    /// The MCP server, if it was started for this run.
    _mcp_server: Option<McpServer>,
    /// The gateway, if it was started for this run.
    _gateway: Option<Embedded>,
}

impl Suite {
    pub(super) fn plan(&self, is_due: &dyn Fn(&str) -> bool) -> Planned<'_> {
        let mut cases = cases(self.dialect, &self.rules(), &self.offer(), &self.options.transports);
        let given = self.gifts();
        for case in &mut cases {
            case.give(&given);
        }
        let due: Vec<(usize, About)> = demanded_tests(&cases, &self.options.profiles)
            .filter(|(_, _, name)| is_due(&self.name(name)))
            .map(|(at, about, _)| (at, about))
            .collect();
        let shapes: Vec<usize> = (cases.iter().enumerate())
            .filter(|(_, case)| self.snapshots.is_some() && case.has_stream() && !case.trials.is_empty())
            .filter(|(_, case)| !case.is_mixed() && is_demanded(case.scenario, &self.options.profiles))
            .filter(|(_, case)| is_due(&self.name(&case.shape())))
            .map(|(at, _)| at)
            .collect();
        let is_wanted = |at: usize| shapes.contains(&at) || due.iter().any(|(due, _)| *due == at);
        let wanted = (0..cases.len()).map(is_wanted).collect();
        let mut plan = RunPlan {
            cases,
            wanted,
            model: self.model.clone().unwrap_or_default(),
            given,
            options: self.options.clone(),
            shapes: !shapes.is_empty(),
            seed: Seed::NONE,
        };
        plan.complete();
        Planned { suite: self, plan, due, shapes }
    }

    pub(super) fn known_shapes(&self) -> BTreeSet<String> {
        let cases = cases(self.dialect, &self.rules(), &Offer::All, &Transport::ALL);
        cases.iter().filter(|case| case.has_stream()).map(|case| self.name(&case.name)).collect()
    }

    /// Those of the reference gateway are built in.
    fn gifts(&self) -> Given {
        let (is_reference, is_local) = match &self.endpoint {
            Endpoint::At(target) => (false, target.is_local()),
            Endpoint::Reference(_) => (true, true),
        };
        let mut given = all_given(&self.given, is_reference);
        if is_local {
            // Placeholders: the server is started when cases are sent.
            for name in [MCP_SERVER, FAILING_MCP_SERVER] {
                given.entry(name.to_owned()).or_default();
            }
        }
        given
    }

    fn name(&self, trial: &str) -> String {
        if self.is_named { format!("{}/{trial}", self.dialect.name) } else { trial.to_owned() }
    }

    /// Starts the reference gateway if that is the target.
    pub(super) fn open(&self) -> Result<(Target, Option<Embedded>), SuiteError> {
        match &self.endpoint {
            Endpoint::At(target) => Ok((target.clone(), None)),
            Endpoint::Reference(settings) => {
                let failed = |problem: String| SuiteError::new(format!("the reference gateway: {problem}"));
                let gateway = Embedded::start(settings.clone()).map_err(|error| failed(error.to_string()))?;
                let target = Target::new(&gateway.url(), self.dialect.api)
                    .map_err(|error| failed(error.to_string()))?;
                Ok((target.direct(), Some(gateway)))
            }
        }
    }

    /// Without a model, the endpoint is asked for its models. The second value is whether prompts have directives.
    fn chosen_model(&self, client: &Client, plan: &RunPlan, machine: &RunRuntime) -> (String, bool) {
        let is_reference = matches!(self.endpoint, Endpoint::Reference(_));
        let known = self.directives.or(is_reference.then_some(true));
        if let Some(model) = &self.model {
            // Only a server on this machine can be the reference gateway.
            let is_asked = || {
                let mut due = plan.cases.iter().zip(&plan.wanted).filter(|(_, wanted)| **wanted);
                let has_any = |case: &ScenarioCase| {
                    has_directives(case.scenario.request)
                        || case.turns.iter().any(|turn| has_directives(turn.request))
                };
                client.target().is_local() && due.any(|(case, _)| has_any(case))
            };
            let has_directives = known
                .unwrap_or_else(|| is_asked() && machine.runtime().block_on(is_reference_gateway(client)));
            return (model.clone(), has_directives);
        }
        if is_reference {
            return ("default".to_owned(), true);
        }
        let first = machine.runtime().block_on(first_model(client, &Rules::of(self.dialect)));
        eprint_line(&first.line);
        (first.name, known.unwrap_or(first.is_reference))
    }

    fn run_file(&self, client: &Client, model: String, filters: &Filters) -> RunFile {
        let target = client.target();
        RunFile {
            version: evidence::VERSION,
            suite: env!("CARGO_PKG_VERSION").to_owned(),
            build: evidence::BUILD.to_owned(),
            dialect: self.dialect.name.to_owned(),
            dialect_folder: self.dialect.folder_hash(),
            target: target.public_url(),
            proxy: client.proxy().map(str::to_owned),
            is_reference: matches!(self.endpoint, Endpoint::Reference(_)),
            model,
            target_name: self.target_name.clone(),
            options: Options {
                began: Some(clock::now()),
                levels: LevelChange::all(&Rules::with_levels(self.dialect, &self.levels)),
                given: self
                    .given
                    .iter()
                    .map(|(name, value)| (name.clone(), without_secret(target, value)))
                    .collect(),
                headers: target.wanted_headers().to_vec(),
                has_authorities: target.has_authorities(),
                filters: filters.clone(),
                ..self.options.clone()
            },
            seed: self.seed.clone().or_else(|| self.shared_seed.clone()).unwrap_or_else(random_seed),
            is_seed_given: self.seed.is_some(),
            has_directives: false,
            together: Vec::new(),
            state: RunState::Begun,
            obstacle: None,
            report: None,
            exchanges: Vec::new(),
            chain: String::new(),
            trials: Vec::new(),
            stale: Vec::new(),
        }
    }
}

impl Planned<'_> {
    pub(super) fn names(&self) -> impl Iterator<Item = String> {
        let due = self.due.iter().filter_map(|(at, about)| Some(self.plan.cases.get(*at)?.trial(*about)));
        let shapes = self.shapes.iter().filter_map(|at| Some(self.plan.cases.get(*at)?.shape()));
        due.chain(shapes).map(|name| self.suite.name(&name))
    }

    pub(super) fn shapes(&self) -> impl Iterator<Item = String> {
        self.shapes.iter().filter_map(|at| Some(self.suite.name(&self.plan.cases.get(*at)?.name)))
    }

    pub(super) const fn dialect(&self) -> &'static Dialect {
        self.suite.dialect
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.due.is_empty() && self.shapes.is_empty()
    }

    /// `together` has the dialects of all runs that are made at once, if there are several.
    pub(super) fn start(
        self,
        machine: &RunRuntime,
        filters: &Filters,
        together: &[String],
    ) -> Result<Session, SuiteError> {
        let Self { suite, mut plan, due, shapes } = self;
        let mcp_server = host(&mut plan.given)?;
        let (target, gateway) = suite.open()?;
        let secrets: Vec<String> = suite.given.values().flat_map(|value| secrets_of(value)).collect();
        let target = target.hiding(&secrets);
        let client = Client::new(target, Limits::of(&suite.options), machine.interrupt());
        let client = client.map_err(|problem| SuiteError::new(format!("cannot connect: {problem}")))?;
        if let Some(folder) = suite.out.as_deref() {
            Evidence::check(folder, suite.replaces).map_err(|error| suite.lost(&error))?;
        }
        let (model, has_directives) = suite.chosen_model(&client, &plan, machine);
        plan.model = model;
        let file = RunFile {
            has_directives,
            together: together.to_vec(),
            ..suite.run_file(&client, plan.model.clone(), filters)
        };
        plan.seed = Seed::new(&*file.seed, suite.dialect, &suite.offer()).directives(has_directives);
        for case in &mut plan.cases {
            case.expect(&plan.seed);
        }
        let mut evidence = None;
        if let Some(folder) = &suite.out {
            let new = Evidence::create(folder, suite.replaces).map_err(|error| suite.lost(&error))?;
            new.write_dialect(suite.dialect).map_err(|error| suite.lost(&error))?;
            new.write_run(&file).map_err(|error| suite.lost(&error))?;
            evidence = Some(new);
        }
        let recordings = evidence.clone().or_else(|| suite.passing.as_deref().map(Evidence::passing));
        let live = Arc::new(Live::new(
            plan,
            [suite.rules(), suite.judged_rules()],
            client,
            machine.runtime(),
            recordings,
        ));
        live.start().map_err(|error| SuiteError::new(format!("no thread can be started: {error}")))?;
        let tests = Arc::new(Tests { suite: suite.clone(), live, failures: AtomicUsize::new(0) });
        Ok(Session {
            tests,
            due,
            shapes,
            file,
            began: Instant::now(),
            evidence,
            _mcp_server: mcp_server,
            _gateway: gateway,
        })
    }
}

const MCP_SERVER: &str = "mcp-server";
/// The name of the given MCP server whose tools can be listed, but fail.
const FAILING_MCP_SERVER: &str = "failing-mcp-server";

/// Starts an MCP server if none was given and the endpoint can reach a local one.
fn host(given: &mut Given) -> Result<Option<McpServer>, SuiteError> {
    let is_empty = |name: &&str| given.get(*name).is_some_and(String::is_empty);
    let wanted: Vec<&str> = [MCP_SERVER, FAILING_MCP_SERVER].into_iter().filter(is_empty).collect();
    if wanted.is_empty() {
        return Ok(None);
    }
    let notes = McpServer::start().map_err(|error| SuiteError::new(format!("the MCP server: {error}")))?;
    for name in wanted {
        let url = if name == MCP_SERVER { notes.url() } else { notes.failing_url() };
        given.insert(name.to_owned(), url);
    }
    Ok(Some(notes))
}

/// Redacted as a whole if it contains a secret.
fn without_secret(target: &Target, value: &str) -> String {
    if target.masked(value) == value { value.to_owned() } else { REDACTED.to_owned() }
}

impl Suite {
    pub(super) fn lost(&self, error: &io::Error) -> SuiteError {
        let folder = self.out.as_ref().map(|folder| folder.display().to_string()).unwrap_or_default();
        SuiteError::new(format!("{folder}: {error}"))
    }
}

impl Session {
    pub(super) fn announce(&self) {
        let RunFile { target, proxy, .. } = &self.file;
        let plan = &self.live().plan;
        let whom = if self.is_reference() {
            format!("the reference gateway (dialect {}) at {target}", self.suite().dialect.name)
        } else {
            target.clone()
        };
        let through = proxy.as_ref().map(|proxy| format!(" through the proxy {proxy}")).unwrap_or_default();
        let again = if plan.options.attempts > 1 && !self.is_reference() {
            format!("; up to {} attempts each if the expected events do not occur", plan.options.attempts)
        } else {
            String::new()
        };
        let least = if plan.polls() { "at least " } else { "" };
        let count = requests(plan);
        eprint_line(&format!("{least}{count} will be sent to {whom}{through}{again}"));
    }

    pub(super) fn live(&self) -> &Live {
        &self.tests.live
    }

    pub(super) const fn tests(&self) -> &Arc<Tests> {
        &self.tests
    }

    fn suite(&self) -> &Suite {
        &self.tests.suite
    }

    pub(super) fn is_due(&self, at: usize, about: About) -> bool {
        self.due.contains(&(at, about))
    }

    pub(super) fn is_reference(&self) -> bool {
        matches!(self.suite().endpoint, Endpoint::Reference(_))
    }

    pub(super) fn trials(&self) -> impl Iterator<Item = Trial> {
        let of_shapes = self.shapes.iter().map(|at| {
            let (tests, at) = (Arc::clone(&self.tests), *at);
            let (name, file) = tests.shape_names(at);
            Trial::ignorable_test(name, move || {
                tests.judged_shape(at, &file).map_or(Ok(Completion::Completed), completed)
            })
        });
        let of_due = self.due.iter().map(|(at, about)| {
            let (tests, at, about) = (Arc::clone(&self.tests), *at, *about);
            let name = tests.suite.name(&tests.name(at, about));
            Trial::ignorable_test(name, move || tests.trial(at, about))
        });
        of_due.chain(of_shapes)
    }

    /// Scenario by scenario, as soon as each is finished. Each failure has its reasons. Broken rules are no reason, as the
    /// test is named after them.
    pub(super) fn failures(&self) -> impl Iterator<Item = (String, Vec<(&'static str, Option<String>)>)> {
        let tests = &self.tests;
        let of_cases = self.due.chunk_by(|(one, _), (other, _)| one == other).filter_map(|due| {
            let case = tests.live.plan.cases.get(due.first()?.0)?;
            let failed = due.iter().filter_map(|(at, about)| {
                let judged = tests.failure(*at, *about)?;
                // The summary names these once.
                if judged.kind.is_obstacle() {
                    return None;
                }
                let reason = match (judged.verdict, about) {
                    (Verdict::HarnessError, _) => Some(format!("harness error: {}", judged.reason)),
                    (_, About::Group(_) | About::Rest) => None,
                    _ => Some(judged.reason),
                };
                Some((about.name(), reason))
            });
            Some((tests.suite.name(&case.name), failed.collect()))
        });
        let of_shapes = self.shapes.iter().filter_map(|at| {
            let (_, file) = tests.shape_names(*at);
            let judged = tests.judged_shape(*at, &file).filter(is_bad)?;
            Some((file, vec![("snapshot", Some(judged.reason))]))
        });
        of_cases.chain(of_shapes)
    }

    /// Prints no tests.
    pub(super) fn has_failed(&self) -> bool {
        let tests = &self.tests;
        let mut has_failed = false;
        for (at, about) in &self.due {
            has_failed |= tests.failure(*at, *about).is_some();
        }
        for at in &self.shapes {
            has_failed |= tests.judged_shape(*at, &tests.shape_names(*at).1).is_some_and(|it| is_bad(&it));
        }
        has_failed
    }

    pub(super) fn finish(mut self, machine: &RunRuntime) -> Result<Finished, SuiteError> {
        let tests = Arc::clone(&self.tests);
        let Tests { suite, live, .. } = &*tests;
        self.file.options.took_ms = u64::try_from(self.began.elapsed().as_millis()).ok();
        self.file.trials = self.due.iter().map(|(at, about)| tests.result(*at, *about)).collect();
        let is_interrupted = machine.is_interrupted();
        self.file.state = if is_interrupted { RunState::Interrupted } else { RunState::Finished };
        if is_interrupted {
            let sent = live.sent().map(|(case, _)| &case.name).collect::<BTreeSet<_>>().len();
            eprint_line(&format!("interrupted after {sent} of {}", requests(&live.plan)));
        }
        if let Some(GivenUp { sent, .. }) = live.given_up() {
            let planned = requests(&live.plan);
            eprint_line(&format!("stopped after {sent} of {planned}: the endpoint cannot be tested"));
        }
        self.file.obstacle = live.obstacle();
        self.file.exchanges = (live.sent())
            .map(|(case, attempt)| Kept {
                file: attempt.report.name.clone(),
                case: case.name.clone(),
                sha256: attempt.sha256.clone(),
                place: attempt.place,
            })
            .collect();
        self.file.chain = self.file.chained().unwrap_or_default();
        let stale = if is_interrupted { Vec::new() } else { baseline::stale(live, &self.due, &suite.known) };
        if suite.failures.is_some() {
            for entry in stale {
                eprint_line(&format!("expected failure removed, as it passes: {entry}"));
            }
        } else {
            self.file.stale = stale;
        }
        let (report, profiles) = self.report();
        if let Some(evidence) = self.evidence.take() {
            self.keep(&evidence, &report, profiles).map_err(|error| suite.lost(&error))?;
            let folder = evidence.folder().display();
            eprint_line(&format!("evidence: {folder}; `conformance verify {folder}` judges it again"));
        }
        if let Some(file) = &suite.failures {
            fs::write(file, baseline::file(live, &self.due, &suite.known))
                .map_err(|error| SuiteError::new(format!("{}: {error}", file.display())))?;
            eprint_line(&format!("failures: {}; add a reason to each before you use it", file.display()));
        }
        let mut trials = std::mem::take(&mut self.file.trials);
        if let Some(snapshots) = &suite.snapshots {
            trials.extend(self.shapes.iter().map(|at| {
                let (name, file) = tests.shape_names(*at);
                TrialResult { name, judged: snapshot::judge(live, *at, &file, snapshots) }
            }));
        }
        Ok(Finished { trials, report })
    }

    fn report(&self) -> (Run, Vec<ProfileReport>) {
        let rules = self.suite().rules();
        let sent: Vec<Sent> = self.live().sent().map(|(case, attempt)| Sent { case, attempt }).collect();
        Judge { run: &self.file, rules: &rules, cases: &self.live().plan.cases, sent: &sent }.report()
    }

    /// All files of the run but its exchanges.
    fn keep(&mut self, evidence: &Evidence, report: &Run, profiles: Vec<ProfileReport>) -> io::Result<()> {
        self.file.report = Some(evidence.write_report(&reports::json(report))?);
        evidence.write_run(&self.file)?;
        let certificate = Certificate::new(&self.file, profiles);
        certificate.write(evidence)?;
        eprint_line(&certificate.summary());
        Ok(())
    }
}

pub(super) struct Tests {
    suite: Suite,
    pub(super) live: Arc<Live>,
    pub(super) failures: AtomicUsize,
}

impl Tests {
    /// Without its dialect.
    fn name(&self, at: usize, about: About) -> String {
        self.live.plan.cases.get(at).map(|case| case.trial(about)).unwrap_or_default()
    }

    fn shape_names(&self, at: usize) -> (String, String) {
        let names = |case: &ScenarioCase| (self.suite.name(&case.shape()), self.suite.name(&case.name));
        self.live.plan.cases.get(at).map(names).unwrap_or_default()
    }

    fn result(&self, at: usize, about: About) -> TrialResult {
        TrialResult { name: self.name(at, about), judged: self.live.judge(at, about) }
    }

    fn trial(&self, at: usize, about: About) -> Result<Completion, Failed> {
        let (judged, excuse) = self.judged(at, about);
        match excuse {
            Some(excuse) => Ok(Completion::ignored_with(excuse)),
            None if judged.verdict == Verdict::Fail => Err(self.unexpected(at, about, judged.reason).into()),
            None => completed(judged),
        }
    }

    /// The second value is why a failure does not fail the run.
    fn judged(&self, at: usize, about: About) -> (Judgement, Option<String>) {
        let judged = self.live.judge(at, about);
        let excuse = match judged.verdict {
            // A listed failure does not fail the run.
            Verdict::Fail if self.suite.failures.is_some() => Some(format!("listed: {}", judged.reason)),
            Verdict::Fail => self.expected(at, about),
            _ => None,
        };
        self.count(is_bad(&judged) && excuse.is_none());
        (judged, excuse)
    }

    /// `None` if it does not fail the run.
    fn failure(&self, at: usize, about: About) -> Option<Judgement> {
        let (judged, excuse) = self.judged(at, about);
        (is_bad(&judged) && excuse.is_none()).then_some(judged)
    }

    /// `None` if it is not compared with a snapshot.
    fn judged_shape(&self, at: usize, file: &str) -> Option<Judgement> {
        let judged = snapshot::judge(&self.live, at, file, self.suite.snapshots.as_ref()?);
        self.count(is_bad(&judged));
        Some(judged)
    }

    /// Stops the run at the maximum number of failures.
    fn count(&self, is_failure: bool) {
        if is_failure {
            let failures = self.failures.fetch_add(1, Ordering::Relaxed) + 1;
            if self.suite.max_failures.is_some_and(|most| failures >= most) {
                let tests = if failures == 1 { "test" } else { "tests" };
                self.live.stop(format!("not sent: the run stopped after {failures} failed {tests}"));
            }
        }
    }

    /// `None` unless all failures of the test are expected.
    fn expected(&self, at: usize, about: About) -> Option<String> {
        let case = self.live.plan.cases.get(at)?;
        let failing = baseline::failing(&self.live, case, at, about);
        let expected = self.known_reasons(&failing, case);
        (expected.len() == failing.len()).then(|| format!("expected: {}", listed(&expected).join("; ")))
    }

    fn known_reasons<'k>(
        &'k self,
        failing: &'k BTreeSet<String>,
        case: &ScenarioCase,
    ) -> BTreeMap<&'k str, &'k str> {
        let known = |rule: &'k String| baseline::reason(&self.suite.known, &case.name, rule);
        failing.iter().filter_map(|rule| Some((rule.as_str(), known(rule)?))).collect()
    }

    fn unexpected(&self, at: usize, about: About, reason: String) -> String {
        let live = &self.live;
        let Some(case) = live.plan.cases.get(at) else { return reason };
        let failing = baseline::failing(live, case, at, about);
        let expected = self.known_reasons(&failing, case);
        let (dialect, fail_on) = (live.rules.dialect().name, live.plan.options.fail_on());
        let mut text = String::new();
        for attempt in live.attempts_of(at) {
            let findings = attempt.findings(case, about, fail_on);
            for finding in findings.filter(|finding| !expected.contains_key(finding.rule.as_ref())) {
                text += &diagnostic(&attempt.report.path(), finding, dialect, fail_on, Style::Plain);
                text.push('\n');
            }
        }
        if text.is_empty() {
            text = reason;
        }
        for known in listed(&expected) {
            text.extend(["expected, besides: ", &known, "\n"]);
        }
        text
    }
}

const fn is_bad(judged: &Judgement) -> bool {
    matches!(judged.verdict, Verdict::Fail | Verdict::HarnessError)
}

pub(super) fn completed(judged: Judgement) -> Result<Completion, Failed> {
    match judged.verdict {
        Verdict::Pass => Ok(Completion::Completed),
        Verdict::NotExercised => Ok(Completion::ignored_with(judged.reason)),
        Verdict::HarnessError => Err(format!("harness error: {}", judged.reason).into()),
        Verdict::Fail => Err(judged.reason.into()),
    }
}

fn listed(expected: &BTreeMap<&str, &str>) -> Vec<String> {
    expected.iter().map(|(rule, reason)| format!("{rule}: {reason}")).collect()
}

fn requests(plan: &RunPlan) -> String {
    counted(plan.requests() as u64, "request")
}

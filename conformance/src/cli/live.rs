//! The suite against an endpoint.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use spec::Dialect;
use spec::catalogue::{Level, SCENARIOS};

use super::select::SelectArgs;
use super::suite::run_quietly;
use super::target::{TargetArgs, time};
use super::{NOT_DONE, names};
use crate::capture::Recorder;
use crate::engine::Rules;
use crate::live::{
    self, About, Client, Done, Evidence, Kept, Live, Offer, Options, Plan, RunFile, State, Told, Verdict,
};
use crate::report::{self, Run, Style, diagnostic};

/// How the suite runs against an endpoint.
#[derive(Debug, Args)]
#[command(next_help_heading = "Against an endpoint")]
pub(super) struct LiveArgs {
    /// Run against this endpoint: its URL, with or without /v1.
    #[arg(long, value_name = "URL", group = "tested")]
    pub(super) target: Option<String>,
    #[command(flatten)]
    to: TargetArgs,
    /// What the endpoint offers, instead of everything: names after the scenarios of `conformance list`.
    #[arg(long, value_name = "FEATURE", value_delimiter = ',', requires = "target")]
    features: Option<Vec<String>>,
    /// How often to send a scenario that does not bring what it is there for.
    #[arg(long, value_name = "N", default_value_t = 3)]
    attempts: usize,
    /// How many scenarios to send at once.
    #[arg(long, value_name = "N", default_value_t = 1)]
    jobs: usize,
    /// How long to wait from one request to the next.
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "0s")]
    delay: Duration,
    /// Let warnings fail, too.
    #[arg(long, requires = "target")]
    strict: bool,
    /// Keep every exchange, and what came of it, in this folder.
    #[arg(long, value_name = "DIR", requires = "target")]
    out: Option<PathBuf>,
}

impl LiveArgs {
    /// Runs the suite against the endpoint.
    pub(super) fn run(
        &self,
        base: &str,
        dialect: &'static Dialect,
        select: &SelectArgs,
        arguments: &Arguments,
    ) -> Result<ExitCode> {
        let rules = select.rules(dialect)?;
        let cases = live::cases(dialect, &rules, &self.offer()?);
        let is_due = |case: &live::Case, about: &About| {
            !arguments.is_filtered_out(&Trial::test(case.trial(*about), || Ok(())))
        };
        let wanted = cases.iter().map(|case| case.trials.iter().any(|about| is_due(case, about))).collect();
        let mut plan = Plan {
            cases,
            wanted,
            model: self.to.model.clone(),
            attempts: self.attempts.max(1),
            jobs: self.jobs,
            delay: self.delay,
            least: if self.strict { Level::Should } else { Level::Must },
        };
        plan.complete();
        let due: Vec<(usize, About)> = (plan.cases.iter().enumerate())
            .flat_map(|(at, case)| case.trials.iter().map(move |about| (at, *about)))
            .filter(|(at, about)| plan.cases.get(*at).is_some_and(|case| is_due(case, about)))
            .collect();
        if arguments.list {
            let names = due.iter().filter_map(|(at, about)| Some(plan.cases.get(*at)?.trial(*about)));
            let trials = names.map(|name| Trial::test(name, || Ok(()))).collect();
            return Ok(run_quietly(arguments, trials).map_or(ExitCode::from(NOT_DONE), |_| ExitCode::SUCCESS));
        }
        let (client, runtime, signal) = self.to.client(self.to.target(base)?)?;
        let mut file = self.run_file(&client, dialect, select);
        let evidence = self.evidence(&file)?;
        announce(&plan, &file.target);
        let live = Arc::new(Live::new(plan, rules.clone(), client, runtime, evidence.clone()));
        live.start();
        let trials = due.iter().map(|(at, about)| trial(&live, *at, *about)).collect();
        let conclusion = run_quietly(arguments, trials);
        let is_interrupted = *signal.borrow();
        file.state = if is_interrupted { State::Interrupted } else { State::Finished };
        if is_interrupted {
            let sent = live.sent().map(|(case, _)| &case.name).collect::<BTreeSet<_>>().len();
            tell(&format!("interrupted after {sent} of {}", counted(live.plan.requests())));
        }
        file.trials = due.iter().map(|(at, about)| told(&live, *at, *about)).collect();
        if let Some(evidence) = evidence {
            keep(&evidence, &mut file, &live, dialect, rules).with_context(|| self.folder())?;
            tell(&format!("evidence: {0}; `conformance verify {0}` judges it again", self.folder()));
        }
        let is_broken = file.trials.iter().any(|told| told.judged.verdict == Verdict::HarnessError);
        Ok(match conclusion {
            None => ExitCode::from(NOT_DONE),
            Some(_) if is_broken || is_interrupted => ExitCode::from(NOT_DONE),
            Some(conclusion) if conclusion.has_failed() => ExitCode::from(1),
            Some(_) => ExitCode::SUCCESS,
        })
    }

    fn offer(&self) -> Result<Offer> {
        let Some(features) = self.features.clone() else { return Ok(Offer::All) };
        let known: BTreeSet<&str> =
            SCENARIOS.iter().flat_map(|scenario| scenario.features).copied().collect();
        for feature in features.iter().filter(|feature| !feature.is_empty()) {
            if !known.contains(feature.as_str()) {
                let hint = names::meant(feature, known.iter().copied());
                let all = known.iter().copied().collect::<Vec<_>>().join(", ");
                bail!("there is no feature \"{feature}\"{hint}; there are: {all}");
            }
        }
        Ok(Offer::Only(features))
    }

    fn folder(&self) -> String {
        self.out.as_ref().map(|folder| folder.display().to_string()).unwrap_or_default()
    }

    fn evidence(&self, file: &RunFile) -> Result<Option<Evidence>> {
        let Some(folder) = &self.out else { return Ok(None) };
        let evidence = Evidence::create(folder).with_context(|| self.folder())?;
        evidence.write_run(file).with_context(|| self.folder())?;
        Ok(Some(evidence))
    }

    fn run_file(&self, client: &Client, dialect: &Dialect, select: &SelectArgs) -> RunFile {
        let limits = client.limits();
        RunFile {
            version: live::VERSION,
            suite: env!("CARGO_PKG_VERSION").to_owned(),
            dialect: dialect.name.to_owned(),
            target: Recorder::new().url(client.target().url().as_str()),
            model: self.to.model.clone(),
            options: Options {
                features: self.features.clone(),
                select: select.select.clone(),
                ignore: select.ignore.clone(),
                strict: self.strict,
                attempts: self.attempts,
                jobs: self.jobs,
                delay_ms: self.delay.as_millis(),
                connect_ms: limits.connect.as_millis(),
                first_event_ms: limits.first_event.as_millis(),
                idle_ms: limits.idle.as_millis(),
                total_ms: limits.total.as_millis(),
                bytes: limits.bytes,
            },
            state: State::Begun,
            report: None,
            exchanges: Vec::new(),
            trials: Vec::new(),
        }
    }
}

/// Says on stderr what will be sent.
fn announce(plan: &Plan, target: &str) {
    let again = if plan.attempts > 1 {
        format!("; up to {} times each where an answer does not bring what it is asked for", plan.attempts)
    } else {
        String::new()
    };
    tell(&format!("{} will be sent to {target}{again}", counted(plan.requests())));
}

fn counted(requests: usize) -> String {
    format!("{requests} request{}", if requests == 1 { "" } else { "s" })
}

fn tell(text: &str) {
    // Nobody is left to tell when stderr is gone.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

fn trial(live: &Arc<Live>, at: usize, about: About) -> Trial {
    let name = live.plan.cases.get(at).map(|case| case.trial(about)).unwrap_or_default();
    let live = Arc::clone(live);
    Trial::ignorable_test(name, move || {
        let judged = live.judge(at, about);
        match judged.verdict {
            Verdict::Pass => Ok(Completion::Completed),
            Verdict::NotExercised => Ok(Completion::ignored_with(judged.reason)),
            Verdict::HarnessError => Err(format!("harness error: {}", judged.reason).into()),
            Verdict::Fail => Err(in_full(&live, at, about).unwrap_or_else(|| judged.reason.into())),
        }
    })
}

/// All that a trial found.
fn in_full(live: &Live, at: usize, about: About) -> Option<Failed> {
    let Done::Sent(attempts) = live.wait(at) else { return None };
    let case = live.plan.cases.get(at)?;
    let mut text = String::new();
    for attempt in attempts {
        for located in attempt.findings(case, about, live.plan.least) {
            text += &diagnostic(&attempt.report.name, located, Style::Plain);
            text.push('\n');
        }
    }
    (!text.is_empty()).then(|| text.into())
}

fn told(live: &Live, at: usize, about: About) -> Told {
    let name = live.plan.cases.get(at).map(|case| case.trial(about)).unwrap_or_default();
    Told { name, judged: live.judge(at, about) }
}

/// Writes what came of a run beside its exchanges.
fn keep(
    evidence: &Evidence,
    file: &mut RunFile,
    live: &Live,
    dialect: &'static Dialect,
    rules: Rules,
) -> io::Result<()> {
    file.exchanges = (live.sent())
        .map(|(case, attempt)| Kept {
            file: attempt.report.name.clone(),
            case: case.name.clone(),
            sha256: attempt.sha256.clone(),
        })
        .collect();
    let captures = live.sent().map(|(_, attempt)| attempt.report.clone()).collect();
    file.report = Some(evidence.write_report(&report::json(&Run { dialect, rules, captures }))?);
    evidence.write_run(file)
}

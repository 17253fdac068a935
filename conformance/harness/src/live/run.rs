//! Sends cases, sequentially or concurrently.

use std::fs::File;
use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{self, Arc, OnceLock};
use std::thread::Builder;
use std::time::Duration;

use futures_util::future::join_all;
use spec::table::Operation;
use tokio::runtime::Runtime;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::models::models;
use super::plan::RunPlan;
use crate::evidence::Evidence;
use crate::judge::{Attempt, GivenUp, Reach, Reading, answer, verdict};
use crate::lock;
use crate::plan::{About, PreviousResponse, RequestContext, ScenarioCase};
use crate::wire::{Client, Conversation, Outcome, time};
use checker::Rules;
use results::{Judgement, Obstacle, Options, UndecidedKind, Verdict};

/// The outcome of a case.
#[derive(Debug)]
pub enum CaseOutcome {
    /// The case was sent.
    Sent(Vec<Attempt>),
    /// The case was skipped, with this verdict.
    Skipped(Judgement),
    /// The evidence could not be written or read.
    Broken(String),
}

impl CaseOutcome {
    fn skipped(reason: impl Into<String>) -> Self {
        Self::Skipped(Judgement::new(Verdict::NotExercised, reason))
    }
}

/// A run against an endpoint.
#[derive(Debug)]
pub struct Live {
    /// The cases, and how to send them.
    pub plan: RunPlan,
    pub(crate) rules: Rules,
    /// The rules that decide trials, and those that only are counted.
    judged: Rules,
    client: Client,
    runtime: Arc<Runtime>,
    evidence: Option<Evidence>,
    done: Vec<OnceLock<CaseOutcome>>,
    next: AtomicUsize,
    reach: sync::Mutex<Reach>,
    /// The reason why sending stopped.
    stopped: OnceLock<String>,
    pause: Mutex<Instant>,
    begun: Instant,
    recorded: AtomicU64,
}

impl Live {
    /// Creates a run without starting it.
    pub fn new(
        plan: RunPlan,
        [rules, judged]: [Rules; 2],
        client: Client,
        runtime: Arc<Runtime>,
        evidence: Option<Evidence>,
    ) -> Self {
        let done = plan.cases.iter().map(|_| OnceLock::new()).collect();
        let begun = Instant::now();
        let client =
            client.ending_at(plan.options.max_total_ms.and_then(|most| begun.checked_add(time(most))));
        let pause = Mutex::new(begun);
        Self {
            plan,
            rules,
            judged,
            client,
            runtime,
            evidence,
            done,
            next: AtomicUsize::new(0),
            reach: sync::Mutex::default(),
            stopped: OnceLock::new(),
            pause,
            begun,
            recorded: AtomicU64::new(0),
        }
    }

    fn deadline(&self) -> Instant {
        Instant::now() + self.client.limits().total
    }

    /// The exceeded limit, after which nothing more may be sent.
    fn exhausted(&self) -> Option<&'static str> {
        let Options { max_total_bytes, max_total_ms, .. } = &self.plan.options;
        if max_total_bytes.is_some_and(|most| self.recorded.load(Ordering::Relaxed) >= most) {
            return Some("not sent: the run reached --max-total-bytes");
        }
        let is_over = max_total_ms.is_some_and(|most| self.begun.elapsed().as_millis() >= most);
        is_over.then_some("not sent: the run reached --max-total-time")
    }

    /// Starts sending in other threads: one for each job, or as many as the system allows.
    ///
    /// # Errors
    ///
    /// If it allows none.
    pub fn start(self: &Arc<Self>) -> io::Result<()> {
        for number in 0..self.plan.options.jobs.clamp(1, self.plan.cases.len().max(1)) {
            let live = Arc::clone(self);
            match Builder::new().spawn(move || live.work()) {
                Ok(_) => {}
                Err(error) if number == 0 => return Err(error),
                Err(_) => break,
            }
        }
        Ok(())
    }

    /// A case is taken after the one that it continues, so waiting for that one cannot deadlock.
    fn work(&self) {
        loop {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            let Some((case, slot)) = self.plan.cases.get(at).zip(self.done.get(at)) else { return };
            let is_wanted = self.plan.wanted.get(at) == Some(&true);
            let send =
                || if is_wanted { self.case(case) } else { CaseOutcome::skipped("it was not selected") };
            // Other threads wait for the outcome, even if this panics.
            let done = panic::catch_unwind(AssertUnwindSafe(send));
            let _ =
                slot.set(done.unwrap_or_else(|_| {
                    CaseOutcome::Broken("the harness failed; please report it".to_owned())
                }));
        }
    }

    /// Waits for the outcome of a case.
    pub fn wait(&self, case: usize) -> &CaseOutcome {
        static NONE: CaseOutcome = CaseOutcome::Skipped(Judgement {
            verdict: Verdict::NotExercised,
            reason: String::new(),
            kind: UndecidedKind::Other,
            detail: String::new(),
        });
        self.done.get(case).map_or(&NONE, OnceLock::wait)
    }

    /// Returns the attempts of a case, after waiting for its outcome.
    pub fn attempts_of(&self, case: usize) -> &[Attempt] {
        match self.wait(case) {
            CaseOutcome::Sent(attempts) => attempts,
            CaseOutcome::Skipped(..) | CaseOutcome::Broken(_) => &[],
        }
    }

    /// Returns the judgement of a trial, without secrets.
    pub fn judge(&self, case: usize, about: About) -> Judgement {
        let judged = self.judgement(case, about);
        Judgement { reason: self.masked(&judged.reason), ..judged }
    }

    fn judgement(&self, case: usize, about: About) -> Judgement {
        let Some(of) = self.plan.cases.get(case) else { return Judgement::new(Verdict::NotExercised, "") };
        match self.wait(case) {
            CaseOutcome::Sent(attempts) => {
                let compared = of.compared.filter(|_| about == About::Agrees);
                let compared = compared.and_then(|at| match self.wait(at) {
                    CaseOutcome::Sent(attempts) => attempts.last(),
                    _ => None,
                });
                verdict(of, about, attempts, compared, self.plan.options.fail_on(), &self.rules)
            }
            CaseOutcome::Skipped(judged) => judged.clone(),
            CaseOutcome::Broken(reason) => Judgement::new(Verdict::HarnessError, reason),
        }
    }

    pub(crate) fn masked(&self, text: &str) -> String {
        self.client.target().masked(text)
    }

    /// Returns the attempts recorded so far, by case.
    pub fn sent(&self) -> impl Iterator<Item = (&ScenarioCase, &Attempt)> {
        let cases = self.plan.cases.iter().zip(&self.done);
        cases.flat_map(|(case, done)| match done.get() {
            Some(CaseOutcome::Sent(attempts)) => attempts.iter().map(|attempt| (case, attempt)).collect(),
            _ => Vec::new(),
        })
    }

    /// Stops sending for this reason. Requests in flight are completed.
    pub fn stop(&self, reason: String) {
        // The first reason wins.
        let _ = self.stopped.set(reason);
    }

    /// The number of finished cases and of all selected cases.
    pub fn progress(&self) -> (usize, usize) {
        let wanted = || {
            let cases = self.plan.cases.iter().zip(&self.plan.wanted).zip(&self.done);
            cases.filter(|((case, wanted), _)| **wanted && case.unfit.is_none())
        };
        (wanted().filter(|(_, done)| done.get().is_some()).count(), wanted().count())
    }

    /// Returns why the endpoint was given up, and after how many requests, if it was.
    pub fn given_up(&self) -> Option<GivenUp> {
        lock(&self.reach).given_up().cloned()
    }

    /// Returns what kept the run from testing the endpoint, if anything did.
    pub fn obstacle(&self) -> Option<Obstacle> {
        lock(&self.reach).obstacle()
    }

    /// If the endpoint does not have the requested model, the reason lists its models.
    fn advise(&self) {
        let is_due = |given_up: GivenUp| given_up.obstacle.class == UndecidedKind::Model;
        if !self.given_up().is_some_and(is_due) {
            return;
        }
        if let Ok(listed) = self.runtime.block_on(models(&self.client, &self.rules)) {
            let count = listed.0.len();
            let models = if count == 1 { "model" } else { "models" };
            let advice =
                format!("choose one of the {count} {models} that GET /models lists with --model: {listed}");
            lock(&self.reach).advise(self.client.target().masked(&advice));
        }
    }

    fn case(&self, case: &ScenarioCase) -> CaseOutcome {
        if let Some(unfit) = &case.unfit {
            return CaseOutcome::Skipped(unfit.clone());
        }
        if let Some(given_up) = self.given_up() {
            return CaseOutcome::skipped(format!("not sent: {}", given_up.obstacle.title()));
        }
        if let Some(reason) = self.exhausted() {
            return CaseOutcome::skipped(reason);
        }
        if let Some(reason) = self.stopped.get() {
            return CaseOutcome::skipped(reason.clone());
        }
        match self.before(case) {
            Ok(before) => {
                let done = self.runtime.block_on(self.attempts(case, before.as_ref()));
                if let CaseOutcome::Sent(attempts) = &done
                    && let Some(last) = attempts.last()
                {
                    lock(&self.reach).end_case(case, last);
                }
                self.advise();
                done
            }
            Err(reason) => CaseOutcome::skipped(reason),
        }
    }

    /// The response that a case continues or refers to, or why there is none.
    fn before(&self, case: &ScenarioCase) -> Result<Option<PreviousResponse>, String> {
        let Some(at) = case.previous else { return Ok(None) };
        let judged = self.judge(at, About::Answer);
        let name = self.plan.cases.get(at).map(|case| case.trial(About::Answer)).unwrap_or_default();
        let facts = match self.wait(at) {
            CaseOutcome::Sent(sent) if judged.verdict == Verdict::Pass => sent.last().map(|last| &last.facts),
            _ => return Err(format!("the response it continues is missing: see {name}")),
        };
        let before = facts.and_then(|facts| facts.previous(case.api));
        before.map(Some).ok_or_else(|| format!("the response it continues has no id: see {name}"))
    }

    async fn attempts(&self, case: &ScenarioCase, before: Option<&PreviousResponse>) -> CaseOutcome {
        if case.is_marked() && self.plan.options.concurrent > 1 {
            return self.crowd(case, before).await;
        }
        let is_polled = case.scenario.operation == Operation::Poll;
        let (mut sent, mut tries, mut refusals) = (Vec::new(), 1, 0);
        let mut deadline = self.deadline();
        loop {
            let goes_on = self.turn().await;
            let interrupted = (!goes_on).then_some("the run was interrupted");
            if let Some(reason) = self.exhausted().or(interrupted) {
                return if sent.is_empty() { CaseOutcome::skipped(reason) } else { CaseOutcome::Sent(sent) };
            }
            let number = sent.len() + 1;
            let suffix = if number == 1 { String::new() } else { format!(".{number}") };
            let file = format!("exchanges/{}{suffix}.exchange", case.name);
            let outcome = match self.exchange(&file, case, before, 1, deadline).await {
                Ok((outcome, attempt)) => {
                    sent.push(attempt);
                    outcome
                }
                Err(problem) => return CaseOutcome::Broken(format!("{file}: {problem}")),
            };
            let is_busy = sent.last().is_some_and(|attempt| is_busy(attempt, case));
            if let Some(until) = ask_again(outcome, deadline, refusals).filter(|_| is_busy) {
                refusals += 1;
                if self.client.wait(until).await {
                    continue;
                }
                return CaseOutcome::Sent(sent);
            }
            let verdict = answer(case, &sent, self.rules.dialect()).verdict;
            let is_missed = verdict == Verdict::NotExercised;
            if is_polled && is_missed {
                if Instant::now() + POLLED < deadline && self.client.wait(Instant::now() + POLLED).await {
                    continue;
                }
                return CaseOutcome::Sent(sent);
            }
            let is_silent = || {
                let says = |words: &String| sent.iter().any(|attempt| attempt.facts.says(words));
                verdict == Verdict::Pass && case.says.as_ref().is_some_and(|words| !says(words))
            };
            if !(is_missed || is_silent()) || tries >= self.plan.options.attempts {
                return CaseOutcome::Sent(sent);
            }
            (tries, refusals) = (tries + 1, 0);
            deadline = self.deadline();
        }
    }

    /// Each concurrent request has a unique mark.
    async fn crowd(&self, case: &ScenarioCase, before: Option<&PreviousResponse>) -> CaseOutcome {
        if !self.turn().await {
            return CaseOutcome::skipped(self.exhausted().unwrap_or("the run was interrupted"));
        }
        let deadline = self.deadline();
        let files: Vec<String> = (1..=self.plan.options.concurrent)
            .map(|number| format!("exchanges/{}.{number}.exchange", case.name))
            .collect();
        let exchanges = (files.iter().zip(1..)).map(|(file, number)| async move {
            let sent = self.exchange(file, case, before, number, deadline).await;
            sent.map(|(_, attempt)| attempt).map_err(|problem| format!("{file}: {problem}"))
        });
        join_all(exchanges)
            .await
            .into_iter()
            .collect::<Result<_, _>>()
            .map_or_else(CaseOutcome::Broken, CaseOutcome::Sent)
    }

    /// False if the run ends meanwhile.
    async fn turn(&self) -> bool {
        let mut pause = self.pause.lock().await;
        let goes_on = self.client.wait(*pause).await;
        *pause = Instant::now() + time(self.plan.options.delay_ms);
        goes_on
    }

    fn kept(&self) -> Option<&Evidence> {
        self.evidence.as_ref().and_then(Evidence::kept)
    }

    pub(crate) const fn recordings(&self) -> Option<&Evidence> {
        self.evidence.as_ref()
    }

    fn reading(&self, case: &ScenarioCase) -> Reading {
        let mut reading = Reading::new(&self.judged, self.kept().is_some());
        if case.is_part() {
            reading = reading.keeping();
        }
        if self.plan.shapes {
            reading = reading.tracing();
        }
        reading
    }

    async fn exchange(
        &self,
        file: &str,
        case: &ScenarioCase,
        before: Option<&PreviousResponse>,
        number: usize,
        by: Instant,
    ) -> Result<(Outcome, Attempt), String> {
        let begin = |evidence: &Evidence| evidence.begin(file);
        let mut file_of = self.evidence.as_ref().map(begin).transpose().map_err(|error| error.to_string())?;
        let mut reading = self.reading(case).watching(self.client.target().secrets());
        let mut written = Ok(());
        let mut keep = |line: &str| {
            self.recorded.fetch_add(line.len() as u64, Ordering::Relaxed);
            reading.push(line.as_bytes());
            if written.is_ok() {
                written = write(file_of.as_mut(), line);
            }
        };
        let context = RequestContext {
            model: &self.plan.model,
            given: &self.plan.given,
            number,
            seed: &self.plan.seed,
        };
        let outcome = if case.turns.is_empty() {
            self.client.send(&case.call(&context, before), by, &mut keep).await
        } else {
            let conversation =
                Conversation { turns: &case.turns, context, before, dialect: self.rules.dialect() };
            self.client.talk(&conversation, by, &mut keep).await
        };
        written.map_err(|error| error.to_string())?;
        drop(file_of);
        if reading.has_spread_secret()
            && let Some(evidence) = &self.evidence
        {
            let hidden = evidence.hide(file, self.client.target()).map_err(|error| error.to_string())?;
            reading = self.reading(case);
            reading.push(hidden.as_bytes());
        }
        let mut attempt = reading.finish(file)?.deciding_by(&self.rules);
        attempt.report = self.client.target().masked_report(attempt.report);
        attempt.report.folder = self.kept().map(|evidence| evidence.folder().into());
        lock(&self.reach).add(case, &mut attempt);
        Ok((outcome, attempt))
    }
}

/// Delay between polls of a background response.
const POLLED: Duration = Duration::from_millis(200);

fn write(file: Option<&mut File>, line: &str) -> io::Result<()> {
    file.map_or(Ok(()), |file| file.write_all(line.as_bytes()))
}

/// Maximum number of retries when the endpoint is busy.
const RETRIES: u32 = 4;
/// Minimum delay before the first retry; it doubles with each retry.
const PAUSE: Duration = Duration::from_millis(100);

/// Some cases expect a busy endpoint.
fn is_busy(attempt: &Attempt, case: &ScenarioCase) -> bool {
    let is_refused =
        |obstacle: Obstacle| matches!(obstacle.class, UndecidedKind::Rate | UndecidedKind::Overload);
    attempt.obstacle(case).is_some_and(is_refused)
}

/// The time of the next try, if that is before the deadline and retries are left.
fn ask_again(outcome: Outcome, deadline: Instant, refusals: u32) -> Option<Instant> {
    let pause = PAUSE * 2_u32.pow(refusals.min(RETRIES));
    let until = Instant::now().checked_add(outcome.retry_after?.max(pause))?;
    (refusals < RETRIES && until < deadline).then_some(until)
}

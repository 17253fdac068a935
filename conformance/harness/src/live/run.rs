//! Sends cases, one after the other or several at once.

use std::fs::File;
use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use catalogue::Level;
use futures_util::future::join_all;
use spec::table::Operation;
use tokio::runtime::Runtime;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::attempt::{Attempt, Reading};
use super::call::{Asked, Before, Given};
use super::case::{About, Case};
use super::client::{Client, Outcome};
use super::evidence::Evidence;
use super::facts::Facts;
use super::socket::Script;
use super::verdict::{answer, judge};
use checker::Rules;
use results::{Judged, Verdict};

/// What is sent, and how.
#[derive(Debug)]
pub struct Plan {
    /// All cases: what is continued comes before what continues it.
    pub cases: Vec<Case>,
    /// Which of them are wanted, by their places.
    pub wanted: Vec<bool>,
    /// The model to ask for.
    pub model: String,
    /// What only the owner of the endpoint can name.
    pub given: Given,
    /// How often to send a case that does not bring what it is there for.
    pub attempts: usize,
    /// How many to send at once.
    pub jobs: usize,
    /// How many requests to send at once of the cases that are about that.
    pub concurrent: usize,
    /// How long to wait from one request to the next.
    pub delay: Duration,
    /// How binding a rule must be to fail a trial.
    pub least: Level,
    /// Whether the shapes of streams are wanted.
    pub shapes: bool,
}

impl Plan {
    /// Wants what others continue or are compared with, too.
    pub fn complete(&mut self) {
        for at in (0..self.cases.len()).rev() {
            let is_sent = self.wanted.get(at) == Some(&true) && self.cases[at].unfit.is_none();
            let Case { previous, compared, .. } = &self.cases[at];
            for needed in previous.iter().chain(compared).filter(|_| is_sent) {
                self.wanted[*needed] = true;
            }
        }
    }

    /// Whether one of them is asked for again until it is finished: nobody knows how often.
    pub fn polls(&self) -> bool {
        let due = self.cases.iter().zip(&self.wanted).filter(|(_, wanted)| **wanted);
        due.map(|(case, _)| case)
            .any(|case| case.unfit.is_none() && case.scenario.operation == Operation::Poll)
    }

    /// How many requests are sent, when every case that is sent needs no second try.
    pub fn requests(&self) -> usize {
        let due =
            self.cases.iter().zip(&self.wanted).filter(|(case, wanted)| **wanted && case.unfit.is_none());
        due.map(|(case, _)| if case.is_marked() { self.concurrent.max(1) } else { case.requests() }).sum()
    }
}

/// Whether the endpoint can be reached at all.
#[derive(Debug, Default)]
struct Reach {
    is_reached: AtomicBool,
    failed: AtomicUsize,
}

/// So many requests are sent at least before an endpoint is given up.
const TRIES: usize = 3;

/// Why nothing more was sent.
const NOT_SENT: &str = "not sent, as no request before it found a connection";

impl Reach {
    fn add(&self, facts: &Facts) {
        if facts.is_unconnected() {
            self.failed.fetch_add(1, Ordering::Relaxed);
        } else {
            self.is_reached.store(true, Ordering::Relaxed);
        }
    }

    /// After how many requests.
    fn given_up(&self) -> Option<usize> {
        let failed = self.failed.load(Ordering::Relaxed);
        (failed >= TRIES && !self.is_reached.load(Ordering::Relaxed)).then_some(failed)
    }
}

/// What came of a case.
#[derive(Debug)]
pub enum Done {
    /// It was sent.
    Sent(Vec<Attempt>),
    /// It was not, for this reason.
    Skipped(String),
    /// The evidence could not be kept or read.
    Broken(String),
}

/// A run against an endpoint.
#[derive(Debug)]
pub struct Live {
    /// What is sent.
    pub plan: Plan,
    rules: Rules,
    client: Client,
    runtime: Arc<Runtime>,
    evidence: Option<Evidence>,
    done: Vec<OnceLock<Done>>,
    next: AtomicUsize,
    reach: Reach,
    /// When the next request may be sent.
    pause: Mutex<Instant>,
}

impl Live {
    /// A run that is yet to start.
    pub fn new(
        plan: Plan,
        rules: Rules,
        client: Client,
        runtime: Arc<Runtime>,
        evidence: Option<Evidence>,
    ) -> Self {
        let done = plan.cases.iter().map(|_| OnceLock::new()).collect();
        let pause = Mutex::new(Instant::now());
        Self {
            plan,
            rules,
            client,
            runtime,
            evidence,
            done,
            next: AtomicUsize::new(0),
            reach: Reach::default(),
            pause,
        }
    }

    /// Begins to send, beside the thread that calls.
    pub fn start(self: &Arc<Self>) {
        for _ in 0..self.plan.jobs.max(1) {
            let live = Arc::clone(self);
            thread::spawn(move || live.work());
        }
    }

    /// Takes cases until there are none. What a case continues was taken before it, so it gets done.
    fn work(&self) {
        loop {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            let Some((case, slot)) = self.plan.cases.get(at).zip(self.done.get(at)) else { return };
            let is_wanted = self.plan.wanted.get(at) == Some(&true);
            let send =
                || if is_wanted { self.case(case) } else { Done::Skipped("it is not wanted".to_owned()) };
            // Others wait for it, whatever happens.
            let done = panic::catch_unwind(AssertUnwindSafe(send));
            let _ = slot.set(
                done.unwrap_or_else(|_| Done::Broken("the harness failed; please report it".to_owned())),
            );
        }
    }

    /// What came of a case, once it is known.
    pub fn wait(&self, case: usize) -> &Done {
        const NONE: &Done = &Done::Skipped(String::new());
        self.done.get(case).map_or(NONE, OnceLock::wait)
    }

    /// What was recorded of a case, once it is known.
    pub fn attempts_of(&self, case: usize) -> &[Attempt] {
        match self.wait(case) {
            Done::Sent(attempts) => attempts,
            Done::Skipped(_) | Done::Broken(_) => &[],
        }
    }

    /// What a trial comes to, without secrets.
    pub fn judge(&self, case: usize, about: About) -> Judged {
        let judged = self.judgement(case, about);
        Judged { reason: self.client.target().masked(&judged.reason), ..judged }
    }

    fn judgement(&self, case: usize, about: About) -> Judged {
        let Some(of) = self.plan.cases.get(case) else { return Judged::new(Verdict::NotExercised, "") };
        match self.wait(case) {
            Done::Sent(attempts) => {
                let compared = of.compared.filter(|_| about == About::Agrees);
                let compared = compared.and_then(|at| match self.wait(at) {
                    Done::Sent(attempts) => attempts.last(),
                    _ => None,
                });
                judge(of, about, attempts, compared, self.plan.least, &self.rules)
            }
            Done::Skipped(reason) => Judged::new(Verdict::NotExercised, reason),
            Done::Broken(reason) => Judged::new(Verdict::HarnessError, reason),
        }
    }

    /// The attempts that were recorded so far, by case.
    pub fn sent(&self) -> impl Iterator<Item = (&Case, &Attempt)> {
        let cases = self.plan.cases.iter().zip(&self.done);
        cases.flat_map(|(case, done)| match done.get() {
            Some(Done::Sent(attempts)) => attempts.iter().map(|attempt| (case, attempt)).collect(),
            _ => Vec::new(),
        })
    }

    /// After how many requests it was given up, as none found a connection.
    pub fn given_up(&self) -> Option<usize> {
        self.reach.given_up()
    }

    fn case(&self, case: &Case) -> Done {
        if let Some(reason) = &case.unfit {
            return Done::Skipped(reason.clone());
        }
        if self.reach.given_up().is_some() {
            return Done::Skipped(NOT_SENT.to_owned());
        }
        match self.before(case) {
            Ok(before) => self.runtime.block_on(self.attempts(case, before.as_ref())),
            Err(reason) => Done::Skipped(reason),
        }
    }

    /// The response that a case continues or is about, or why there is none.
    fn before(&self, case: &Case) -> Result<Option<Before>, String> {
        let Some(at) = case.previous else { return Ok(None) };
        let judged = self.judge(at, About::Answer);
        let name = self.plan.cases.get(at).map(|case| case.trial(About::Answer)).unwrap_or_default();
        let facts = match self.wait(at) {
            Done::Sent(sent) if judged.verdict == Verdict::Pass => sent.last().map(|last| &last.facts),
            _ => return Err(format!("what it continues did not come: see {name}")),
        };
        let id = facts.and_then(|facts| facts.response_id.clone()).filter(|id| is_usable(id));
        let id = id.ok_or_else(|| format!("what it continues has no id: see {name}"))?;
        Ok(facts.map(|facts| Before {
            id,
            output: facts.output(),
            last_number: facts.numbers.map(|(_, last)| last),
        }))
    }

    async fn attempts(&self, case: &Case, before: Option<&Before>) -> Done {
        if case.is_marked() && self.plan.concurrent > 1 {
            return self.crowd(case, before).await;
        }
        let is_polled = case.scenario.operation == Operation::Poll;
        let by = |start: Instant| start + self.client.limits().total;
        let (mut sent, mut tries) = (Vec::new(), 1);
        let mut deadline = by(Instant::now());
        loop {
            if !self.turn().await {
                return if sent.is_empty() {
                    Done::Skipped("the run was interrupted".to_owned())
                } else {
                    Done::Sent(sent)
                };
            }
            let number = sent.len() + 1;
            let suffix = if number == 1 { String::new() } else { format!(".{number}") };
            let file = format!("exchanges/{}{suffix}.exchange", case.name);
            let outcome = match self.exchange(&file, case, before, 1, deadline).await {
                Ok((outcome, attempt)) => {
                    sent.push(attempt);
                    outcome
                }
                Err(problem) => return Done::Broken(format!("{file}: {problem}")),
            };
            if let Some(until) = ask_again(outcome, case, deadline) {
                if self.client.wait(until).await {
                    continue;
                }
                return Done::Sent(sent);
            }
            let is_missed = answer(case, &sent, self.rules.dialect()).verdict == Verdict::NotExercised;
            if is_polled && is_missed {
                if Instant::now() + POLLED < deadline && self.client.wait(Instant::now() + POLLED).await {
                    continue;
                }
                return Done::Sent(sent);
            }
            let is_silent = || {
                let says = |words| sent.iter().any(|attempt| attempt.facts.says(words));
                case.scenario.says.is_some_and(|words| !says(words))
            };
            if !(is_missed || is_silent()) || tries >= self.plan.attempts {
                return Done::Sent(sent);
            }
            tries += 1;
            deadline = by(Instant::now());
        }
    }

    /// Sends a case many times at once, each time with a mark of its own.
    async fn crowd(&self, case: &Case, before: Option<&Before>) -> Done {
        if !self.turn().await {
            return Done::Skipped("the run was interrupted".to_owned());
        }
        let deadline = Instant::now() + self.client.limits().total;
        let files: Vec<String> = (1..=self.plan.concurrent)
            .map(|number| format!("exchanges/{}.{number}.exchange", case.name))
            .collect();
        let exchanges = (files.iter().zip(1..)).map(|(file, number)| async move {
            let sent = self.exchange(file, case, before, number, deadline).await;
            sent.map(|(_, attempt)| attempt).map_err(|problem| format!("{file}: {problem}"))
        });
        join_all(exchanges).await.into_iter().collect::<Result<_, _>>().map_or_else(Done::Broken, Done::Sent)
    }

    /// Waits until the next request may be sent; whether the run goes on.
    async fn turn(&self) -> bool {
        let mut pause = self.pause.lock().await;
        let goes_on = self.client.wait(*pause).await;
        *pause = Instant::now() + self.plan.delay;
        goes_on
    }

    /// What reads an exchange of a case.
    fn reading(&self, case: &Case) -> Reading<'_> {
        let mut reading = Reading::new(&self.rules, self.evidence.is_some());
        if case.is_part() {
            reading = reading.keeping();
        }
        if self.plan.shapes {
            reading = reading.tracing(self.rules.dialect());
        }
        reading
    }

    async fn exchange(
        &self,
        file: &str,
        case: &Case,
        before: Option<&Before>,
        number: usize,
        by: Instant,
    ) -> Result<(Outcome, Attempt), String> {
        let begin = |evidence: &Evidence| evidence.begin(file);
        let mut file_of = self.evidence.as_ref().map(begin).transpose().map_err(|error| error.to_string())?;
        let mut reading = self.reading(case).watching(self.client.target().secrets());
        let mut written = Ok(());
        let mut keep = |line: &str| {
            reading.push(line.as_bytes());
            if written.is_ok() {
                written = write(file_of.as_mut(), line);
            }
        };
        let asked = Asked { model: &self.plan.model, given: &self.plan.given, number };
        let outcome = if case.turns.is_empty() {
            self.client.send(&case.call(&asked, before), by, &mut keep).await
        } else {
            let script = Script { turns: &case.turns, asked, before, dialect: self.rules.dialect() };
            self.client.talk(&script, by, &mut keep).await
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
        let mut attempt = reading.finish(file)?;
        attempt.report = self.client.target().masked_report(attempt.report);
        attempt.report.folder = self.evidence.as_ref().map(|evidence| evidence.folder().into());
        self.reach.add(&attempt.facts);
        Ok((outcome, attempt))
    }
}

/// So long a response in the background is left alone.
const POLLED: Duration = Duration::from_millis(200);

/// Ids come from the endpoint, and go into addresses.
fn is_usable(id: &str) -> bool {
    !id.is_empty() && id.len() <= 4096 && !matches!(id, "." | "..")
}

fn write(file: Option<&mut File>, line: &str) -> io::Result<()> {
    file.map_or(Ok(()), |file| file.write_all(line.as_bytes()))
}

/// When an endpoint that is busy wants to be asked again, if that is soon enough.
fn ask_again(outcome: Outcome, case: &Case, deadline: Instant) -> Option<Instant> {
    let status = outcome.status.filter(|status| matches!(status, 429 | 503))?;
    // At once is as soon as it makes sense.
    let after = outcome.retry_after?.max(Duration::from_millis(100));
    let until = Instant::now() + after;
    (!case.scenario.status.contains(&status) && until < deadline).then_some(until)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_reached_once_is_not_given_up() {
        let nobody =
            Facts { lost: Some("no connection to h:1: connection refused".into()), ..Facts::default() };
        let (never, once) = (Reach::default(), Reach::default());
        once.add(&Facts { status: Some(500), ..Facts::default() });
        for number in 1..=5 {
            never.add(&nobody);
            once.add(&nobody);
            assert_eq!(never.given_up(), (number >= 3).then_some(number));
            assert_eq!(once.given_up(), None);
        }
        // One that hangs up without an answer was there.
        once.add(&Facts { lost: Some("connection closed".into()), ..Facts::default() });
        assert_eq!(once.given_up(), None);
    }
}

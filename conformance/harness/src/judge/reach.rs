//! Whether an endpoint can be tested at all, from what it has answered so far.

use std::collections::BTreeMap;

use super::attempt::Attempt;
use super::obstacle::STOPPED;
use crate::plan::ScenarioCase;
use results::{Obstacle, UndecidedKind};

/// Number of requests without any response after which an endpoint is given up.
const TRIES: usize = 3;
/// Number of consecutive refused scenarios after which an endpoint is given up.
const REFUSALS: usize = 3;

/// A given up endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenUp {
    /// Number of requests sent.
    pub sent: usize,
    /// The reason.
    pub obstacle: Obstacle,
}

#[derive(Debug, Default)]
pub(crate) struct Reach {
    is_answered: bool,
    /// The last case with a connection.
    connected: Option<String>,
    sent: usize,
    /// Number of consecutive requests without any response.
    silent: usize,
    refused: usize,
    /// Number of requests that tested nothing, and what the last one met, unless it hung after others were answered.
    hindered: usize,
    obstacle: Option<Obstacle>,
    given_up: Option<GivenUp>,
}

impl Reach {
    /// The knowledge of earlier exchanges completes this one.
    pub(crate) fn add(&mut self, case: &ScenarioCase, attempt: &mut Attempt) {
        self.sent += 1;
        attempt.place = self.sent;
        attempt.follows_answer = self.is_answered;
        let obstacle = attempt.obstacle(case);
        self.hindered += usize::from(obstacle.is_some());
        if obstacle.is_some() || attempt.facts.is_silent() {
            self.obstacle.clone_from(&obstacle);
        }
        // Before the first answer, a closed connection is no sign of life.
        let is_closed = !self.is_answered && attempt.facts.is_closed();
        if attempt.facts.is_silent() || is_closed {
            self.silent += 1;
        } else {
            self.silent = 0;
            self.connected = Some(case.name.clone());
        }
        if self.silent >= TRIES {
            let reason = attempt.facts.lost.as_ref().map(ToString::to_string).unwrap_or_default();
            let none = || Obstacle::new(UndecidedKind::Network, reason, "check that the endpoint is up");
            let obstacle = obstacle.clone().unwrap_or_else(none);
            self.give_up(self.stopped(obstacle));
        }
        if let Some(obstacle) = obstacle.filter(|_| !self.is_answered).filter(is_decisive) {
            self.give_up(obstacle);
        }
        self.is_answered |= attempt.is_answered(case);
    }

    pub(crate) fn end_case(&mut self, case: &ScenarioCase, last: &Attempt) {
        let Some(obstacle) = last.obstacle(case).filter(is_refusal) else {
            self.refused = 0;
            return;
        };
        self.refused += 1;
        if self.refused >= REFUSALS {
            self.give_up(obstacle);
        }
    }

    pub(crate) const fn given_up(&self) -> Option<&GivenUp> {
        self.given_up.as_ref()
    }

    /// Also the reason why all requests of a short run failed to test the endpoint.
    pub(crate) fn obstacle(&self) -> Option<Obstacle> {
        let given_up = self.given_up.as_ref().map(|given_up| given_up.obstacle.clone());
        given_up
            .or_else(|| self.obstacle.clone().filter(|_| self.hindered == self.sent))
            .or_else(|| self.gone())
    }

    /// The reason why the last requests had no connection, if earlier ones had one.
    fn gone(&self) -> Option<Obstacle> {
        let last = self.obstacle.clone().filter(|_| self.connected.is_some() && self.silent > 0);
        last.filter(|last| last.class == UndecidedKind::Network).map(|last| self.stopped(last))
    }

    pub(crate) fn advise(&mut self, advice: String) {
        if let Some(given_up) = &mut self.given_up {
            given_up.obstacle.advice = advice;
        }
    }

    /// The obstacle names the last case with an answer.
    fn stopped(&self, obstacle: Obstacle) -> Obstacle {
        match &self.connected {
            Some(case) => Obstacle { after: Some(case.clone()), advice: STOPPED.to_owned(), ..obstacle },
            None => obstacle,
        }
    }

    /// The first reason wins.
    fn give_up(&mut self, obstacle: Obstacle) {
        self.given_up.get_or_insert(GivenUp { sent: self.sent, obstacle });
    }
}

/// A single response can show that no other request will be answered.
const fn is_decisive(obstacle: &Obstacle) -> bool {
    use UndecidedKind::{Auth, Model, Path, Quota, Region};
    matches!(obstacle.class, Auth | Model | Path | Quota | Region)
}

/// The endpoint may answer later.
fn is_refusal(obstacle: &Obstacle) -> bool {
    use UndecidedKind::{Network, Overload, Quota, Rate};
    matches!(obstacle.class, Network | Overload | Quota | Rate)
}

/// Exchanges are marked that follow an answered one, in the order of their ends.
pub(crate) fn mark_answered(cases: &[ScenarioCase], attempts: &mut BTreeMap<impl AsRef<str>, Vec<Attempt>>) {
    let of_cases = attempts.iter_mut().flat_map(|(name, attempts)| {
        let case = cases.iter().find(|case| case.name == name.as_ref());
        attempts.iter_mut().filter_map(move |attempt| Some((case?, attempt)))
    });
    let mut all: Vec<_> = of_cases.collect();
    all.sort_by_key(|(_, attempt)| attempt.place);
    let mut is_answered = false;
    for (case, attempt) in all {
        attempt.follows_answer = is_answered;
        is_answered |= attempt.is_answered(case);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Offer, cases};
    use checker::Rules;
    use recordings::capture::Loss;
    use results::Transport;

    fn case() -> ScenarioCase {
        let dialect = spec::dialect("openai").unwrap();
        cases(dialect, &Rules::of(dialect), &Offer::All, &[Transport::Sse]).swap_remove(0)
    }

    fn attempt(status: Option<u16>, lost: Option<Loss<'static>>) -> Attempt {
        let recording = "{\"exchange\":1,\"status\":200,\"headers\":[]}\n{\"at\":1,\"end\":\"closed\"}\n";
        let rules = Rules::of(spec::dialect("openai").unwrap());
        let mut attempt = Attempt::read("a", recording.as_bytes(), &rules, false).unwrap();
        (attempt.facts.status, attempt.facts.lost) = (status, lost);
        attempt
    }

    fn refused() -> Attempt {
        attempt(None, Some(Loss::Unconnected("no connection to h:1: connection refused".into())))
    }

    #[test]
    fn who_never_connects_is_given_up() {
        let (case, mut reach) = (case(), Reach::default());
        for number in 1..=5 {
            reach.add(&case, &mut refused());
            let sent = reach.given_up().map(|given_up| given_up.sent);
            assert_eq!(sent, (number >= 3).then_some(3));
        }
        assert!(reach.given_up().unwrap().obstacle.after.is_none());
    }

    #[test]
    fn who_stops_is_given_up_after_the_last_connection() {
        let (case, mut reach) = (case(), Reach::default());
        reach.add(&case, &mut attempt(Some(200), None));
        reach.add(&case, &mut refused());
        reach.add(&case, &mut refused());
        // It is there again.
        reach.add(&case, &mut attempt(None, Some("connection closed".into())));
        assert!(reach.given_up().is_none() && reach.obstacle().is_none());
        (0..3).for_each(|_| reach.add(&case, &mut refused()));
        let title = reach.given_up().unwrap().obstacle.title();
        assert!(title.starts_with("the endpoint stopped answering after text/hello: "), "{title}");
    }

    #[test]
    fn who_refuses_at_first_is_given_up_at_once() {
        let (case, mut reach) = (case(), Reach::default());
        reach.add(&case, &mut attempt(Some(401), None));
        assert_eq!(reach.given_up().map(|given_up| given_up.obstacle.class), Some(UndecidedKind::Auth));
        // Not so later.
        let mut reach = Reach::default();
        for status in [200, 401, 401, 401, 401] {
            reach.add(&case, &mut attempt(Some(status), None));
        }
        assert!(reach.given_up().is_none());
    }

    #[test]
    fn who_only_refuses_is_given_up() {
        let (case, mut reach) = (case(), Reach::default());
        for (status, is_given_up) in
            [(429, false), (503, false), (200, false), (429, false), (429, false), (529, true)]
        {
            let mut attempt = attempt(Some(status), None);
            reach.add(&case, &mut attempt);
            reach.end_case(&case, &attempt);
            assert_eq!(reach.given_up().is_some(), is_given_up, "{status}");
        }
    }
}

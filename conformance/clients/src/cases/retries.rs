//! Retries: what the first requests of a case get, and how those that follow are judged.

use std::time::{Duration, SystemTime};

use catalogue::{Channel, ClientFailure, ClientRetries, WaitForm};
use gateway::{Act, End, Received, request, respond};
use results::ClientOutcome;
use serde_json::{Value, json};
use spec::{Api, Dialect};

use super::played::{Delivery, Played, Plays, plays};
use crate::journal::{RequestProblem, Sent, attempts, problem};
use crate::protocol::Reply;

/// The time by which a request may come too early, as clocks differ and servers are slow.
const TOLERANCE: Duration = Duration::from_millis(50);
/// The time by which a request may come later than a header asks.
const LATE: Duration = Duration::from_secs(2);
/// The pause of a client that no header asks to wait.
const PAUSE: Duration = Duration::from_secs(2);
/// The time that a client may take besides its pauses.
const SPARE: Duration = Duration::from_secs(1);
/// The header that names a request which may be sent several times.
pub(crate) const REQUEST_KEY: &str = "idempotency-key";

/// How often the client may send the request of a case, and what the first requests get.
#[derive(Debug, Clone)]
pub(crate) struct PlayedRetries {
    /// Number of retries that the client may make.
    pub(crate) max: u32,
    /// The most requests that are right.
    pub(crate) most: usize,
    /// Whether the last failure is played again and again.
    is_lasting: bool,
    failures: Vec<PlayedFailure>,
    /// The time in which the client must come to an end.
    pub(crate) limit: Duration,
}

#[derive(Debug, Clone)]
struct PlayedFailure {
    act: Act,
    wait: Option<(Duration, WaitForm)>,
}

impl PlayedRetries {
    /// `None` if the dialect does not have the requests of the case.
    pub(crate) fn new(
        row: &ClientRetries,
        is_lasting: bool,
        timeout: Duration,
        channel: Channel,
        dialect: &'static Dialect,
    ) -> Option<Self> {
        let failures: Option<Vec<_>> =
            row.failures.iter().map(|failure| PlayedFailure::new(failure, channel, dialect)).collect();
        let mut retries = Self {
            max: row.max,
            most: usize::try_from(row.requests.unwrap_or(row.max + 1)).ok()?,
            is_lasting,
            failures: failures?,
            limit: SPARE,
        };
        for attempt in 0..retries.most {
            let Some(failure) = retries.failure(attempt) else { break };
            let is_last = attempt + 1 == retries.most;
            let pause = failure.wait.map_or(PAUSE, |(wait, _)| PAUSE.max((wait + SPARE).min(PAUSE * 2)));
            retries.limit += if failure.act.end == End::Stall { timeout } else { Duration::ZERO }
                + if is_last { Duration::ZERO } else { pause };
        }
        Some(retries)
    }

    fn failure(&self, attempt: usize) -> Option<&PlayedFailure> {
        self.failures.get(attempt).or_else(|| self.failures.last().filter(|_| self.is_lasting))
    }

    /// `None` if the request does not fail. 0 is the first.
    pub(crate) fn response(&self, attempt: usize) -> Option<Act> {
        self.failure(attempt).map(PlayedFailure::now)
    }

    pub(crate) fn responses(&self) -> impl Iterator<Item = Act> {
        self.failures.iter().map(PlayedFailure::now)
    }

    pub(crate) const fn has_response(&self) -> bool {
        !self.is_lasting
    }

    /// Requests that were sent again have problems by their number, by when they came, and if they are not alike.
    pub(crate) fn problems(&self, sent: &[Sent], api: &Api) -> Vec<RequestProblem> {
        let mut found = Vec::new();
        let requests = attempts(sent, api);
        if requests.len() > self.most {
            let (count, most) = (requests.len(), self.most);
            let times = if most == 1 { "once".to_owned() } else { format!("at most {most} times") };
            let message = format!("the request was sent {count} times, expected {times}");
            found.push(problem("retry", message));
        }
        for (nth, pair) in requests.windows(2).enumerate() {
            let &[(before, then), (after, now)] = pair else { continue };
            if let Some((wait, form)) = self.failure(nth).and_then(|failure| failure.wait) {
                found.extend(untimely(now - then, wait, form).map(|message| problem("retry", message)));
            }
            found.extend(changed(before, after, nth + 2).map(|message| problem("retry", message)));
        }
        found
    }

    /// The case was not exercised if nothing shows that the driver lets its client retry.
    pub(crate) fn unused(
        &self,
        outcome: ClientOutcome,
        reply: Option<&Reply>,
        sent: &[Sent],
        api: &Api,
    ) -> Option<String> {
        let is_judged =
            matches!(outcome, ClientOutcome::Right | ClientOutcome::Reported | ClientOutcome::Fragile);
        let is_told = reply.is_some_and(|reply| reply.max_retries == Some(self.max));
        let is_unused = is_judged && !is_told && attempts(sent, api).len() < 2;
        is_unused.then(|| {
            let max = self.max;
            format!("the reply has no `max_retries` {max}, and the client did not retry")
        })
    }
}

pub(crate) fn count(sent: &[Sent], api: &Api) -> String {
    match attempts(sent, api).len() {
        1 => "after 1 request".to_owned(),
        count => format!("after {count} requests"),
    }
}

impl PlayedFailure {
    fn new(row: &ClientFailure, channel: Channel, dialect: &'static Dialect) -> Option<Self> {
        let mut asked = request(row.prompt, dialect.api);
        asked["stream"] = json!(channel == Channel::Sse);
        let wire = respond(&asked, dialect);
        let number = row.end_after.and_then(|number| usize::try_from(number).ok());
        let delivery = Delivery { end: row.end, end_after: number, ..Delivery::default() };
        let Plays::Http(mut act) = plays(&Played::of_wire(&wire, dialect), channel, &delivery) else {
            return None;
        };
        act.end = delivery.end;
        act.headers.extend(row.headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let wait = row.wait_ms.map(|wait| (Duration::from_millis(wait.into()), row.wait_as));
        Some(Self { act, wait })
    }

    /// As it is sent now: a date is not known before.
    fn now(&self) -> Act {
        let mut act = self.act.clone();
        if let Some((wait, form)) = self.wait {
            let value = match form {
                WaitForm::Seconds => wait.as_secs().to_string(),
                WaitForm::Milliseconds => wait.as_millis().to_string(),
                WaitForm::Date => httpdate::fmt_http_date(whole_second(SystemTime::now() + wait)),
            };
            act.headers.push((header(form).to_ascii_lowercase(), value));
        }
        act
    }
}

const fn header(form: WaitForm) -> &'static str {
    match form {
        WaitForm::Seconds | WaitForm::Date => "Retry-After",
        WaitForm::Milliseconds => "retry-after-ms",
    }
}

/// Dates in headers have no parts of seconds.
fn whole_second(time: SystemTime) -> SystemTime {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    SystemTime::UNIX_EPOCH + Duration::from_secs(since.as_secs() + u64::from(since.subsec_nanos() > 0))
}

/// Describes a request that came earlier or much later than a header asked.
fn untimely(waited: Duration, wait: Duration, form: WaitForm) -> Option<String> {
    let name = header(form);
    let said = match form {
        WaitForm::Date => format!("{name} said a date at least {} later", seconds(wait)),
        WaitForm::Seconds | WaitForm::Milliseconds => format!("{name} said {}", seconds(wait)),
    };
    if waited + TOLERANCE < wait {
        return Some(format!("asked again after {}; {said}", seconds(waited)));
    }
    (waited > wait + LATE).then(|| format!("asked again only after {}; {said}", seconds(waited)))
}

fn seconds(time: Duration) -> String {
    let tenths = (time.as_millis() + 50) / 100;
    match (tenths / 10, tenths % 10) {
        (whole, 0) => format!("{whole} s"),
        (whole, rest) => format!("{whole}.{rest} s"),
    }
}

/// Describes what differs in a request that was sent again.
fn changed(before: &Received, after: &Received, number: usize) -> Option<String> {
    let (one, other) = (before.header(REQUEST_KEY), after.header(REQUEST_KEY));
    if one.is_some() && one != other {
        return Some(format!("request {number} has another {REQUEST_KEY} than the one before"));
    }
    if before.body == after.body {
        return None;
    }
    let read = |request: &Received| serde_json::from_slice::<Value>(&request.body).unwrap_or_default();
    let (one, other) = (read(before), read(after));
    let names = |body: &Value| -> Vec<String> {
        body.as_object().into_iter().flat_map(|members| members.keys().cloned()).collect()
    };
    let differs = |name: &String| one.get(name) != other.get(name);
    let name = names(&one).into_iter().chain(names(&other)).find(differs)?;
    Some(format!("request {number} has another body than the one before: `{name}` differs"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retry_comes_when_a_header_says() {
        let ms = Duration::from_millis;
        let found = |waited, form| untimely(ms(waited), ms(1000), form);
        assert_eq!(found(960, WaitForm::Seconds), None);
        assert_eq!(found(2900, WaitForm::Seconds), None);
        assert_eq!(found(200, WaitForm::Seconds).unwrap(), "asked again after 0.2 s; Retry-After said 1 s");
        assert_eq!(
            found(3400, WaitForm::Milliseconds).unwrap(),
            "asked again only after 3.4 s; retry-after-ms said 1 s"
        );
        assert_eq!(
            found(0, WaitForm::Date).unwrap(),
            "asked again after 0 s; Retry-After said a date at least 1 s later"
        );
    }

    #[test]
    fn dates_are_rounded_up() {
        let at = |ms| SystemTime::UNIX_EPOCH + Duration::from_millis(ms);
        assert_eq!(whole_second(at(1001)), at(2000));
        assert_eq!(whole_second(at(2000)), at(2000));
    }
}

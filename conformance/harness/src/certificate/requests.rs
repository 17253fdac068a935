//! Comparison of recorded requests with the requests of the scenarios.

use catalogue::OnSocket;
use reqwest::Url;
use serde_json::Value;
use spec::Dialect;

use super::judge::Sent;
use crate::evidence::{ExchangeLine, RequestLine, RunFile};
use crate::plan::{
    Call, GIVEN, Given, Offer, PreviousResponse, RequestContext, ScenarioCase, Seed, message as message_of,
    messages,
};
use recordings::capture::{REDACTED, Recorder};

/// The expected requests of a run.
#[derive(Debug)]
pub struct Requests<'r> {
    run: &'r RunFile,
    cases: &'r [ScenarioCase],
    dialect: &'static Dialect,
    target: Option<Url>,
    /// The given resources; hidden ones are taken from their first use.
    given: Given,
    seed: Seed,
}

#[derive(Debug, Default)]
struct Recorded {
    request: RequestLine,
    /// The messages, and whether the client sent them.
    messages: Vec<(bool, String)>,
}

impl Recorded {
    /// In the exact format of the suite, with one exchange.
    fn read(recording: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(recording).map_err(|_| "it is not UTF-8".to_owned())?;
        let mut recorded = Self::default();
        let (mut last, mut has_ended) = (0.0, false);
        for (number, line) in text.lines().enumerate() {
            let wrong = |problem: &str| format!("line {}: {problem}", number + 1);
            let line: ExchangeLine = serde_json::from_str(line).map_err(|error| wrong(&error.to_string()))?;
            if line.exchange.is_some() != (number == 0) || has_ended {
                return Err(wrong("a file has exactly one exchange"));
            }
            let at = line.at.unwrap_or(last);
            if at < last {
                return Err(wrong(&format!("its time is {at}, but that of the previous one is {last}")));
            }
            last = at;
            if number == 0 {
                recorded.request = line.request.ok_or_else(|| wrong("it has no request"))?;
            }
            has_ended = line.end.is_some();
            recorded.messages.extend(line.sent.map(|text| (true, text)));
            recorded.messages.extend(line.received.map(|text| (false, text)));
        }
        if has_ended { Ok(recorded) } else { Err("it has no end".to_owned()) }
    }
}

impl<'r> Requests<'r> {
    /// The expected requests of a run with these cases.
    pub fn new(
        run: &'r RunFile,
        cases: &'r [ScenarioCase],
        dialect: &'static Dialect,
        offer: &Offer,
    ) -> Self {
        let seed = Seed::new(&*run.seed, dialect, offer).directives(run.has_directives);
        let public = run.options.given.iter().filter(|(_, value)| *value != REDACTED);
        let given = public.map(|(name, value)| (name.clone(), value.clone())).collect();
        Self { run, cases, dialect, target: Url::parse(&run.target).ok(), given, seed }
    }

    /// Returns the first difference of the recording of an attempt, numbered from 1, at a case, with `sent` as all
    /// attempts at all cases.
    pub fn difference(
        &mut self,
        case: &ScenarioCase,
        number: usize,
        file: &str,
        recording: &[u8],
        sent: &[Sent<'_>],
    ) -> Option<String> {
        let is_crowd = case.is_marked() && self.run.options.concurrent > 1;
        let suffix = if number == 1 && !is_crowd { String::new() } else { format!(".{number}") };
        if file != format!("exchanges/{}{suffix}.exchange", case.name) {
            return Some(format!("its name is not that of attempt {number} at {}", case.name));
        }
        let recorded = match Recorded::read(recording) {
            Ok(recorded) => recorded,
            Err(problem) => return Some(problem),
        };
        let before = match self.before(case, sent) {
            Ok(before) => before,
            Err(problem) => return Some(problem),
        };
        let number = if is_crowd { number } else { 1 };
        if case.turns.is_empty() {
            self.request(case, number, before.as_ref(), &recorded)
        } else {
            self.messages(case, number, before, &recorded)
        }
    }

    fn before(&self, case: &ScenarioCase, sent: &[Sent<'_>]) -> Result<Option<PreviousResponse>, String> {
        let Some(previous) = case.previous.and_then(|at| self.cases.get(at)) else { return Ok(None) };
        let last = sent.iter().rev().find(|sent| sent.case.name == previous.name);
        let before = last.and_then(|sent| sent.attempt.facts.previous(self.dialect.api));
        let missing =
            || format!("it was sent although {}, which it continues, has no response", previous.name);
        before.map(Some).ok_or_else(missing)
    }

    fn request(
        &mut self,
        case: &ScenarioCase,
        number: usize,
        before: Option<&PreviousResponse>,
        recorded: &Recorded,
    ) -> Option<String> {
        let call = |given: &Given| {
            case.call(&RequestContext { model: &self.run.model, given, number, seed: &self.seed }, before)
        };
        let mut expected = call(&self.given);
        if let (Some(body), Some(sent)) = (&expected.body, &recorded.request.body) {
            let mut given = self.given.clone();
            bind(body, sent, &mut given);
            bind_path(&expected.at, &recorded.request.url, &mut given);
            expected = call(&given);
            self.given = given;
        }
        if !recorded.messages.is_empty() {
            return Some("it has WebSocket messages".to_owned());
        }
        self.head(&expected, &recorded.request, &[]).or_else(|| {
            let body = expected.body.as_deref().map(|body| Recorder::new().body(body));
            differs("the body of the request", body.as_deref(), recorded.request.body.as_deref())
        })
    }

    fn messages(
        &mut self,
        case: &ScenarioCase,
        number: usize,
        mut before: Option<PreviousResponse>,
        recorded: &Recorded,
    ) -> Option<String> {
        const UPGRADE: [&str; 4] = ["connection", "upgrade", "sec-websocket-key", "sec-websocket-version"];
        let head = self.head(&Call::upgrade(), &recorded.request, &UPGRADE);
        if head.is_some() || recorded.request.body.is_some() {
            return head.or_else(|| Some("the request that opens the WebSocket has a body".to_owned()));
        }
        let mut turns = messages(&case.turns);
        let mut running = None;
        for (is_sent, text) in &recorded.messages {
            if !is_sent {
                running = PreviousResponse::begun(text, self.dialect).or(running);
                before = PreviousResponse::ended(text, self.dialect).or(before);
                continue;
            }
            let Some((turn, lane)) = turns.next() else {
                return Some("it has more messages than the scenario".to_owned());
            };
            let is_during = turn.websocket == Some(OnSocket::During);
            let before = if is_during { running.as_ref() } else { before.as_ref() };
            let expected = |given: &Given| {
                let context = RequestContext { model: &self.run.model, given, number, seed: &self.seed };
                message_of(turn, lane, &context, before, self.dialect)
            };
            let mut given = self.given.clone();
            bind(&expected(&given), text, &mut given);
            let message = Recorder::new().body(&expected(&given));
            self.given = given;
            let difference = differs("a message", Some(&message), Some(text));
            if difference.is_some() {
                return difference;
            }
        }
        None
    }

    /// Compares everything except the body.
    fn head(&self, expected: &Call, sent: &RequestLine, more: &[&str]) -> Option<String> {
        let url = |target: &Url| Recorder::new().url(expected.url(target).as_str());
        let Some(url) = self.target.as_ref().map(url) else {
            return Some(format!("the target {} is not a URL", self.run.target));
        };
        let is_upgrade = !more.is_empty();
        let mut headers = vec![("user-agent", format!("conformance/{}", self.run.suite))];
        if !is_upgrade {
            let accept = if expected.wants_stream { "text/event-stream" } else { "application/json" };
            headers.push(("accept", accept.to_owned()));
        }
        if expected.body.is_some() {
            headers.push(("content-type", "application/json".to_owned()));
        }
        let shape = self.dialect.api.request;
        headers.extend(shape.headers.iter().map(|(name, value)| (*name, (*value).to_owned())));
        let wanted = &self.run.options.headers;
        headers.retain(|(name, _)| !wanted.iter().any(|wanted| wanted == name));
        for (name, value) in &headers {
            let sent = sent.headers.iter().find(|(sent, _)| sent == name).map(|(_, value)| value.as_str());
            let difference = differs(&format!("the header {name}"), Some(value), sent);
            if difference.is_some() {
                return difference;
            }
        }
        let is_known = |name: &str| {
            let own = headers.iter().any(|(known, _)| *known == name);
            let carries_key = || shape.keys.iter().any(|(key, _)| key.eq_ignore_ascii_case(name));
            own || carries_key() || more.contains(&name) || wanted.iter().any(|known| known == name)
        };
        if let Some((name, _)) = sent.headers.iter().find(|(name, _)| !is_known(name)) {
            return Some(format!("the request has a header {name}, which the run did not send"));
        }
        differs("the method", Some(expected.method.as_str()), Some(&sent.method))
            .or_else(|| differs("the address", Some(&url), Some(&sent.url)))
    }
}

fn differs(what: &str, expected: Option<&str>, found: Option<&str>) -> Option<String> {
    if expected == found {
        return None;
    }
    let (Some(expected), Some(found)) = (expected, found) else {
        let is = if found.is_some() { "is there" } else { "is missing" };
        return Some(format!("{what} {is}, unlike in the scenario"));
    };
    let same = expected.bytes().zip(found.bytes()).take_while(|(one, other)| one == other).count();
    let part = |text: &str| -> String {
        String::from_utf8_lossy(&text.as_bytes()[same..]).chars().take(40).collect()
    };
    Some(format!(
        "{what} differs from the scenario at byte {same}: expected {:?}, found {:?}",
        part(expected),
        part(found)
    ))
}

/// The place in the request has a hidden resource.
fn bind(expected: &str, found: &str, given: &mut Given) {
    if expected.contains("\"given:")
        && let (Ok(expected), Ok(found)) = (serde_json::from_str(expected), serde_json::from_str(found))
    {
        bind_value(&expected, &found, given);
    }
}

/// The segments are the last ones of the path.
fn bind_path(expected: &[String], url: &str, given: &mut Given) {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    for (expected, found) in expected.iter().rev().zip(path.rsplit('/')) {
        let named = expected.strip_prefix(GIVEN).and_then(|rest| rest.split_once(':'));
        if let Some((name, verb)) = named
            && let Some(found) = found.strip_suffix(verb).and_then(|found| found.strip_suffix(':'))
        {
            given.entry(name.to_owned()).or_insert_with(|| found.to_owned());
        }
    }
}

fn bind_value(expected: &Value, found: &Value, given: &mut Given) {
    match (expected, found) {
        (Value::String(expected), Value::String(found)) => {
            if let Some(name) = expected.strip_prefix(GIVEN) {
                given.entry(name.to_owned()).or_insert_with(|| found.clone());
            }
        }
        (Value::Array(expected), Value::Array(found)) => {
            expected.iter().zip(found).for_each(|(expected, found)| bind_value(expected, found, given));
        }
        (Value::Object(expected), Value::Object(found)) => {
            let both = expected.iter().filter_map(|(name, expected)| Some((expected, found.get(name)?)));
            both.for_each(|(expected, found)| bind_value(expected, found, given));
        }
        _ => {}
    }
}

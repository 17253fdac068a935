//! `test.json`: a test, and what its recordings do not hold.

use std::io;
use std::time::Duration;

use catalogue::{BETWEEN_CASES, HandlingMode, UpstreamFault};
use results::Declared;
use serde::{Deserialize, Serialize};

use crate::evidence::{Evidence, Exchanged, Fault, REPLAY, Response, SeenKey, Test};

const VERSION: u32 = 1;

/// A test, and what its recordings do not hold.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TestFile {
    between_test: u32,
    name: String,
    case: String,
    front: String,
    upstream: String,
    mode: String,
    fault: Option<String>,
    /// The place of a fault of the stream.
    place: Option<usize>,
    status: Option<u16>,
    mark: String,
    model: String,
    #[serde(flatten)]
    declared: Declared,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_limit_known: bool,
    #[serde(default, skip_serializing_if = "is_zero")]
    unmarked: u64,
    /// Of the client's first exchanges, which belong to no turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    probes: Vec<Beside>,
    client: Vec<Beside>,
    upstream_exchanges: Vec<Beside>,
    /// Of the exchange after a fault, the last one of the client.
    after: Option<Beside>,
    /// Of the requests that the gateway sent for it, the last ones of the upstream.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    after_upstream: Vec<Beside>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Facts about an exchange that its recording does not have.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Beside {
    /// When it began, in microseconds from the start of the test.
    at_us: u64,
    turn: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    upgrade: Option<u16>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    keys: Vec<SeenKey>,
}

impl Beside {
    fn new(exchange: &Exchanged) -> Self {
        Self {
            at_us: u64::try_from(exchange.at.as_micros()).unwrap_or(u64::MAX),
            turn: exchange.turn,
            upgrade: exchange.upgrade,
            keys: exchange.keys.clone(),
        }
    }

    fn complete(self, mut exchange: Exchanged) -> io::Result<Exchanged> {
        let begun = Duration::from_micros(self.at_us);
        let since = |at: &mut Duration| -> io::Result<()> {
            *at = at.checked_add(begun).ok_or_else(|| io::Error::other("a time is too late"))?;
            Ok(())
        };
        (exchange.at, exchange.turn, exchange.keys) = (begun, self.turn, self.keys);
        exchange.upgrade = self.upgrade;
        if let Some(Response { pieces, ended_at, .. }) = &mut exchange.response {
            pieces.iter_mut().try_for_each(|(at, _)| since(at))?;
            since(ended_at)?;
        }
        Ok(exchange)
    }
}

impl TestFile {
    pub(super) fn new(test: &Test, evidence: &Evidence) -> Self {
        let all = |exchanges: &[Exchanged]| exchanges.iter().map(Beside::new).collect();
        let (fault, place, status) = match test.fault {
            Some(Fault::Stream(fault, place)) => (Some(fault.name().to_owned()), Some(place), None),
            Some(Fault::Status(status)) => (None, None, Some(status)),
            None => (None, None, None),
        };
        Self {
            between_test: VERSION,
            name: test.name.clone(),
            case: test.case.id.to_owned(),
            front: test.front.name.to_owned(),
            upstream: test.upstream.name.to_owned(),
            mode: test.mode.name().to_owned(),
            fault,
            place,
            status,
            mark: test.mark.clone(),
            model: test.model.clone(),
            declared: test.declared.clone(),
            is_limit_known: test.is_limit_known,
            unmarked: evidence.unmarked,
            probes: all(&evidence.probes),
            client: all(&evidence.client),
            upstream_exchanges: all(&evidence.upstream),
            after: evidence.after.as_ref().map(Beside::new),
            after_upstream: all(&evidence.after_upstream),
        }
    }

    pub(super) fn text(&self) -> io::Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    pub(super) fn parse(text: &str) -> io::Result<Self> {
        let file: Self = serde_json::from_str(text)?;
        if file.between_test != VERSION {
            let version = file.between_test;
            return Err(io::Error::other(format!(
                "it has version {version}, but this build reads {VERSION}"
            )));
        }
        Ok(file)
    }

    /// A refusal counts as a fault.
    pub(super) const fn has_fault(&self) -> bool {
        self.fault.is_some() || self.status.is_some()
    }

    pub(super) fn test(self, name: &str) -> io::Result<Test> {
        let unknown = |what: &str, name: &str| io::Error::other(format!("this build has no {what} {name:?}"));
        let dialect = |name: &str| spec::dialect(name).ok_or_else(|| unknown("dialect", name));
        if self.name != name {
            return Err(io::Error::other(format!("it is about {:?}", self.name)));
        }
        let case = BETWEEN_CASES.iter().chain([&REPLAY]).find(|case| case.id == self.case);
        let mode = HandlingMode::ALL.into_iter().find(|mode| mode.name() == self.mode);
        let fault = match (&self.fault, self.place, self.status) {
            (Some(name), Some(place), None) => {
                let fault = UpstreamFault::ALL.into_iter().find(|fault| fault.name() == name);
                Some(Fault::Stream(fault.ok_or_else(|| unknown("fault", name))?, place))
            }
            (None, None, Some(status)) => Some(Fault::Status(status)),
            (None, None, None) => None,
            _ => return Err(io::Error::other("its fault is none")),
        };
        Ok(Test {
            case: case.ok_or_else(|| unknown("case", &self.case))?,
            agent: None,
            front: dialect(&self.front)?,
            upstream: dialect(&self.upstream)?,
            mode: mode.ok_or_else(|| unknown("mode", &self.mode))?,
            fault,
            name: self.name,
            mark: self.mark,
            model: self.model,
            declared: self.declared,
            is_limit_known: self.is_limit_known,
        })
    }

    /// The recordings of both sides, completed.
    pub(super) fn evidence(
        self,
        mut client: Vec<Exchanged>,
        mut upstream: Vec<Exchanged>,
    ) -> io::Result<Evidence> {
        let completed = |beside: Vec<Beside>, exchanges: Vec<Exchanged>| {
            if beside.len() != exchanges.len() {
                let (wanted, found) = (beside.len(), exchanges.len());
                return Err(io::Error::other(format!(
                    "it is about {wanted} exchanges, but there are {found}"
                )));
            }
            beside.into_iter().zip(exchanges).map(|(beside, exchange)| beside.complete(exchange)).collect()
        };
        let after = match self.after {
            Some(beside) => {
                let last = client
                    .pop()
                    .ok_or_else(|| io::Error::other("the exchange after the fault is missing"))?;
                Some(beside.complete(last)?)
            }
            None => None,
        };
        let is_probed =
            BETWEEN_CASES.iter().find(|case| case.id == self.case).and_then(|case| case.session.as_ref());
        if !self.probes.is_empty() && !is_probed.is_some_and(|session| session.is_probed) {
            return Err(io::Error::other("its case has no probes"));
        }
        let turns = client.split_off(self.probes.len().min(client.len()));
        let of_after = upstream.split_off(self.upstream_exchanges.len().min(upstream.len()));
        Ok(Evidence {
            probes: completed(self.probes, client)?,
            client: completed(self.client, turns)?,
            upstream: completed(self.upstream_exchanges, upstream)?,
            after,
            after_upstream: completed(self.after_upstream, of_after)?,
            unmarked: self.unmarked,
        })
    }
}

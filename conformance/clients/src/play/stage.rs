//! The server that plays the cases.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use gateway::{Act, Director, Received, SocketScript, Stage};
use harness::lock;
use serde_json::json;
use spec::Api;

use super::serving::CaseDesk;
use crate::cases::case::PlayedCase;
use crate::cases::played::Plays;
use crate::journal::{Sent, attempts};

/// Maximum number of requests kept of a case.
const KEPT: usize = 32;
/// Maximum size of a request that is kept.
const LARGEST: usize = 1 << 20;
const PREFIX: &str = "/case/";
/// A version that clients of all APIs may have in their paths.
const VERSION: &str = "v1";

/// Plays each case under a path of its own, and records the client's requests.
pub(crate) struct Playing {
    api: &'static Api,
    cases: Arc<[PlayedCase]>,
    sent: Mutex<BTreeMap<usize, Vec<Sent>>>,
    /// For clients that fetch cases over HTTP.
    pub(crate) desk: Option<CaseDesk>,
}

impl Playing {
    /// 0 means any free port.
    pub(crate) fn start(
        api: &'static Api,
        cases: Arc<[PlayedCase]>,
        port: u16,
        desk: Option<CaseDesk>,
    ) -> io::Result<(Arc<Self>, Stage)> {
        let playing = Arc::new(Self { api, cases, sent: Mutex::default(), desk });
        let director: Arc<dyn Director> = Arc::clone(&playing) as Arc<dyn Director>;
        let stage = Stage::start(port, director)?;
        Ok((playing, stage))
    }

    fn keep(&self, at: usize, one: Sent) -> usize {
        let size = match &one {
            Sent::Request(request, _) => request.body.len(),
            Sent::Message(message) => message.len(),
        };
        let mut sent = lock(&self.sent);
        let of_case = sent.entry(at).or_default();
        let before = attempts(of_case, self.api).len();
        if of_case.len() < KEPT && size <= LARGEST {
            of_case.push(one);
        }
        before
    }

    pub(crate) fn is_asked(&self, at: usize) -> bool {
        // Those that are too large are not kept.
        lock(&self.sent).contains_key(&at)
    }

    pub(crate) fn take(&self, at: usize) -> Vec<Sent> {
        lock(&self.sent).remove(&at).unwrap_or_default()
    }

    fn find<'p>(&self, path: &'p str) -> Option<(usize, &PlayedCase, &'p str)> {
        let (number, rest) = path.strip_prefix(PREFIX)?.split_once('/')?;
        let at = number.parse().ok()?;
        Some((at, self.cases.get(at)?, rest))
    }
}

pub(crate) fn base_url(stage: &Stage, at: usize, api: &Api) -> String {
    format!("http://{}{PREFIX}{at}/{}", stage.address(), api.version)
}

fn refuse(status: u16, message: &str) -> Act {
    let error = json!({"error": {"type": "invalid_request_error", "code": "not_found", "message": message, "param": null}});
    Act::new(status, "application/json", error.to_string())
}

impl Director for Playing {
    fn answer(&self, request: &Received) -> Act {
        if let Some(desk) = &self.desk
            && let Some(act) = desk.answer(request)
        {
            return act;
        }
        let Some((at, case, rest)) = self.find(&request.path) else {
            return refuse(404, "Unknown case.");
        };
        let attempt = self.keep(at, Sent::Request(request.clone(), Instant::now()));
        let rest = rest.trim_end_matches('/');
        let path = [self.api.version, VERSION].into_iter().find_map(|version| rest.strip_prefix(version));
        let creates = |path: &str| path == self.api.path || self.api.asked_at(path).is_some();
        match (&*request.method, path.unwrap_or_default()) {
            ("POST", path) if creates(path) => match case.played(&request.body, attempt).into_owned() {
                Plays::Http(act) => act,
                Plays::Socket(_) => refuse(400, "This case needs a WebSocket."),
            },
            ("GET", "/models") => {
                let model = json!({"id": "default", "object": "model", "created": 1_785_000_000, "owned_by": "reference"});
                Act::new(200, "application/json", json!({"object": "list", "data": [model]}).to_string())
            }
            ("GET", path) => {
                let id = path.strip_prefix(self.api.path).and_then(|rest| rest.strip_prefix('/'));
                let resumed = id.and_then(|id| case.resumed(id, &request.query));
                resumed.unwrap_or_else(|| refuse(404, "Unknown path."))
            }
            _ => refuse(404, "Unknown path."),
        }
    }

    fn open(&self, request: &Received) -> Result<(), Act> {
        match self.find(&request.path) {
            Some((at, case, rest))
                if rest.strip_prefix(VERSION) == Some(self.api.path)
                    && matches!(case.plays, Plays::Socket(_)) =>
            {
                self.keep(at, Sent::Request(request.clone(), Instant::now()));
                Ok(())
            }
            _ => Err(self.answer(request)),
        }
    }

    fn message(&self, opened: &Received, number: usize, text: &str) -> SocketScript {
        let over = SocketScript { messages: Vec::new(), is_last: true };
        let Some((at, case, _)) = self.find(&opened.path) else { return over };
        self.keep(at, Sent::Message(text.chars().take(LARGEST).collect()));
        match case.said(text) {
            Some(script) if number <= case.turns.len() => script,
            _ => {
                let error = json!({"type": "error", "status": 400, "error": {"type": "invalid_request_error",
                    "code": "invalid_value", "message": "This case has no more turns.", "param": null}});
                SocketScript { messages: vec![(Duration::ZERO, error.to_string())], is_last: true }
            }
        }
    }

    fn origins(&self) -> &[String] {
        self.desk.as_ref().map(CaseDesk::origins).unwrap_or_default()
    }
}

//! The judge of replayed sessions: what a gateway does to a conversation of many turns.
//!
//! The upstream's requests are compared with the client's, turn by turn, so that a gateway is not blamed for what the client does.

mod cache;
mod canonical;
mod contract;
mod course;
mod history;
mod measures;
mod probes;
mod seals;

use std::collections::BTreeMap;

use serde_json::Value;
use spec::Api;
use translation::{Question, Reply};

use crate::evidence::{Evidence, Exchanged, Response, Test};
use crate::judge::parts::findings::Findings;
use crate::judge::parts::turn::{Turn, read};
use canonical::{Kept, Part, kept, parts};
pub(super) use probes::judge as judge_probes;

/// Groups of the rules about sessions. No other test judges them.
pub const SESSION_GROUPS: [&str; 3] = ["cache", "contract", "session"];

/// Headers with the id of an agent that shares a session with others.
const AGENTS: [&str; 2] = ["x-claude-code-agent-id", "thread-id"];

struct Session<'e> {
    test: &'e Test,
    turns: Vec<SessionTurn<'e>>,
    prefixes: Vec<Prefix>,
    is_same: bool,
    unmarked: u64,
}

struct SessionTurn<'e> {
    /// Counted from 1, as in reports.
    number: usize,
    client: &'e Exchanged,
    requests: Vec<&'e Exchanged>,
    sent: End,
    /// The first request of the gateway for it.
    got: Option<End>,
    /// Requests of one lane continue each other.
    lane: String,
    /// The turn before it in its lane.
    before: Option<usize>,
    /// The contents of the upstream's last answer, and of the client's response.
    replies: [Option<Reply>; 2],
}

/// How much a request keeps of the one before it in its lane, at both ends.
struct Prefix {
    /// The number of its turn.
    number: usize,
    upstream: Kept,
    client: Kept,
}

struct End {
    api: &'static Api,
    request: Value,
    question: Question,
    parts: Vec<Part>,
}

impl End {
    fn new(api: &'static Api, exchange: &Exchanged) -> Self {
        let request = exchange.request(api).unwrap_or_default();
        let question = Question::read(api, &request);
        let parts = parts(api, &request);
        Self { api, request, question, parts }
    }

    fn seals(&self) -> Vec<&str> {
        seals::seals(self.api, &self.request)
    }
}

pub(super) fn judge(findings: &mut Findings<'_>, test: &Test, evidence: &Evidence) -> Vec<String> {
    let session = Session::new(test, evidence);
    cache::judge(findings, &session);
    seals::judge(findings, &session);
    history::judge(findings, &session);
    course::judge(findings, &session);
    contract::judge(findings, &session);
    measures::measures(&session)
}

impl<'e> Session<'e> {
    fn new(test: &'e Test, evidence: &'e Evidence) -> Self {
        let mut latest: BTreeMap<String, usize> = BTreeMap::new();
        let turns = Turn::all(test, evidence).into_iter().enumerate().map(|(index, turn)| {
            let sent = End::new(test.front.api, turn.client);
            let lane = lane(turn.client, &sent);
            let before = latest.insert(lane.clone(), index);
            let got = turn.requests.first().map(|exchange| End::new(test.upstream.api, exchange));
            let replies = [
                turn.requests
                    .last()
                    .and_then(|exchange| Some(read(test.upstream, exchange.response.as_ref()?))),
                turn.response().map(|response| read(test.front, response)),
            ];
            let Turn { client, requests, .. } = turn;
            SessionTurn { number: index + 1, client, requests, sent, got, lane, before, replies }
        });
        let is_same = test.front.api.name == test.upstream.api.name;
        let unmarked = evidence.unmarked;
        let mut session = Self { test, turns: turns.collect(), prefixes: Vec::new(), is_same, unmarked };
        let prefix = |[(before, one), (turn, other)]: [(&SessionTurn<'_>, &End); 2]| Prefix {
            number: turn.number,
            upstream: kept(&one.parts, &other.parts),
            client: kept(&before.sent.parts, &turn.sent.parts),
        };
        session.prefixes = session.neighbours().map(prefix).collect();
        session
    }

    fn neighbours(&self) -> impl Iterator<Item = [(&SessionTurn<'e>, &End); 2]> {
        self.turns.iter().filter_map(|turn| {
            let before = self.turns.get(turn.before?)?;
            Some([(before, before.got.as_ref()?), (turn, turn.got.as_ref()?)])
        })
    }

    fn both(&self) -> impl Iterator<Item = (&SessionTurn<'e>, &End)> {
        self.turns.iter().filter_map(|turn| Some((turn, turn.got.as_ref()?)))
    }
}

impl<'e> SessionTurn<'e> {
    fn answer(&self) -> Option<&'e Response> {
        self.requests.last()?.response.as_ref()
    }

    /// The messages of the upstream's error, and of the client's.
    fn messages(&self) -> [Option<&str>; 2] {
        self.replies.each_ref().map(|reply| Some(&*reply.as_ref()?.error.as_ref()?.message))
    }

    const fn response(&self) -> Option<&'e Response> {
        self.client.response.as_ref()
    }

    /// The contents of the upstream's answer and of the client's response, if there are both.
    fn replies(&self) -> Option<[&Reply; 2]> {
        let [upstream, client] = &self.replies;
        Some([upstream.as_ref()?, client.as_ref()?])
    }
}

fn lane(client: &Exchanged, sent: &End) -> String {
    let ids = AGENTS.iter().filter_map(|name| header(&client.headers, name));
    let tools = sent.question.tools.iter().map(|tool| &*tool.name);
    ids.chain([&*sent.question.model]).chain(tools).collect::<Vec<_>>().join("\n")
}

/// A text without white space: gateways join texts, and break them elsewhere.
fn letters(text: &str) -> String {
    text.split_whitespace().collect()
}

fn header<'h>(headers: &'h [(String, String)], name: &str) -> Option<&'h str> {
    headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

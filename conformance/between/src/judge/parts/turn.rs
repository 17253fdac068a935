//! A turn: what a client asked and got, and what the upstream was asked for it and sent.

use results::StreamOutcome;
use serde_json::Value;
use translation::{Delta, Question, Reply, ReplyReader, Stop, Usage};

use super::framing::{http_within, is_stream};
use crate::evidence::{Ended, Evidence, Exchanged, Response, Test};
use crate::mark::own_mark;

pub(in crate::judge) struct Turn<'e> {
    pub(in crate::judge) test: &'e Test,
    pub(in crate::judge) client: &'e Exchanged,
    /// The requests of the gateway for it, in order.
    pub(in crate::judge) requests: Vec<&'e Exchanged>,
    /// Number of requests of the gateway without a mark while the test ran.
    pub(in crate::judge) unmarked: u64,
}

impl<'e> Turn<'e> {
    /// A crowd has one turn for each client.
    pub(in crate::judge) fn all(test: &'e Test, evidence: &'e Evidence) -> Vec<Self> {
        let own = |exchange: &Exchanged| own_mark(&String::from_utf8_lossy(&exchange.body), &test.mark);
        let is_crowd = test.case.crowd.is_some();
        let of_turn = |client: &Exchanged, exchange: &Exchanged| {
            if is_crowd { own(client) == own(exchange) } else { client.turn == exchange.turn }
        };
        let turn = |client: &'e Exchanged| Self {
            test,
            client,
            requests: evidence.upstream.iter().filter(|exchange| of_turn(client, exchange)).collect(),
            unmarked: evidence.unmarked,
        };
        evidence.client.iter().map(turn).collect()
    }

    pub(in crate::judge) const fn response(&self) -> Option<&'e Response> {
        self.client.response.as_ref()
    }

    pub(in crate::judge) fn answer(&self) -> Option<&'e Response> {
        self.requests.iter().rev().find_map(|exchange| exchange.response.as_ref())
    }

    pub(in crate::judge) fn asked(&self) -> Option<Value> {
        self.client.request(self.test.front.api)
    }

    pub(in crate::judge) fn question(&self) -> Option<Question> {
        Some(Question::read(self.test.front.api, &self.asked()?))
    }

    pub(in crate::judge) fn upstream_question(&self) -> Option<Question> {
        let api = self.test.upstream.api;
        Some(Question::read(api, &self.requests.first()?.request(api)?))
    }

    pub(in crate::judge) fn client_reply(&self) -> Reply {
        self.response().map(|response| read(self.test.front, response)).unwrap_or_default()
    }

    pub(in crate::judge) fn upstream_reply(&self) -> Reply {
        self.answer().map(|response| read(self.test.upstream, response)).unwrap_or_default()
    }

    pub(in crate::judge) fn is_faulty(&self) -> bool {
        self.test.is_faulty(self.client.turn)
    }

    /// The token counts that the upstream sent before its stream became unreadable.
    pub(in crate::judge) fn counted(&self) -> Option<Usage> {
        let response = self.answer()?;
        let body = response.body();
        if !is_stream(response, &body) {
            return self.upstream_reply().usage;
        }
        let deltas = ReplyReader::all(self.test.upstream.api, &body).into_iter();
        deltas.take_while(|delta| !matches!(delta, Delta::Garbled(_))).collect::<Reply>().usage
    }

    /// The upstream sent everything, and its stop reason, before anything failed.
    pub(in crate::judge) fn is_finished(&self) -> bool {
        let Some(response) = self.answer().filter(|response| response.status < 400) else { return false };
        let body = response.body();
        if !is_stream(response, &body) {
            let reply = read(self.test.upstream, response);
            return reply.error.is_none() && reply.stop.is_some_and(|stop| stop != Stop::Failed);
        }
        let first = ReplyReader::all(self.test.upstream.api, &body).iter().find_map(|delta| match delta {
            Delta::Garbled(_) | Delta::Failed(_) => Some(false),
            Delta::Stopped(stopped) => Some(stopped.stop != Some(Stop::Failed)),
            _ => None,
        });
        first.unwrap_or(false)
    }

    pub(in crate::judge) fn outcome(&self, reply: &Reply, is_broken: bool) -> StreamOutcome {
        let Some(response) = self.response() else { return StreamOutcome::Hung };
        let body = response.body();
        let has_error = response.status >= 400 || reply.error.is_some();
        match response.end {
            Ended::Silent(_) if !reply.is_ended && !has_error => return StreamOutcome::Hung,
            _ if response.status == 0 => return StreamOutcome::Truncated,
            _ => {}
        }
        if !is_stream(response, &body) {
            let is_json = serde_json::from_slice::<Value>(&body).is_ok_and(|body| body.is_object());
            return match () {
                () if has_error && is_json => StreamOutcome::JsonError,
                () if has_error => StreamOutcome::Malformed,
                () if body.trim_ascii().is_empty() => StreamOutcome::Truncated,
                () if !is_json => StreamOutcome::Malformed,
                () => self.completion(reply),
            };
        }
        let looks_complete = reply.is_ended && reply.error.is_none();
        let completion = self.completion(reply);
        match () {
            () if http_within(&body).is_some() => StreamOutcome::Malformed,
            () if ReplyReader::all(self.test.front.api, &body)
                .iter()
                .any(|delta| matches!(delta, Delta::Garbled(_))) =>
            {
                StreamOutcome::Malformed
            }
            () if looks_complete && completion != StreamOutcome::Complete => completion,
            () if is_broken => StreamOutcome::Malformed,
            () if looks_complete => StreamOutcome::Complete,
            () if reply.error.is_some() => StreamOutcome::ErrorEvent,
            () => StreamOutcome::Truncated,
        }
    }

    fn completion(&self, reply: &Reply) -> StreamOutcome {
        // Without a request, the gateway answers itself.
        if self.requests.is_empty() || self.is_finished() {
            return StreamOutcome::Complete;
        }
        match reply.stop {
            Some(Stop::Cut | Stop::Filtered | Stop::Failed) => StreamOutcome::Incomplete,
            _ => StreamOutcome::FalseComplete,
        }
    }
}

pub(in crate::judge) fn read(dialect: &'static spec::Dialect, response: &Response) -> Reply {
    Reply::read(dialect, response.header("content-type"), response.status, &response.body())
}

//! Both ends of a session that were recorded elsewhere.

use std::time::Duration;

use catalogue::HandlingMode;
use results::Declared;

use super::{RecordedRequest, Session};
use crate::evidence::{Ended, Evidence, Exchanged, REPLAY, Response, Test};
use crate::judge::{Judged, judge};
use crate::upstream_dialect;

/// The verdict on recordings of both ends of a gateway: what the client sent and got, and what the upstream got and sent. Each request of
/// the client stands for one of the upstream, in order; the last one of the client for the rest.
pub fn judge_ends(client: &Session, upstream: &Session) -> Option<Judged> {
    let test = of_ends(client, upstream)?;
    let last = client.requests.len().saturating_sub(1);
    let of = |session: &Session| -> Vec<Exchanged> {
        let requests = session.requests.iter().enumerate();
        requests.map(|(turn, request)| exchanged(request, session, turn.min(last))).collect()
    };
    let evidence = Evidence { client: of(client), upstream: of(upstream), ..Evidence::default() };
    Some(judge(&test, &evidence))
}

pub(super) fn of_ends(client: &Session, upstream: &Session) -> Option<Test> {
    Some(Test {
        name: format!("{}-{}/session/{}", client.front.api.name, upstream.front.api.name, client.name),
        case: &REPLAY,
        agent: None,
        front: client.front,
        upstream: upstream_dialect(upstream.front.api)?,
        mode: HandlingMode::Transform,
        fault: None,
        mark: String::new(),
        model: String::new(),
        declared: Declared::default(),
        is_limit_known: false,
    })
}

pub(super) fn exchanged(request: &RecordedRequest, session: &Session, turn: usize) -> Exchanged {
    let path = request.target(session.front.api);
    let at = Duration::from_secs(turn as u64);
    Exchanged {
        at,
        path,
        headers: request.headers.clone(),
        body: request.body.clone().into_bytes(),
        turn,
        response: Some(Response {
            status: request.status,
            headers: request.response_headers.clone(),
            pieces: vec![(at, request.response.clone().into_bytes())],
            end: if request.is_cut { Ended::Broken("as recorded".to_owned()) } else { Ended::Complete },
            ended_at: at,
        }),
        ..Exchanged::default()
    }
}

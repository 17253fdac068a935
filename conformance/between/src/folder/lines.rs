//! Exchanges in the format of recordings, with each piece of a body in a line of its own.

use std::io;
use std::time::Duration;

use checker::{Exchange, Loss, Request};
use harness::evidence::ExchangeLine;
use recordings::capture::{End, Recorder, bytes_of_base64};

use crate::evidence::{Ended, Exchanged, Method, Response};

/// Why an exchange has no response, where it is not known.
const UNANSWERED: &str = "no response";

/// Times count from the request.
pub(super) fn write(exchange: &Exchanged) -> String {
    let recorder = Recorder::new();
    let borrowed = |headers: &[(String, String)]| {
        headers.iter().map(|(name, value)| (name.clone().into(), value.clone().into())).collect()
    };
    let response = exchange.response.as_ref();
    let body = (!exchange.body.is_empty()).then(|| String::from_utf8_lossy(&exchange.body));
    let mut text = recorder.begin(&Exchange {
        status: response.map(|response| response.status),
        headers: response.map(|response| borrowed(&response.headers)).unwrap_or_default(),
        request: Some(Request {
            method: exchange.method.name().into(),
            url: exchange.path.as_str().into(),
            headers: borrowed(&exchange.headers),
            body,
        }),
        ..Exchange::default()
    });
    let since = |at: Duration| at.saturating_sub(exchange.at);
    let Some(response) = response else {
        return text + &recorder.end(Duration::ZERO, End::Lost(Loss::Unconnected(UNANSWERED.into())));
    };
    for (at, bytes) in &response.pieces {
        text += &recorder.chunk(since(*at), bytes);
    }
    let end = match &response.end {
        Ended::Complete => End::Closed,
        Ended::Broken(reason) => End::Lost(Loss::Broken(reason.as_str().into())),
        Ended::Left => End::Lost(Loss::Left),
        Ended::Silent(reason) => End::Lost(Loss::Silent(reason.as_str().into())),
    };
    text + &recorder.end(since(response.ended_at), end)
}

/// Times count from the requests.
pub(super) fn read(text: &str) -> io::Result<Vec<Exchanged>> {
    let mut all: Vec<Exchanged> = Vec::new();
    let mut is_open = false;
    for (number, line) in text.lines().enumerate() {
        let wrong = |problem: &str| io::Error::other(format!("line {}: {problem}", number + 1));
        let line: ExchangeLine = serde_json::from_str(line).map_err(|error| wrong(&error.to_string()))?;
        if line.exchange.is_some() {
            if is_open {
                return Err(wrong("the exchange before it has no end"));
            }
            is_open = true;
            let request = line.request.ok_or_else(|| wrong("the exchange has no request"))?;
            all.push(Exchanged {
                method: Method::named(&request.method),
                path: request.url,
                headers: request.headers,
                body: request.body.unwrap_or_default().into_bytes(),
                response: line.response.map(|response| Response {
                    status: response.status,
                    headers: response.headers,
                    ..Response::default()
                }),
                ..Exchanged::default()
            });
            continue;
        }
        let open = all.last_mut().filter(|_| is_open).ok_or_else(|| wrong("it belongs to no exchange"))?;
        let at = time(line.at).ok_or_else(|| wrong("`at` is no time"))?;
        let bytes = match (line.text, line.bytes) {
            (Some(text), _) => Some(text.into_bytes()),
            (None, Some(text)) => Some(bytes_of_base64(&text).ok_or_else(|| wrong("`bytes` is not base64"))?),
            (None, None) => None,
        };
        match (bytes, line.end, &mut open.response) {
            (Some(bytes), None, Some(response)) => response.pieces.push((at, bytes)),
            (None, Some(end), Some(response)) => {
                (response.end, response.ended_at) = (ended(&end, line.reason), at);
                is_open = false;
            }
            (None, Some(_), None) => is_open = false,
            _ => return Err(wrong("expected a piece of a response, or its end")),
        }
    }
    if is_open {
        return Err(io::Error::other("the last exchange has no end"));
    }
    Ok(all)
}

fn ended(end: &str, reason: Option<String>) -> Ended {
    match end {
        "closed" => Ended::Complete,
        "left" => Ended::Left,
        "silent" => Ended::Silent(reason.unwrap_or_default()),
        _ => Ended::Broken(reason.unwrap_or_default()),
    }
}

/// Rounded to microseconds.
fn time(milliseconds: Option<f64>) -> Option<Duration> {
    let exact = Duration::try_from_secs_f64(milliseconds? / 1000.0).ok()?;
    let rounded = exact.checked_add(Duration::from_nanos(500))?;
    u64::try_from(rounded.as_micros()).ok().map(Duration::from_micros)
}

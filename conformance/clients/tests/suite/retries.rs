//! When the client that tests start sends a request again.

use std::time::{Duration, SystemTime};

use clients::protocol::CaseMessage;
use serde_json::{Value, json};

/// The pause where no header asks for another.
const PAUSE: Duration = Duration::from_millis(100);

/// Returns how long to wait before a request is sent again, if it is. The head of its response is empty if none came.
pub(super) fn pause(
    kind: &str,
    asked: &CaseMessage,
    attempt: u32,
    head: &str,
) -> Result<Option<Duration>, String> {
    let max = asked.max_retries.unwrap_or(0);
    let most = match kind {
        "never-retries" | "knows-no-retries" => 0,
        "retries-too-often" if max > 0 => max + 2,
        _ => max,
    };
    let status: u16 = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let helps = head.is_empty()
        || matches!(status, 408 | 409 | 429 | 500..)
        || kind == "retries-everything" && status >= 400;
    let is_forbidden = header(head, "x-should-retry") == Some("false") && kind != "retries-everything";
    if attempt >= most || !helps || is_forbidden {
        return Ok(None);
    }
    let wait = match (header(head, "retry-after-ms"), header(head, "retry-after")) {
        (Some(ms), _) => ms.parse().ok().map(Duration::from_millis),
        (None, Some(value)) => after(value),
        (None, None) => Some(PAUSE),
    };
    if wait.is_none() && kind == "trusts-headers" {
        return Err("Retry-After cannot be read".to_owned());
    }
    let wait = wait.unwrap_or(PAUSE);
    Ok(match kind {
        // Nobody waits for an hour.
        _ if wait > Duration::from_secs(60) && kind != "waits-for-hours" => None,
        "retries-at-once" => Some(Duration::ZERO),
        "waits-too-long" if wait > PAUSE => Some(wait + Duration::from_millis(2200)),
        _ => Some(wait),
    })
}

fn after(value: &str) -> Option<Duration> {
    let until = || httpdate::parse_http_date(value).ok();
    let left = |until: SystemTime| until.duration_since(SystemTime::now()).unwrap_or_default();
    value.parse().ok().map(Duration::from_secs).or_else(|| until().map(left))
}

fn header<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    let found = head
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(known, _)| known.eq_ignore_ascii_case(name));
    found.map(|(_, value)| value.trim())
}

/// Returns the body of a request that is sent again.
pub(super) fn again(kind: &str, body: &str, attempt: u32) -> String {
    if kind != "changes-the-request" || attempt == 0 {
        return body.to_owned();
    }
    let mut body: Value = serde_json::from_str(body).unwrap_or_default();
    body["temperature"] = json!(1);
    body.to_string()
}

/// Returns the header that names a request.
pub(super) fn key(kind: &str, attempt: u32) -> String {
    match kind {
        "names-requests" => "idempotency-key: 1\r\n".to_owned(),
        "names-each-request" => format!("idempotency-key: {attempt}\r\n"),
        _ => String::new(),
    }
}

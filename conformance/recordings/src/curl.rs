//! The `curl` command that repeats a recorded request.

use std::fmt::Write as _;

use crate::capture::REDACTED;
use checker::{Exchange, Request};
use results::shell_word;
use spec::{APIS, UNKNOWN_KEY};

/// Maximum length of a body in a command.
const LONGEST_BODY: usize = 4096;
/// Status of a WebSocket handshake.
const SWITCHED: u16 = 101;

pub(super) fn curl(exchange: &Exchange<'_>) -> Option<String> {
    let Request { method, url, headers, body } = exchange.request.as_ref()?;
    let is_http = url.starts_with("http://") || url.starts_with("https://");
    let body = body.as_deref().unwrap_or_default();
    if !is_http || exchange.status == Some(SWITCHED) || body.len() > LONGEST_BODY || body == REDACTED {
        return None;
    }
    let mut command = format!("curl -N -X {method} {}", shell_word(url));
    for (name, value) in headers.iter().filter(|(name, _)| !is_by_curl(name)) {
        command += " -H ";
        let known_key = with_key(name).filter(|_| !value.ends_with(UNKNOWN_KEY));
        if let Some((name, value)) = known_key {
            let _ = write!(command, "\"{name}: {value}\"");
        } else if value.contains(REDACTED) {
            let upper = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
            let variable: String = name.chars().map(upper).collect();
            let _ = write!(command, "{}\"$HEADER_{variable}\"", shell_word(&format!("{name}: ")));
        } else {
            command += &shell_word(&format!("{name}: {value}"));
        }
    }
    if !body.is_empty() {
        command += " -d ";
        command += &shell_word(body);
    }
    Some(command)
}

/// The key of an API has a header of its own.
fn with_key(name: &str) -> Option<(&'static str, String)> {
    let mut all = APIS.iter().flat_map(|api| api.request.with_key("$CONFORMANCE_API_KEY"));
    all.find(|(known, _)| name.eq_ignore_ascii_case(known))
}

fn is_by_curl(name: &str) -> bool {
    ["host", "content-length", "accept-encoding", "user-agent"]
        .iter()
        .any(|own| name.eq_ignore_ascii_case(own))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange<'a>(url: &'a str, headers: &[(&'a str, &'a str)], body: Option<&'a str>) -> Exchange<'a> {
        let headers = headers.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        let request = Request {
            method: "POST".into(),
            url: url.into(),
            headers: headers.collect(),
            body: body.map(Into::into),
        };
        Exchange { request: Some(request), ..Exchange::default() }
    }

    #[test]
    fn commands_are_safe_and_have_no_key() {
        let headers = [
            ("authorization", "[redacted]"),
            ("content-type", "application/json"),
            ("x-tenant", "[redacted]"),
            ("content-length", "9"),
        ];
        assert_eq!(
            curl(&exchange("http://h.test/v1/responses?a=b&c", &headers, Some(r#"{"input":"it's $(x)"}"#))),
            Some(
                r#"curl -N -X POST 'http://h.test/v1/responses?a=b&c' -H "Authorization: Bearer $CONFORMANCE_API_KEY" -H 'content-type: application/json' -H 'x-tenant: '"$HEADER_X_TENANT" -d '{"input":"it'\''s $(x)"}'"#
                    .to_owned()
            )
        );
    }

    #[test]
    fn an_unknown_key_is_repeated() {
        let headers = [("x-api-key", "no-such-key"), ("authorization", "Bearer no-such-key")];
        assert_eq!(
            curl(&exchange("http://h.test", &headers, None)).as_deref(),
            Some(
                "curl -N -X POST http://h.test -H 'x-api-key: no-such-key' -H 'authorization: Bearer no-such-key'"
            )
        );
    }

    #[test]
    fn what_no_command_repeats_has_none() {
        let long = "x".repeat(LONGEST_BODY + 1);
        assert_eq!(curl(&exchange("wss://h.test", &[], None)), None);
        assert_eq!(curl(&exchange("http://h.test", &[], Some(&long))), None);
        assert_eq!(curl(&Exchange { status: Some(SWITCHED), ..exchange("http://h.test", &[], None) }), None);
        assert_eq!(curl(&exchange("http://h.test", &[], Some(REDACTED))), None);
        assert_eq!(curl(&Exchange::default()), None);
    }
}

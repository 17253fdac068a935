//! Errors in the words of each API.

use spec::Api;

/// The class of errors with a status, or else of those that are as bad.
pub fn class_of(api: &Api, status: u16) -> &'static str {
    named(api, status).or_else(|| named(api, general(status))).unwrap_or("server_error")
}

pub(super) const fn general(status: u16) -> u16 {
    if status < 500 { 400 } else { 500 }
}

pub(super) fn named(api: &Api, status: u16) -> Option<&'static str> {
    let of = || api.error.status.iter().filter(|(_, own)| *own == status).map(|(class, _)| *class);
    of().find(|class| class.ends_with("_error")).or_else(|| of().next())
}

/// The status of errors of a class.
pub fn status_of(api: &Api, class: &str) -> u16 {
    let by_class = api.error.status.iter().find(|(known, _)| *known == class).map(|(_, status)| *status);
    by_class.unwrap_or(match class {
        "rate_limit_exceeded" | "insufficient_quota" => 429,
        "invalid_api_key" => 401,
        "model_not_found" => 404,
        "invalid_prompt" => 400,
        _ => class.parse().ok().filter(|status| (400..600).contains(status)).unwrap_or(500),
    })
}

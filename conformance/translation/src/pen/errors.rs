//! Errors in the words of each API.

use spec::Api;

/// The class of errors with a status.
pub fn class_of(api: &Api, status: u16) -> &'static str {
    let named = |wanted: u16| {
        let of =
            || api.error.status.iter().filter(move |(_, status)| *status == wanted).map(|(class, _)| *class);
        of().find(|class| class.ends_with("_error")).or_else(|| of().next())
    };
    let general = if status < 500 { 400 } else { 500 };
    named(status).or_else(|| named(general)).unwrap_or("server_error")
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

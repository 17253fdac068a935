//! Addresses that were meant as URLs, and names that look like them.

use std::net::IpAddr;

/// For an address without a scheme, such as `localhost:9100`.
pub(super) fn url_of(target: &str) -> Option<String> {
    let target = target.trim_start_matches('/');
    let (authority, path) = target.split_once('/').map_or((target, ""), |(host, path)| (host, path));
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) => (host, Some(port.parse::<u16>().ok()?)),
        None => (authority, None),
    };
    let ip = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().ok();
    let is_label = |label: &str| {
        !label.is_empty() && label.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
    };
    let is_host = ip.is_some() || host.split('.').all(is_label);
    let is_address = port.is_some() || ip.is_some() || host == "localhost" || host.contains('.');
    if !is_host || !is_address {
        return None;
    }
    // A machine on the Internet answers over TLS, unless the port says otherwise.
    let is_public = ip.is_none() && host.contains('.') && matches!(port, None | Some(443));
    let scheme = if is_public { "https" } else { "http" };
    let path = if path.is_empty() { "v1" } else { path };
    Some(format!("{scheme}://{authority}/{path}"))
}

/// A name that looks like an address, such as `localhost:9100` or `gateway.example/v1`, means that host to whoever types it.
pub(super) fn is_address_of_other(name: &str, url: &str) -> bool {
    if url_of(name).is_none() {
        return false;
    }
    let authority = |url: &str| {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        authority.rsplit('@').next().unwrap_or_default().to_lowercase()
    };
    let (meant, real) = (authority(name), authority(url));
    let host = real.rsplit_once(':').map_or(&*real, |(host, _)| host);
    // The last part of a name such as llama-3.1 is no domain.
    let is_domain =
        meant.rsplit('.').next().is_some_and(|last| last.chars().all(|c| c.is_ascii_alphabetic()));
    let is_address = is_domain || meant.contains(':') || meant.parse::<IpAddr>().is_ok();
    is_address && meant != real && meant != host
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_become_urls() {
        for (address, url) in [
            ("localhost:9100", Some("http://localhost:9100/v1")),
            ("localhost", Some("http://localhost/v1")),
            ("localhost:9100/", Some("http://localhost:9100/v1")),
            ("127.0.0.1:8080/openai/v1", Some("http://127.0.0.1:8080/openai/v1")),
            ("[::1]:8080", Some("http://[::1]:8080/v1")),
            ("//gateway.example/v1", Some("https://gateway.example/v1")),
            ("gateway.example", Some("https://gateway.example/v1")),
            ("gateway.example:8080", Some("http://gateway.example:8080/v1")),
            ("gateway:8080", Some("http://gateway:8080/v1")),
            ("staging", None),
            ("staging:eu", None),
            ("a b:80", None),
            ("", None),
            (":", None),
            ("x:99999", None),
        ] {
            assert_eq!(url_of(address).as_deref(), url, "{address}");
        }
    }

    #[test]
    fn names_of_targets_do_not_stand_for_another_host() {
        for (name, url) in [
            ("localhost:9100", "https://elsewhere.example/v1"),
            ("127.0.0.1", "http://127.0.0.2/v1"),
            ("api.gateway.example", "https://elsewhere.example/v1"),
            ("api.gateway.example/v1", "https://api.gateway.example@elsewhere.example/v1"),
            ("localhost:9100", "http://localhost:9101/v1"),
        ] {
            assert!(is_address_of_other(name, url), "{name} {url}");
        }
        for (name, url) in [
            ("staging", "https://elsewhere.example/v1"),
            ("llama-3.1", "https://elsewhere.example/v1"),
            ("localhost", "http://localhost:9100/v1"),
            ("Gateway.example", "https://user@gateway.example/v1"),
        ] {
            assert!(!is_address_of_other(name, url), "{name} {url}");
        }
    }
}

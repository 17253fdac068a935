//! The proxy of the environment.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use http::Uri;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use reqwest::Url;

#[derive(Debug)]
pub(super) struct Proxy {
    pub(super) url: String,
    pub(super) secrets: Vec<String>,
    pub(super) is_secure: bool,
}

impl Proxy {
    /// The environment names the proxy.
    ///
    /// # Errors
    ///
    /// When it is no proxy for HTTP.
    pub(super) fn of(target: &Url) -> Result<Option<Self>, String> {
        // The same matcher is used for sending.
        let intercept = |uri: Uri| Matcher::from_system().intercept(&uri);
        target.as_str().parse().ok().and_then(intercept).as_ref().map(Self::new).transpose()
    }

    fn new(found: &Intercept) -> Result<Self, String> {
        let scheme = found.uri().scheme_str().unwrap_or_default();
        // Tools disagree on @ in user names.
        let host = found.uri().host().unwrap_or_default();
        let port = found.uri().port_u16().map(|port| format!(":{port}")).unwrap_or_default();
        let url = format!("{scheme}://{host}{port}");
        if found.uri().authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err(format!("the user name of the proxy {url} contains @: write it as %40"));
        }
        if !matches!(scheme, "http" | "https") {
            return Err(format!(
                "the proxy {url} is not an HTTP proxy; list hosts without a proxy in NO_PROXY"
            ));
        }
        let credentials = found.basic_auth().and_then(|header| header.to_str().ok()?.strip_prefix("Basic "));
        Ok(Self { url, secrets: credentials.map(secrets).unwrap_or_default(), is_secure: scheme == "https" })
    }
}

/// The encoded credentials and the password, or a user without one.
fn secrets(basic: &str) -> Vec<String> {
    let decoded = BASE64_STANDARD.decode(basic).unwrap_or_default();
    let text = String::from_utf8_lossy(&decoded);
    let (user, password) = text.split_once(':').unwrap_or((&text, ""));
    let alone = if password.is_empty() { user } else { password };
    vec![basic.to_owned(), alone.to_owned()]
}

//! The endpoint under test.

use std::sync::OnceLock;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use reqwest::Url;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::Value;
use spec::{Api, UNKNOWN_KEY};

use gateway::is_loopback;

use super::mask::{Mask, Secrets};
use super::spread;
use recordings::capture::Recorder;
use results::CaptureReport;

/// The endpoint under test, with its headers.
#[derive(Debug, Clone)]
pub struct Target {
    api: &'static Api,
    url: Url,
    headers: HeaderMap,
    wanted: Vec<String>,
    secrets: Vec<String>,
    patterns: OnceLock<Secrets>,
    is_direct: bool,
    authorities: Vec<CertificateDer<'static>>,
}

/// An invalid target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetError(String);

impl std::fmt::Display for TargetError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TargetError {}

/// Length below which values are not secrets, as they occur in any response.
const SHORT: usize = 8;

impl Target {
    /// Returns the endpoint of an API at a URL. The URL can be the URL of the main operation, of its version
    /// (`https://gateway.test/v1`), or of the host, whose version is the usual one of the API.
    ///
    /// # Errors
    ///
    /// When it is no address of HTTP.
    pub fn new(base: &str, api: &'static Api) -> Result<Self, TargetError> {
        let wrong = |problem: &str| {
            TargetError(format!("the target is not a URL such as https://gateway.example/v1: {problem}"))
        };
        let mut url = Url::parse(base).map_err(|error| wrong(&error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(wrong("it must begin with http:// or https://"));
        }
        url.set_path(&path(url.path(), api));
        url.set_fragment(None);
        // Visible parts of the URL, such as the API version, are not secret.
        let public = Recorder::new().url(url.as_str());
        let of_query = url.query_pairs().map(|(_, value)| value.into_owned());
        let of_query = of_query.filter(|value| !public.contains(value));
        let secrets = credentials(&url).into_iter().chain(of_query).collect();
        let mut headers = HeaderMap::from_iter([
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (USER_AGENT, HeaderValue::from_static(concat!("conformance/", env!("CARGO_PKG_VERSION")))),
        ]);
        let of_api = api.request.headers.iter();
        headers.extend(
            of_api.map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))),
        );
        Ok(Self {
            api,
            url,
            headers,
            wanted: Vec::new(),
            secrets,
            patterns: OnceLock::new(),
            is_direct: false,
            authorities: Vec::new(),
        })
    }

    /// Returns the target of another route below the same version, such as `/models`.
    #[must_use]
    pub fn beside(mut self, route: &str) -> Self {
        if let Ok(mut path) = self.url.path_segments_mut() {
            for _ in self.api.path.split('/').skip(1) {
                path.pop();
            }
            path.push(route);
        }
        self
    }

    /// Sends this key with each request, in the headers of the API.
    ///
    /// # Errors
    ///
    /// If it is not a valid header value.
    pub fn with_key(mut self, key: &str) -> Result<Self, TargetError> {
        for (name, value) in self.api.request.with_key(key) {
            let value = HeaderValue::from_str(&value).map_err(|_| {
                TargetError("the API key has characters that are invalid in a header".to_owned())
            })?;
            let name =
                HeaderName::from_bytes(name.as_bytes()).map_err(|error| TargetError(error.to_string()))?;
            self.headers.insert(name, value);
        }
        self.add_secrets([key.to_owned()]);
        Ok(self)
    }

    /// Sends this header, `Name: value`, with each request, in place of one of the suite's own.
    ///
    /// # Errors
    ///
    /// When it is none. The value is not repeated: it may be a secret.
    pub fn with_header(mut self, header: &str) -> Result<Self, TargetError> {
        let wrong = || TargetError("a header has the form 'Name: value'".to_owned());
        let (name, value) = header.split_once(':').ok_or_else(wrong)?;
        let name = HeaderName::from_bytes(name.trim().as_bytes()).map_err(|_| wrong())?;
        let text = value.trim();
        let value = HeaderValue::from_str(text).map_err(|_| wrong())?;
        // In `Bearer abc`, `session=abc; path=/` and `{"key": "abc"}`, only a part is the secret.
        let json = serde_json::from_str(text).ok().filter(|json: &Value| json.is_object() || json.is_array());
        let parts = json.as_ref().map_or_else(|| parts_of(text), texts_in);
        self.add_secrets(parts.into_iter().chain([text.to_owned()]));
        self.wanted.push(name.to_string());
        self.headers.insert(name, value);
        Ok(self)
    }

    /// Also trusts these certificates, and what they sign as authorities, given as PEM.
    ///
    /// # Errors
    ///
    /// If the PEM contains no certificate.
    pub fn with_authorities(mut self, pem: &[u8]) -> Result<Self, TargetError> {
        let read: Vec<_> = CertificateDer::pem_slice_iter(pem).collect::<Result<_, _>>().unwrap_or_default();
        if read.is_empty() {
            return Err(TargetError("it contains no PEM certificate".to_owned()));
        }
        self.authorities.extend(read);
        Ok(self)
    }

    /// Certificates to trust beside the system's.
    pub(super) fn authorities(&self) -> &[CertificateDer<'static>] {
        &self.authorities
    }

    pub(crate) fn wanted_headers(&self) -> &[String] {
        &self.wanted
    }

    pub(crate) const fn has_authorities(&self) -> bool {
        !self.authorities.is_empty()
    }

    pub(crate) fn hiding(mut self, secrets: &[String]) -> Self {
        self.add_secrets(secrets.iter().cloned());
        self
    }

    /// Disables the proxy.
    #[must_use]
    pub fn direct(self) -> Self {
        Self { is_direct: true, ..self }
    }

    pub(super) const fn is_direct(&self) -> bool {
        self.is_direct
    }

    /// Returns whether it is on this machine, so that it can reach local servers.
    pub fn is_local(&self) -> bool {
        is_loopback(&self.url)
    }

    /// The URL.
    pub const fn url(&self) -> &Url {
        &self.url
    }

    pub(super) fn address(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        self.url.port_or_known_default().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// The headers of a streaming or non-streaming request.
    pub fn headers(&self, is_stream: bool) -> HeaderMap {
        let mut headers = self.headers.clone();
        let accept = if is_stream { "text/event-stream" } else { "application/json" };
        headers.entry(ACCEPT).or_insert(HeaderValue::from_static(accept));
        headers
    }

    /// No endpoint knows the new key.
    pub(super) fn set_unknown_key(&self, headers: &mut HeaderMap) {
        for (name, value) in self.api.request.with_key(UNKNOWN_KEY) {
            let value = HeaderValue::from_str(&value).ok();
            if let (Ok(name), Some(value)) = (HeaderName::from_bytes(name.as_bytes()), value) {
                headers.insert(name, value);
            }
        }
    }

    pub(crate) fn secrets(&self) -> Secrets {
        self.patterns.get_or_init(|| Secrets::new(&self.long_secrets())).clone()
    }

    fn add_secrets(&mut self, secrets: impl IntoIterator<Item = String>) {
        self.secrets.extend(secrets);
        self.patterns = OnceLock::new();
    }

    fn long_secrets(&self) -> Vec<String> {
        self.secrets.iter().filter(|secret| secret.len() >= SHORT).cloned().collect()
    }

    /// The URL without secrets.
    pub fn public_url(&self) -> String {
        let url = Recorder::new().url(self.url.as_str());
        // A path that names the model has a place for it.
        self.masked(&url.replace("%7B", "{").replace("%7D", "}"))
    }

    /// Recordings have no secrets; this covers secrets that only their joined parts contain.
    pub(crate) fn masked_report(&self, report: CaptureReport) -> CaptureReport {
        let text = serde_json::to_string(&report).unwrap_or_default();
        let masked = self.masked(&text);
        if masked == text { report } else { serde_json::from_str(&masked).unwrap_or_default() }
    }

    /// Returns a recording without secrets split over its events.
    pub fn hidden(&self, recording: &str) -> String {
        spread::hide(recording, &self.secrets())
    }

    pub(crate) fn masked(&self, text: &str) -> String {
        let mut mask = Mask::new(self.secrets());
        let mut bytes = mask.push(text.as_bytes());
        bytes.extend(mask.finish());
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

fn parts_of(header: &str) -> Vec<String> {
    let parts = header.split([' ', ';', ',']);
    parts.map(|part| part.split_once('=').map_or(part, |(_, value)| value).to_owned()).collect()
}

/// Without quotes: a response that lacks those is no longer JSON.
fn texts_in(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(entries) => entries.iter().flat_map(texts_in).collect(),
        Value::Object(members) => members.values().flat_map(texts_in).collect(),
        _ => Vec::new(),
    }
}

/// The password or a user without one, and both as sent.
fn credentials(url: &Url) -> Vec<String> {
    // The URL parser decodes only queries.
    let decoded = |text: &str| {
        let mut query = url.clone();
        query.set_query(Some(&text.replace('&', "%26").replace('+', "%2B").replace('=', "%3D")));
        query.query_pairs().next().map(|(name, _)| name.into_owned()).unwrap_or_default()
    };
    let (user, password) = (decoded(url.username()), url.password().map(decoded));
    if user.is_empty() && password.is_none() {
        return Vec::new();
    }
    let basic = BASE64_STANDARD.encode(format!("{user}:{}", password.as_deref().unwrap_or_default()));
    vec![password.unwrap_or(user), basic]
}

/// The secrets of a URL that is sent to others: its credentials, query values, and long path segments.
pub fn secrets_of(address: &str) -> Vec<String> {
    /// Length above which path segments may be secrets.
    const TOKEN: usize = 16;

    let Ok(url) = Url::parse(address) else { return Vec::new() };
    let of_query = url.query_pairs().map(|(_, value)| value.into_owned());
    let of_path = url.path().split('/').filter(|segment| segment.len() >= TOKEN).map(str::to_owned);
    credentials(&url).into_iter().chain(of_query).chain(of_path).collect()
}

fn path(base: &str, api: &Api) -> String {
    let base = base.trim_end_matches('/');
    let is_version = |segment: &str| {
        segment.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    if api.is_at(base) {
        base.to_owned()
    } else if base.split('/').any(is_version) {
        format!("{base}{}", api.path)
    } else {
        format!("{base}/{}{}", api.version, api.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn api() -> &'static Api {
        spec::dialect("openai").unwrap().api
    }

    #[test]
    fn bases_become_addresses() {
        let url = |base: &str| Target::new(base, api()).map(|target| target.url().to_string());
        for (base, expected) in [
            ("http://a.test", "http://a.test/v1/responses"),
            ("http://a.test:81/v1/", "http://a.test:81/v1/responses"),
            ("https://a.test/openai/v1?api-version=1", "https://a.test/openai/v1/responses?api-version=1"),
            ("https://a.test/openai", "https://a.test/openai/v1/responses"),
            ("https://a.test/v1beta/x", "https://a.test/v1beta/x/responses"),
            ("https://a.test/responses", "https://a.test/responses"),
        ] {
            assert_eq!(url(base), Ok(expected.to_owned()));
        }
        for base in ["a.test", "ftp://a.test", "unix:/a"] {
            assert!(url(base).is_err(), "{base}");
        }
    }

    #[test]
    fn headers_are_checked_and_never_repeated() {
        let target = Target::new("http://a.test?api-version=2026-01-01&sig=key-00000000", api()).unwrap();
        for header in ["x", "x y: 12345678", "x: 1234\n5678"] {
            let error = target.clone().with_header(header).unwrap_err().to_string();
            assert!(!error.contains("1234"), "{error}");
        }
        let target =
            target.with_key("key-12345678").unwrap().with_header("Cookie: a=session-1; b=2").unwrap();
        let mut secrets = target.long_secrets();
        secrets.sort_unstable();
        assert_eq!(secrets, ["a=session-1; b=2", "key-00000000", "key-12345678", "session-1"]);
    }

    #[test]
    fn headers_of_json_leave_responses_json() {
        let target = Target::new("http://a.test/v1", api()).unwrap();
        let header = r#"x-config: {"provider": "key-12345678", "targets": [{"api_key": "key-00000000"}]}"#;
        let target = target.with_header(header).unwrap();
        let response = r#"{"provider":"key-12345678","of":"key-00000000"}"#;
        assert_eq!(target.masked(response), r#"{"provider":"************","of":"************"}"#);
    }

    #[test]
    fn secrets_in_addresses_are_hidden() {
        let target = Target::new("http://me:p%40ss%2Fw+rd@a.test/key-12345678/v1", api()).unwrap();
        let target = target.with_key("key-12345678").unwrap();
        assert_eq!(target.public_url(), "http://a.test/************/v1/responses");
        // As it is sent: the base64 of `me:p@ss/w+rd`.
        assert_eq!(
            target.masked("bTpwQHNz bWU6cEBzcy93K3Jk p@ss/w+rd"),
            "bTpwQHNz **************** *********"
        );
        let named = Target::new("http://token-12345678@a.test/v1", api()).unwrap();
        assert_eq!(named.masked("token-12345678"), "**************");
    }
}

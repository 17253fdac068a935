//! `[between]`, `[client]` and `[tap]`: settings of the commands with these names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use serde::{Deserialize, Serialize};

use super::super::flags::target::is_on_this_machine;
use super::{CommandLine, Flags, folder_of, members, names, read};

/// Settings of `conformance between`. Each is the flag of the same name. No command is taken from a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct BetweenConfig {
    /// URL of the gateway, on this machine.
    gateway: Option<String>,
    /// APIs of the client: responses, messages, chat, gemini.
    front: Option<Vec<String>>,
    /// APIs of the upstream: responses, messages, chat, gemini.
    upstream: Option<Vec<String>>,
    /// Port of the scripted upstream.
    upstream_port: Option<u16>,
    /// Model to request.
    model: Option<String>,
    /// Name of the gateway in reports.
    name: Option<String>,
    /// How the gateway handles pairs of APIs: `FRONT-UPSTREAM` and passthrough, inspect, transform or local.
    #[serde(default)]
    mode: BTreeMap<String, String>,
    /// Environment variable with the API key, as `$NAME`.
    api_key: Option<String>,
    /// Whether the gateway passes the client's key on to the upstream.
    passes_key: Option<bool>,
    /// Headers to send with each request. A value `$NAME` is taken from the environment.
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// Number of requests that the gateway may repeat.
    retries: Option<u32>,
    /// For how long the gateway may read the upstream's stream after a client has left, as in `10s`.
    drains: Option<String>,
    /// The longest time without a byte for the client while the upstream is silent, as in `15s`.
    keeps_alive: Option<String>,
    /// Whether clients of the Responses API talk over a WebSocket.
    websocket: Option<bool>,
    /// Model that another provider serves.
    other_model: Option<String>,
    /// Time limit for a response, as in `30s`.
    timeout: Option<String>,
    /// Time limit for what the upstream waits for, as in `500ms`.
    limit: Option<String>,
    /// Time until a started gateway must answer, as in `2m`.
    start_timeout: Option<String>,
    /// Tests to run at once.
    jobs: Option<u64>,
    /// Tests to leave out.
    skip: Option<Vec<String>>,
    /// Findings that fail: must, breaks, should, may.
    fail_on: Option<String>,
    /// Levels of rules and groups, by name. They win over `rules` of the file.
    #[serde(default)]
    rules: BTreeMap<String, String>,
    /// File with expected failures, relative to this file.
    expected_failures: Option<PathBuf>,
}

/// Settings of `conformance client`. Each is the flag of the same name. No command is taken from a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ClientConfig {
    /// API that the client speaks: responses, messages, chat, gemini.
    api: Option<String>,
    /// Dialect of the server.
    dialect: Option<String>,
    /// How the client is driven: lines, spawn, server.
    mode: Option<String>,
    /// Transports: sse, json, websocket.
    transport: Option<Vec<String>>,
    /// Profiles to judge the client by.
    profile: Option<Vec<String>>,
    /// Name of the client in reports.
    name: Option<String>,
    /// Version of the client in reports.
    client_version: Option<String>,
    /// Clients to run at once.
    jobs: Option<u64>,
    /// Time limit for a case, as in `5s`.
    timeout: Option<String>,
    /// Tests to leave out.
    skip: Option<Vec<String>>,
    /// Findings that fail: must, breaks, should, may.
    fail_on: Option<String>,
    /// Levels of rules and groups, by name.
    #[serde(default)]
    rules: BTreeMap<String, String>,
    /// File with expected failures, relative to this file.
    expected_failures: Option<PathBuf>,
}

/// Settings of `conformance tap`. Each is the flag of the same name. No command is taken from a file.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct TapConfig {
    /// Where to pass requests: URLs without /v1, or `NAME=URL` for paths that begin with /NAME.
    upstream: Option<Vec<String>>,
    /// Address to listen on, as in `127.0.0.1:8180`.
    listen: Option<String>,
    /// Address of /metrics, /healthz and /readyz.
    metrics: Option<String>,
    /// URL of an OpenTelemetry collector.
    otlp: Option<String>,
    /// Dialect of the upstreams, or its folder, relative to this file.
    dialect: Option<String>,
    /// Part of the exchanges to judge, from 0 to 1.
    sample: Option<f64>,
    /// Memory for copies, as in `256MiB`.
    memory: Option<String>,
    /// Folder for recordings, relative to this file.
    evidence: Option<PathBuf>,
    /// Replace texts in recordings by filler of their length.
    shape_only: Option<bool>,
    /// Recordings to keep: findings, all.
    keep: Option<String>,
    /// Size of all recordings, as in `1GiB`.
    max_evidence: Option<String>,
    /// Age of recordings, as in `7d`.
    max_age: Option<String>,
    /// Recordings of a rule to keep in an hour.
    per_rule: Option<u32>,
    /// Header of requests whose value is the session in the index.
    session_header: Option<String>,
    /// Rules or groups to check.
    select: Option<Vec<String>>,
    /// Rules or groups to skip.
    ignore: Option<Vec<String>>,
    /// Findings that fail: must, breaks, should, may.
    fail_on: Option<String>,
    /// Levels of rules and groups, by name. They win over `rules` of the file.
    #[serde(default)]
    rules: BTreeMap<String, String>,
}

impl TapConfig {
    fn flags(&self, folder: &Path) -> Result<Flags> {
        let dialect = self.dialect.as_ref().map(|name| names::dialects_at(name, folder));
        flags_of("tap", &Self { dialect, ..self.clone() }, folder)
    }
}

impl BetweenConfig {
    /// Paths of files are relative to `folder`.
    fn flags(&self, folder: &Path) -> Result<Flags> {
        if let Some(url) = self.gateway.as_ref().filter(|url| !is_on_this_machine(url)) {
            bail!(
                "between.gateway is {url}, which is not on this machine; pass it on the command line, with --gateway"
            );
        }
        flags_of("between", self, folder)
    }
}

/// Paths of files are relative to `folder`.
fn flags_of(section: &str, settings: &impl Serialize, folder: &Path) -> Result<Flags> {
    let mut flags = Flags::default();
    for (setting, value) in members(settings)? {
        let added = flags.add_setting(&setting, &value, folder);
        added.map_err(|error| anyhow!("{section}.{setting}: {error}"))?;
    }
    Ok(flags)
}

impl CommandLine<'_> {
    /// For a run of both ends of a gateway.
    pub(super) fn complete_between(&mut self, file: Option<&Path>) -> Result<()> {
        let Some(file) = file else { return Ok(()) };
        let config = read(file)?;
        let mut flags = config.between.flags(folder_of(file)).with_context(|| file.display().to_string())?;
        flags.merge(Flags::of_levels(&config.rules));
        // The file may have come with a repository: what it takes from the environment stays on this machine.
        let is_near = self.value("gateway").is_none_or(|url| is_on_this_machine(&url));
        self.complete_trusted(file, flags, is_near || self.has("trust_config"))
    }
}

impl CommandLine<'_> {
    pub(super) fn complete_tap(&mut self, file: Option<&Path>) -> Result<()> {
        let Some(file) = file else { return Ok(()) };
        let config = read(file)?;
        let mut flags = config.tap.flags(folder_of(file)).with_context(|| file.display().to_string())?;
        flags.merge(Flags::of_levels(&config.rules));
        self.complete_trusted(file, flags, self.has("trust_config"))
    }

    pub(super) fn complete_client(&mut self, file: Option<&Path>) -> Result<()> {
        let Some(file) = file else { return Ok(()) };
        let config = read(file)?;
        let flags = flags_of("client", &config.client, folder_of(file));
        self.complete_trusted(file, flags.with_context(|| file.display().to_string())?, true)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Flag;
    use super::*;
    use crate::cli::{COMMANDS, described};

    /// Every setting is a flag, so that none is dropped silently.
    #[test]
    fn every_setting_is_a_flag() {
        let text = "gateway = 'http://localhost:4000/v1'\nfront = ['chat']\nupstream = ['chat']\nupstream-port = 9000\n\
                    model = 'm'\nname = 'n'\nmode = { chat-chat = 'inspect' }\napi-key = '$K'\npasses-key = true\n\
                    headers = { x-a = '1' }\nretries = 1\ndrains = '1s'\nkeeps-alive = '1s'\nwebsocket = true\nother-model = 'o'\ntimeout = '1s'\nlimit = '1s'\nstart-timeout = '1s'\n\
                    jobs = 1\nskip = ['a', 'b']\nfail-on = 'must'\nrules = { wire = 'off' }\nexpected-failures = 'k.toml'\n";
        let config: BetweenConfig = toml::from_str(text).unwrap();
        assert_flags("between", &config.flags(Path::new("/p")).unwrap(), 24);
        let text = "dialect = 'openai'\nmode = 'spawn'\ntransport = ['sse']\nprofile = ['client-core']\nname = 'n'\n\
                    client-version = '1'\njobs = 1\ntimeout = '1s'\nskip = ['a', 'b']\nfail-on = 'must'\n\
                    rules = { client = 'off' }\nexpected-failures = 'k.toml'\n";
        let config: ClientConfig = toml::from_str(text).unwrap();
        assert_flags("client", &flags_of("client", &config, Path::new("/p")).unwrap(), 13);
        let text = "upstream = ['http://a.test', 'b=http://b.test']\nlisten = '127.0.0.1:1'\nmetrics = '127.0.0.1:2'\n\
                    otlp = 'http://c.test'\n\
                    dialect = 'openai'\nsample = 0.1\nmemory = '1MiB'\nevidence = 'e'\nshape-only = true\nkeep = 'all'\n\
                    max-evidence = '1MiB'\nmax-age = '7d'\nper-rule = 1\nsession-header = 'x'\nselect = ['item']\n\
                    ignore = ['ws']\nfail-on = 'must'\nrules = { wire = 'off' }\n";
        let config: TapConfig = toml::from_str(text).unwrap();
        assert_flags("tap", &config.flags(Path::new("/p")).unwrap(), 19);
    }

    fn assert_flags(name: &str, flags: &Flags, count: usize) {
        assert_eq!(flags.0.len(), count);
        let command = described(COMMANDS);
        let known = command.find_subcommand(name).unwrap();
        for Flag { name, .. } in &flags.0 {
            assert!(known.get_arguments().any(|arg| arg.get_long() == Some(name.as_str())), "{name}");
        }
        let line = ["conformance".to_owned(), name.to_owned()].into_iter();
        let flags = flags.0.iter().map(|flag| format!("--{}={}", flag.name, flag.value));
        command.clone().try_get_matches_from(line.chain(flags)).unwrap();
    }
}

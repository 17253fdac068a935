//! `conformance.toml`: defaults for the flags of a run, by target.
//!
//! The file completes the command line before it is parsed, so that every flag wins over it and every value is
//! checked as a flag is.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context as _, Result, anyhow, bail};
use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use serde::Deserialize;

use super::names;
use harness::live::Evidence;
use results::Transport;

/// The name of the file.
pub(super) const FILE: &str = "conformance.toml";

/// The configuration of a project: targets by name, and settings for all of them.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Config {
    /// Settings for all targets.
    #[serde(default)]
    defaults: Settings,
    /// Endpoints, by the name that `--target` takes.
    #[serde(default)]
    targets: BTreeMap<String, TargetConfig>,
}

/// An endpoint.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct TargetConfig {
    /// URL of the endpoint, with or without /v1.
    url: String,
    /// Settings for this target. They win over `defaults`.
    #[serde(default)]
    settings: Settings,
}

/// What a run is like unless a flag says otherwise. Each setting is the flag of the same name.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Settings {
    /// Model to request.
    model: Option<String>,
    /// Dialect of the endpoint.
    dialect: Option<String>,
    /// Transports to test: sse, json, websocket.
    transport: Option<Vec<String>>,
    /// Features the endpoint supports.
    features: Option<Vec<String>>,
    /// Features the endpoint does not support.
    without: Option<Vec<String>>,
    /// Run only what these profiles demand.
    profile: Option<Vec<String>>,
    /// Rules or groups to check.
    select: Option<Vec<String>>,
    /// Rules or groups to skip.
    ignore: Option<Vec<String>>,
    /// Fail on broken SHOULD rules, too.
    strict: Option<bool>,
    /// File with expected failures, relative to this file.
    expected_failures: Option<PathBuf>,
    /// File with additional CA certificates, relative to this file.
    ca_file: Option<PathBuf>,
    /// Environment variable with the API key, as `$NAME`.
    api_key: Option<String>,
    /// Headers to send with each request. A value `$NAME` is that of an environment variable.
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// Resources that only you can provide, by name.
    #[serde(default)]
    given: BTreeMap<String, String>,
    /// Limits of the run.
    #[serde(default)]
    limits: LimitSettings,
}

/// Limits of a run. A time is `30s`, `500ms` or `2m`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct LimitSettings {
    /// Connection timeout.
    connect_timeout: Option<String>,
    /// Timeout from the request to the end of the first event.
    first_event_timeout: Option<String>,
    /// Timeout between two events.
    idle_timeout: Option<String>,
    /// Timeout for a whole response.
    timeout: Option<String>,
    /// Delay between requests.
    delay: Option<String>,
    /// Largest response to read, in bytes.
    max_bytes: Option<u64>,
    /// How often to send a scenario until the expected events occur.
    attempts: Option<u64>,
    /// Scenarios to run at once.
    jobs: Option<u64>,
    /// Concurrent requests for each scenario of crowd/.
    concurrent: Option<u64>,
}

/// Flags with their values.
#[derive(Debug, Default)]
struct Flags(Vec<(&'static str, String)>);

impl Flags {
    fn add(&mut self, flag: &'static str, value: Option<impl ToString>) {
        self.0.extend(value.map(|value| (flag, value.to_string())));
    }

    /// Adds the flags that are not there yet. Of headers and resources, those of other names are added.
    fn merge(&mut self, others: Self) {
        for (flag, value) in others.0 {
            let is_same = |own: &(&str, String)| {
                own.0 == flag && (!matches!(flag, "header" | "given") || name(&own.1) == name(&value))
            };
            if !self.0.iter().any(is_same) {
                self.0.push((flag, value));
            }
        }
    }

    fn list(&mut self, flag: &'static str, values: Option<&Vec<String>>) {
        self.add(flag, values.map(|values| values.join(",")));
    }
}

impl Settings {
    /// Returns the flags that say the same. Files are relative to a folder.
    fn flags(&self, folder: &Path) -> Result<Flags> {
        let mut flags = Flags::default();
        flags.add("model", self.model.as_ref());
        flags.add("dialect", self.dialect.as_ref());
        let lists = [
            ("transport", &self.transport),
            ("features", &self.features),
            ("without", &self.without),
            ("profile", &self.profile),
            ("select", &self.select),
            ("ignore", &self.ignore),
        ];
        for (flag, values) in lists {
            flags.list(flag, values.as_ref());
        }
        flags.add("strict", self.strict);
        let file = |path: &PathBuf| folder.join(path).display().to_string();
        flags.add("expected-failures", self.expected_failures.as_ref().map(file));
        flags.add("ca-file", self.ca_file.as_ref().map(file));
        if let Some(key) = &self.api_key {
            if !key.starts_with('$') {
                bail!(
                    "api-key: use an environment variable, as in \"$GATEWAY_KEY\"; keys do not belong in files"
                );
            }
            flags.add("api-key", Some(variable("api-key", key)?));
        }
        for (name, value) in &self.headers {
            flags.add("header", Some(format!("{name}: {}", variable(name, value)?)));
        }
        for (name, value) in &self.given {
            flags.add("given", Some(format!("{name}={value}")));
        }
        let limits = &self.limits;
        let times = [
            ("connect-timeout", &limits.connect_timeout),
            ("first-event-timeout", &limits.first_event_timeout),
            ("idle-timeout", &limits.idle_timeout),
            ("timeout", &limits.timeout),
            ("delay", &limits.delay),
        ];
        for (flag, time) in times {
            flags.add(flag, time.as_ref());
        }
        let counts = [
            ("max-bytes", limits.max_bytes),
            ("attempts", limits.attempts),
            ("jobs", limits.jobs),
            ("concurrent", limits.concurrent),
        ];
        for (flag, count) in counts {
            flags.add(flag, count);
        }
        Ok(flags)
    }
}

/// Returns the name in `NAME: VALUE` or `NAME=VALUE`.
fn name(text: &str) -> String {
    text.split([':', '=']).next().unwrap_or_default().trim().to_lowercase()
}

/// Returns a value, or that of the environment variable that it names.
fn variable(setting: &str, value: &str) -> Result<String> {
    match value.strip_prefix('$') {
        None => Ok(value.to_owned()),
        Some(name) => {
            env::var(name).map_err(|_| anyhow!("{setting}: the environment variable {name} is not set"))
        }
    }
}

/// Returns a command line completed by the configuration file, and by the run whose failed tests are repeated; `None` if
/// they add nothing.
pub(super) fn completed(
    arguments: &[OsString],
    command: &Command,
    matches: &ArgMatches,
) -> Result<Option<Vec<OsString>>> {
    let Some((subcommand, matches)) = matches.subcommand() else { return Ok(None) };
    let Some(command) =
        command.find_subcommand(subcommand).filter(|_| matches!(subcommand, "run" | "record" | "check"))
    else {
        return Ok(None);
    };
    let file = find(&env::current_dir()?);
    let mut line = Line { arguments: arguments.to_vec(), command, matches };
    if subcommand == "check" {
        if let Some(file) = file {
            let dialect = read(&file)?.defaults.dialect;
            line.add(Flags(dialect.map(|dialect| ("dialect", dialect)).into_iter().collect()));
        }
        return Ok(line.changed(arguments));
    }
    let of_run = line.value("rerun_failed").map(|folder| rerun(Path::new(&folder))).transpose()?;
    let mut flags = match line.value("target") {
        Some(target) => line.complete_target(&target, file.as_deref())?,
        None => Flags::default(),
    };
    flags.merge(of_run.unwrap_or_default());
    line.add(flags);
    Ok(line.changed(arguments))
}

/// A command line on its way.
struct Line<'a> {
    arguments: Vec<OsString>,
    command: &'a Command,
    matches: &'a ArgMatches,
}

impl Line<'_> {
    fn changed(self, before: &[OsString]) -> Option<Vec<OsString>> {
        (self.arguments != before).then_some(self.arguments)
    }

    /// Returns the value of an argument that the user gave.
    fn value(&self, id: &str) -> Option<String> {
        let raw = self.matches.try_get_raw(id).ok().flatten()?.next()?;
        Some(raw.to_string_lossy().into_owned())
    }

    /// Adds the flags that the command has and the user did not give. Of headers and resources, those of other names
    /// are added.
    fn add(&mut self, flags: Flags) {
        let mut more: Vec<OsString> = Vec::new();
        for (flag, value) in flags.0 {
            let Some(arg) = self.command.get_arguments().find(|arg| arg.get_long() == Some(flag)) else {
                continue;
            };
            let id = arg.get_id().as_str();
            let is_given = self.matches.value_source(id) == Some(ValueSource::CommandLine);
            match flag {
                "header" | "given" if self.names(id, &value) => {}
                "header" | "given" => more.push(format!("--{flag}={value}").into()),
                _ if is_given => {}
                "strict" if value == "true" => more.push("--strict".into()),
                "strict" => {}
                _ => more.push(format!("--{flag}={value}").into()),
            }
        }
        // Behind the command, before what may end the flags.
        self.arguments.splice(2..2, more);
    }

    /// Returns whether the user gave a value with the name of this one, as in `NAME: VALUE` or `NAME=VALUE`.
    fn names(&self, id: &str, value: &str) -> bool {
        let given = self.matches.try_get_raw(id).ok().flatten().into_iter().flatten();
        given.into_iter().any(|own| name(&own.to_string_lossy()) == name(value))
    }

    /// Puts the URL in the place of the name of a target, and returns its settings with those for all targets.
    fn complete_target(&mut self, target: &str, file: Option<&Path>) -> Result<Flags> {
        let is_url = target.contains("://");
        let Some(file) = file else {
            if is_url {
                return Ok(Flags::default());
            }
            if let Some(url) = url_of(target) {
                bail!("\"{target}\" is not a URL; try --target {url}");
            }
            bail!(
                "there is no target \"{target}\": a target is a URL such as https://gateway.example/v1, or a name in \
                 {FILE}, and there is no {FILE} here; `conformance init` writes one"
            );
        };
        let config = read(file)?;
        let named = config.targets.get(target);
        if named.is_none() && !is_url {
            let targets = || config.targets.keys().map(String::as_str);
            let known = targets().collect::<Vec<_>>().join(", ");
            let hint = match url_of(target) {
                Some(url) => format!(" (did you mean {url}?)"),
                None => names::meant(target, targets()),
            };
            bail!("there is no target \"{target}\"{hint} in {}; there are: {known}", file.display());
        }
        let folder = file.parent().unwrap_or(Path::new(""));
        let in_file = || file.display().to_string();
        let mut flags = Flags::default();
        if let Some(named) = named {
            flags = named.settings.flags(folder).with_context(in_file)?;
            let mut is_next = false;
            for argument in &mut self.arguments {
                if is_next {
                    *argument = named.url.clone().into();
                } else if argument == &*format!("--target={target}") {
                    *argument = format!("--target={}", named.url).into();
                }
                is_next = argument == "--target";
            }
        }
        flags.merge(config.defaults.flags(folder).with_context(in_file)?);
        Ok(flags)
    }
}

/// Returns the URL that was probably meant by an address without a scheme, such as `localhost:9100`.
fn url_of(target: &str) -> Option<String> {
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

/// Returns the flags of a run that determine which tests it has.
fn rerun(folder: &Path) -> Result<Flags> {
    let run = Evidence::open(folder).run().with_context(|| folder.display().to_string())?;
    let mut flags = Flags::default();
    flags.add("target", Some(run.target).filter(|_| !run.is_reference));
    flags.add("dialect", Some(run.dialect));
    flags.add("model", Some(run.model));
    flags.list("features", run.options.features.as_ref());
    flags.list("without", Some(&run.options.lacks).filter(|lacks| !lacks.is_empty()));
    flags.list("profile", Some(&run.options.profiles).filter(|profiles| !profiles.is_empty()));
    let spelled = |transport: &Transport| match transport {
        Transport::Sse => "sse".to_owned(),
        Transport::Json => "json".to_owned(),
        Transport::Websocket => "websocket".to_owned(),
    };
    flags.list("transport", Some(&run.options.transports.iter().map(spelled).collect()));
    Ok(flags)
}

/// Returns the configuration file of a folder, or of the nearest above it.
fn find(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().map(|folder| folder.join(FILE)).find(|file| file.is_file())
}

fn read(file: &Path) -> Result<Config> {
    let named = || file.display().to_string();
    let text = fs::read_to_string(file).with_context(named)?;
    toml::from_str(&text).with_context(named)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{COMMANDS, described};

    #[test]
    fn the_schema_of_the_file_is_fresh() {
        let schema = schemars::schema_for!(Config);
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/conformance.schema.json");
        if env::var_os("BLESS").is_some() {
            fs::write(&file, &text).unwrap();
        }
        let found = fs::read_to_string(&file).unwrap_or_default();
        assert!(
            found == text,
            "docs/conformance.schema.json is stale: BLESS=1 cargo test -p conformance --lib"
        );
    }

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

    /// Every setting is a flag of `run`, so that none is dropped silently.
    #[test]
    fn every_setting_is_a_flag() {
        let settings = "model = 'm'\ndialect = 'openai'\ntransport = ['sse']\nfeatures = ['tools']\n\
                        without = ['mcp']\nprofile = ['core']\nselect = ['item']\nignore = ['ws']\nstrict = true\n\
                        expected-failures = 'k.toml'\nca-file = 'ca.pem'\napi-key = '$CARGO_MANIFEST_DIR'\n\
                        headers = { x-a = '1' }\ngiven = { vector-store = 'vs_1' }\n\
                        [limits]\nconnect-timeout = '1s'\nfirst-event-timeout = '1s'\nidle-timeout = '1s'\n\
                        timeout = '1s'\ndelay = '1s'\nmax-bytes = 1\nattempts = 1\njobs = 1\nconcurrent = 1\n";
        let settings: Settings = toml::from_str(settings).unwrap();
        let flags = settings.flags(Path::new("/p")).unwrap();
        assert_eq!(flags.0.len(), 23);
        let command = described(COMMANDS);
        let run = command.find_subcommand("run").unwrap();
        for (flag, _) in &flags.0 {
            assert!(run.get_arguments().any(|arg| arg.get_long() == Some(flag)), "{flag}");
        }
        assert!(flags.0.contains(&("expected-failures", "/p/k.toml".to_owned())));
    }

    #[test]
    fn keys_are_named_and_not_written() {
        let literal = Settings { api_key: Some("sk-1".to_owned()), ..Settings::default() };
        assert!(literal.flags(Path::new("")).unwrap_err().to_string().contains("environment variable"));
        let unset = Settings { api_key: Some("$NO_SUCH_VARIABLE_1".to_owned()), ..Settings::default() };
        assert!(
            unset.flags(Path::new("")).unwrap_err().to_string().contains("NO_SUCH_VARIABLE_1 is not set")
        );
    }
}

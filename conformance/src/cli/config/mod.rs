//! `conformance.toml`: defaults for the flags of a run, by target.
//!
//! The file completes the command line before it is parsed, so that every flag wins over it and every value is
//! checked as a flag is.

mod address;
mod sections;

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::address::{is_address_of_other, url_of};
use self::sections::{BetweenConfig, ClientConfig, TapConfig};
use super::flags::target::{KEY, is_on_this_machine, model_of_api};
use super::input::saved::runs_in;
use super::input::{names, small_file};
use super::message::note;
use harness::evidence::RunFile;
use results::text::first_dangerous;
use results::{FailOn, Transport, is_default, shell_word};

pub(in crate::cli) const FILE: &str = "conformance.toml";

/// The configuration of a project: targets by name, and settings for all of them.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Config {
    /// Settings for all targets.
    #[serde(default, skip_serializing_if = "is_default")]
    defaults: Settings,
    /// Levels of rules and groups, by name: must, should, may, off.
    #[serde(default)]
    rules: BTreeMap<String, String>,
    /// Endpoints, by the name that `--target` takes.
    #[serde(default)]
    targets: BTreeMap<String, TargetConfig>,
    /// Settings of `conformance between`.
    #[serde(default, skip_serializing_if = "is_default")]
    between: BetweenConfig,
    /// Settings of `conformance client`.
    #[serde(default, skip_serializing_if = "is_default")]
    client: ClientConfig,
    /// Settings of `conformance tap`.
    #[serde(default, skip_serializing_if = "is_default")]
    tap: TapConfig,
}

/// An endpoint.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct TargetConfig {
    /// URL of the endpoint, with or without /v1.
    url: String,
    /// Settings for this target. They win over `defaults`.
    #[serde(default, skip_serializing_if = "is_default")]
    settings: Settings,
}

/// The settings of a run where no flag says otherwise. Each setting is the flag of the same name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Settings {
    /// Model to request.
    model: Option<String>,
    /// Models to request of single APIs, by API.
    #[serde(default)]
    models: BTreeMap<String, String>,
    /// APIs to test: responses, messages, chat, gemini.
    api: Option<Vec<String>>,
    /// Dialect of the endpoint, or its folder, relative to this file; of several APIs, one for each, separated by commas.
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
    /// Findings that fail: must, breaks, should, may.
    fail_on: Option<String>,
    /// The same as `fail-on = "should"`.
    strict: Option<bool>,
    /// Levels of rules and groups, by name. They win over `rules` of the file.
    #[serde(default)]
    rules: BTreeMap<String, String>,
    /// File with expected failures, relative to this file.
    expected_failures: Option<PathBuf>,
    /// File with additional CA certificates, relative to this file.
    ca_file: Option<PathBuf>,
    /// Environment variable with the API key, as `$NAME`.
    api_key: Option<String>,
    /// Headers to send with each request. A value `$NAME` is taken from the environment.
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// Resources that only you can provide, by name.
    #[serde(default)]
    given: BTreeMap<String, String>,
    /// Limits of the run.
    #[serde(default, skip_serializing_if = "is_default")]
    limits: LimitSettings,
}

/// Limits of a run. A time is `30s`, `500ms` or `2m`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
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

#[derive(Debug, Clone, PartialEq, Eq)]
struct Flag {
    name: String,
    value: String,
    /// The environment variable with the value, or with the rest of it.
    variable: Option<String>,
}

impl Flag {
    /// In messages, without its value, which may be a secret.
    fn shown(&self) -> String {
        let name = match &*self.name {
            "header" => format!("header {}", name(&self.value)),
            "given" => format!("given {}", name(&self.value)),
            "rule" | "fail-on" => format!("{} {}", self.name, self.value),
            name => name.to_owned(),
        };
        match &self.variable {
            Some(variable) => format!("{name} (${variable})"),
            None => name,
        }
    }

    /// Of flags with the same choice, one wins.
    fn choice(&self) -> (&str, String) {
        match &*self.name {
            "api" | "dialect" => ("api", String::new()),
            "model" => ("model", model_of_api(&self.value).0.unwrap_or_default().to_owned()),
            by_name if is_by_name(by_name) => (by_name, name(&self.value)),
            other => (other, String::new()),
        }
    }

    /// The flag sends what only the user may send, or trusts whom only the user may trust.
    fn needs_trust(&self) -> bool {
        let is_elsewhere = || {
            let name = self.value.split("://").next().unwrap_or_default().rfind('=');
            self.value.contains("://") && !is_on_this_machine(&self.value[name.map_or(0, |at| at + 1)..])
        };
        let is_local = || self.value.parse().is_ok_and(|address: SocketAddr| address.ip().is_loopback());
        self.variable.is_some()
            || match &*self.name {
                "ca-file" | "evidence" => true,
                // Clients send their keys there.
                "upstream" | "otlp" => is_elsewhere(),
                "listen" | "metrics" => !is_local(),
                _ => false,
            }
    }

    fn resolved(self) -> Result<Self> {
        let Some(variable) = &self.variable else { return Ok(self) };
        let found = env::var(variable)
            .map_err(|_| anyhow!("{}: the environment variable {variable} is not set", self.shown()))?;
        Ok(Self { value: self.value.clone() + &found, ..self })
    }
}

#[derive(Debug, Default)]
struct Flags(Vec<Flag>);

impl Flags {
    fn add(&mut self, name: &str, value: Option<impl ToString>) {
        let flag =
            value.map(|value| Flag { name: name.to_owned(), value: value.to_string(), variable: None });
        self.0.extend(flag);
    }

    /// A value `$NAME` is taken from the environment.
    fn add_variable(&mut self, name: &str, before: &str, value: &str) {
        let variable = value.strip_prefix('$').map(str::to_owned);
        let literal = if variable.is_some() { "" } else { value };
        self.0.push(Flag { name: name.to_owned(), value: format!("{before}{literal}"), variable });
    }

    /// Paths of files are relative to `folder`.
    fn add_setting(&mut self, setting: &str, value: &Value, folder: &Path) -> Result<()> {
        match (setting, value) {
            (_, Value::Null) => {}
            ("expected-failures" | "ca-file" | "evidence", Value::String(file)) => {
                self.add(setting, Some(folder.join(file).display()));
            }
            ("api-key", Value::String(key)) => {
                if !key.starts_with('$') {
                    bail!("use an environment variable, as in \"$GATEWAY_KEY\"; keys do not belong in files");
                }
                self.add_variable("api-key", "", key);
            }
            ("headers", Value::Object(headers)) => {
                for (name, value) in headers {
                    self.add_variable("header", &format!("{name}: "), &text(value));
                }
            }
            ("mode", Value::Object(modes)) => {
                let modes: Vec<String> =
                    modes.iter().map(|(pair, mode)| format!("{pair}={}", text(mode))).collect();
                self.list("mode", Some(&modes).filter(|modes| !modes.is_empty()));
            }
            (_, Value::Object(entries)) => {
                let flag = setting.strip_suffix('s').unwrap_or(setting);
                for (name, value) in entries {
                    self.add(flag, Some(format!("{name}={}", text(value))));
                }
            }
            ("skip" | "upstream", Value::Array(values)) => {
                for value in values {
                    self.add(setting, Some(text(value)));
                }
            }
            (_, Value::Array(values)) => self.list(setting, Some(&values.iter().map(text).collect())),
            (_, value) => self.add(setting, Some(text(value))),
        }
        Ok(())
    }

    /// Headers and resources are added by name.
    fn merge(&mut self, others: Self) {
        for flag in others.0 {
            if !self.0.iter().any(|own| own.choice() == flag.choice()) {
                self.0.push(flag);
            }
        }
    }

    fn of_levels(rules: &BTreeMap<String, String>) -> Self {
        let mut flags = Self::default();
        for (rule, level) in rules {
            flags.add("rule", Some(format!("{rule}={level}")));
        }
        flags
    }

    fn list(&mut self, flag: &str, values: Option<&Vec<String>>) {
        self.add(flag, values.map(|values| values.join(",")));
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn members(settings: &impl Serialize) -> Result<serde_json::Map<String, Value>> {
    Ok(serde_json::from_value(serde_json::to_value(settings)?)?)
}

impl Config {
    /// Paths of files are relative to `folder`.
    fn of_all(&self, folder: &Path) -> Result<Flags> {
        let mut flags = self.defaults.flags(folder)?;
        flags.merge(Flags::of_levels(&self.rules));
        Ok(flags)
    }

    /// The path of a dialect is relative to `folder`.
    fn of_recordings(&self, folder: &Path) -> Result<Flags> {
        let mut flags = Flags::default();
        flags.add("dialect", self.defaults.dialect.as_ref().map(|name| names::dialects_at(name, folder)));
        flags.merge(self.defaults.verdict()?);
        flags.merge(Flags::of_levels(&self.rules));
        Ok(flags)
    }
}

impl Settings {
    fn verdict(&self) -> Result<Flags> {
        let mut flags = Flags::of_levels(&self.rules);
        match (&self.fail_on, self.strict) {
            (Some(_), Some(_)) => bail!("set either fail-on or strict, which is fail-on = \"should\""),
            (None, Some(is_strict)) => {
                let same = if is_strict { FailOn::Should } else { FailOn::default() };
                flags.add("fail-on", Some(same.name()));
            }
            (fail_on, None) => flags.add("fail-on", fail_on.as_ref()),
        }
        Ok(flags)
    }

    /// Paths of files are relative to `folder`.
    fn flags(&self, folder: &Path) -> Result<Flags> {
        let mut flags = Flags::default();
        for (setting, value) in members(self)? {
            match &*setting {
                "dialect" if self.api.is_some() && self.dialect.is_some() => {
                    bail!("set either api or dialect: a dialect is that of an API");
                }
                "dialect" => {
                    flags.add("dialect", self.dialect.as_ref().map(|name| names::dialects_at(name, folder)));
                }
                "fail-on" | "strict" => {}
                "rules" => flags.merge(self.verdict()?),
                "limits" => {
                    for (limit, value) in members(&self.limits)? {
                        flags.add_setting(&limit, &value, folder)?;
                    }
                }
                "models" => {
                    self.models.keys().try_for_each(|api| names::dialect_of_api(api).map(drop))?;
                    flags.add_setting("models", &value, folder)?;
                }
                "api-key" => flags
                    .add_setting("api-key", &value, folder)
                    .map_err(|error| anyhow!("api-key: {error}"))?,
                _ => flags.add_setting(&setting, &value, folder)?,
            }
        }
        Ok(flags)
    }
}

fn is_by_name(flag: &str) -> bool {
    matches!(flag, "header" | "given" | "rule")
}

/// The text is `NAME: VALUE` or `NAME=VALUE`.
fn name(text: &str) -> String {
    text.split([':', '=']).next().unwrap_or_default().trim().to_lowercase()
}

/// The command line with what the configuration file and the run whose failed tests are repeated add. `None` if they add
/// nothing.
pub(in crate::cli) fn completed(
    arguments: &[OsString],
    command: &Command,
    matches: &ArgMatches,
) -> Result<Option<Vec<OsString>>> {
    let Some((subcommand, matches)) = matches.subcommand() else { return Ok(None) };
    let Some(command) = command
        .find_subcommand(subcommand)
        .filter(|_| matches!(subcommand, "run" | "record" | "check" | "between" | "client" | "tap"))
    else {
        return Ok(None);
    };
    let mut line = CommandLine { arguments: arguments.to_vec(), command, matches };
    let file = match line.value("config") {
        Some(file) => Some(PathBuf::from(file)),
        None => find(&env::current_dir()?),
    };
    if subcommand == "check" || line.value("capture").is_some() {
        if let Some(file) = file {
            let flags =
                read(&file)?.of_recordings(folder_of(&file)).with_context(|| file.display().to_string())?;
            used(&file, None, &line.add(flags), &[]);
        }
        return Ok(line.changed(arguments));
    }
    if subcommand == "between" {
        line.complete_between(file.as_deref())?;
        return Ok(line.changed(arguments));
    }
    if subcommand == "tap" {
        line.complete_tap(file.as_deref())?;
        return Ok(line.changed(arguments));
    }
    if subcommand == "client" {
        line.complete_client(file.as_deref())?;
        return Ok(line.changed(arguments));
    }
    let target = line.value("target");
    match &target {
        Some(target) if target.contains("://") => line.complete_url(file.as_deref())?,
        Some(target) => line.complete_named(target, file.as_deref())?,
        None => {}
    }
    if let Some(folder) = line.value("rerun_failed") {
        let flags = rerun(Path::new(&folder))?;
        line.confirm(target.as_deref(), &flags, &folder)?;
        line.add(flags);
    }
    Ok(line.changed(arguments))
}

/// A command line on its way.
struct CommandLine<'a> {
    arguments: Vec<OsString>,
    command: &'a Command,
    matches: &'a ArgMatches,
}

impl CommandLine<'_> {
    fn changed(self, before: &[OsString]) -> Option<Vec<OsString>> {
        (self.arguments != before).then_some(self.arguments)
    }

    fn value(&self, id: &str) -> Option<String> {
        let raw = self.matches.try_get_raw(id).ok().flatten()?.next()?;
        Some(raw.to_string_lossy().into_owned())
    }

    fn is_given(&self, id: &str) -> bool {
        // A command need not have the argument.
        self.matches.try_contains_id(id).is_ok()
            && self.matches.value_source(id) == Some(ValueSource::CommandLine)
    }

    /// Headers and resources are added by name. The result is the added flags.
    fn add(&mut self, flags: Flags) -> Vec<Flag> {
        let added: Vec<Flag> = flags.0.into_iter().filter(|flag| self.lacks(flag)).collect();
        let more = added.iter().map(|Flag { name, value, .. }| format!("--{name}={value}").into());
        // Behind the command, before what may end the flags.
        self.arguments.splice(2..2, more);
        added
    }

    /// The command has the flag, but neither the user gave it nor was it added.
    fn lacks(&self, flag: &Flag) -> bool {
        let Flag { name, value, .. } = flag;
        let Some(arg) = self.command.get_arguments().find(|arg| arg.get_long() == Some(name.as_str())) else {
            return false;
        };
        let id = arg.get_id().as_str();
        let is_given = |id| self.is_given(id);
        let is_added = || {
            let prefix = format!("--{name}=");
            let is_same = |added: &str| !is_by_name(name) || self::name(added) == self::name(value);
            let mut arguments = self.arguments.iter().map(|argument| argument.to_string_lossy());
            arguments.any(|argument| argument.strip_prefix(&prefix).is_some_and(is_same))
        };
        match name.as_str() {
            name if is_by_name(name) => !self.names(id, value) && !is_added(),
            "fail-on" if is_given("strict") => false,
            "api" | "dialect" if is_given("api") || is_given("dialect") => false,
            _ => !is_given(id) && !is_added(),
        }
    }

    fn has(&self, id: &str) -> bool {
        self.matches.try_get_one::<bool>(id).ok().flatten() == Some(&true)
    }

    /// The name is the one of this value, as in `NAME: VALUE` or `NAME=VALUE`.
    fn names(&self, id: &str, value: &str) -> bool {
        let given = self.matches.try_get_raw(id).ok().flatten().into_iter().flatten();
        given.into_iter().any(|own| name(&own.to_string_lossy()) == name(value))
    }

    /// Settings for all targets are added, too. Settings that need trust are only added if the user trusts the file: it may
    /// have come with a repository.
    fn complete_url(&mut self, file: Option<&Path>) -> Result<()> {
        let Some(file) = file else { return Ok(()) };
        let flags = read(file)?.of_all(folder_of(file)).with_context(|| file.display().to_string())?;
        self.complete_trusted(file, flags, self.has("trust_config"))
    }

    /// Without trust, settings that need it are withheld.
    fn complete_trusted(&mut self, file: &Path, flags: Flags, is_trusted: bool) -> Result<()> {
        let (given, withheld): (Vec<_>, Vec<_>) =
            flags.0.into_iter().partition(|flag| is_trusted || !flag.needs_trust());
        let withheld: Vec<Flag> = withheld.into_iter().filter(|flag| self.lacks(flag)).collect();
        self.complete(file, None, Flags(given), &withheld)
    }

    /// The URL replaces the name of a target. Settings for all targets are added, too.
    fn complete_named(&mut self, target: &str, file: Option<&Path>) -> Result<()> {
        let Some(file) = file else {
            if let Some(url) = url_of(target) {
                bail!("\"{target}\" is not a URL; try --target {url}");
            }
            bail!(
                "there is no target \"{target}\": a target is a URL such as https://gateway.example/v1, or a name in \
                 {FILE}, and there is no {FILE} here; `conformance init` writes one"
            );
        };
        let config = read(file)?;
        let Some(named) = config.targets.get(target) else {
            let targets = || config.targets.keys().map(String::as_str);
            let known = targets().collect::<Vec<_>>().join(", ");
            let hint = match url_of(target) {
                Some(url) => format!(" (did you mean {url}?)"),
                None => names::meant(target, targets()),
            };
            bail!("there is no target \"{target}\"{hint} in {}; there are: {known}", file.display());
        };
        let in_file = || file.display().to_string();
        let mut flags = named.settings.flags(folder_of(file)).with_context(in_file)?;
        // The name says the same again unless flags win over its settings.
        flags.add(
            "target-name",
            Some(target).filter(|_| !["model", "api", "dialect"].into_iter().any(|id| self.is_given(id))),
        );
        let mut is_next = false;
        for argument in &mut self.arguments {
            if is_next {
                *argument = named.url.clone().into();
            } else if argument == &*format!("--target={target}") {
                *argument = format!("--target={}", named.url).into();
            }
            is_next = argument == "--target";
        }
        flags.merge(config.of_all(folder_of(file)).with_context(in_file)?);
        self.complete(file, Some(target), flags, &[])
    }

    /// Prints which settings are added.
    fn complete(&mut self, file: &Path, target: Option<&str>, flags: Flags, withheld: &[Flag]) -> Result<()> {
        let lacking = flags.0.into_iter().filter(|flag| self.lacks(flag));
        let resolved: Result<Vec<Flag>> = lacking.map(Flag::resolved).collect();
        let added = self.add(Flags(resolved.with_context(|| file.display().to_string())?));
        used(file, target, &added, withheld);
        Ok(())
    }

    /// A run must not send secrets to an endpoint that only the evidence of another run names.
    fn confirm(&self, target: Option<&str>, flags: &Flags, folder: &str) -> Result<()> {
        let of_run = flags.0.iter().find(|flag| flag.name == "target");
        let (None, Some(Flag { value: address, .. })) = (target, of_run) else { return Ok(()) };
        let has_key = || env::var_os(KEY).is_some_and(|key| !key.is_empty());
        let what = if self.value("api_key").is_some() {
            "the key of --api-key"
        } else if has_key() {
            "the key in CONFORMANCE_API_KEY"
        } else if self.value("header").is_some() {
            "the headers of --header"
        } else {
            return Ok(());
        };
        bail!(
            "only {folder} names the endpoint {address}, which would receive {what}: to confirm it, add \
             --target {}, or its name in {FILE}",
            shell_word(address)
        )
    }
}

fn used(file: &Path, target: Option<&str>, added: &[Flag], withheld: &[Flag]) {
    let shown = |flags: &[Flag]| {
        let settings = flags.iter().filter(|flag| flag.name != "target-name");
        settings.map(Flag::shown).collect::<Vec<_>>()
    };
    let target = target.map(|name| format!("target {name}"));
    let settings: Vec<String> = target.into_iter().chain(shown(added)).collect();
    if !settings.is_empty() {
        note(&format!("settings from {}: {}", file.display(), settings.join(", ")));
    }
    if !withheld.is_empty() {
        note(&format!(
            "not applied from {}: {}; to apply them, pass --trust-config",
            file.display(),
            shown(withheld).join(", ")
        ));
    }
}

fn folder_of(file: &Path) -> &Path {
    file.parent().unwrap_or(Path::new(""))
}

/// Only flags that determine which tests the run has.
fn rerun(folder: &Path) -> Result<Flags> {
    let mut runs = runs_in(folder)?;
    let is_one_of_several = runs.len() > 1;
    let mut flags = Flags::default();
    let dialects: Vec<&str> = runs.iter().map(|run| &*run.dialect).collect();
    flags.add("dialect", Some(dialects.join(",")));
    for run in &runs {
        let api = spec::dialect(&run.dialect).map(|dialect| dialect.api.name);
        let of_api = api.filter(|_| is_one_of_several).map(|api| format!("{api}={}", run.model));
        flags.add("model", Some(of_api.unwrap_or_else(|| run.model.clone())));
    }
    let profiles: Vec<String> = runs.iter().flat_map(|run| run.options.profiles.clone()).collect();
    let run = runs.swap_remove(0);
    flags.add("target", Some(address(&run, is_one_of_several)).filter(|_| !run.is_reference));
    flags.list("features", run.options.features.as_ref());
    flags.list("without", Some(&run.options.lacks).filter(|lacks| !lacks.is_empty()));
    flags.add("fail-on", Some(run.options.fail_on().name()));
    for change in &run.options.levels {
        flags.add("rule", Some(format!("{}={}", change.rule, change.level.name())));
    }
    flags.list("profile", Some(&profiles).filter(|profiles| !profiles.is_empty()));
    let transports = run.options.transports.iter().copied().map(Transport::name).map(str::to_owned);
    flags.list("transport", Some(&transports.collect()));
    Ok(flags)
}

/// If the run is one of several, the URL of all its APIs.
fn address(run: &RunFile, is_one_of_several: bool) -> String {
    let api = spec::dialect(&run.dialect).filter(|_| is_one_of_several).map(|dialect| dialect.api);
    let base = api.and_then(|api| {
        let at = run.target.rfind(api.path)?;
        Some(format!("{}{}", &run.target[..at], &run.target[at + api.path.len()..]))
    });
    base.unwrap_or_else(|| run.target.clone())
}

/// In the folder, or in the nearest one above it in the same repository. The path is relative to the folder.
fn find(folder: &Path) -> Option<PathBuf> {
    let root = folder.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(folder);
    let mut relative = PathBuf::from(".");
    for above in folder.ancestors().take_while(|above| above.starts_with(root)) {
        // Reading a pipe or a device fails with its name.
        if above.join(FILE).symlink_metadata().is_ok_and(|about| !about.is_dir()) {
            return Some(relative.join(FILE));
        }
        relative = if above == folder { PathBuf::from("..") } else { relative.join("..") };
    }
    None
}

fn read(file: &Path) -> Result<Config> {
    let text = small_file::text(file)?;
    let values: toml::Table = small_file::parsed(file, &text)?;
    if let Some((setting, character)) = dangerous(&values.into()) {
        bail!(
            "{}: {setting} has the invisible character U+{:04X}; remove it",
            file.display(),
            u32::from(character)
        );
    }
    let config: Config = small_file::parsed(file, &text)?;
    let misnamed = config.targets.iter().find(|(name, target)| is_address_of_other(name, &target.url));
    if let Some((name, target)) = misnamed {
        bail!(
            "{}: the target \"{name}\" has the name of an address, but its url is {}; give it a name such as staging",
            file.display(),
            target.url
        );
    }
    if let Some(url) = config.targets.keys().find(|name| name.contains("://")) {
        bail!(
            "{}: the target \"{url}\" has a URL for a name, but a URL given with --target stands for itself; \
             give it a name such as staging",
            file.display()
        );
    }
    Ok(config)
}

/// The setting with a character that could control a terminal or forge a line of a log.
fn dangerous(value: &toml::Value) -> Option<(String, char)> {
    let below = |name: String, value| {
        let (rest, character) = dangerous(value)?;
        Some((if rest.is_empty() { name } else { format!("{name}.{rest}") }, character))
    };
    match value {
        toml::Value::String(text) => first_dangerous(text).map(|character| (String::new(), character)),
        toml::Value::Array(values) => {
            values.iter().enumerate().find_map(|(at, value)| below(at.to_string(), value))
        }
        toml::Value::Table(values) => values.iter().find_map(|(name, value)| {
            let of_name = first_dangerous(name).map(|character| (name.clone(), character));
            of_name.or_else(|| below(name.clone(), value))
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

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

    /// Every setting is a flag of `run`, so that none is dropped silently.
    #[test]
    fn every_setting_is_a_flag() {
        let settings = "model = 'm'\ndialect = 'openai'\nmodels = { chat = 'c' }\ntransport = ['sse']\nfeatures = ['tools']\n\
                        without = ['mcp']\nprofile = ['core']\nselect = ['item']\nignore = ['ws']\nfail-on = 'must'\n\
                        expected-failures = 'k.toml'\nca-file = 'ca.pem'\napi-key = '$CARGO_MANIFEST_DIR'\n\
                        headers = { x-a = '1' }\ngiven = { vector-store = 'vs_1' }\nrules = { wire = 'off' }\n\
                        [limits]\nconnect-timeout = '1s'\nfirst-event-timeout = '1s'\nidle-timeout = '1s'\n\
                        timeout = '1s'\ndelay = '1s'\nmax-bytes = 1\nattempts = 1\njobs = 1\nconcurrent = 1\n";
        let settings: Settings = toml::from_str(settings).unwrap();
        let flags = settings.flags(Path::new("/p")).unwrap();
        assert_eq!(flags.0.len(), 25);
        let command = described(COMMANDS);
        let run = command.find_subcommand("run").unwrap();
        for Flag { name, .. } in &flags.0 {
            assert!(run.get_arguments().any(|arg| arg.get_long() == Some(name.as_str())), "{name}");
        }
        let file = flags.0.iter().find(|flag| flag.name == "expected-failures").unwrap();
        assert_eq!(file.value, "/p/k.toml");
    }
}

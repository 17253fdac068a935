//! `conformance serve`: serves the reference gateway.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail};
use catalogue::Rule;
use clap::{Args, ValueEnum};
use spec::{Api, Dialect};

use super::listening::{self, listen, speaks};
use super::via::ViaArgs;
use crate::Rules;
use crate::cli::flags::target::time;
use crate::cli::input::{files, known, names};
use crate::cli::{CommandArgs, print};
use gateway::{Log, Replay, Settings, WireFault};
use results::text::visible;

/// Maximum size of a recording to replay.
const LARGEST: u64 = 256 << 20;

/// Serves a reference gateway, to test clients against.
///
/// It conforms, or breaks the rules of --fault. One request breaks a rule if it names it: with the base URL
/// `/fault/part/before-open/v1`, the model `fault:part/before-open`, the header `x-conformance-fault`, or the directive
/// `[[fault part/before-open]]`. `GET /` shows help, `GET /faults` lists the faults as JSON.
///
/// The request determines the response: by its tools, reasoning and format, or by directives in its input, such
/// as [[say Hello|, wor|ld.]], [[think A|B]] or [[refuse]].
#[derive(Debug, Args)]
pub(in crate::cli) struct ServeArgs {
    /// Port on 127.0.0.1; 0 picks a free one.
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// Dialect to speak, one for each API; repeatable [default: openai, anthropic, chat and gemini].
    #[arg(long = "dialect", value_name = "NAME", value_parser = known::DIALECTS, hide_possible_values = true)]
    dialects: Vec<String>,
    /// Seed for random choices.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Delay before every event. The fault `slow` is one second.
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = time)]
    pace: Duration,
    /// Bytes to send at once [default: whole events].
    #[arg(long, value_name = "BYTES")]
    chunk: Option<usize>,
    /// Repeat texts until they have N fragments, for long streams.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=100_000))]
    fragments: u32,
    /// Rule to break, or transport fault; repeatable. See --list-faults.
    ///
    /// A rule is broken in every response where that breaks no other rule. Transport faults affect every stream:
    /// cut, crlf, split-utf8, stall, slow, huge-line, wrong-content-type, gzip, early-close, error-as-stream.
    #[arg(long = "fault", value_name = "FAULT", value_parser = known::FAULTS, hide_possible_values = true)]
    faults: Vec<String>,
    /// Model to serve; repeatable [default: all].
    ///
    /// By default every model exists, except those whose names begin with `no-such-` or `unknown-`.
    #[arg(long = "model", value_name = "NAME")]
    models: Vec<String>,
    /// List the faults of the dialect, with the input that triggers each, and exit.
    #[arg(long)]
    list_faults: bool,
    /// Output format of --list-faults: human or json.
    #[arg(long, value_enum, default_value_t = ListFormat::Human, value_name = "FORMAT", requires = "list_faults", hide_possible_values = true)]
    format: ListFormat,
    /// Write a line for each request, with what became of its faults [default: to stderr].
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    log: Option<PathBuf>,
    /// Origin of web pages that may send requests; repeatable, `*` for all [default: pages of this machine].
    #[arg(long = "cors", value_name = "ORIGIN")]
    origins: Vec<String>,
    /// Play recordings, or the recordings in a folder, instead of generating responses.
    ///
    /// Each is sent as it was recorded, with its pauses. Requests get one after the other; the model `replay:NAME` or
    /// the base URL `/replay/NAME/v1` selects one.
    #[arg(long, value_name = "PATH", num_args = 1.., conflicts_with_all = ["faults", "pace", "chunk", "fragments", "models", "list_faults"])]
    replay: Vec<PathBuf>,
    /// Speed of --replay: 2 halves the pauses, 0 removes them.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, requires = "replay", value_parser = speed)]
    speed: f64,
    #[command(flatten)]
    via: ViaArgs,
}

/// The formats of a list of faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ListFormat {
    Human,
    Json,
}

fn speed(text: &str) -> Result<f64, String> {
    let speed: f64 = text.parse().map_err(|_| "expected a number such as 2 or 0.5".to_owned())?;
    if speed.is_finite() && speed >= 0.0 { Ok(speed) } else { Err("expected 0 or more".to_owned()) }
}

impl CommandArgs for ServeArgs {
    fn run(self) -> anyhow::Result<ExitCode> {
        let dialects = self.dialects()?;
        if self.via.is_given() {
            return self.via.serve(self.port, &dialects, &self.faults, self.log()?);
        }
        let [dialect, beside @ ..] = dialects.as_slice() else { bail!("no dialect is given") };
        let rules: Vec<Rules> = dialects.iter().map(|dialect| Rules::of(dialect)).collect();
        if self.list_faults {
            let text = match self.format {
                ListFormat::Human => list(&rules),
                ListFormat::Json => serde_json::to_string_pretty(&gateway::fault_list(&rules))? + "\n",
            };
            print(&text)?;
            return Ok(ExitCode::SUCCESS);
        }
        if !self.replay.is_empty() {
            return self.play(dialect.api);
        }
        let mut settings = Settings {
            seed: self.seed,
            pace: self.pace,
            chunk: self.chunk,
            fragments: usize::try_from(self.fragments).unwrap_or_default(),
            models: self.models.clone(),
            origins: self.origins.clone(),
            log: self.log()?,
            beside: beside.to_vec(),
            ..Settings::new(dialect)
        };
        let about = self.choose(&mut settings, &rules)?;
        listening::run(async {
            let spoken = speaks(&dialects);
            let (listener, ended) = listen(self.port, &spoken).await?;
            // Scripts read only the address.
            writeln!(io::stderr().lock(), "{}{about}Ctrl-C ends it", served(&settings))?;
            Ok(gateway::serve(listener, settings, ended).await?)
        })
    }
}

impl ServeArgs {
    fn dialects(&self) -> anyhow::Result<Vec<&'static Dialect>> {
        let (is_via, why) = (self.via.is_given(), "a port serves each API in one dialect");
        match &*self.dialects {
            [] if is_via => Ok(names::usual().collect()),
            [] => Ok(names::served().collect()),
            named => {
                let allowed = if is_via { names::spoken } else { names::served_or_spoken };
                names::one_of_each_api(named, allowed, why)
            }
        }
    }

    fn log(&self) -> anyhow::Result<Option<Log>> {
        let Some(path) = &self.log else { return Ok(None) };
        if path.as_os_str() == "-" {
            return Ok(Some(Log::new(io::stderr())));
        }
        let file = File::create(path).with_context(|| path.display().to_string())?;
        Ok(Some(Log::new(file)))
    }

    fn play(&self, api: &'static Api) -> anyhow::Result<ExitCode> {
        let mut replays = Vec::new();
        for path in files::recordings(&self.replay)?.files {
            let mut bytes = Vec::new();
            let limited = files::open(&path).with_context(|| path.display().to_string())?;
            limited.take(LARGEST).read_to_end(&mut bytes).with_context(|| path.display().to_string())?;
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let read = Replay::read(&name, &bytes, self.speed);
            replays.extend(read.with_context(|| path.display().to_string())?);
        }
        Replay::number(&mut replays);
        if replays.is_empty() {
            bail!("there is nothing to replay: pass recordings or folders of recordings");
        }
        let (log, origins) = (self.log()?, self.origins.clone());
        listening::run(async {
            let (listener, ended) = listen(self.port, "recordings").await?;
            let names: Vec<String> = replays.iter().map(|replay| visible(&replay.name)).collect();
            writeln!(io::stderr().lock(), "POST /v1{} plays {}\nCtrl-C ends it", api.path, names.join(", "))?;
            Ok(gateway::replay(listener, api, replays, origins, log, ended).await?)
        })
    }

    /// The result describes the faults and their responses.
    fn choose(&self, settings: &mut Settings, rules: &[Rules]) -> anyhow::Result<String> {
        let mut about = String::new();
        for name in &self.faults {
            match WireFault::named(name) {
                Some(fault) => {
                    let _ = writeln!(about, "fault {fault}: {}", fault.effect());
                    settings.wire.push(fault);
                }
                None => settings.rules.push(rule(name)?),
            }
        }
        if settings.rules.is_empty() {
            return Ok(about);
        }
        let shown: Vec<_> = rules.iter().flat_map(shown).collect();
        for rule in &settings.rules {
            let Some((_, shown)) = shown.iter().find(|(other, _)| other.id == rule.id) else {
                bail!(not_here(rule, rules));
            };
            let place = match shown {
                Shown::Input(input) => format!("the input {input}, and in others where it can apply"),
                Shown::Other(place) => place.clone(),
            };
            let title = lower(rule.title);
            let _ = writeln!(
                about,
                "fault {}: breaks the rule that {title}\n  in the response to {place}",
                rule.id
            );
        }
        Ok(about)
    }
}

fn rule(name: &str) -> anyhow::Result<&'static Rule> {
    names::rule(name).with_context(|| {
        let wire: Vec<&str> = WireFault::ALL.into_iter().map(WireFault::name).collect();
        format!("a fault is a rule that --list-faults prints, or one of {}", wire.join(", "))
    })
}

fn dialects_of(rules: &[Rules]) -> Vec<&'static str> {
    rules.iter().map(|rules| rules.dialect().name).collect()
}

/// Names where the rule is a fault, or how its violation is played.
fn not_here(rule: &Rule, rules: &[Rules]) -> String {
    let dialects = dialects_of(rules);
    let here = rules
        .iter()
        .map(Rules::dialect)
        .find_map(|dialect| rule.in_apis.iter().find(|own| own.api == dialect.api.name));
    let (own, _) = here.unwrap_or(&rule.in_apis[0]).violation.golden.split_once('/').unwrap_or_default();
    let is_one =
        spec::dialect(own).is_some_and(|own| shown(&Rules::of(own)).iter().any(|(it, _)| it.id == rule.id));
    let hint = if is_one && !dialects.contains(&own) {
        format!("; try --dialect {own}")
    } else {
        let flag = if own == "openai" { String::new() } else { format!(" --dialect {own}") };
        format!(
            "; its violation is a recording, which --replay serves: conformance client --show fault/{}{flag} >broken.sse",
            rule.id
        )
    };
    format!("no response of the reference gateway in {} breaks only {}{hint}", dialects.join(", "), rule.id)
}

/// Names in a title keep their case.
fn lower(title: &str) -> String {
    let mut rest = title.chars();
    match rest.next() {
        Some(first)
            if rest.clone().next().is_some_and(char::is_lowercase) || rest.clone().next() == Some(' ') =>
        {
            first.to_lowercase().chain(rest).collect()
        }
        _ => title.to_owned(),
    }
}

fn input(golden: &str) -> Option<String> {
    Some(gateway::input_text(&gateway::example(golden)?)?.replace('\n', "\\n"))
}

enum Shown {
    Input(String),
    /// A WebSocket turn, or a request with some settings.
    Other(String),
}

/// Only rules that can be broken.
fn shown(rules: &Rules) -> Vec<(&'static Rule, Shown)> {
    let inputs = gateway::faults(rules).into_iter();
    let inputs = inputs.map(|(rule, golden)| (rule, Shown::Input(input(golden).unwrap_or_default())));
    let requests = gateway::request_faults(rules).into_iter();
    let requests =
        requests.map(|(rule, settings)| (rule, Shown::Other(format!("a request with {settings}"))));
    let turns = gateway::socket_faults(rules).into_iter();
    let turns = turns.map(|(rule, turn)| (rule, Shown::Other(turn.to_owned())));
    inputs.chain(requests).chain(turns).collect()
}

fn list(dialects: &[Rules]) -> String {
    let of = |rules: &Rules| -> Vec<(&'static str, String)> {
        let row = |(rule, shown): (&'static Rule, Shown)| match shown {
            Shown::Input(input) => (rule.id, input),
            Shown::Other(place) => (rule.id, format!("({place})")),
        };
        shown(rules).into_iter().map(row).collect()
    };
    let of_rules: Vec<_> = dialects.iter().map(|rules| (rules.dialect().name, of(rules))).collect();
    let of_transport: Vec<_> =
        WireFault::ALL.iter().map(|fault| (fault.name(), fault.effect().to_owned())).collect();
    let names = of_rules.iter().flat_map(|(_, rows)| rows).map(|(name, _)| name.len());
    let width = names.max().unwrap_or(0);
    let section = |title: &str, rows: &[(&str, String)]| {
        let rows: Vec<_> = rows.iter().map(|(name, what)| format!("{name:width$}  {what}\n")).collect();
        format!("{title}\n{}", rows.concat())
    };
    let mut sections: Vec<String> = Vec::new();
    for (name, rows) in &of_rules {
        sections.push(section(&format!("rules of {name}, with an input whose response breaks each:"), rows));
    }
    sections.push(section("faults of transport, in every stream:", &of_transport));
    sections.join("\n")
}

fn served(settings: &Settings) -> String {
    let models = match settings.models.as_slice() {
        [] => "every model except no-such-* and unknown-*".to_owned(),
        models => format!("the models {}", models.join(", ")),
    };
    let pace = match settings.pace.as_millis() {
        0 => String::new(),
        pace => format!(", {pace} ms before every event"),
    };
    let apis = std::iter::once(&settings.dialect).chain(&settings.beside);
    let routes: Vec<String> = apis.map(|dialect| format!("/v1{}", dialect.api.path)).collect();
    format!("POST {}, with any key except no-such-* and unknown-*; {models}{pace}\n", routes.join(", "))
}

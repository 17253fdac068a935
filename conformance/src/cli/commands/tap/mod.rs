//! `conformance tap`: a reverse proxy that changes no byte, and judges what passes.

mod bench;
mod signals;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{ExitCode, ExitStatus};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use clap::Args;
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::check::exit_code;
use super::listening;
use crate::cli::flags::dialect::DialectRules;
use crate::cli::flags::output::OutputArgs;
use crate::cli::flags::select::SelectArgs;
use crate::cli::flags::target::{SettingsArgs, some_time};
use crate::cli::flags::verdict::VerdictArgs;
use crate::cli::input::known;
use crate::cli::message::{escaped, note};
use crate::cli::{CommandArgs, NOT_DONE};
use bench::Bench;
use results::AUTO;
use results::text::{counted, visible};
use signals::Signals;
use tap::{
    Evidence, Judges, Keep, Limits, Lost, Metrics, Otlp, Proxy, Sample, Upstream, serve, serve_metrics,
};

const EXAMPLES: &str = "\
Examples:
  conformance tap --upstream http://localhost:8080 --metrics 127.0.0.1:9464
  conformance tap --upstream https://gateway.example --evidence evidence/ --sample 0.1
  conformance tap --upstream http://localhost:8080 -- python3 agent.py";

/// Passes requests on to an endpoint, changes no byte, and judges a copy of what passes.
///
/// Point clients at this address instead of the endpoint. Exchanges of every API that the suite checks are judged as `check`
/// judges recordings, by other threads: a full queue, little memory or an error there is counted, and the exchange goes on.
/// All else passes unseen. Nothing is stored without --evidence.
///
/// With -- COMMAND, the command gets the address in the variables of SDKs for a base URL, and when
/// it ends, a report says what its responses broke.
///
/// [tap] of conformance.toml has defaults for flags. SIGHUP reads the file again.
///
/// Exit codes: 0 if it was ended; with -- COMMAND, the code of the command if it fails, else 1 if a rule is broken, and 2 if
/// nothing could be judged.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct TapArgs {
    /// Where to pass requests: its URL, without /v1, or NAME=URL for paths that begin with /NAME; repeatable.
    #[arg(long = "upstream", value_name = "[NAME=]URL", value_parser = upstream)]
    upstreams: Vec<Upstream>,
    /// Address to listen on; port 0 picks a free one.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8180")]
    listen: SocketAddr,
    /// Address of /metrics for Prometheus, /healthz and /readyz.
    #[arg(long, value_name = "ADDR")]
    metrics: Option<SocketAddr>,
    /// Export metrics to the OpenTelemetry collector at this URL, by OTLP over HTTP.
    #[arg(long, value_name = "URL", value_parser = collector)]
    otlp: Option<http::Uri>,
    /// Dialect of the upstreams, of `conformance list dialects` or of a folder, such as ./acme; `auto` recognises it.
    #[arg(long, value_name = "NAME", default_value = AUTO, value_parser = known::DIALECTS_OR_AUTO, hide_possible_values = true)]
    dialect: String,
    /// Judge this part of the exchanges, from 0 to 1.
    #[arg(long, value_name = "PART", default_value_t = 1.0, value_parser = part)]
    sample: f64,
    /// Memory for copies. Exchanges beyond are not judged.
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = size)]
    memory: u64,
    /// Keep recordings in this folder, without secrets but with texts, and an index of all exchanges.
    #[arg(long, value_name = "DIR", help_heading = EVIDENCE)]
    evidence: Option<PathBuf>,
    /// Replace texts in recordings by filler of their length.
    ///
    /// Structure, names of members, numbers, ids, models, and words of the protocol stay.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true, help_heading = EVIDENCE)]
    shape_only: Option<bool>,
    /// Recordings to keep: with findings or a bad end, or all [default: findings].
    #[arg(long, value_enum, value_name = "WHICH", help_heading = EVIDENCE)]
    keep: Option<Keep>,
    /// Remove the oldest recordings beyond this size.
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = size, help_heading = EVIDENCE)]
    max_evidence: u64,
    /// Remove recordings that are older, such as 7d.
    #[arg(long, value_name = "TIME", value_parser = some_time, help_heading = EVIDENCE)]
    max_age: Option<Duration>,
    /// Recordings of a rule to keep in an hour.
    #[arg(long, value_name = "N", default_value_t = 20, help_heading = EVIDENCE)]
    per_rule: u32,
    /// Header of requests whose value is the session in the index.
    #[arg(long, value_name = "NAME", help_heading = EVIDENCE)]
    session_header: Option<String>,
    #[command(flatten)]
    select: SelectArgs,
    #[command(flatten)]
    verdict: VerdictArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    settings: SettingsArgs,
    /// Apply upstreams, addresses and the folder of the evidence of conformance.toml, too, if they lead beyond this machine or
    /// write files.
    #[arg(long, hide_short_help = true)]
    trust_config: bool,
    /// Command whose requests pass.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

const EVIDENCE: &str = "Evidence";

fn upstream(text: &str) -> Result<Upstream, String> {
    let (name, url) = match text.split_once('=') {
        Some((name, url)) if !name.contains(['/', ':']) => (Some(name), url),
        _ => (None, text),
    };
    let url: http::Uri = url.parse().map_err(|_| format!("{url:?} is not a URL"))?;
    let (Some("http" | "https"), Some(host)) = (url.scheme_str(), url.host()) else {
        return Err("expected a URL such as https://gateway.example".to_owned());
    };
    let is_word = |name: &&str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    match name {
        Some(name) if !is_word(&name) => Err("a name has letters, digits, - and _".to_owned()),
        name => Ok(Upstream { name: name.unwrap_or(host).into(), url: url.clone() }),
    }
}

fn has_credentials(url: &http::Uri) -> bool {
    url.authority().is_some_and(|authority| authority.as_str().contains('@'))
}

fn collector(text: &str) -> Result<http::Uri, String> {
    upstream(text).map(|collector| collector.url)
}

fn part(text: &str) -> Result<f64, String> {
    let part: f64 = text.parse().map_err(|_| "expected a number such as 0.1".to_owned())?;
    if (0.0..=1.0).contains(&part) { Ok(part) } else { Err("expected a number from 0 to 1".to_owned()) }
}

fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    let shift = match &text[digits.len()..] {
        "" => 0,
        "KiB" => 10,
        "MiB" => 20,
        "GiB" => 30,
        _ => return Err("expected a size such as 256MiB or 1GiB".to_owned()),
    };
    let count: u64 = digits.parse().map_err(|_| "expected a size such as 256MiB or 1GiB".to_owned())?;
    count.checked_mul(1 << shift).ok_or_else(|| "this is too large".to_owned())
}

impl TapArgs {
    fn rules(&self) -> Result<DialectRules> {
        DialectRules::named(&self.dialect, &self.verdict, &self.select)
    }

    fn limits(&self) -> Limits {
        Limits {
            keep: self.keep.unwrap_or_default(),
            most_bytes: self.max_evidence,
            most_age: self.max_age.unwrap_or(Duration::MAX),
            per_hour: self.per_rule,
            session: self.session_header.clone(),
            shape_only: self.shape_only.unwrap_or_default(),
        }
    }

    fn check(&self) -> Result<()> {
        if self.upstreams.is_empty() {
            bail!("pass where requests go, as in --upstream http://localhost:8080");
        }
        // A parser of the flag would have them printed with its error.
        let upstreams = self.upstreams.iter().map(|upstream| ("--upstream", &upstream.url));
        let mut urls = upstreams.chain(self.otlp.iter().map(|url| ("--otlp", url)));
        if let Some((flag, url)) = urls.find(|(_, url)| has_credentials(url)) {
            let host = url.host().unwrap_or_default();
            bail!(
                "{flag}: the URL of {host} has a user or a password, which the tap does not send: leave them out"
            );
        }
        let of_evidence = [
            ("--shape-only", self.shape_only.is_some()),
            ("--keep", self.keep.is_some()),
            ("--max-age", self.max_age.is_some()),
            ("--session-header", self.session_header.is_some()),
        ];
        let given = of_evidence.iter().find(|(_, is_given)| *is_given && self.evidence.is_none());
        given.map_or(Ok(()), |(flag, _)| {
            Err(anyhow!("{flag} is about recordings: pass their folder with --evidence"))
        })
    }

    fn reload(&self, bench: &Bench, sample: &Sample) -> Result<()> {
        let again: Self = crate::cli::parsed_again()?;
        again.check()?;
        bench.set_rules(again.rules()?);
        if let Some(evidence) = &bench.evidence {
            evidence.limit(again.limits());
        }
        sample.set(again.sample);
        let fixed = [
            ("upstream", self.upstreams != again.upstreams),
            ("listen", self.listen != again.listen),
            ("metrics", self.metrics != again.metrics),
            ("otlp", self.otlp != again.otlp),
            ("memory", self.memory != again.memory),
            ("evidence", self.evidence != again.evidence),
        ];
        let fixed: Vec<&str> =
            fixed.into_iter().filter_map(|(flag, has_changed)| has_changed.then_some(flag)).collect();
        note(&match &*fixed {
            [] => "settings reloaded".to_owned(),
            fixed => format!("settings reloaded; after a restart: {}", fixed.join(", ")),
        });
        Ok(())
    }
}

impl CommandArgs for TapArgs {
    fn run(self) -> Result<ExitCode> {
        self.check()?;
        let rules = self.rules()?;
        let metrics = Metrics::default();
        let evidence = self.evidence.as_ref().map(|folder| {
            Evidence::open(folder, self.limits(), &metrics).with_context(|| folder.display().to_string())
        });
        let otlp = self.otlp.as_ref().map(|url| Otlp::new(url, &metrics)).transpose()?;
        let is_for_command = !self.command.is_empty();
        let bench = Bench::new(&rules, &metrics, evidence.transpose()?, otlp.clone(), is_for_command);
        let bench = Arc::new(bench);
        let make = {
            let (bench, draws) = (Arc::clone(&bench), self.output.draws());
            move || Bench::judge(&bench, draws)
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from).div_ceil(2);
        let memory = usize::try_from(self.memory).unwrap_or(usize::MAX);
        let (judges, queue) = Judges::start(threads, memory, &metrics, make)?;
        let sample = Sample::new(self.sample);
        let proxy = Proxy::new(self.upstreams.clone(), queue, sample.clone())?;
        let mut status = None;
        let ended = listening::run(async {
            let listener = bound(self.listen).await?;
            let address = listener.local_addr()?;
            if let Some(address) = self.metrics {
                let listener = bound(address).await?;
                note(&format!("metrics: http://{}/metrics", listener.local_addr()?));
                tokio::spawn(serve_metrics(listener, metrics.clone()));
            }
            if let Some(otlp) = otlp.clone() {
                tokio::spawn(async move { otlp.run(not_exported).await });
            }
            let mut signals = Signals::new()?;
            let signal = signals.ended(!self.command.is_empty(), || {
                if let Err(error) = self.reload(&bench, &sample) {
                    note(&format!("settings not reloaded: {}; the old ones stay", escaped(&error)));
                }
            });
            if self.command.is_empty() {
                let names: Vec<String> = self
                    .upstreams
                    .iter()
                    .map(|upstream| format!("{} to {}", upstream.name, upstream.url))
                    .collect();
                crate::cli::print(&format!("http://{address} passes {}\n", names.join(", ")))?;
                serve(listener, proxy, signal).await?;
            } else {
                let mut child = started(&self.command, address)?;
                serve(listener, proxy, async {
                    tokio::select! {
                        ended = child.wait() => status = Some(ended),
                        () = signal => {
                            // A terminal interrupts the command, too.
                            let _ = timeout(LAST_MOMENTS, child.wait()).await;
                            let _ = child.kill().await;
                        }
                    }
                })
                .await?;
            }
            Ok(())
        })?;
        judges.finish(Duration::from_secs(30));
        if let Some(otlp) = otlp {
            listening::run(async {
                if let Err(failure) = otlp.export().await {
                    not_exported(&failure.to_string());
                }
                Ok(())
            })?;
        }
        let dropped =
            Lost::ALL.into_iter().map(|why| (metrics.dropped(why), why)).filter(|(count, _)| *count > 0);
        let dropped: Vec<String> = dropped.map(|(count, why)| format!("{count} ({})", why.name())).collect();
        let mut words = format!("{} judged", counted(metrics.checked(), "exchange"));
        let outcomes = bench.outcomes();
        if !outcomes.is_empty() {
            words += ": ";
            words += &outcomes.join(", ");
        }
        if !dropped.is_empty() {
            words += "; not judged: ";
            words += &dropped.join(", ");
        }
        note(&words);
        let Some(reports) = bench.reports() else { return Ok(ended) };
        let code = if let Some(Ok(status)) = status {
            code(status)
        } else {
            // It may have asked again and again.
            note("note: the command was interrupted");
            NOT_DONE
        };
        if reports.is_empty() {
            note(
                "note: the command sent nothing that is judged: does it read OPENAI_BASE_URL or ANTHROPIC_BASE_URL?",
            );
            return Ok(ExitCode::from(if code == 0 { NOT_DONE } else { code }));
        }
        let run = rules.run(reports, self.verdict.fail_on());
        self.output.print(&run)?;
        Ok(if code == 0 { exit_code(&run) } else { ExitCode::from(code) })
    }
}

fn not_exported(why: &str) {
    note(&format!("note: the metrics cannot be exported: {}", visible(why)));
}

async fn bound(address: SocketAddr) -> Result<TcpListener> {
    TcpListener::bind(address)
        .await
        .with_context(|| format!("cannot listen on {address}; port 0 picks a free one"))
}

/// Variables of SDKs with their address, and the path behind it.
const VARIABLES: [(&str, &str); 4] = [
    ("OPENAI_BASE_URL", "/v1"),
    ("OPENAI_API_BASE", "/v1"),
    ("ANTHROPIC_BASE_URL", ""),
    ("GOOGLE_GEMINI_BASE_URL", ""),
];

/// An interrupted command has so long to end.
const LAST_MOMENTS: Duration = Duration::from_secs(5);

fn started(command: &[String], address: SocketAddr) -> Result<Child> {
    let [program, arguments @ ..] = command else { bail!("no command is given") };
    let mut command = Command::new(program);
    command.args(arguments).kill_on_drop(true);
    for (name, path) in VARIABLES {
        command.env(name, format!("http://{address}{path}"));
    }
    command.spawn().with_context(|| format!("cannot run {}", visible(program)))
}

/// A command that a signal ended has none of its own.
fn code(status: ExitStatus) -> u8 {
    status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

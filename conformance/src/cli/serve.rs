//! `conformance serve`: the reference gateway on a port.

use std::fmt::Write as _;
use std::future::{Future as _, pending, poll_fn};
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::task::Poll;
use std::time::Duration;

use anyhow::{Context as _, bail};
use catalogue::Rule;
use clap::Args;
use spec::Dialect;
use tokio::net::TcpListener;

use super::{known, names, print};
use crate::Rules;
use gateway::{Settings, WireFault};

/// Serves a reference gateway, to test clients against.
///
/// It conforms, or breaks the rules of --fault.
///
/// The request determines the response: by its tools, reasoning and format, or by directives in its input, such
/// as [[say Hello|, wor|ld.]], [[think A|B]] or [[refuse]].
#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    /// Port on 127.0.0.1; 0 picks a free one.
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// Dialect to speak.
    #[arg(long, value_name = "NAME", default_value = "openai", value_parser = known::DIALECTS, hide_possible_values = true)]
    dialect: String,
    /// Seed for random choices.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Delay before every event in milliseconds. The fault `slow` is one second.
    #[arg(long, value_name = "MS", default_value_t = 0)]
    pace: u64,
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
    #[arg(long = "fault", value_name = "FAULT", value_parser = known::RULES, hide_possible_values = true)]
    faults: Vec<String>,
    /// Model to serve; repeatable [default: all].
    ///
    /// By default every model exists, except those whose names begin with `no-such-` or `unknown-`.
    #[arg(long = "model", value_name = "NAME")]
    models: Vec<String>,
    /// List the faults of the dialect, with the input that triggers each, and exit.
    #[arg(long)]
    list_faults: bool,
}

impl ServeArgs {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let dialect = names::dialect(&self.dialect)?;
        let rules = Rules::of(dialect);
        if self.list_faults {
            print(&list(&rules))?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut settings = Settings {
            seed: self.seed,
            pace: Duration::from_millis(self.pace),
            chunk: self.chunk,
            fragments: usize::try_from(self.fragments).unwrap_or_default(),
            models: self.models.clone(),
            ..Settings::new(dialect)
        };
        let about = self.choose(&mut settings, &rules)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(listen(self.port, settings, about))?;
        // Streams that stall must not keep the program alive.
        runtime.shutdown_background();
        Ok(ExitCode::SUCCESS)
    }

    /// Takes the faults by their names, and says what they do and in which answers.
    fn choose(&self, settings: &mut Settings, rules: &Rules) -> anyhow::Result<String> {
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
        let (can, on_sockets) = (gateway::faults(rules), gateway::socket_faults(rules));
        for rule in &settings.rules {
            let find = |faults: &[(&'static Rule, &'static str)]| {
                faults.iter().find(|(other, _)| other.id == rule.id).copied()
            };
            match (find(&can), find(&on_sockets)) {
                (Some((_, golden)), _) => {
                    let _ = writeln!(about, "fault {}: breaks the rule that {}", rule.id, lower(rule.title));
                    if let Some(input) = input(golden) {
                        let _ = writeln!(
                            about,
                            "  in the answer to the input {input}, and in others that have what it takes"
                        );
                    }
                }
                (None, Some((_, turn))) => {
                    let _ = writeln!(
                        about,
                        "fault {}: breaks the rule that {}\n  in the answer to {turn}",
                        rule.id,
                        lower(rule.title)
                    );
                }
                (None, None) => bail!(not_here(rule, settings.dialect)),
            }
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

fn not_here(rule: &Rule, dialect: &Dialect) -> String {
    let (own, _) = rule.violation.golden.split_once('/').unwrap_or_default();
    let hint = if own == dialect.name { String::new() } else { format!("; try --dialect {own}") };
    format!("no answer in {} can break {} and nothing else{hint}", dialect.name, rule.id)
}

/// A title, in the middle of a sentence. What begins with a name keeps it.
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

/// What to say in a request for the answer that a golden is of.
fn input(golden: &str) -> Option<String> {
    let request = gateway::example(golden)?;
    Some(request.get("input")?.as_str()?.replace('\n', "\\n"))
}

/// What can be given as a fault: the rules, with what to say in a request so that the answer breaks them or in
/// which turns of a WebSocket they are broken, and what goes wrong in transport.
fn list(rules: &Rules) -> String {
    let of_rules: Vec<_> = gateway::faults(rules)
        .into_iter()
        .map(|(rule, golden)| (rule.id, input(golden).unwrap_or_default()))
        .chain(gateway::socket_faults(rules).into_iter().map(|(rule, turn)| (rule.id, format!("({turn})"))))
        .collect();
    let of_transport: Vec<_> =
        WireFault::ALL.iter().map(|fault| (fault.name(), fault.effect().to_owned())).collect();
    let width = of_rules.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let section = |title: &str, rows: &[(&str, String)]| {
        let rows: Vec<_> = rows.iter().map(|(name, what)| format!("{name:width$}  {what}\n")).collect();
        format!("{title}\n{}", rows.concat())
    };
    let name = rules.dialect().name;
    let inputs = format!("rules of {name}, and an input whose answer breaks each:");
    section(&inputs, &of_rules) + "\n" + &section("faults of transport, in every stream:", &of_transport)
}

/// What is served, beside faults.
fn served(settings: &Settings) -> String {
    let models = match settings.models.as_slice() {
        [] => "every model, but for no-such-* and unknown-*".to_owned(),
        models => format!("the models {}", models.join(", ")),
    };
    let pace = match settings.pace.as_millis() {
        0 => String::new(),
        pace => format!(", {pace} ms before every event"),
    };
    format!("POST /v1/responses, with any key; {models}{pace}\n")
}

async fn listen(port: u16, settings: Settings, about: String) -> anyhow::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", port))
        .await
        .with_context(|| format!("port {port} cannot be listened on; --port 0 takes any that is free"))?;
    let mut signal = Box::pin(harness::live::ended());
    // It is waited for from its first poll on, which must come before anybody knows of the server.
    let early = poll_fn(|context| Poll::Ready(signal.as_mut().poll(context))).await;
    let interrupted = async {
        let result = match early {
            Poll::Ready(result) => result,
            Poll::Pending => signal.await,
        };
        if result.is_err() {
            // Without a signal to wait for, it serves until it is killed.
            pending::<()>().await;
        }
    };
    print(&format!("http://{}/v1 speaks {}\n", listener.local_addr()?, settings.dialect.name))?;
    // Who starts it from a script reads the address alone.
    writeln!(io::stderr().lock(), "{}{about}Ctrl-C ends it", served(&settings))?;
    Ok(gateway::serve(listener, settings, interrupted).await?)
}

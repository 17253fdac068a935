//! `conformance serve`: the reference gateway on a port.

use std::future::{Future as _, pending, poll_fn};
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::task::Poll;
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::Args;
use spec::Dialect;
use spec::catalogue::Rule;
use tokio::net::TcpListener;

use super::{names, print};
use crate::Rules;
use crate::reference::{self, Settings, WireFault};

/// Serves a gateway to test clients against: it answers as a dialect promises, or breaks the rules it is
/// told to.
///
/// What an answer is, the request says: plainly by its tools, its reasoning, its format, or in directives in
/// its input, such as [[say Hello|, wor|ld.]], [[think A|B]] or [[refuse]].
#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    /// The port on 127.0.0.1; 0 takes any that is free.
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// The dialect that is spoken.
    #[arg(long, value_name = "NAME", default_value = "openai")]
    dialect: String,
    /// What decides where an answer could be one way or another.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Milliseconds before every event.
    #[arg(long, value_name = "MS", default_value_t = 0)]
    pace: u64,
    /// Bytes that are sent at once; whole events when not given.
    #[arg(long, value_name = "BYTES")]
    chunk: Option<usize>,
    /// Says texts again and again until they have so many fragments, for streams that are long.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=100_000))]
    fragments: u32,
    /// Breaks this rule in every answer in which that breaks no other, or a fault of transport: cut, crlf,
    /// split-utf8, stall, slow, huge-line, wrong-content-type, gzip, early-close, error-as-stream.
    #[arg(long = "fault", value_name = "RULE")]
    faults: Vec<String>,
    /// Serves this model; may be given several times. Without it, every model is served but those whose names
    /// begin with `no-such-` or `unknown-`.
    #[arg(long = "model", value_name = "NAME")]
    models: Vec<String>,
    /// Prints the rules that can be broken, each with what to say in a request for it, and ends.
    #[arg(long)]
    list_faults: bool,
}

impl ServeArgs {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let dialect = names::dialect(&self.dialect)?;
        let rules = Rules::of(dialect);
        if self.list_faults {
            print(&(table(&reference::faults(&rules)) + &turns(&reference::socket_faults(&rules))))?;
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
        self.choose(&mut settings, &rules)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(listen(self.port, settings))?;
        // Streams that stall must not keep the program alive.
        runtime.shutdown_background();
        Ok(ExitCode::SUCCESS)
    }

    /// Takes the faults by their names, and says in which answers they are.
    fn choose(&self, settings: &mut Settings, rules: &Rules) -> anyhow::Result<()> {
        for name in &self.faults {
            match WireFault::named(name) {
                Some(fault) => settings.wire.push(fault),
                None => settings.rules.push(rule(name)?),
            }
        }
        if settings.rules.is_empty() {
            return Ok(());
        }
        let (can, on_sockets) = (reference::faults(rules), reference::socket_faults(rules));
        let (mut chosen, mut in_turns) = (Vec::new(), Vec::new());
        for rule in &settings.rules {
            let find = |faults: &[(&'static Rule, &'static str)]| {
                faults.iter().find(|(other, _)| other.id == rule.id).copied()
            };
            match (find(&can), find(&on_sockets)) {
                (Some(fault), _) => chosen.push(fault),
                (None, Some(fault)) => in_turns.push(fault),
                (None, None) => bail!(not_here(rule, settings.dialect)),
            }
        }
        write!(io::stderr().lock(), "{}{}", table(&chosen), turns(&in_turns))?;
        Ok(())
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

/// The rules, and what to say in a request so that the answer breaks them.
fn table(faults: &[(&Rule, &str)]) -> String {
    let width = faults.iter().map(|(rule, _)| rule.id.len()).max().unwrap_or(0);
    let line = |(rule, golden): &(&Rule, &str)| {
        let input =
            reference::example(golden).and_then(|request| Some(request.get("input")?.as_str()?.to_owned()));
        format!("{:width$}  {}\n", rule.id, input.unwrap_or_default().replace('\n', "\\n"))
    };
    faults.iter().map(line).collect()
}

/// The rules that are broken on a WebSocket, and in which turns.
fn turns(faults: &[(&Rule, &str)]) -> String {
    let lines: Vec<String> = faults.iter().map(|(rule, turn)| format!("{}  ({turn})\n", rule.id)).collect();
    lines.concat()
}

async fn listen(port: u16, settings: Settings) -> anyhow::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", port))
        .await
        .with_context(|| format!("port {port} cannot be listened on; --port 0 takes any that is free"))?;
    let mut signal = Box::pin(tokio::signal::ctrl_c());
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
    Ok(reference::serve(listener, settings, interrupted).await?)
}

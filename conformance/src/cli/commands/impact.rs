//! `conformance impact`: plays recordings to real clients.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use clap::Args;

use crate::cli::color::Color;
use crate::cli::flags::dialect::DialectRules;
use crate::cli::flags::target::{count, some_time};
use crate::cli::flags::theatre::{TheatreArgs, acts, judged, processors};
use crate::cli::input::{files, known};
use crate::cli::{CommandArgs, NOT_DONE, print};
use clients::{Cache, ImpactClient, Recorded, Theatre};
use gateway::Act;
use reports::{ImpactForm, impact_report};
use results::{AUTO, IMPACT_VERSION, ImpactRun, PlayedResponse};

const EXAMPLES: &str = "\
Examples:
  conformance impact --install stream.sse
  conformance impact stream.sse --intact before.sse
  conformance impact captures/ --clients openai-node,\"AI SDK (openai)\" --format json
  conformance impact --list";

/// Plays recordings to real clients, and says what each did.
///
/// Each client gets the bytes of each recorded response of its API, from this machine, and a response that keeps the rules
/// and says the same; or the one of --intact. Its replies to both are compared. A client
///
/// - fails, if it reports an error although the response has an answer;
/// - is wrong, if it loses, mixes or invents something, hangs, or takes what broke off for the whole;
/// - passes on what the server sent, if that is not what an intact response says;
/// - reports what broke off, and the error of a response, as it should;
/// - is unaffected, if it returns the same.
///
/// --install gets the clients with uv or pip, and with npm, into a cache; their versions are those that --list shows.
///
/// Exit codes: 0 if no client fails or is wrong, 1 if one is, 2 if nothing could be played.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct ImpactArgs {
    /// Recordings, folders of recordings, or - for stdin.
    #[arg(required_unless_present_any = ["list", "install"], value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    clients: TheatreArgs,
    /// List the clients, with their packages, and whether they are installed.
    #[arg(long)]
    list: bool,
    /// The intact response of the recording.
    #[arg(long, value_name = "FILE")]
    intact: Option<PathBuf>,
    /// Dialect of the recordings, of `conformance list dialects` or of a folder, such as ./acme; `auto` recognises it.
    #[arg(long, value_name = "NAME", default_value = AUTO, value_parser = known::DIALECTS_OR_AUTO, hide_possible_values = true)]
    dialect: String,
    /// Time limit for a response.
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = some_time)]
    timeout: Duration,
    /// Clients to run at once [default: the number of processors].
    #[arg(long, value_name = "N", value_parser = count(256))]
    jobs: Option<usize>,
    /// Output format: human or json.
    #[arg(long, value_enum, default_value_t, hide_possible_values = true, hide_default_value = true)]
    format: ImpactForm,
    /// Write to this file instead of stdout.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// When to use colour.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,
}

impl CommandArgs for ImpactArgs {
    fn run(self) -> Result<ExitCode> {
        let cache = self.clients.cache()?;
        let wanted = self.clients.wanted()?;
        if self.list {
            print(&list(&wanted, &cache))?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut run = ImpactRun {
            impact: IMPACT_VERSION,
            suite: env!("CARGO_PKG_VERSION").to_owned(),
            ..ImpactRun::default()
        };
        if self.paths.is_empty() {
            let clients = self.clients.installed(&wanted, &cache, &mut run.left_out);
            print(&impact_report(&run, ImpactForm::Human, self.color.screen(&io::stdout())))?;
            return Ok(ExitCode::from(if clients.len() == wanted.len() { 0 } else { NOT_DONE }));
        }
        let intact = self.intact.as_deref().map(intact).transpose()?.map(Arc::new);
        let rules = DialectRules::all_of(&self.dialect)?;
        let mut recorded = Vec::new();
        for path in files::recordings(&self.paths)?.files {
            for (name, act) in acts(&path)? {
                let (dialect, broken) = judged(&name, &act, &rules);
                run.responses.push(PlayedResponse {
                    name,
                    dialect: dialect.map(|dialect| dialect.name.to_owned()),
                    rules: broken.clone(),
                    ..PlayedResponse::default()
                });
                let intact = intact.clone();
                recorded.extend(dialect.map(|dialect| Recorded { act, dialect, rules: broken, intact }));
            }
        }
        let apis: BTreeSet<&str> = recorded.iter().map(|one| one.dialect.api.name).collect();
        let wanted: Vec<_> = wanted.into_iter().filter(|client| apis.contains(&*client.api)).collect();
        if wanted.is_empty() && !apis.is_empty() {
            let apis: Vec<&str> = apis.into_iter().collect();
            bail!("none of the clients speaks the API of the recordings: {}", apis.join(", "));
        }
        let theatre = Theatre {
            clients: self.clients.installed(&wanted, &cache, &mut run.left_out),
            cache,
            timeout: self.timeout,
            jobs: self.jobs.unwrap_or_else(processors),
        };
        let known = run.responses.iter_mut().filter(|response| response.dialect.is_some());
        for (response, played) in known.zip(theatre.play(recorded)?) {
            (response.beside, response.clients) = played;
        }
        let text = impact_report(&run, self.format, self.color.screen(&io::stdout()));
        match &self.output {
            Some(file) => fs::write(file, text).with_context(|| file.display().to_string())?,
            None => print(&text)?,
        }
        Ok(ExitCode::from(if run.has_played() { u8::from(run.breaks_any()) } else { NOT_DONE }))
    }
}

fn intact(file: &Path) -> Result<Act> {
    let mut all = acts(file)?;
    match (all.pop(), all.is_empty()) {
        (Some((_, act)), true) => Ok(act),
        _ => bail!("{}: --intact wants a recording with one response", file.display()),
    }
}

fn list(clients: &[&'static ImpactClient], cache: &Cache) -> String {
    let mut out = String::new();
    for client in clients {
        let state = if cache.has(&client.packages) { "installed" } else { "not installed" };
        let _ = writeln!(out, "{:30} {:10} {:8} {state}", client.name, client.api, client.packages);
    }
    for name in clients.iter().map(|client| &*client.packages).collect::<BTreeSet<_>>() {
        let Some(own) = clients::impact_packages(name) else { continue };
        let all: Vec<&str> = own.all().collect();
        let _ = writeln!(out, "\n{name}: {}\n  {}", all.join(" "), cache.folder(own, name).display());
    }
    out
}

//! `conformance impact`: plays recordings to real clients.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use std::{env, fs};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use spec::Dialect;

use super::color::Color;
use super::dialect::DialectRules;
use super::message::note;
use super::target::count;
use super::{CommandArgs, NOT_DONE, files, known, names, print};
use catalogue::Level;
use clients::{Cache, ImpactClient, Recorded, Theatre, impact_clients};
use gateway::{Act, Replay};
use reports::{ImpactForm, impact_report};
use results::{AUTO, IMPACT_VERSION, ImpactRun, LeftOut, PlayedResponse};

/// Maximum size of a recording.
const LARGEST: u64 = 64 << 20;

const EXAMPLES: &str = "\
Examples:
  conformance impact --install stream.sse
  conformance impact stream.sse --intact before.sse
  conformance impact captures/ --clients openai-node,\"AI SDK (openai)\" --format json
  conformance impact --list";

/// Plays recordings to real clients, and says what each did.
///
/// Each client gets the bytes of each recorded response of its API, from this machine, and a response that keeps the rules
/// and says the same; or that of --intact. What it returns for both is compared. A client
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
pub(super) struct ImpactArgs {
    /// Recordings, folders of recordings, or - for stdin.
    #[arg(required_unless_present_any = ["list", "install"], value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Install the clients that are missing.
    #[arg(long)]
    install: bool,
    /// Clients to play to, of --list [default: all of the API].
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    clients: Vec<String>,
    /// List the clients, with their packages, and whether they are installed.
    #[arg(long)]
    list: bool,
    /// The intact response of the recording.
    #[arg(long, value_name = "FILE")]
    intact: Option<PathBuf>,
    /// Dialect of the recordings, of `conformance list dialects`; `auto` recognises it.
    #[arg(long, value_name = "NAME", default_value = AUTO, value_parser = known::DIALECTS_OR_AUTO, hide_possible_values = true)]
    dialect: String,
    /// Folder of the installed clients [default: conformance/clients in the user's cache].
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// Time limit for a response in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 5000, value_parser = clap::value_parser!(u64).range(100..=600_000))]
    timeout: u64,
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
        // Clients run in a folder of their own.
        let cache = Cache::new(std::path::absolute(self.cache.clone().map_or_else(usual_cache, Ok)?)?);
        let wanted = self.wanted()?;
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
            let clients = self.installed(&wanted, &cache, &mut run);
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
            clients: self.installed(&wanted, &cache, &mut run),
            cache,
            timeout: Duration::from_millis(self.timeout),
            jobs: self.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)),
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

impl ImpactArgs {
    /// Returns the clients that are asked for.
    fn wanted(&self) -> Result<Vec<&'static ImpactClient>> {
        let all = impact_clients();
        for name in &self.clients {
            if !all.iter().any(|client| client.name == *name) {
                let hint = names::meant(name, all.iter().map(|client| &*client.name));
                bail!("there is no client \"{name}\"{hint}; `conformance impact --list` lists them");
            }
        }
        let is_wanted =
            |client: &&ImpactClient| self.clients.is_empty() || self.clients.contains(&client.name);
        Ok(all.iter().filter(is_wanted).collect())
    }

    /// Installs what is asked for, and returns the clients that are installed. The others are left out, with the reason.
    fn installed(
        &self,
        wanted: &[&'static ImpactClient],
        cache: &Cache,
        run: &mut ImpactRun,
    ) -> Vec<&'static ImpactClient> {
        let mut by_packages: BTreeMap<&str, Vec<&'static ImpactClient>> = BTreeMap::new();
        for client in wanted {
            by_packages.entry(&client.packages).or_default().push(client);
        }
        let mut missing = BTreeSet::new();
        for (packages, of) in by_packages {
            let reason = if cache.has(packages) {
                continue;
            } else if self.install {
                let say = |command: &str| note(&format!("installing: {command}"));
                match cache.install(packages, &say) {
                    Ok(()) => continue,
                    Err(error) => format!("not installed: {error}"),
                }
            } else {
                "not installed: --install gets them from PyPI and npm".to_owned()
            };
            missing.insert(packages);
            let clients = of.iter().map(|client| client.name.clone()).collect();
            match run.left_out.iter_mut().find(|left| left.reason == reason) {
                Some(left) => left.clients.extend(of.iter().map(|client| client.name.clone())),
                None => run.left_out.push(LeftOut { clients, reason }),
            }
        }
        wanted.iter().copied().filter(|client| !missing.contains(&*client.packages)).collect()
    }
}

/// Returns the response of --intact.
fn intact(file: &Path) -> Result<Act> {
    let mut all = acts(file)?;
    match (all.pop(), all.is_empty()) {
        (Some((_, act)), true) => Ok(act),
        _ => bail!("{}: --intact wants a recording with one response", file.display()),
    }
}

/// Returns the responses over HTTP in a recording, with their names.
fn acts(path: &Path) -> Result<Vec<(String, Act)>> {
    let named = || path.display().to_string();
    let mut bytes = Vec::new();
    files::open(path).with_context(named)?.take(LARGEST).read_to_end(&mut bytes).with_context(named)?;
    let replays = Replay::read(&files::name(path), &bytes, 0.0).with_context(named)?;
    Ok(replays.into_iter().filter_map(|replay| Some((replay.name.clone(), replay.act()?.clone()))).collect())
}

/// Returns the dialect of a response, and the rules that it breaks.
fn judged(name: &str, act: &Act, rules: &DialectRules) -> (Option<&'static Dialect>, Vec<String>) {
    let report = rules.checking(false).check(name.to_owned(), &mut &*act.recording(), None);
    let dialect = rules.dialect().or_else(|| spec::dialect(&report.dialects.first()?.dialect));
    let broken = report.findings.iter().filter(|finding| finding.level >= Level::Should);
    let broken: BTreeSet<String> = broken.map(|finding| finding.rule.to_string()).collect();
    (dialect, broken.into_iter().collect())
}

/// Returns the folder in which clients are installed by default.
fn usual_cache() -> Result<PathBuf> {
    let of = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = of("XDG_CACHE_HOME").or_else(|| of("LOCALAPPDATA"));
    let home = home.or_else(|| Some(of("HOME")?.join(".cache")));
    let home = home.context("there is no home folder: pass --cache")?;
    Ok(home.join("conformance").join("clients"))
}

/// Returns a line for each client.
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

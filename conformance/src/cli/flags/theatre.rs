//! The clients to which recordings are played, for each command that plays.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use catalogue::Level;
use clap::Args;
use clients::{Cache, ImpactClient, impact_clients};
use gateway::{Act, Replay};
use results::LeftOut;
use spec::Dialect;

use super::dialect::DialectRules;
use crate::cli::input::{files, names};
use crate::cli::message::note;

const LARGEST: u64 = 64 << 20;
pub(in crate::cli) const TIMEOUT: Duration = Duration::from_secs(5);
pub(in crate::cli) const HEADING: &str = "Clients";

/// Which clients to play to.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct TheatreArgs {
    /// Clients to play to, of `conformance impact --list` [default: all of the API].
    #[arg(long, value_name = "NAME", value_delimiter = ',', help_heading = HEADING)]
    clients: Vec<String>,
    /// Install the clients that are missing.
    #[arg(long, help_heading = HEADING)]
    install: bool,
    /// Folder of the installed clients [default: conformance/clients in the user's cache].
    #[arg(long, value_name = "DIR", help_heading = HEADING)]
    cache: Option<PathBuf>,
}

impl TheatreArgs {
    pub(in crate::cli) fn cache(&self) -> Result<Cache> {
        // Clients run in a folder of their own.
        Ok(Cache::new(std::path::absolute(self.cache.clone().map_or_else(usual_cache, Ok)?)?))
    }

    pub(in crate::cli) fn wanted(&self) -> Result<Vec<&'static ImpactClient>> {
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

    /// Installs clients if that is asked for. Those that are not installed are left out, with the reason.
    pub(in crate::cli) fn installed(
        &self,
        wanted: &[&'static ImpactClient],
        cache: &Cache,
        left_out: &mut Vec<LeftOut>,
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
            match left_out.iter_mut().find(|left| left.reason == reason) {
                Some(left) => left.clients.extend(of.iter().map(|client| client.name.clone())),
                None => left_out.push(LeftOut { clients, reason }),
            }
        }
        wanted.iter().copied().filter(|client| !missing.contains(&*client.packages)).collect()
    }
}

pub(in crate::cli) fn acts(path: &Path) -> Result<Vec<(String, Act)>> {
    let named = || path.display().to_string();
    let mut bytes = Vec::new();
    files::open(path).with_context(named)?.take(LARGEST + 1).read_to_end(&mut bytes).with_context(named)?;
    if bytes.len() as u64 > LARGEST {
        bail!("{}: it is larger than {} MiB, which is too much to play", named(), LARGEST >> 20);
    }
    acts_in(&files::name(path), &bytes)
}

pub(in crate::cli) fn acts_in(name: &str, recording: &[u8]) -> Result<Vec<(String, Act)>> {
    let replays = Replay::read(name, recording, 0.0).with_context(|| name.to_owned())?;
    Ok(replays.into_iter().filter_map(|replay| Some((replay.name.clone(), replay.act()?.clone()))).collect())
}

pub(in crate::cli) fn judged(
    name: &str,
    act: &Act,
    rules: &DialectRules,
) -> (Option<&'static Dialect>, Vec<String>) {
    let report = rules.checking(false).check(name.to_owned(), &mut &*act.recording(), None);
    let dialect = rules.dialect().or_else(|| spec::dialect(&report.dialects.first()?.dialect));
    let broken = report.findings.iter().filter(|finding| finding.level >= Level::Should);
    let broken: BTreeSet<String> = broken.map(|finding| finding.rule.to_string()).collect();
    (dialect, broken.into_iter().collect())
}

fn usual_cache() -> Result<PathBuf> {
    let of = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = of("XDG_CACHE_HOME").or_else(|| of("LOCALAPPDATA"));
    let home = home.or_else(|| Some(of("HOME")?.join(".cache")));
    let home = home.context("there is no home folder: pass --cache")?;
    Ok(home.join("conformance").join("clients"))
}

pub(in crate::cli) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

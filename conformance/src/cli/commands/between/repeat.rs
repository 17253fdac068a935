//! The failed tests of an earlier run.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use catalogue::HandlingMode;

use super::BetweenArgs;
use super::select::PairMode;
use crate::cli::flags::target::is_on_this_machine;
use crate::cli::input::names;
use crate::cli::input::saved::read_between;

impl BetweenArgs {
    /// Settings that the user gave stay. The result is the failed tests of the run.
    pub(super) fn repeat(&mut self, folder: &Path) -> Result<BTreeSet<String>> {
        let run = read_between(folder)?
            .with_context(|| format!("{} is not a folder that `between --out` wrote", folder.display()))?;
        let failed: BTreeSet<String> = run.failed().map(|test| test.name.clone()).collect();
        if failed.is_empty() {
            bail!("no test failed in {}", folder.display());
        }
        if self.gateway.is_none() && self.command.is_empty() && !run.is_reference {
            self.command = run.command.iter().map(OsString::from).collect();
            if let Some(url) = run.named_url() {
                if !is_on_this_machine(url) {
                    let url = results::shell_word(url);
                    bail!("only {} names the gateway: to confirm it, add --gateway {url}", folder.display());
                }
                self.gateway = Some(url.to_owned());
            }
            self.upstream_port = self.upstream_port.or(run.upstream_port);
        }
        if !run.is_reference {
            self.model.get_or_insert(run.model.clone());
        }
        self.name.get_or_insert(run.gateway.clone());
        self.is_self |= run.is_reference && self.gateway.is_none() && self.command.is_empty();
        self.declared.repeat(&run.declared);
        if self.profile.is_empty() {
            self.profile = run.profiles.iter().cloned().collect();
        }
        if self.session.is_empty() {
            self.session = run.sessions.iter().map(PathBuf::from).collect();
        }
        self.timeout = self.timeout.or(run.timeout.map(Duration::from_millis));
        self.limit = self.limit.or(run.limit.map(Duration::from_millis));
        self.verdict.repeat(run.fail_on, &run.levels);
        let apis = |of: fn(&results::BetweenPair) -> &String| -> Result<Vec<String>> {
            let api = |name: &String| {
                let is_known = names::usual().any(|dialect| dialect.api.name == *name);
                is_known
                    .then(|| name.clone())
                    .with_context(|| format!("{}: invalid variant: {name}", folder.display()))
            };
            run.pairs.iter().map(|pair| api(of(pair))).collect()
        };
        if self.front.is_empty() && self.upstream.is_empty() {
            (self.front, self.upstream) = (apis(|pair| &pair.front)?, apis(|pair| &pair.upstream)?);
        }
        let is_local = run.pairs.iter().all(|pair| pair.mode == HandlingMode::Local.name());
        if self.mode.is_empty() && is_local {
            self.mode = vec![PairMode::local()];
        }
        if self.mode.is_empty() {
            let modes = run
                .pairs
                .iter()
                .map(|pair| PairMode::new(&format!("{}-{}", pair.front, pair.upstream), &pair.mode));
            self.mode = modes
                .collect::<Result<_, _>>()
                .map_err(|problem| anyhow!("{}: {problem}", folder.display()))?;
        }
        Ok(failed)
    }
}

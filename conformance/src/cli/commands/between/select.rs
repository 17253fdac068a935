//! The pairs of APIs and the tests of a run.

use std::collections::BTreeSet;
use std::env;
use std::str::FromStr;
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow, bail};
use between::{Pair, Settings, front_dialect, upstream_dialect};
use catalogue::HandlingMode;
use spec::Dialect;

use super::{BetweenArgs, JOBS, WAITS};
use crate::cli::flags::target::KEY;
use crate::cli::input::known::ALL;
use crate::cli::message::note;
use crate::cli::names as known;
use harness::suite::Selection;

/// Each dialect once. Without names, all.
fn dialects(
    names: &[String],
    of: fn(&spec::Api) -> Option<&'static Dialect>,
) -> impl Iterator<Item = &'static Dialect> {
    let is_named = |api: &str| names.is_empty() || names.iter().any(|name| *name == ALL || *name == api);
    known::usual()
        .filter(move |dialect| is_named(dialect.api.name))
        .filter_map(move |dialect| of(dialect.api))
}

/// How a gateway handles all pairs of APIs, or one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PairMode {
    pair: Option<String>,
    mode: HandlingMode,
}

impl PairMode {
    /// The gateway answers all itself.
    pub(super) const fn local() -> Self {
        Self { pair: None, mode: HandlingMode::Local }
    }

    pub(super) fn new(pair: &str, mode: &str) -> Result<Self, String> {
        format!("{pair}={mode}").parse()
    }
}

impl FromStr for PairMode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (pair, name) = text.rsplit_once('=').map_or((None, text), |(pair, name)| (Some(pair), name));
        let modes = || HandlingMode::ALL.into_iter().map(HandlingMode::name);
        let mode = HandlingMode::ALL.into_iter().find(|mode| mode.name() == name).ok_or_else(|| {
            let all = modes().collect::<Vec<_>>().join(", ");
            format!("there is no mode \"{name}\"{}; there are: {all}", known::meant(name, modes()))
        })?;
        let is_api = |name: &str| known::usual().any(|dialect| dialect.api.name == name);
        let is_pair = |pair: &str| {
            pair.split_once('-').is_some_and(|(front, upstream)| is_api(front) && is_api(upstream))
        };
        match pair.filter(|pair| !is_pair(pair)) {
            Some(pair) => Err(format!(
                "\"{pair}\" is no pair of APIs, such as responses-chat; there are: {}",
                known::usual().map(|dialect| dialect.api.name).collect::<Vec<_>>().join(", ")
            )),
            None => Ok(Self { pair: pair.map(str::to_owned), mode }),
        }
    }
}

/// The key that the suite makes for the client.
pub(super) const CLIENT_KEY: &str = "sk-conformance-client-7d41c02b";
/// The key that the suite makes for the upstream.
pub(super) const UPSTREAM_KEY: &str = "sk-conformance-upstream-93be6f15";
const MODEL: &str = "reference-1";

impl BetweenArgs {
    pub(super) fn settings(&self, again: Option<&BTreeSet<String>>) -> Result<Settings> {
        let words: Vec<String> =
            self.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let name = match (&self.name, &self.gateway) {
            (Some(name), _) => name.clone(),
            (None, _) if !words.is_empty() => words.join(" "),
            (None, Some(url)) => url.clone(),
            (None, None) => "reference translator".to_owned(),
        };
        let key = self.api_key.clone().or_else(|| env::var(KEY).ok()).filter(|key| !key.is_empty());
        let [limit, patience] = WAITS;
        let mut settings = Settings {
            gateway: self.gateway.clone().unwrap_or_default(),
            name,
            command: words,
            headers: self.header.clone(),
            pairs: self.pairs()?,
            model: self.model.clone().unwrap_or_else(|| MODEL.to_owned()),
            key: Some(key.unwrap_or_else(|| CLIENT_KEY.to_owned())),
            upstream_key: (self.gateway.is_none() || !self.command.is_empty())
                .then(|| UPSTREAM_KEY.to_owned()),
            declared: self.declared.declared(),
            agents: self.agents(),
            sessions: self.sessions()?,
            selection: Selection::default(),
            shard: None,
            jobs: self.jobs.unwrap_or(JOBS),
            limit: self.timeout.unwrap_or(limit),
            is_limit_known: self.timeout.is_some(),
            max_bytes: self.budget.max_total_bytes,
            max_time: self.budget.max_total_time,
            patience: self.limit.unwrap_or(patience),
            out: self.folder.out.clone(),
        };
        if settings.declared.websocket && settings.pairs.iter().all(|pair| pair.front.api.session.is_none()) {
            bail!("--websocket is for clients of the Responses API, which --front leaves out");
        }
        self.select(&mut settings, again)?;
        Ok(settings)
    }

    fn sessions(&self) -> Result<Vec<Arc<between::Session>>> {
        if self.session.is_empty() {
            return Ok(Vec::new());
        }
        let (sessions, others) = between::read_sessions(&self.session, None)?;
        let left_out: usize = sessions.iter().map(|session| session.left_out).sum();
        let [others, left_out] = [(others, "session"), (left_out, "line")]
            .map(|(count, what)| (count > 0).then(|| results::text::counted(count as u64, what)));
        let all = [
            others.map(|count| format!("{count} without a request of an API that the suite speaks")),
            left_out.map(|count| format!("{count} with probes, WebSocket messages or without an answer")),
        ];
        for session in &sessions {
            if let Some(agent) = session.made_as {
                note(&format!(
                    "note: {}: a transcript has no requests; they are made like those of {}",
                    session.name,
                    agent.words()
                ));
            }
        }
        let all: Vec<String> = all.into_iter().flatten().collect();
        if !all.is_empty() {
            note(&format!("note: not replayed: {}", all.join("; ")));
        }
        if sessions.is_empty() {
            bail!("--session has no session of an API that the suite speaks");
        }
        Ok(sessions)
    }

    /// No upstream is asked: the gateway answers all itself.
    pub(super) fn is_local(&self) -> bool {
        let is_local = |mode: &PairMode| mode.pair.is_none() && mode.mode == HandlingMode::Local;
        self.mode.iter().any(is_local)
    }

    pub(super) fn pairs(&self) -> Result<Vec<Pair>> {
        let mut pairs = Vec::new();
        let of_agents = || self.agents().iter().map(|agent| agent.api().to_owned()).collect();
        let fronts = if self.front.is_empty() { of_agents() } else { self.front.clone() };
        let is_local = self.is_local();
        if let Some(other) = self.upstream.iter().find(|it| is_local && !fronts.contains(it)) {
            bail!("--mode local asks no upstream: leave --upstream {other} out");
        }
        for front in dialects(&fronts, front_dialect) {
            let same = [front.api.name.to_owned()];
            let upstreams = if is_local { &same[..] } else { &self.upstream };
            for upstream in dialects(upstreams, upstream_dialect) {
                pairs.push(self.pair(front, upstream));
            }
        }
        let idle = |mode: &&PairMode| {
            mode.pair.as_ref().is_some_and(|name| pairs.iter().all(|pair| pair.name() != *name))
        };
        if let Some(PairMode { pair: Some(pair), .. }) = self.mode.iter().find(idle) {
            bail!("--mode is about {pair}, but --front and --upstream leave it out");
        }
        Ok(pairs)
    }

    /// A mode for the pair wins over one for all pairs, and the last one over others.
    pub(super) fn pair(&self, front: &'static Dialect, upstream: &'static Dialect) -> Pair {
        let is_reference = self.gateway.is_none() && self.command.is_empty();
        let usual = if is_reference { Pair::of_reference } else { Pair::transforming };
        let pair = usual(front, upstream);
        let name = pair.name();
        let of = |wanted: Option<&str>| self.mode.iter().rev().find(|mode| mode.pair.as_deref() == wanted);
        let mode = of(Some(&name)).or_else(|| of(None)).map_or(pair.mode, |mode| mode.mode);
        Pair { mode, ..pair }
    }

    /// It is an error if no test is selected.
    pub(super) fn select(&self, settings: &mut Settings, again: Option<&BTreeSet<String>>) -> Result<()> {
        let dialect = settings.pairs.first().map(|pair| pair.front).context("there is no pair of APIs")?;
        (settings.selection, settings.shard) = (Selection::default(), None);
        let all: Vec<String> = between::tests(settings).into_iter().map(|test| test.name).collect();
        // A whole name selects one test, and not those whose names begin with it.
        let exact = |filter: &String| {
            if all.contains(filter) { format!("/^{}$/", filter.replace('.', "\\.")) } else { filter.clone() }
        };
        let filters: Vec<String> = self.filter.iter().map(exact).collect();
        let selection = Selection::new(&filters, &self.tests.skip, false, dialect);
        let mut selection = selection.map_err(|problem| anyhow!(problem))?;
        if let Some(problem) = selection.problem(&all) {
            bail!(problem);
        }
        if let Some(again) = again {
            selection = selection.only(again.iter().cloned());
        }
        settings.selection = selection;
        settings.shard = self.tests.shard;
        let tests = between::tests(settings);
        settings
            .pairs
            .retain(|pair| tests.iter().any(|test| test.name.starts_with(&format!("{}/", pair.name()))));
        if tests.is_empty() {
            bail!(self.tests.none_left());
        }
        Ok(())
    }
}

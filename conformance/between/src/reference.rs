//! The reference translator, with which the suite proves itself.

use std::io;

use catalogue::HandlingMode;
use gateway::{EmbeddedVia, ViaSettings};
use spec::Api;

use crate::dialects::{front_dialect, upstream_dialect};
use crate::run::Suite;
use crate::settings::{Pair, Settings};

/// The name of the reference translator in reports.
pub const REFERENCE: &str = "reference translator";

/// Reference translators in this process, one for each API of the upstream, stopped when dropped.
#[derive(Debug)]
pub struct Reference {
    _translators: Vec<EmbeddedVia>,
    pairs: Vec<Pair>,
}

impl Reference {
    /// Starts translators in front of the upstream of a suite for these APIs of clients and of the upstream. With a fault, they
    /// break the rule of that name.
    ///
    /// # Errors
    ///
    /// If the system starts no more threads, or there is no such fault.
    pub fn start(
        suite: &Suite,
        settings: &Settings,
        fronts: &[&'static Api],
        upstreams: &[&'static Api],
        fault: Option<&str>,
    ) -> io::Result<Self> {
        let url = format!("http://{}/v1", suite.address());
        let fronts: Vec<_> = fronts.iter().filter_map(|api| front_dialect(api)).collect();
        let mut translators = Vec::new();
        let mut pairs = Vec::new();
        for upstream in upstreams.iter().filter_map(|api| upstream_dialect(api)) {
            let via = ViaSettings {
                key: settings.upstream_key.clone(),
                fault: fault.map(str::to_owned),
                // It gives up on a silent upstream before the client does.
                limit: settings.limit / 2,
                ..ViaSettings::new(&url, upstream)
            };
            let translator = EmbeddedVia::start(via)?;
            for front in &fronts {
                let is_same = front.api.name == upstream.api.name;
                let mode = if is_same { HandlingMode::Passthrough } else { HandlingMode::Transform };
                let gateway = Some(translator.url());
                pairs.push(Pair { gateway, ..Pair::new(front, upstream, mode) });
            }
            translators.push(translator);
        }
        Ok(Self { _translators: translators, pairs })
    }

    /// Returns the pairs of APIs, each with the address of its translator.
    pub fn pairs(&self) -> Vec<Pair> {
        self.pairs.clone()
    }
}

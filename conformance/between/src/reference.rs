//! The reference translator. The suite tests itself with it.

use std::io;
use std::time::Duration;

use gateway::{EmbeddedVia, ViaSettings};
use spec::Dialect;

use crate::evidence::SILENCE_GRACE;
use crate::run::Suite;
use crate::settings::Settings;

/// Reference translators in this process, one for each API of the upstream, stopped when dropped.
#[derive(Debug)]
pub struct Reference {
    _all: Vec<EmbeddedVia>,
}

impl Reference {
    /// Starts the translators for the pairs of settings in front of the upstream of a suite, and sends the requests of these
    /// pairs to them. With a fault, they break the rule of that name.
    ///
    /// # Errors
    ///
    /// If the system starts no more threads, or there is no such fault.
    pub fn start(suite: &Suite, settings: &mut Settings, fault: Option<&str>) -> io::Result<Self> {
        let url = format!("http://{}/v1", suite.address());
        let mut all: Vec<(&'static Dialect, EmbeddedVia)> = Vec::new();
        let keeps_alive = settings.declared.keeps_alive.map(Duration::from_secs);
        for pair in &mut settings.pairs {
            if all.iter().all(|(upstream, _)| upstream.name != pair.upstream.name) {
                let via = ViaSettings {
                    key: settings.upstream_key.clone(),
                    fault: fault.map(str::to_owned),
                    // Longer than an upstream waits for its client or is silent, and shorter than the client waits.
                    limit: settings.patience * 2
                        + keeps_alive.map_or(Duration::ZERO, |every| every + 4 * SILENCE_GRACE),
                    keeps_alive,
                    other_model: settings.declared.other_model.clone(),
                    ..ViaSettings::new(&url, pair.upstream)
                };
                all.push((pair.upstream, EmbeddedVia::start(via)?));
            }
            let own = all.iter().find(|(upstream, _)| upstream.name == pair.upstream.name);
            pair.gateway = own.map(|(_, via)| via.url());
        }
        if let Some((_, first)) = all.first() {
            settings.gateway = first.url();
        }
        Ok(Self { _all: all.into_iter().map(|(_, via)| via).collect() })
    }
}

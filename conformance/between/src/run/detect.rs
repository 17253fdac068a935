//! The API that a gateway speaks to its upstream.

use std::sync::Arc;

use gateway::start_runtime;
use spec::Dialect;

use super::Suite;
use super::clients::Clients;
use crate::dialects::upstream_dialect;
use crate::evidence::Exchanged;
use crate::mark::mark;
use crate::plan::{Variant, plain, test};
use crate::question::Questions;
use crate::settings::{Pair, Settings};
use crate::upstream::Playing;

/// The upstream that a gateway asks for the clients of an API.
#[derive(Debug, Clone)]
pub struct Detected {
    /// The dialect of the client.
    pub front: &'static Dialect,
    /// The dialect of the upstream, if it was asked.
    pub upstream: Option<&'static Dialect>,
    /// The client's exchange.
    pub exchange: Exchanged,
}

/// The number of the first test that detects an upstream: no run has as many tests.
const DETECTING: usize = 1_000_000;

impl Suite {
    /// Returns the pairs of these settings with the API of the gateway's requests for each client's API; none for an
    /// API that the gateway does not answer, with the reason.
    ///
    /// # Errors
    ///
    /// If the gateway has no valid URL, or the system starts no threads.
    pub fn detect(&self, settings: &Settings) -> Result<Vec<Detected>, String> {
        let clients = Clients::new(settings)?;
        let plain = plain().ok_or("the suite has no plain case")?;
        let runtime = start_runtime(1).map_err(|error| error.to_string())?;
        let detect = |(number, pair): (usize, &Pair)| {
            let mut test = test(settings, pair, Variant::plain(plain));
            test.mark = mark(2 * (DETECTING + number));
            let playing = Playing::new(test.clone(), format!("d{number}"), settings.patience);
            let playing = Arc::new(playing.in_any_api());
            self.upstream.begin(&playing);
            let body = Questions::new(&test, &test.mark).body();
            let exchange = clients.of(&test).map(|client| runtime.block_on(client.ask(body, &playing)));
            self.upstream.end(&test.mark);
            let upstream = match (playing.other_api(), playing.exchanges().is_empty()) {
                (Some(api), _) => upstream_dialect(api),
                (None, false) => Some(pair.upstream),
                (None, true) => None,
            };
            Detected { front: pair.front, upstream, exchange: exchange.unwrap_or_default() }
        };
        let detected = settings.pairs.iter().enumerate().map(detect).collect();
        runtime.shutdown_background();
        Ok(detected)
    }
}

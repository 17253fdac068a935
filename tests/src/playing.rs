//! The clients that measurements play streams to.

use std::path::Path;
use std::thread;
use std::time::Duration;

use clients::{Cache, Theatre};
use conformance::gateway::Act;
use conformance::results::PlayedClient;

use crate::measuring::played_clients;

/// The limit for a client, also on a busy machine.
const LIMIT: Duration = Duration::from_secs(8);

/// The clients of an API that are installed in a cache.
pub fn theatre(api: &str, cache: &Path) -> Theatre {
    let theatre = Theatre {
        cache: Cache::new(cache.to_owned()),
        clients: played_clients(api).collect(),
        timeout: LIMIT,
        jobs: thread::available_parallelism().map_or(1, usize::from) + 1,
    };
    let missing = theatre.clients.iter().find(|client| !theatre.cache.has(&client.packages));
    assert!(
        missing.is_none(),
        "{missing:?} is not installed: conformance impact --install --cache {}",
        cache.display()
    );
    theatre
}

/// A stream as it is sent.
pub fn act(bytes: &[u8]) -> Act {
    Act::new(200, "text/event-stream", bytes.to_vec())
}

/// For each client its name, its outcome, and the detail.
pub fn told(played: Vec<PlayedClient>) -> Vec<(String, String, String)> {
    let told = |client: PlayedClient| (client.name, client.outcome.name().to_owned(), client.detail);
    played.into_iter().map(told).collect()
}

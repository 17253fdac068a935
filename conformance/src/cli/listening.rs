//! What the servers of the command have in common.

use std::future::{Future, pending};
use std::thread;

use anyhow::Context as _;
use spec::Dialect;
use tokio::net::TcpListener;

use super::print;

/// Returns the number of threads of a server.
pub(super) fn threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from).min(16)
}

/// Returns the names of dialects in a sentence.
pub(super) fn speaks(dialects: &[&Dialect]) -> String {
    let names: Vec<&str> = dialects.iter().map(|dialect| dialect.name).collect();
    match names.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        names => names.concat(),
    }
}

/// Listens on a port, and prints the address. Returns when the user ends the program.
pub(super) async fn listen(
    port: u16,
    speaks: &str,
) -> anyhow::Result<(TcpListener, impl Future<Output = ()>)> {
    let listener = TcpListener::bind(("127.0.0.1", port))
        .await
        .with_context(|| format!("cannot listen on port {port}; --port 0 picks a free one"))?;
    // Signals are handled before the address is printed.
    let signal = harness::live::ended();
    let interrupted = async {
        match signal {
            Ok(signal) => signal.await,
            // Without signals, it serves until it is killed.
            Err(_) => pending().await,
        }
    };
    print(&format!("http://{}/v1 serves {speaks}\n", listener.local_addr()?))?;
    Ok((listener, interrupted))
}

//! The common part of the servers of the command.

use std::future::{Future, pending};
use std::process::ExitCode;
use std::thread;

use anyhow::Context as _;
use gateway::start_runtime;
use spec::Dialect;
use tokio::net::TcpListener;

use crate::cli::print;

/// Ends when the user ends it.
pub(in crate::cli) fn run(server: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<ExitCode> {
    let runtime = start_runtime(thread::available_parallelism().map_or(1, usize::from).min(16))?;
    runtime.block_on(server)?;
    // Stalled streams must not delay the exit.
    runtime.shutdown_background();
    Ok(ExitCode::SUCCESS)
}

pub(in crate::cli) fn speaks(dialects: &[&Dialect]) -> String {
    let names: Vec<&str> = dialects.iter().map(|dialect| dialect.name).collect();
    match names.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        names => names.concat(),
    }
}

/// Prints the address. The future ends when the user ends the program.
pub(in crate::cli) async fn listen(
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

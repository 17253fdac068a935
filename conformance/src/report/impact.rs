//! What a run means for clients, as it is told.

use super::run::{Broken, Run};

/// Clients that fail in the same way, in as many recordings.
pub(super) struct Failing<'r> {
    pub(super) clients: Vec<&'r str>,
    pub(super) captures: u64,
    /// By which rules, what is most frequent first.
    pub(super) rules: &'r [Broken],
}

/// The clients that nothing of a run breaks.
pub(super) fn passing(run: &Run) -> Vec<&str> {
    run.clients.iter().filter(|client| client.captures == 0).map(|client| client.name.as_str()).collect()
}

/// The clients that something breaks; those that fail alike are told together.
pub(super) fn failing(run: &Run) -> Vec<Failing<'_>> {
    let mut all: Vec<Failing<'_>> = Vec::new();
    for client in run.clients.iter().filter(|client| client.captures > 0) {
        match all.iter_mut().find(|known| known.captures == client.captures && known.rules == client.rules) {
            Some(known) => known.clients.push(&client.name),
            None => all.push(Failing {
                clients: vec![&client.name],
                captures: client.captures,
                rules: &client.rules,
            }),
        }
    }
    all
}

//! What a run means for clients, as it is told.

use super::{Broken, Run};

/// Clients that fail in the same way, in as many recordings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailingClients<'r> {
    /// Their names.
    pub clients: Vec<&'r str>,
    /// In how many recordings.
    pub captures: u64,
    /// By which rules, what is most frequent first.
    pub rules: &'r [Broken],
}

impl Run {
    /// The clients that nothing of a run breaks, by what is known of them.
    pub fn passing_clients(&self) -> Vec<&str> {
        let passing = self.clients.iter().filter(|client| client.captures == 0);
        passing.map(|client| client.name.as_str()).collect()
    }

    /// The clients that something breaks; those that fail alike are told together.
    pub fn failing_clients(&self) -> Vec<FailingClients<'_>> {
        let mut all: Vec<FailingClients<'_>> = Vec::new();
        for client in self.clients.iter().filter(|client| client.captures > 0) {
            let is_alike = |known: &&mut FailingClients<'_>| {
                known.captures == client.captures && known.rules == client.rules
            };
            match all.iter_mut().find(is_alike) {
                Some(known) => known.clients.push(&client.name),
                None => all.push(FailingClients {
                    clients: vec![&client.name],
                    captures: client.captures,
                    rules: &client.rules,
                }),
            }
        }
        all
    }
}

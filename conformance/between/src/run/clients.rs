//! The clients of a run.

use crate::client::Client;
use crate::evidence::Test;
use crate::settings::{Pair, Settings};

pub(super) struct Clients(Vec<(String, Client)>);

impl Clients {
    pub(super) fn new(settings: &Settings) -> Result<Self, String> {
        let client = |pair: &Pair| {
            let base = pair.gateway.as_deref().unwrap_or(&settings.gateway);
            let key = settings.key.as_deref();
            let client = Client::new(base, pair.front.api, key, &settings.headers, settings.limit)?;
            Ok((pair.name(), client))
        };
        settings.pairs.iter().map(client).collect::<Result<_, String>>().map(Self)
    }

    pub(super) fn of(&self, test: &Test) -> Option<&Client> {
        let (pair, _) = test.name.split_once('/')?;
        self.0.iter().find(|(name, _)| name == pair).map(|(_, client)| client)
    }
}

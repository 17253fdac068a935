//! The flags of what a vendor declares about a gateway.

use clap::Args;
use results::Declared;

use super::GATEWAY;
use crate::cli::flags::target::seconds;

/// The longest drain and silence that can be declared, in seconds.
const LONGEST: u64 = 60;

#[derive(Debug, Clone, Args)]
pub(super) struct DeclaredArgs {
    /// Number of times that the gateway may repeat a request that failed upstream before any output [default: 0].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=100), help_heading = GATEWAY)]
    retries: Option<u32>,
    /// The gateway reads the upstream's stream on after a client has left, for at most this time.
    ///
    /// Gateways do so to record token counts. cancel/upstream-left is then broken only by one that reads longer; without
    /// this flag, one that reads on breaks it as a SHOULD rule.
    #[arg(long, value_name = "TIME", value_parser = seconds(LONGEST), help_heading = GATEWAY, hide_short_help = true)]
    drains: Option<u64>,
    /// The gateway sends its client something at least so often while the upstream is silent.
    ///
    /// With this flag, the upstream is silent for longer at two places of its stream: see time/kept-alive.
    #[arg(long, value_name = "TIME", value_parser = seconds(LONGEST), help_heading = GATEWAY, hide_short_help = true)]
    keeps_alive: Option<u64>,
    /// The gateway passes the client's key on to the upstream.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true, help_heading = GATEWAY, hide_short_help = true)]
    passes_key: Option<bool>,
    /// Model that another provider serves, in the same API; agents move to it.
    ///
    /// It must not get the sealed reasoning of --model: session/reasoning-home. The scripted upstream stands for both.
    #[arg(long, value_name = "NAME", help_heading = GATEWAY, hide_short_help = true)]
    other_model: Option<String>,
    /// Clients of the Responses API talk over a WebSocket: each message continues the response before.
    ///
    /// An upgrade that is answered with 426 is no failure: requests follow, as clients send them then. Cases without a stream are left
    /// out.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true, help_heading = GATEWAY, hide_short_help = true)]
    websocket: Option<bool>,
}

impl DeclaredArgs {
    pub(super) fn declared(&self) -> Declared {
        Declared {
            retries: self.retries.unwrap_or_default(),
            passes_key: self.passes_key.unwrap_or_default(),
            drains: self.drains,
            keeps_alive: self.keeps_alive,
            other_model: self.other_model.clone(),
            websocket: self.websocket.unwrap_or_default(),
        }
    }

    pub(super) fn repeat(&mut self, run: &Declared) {
        self.retries.get_or_insert(run.retries);
        self.passes_key.get_or_insert(run.passes_key);
        self.drains = self.drains.or(run.drains);
        self.keeps_alive = self.keeps_alive.or(run.keeps_alive);
        self.other_model = self.other_model.take().or_else(|| run.other_model.clone());
        self.websocket.get_or_insert(run.websocket);
    }

    /// Each flag, and whether it was given.
    pub(super) const fn given(&self) -> [(&'static str, bool); 6] {
        [
            ("--retries", self.retries.is_some()),
            ("--drains", self.drains.is_some()),
            ("--keeps-alive", self.keeps_alive.is_some()),
            ("--passes-key", self.passes_key.is_some()),
            ("--other-model", self.other_model.is_some()),
            ("--websocket", self.websocket.is_some()),
        ]
    }
}

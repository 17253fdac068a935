//! Declarations of the vendor of a gateway, and the expectations of its tests.

use serde::{Deserialize, Serialize};

use crate::shell_word;

/// Declarations about a gateway.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Declared {
    /// Number of times that the gateway may repeat a request before any output.
    #[serde(default)]
    pub retries: u32,
    /// Whether the gateway passes the client's key on to the upstream.
    #[serde(default)]
    pub passes_key: bool,
    /// For how many seconds the gateway may read the upstream's stream after the client has left, if that was declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drains: Option<u64>,
    /// The longest time in seconds without a byte for the client while the upstream is silent, if that was declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keeps_alive: Option<u64>,
    /// A model that another provider serves, if that was declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_model: Option<String>,
    /// Whether clients of an API with a WebSocket talk over one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub websocket: bool,
}

impl Declared {
    /// The flags that say the same.
    pub fn flags(&self) -> Vec<String> {
        let seconds = |flag: &str, seconds: Option<u64>| seconds.map(|seconds| format!("{flag} {seconds}s"));
        let all = [
            seconds("--drains", self.drains),
            seconds("--keeps-alive", self.keeps_alive),
            (self.retries > 0).then(|| format!("--retries {}", self.retries)),
            self.passes_key.then(|| "--passes-key".to_owned()),
            self.other_model.as_ref().map(|model| format!("--other-model {}", shell_word(model))),
            self.websocket.then(|| "--websocket".to_owned()),
        ];
        all.into_iter().flatten().collect()
    }
}

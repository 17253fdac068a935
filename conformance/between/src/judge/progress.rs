//! What a response had said by when.

use std::time::Duration;

use spec::Api;
use translation::{Delta, PartKind, ReplyReader};

use crate::evidence::Response;

/// What a response can say in pieces.
pub(super) const LANES: [&str; 3] = ["text", "reasoning", "arguments"];

/// A piece of a response that says something.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    pub(super) at: Duration,
    /// The number of the piece.
    pub(super) piece: usize,
    /// Number of bytes that it has said by then, of each of [`LANES`].
    pub(super) said: [usize; LANES.len()],
}

/// Returns the pieces of a response that say something.
pub(super) fn progress(response: &Response, api: &'static Api) -> Vec<Moment> {
    let mut reader = ReplyReader::new(api);
    let mut lanes = Vec::new();
    let mut said = [0; LANES.len()];
    let mut moments = Vec::new();
    for (piece, (at, bytes)) in response.pieces.iter().enumerate() {
        let before = said;
        for delta in reader.push(bytes) {
            match delta {
                Delta::Opened { kind, .. } => lanes.push(match kind {
                    PartKind::Text | PartKind::Refusal => 0,
                    PartKind::Reasoning { .. } => 1,
                    PartKind::Call { .. } => 2,
                }),
                Delta::Text { part, text } => {
                    if let Some(count) = lanes.get(part).and_then(|lane: &usize| said.get_mut(*lane)) {
                        *count += text.len();
                    }
                }
                _ => {}
            }
        }
        if said != before {
            moments.push(Moment { at: *at, piece, said });
        }
    }
    moments
}

//! The content of a response over time.

use std::time::Duration;

use spec::Api;

use crate::content::{ContentCounter, Said};
use crate::evidence::Response;

/// A piece of a response that says something.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    pub(super) at: Duration,
    pub(super) piece: usize,
    pub(super) said: Said,
}

/// Only pieces with content count.
pub(super) fn progress(response: &Response, api: &'static Api) -> Vec<Moment> {
    let mut counter = ContentCounter::new(api);
    let mut before = Said::default();
    let mut moments = Vec::new();
    for (piece, (at, bytes)) in response.pieces.iter().enumerate() {
        let said = counter.push(bytes);
        if said != before {
            moments.push(Moment { at: *at, piece, said });
        }
        before = said;
    }
    moments
}

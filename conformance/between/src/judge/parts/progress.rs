//! The content of a response over time.

use std::time::Duration;

use spec::Api;

use crate::content::{ContentCounter, Said};
use crate::evidence::Response;

/// A piece of a response that says something.
#[derive(Debug, Clone, Copy)]
pub(in crate::judge) struct Moment {
    pub(in crate::judge) at: Duration,
    pub(in crate::judge) piece: usize,
    pub(in crate::judge) said: Said,
}

/// Only pieces with content count.
pub(in crate::judge) fn progress(response: &Response, api: &'static Api) -> Vec<Moment> {
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

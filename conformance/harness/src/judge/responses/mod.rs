//! Facts that only the Responses API has: repeated settings, and operations on stored responses.

mod echo;
mod operations;

pub(super) use echo::other_request;
pub(super) use operations::operated;

//! What only responses of the Responses API show: the settings that they repeat, and the operations on stored ones.

mod echo;
mod operations;

pub(super) use echo::other_request;
pub(super) use operations::operated;

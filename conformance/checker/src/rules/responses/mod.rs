//! Rules about the Responses API. They name its members and types.

pub(super) mod annotation;
pub(super) mod call;
pub(super) mod error;
pub(super) mod item;
pub(super) mod output;
pub(super) mod part;
pub(super) mod request;
pub(super) mod response;
pub(super) mod summary;
pub(super) mod text;
pub(super) mod tool;
pub(super) mod vendor;
pub(super) mod ws;

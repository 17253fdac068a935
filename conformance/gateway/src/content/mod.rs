//! The content of a response, planned by its request and its directives.

pub(crate) mod address;
mod ask;
pub(crate) mod conversation;
pub mod directive;
pub(crate) mod fitting;
pub(crate) mod given;
pub(crate) mod items;
pub(crate) mod pieces;
pub(crate) mod plan;
pub(crate) mod planning;
pub(crate) mod problem;
pub(crate) mod refusal;
pub(crate) mod sample;
pub(crate) mod speech;

use serde_json::Value;

pub(crate) fn text<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name)?.as_str()
}

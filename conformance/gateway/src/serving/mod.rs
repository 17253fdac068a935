//! The servers: the gateway itself, scripted responses, and recordings.

pub(crate) mod compact;
pub(crate) mod context;
pub(crate) mod cors;
pub(crate) mod gateway;
pub(crate) mod help;
pub(crate) mod host;
pub(crate) mod log;
pub(crate) mod mcp;
pub(crate) mod mcp_server;
pub(crate) mod patient;
pub(crate) mod replay;
pub(crate) mod routes;
pub(crate) mod runtime;
pub(crate) mod sending;
pub(crate) mod server;
pub(crate) mod settings;
pub(crate) mod socket;
pub(crate) mod stage;
pub(crate) mod store;
pub(crate) mod talk;
pub(crate) mod via;

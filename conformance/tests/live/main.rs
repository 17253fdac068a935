//! Runs against endpoints that behave, and against some that do not.
#![cfg(feature = "cli")]

mod broken;
mod chains;
mod evidence;
mod itself;
mod program;
mod scenarios;
mod server;
mod websocket;

//! Runs against endpoints that behave, and against some that do not.
#![cfg(feature = "cli")]

mod baseline;
mod broken;
mod certificate;
mod chains;
mod crowd;
mod evidence;
mod faults;
mod itself;
mod mistakes;
mod program;
mod reproduce;
mod scenarios;
mod server;
mod snapshots;
mod transport;
mod websocket;

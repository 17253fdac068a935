//! Runs against conforming and broken endpoints.
#![cfg(feature = "cli")]

mod baseline;
mod broken;
mod canned;
mod certificate;
mod chains;
mod crowd;
mod endurance;
mod evidence;
mod fail_on;
mod faults;
mod flags;
mod forgery;
mod hindered;
mod itself;
mod mistakes;
mod program;
mod reproduce;
mod scenarios;
mod secrets;
mod server;
mod snapshots;
mod transport;
mod trust;
mod websocket;

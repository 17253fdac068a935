//! Runs against conforming and broken endpoints.
#![cfg(feature = "cli")]

mod broken;
mod canned;
mod certificate;
mod crowd;
mod endurance;
mod evidence;
mod faults;
mod forgery;
mod itself;
mod mistakes;
mod program;
mod reproduce;
mod secrets;
mod server;
mod stops;
mod transport;
mod trust;
mod twins;
mod websocket;

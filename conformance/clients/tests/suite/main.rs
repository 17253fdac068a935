//! The suite for clients, proven: a perfect client passes every case, and broken ones are caught where they break.
#![cfg(unix)]

mod broken;
mod certificate;
mod conversation;
mod driver;
mod events;
mod perfect;
mod resilience;
mod retries;
mod schema;
mod vectors;

use std::env;
use std::ffi::OsString;
use std::time::Duration;

use clients::{ClientSuite, Mode};
use results::{ClientRun, Transport};

/// Returns a suite for the client of this kind, which is this program itself.
fn suite(kind: &str) -> ClientSuite {
    let program = env::current_exe().expect("it is known").into_os_string();
    let kind = format!("CLIENT_KIND={kind}");
    let words = ["driver::the_client", "--exact", "--ignored", "--nocapture"];
    let command = [OsString::from("env"), kind.into(), program].into_iter().chain(words.map(OsString::from));
    ClientSuite {
        dialect: spec::dialect("openai").expect("it is there"),
        command: command.collect(),
        mode: Mode::Lines,
        transports: Transport::ALL.to_vec(),
        jobs: 2,
        timeout: None,
        is_strict: false,
        name: "test".to_owned(),
        version: None,
        profiles: Vec::new(),
        expected: Vec::new(),
        port: 0,
        origins: Vec::new(),
        has_members: false,
        patience: Duration::from_secs(20),
    }
}

fn run(suite: &ClientSuite, is_wanted: &dyn Fn(&str) -> bool) -> ClientRun {
    suite.run(suite.cases(is_wanted), &|_| {}).expect("the client can be tested")
}

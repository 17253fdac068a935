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
use std::thread;

use clients::ClientSuite;
use results::ClientRun;

/// Returns a suite for the client of this kind, which is this program itself.
fn suite(kind: &str) -> ClientSuite {
    let program = env::current_exe().expect("it is known").into_os_string();
    let kind = format!("CLIENT_KIND={kind}");
    let words = ["driver::the_client", "--exact", "--ignored", "--nocapture"];
    let command = [OsString::from("env"), kind.into(), program].into_iter().chain(words.map(OsString::from));
    ClientSuite::new(spec::dialect("openai").expect("it is there"), "test".to_owned(), command.collect())
}

fn run(suite: &ClientSuite, is_wanted: &dyn Fn(&str) -> bool) -> ClientRun {
    suite.run(suite.cases(is_wanted), &|_| {}).expect("the client can be tested")
}

/// Returns the results of a function for all inputs. It is called for all of them at the same time, as clients often wait.
fn at_once<I: Sync, T: Send>(inputs: &[I], result: impl Fn(&I) -> T + Sync) -> Vec<T> {
    let result = &result;
    thread::scope(|scope| {
        let started: Vec<_> = inputs.iter().map(|input| scope.spawn(move || result(input))).collect();
        started.into_iter().map(|one| one.join().expect("it does not panic")).collect()
    })
}

//! The suite among the tests of a gateway. Here it is the reference gateway; in a repository of yours, start
//! your own instead.
//!
//! `cargo test -p tests --test vendor -- --list` shows the tests; they have the flags of any Rust test.

use std::process::ExitCode;

use conformance::Suite;
use conformance::gateway::{Embedded, Settings};
use conformance::wire::Target;

/// The features of the gateway. Tests that require others are ignored, and report so.
const FEATURES: [&str; 4] = ["tools", "parallel-tool-calls", "structured-output", "store"];

fn main() -> ExitCode {
    let dialect = conformance::dialect("open-responses").expect("it is known");
    let gateway = Embedded::start(Settings::new(dialect)).expect("a port is free");
    let target = Target::new(&gateway.url(), dialect.api).expect("it is an address").direct();
    Suite::new(target, dialect).model("reference-1").features(FEATURES).main()
}

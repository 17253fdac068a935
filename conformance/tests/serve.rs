//! The command that serves the reference gateway.
#![cfg(all(unix, feature = "cli"))]

use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::process::{Command, Stdio};

#[test]
fn the_command_serves_until_it_is_interrupted() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_conformance"));
    let mut child =
        command.args(["serve", "--port", "0", "--fault", "cut"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.strip_prefix("http://").and_then(|rest| rest.split('/').next()).unwrap();
    assert!(TcpStream::connect(address).is_ok(), "{line}");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert!(child.wait().unwrap().success());

    let run = |args: &[&str]| Command::new(env!("CARGO_BIN_EXE_conformance")).args(args).output().unwrap();
    let unknown = run(&["serve", "--fault", "text/deltas-jioned"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("did you mean text/deltas-joined"));
    let elsewhere = run(&["serve", "--fault", "vendor/output-text-joined"]);
    assert_eq!(elsewhere.status.code(), Some(2));
}

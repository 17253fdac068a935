//! The command that serves the reference gateway.
#![cfg(all(unix, feature = "cli"))]

use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::process::{Command, Stdio};

#[test]
fn the_command_serves_until_it_is_interrupted() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_conformance"));
    let mut child = command
        .args(["serve", "--port", "0", "--pace", "20", "--fault", "cut", "--fault", "text/deltas-joined"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.strip_prefix("http://").and_then(|rest| rest.split('/').next()).unwrap();
    assert!(TcpStream::connect(address).is_ok(), "{line}");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let ended = child.wait_with_output().unwrap();
    assert!(ended.status.success());
    let told = String::from_utf8_lossy(&ended.stderr);
    for words in [
        "POST /v1/responses",
        "every model",
        "20 ms before every event",
        "fault cut: the stream ends in the middle of an event",
        "fault text/deltas-joined: breaks the rule that ",
        "in the response to the input [[",
        "Ctrl-C",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }

    let run = |args: &[&str]| Command::new(env!("CARGO_BIN_EXE_conformance")).args(args).output().unwrap();
    let list = run(&["serve", "--list-faults"]);
    let list = String::from_utf8_lossy(&list.stdout);
    for words in
        ["rules of openai, ", "\ntext/deltas-joined ", "faults of transport", "\nslow ", "a second passes"]
    {
        assert!(list.contains(words), "{words}: {list}");
    }
    let unknown = run(&["serve", "--fault", "text/deltas-jioned"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("did you mean text/deltas-joined"));
    let elsewhere = run(&["serve", "--fault", "vendor/output-text-joined"]);
    assert_eq!(elsewhere.status.code(), Some(2));
}

//! A gateway that is late once, as on a loaded machine, and one that is late each time.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use between::{Reference, Suite};
use harness::live::RunRuntime;

use super::translator::{pairs, settings};

/// Passes connections on to an address. The first `held` connections whose client leaves are read on to their end.
fn pass_on(to: SocketAddr, held: usize) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let left = Arc::new(AtomicUsize::new(held));
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let left = Arc::clone(&left);
            thread::spawn(move || pass(&client, &TcpStream::connect(to).unwrap(), &left));
        }
    });
    address
}

fn pass(mut client: &TcpStream, server: &TcpStream, left: &AtomicUsize) {
    let [mut from, mut to] = [server, server].map(|it| it.try_clone().unwrap());
    let mut answered = client.try_clone().unwrap();
    let answering = thread::spawn(move || {
        copy(&mut from, |bytes| drop(answered.write_all(bytes)));
        let _ = answered.shutdown(Shutdown::Both);
    });
    copy(&mut client, |bytes| drop(to.write_all(bytes)));
    let is_held = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok();
    if !is_held {
        let _ = server.shutdown(Shutdown::Both);
    }
    answering.join().unwrap();
}

fn copy(from: &mut impl Read, mut to: impl FnMut(&[u8])) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        to(buffer.get(..count).unwrap_or_default());
    }
}

/// Returns the rules that are found if so many clients that leave are noticed late.
fn found(held: usize) -> Vec<String> {
    let is_pair = |pair: &between::Pair| pair.name() == "messages-chat";
    let mut settings = settings(pairs().filter(is_pair).collect(), &["cancel/in-text"]);
    let suite = Suite::start(0, &settings, &RunRuntime::start().unwrap()).unwrap();
    let _reference = Reference::start(&suite, &mut settings, None).unwrap();
    let url = settings.gateway.strip_prefix("http://").and_then(|url| url.strip_suffix("/v1")).unwrap();
    let late = format!("http://{}/v1", pass_on(url.parse().unwrap(), held));
    settings.pairs.iter_mut().for_each(|pair| pair.gateway = Some(late.clone()));
    let run = suite.run(&settings, &mut |_| {}).unwrap();
    assert_eq!(run.tests.len(), 1);
    run.tests.into_iter().flat_map(|test| test.findings).map(|finding| finding.rule).collect()
}

#[test]
fn one_that_is_late_once_is_tested_again() {
    assert_eq!(found(0), [""; 0]);
    assert_eq!(found(1), [""; 0]);
    assert_eq!(found(usize::MAX), ["cancel/upstream-left"]);
}

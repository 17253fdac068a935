//! The end of a stream is checked once.

use checker::{Checker, Finding, Frame, Transport};
use recordings::goldens::{self, Golden};

fn golden() -> &'static Golden {
    goldens::golden("openai/text").expect("the golden")
}

fn checker() -> Checker {
    Checker::new(spec::dialect("openai").expect("the dialect"))
}

#[test]
fn a_second_end_changes_nothing() {
    for length in 0..golden().bytes.len() {
        // Every cut at which something can end, and some others.
        if length % 97 != 0 && !golden().bytes[..length].ends_with(b"\n") {
            continue;
        }
        let mut checker = checker();
        checker.push(&golden().bytes[..length]);
        checker.finish();
        let (found, events) = (checker.findings().to_vec(), checker.events());
        assert!(checker.finish().is_empty());
        assert_eq!((checker.findings(), checker.events()), (&*found, events), "after {length} bytes");
        checker.take_findings();
        checker.finish();
        assert!(checker.findings().is_empty());
    }
}

#[test]
fn what_comes_behind_an_end_has_one_of_its_own() {
    let unended = |checker: &Checker| {
        let is_it = |finding: &&Finding| finding.rule == "response/one-terminal";
        checker.findings().iter().filter(is_it).map(|finding| finding.count).sum::<u64>()
    };
    let (mut checker, start) = (checker(), &golden().bytes[..golden().bytes.len() / 2]);
    checker.push(start);
    checker.finish();
    assert_eq!(unended(&checker), 1);
    checker.push(b"data: {}\n\n");
    checker.finish();
    assert_eq!(unended(&checker), 2);
    checker.reset();
    checker.push(start);
    checker.finish();
    assert_eq!(unended(&checker), 1);

    // A request without a response.
    let data = "{\"type\":\"response.create\",\"model\":\"a\",\"input\":\"b\"}";
    let frame = Frame { data: Some(data.into()), transport: Transport::WebSocket, ..Frame::default() };
    checker.reset();
    for requests in 1..3 {
        checker.sent(&frame);
        checker.finish();
        checker.finish();
        assert_eq!(checker.findings().iter().map(|finding| finding.count).sum::<u64>(), requests);
    }
}

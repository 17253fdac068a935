//! A gateway that ignores stop sequences.

use crate::program::{conformance, expect};
use crate::server::{Server, answer, golden};

/// A good stream whose text has the sequence at which the requests stop.
fn regardless(id: &str) -> String {
    golden(id).replace("The sky ", "one, two, three, four, five, ")
}

#[test]
fn an_answer_with_the_stop_sequence_fails() {
    for (api, stream) in [("chat", "chat/text"), ("messages", "anthropic/text")] {
        let body = regardless(stream);
        assert!(body.contains("four"), "{body}");
        let server =
            Server::new(move |_, stream| answer(stream, "200 OK", "text/event-stream", body.as_str()));
        let target = ["--api", api, "--target", &server.url, "--transport", "sse", "--attempts", "1"];
        let outcome = conformance(&[&target[..], &["stop/sequence::answer"]].concat());
        expect(&outcome, 1, &["the text contains \"four\", at which the request stops"]);
        assert!(server.requests().iter().all(|request| request.body.contains("four")));
    }
}

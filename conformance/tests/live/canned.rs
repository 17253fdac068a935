//! An endpoint that has nothing but the answers of another run.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Mutex;

use conformance::capture::{Entry, Format, Frame, read};
use conformance::certificate::Certificate;
use conformance::live::{Evidence, RunFile};
use conformance::results::{ProfileState, Verdict};
use serde_json::Value;

use crate::program::{conformance, expect, folder, path};
use crate::server::{Server, answer};

/// An answer that was recorded.
#[derive(Debug, Clone)]
struct Answer {
    status: u16,
    content_type: String,
    body: Vec<u8>,
}

/// What is the same in each run: the address, and the body without what the seed has chosen.
fn question(path: &str, body: &str) -> String {
    let Ok(mut body) = serde_json::from_str::<Value>(body) else { return format!("{path} {body}") };
    if let Some(members) = body.as_object_mut() {
        members.remove("instructions");
    }
    format!("{path} {body}")
}

/// The answers of a run by their questions, in the order in which they came.
fn dictionary(out: &Path) -> HashMap<String, Vec<Answer>> {
    let evidence = Evidence::open(out);
    let run = evidence.run().expect("it is there");
    let mut answers: HashMap<String, Vec<Answer>> = HashMap::new();
    for kept in
        run.exchanges.iter().filter(|kept| Path::new(&kept.case).extension().is_none_or(|end| end != "ws"))
    {
        let bytes = evidence.read(&kept.file).expect("it is there");
        let (mut asked, mut given) = (String::new(), None);
        let add = |given: &mut Option<Answer>, frame: &Frame<'_>, end: &[u8]| {
            if let Some(answer) = given {
                answer.body.extend_from_slice(frame.source);
                answer.body.extend_from_slice(end);
            }
        };
        read(&bytes, Some(Format::Exchange), &mut |entry| match entry {
            Entry::Exchange(exchange) => {
                let request = exchange.request.as_ref().expect("it has one");
                let path = request.url.splitn(4, '/').nth(3).unwrap_or_default();
                asked = question(&format!("/{path}"), request.body.as_deref().unwrap_or_default());
                let content_type = exchange.header("content-type").unwrap_or_default().to_owned();
                given = exchange.status.map(|status| Answer { status, content_type, body: Vec::new() });
            }
            Entry::Event(frame) => add(&mut given, &frame, b"\n\n"),
            Entry::Body(frame) => add(&mut given, &frame, b""),
            Entry::Sent(_) | Entry::Lost(_) => {}
        })
        .expect("it can be read");
        answers.entry(asked).or_default().extend(given);
    }
    answers
}

fn canned(out: &Path) -> Server {
    let answers = Mutex::new(dictionary(out));
    Server::new(move |request, stream| {
        let mut answers = answers.lock().expect("nobody panicked");
        let known = answers.get_mut(&question(&request.path, &request.body));
        match known {
            Some(known) => {
                let told = if known.len() > 1 { known.remove(0) } else { known[0].clone() };
                answer(stream, &format!("{} Told", told.status), &told.content_type, told.body);
            }
            None => answer(stream, "500 Unknown", "application/json", "{}"),
        }
    })
}

fn run(server: &Server, seed: &str, out: &Path) -> RunFile {
    let mut args = ["--target", &server.url, "--seed", seed, "--attempts", "1", "--out", path(out)].to_vec();
    let given: Vec<String> =
        conformance::gateway::given().iter().map(|(name, value)| format!("{name}={value}")).collect();
    args.extend(given.iter().flat_map(|given| ["--given", given]));
    conformance(&args);
    Evidence::open(out).run().expect("it was written")
}

fn passed(run: &RunFile) -> usize {
    run.trials.iter().filter(|told| told.judged.verdict == Verdict::Pass).count()
}

#[test]
fn answers_of_another_run_pass_for_none() {
    let (recorded, same, other) = (folder("canned"), folder("canned-same"), folder("canned-other"));
    let transports = ["--transport", "sse,json", "--seed", "one", "--concurrent", "1"];
    expect(&conformance(&[&transports[..], &["--out", path(&recorded)]].concat()), 0, &[]);
    let before = run(&canned(&recorded), "one", &same);
    let after = run(&canned(&recorded), "two", &other);
    let all = before.trials.len();
    // It is good at what it knows.
    assert!(passed(&before) * 10 > all * 7, "{} of {all}", passed(&before));
    assert!(passed(&after) * 20 < all, "{} of {all}: {:#?}", passed(&after), names(&after));
    let certificate = fs::read(other.join("certificate.json")).expect("it is written");
    let certificate: Certificate = serde_json::from_slice(&certificate).expect("it is as its type says");
    assert!(certificate.profiles.iter().all(|profile| profile.state != ProfileState::Passed));
}

fn names(run: &RunFile) -> Vec<&str> {
    let passed = run.trials.iter().filter(|told| told.judged.verdict == Verdict::Pass);
    passed.map(|told| &*told.name).collect()
}

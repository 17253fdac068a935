//! An endpoint with canned responses from another run.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Mutex;

use conformance::capture::{Entry, Format, Frame, read};
use conformance::evidence::{Evidence, RunFile};
use conformance::results::{ProfileState, Verdict};
use serde_json::Value;

use crate::program::{certificate, conformance, expect, folder, path};
use crate::server::{Server, answer};

/// An answer that was recorded.
#[derive(Debug, Clone)]
struct Answer {
    status: u16,
    content_type: String,
    body: Vec<u8>,
    /// The instructions of the request that it answered.
    instructions: Option<String>,
}

/// The sentence that instructions carry.
const PHRASE: &str = "Your name is ";

/// Returns the words that a run chose for a request, and the instructions with them.
fn words(body: &str) -> Option<(String, Vec<String>)> {
    let body: Value = serde_json::from_str(body).ok()?;
    let instructions = body.get("instructions")?.as_str()?;
    let (_, words) = instructions.rsplit_once(PHRASE)?;
    let words = words.trim_end_matches('.').split(' ').map(str::to_owned).collect();
    Some((instructions.to_owned(), words))
}

/// Returns the key of a request: its address and its body without instructions, and without the words of a run if the
/// server knows them.
fn question(path: &str, body: &str, replay: Replay) -> String {
    let asked = words(body).filter(|_| replay == Replay::Instructed);
    let Ok(mut body) = serde_json::from_str::<Value>(body) else { return format!("{path} {body}") };
    if let Some(members) = body.as_object_mut() {
        members.remove("instructions");
    }
    let text = format!("{path} {body}");
    asked
        .map_or_else(Vec::new, |(_, words)| words)
        .iter()
        .fold(text, |text, word| text.replace(word, "{word}"))
}

/// Returns the responses of a run by the keys of their requests, in order.
fn dictionary(out: &Path, replay: Replay) -> HashMap<String, Vec<Answer>> {
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
                asked = question(&format!("/{path}"), request.body.as_deref().unwrap_or_default(), replay);
                let content_type = exchange.header("content-type").unwrap_or_default().to_owned();
                let body = request.body.as_deref().unwrap_or_default();
                let instructions = words(body).map(|(instructions, _)| instructions);
                let answer = |status| Answer { status, content_type, body: Vec::new(), instructions };
                given = exchange.status.map(answer);
            }
            Entry::Event(frame) => add(&mut given, &frame, b"\n\n"),
            Entry::Body(frame) => add(&mut given, &frame, b""),
            Entry::Sent(_) | Entry::Row(_) | Entry::Lost(_) => {}
        })
        .expect("it can be read");
        answers.entry(asked).or_default().extend(given);
    }
    answers
}

/// How a server with canned responses adapts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Replay {
    Verbatim,
    /// The recorded instructions are replaced by those of the request.
    Instructed,
}

impl Answer {
    fn to(self, request: &str) -> Vec<u8> {
        let (Some(recorded), Some((asked, _))) = (&self.instructions, words(request)) else {
            return self.body;
        };
        String::from_utf8_lossy(&self.body).replace(&json_text(recorded), &json_text(&asked)).into_bytes()
    }
}

/// Returns a text escaped for a JSON string, without the quotes.
fn json_text(text: &str) -> String {
    Value::from(text).to_string().trim_matches('"').to_owned()
}

fn canned(out: &Path, replay: Replay) -> Server {
    let answers = Mutex::new(dictionary(out, replay));
    Server::new(move |request, stream| {
        let mut answers = answers.lock().expect("nobody panicked");
        let known = answers.get_mut(&question(&request.path, &request.body, replay));
        match known {
            Some(known) => {
                let told = if known.len() > 1 { known.remove(0) } else { known[0].clone() };
                let (status, content_type) = (format!("{} Told", told.status), told.content_type.clone());
                let body = if replay == Replay::Instructed { told.to(&request.body) } else { told.body };
                answer(stream, &status, &content_type, body);
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

/// Returns the names of the passed trials.
fn passed(run: &RunFile) -> Vec<&str> {
    let passed = run.trials.iter().filter(|told| told.judged.verdict == Verdict::Pass);
    passed.map(|told| &*told.name).collect()
}

#[test]
fn answers_of_another_run_pass_for_none() {
    let (recorded, same) = (folder("canned"), folder("canned-same"));
    let (other, instructed) = (folder("canned-other"), folder("canned-instructed"));
    let transports = ["--transport", "sse,json", "--seed", "one", "--concurrent", "1"];
    expect(&conformance(&[&transports[..], &["--out", path(&recorded)]].concat()), 0, &[]);
    let before = run(&canned(&recorded, Replay::Verbatim), "one", &same);
    let all = before.trials.len();
    // It passes with the recorded words.
    assert!(passed(&before).len() * 10 > all * 7, "{} of {all}", passed(&before).len());
    let after = run(&canned(&recorded, Replay::Verbatim), "two", &other);
    assert!(passed(&after).len() * 20 < all, "of {all}: {:#?}", passed(&after));
    assert_eq!(profiles(&other), Vec::<String>::new());
    // A server that only replaces the instructions does not respond to the request.
    run(&canned(&recorded, Replay::Instructed), "two", &instructed);
    assert_eq!(profiles(&instructed), Vec::<String>::new());
}

/// Returns the names of the passed profiles.
fn profiles(out: &Path) -> Vec<String> {
    let passed =
        certificate(out).profiles.into_iter().filter(|profile| profile.state == ProfileState::Passed);
    passed.map(|profile| profile.name).collect()
}

use std::path::PathBuf;
use std::time::Duration;
use std::{env, process};

use catalogue::{BETWEEN_CASES, HandlingMode, UpstreamFault};
use results::Declared;

use super::*;
use crate::evidence::{Ended, Fault, KeyPlace, Method, Response, RunKey, SeenKey};
use crate::plan::plain;
use crate::run::result;

/// A folder that is removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("conformance-between-{name}-{}", process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn of(name: &str, fault: Option<Fault>) -> (Test, BetweenTest) {
    let [front, upstream] = ["openai", "chat"].map(|name| spec::dialect(name).unwrap());
    let test = Test {
        name: name.to_owned(),
        agent: None,
        case: plain().unwrap(),
        front,
        upstream,
        mode: HandlingMode::Inspect,
        fault,
        mark: "zqmark1".to_owned(),
        model: "m\u{202e}".to_owned(),
        declared: Declared {
            retries: 2,
            passes_key: true,
            drains: Some(7),
            keeps_alive: Some(15),
            other_model: Some("n".to_owned()),
            websocket: true,
        },
        is_limit_known: true,
    };
    let report = result(&test);
    (test, report)
}

fn us(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

fn exchange(at: u64, end: Ended) -> Exchanged {
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    Exchanged {
        at: us(at),
        method: Method::Post,
        path: "/v1/responses".to_owned(),
        headers: vec![
            header("content-type", "application/json"),
            header("accept", "a"),
            header("accept", "b"),
        ],
        body: br#"{ "model": "m", "n": 1.0, "text": "\u00fc" }"#.to_vec(),
        keys: vec![SeenKey { key: RunKey::Upstream, place: KeyPlace::ResponseBody }],
        upgrade: Some(426),
        turn: 3,
        response: Some(Response {
            status: 503,
            headers: vec![header("retry-after", "7")],
            pieces: vec![
                (us(at + 1), b"data: 1\r\n".to_vec()),
                (us(at + 1_234_567), b"\xf0\x9f".to_vec()),
                (us(at + 1_234_567), b"\x98\x80 \"\0".to_vec()),
                (us(at + 99_999_999_999), Vec::new()),
            ],
            end,
            ended_at: us(at + 99_999_999_999),
        }),
    }
}

fn evidence() -> Evidence {
    let unanswered = Exchanged { response: None, body: Vec::new(), ..exchange(77, Ended::Complete) };
    Evidence {
        probes: Vec::new(),
        client: vec![
            exchange(5, Ended::Complete),
            exchange(1_000_003, Ended::Broken("reset \"by\"\n".to_owned())),
        ],
        upstream: vec![exchange(7, Ended::Left), unanswered, exchange(9, Ended::Silent("5 s".to_owned()))],
        after: Some(exchange(12, Ended::Complete)),
        after_upstream: vec![exchange(13, Ended::Complete)],
        unmarked: 3,
    }
}

#[test]
fn probes_are_read_where_a_case_has_them() {
    let folder = Folder::new("probes");
    let probe = Exchanged { method: Method::Head, body: Vec::new(), ..exchange(1, Ended::Complete) };
    let evidence = Evidence { probes: vec![probe], ..evidence() };
    for id in ["session/probes", "text/plain"] {
        let (test, mut report) = of("responses-chat/text/plain", None);
        let case = BETWEEN_CASES.iter().find(|case| case.id == id).unwrap();
        report.about.case = id.to_owned();
        write(&folder.0, &Test { case, ..test }, &evidence).unwrap();
        let read = read(&folder.0, &report).map_err(|error| error.to_string());
        let has_probes = id == "session/probes";
        assert_eq!(read.clone().ok(), has_probes.then(|| evidence.clone()), "{read:?}");
    }
}

#[test]
fn what_is_written_is_read_exactly() {
    let folder = Folder::new("exact");
    for (name, fault, evidence) in [
        ("responses-chat/text/plain", None, evidence()),
        ("responses-chat/text/plain@cut:2", Some(Fault::Stream(UpstreamFault::Cut, 2)), evidence()),
        ("responses-chat/text/plain@429", Some(Fault::Status(429)), Evidence::default()),
    ] {
        let (test, report) = of(name, fault);
        let files = write(&folder.0, &test, &evidence).unwrap();
        assert!(files.iter().all(|file| folder.0.join(file).is_file() && !file.contains(':')), "{files:?}");
        assert_eq!(read(&folder.0, &report).unwrap(), evidence, "{name}");
        assert_eq!(recorded(&test, &evidence).unwrap(), evidence, "{name}");
        let again = super::test(&folder.0, &report).unwrap();
        let shown = |test: &Test| {
            let Test { name, case, front, upstream, mode, fault, mark, model, declared, .. } = test;
            let is_limit_known = test.is_limit_known;
            format!(
                "{name} {} {} {} {mode:?} {fault:?} {mark} {model:?} {declared:?} {is_limit_known}",
                case.id, front.name, upstream.name
            )
        };
        assert_eq!(shown(&again), shown(&test));
    }
}

#[test]
fn recordings_are_those_that_other_commands_check() {
    let (test, _) = of("responses-chat/text/plain", None);
    let mut evidence = Evidence { after: None, after_upstream: Vec::new(), ..evidence() };
    evidence.client[0]
        .response
        .as_mut()
        .unwrap()
        .headers
        .push(("content-type".into(), "text/event-stream".into()));
    let [client, ..] = texts(&test, &evidence).unwrap();
    let mut exchanges = 0;
    let format = recordings::capture::read(client.as_bytes(), None, &mut |entry| {
        exchanges += usize::from(matches!(entry, checker::Entry::Exchange(_)));
    });
    assert_eq!((format.map_err(|error| error.to_string()), exchanges), (Ok(results::Format::Exchange), 2));
}

#[test]
fn secrets_are_left_out_before_anything_is_judged() {
    let (test, _) = of("responses-chat/text/plain", None);
    let mut evidence = evidence();
    evidence.client[0].headers.push(("x-portal".to_owned(), "sk-47110815".to_owned()));
    evidence.client[0].body = br#"{"api_key":"sk-47110815"}"#.to_vec();
    let kept = recorded(&test, &evidence).unwrap();
    assert!(
        !format!("{kept:?}").contains("4711") && !texts(&test, &evidence).unwrap().concat().contains("4711")
    );
    // Twice is the same as once.
    assert_eq!(recorded(&test, &kept).unwrap(), kept);
}

#[test]
fn what_the_suite_itself_sent_is_known() {
    let folder = Folder::new("scripted");
    for (name, fault, known) in [
        ("responses-chat/text/plain", None, &["upstream.exchange", "test.json"][..]),
        (
            "responses-chat/text/plain@cut:2",
            Some(Fault::Stream(UpstreamFault::Cut, 2)),
            &["client.exchange", "upstream.exchange", "test.json"],
        ),
    ] {
        let (test, _) = of(name, fault);
        write(&folder.0, &test, &evidence()).unwrap();
        let [client, ..] = files(name).unwrap();
        assert_eq!(scripted(folder.0.join(client).parent().unwrap()), known);
    }
    assert_eq!(scripted(&folder.0), [""; 0]);
}

#[test]
fn what_does_not_fit_is_refused() {
    let folder = Folder::new("refused");
    let (test, report) = of("responses-chat/text/plain", None);
    let [client, _, beside] = files(&test.name).unwrap();
    write(&folder.0, &test, &evidence()).unwrap();
    let begun = hash_of(&folder.0, &report).unwrap();
    let path = folder.0.join(&client);
    let kept = fs::read_to_string(&path).unwrap();
    let problem = |content: &str| {
        fs::write(&path, content).unwrap();
        read(&folder.0, &report).unwrap_err().to_string()
    };
    let without_last = kept.lines().take(3).collect::<Vec<_>>().join("\n");
    assert!(problem(&without_last).ends_with("client.exchange: the last exchange has no end"));
    assert!(problem("{}\n").ends_with("line 1: it belongs to no exchange"));
    assert!(problem("").ends_with("test.json: the exchange after the fault is missing"));
    assert!(problem(&kept.replacen("\"at\":0.001", "\"at\":-1", 1)).contains("line 2: `at` is no time"));
    fs::write(&path, kept.replace("data: 1", "data: 2")).unwrap();
    assert!(read(&folder.0, &report).is_ok() && hash_of(&folder.0, &report).unwrap() != begun);
    let other = BetweenTest {
        about: results::OfPair { upstream: "messages".to_owned(), ..report.about.clone() },
        ..report.clone()
    };
    assert!(super::test(&folder.0, &other).unwrap_err().to_string().contains("another case or pair"));
    fs::write(folder.0.join(beside), "{}").unwrap();
    assert!(super::test(&folder.0, &report).is_err());
}

#[test]
fn names_lead_nowhere_else() {
    for name in ["../x", "a/../../x", "/etc/passwd", "a//b", "a/.b", "a", "a/b\n", "a/b\\..\\c"] {
        assert!(files(name).is_err(), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    let folder = Folder::new("links");
    let (test, report) = of("responses-chat/text/plain", None);
    write(&folder.0, &test, &evidence()).unwrap();
    let [client, ..] = files(&test.name).unwrap();
    let (path, other) = (folder.0.join(client), folder.0.join("other"));
    fs::rename(&path, &other).unwrap();
    std::os::unix::fs::symlink(&other, &path).unwrap();
    assert!(read(&folder.0, &report).unwrap_err().to_string().contains("symbolic link"));
    assert!(make_room(&folder.0, true).unwrap_err().to_string().contains("is no recording of a run"));
    assert!(other.exists());
}

#[test]
fn only_recordings_make_room() {
    let folder = Folder::new("room");
    let (test, report) = of("responses-chat/text/plain", None);
    make_room(&folder.0, false).unwrap();
    write(&folder.0, &test, &evidence()).unwrap();
    assert!(make_room(&folder.0, false).unwrap_err().to_string().contains("--replace"));
    let stranger = folder.0.join("exchanges/responses-chat/notes.txt");
    fs::write(&stranger, "mine").unwrap();
    let tests = [report];
    assert_eq!(strangers(&folder.0, &tests).unwrap(), ["exchanges/responses-chat/notes.txt"]);
    assert!(make_room(&folder.0, true).is_err() && stranger.exists());
    fs::remove_file(stranger).unwrap();
    assert!(strangers(&folder.0, &tests).unwrap().is_empty() || !folder.0.join("exchanges").exists());
    make_room(&folder.0, true).unwrap();
    assert_eq!(fs::read_dir(folder.0.join("exchanges")).unwrap().count(), 0);
    assert!(make_room(&folder.0, false).unwrap_err().to_string().contains("--replace"));
    // One that no test was written to is free again.
    harness::evidence::release(&folder.0, REPORT);
    make_room(&folder.0, false).unwrap();
}

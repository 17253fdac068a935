//! What is said of clients was measured on them: on the streams that the suite plays today, for each kind of finding.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::{env, fs};

use catalogue::{CLIENTS, Level, Measured};
use codegen::catalogue::Catalogue;
use codegen::formats::{MeasuredFile, Outcome, PlayedFile, groups};
use conformance::checker::Effect;
use conformance::results::{ClientState, ClientTotal};
use conformance::{Rules, goldens};
use serde_json::Value;
use tests::mutate::Mutator;
use tests::{corpus, generated, members};

fn catalogue() -> Catalogue {
    let (catalogue, errors) = Catalogue::load(&corpus::repository().join("spec"));
    assert!(errors.is_empty(), "{errors:?}");
    catalogue
}

/// Returns what was measured with each API.
fn files() -> Vec<(String, MeasuredFile, PlayedFile)> {
    let Catalogue { measured, mut played, .. } = catalogue();
    let files = measured.into_iter().map(|(api, file)| {
        let played = played.remove(&api).unwrap_or_default();
        (api, file, played)
    });
    files.collect()
}

/// The dialect whose streams the clients of each API are played, and the least number of these.
const PLAYED: [(&str, &str, usize); 3] =
    [("chat", "chat", 200), ("messages", "anthropic", 400), ("responses", "openai", 2000)];

/// Without `BLESS`, each stream has its outcomes, and no other. With it, streams that are gone are removed, and new ones
/// added as not played.
#[test]
fn the_streams_of_today_are_measured() {
    assert_eq!(
        PLAYED.map(|(api, ..)| api).as_slice(),
        files().iter().map(|(api, ..)| api).collect::<Vec<_>>()
    );
    for ((_, dialect, least), (api, measured, _)) in PLAYED.into_iter().zip(files()) {
        are_measured(&api, spec::dialect(dialect).expect(dialect), least, &measured);
    }
}

fn are_measured(api: &str, dialect: &'static spec::Dialect, least: usize, measured: &MeasuredFile) {
    let cases = [clients::cases(dialect), &clients::measured_cases(dialect)].concat();
    let is_measured =
        |name: &&String| groups::ALL.iter().any(|group| name.starts_with(group)) && !name.contains(".json");
    let sse = cases.iter().filter(|case| case.transport == conformance::results::Transport::Sse);
    let today: BTreeSet<&String> = sse.map(|case| &case.name).filter(is_measured).collect();
    assert!(today.len() > least, "{} streams of {api}", today.len());
    let name = format!("spec/apis/{api}/measured.toml");
    let path = corpus::repository().join(&name);
    let text = fs::read_to_string(&path).expect("it is there");
    let (head, _) = text.split_once("[outcomes]\n").expect("it has outcomes");
    if env::var_os("BLESS").is_some() {
        let unknown: String = measured.measured().map(|_| Outcome::NotPlayed.letter()).collect();
        let mut fresh = format!("{head}[outcomes]\n");
        for name in &today {
            let letters = measured.outcomes.get(*name).unwrap_or(&unknown);
            _ = writeln!(fresh, "\"{name}\" = \"{letters}\"");
        }
        fs::write(&path, fresh).expect("it can be written");
        return;
    }
    let written: BTreeSet<&String> = measured.outcomes.keys().collect();
    let (stale, missing) =
        (written.difference(&today).collect::<Vec<_>>(), today.difference(&written).collect::<Vec<_>>());
    assert!(
        stale.is_empty() && missing.is_empty(),
        "{name} has {stale:?}, which no one plays, and lacks {missing:?}: BLESS=1 cargo test -p tests --test \
         measured, then tests/clients/run --cases NAME --write"
    );
}

#[test]
fn what_is_found_in_the_streams_is_written_down() {
    for (api, dialect, _) in PLAYED {
        let text = played_file(spec::dialect(dialect).expect(dialect));
        generated::is_fresh(&format!("spec/apis/{api}/played.toml"), &text, "measured");
    }
}

fn played_file(dialect: &'static spec::Dialect) -> String {
    let mut text = String::from(
        "# The kinds of findings in the streams that were played to clients: rule, event, member and form. Streams with a wrong\n\
         # member have that finding alone unless they are listed here. BLESS=1 cargo test -p tests --test suite measured writes it.\n\n",
    );
    for (name, kinds) in clients::measured_kinds(dialect) {
        if PlayedFile::stated(&name).is_some_and(|stated| kinds == [stated]) {
            continue;
        }
        let kinds: Vec<String> = kinds.iter().map(|kind| format!("\"{kind}\"")).collect();
        _ = writeln!(text, "\"{name}\" = [{}]", kinds.join(", "));
    }
    text
}

#[test]
fn the_page_of_members_is_fresh() {
    generated::is_fresh("docs/client-members.md", &members::page(&catalogue().measured), "measured");
}

/// Whoever reads this knows which stream shows each statement: a client is said to read a finding only if it handled a
/// stream with just this kind of finding, and to break by it only if it failed on one and handled none.
#[test]
fn nothing_is_said_of_clients_that_was_not_measured() {
    for (api, measured, played) in files() {
        nothing_is_made_up(&api, &measured, &played);
    }
}

fn nothing_is_made_up(api: &str, measured: &MeasuredFile, played: &PlayedFile) {
    let mut streams: BTreeMap<String, Vec<&String>> = BTreeMap::new();
    for stream in measured.outcomes.keys() {
        for kind in played.kinds(stream) {
            streams.entry(kind).or_default().push(stream);
        }
    }
    let (mut read, mut broken, mut unknown, mut not_affected) = (0, 0, 0, 0);
    for (golden, bytes) in damaged(api) {
        let dialect = spec::dialect(golden).expect("it is there");
        let report = conformance::check("damaged", &mut &*bytes, None, &Rules::of(dialect));
        let mut is_read: BTreeMap<&str, bool> = CLIENTS.iter().map(|client| (client.name, true)).collect();
        let has_more_than_notes = report.findings.iter().any(|finding| finding.level > Level::May);
        for finding in &report.findings {
            let shown = streams.get(&finding.kind()).cloned().unwrap_or_default();
            for (client, effect) in
                CLIENTS.iter().zip(finding.effects()).filter(|(client, _)| client.is_of(api))
            {
                let outcomes = shown.iter().map(|stream| measured.outcome(client.name, stream));
                let outcomes: Vec<Outcome> = outcomes.collect();
                match effect {
                    Effect::IsRead => {
                        read += 1;
                        assert!(outcomes.contains(&Outcome::Handled), "{}: {}", client.name, finding.kind());
                    }
                    Effect::Breaks(_) => {
                        broken += 1;
                        assert!(
                            outcomes.iter().any(|outcome| outcome.is_failure())
                                && !outcomes.contains(&Outcome::Handled),
                            "{}: {}",
                            client.name,
                            finding.kind()
                        );
                    }
                    Effect::IsReported(_) | Effect::NotMeasured(_) => unknown += 1,
                }
                let is_void = finding.level <= Level::May
                    && has_more_than_notes
                    && matches!(effect, Effect::NotMeasured(_));
                if !matches!(effect, Effect::IsRead) && !is_void {
                    is_read.insert(client.name, false);
                }
            }
        }
        for total in ClientTotal::all(&[report], &[api]) {
            if total.state == ClientState::NotAffected {
                not_affected += 1;
                assert!(is_read[total.name.as_str()], "{} was not measured with all of it", total.name);
            }
        }
    }
    assert!(
        read > 100 && broken > 100 && unknown > 100 && not_affected > 10,
        "{api}: {read} {broken} {unknown} {not_affected}"
    );
}

/// What is said of a stream follows from its kinds of findings, which other streams have, too.
#[test]
fn no_client_is_said_to_read_a_stream_that_broke_it() {
    for (api, measured, played) in files() {
        let broken = broken_by(&api, &measured, &played);
        assert!(broken > measured.outcomes.len() / 3, "{api}: {broken}");
    }
}

/// Returns the number of failures, each of which is shown as one.
fn broken_by(api: &str, measured: &MeasuredFile, played: &PlayedFile) -> usize {
    let mut broken = 0;
    for stream in measured.outcomes.keys() {
        let kinds = played.kinds(stream);
        for client in CLIENTS.iter().filter(|client| measured.outcome(client.name, stream).is_failure()) {
            let reads = |kind: &String| {
                let measurement = catalogue::measurement(api, kind);
                measurement.and_then(|measurement| measurement.outcome(client)) == Some(Measured::Handled)
            };
            broken += 1;
            assert!(
                kinds.is_empty() || !kinds.iter().all(reads),
                "{stream} broke {}: {kinds:?}",
                client.name
            );
        }
    }
    broken
}

/// Returns goldens of an API with damaged events, each with its dialect.
fn damaged(api: &str) -> Vec<(&'static str, Vec<u8>)> {
    let (_, dialect, _) = PLAYED.into_iter().find(|(name, ..)| *name == api).expect(api);
    let model = codegen::dialect::load(&corpus::repository().join("spec"), dialect).expect("it can be read");
    let mut mutator = Mutator::new(&model, 33);
    let mut all = Vec::new();
    for golden in goldens::GOLDENS {
        if golden.dialect != dialect && !(dialect == "openai" && golden.dialect == "open-responses") {
            continue;
        }
        let text = String::from_utf8_lossy(golden.bytes);
        let frames: Vec<&str> = text.split_inclusive("\n\n").collect();
        for _ in 0..20 {
            let at = mutator.random().below(frames.len());
            let mut bytes = Vec::new();
            for (number, frame) in frames.iter().enumerate() {
                let data =
                    frame.lines().find_map(|line| line.strip_prefix("data: ")).filter(|_| number == at);
                let value = data.and_then(|data| serde_json::from_str::<Value>(data).ok());
                let damaged = match (data, value) {
                    (Some(data), Some(value)) => {
                        let mutant = mutator.mutant(&value);
                        frame.replace(data, &mutant.replace('\n', " "))
                    }
                    _ => (*frame).to_owned(),
                };
                bytes.extend_from_slice(damaged.as_bytes());
            }
            all.push((golden.dialect, bytes));
        }
    }
    all
}

/// The stream that lacks only members of its usage.
#[test]
fn a_stream_without_members_of_usage_is_not_said_to_be_read() {
    let golden = goldens::golden("openai/text").expect("it is there");
    let text = String::from_utf8_lossy(golden.bytes).replace("\"input_tokens\":", "\"prompt_tokens\":");
    assert_ne!(text.as_bytes(), golden.bytes);
    let dialect = spec::dialect("openai").expect("it is there");
    let report = conformance::check("usage", &mut text.as_bytes(), None, &Rules::of(dialect));
    let clients = ClientTotal::all(&[report], &["responses"]);
    let of = |name: &str| clients.iter().find(|client| client.name == name).expect(name).state;
    assert_eq!(of("AI SDK (openai)"), ClientState::Broken);
    assert_eq!(of("async-openai"), ClientState::Broken);
}

//! What is said of clients was measured on them: on the streams that the suite plays today, for each kind of finding.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::{env, fs};

use clients::{impact_clients, impact_packages};
use codegen::catalogue::Catalogue;
use codegen::formats::{ImpactFile, MeasuredFile, Outcome, groups};
use conformance::checker::{LOOSEST, alike, among_others, needed};
use conformance::results::{ClientState, ClientTotal};
use conformance::{Rules, goldens};
use serde_json::Value;
use tests::measuring::{Outcomes, Samples, Words, drivers, played_clients};
use tests::mutate::Mutator;
use tests::{corpus, generated, impact_page, members};

fn catalogue() -> Catalogue {
    let (catalogue, errors) = Catalogue::load(&corpus::repository().join("spec"));
    assert!(errors.is_empty(), "{errors:?}");
    catalogue
}

fn files() -> Vec<(String, MeasuredFile)> {
    let mut files: Vec<_> = catalogue().measured.into_iter().collect();
    files.retain(|(_, file)| !file.outcomes.is_empty());
    files
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
    for ((_, dialect, least), (api, measured)) in PLAYED.into_iter().zip(files()) {
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
fn the_page_of_damaged_streams_is_fresh() {
    generated::is_fresh("docs/client-impact.md", &impact_page::page(&catalogue().impact), "measured");
}

#[test]
fn the_page_of_members_is_fresh() {
    generated::is_fresh("docs/client-members.md", &members::page(&catalogue().measured), "measured");
}

/// The samples of each row are still made, and its clients are as today. New kinds wait until they are played.
#[test]
fn rows_rest_on_samples_of_today() {
    for (api, dialect, _) in PLAYED {
        let file = impact(api);
        let samples = Samples::of(api);
        assert_eq!(samples.dialect.name, dialect);
        let exact = file.outcomes.keys().filter(|kinds| ImpactFile::is_exact(kinds));
        let stale: Vec<&String> = exact.filter(|kinds| !samples.by_kinds.contains_key(*kinds)).collect();
        assert!(
            stale.is_empty() && file.drivers == drivers(api),
            "spec/apis/{api}/impact.toml is not of today: {stale:?}; run `cargo run -p tests --example measure_impact`"
        );
    }
}

/// Claims about a response follow from rows alone: the first one of its kinds, or of kinds that are alike, or of one kind among others.
#[test]
fn nothing_is_said_of_clients_that_was_not_played() {
    for (api, ..) in PLAYED {
        let file = impact(api);
        let (mut broken, mut unaffected, mut unknown) = (0, 0, 0);
        for (golden, bytes) in damaged(api) {
            let dialect = spec::dialect(golden).expect("it is there");
            let report = conformance::check("damaged", &mut &*bytes, None, &Rules::of(dialect));
            let needed = needed(&report.findings.iter().collect::<Vec<_>>());
            let keys: BTreeSet<String> = (0..=LOOSEST)
                .map(|level| alike(&needed, level))
                .chain(among_others(&needed).into_iter().flatten())
                .chain(
                    report
                        .findings
                        .iter()
                        .flat_map(|found| (0..=LOOSEST).map(move |level| alike(&[found.kind()], level))),
                )
                .map(|key| key.join(ImpactFile::AND))
                .collect();
            for total in ClientTotal::all(&[report], &[api]) {
                let Some(at) = file.clients.iter().position(|client| client.name == total.name) else {
                    assert!(
                        !total.state.is_broken() && total.state != ClientState::Unaffected,
                        "{}",
                        total.name
                    );
                    continue;
                };
                let letters: Vec<char> = file
                    .rows()
                    .filter(|(key, _)| keys.contains(*key))
                    .map(|(_, words)| file.row(words).nth(at).expect("a word").0)
                    .collect();
                let is_shown = |letter: char| assert!(letters.contains(&letter), "{}: {keys:?}", total.name);
                match total.state {
                    ClientState::Fails => is_shown('x'),
                    ClientState::Wrong => is_shown('w'),
                    ClientState::Unaffected => {
                        assert!(!needed.is_empty(), "{}", total.name);
                        is_shown('.');
                    }
                    _ => {}
                }
                broken += usize::from(total.state.is_broken());
                unaffected += usize::from(total.state == ClientState::Unaffected);
                unknown += usize::from(total.state == ClientState::NotMeasured);
            }
        }
        assert!(broken > 20 && unaffected > 20 && unknown > 100, "{api}: {broken} {unaffected} {unknown}");
    }
}

/// Kinds have less in common at each level. Texts share a row with calls at the last two alone, and errors with nothing else.
#[test]
fn kinds_are_alike_by_levels() {
    let kind = |rest: &str| vec![format!("schema/event-valid x /item[message]/id {rest}")];
    let at = |kind: Vec<String>, level: usize| alike(&kind, level).join(ImpactFile::AND);
    assert_eq!(at(kind("null text"), 0), "schema/event-valid x /item[message]/id null text");
    assert_eq!(at(kind("null text"), 1), "schema/event-valid x /item[message]/id null *");
    assert_eq!(at(kind("null role+tool_call"), 1), "schema/event-valid x /item[message]/id null *call");
    assert_eq!(at(kind("null error"), 3), "schema/event-valid x /item/id null *error");
    assert_eq!(at(kind("number error"), LOOSEST), "schema/event-valid * /item/id *type **error");
    assert_eq!(at(kind("odd-number error"), LOOSEST), "schema/event-valid * /item/id odd-number **error");
    assert_eq!(at(kind("number text"), LOOSEST), at(kind("object tool_call"), LOOSEST));
    assert_ne!(at(kind("number text"), LOOSEST), at(kind("boolean text"), LOOSEST), "clients convert it");
    let cut = vec!["wire/json-object x - a string @text+@open".to_owned()];
    assert_eq!(at(cut, 1), "wire/json-object x - a string *@text@open");
    let wire = |event: &str| vec![format!("wire/json-object {event} - a string -")];
    assert_ne!(at(wire("x"), 1), at(wire("y"), 1));
    assert_eq!(at(wire("x"), 2), at(wire("y"), 2), "what cannot be read is of no event");
    let number = vec!["wire/json-object x - no-number @object+@open".to_owned()];
    assert_eq!(at(number, LOOSEST), "wire/json-object * * no-number **@object", "some parsers read it");
    let null = vec!["wire/json-object x - null @text+@open".to_owned()];
    assert_eq!(at(null, LOOSEST), "wire/json-object * * null **@text", "it is JSON");
    let broken = vec!["wire/json-object x - expected a value @text+@open".to_owned()];
    assert_eq!(at(broken, LOOSEST), "wire/json-object * * * **@text");
    let last = vec!["item/never-closed x - - message+@ended".to_owned()];
    assert_eq!(at(last, LOOSEST), "item/never-closed * * * **@ended", "the response is complete");
    assert!(among_others(&wire("x")).is_empty(), "nothing is beside it");
    let two = [wire("x"), kind("repeated text")].concat();
    assert!(among_others(&two).is_empty(), "the last value counts");
    let error = [wire("x"), kind("null error")].concat();
    assert!(among_others(&error).is_empty(), "clients report it");
    assert_eq!(
        among_others(&[wire("x"), kind("null text")].concat())[0][0],
        ["*", "wire/json-object x - a string -"]
    );
}

/// A finding does among others what it does alone if it did so in each stream.
#[test]
fn findings_among_others_do_what_they_do_alone() {
    let client = played_clients("chat").next().expect("there is one").name.clone();
    let kind = |member: &str| format!("schema/event-valid x /{member} null text");
    let play = |golden: &str, members: &[&str], outcome: &str| Outcomes {
        golden: golden.to_owned(),
        name: format!("#1 null {}", members.join(" ")),
        kinds: members.iter().map(|member| kind(member)).collect(),
        clients: vec![(client.clone(), outcome.to_owned(), String::new())],
    };
    let alone = |member: &str, outcome: &str| {
        ["one", "two", "three", "four"].map(|golden| play(golden, &[member], outcome)).to_vec()
    };
    let beside = |outcome: &str| {
        let both = |golden| [play(golden, &["a", "b"], outcome), play(golden, &["a", "c"], outcome)];
        ["one", "two", "three"].map(both).concat()
    };
    let letter = |evidence: &[Vec<Outcomes>]| {
        let words = Words::of("chat", &evidence.concat());
        let keys = &among_others(&[kind("a"), kind("b")])[0];
        // Rows that say no more than looser ones are left out.
        let letters = keys.iter().filter_map(|key| words.letter(&key.join(ImpactFile::AND), 0));
        letters.into_iter().find(|letter| *letter != '-').unwrap_or('-')
    };
    assert_eq!(letter(&[alone("a", "fails"), beside("fails")]), 'x');
    assert_eq!(letter(&[alone("a", "unaffected"), beside("unaffected")]), '.');
    assert_eq!(
        letter(&[alone("a", "unaffected"), beside("passes-on")]),
        '.',
        "another one changes something"
    );
    assert_eq!(letter(&[alone("a", "passes-on"), beside("unaffected")]), 'p');
    assert_eq!(letter(&[beside("fails")]), '-', "another one may do it");
    assert_eq!(letter(&[alone("a", "fails"), beside("unaffected")]), '-');
    assert_eq!(letter(&[alone("a", "unaffected"), beside("fails")]), '-');
    assert_eq!(letter(&[alone("a", "fails"), vec![play("one", &["a", "b"], "fails")]]), '-', "one stream");
}

/// One play of many that differs is an accident; two of them are not.
#[test]
fn a_rare_play_decides_nothing() {
    let client = played_clients("chat").next().expect("there is one").name.clone();
    let play = |number: usize, outcome: &str| Outcomes {
        golden: number.to_string(),
        name: format!("#{number} null x"),
        kinds: vec!["schema/event-valid x /x null text".to_owned()],
        clients: vec![(client.clone(), outcome.to_owned(), String::new())],
    };
    let letter = |usual: &str, rare: &str, rare_ones: usize| {
        let plays = (0..40).map(|number| play(number, if number < rare_ones { rare } else { usual }));
        Words::of("chat", &plays.collect::<Vec<_>>()).letter("schema/event-valid x /x null text", 0)
    };
    assert_eq!(letter("unaffected", "fails", 1), Some('.'));
    assert_eq!(letter("wrong", "unaffected", 1), Some('w'));
    assert_eq!(letter("unaffected", "fails", 2), Some('v'));
}

/// A note that breaks a client alone breaks it beside findings, too.
#[test]
fn a_note_breaks_a_client_beside_findings() {
    let golden = goldens::golden("openai/text").expect("it is there");
    let text = String::from_utf8_lossy(golden.bytes);
    let damaged = text.replace("\"created_at\":", "\"created\":");
    let (end, note) =
        ("event: response.completed", "event: acme.progress\ndata: {\"type\":\"acme.progress\"}\n\n");
    let noted = damaged.replacen(end, &format!("{note}{end}"), 1);
    let dialect = spec::dialect("openai").expect("it is there");
    let state = |text: String| {
        let report = conformance::check("noted", &mut text.as_bytes(), None, &Rules::of(dialect));
        let clients = ClientTotal::all(&[report], &["responses"]);
        clients.iter().find(|client| client.name == "openai-node stream()").expect("it is there").state
    };
    assert_eq!(state(damaged), ClientState::Unaffected);
    assert_eq!(state(noted), ClientState::Fails);
}

fn impact(api: &str) -> ImpactFile {
    catalogue().impact.remove(api).unwrap_or_default()
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
    assert_eq!(of("AI SDK (openai)"), ClientState::Fails);
}

/// An entry of `keep-alives.toml`.
#[derive(Debug, serde::Deserialize)]
struct Form {
    name: String,
}

#[test]
fn keep_alives_were_played_to_the_clients_that_are_pinned() {
    let read = |file: &str| fs::read_to_string(corpus::repository().join(file)).expect("it is there");
    let (page, forms) = (read("docs/keep-alive.md"), read("spec/keep-alives.toml"));
    let played: BTreeMap<&str, &str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("Played on ")?.split_once(" to ")?.1.strip_suffix('.'))
        .flat_map(|clients| clients.split(", ").filter_map(|client| client.rsplit_once(' ')))
        .collect();
    for client in impact_clients() {
        let version = played.get(&*client.name).copied().unwrap_or_default();
        let is_pinned = impact_packages(&client.packages)
            .is_some_and(|own| own.all().any(|package| package.rsplit(['@', '=']).next() == Some(version)));
        assert!(is_pinned, "{} {version}: run tests/clients/keep_alives", client.name);
    }
    let forms: BTreeMap<String, Vec<Form>> = toml::from_str(&forms).expect("it is as its type says");
    for form in forms.into_values().flatten() {
        assert!(page.contains(&format!("| {} |", form.name)), "{}: run tests/clients/keep_alives", form.name);
    }
}

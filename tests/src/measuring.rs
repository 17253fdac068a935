//! `impact.toml`: the outcomes of clients for samples.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

use clients::{ImpactClient, ImpactPackages, impact_clients, impact_packages};
use codegen::formats::ImpactFile;
use conformance::checker::{Checker, LOOSEST, LOOSEST_OF_MANY, alike, among_others, needed, tells};
use conformance::harness;
use serde::{Deserialize, Serialize};
use spec::Dialect;

use crate::corpus;
use crate::damages::{Damages, Stream, goldens};
use crate::samples::{self, shape};

/// Least number of good streams of a sample.
const LEAST: usize = 2;
/// Least numbers of damaged streams, of good streams, and of different damages that a word rests on.
type Least = (usize, usize, usize);
/// The same before a client is said to break, by how loosely the kinds of findings are alike.
const BREAKING: [Least; LOOSEST + 1] = [(2, 2, 1), (2, 2, 1), (3, 2, 2), (6, 3, 3), (10, 4, 3), (12, 4, 3)];
/// The same before it is said to be unaffected: the damage that harms it may not be among them.
const SOUND: [Least; LOOSEST + 1] = [(3, 2, 1), (3, 2, 1), (4, 3, 2), (6, 3, 3), (10, 4, 3), (12, 4, 3)];
/// Enough for the same where kinds say where the damage is: at the first levels.
const DIFFERENT: Least = (2, 2, 2);
const PLACED: usize = 1;
/// The same before it is said to pass on what the server changed. Whether it does depends on more than the findings say.
const PASSING: [Option<Least>; LOOSEST + 1] =
    [Some((6, 3, 2)), Some((8, 3, 3)), Some((12, 4, 3)), None, None, None];
/// Number of all three where some of the streams change nothing.
const PASSING_SOME: Least = (20, 6, 4);
/// The same before it is said to report an error: it fails in the same way where the stream goes on.
const REPORTING: [Option<Least>; LOOSEST + 1] =
    [Some((3, 2, 1)), Some((4, 2, 1)), Some((6, 3, 2)), Some((8, 3, 3)), None, None];
/// The same before a finding is said to break a client among any others.
const AMONG_OTHERS: Least = (40, 8, 6);
/// Number of different damages to try before a client is said to be unaffected.
pub const HARMLESS: usize = 3;
/// Maximum number of kinds of findings in a row. With more of them, a stream is like no other one.
const KINDS: usize = 3;

/// Number of streams that a row of before stands for.
const OF_ROW: usize = 3;

/// The outcome of a client that was not played to.
const NOT_PLAYED: &str = "not-played";

/// The damaged good streams of an API, by the kinds of their findings.
#[derive(Debug)]
pub struct Samples {
    /// The dialect of the good streams.
    pub dialect: &'static Dialect,
    /// The good streams.
    pub goldens: Vec<Stream>,
    /// The samples, by the kinds of their findings.
    pub by_kinds: BTreeMap<String, Vec<Made>>,
}

/// A damaged good stream.
#[derive(Debug)]
pub struct Made {
    /// The number of the good stream.
    pub golden: usize,
    /// The damage.
    pub name: String,
    /// As it is sent.
    pub bytes: Vec<u8>,
}

/// The outcomes of a sample: a line of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcomes {
    /// The name of the good stream.
    pub golden: String,
    /// The damage.
    pub name: String,
    /// The kinds of its findings, unless [`Samples`] have it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<String>,
    /// For each client its name, its outcome, and the detail.
    pub clients: Vec<(String, String, String)>,
}

impl Samples {
    /// Makes all samples of an API that can be in a row: those with findings that samples of two good streams have.
    pub fn of(api: &str) -> Self {
        let listed = Damages::all();
        let damages = listed.iter().find(|damages| damages.api == api);
        let dialect = corpus::dialect(damages.map_or("openai", |damages| &damages.dialect));
        let goldens = goldens(dialect.name);
        let mut by_kinds: BTreeMap<String, Vec<Made>> = BTreeMap::new();
        for (golden, stream) in goldens.iter().enumerate() {
            let all = samples::of(stream).into_iter().map(|one| (one.name, one.bytes));
            let named = damages.into_iter().flat_map(|damages| &damages.all);
            let named = named.filter_map(|damage| Some((damage.name.clone(), damage.make(stream)?)));
            for (name, bytes) in all.chain(named) {
                let kinds = kinds(dialect, &bytes);
                if (1..=KINDS).contains(&kinds.len()) {
                    let made = Made { golden, name, bytes };
                    by_kinds.entry(kinds.join(ImpactFile::AND)).or_default().push(made);
                }
            }
        }
        by_kinds.retain(|_, made| made.iter().map(|one| one.golden).collect::<BTreeSet<_>>().len() >= LEAST);
        Self { dialect, goldens, by_kinds }
    }
}

/// Returns the kinds of findings in a stream that a client must be measured with.
fn kinds(dialect: &'static Dialect, bytes: &[u8]) -> Vec<String> {
    let mut checker = Checker::new(dialect);
    checker.push(bytes);
    checker.finish();
    needed(&checker.findings().iter().collect::<Vec<_>>())
}

/// Returns the clients of an API that samples are played to. Agents take seconds to start for each.
pub fn played_clients(api: &str) -> impl Iterator<Item = &'static ImpactClient> {
    impact_clients().iter().filter(move |client| client.api == api && client.packages != "agents")
}

/// Returns the hash of what is played: the clients of an API, with their packages.
pub fn drivers(api: &str) -> String {
    let mut text = String::new();
    for client in played_clients(api) {
        let packages: Vec<&str> =
            impact_packages(&client.packages).into_iter().flat_map(ImpactPackages::all).collect();
        let _ = writeln!(text, "{} {}", client.name, packages.join(" "));
    }
    format!("sha256:{}", harness::hash(text.as_bytes()))
}

/// Reads a journal; an absent one is empty, and a line that was not written to its end is left out.
///
/// # Errors
///
/// If it cannot be read.
pub fn journal(path: &PathBuf) -> io::Result<Vec<Outcomes>> {
    let file = match std::fs::File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        file => file?,
    };
    let mut all = Vec::new();
    for line in io::BufReader::new(file).lines() {
        all.extend(serde_json::from_str::<Outcomes>(&line?).ok());
    }
    Ok(all)
}

/// The outcomes of damaged recordings that rows rest on, too: of odd seeds.
///
/// # Errors
///
/// If they cannot be read.
pub fn of_recordings(api: &str, folder: &Path) -> io::Result<Vec<Outcomes>> {
    let mut all = Vec::new();
    for file in corpus::files(folder, &["jsonl"]) {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let seed = stem.strip_prefix(&*recorded_journal(api, None)).and_then(|seed| seed.parse::<u64>().ok());
        if seed.is_some_and(|seed| seed % 2 == 1) {
            all.extend(journal(&file)?);
        }
    }
    Ok(all)
}

/// The name of the journal of damaged recordings, or how such names begin.
pub fn recorded_journal(api: &str, seed: Option<u64>) -> String {
    let seed = seed.map(|seed| format!("{seed}.jsonl")).unwrap_or_default();
    format!("recorded-{api}-{}-{seed}", &drivers(api)[7..15])
}

/// The rows of before as outcomes of as many streams as they need, for kinds that were not played again.
fn of_rows(before: &ImpactFile, is_played: impl Fn(&str) -> bool) -> Vec<Outcomes> {
    let mut all = Vec::new();
    for (kinds, words) in &before.outcomes {
        if !ImpactFile::is_exact(kinds) || is_played(kinds) {
            continue;
        }
        for nth in 0..OF_ROW {
            let told = before.clients.iter().zip(before.row(words)).map(|(client, (letter, detail))| {
                let outcome = match letter {
                    'p' => "passes-on",
                    'r' => "reports",
                    '.' => "unaffected",
                    _ if nth >= LEAST => NOT_PLAYED,
                    'x' => "fails",
                    'w' => "wrong",
                    'v' => ["fails", "unaffected"][nth],
                    _ => NOT_PLAYED,
                };
                (client.name.clone(), outcome.to_owned(), detail.to_owned())
            });
            all.push(Outcomes {
                golden: format!("row {nth}"),
                name: format!("{kinds} {nth}"),
                kinds: kinds.split(ImpactFile::AND).map(str::to_owned).collect(),
                clients: told.collect(),
            });
        }
    }
    all
}

/// Returns `impact.toml`. `more` are the outcomes of streams that are no samples.
pub fn table(
    api: &str,
    samples: &Samples,
    journal: Vec<Outcomes>,
    more: Vec<Outcomes>,
    before: &ImpactFile,
    versions: &BTreeMap<String, String>,
) -> String {
    let clients: Vec<&str> = played_clients(api).map(|client| &*client.name).collect();
    let mut kinds_of: BTreeMap<(&str, &str), &str> = BTreeMap::new();
    for (kinds, made) in &samples.by_kinds {
        kinds_of.extend(
            made.iter().map(|one| ((&*samples.goldens[one.golden].name, &*one.name), kinds.as_str())),
        );
    }
    let mut evidence = more;
    let mut played: BTreeSet<String> = BTreeSet::new();
    for mut one in journal {
        let Some(kinds) = kinds_of.get(&(&*one.golden, &*one.name)) else { continue };
        one.kinds = kinds.split(ImpactFile::AND).map(str::to_owned).collect();
        played.insert((*kinds).to_owned());
        evidence.push(one);
    }
    let is_known = |kinds: &str| played.contains(kinds) || !samples.by_kinds.contains_key(kinds);
    if before.drivers == drivers(api) {
        evidence.extend(of_rows(before, is_known));
    }
    let mut details: Vec<Vec<String>> = vec![Vec::new(); clients.len()];
    let mut rows = String::new();
    for (key, words) in words_by_key(&evidence, &clients) {
        let is_exact = ImpactFile::is_exact(&key);
        // Each row of one stream's kinds can be made again without recordings.
        if is_exact && !samples.by_kinds.contains_key(&key) {
            continue;
        }
        let written = words.into_iter().zip(&mut details).map(|((letter, detail), details)| {
            // Streams that are only alike break a client elsewhere.
            if detail.is_empty() || !is_exact {
                return letter.to_string();
            }
            let at = details.iter().position(|known| *known == detail).unwrap_or_else(|| {
                details.push(detail);
                details.len() - 1
            });
            format!("{letter}{at}")
        });
        let words: Vec<String> = written.collect();
        if words.iter().any(|word| !["-", "v"].contains(&word.as_str())) {
            let _ = writeln!(rows, "{} = \"{}\"", serde_json::Value::from(key), words.join(" "));
        }
    }
    let mut text = format!(
        "# What real clients did with damaged streams, by the kinds of findings in these; in a kind, `*` stands for any, and alone for any\n\
         # other kinds. In `outcomes`, each client has a word, in the order of the clients: x fails, w is wrong, p passes on what the server\n\
         # changed, r reports the error, . unaffected, v differs between streams, - not played enough of them. A number is the place of the\n\
         # detail in the client's list. Written by `cargo run -p tests --example measure_impact`.\n\n\
         drivers = \"{}\"\n",
        drivers(api)
    );
    for (client, details) in clients.iter().zip(&details) {
        let version = versions.get(*client).map(String::as_str).unwrap_or_default();
        let _ = write!(text, "\n[[client]]\nname = \"{client}\"\nversion = \"{version}\"\n");
        if !details.is_empty() {
            text += "details = [\n";
            for detail in details {
                let _ = writeln!(text, "  {},", serde_json::Value::from(detail.as_str()));
            }
            text += "]\n";
        }
    }
    format!("{text}\n[outcomes]\n{rows}")
}

/// The words of clients by the keys of rows, without those that looser rows say, too.
fn words_by_key(evidence: &[Outcomes], clients: &[&str]) -> BTreeMap<String, Vec<(char, String)>> {
    let (all, looser) = by_key(evidence);
    let mut words: BTreeMap<String, Vec<(char, String)>> = BTreeMap::new();
    let mut keys: Vec<(&String, &(usize, Vec<&Outcomes>))> = all.iter().collect();
    keys.sort_by_key(|(_, (level, _))| Reverse(*level));
    // The outcome for a key, in its own row or in looser ones.
    let mut found: BTreeMap<&String, Vec<char>> = BTreeMap::new();
    for (key, (level, of)) in keys {
        let own: Vec<(char, String)> = clients.iter().map(|client| word(client, of, key, *level)).collect();
        let beyond = looser.get(key).and_then(|looser| found.get(looser)).cloned();
        let beyond = beyond.unwrap_or_else(|| vec!['-'; clients.len()]);
        let is_new = own.iter().zip(&beyond).any(|((letter, _), beyond)| !['-', *beyond].contains(letter));
        let both = own.iter().zip(&beyond).map(|((own, _), beyond)| if *own == '-' { *beyond } else { *own });
        found.insert(key, both.collect());
        if is_new || ImpactFile::is_exact(key) {
            words.insert(key.clone(), own);
        }
    }
    words
}

/// The outcomes by the keys of the rows that rest on them, with the level of each key; and the next looser key of each.
#[expect(clippy::type_complexity, reason = "two maps of one caller")]
fn by_key(evidence: &[Outcomes]) -> (BTreeMap<String, (usize, Vec<&Outcomes>)>, BTreeMap<String, String>) {
    let mut all: BTreeMap<String, (usize, Vec<&Outcomes>)> = BTreeMap::new();
    let mut looser: BTreeMap<String, String> = BTreeMap::new();
    for one in evidence.iter().filter(|one| !one.kinds.is_empty()) {
        let alike = (0..=LOOSEST).map(|level| alike(&one.kinds, level).join(ImpactFile::AND));
        let among_others: Vec<String> =
            among_others(&one.kinds).into_iter().map(|key| key.join(ImpactFile::AND)).collect();
        let chains = among_others.chunks(LOOSEST_OF_MANY + 1).map(<[String]>::to_vec);
        let mut keys: BTreeMap<String, usize> = BTreeMap::new();
        for chain in std::iter::once(alike.collect()).chain(chains) {
            for (level, key) in chain.iter().enumerate() {
                keys.entry(key.clone()).or_insert(level);
                if let Some(next) = chain.get(level + 1).filter(|next| *next != key) {
                    looser.insert(key.clone(), next.clone());
                }
            }
        }
        for (key, level) in keys {
            all.entry(key).or_insert_with(|| (level, Vec::new())).1.push(one);
        }
    }
    (all, looser)
}

/// Whether one damage alone leads to findings of these kinds.
pub fn is_specific(kinds: &str) -> bool {
    kinds.split(ImpactFile::AND).all(tells)
}

/// The letter of a client for streams that share a row, with the detail that most of them have.
fn word(client: &str, streams: &[&Outcomes], key: &str, level: usize) -> (char, String) {
    let is_among_others = key.starts_with(&format!("{}{}", ImpactFile::ANY, ImpactFile::AND));
    let own = streams.iter().flat_map(|one| one.clients.iter().map(move |told| (*one, told)));
    let all: Vec<(&Outcomes, &str, &str)> = own
        .filter(|(_, (name, outcome, _))| name == client && outcome != NOT_PLAYED)
        .map(|(one, (_, outcome, detail))| (one, outcome.as_str(), detail.as_str()))
        .collect();
    let goldens: BTreeSet<&str> = all.iter().map(|(one, ..)| &*one.golden).collect();
    let outcomes: BTreeSet<&str> = all.iter().map(|(_, outcome, _)| *outcome).collect();
    let is_within = |some: &[&str]| outcomes.iter().all(|outcome| some.contains(outcome));
    let mut times: BTreeMap<(&str, String), usize> = BTreeMap::new();
    for (_, outcome, detail) in all.iter().filter(|(_, outcome, _)| *outcome != "unaffected") {
        *times.entry((outcome, shown(detail))).or_default() += 1;
    }
    let most = times.into_iter().max_by_key(|(_, times)| *times).map(|(told, _)| told);
    let (outcome, detail) = most.unwrap_or_default();
    let breaks = is_within(&["fails", "wrong"]);
    let damages: BTreeSet<String> =
        all.iter().filter_map(|(one, ..)| Some(shape(&one.name).split(' ').next()?.to_owned())).collect();
    let has = |(least, bases, different): Least| {
        all.len() >= least && goldens.len() >= bases && damages.len() >= different
    };
    let is_sound = has(SOUND[level]) || level <= PLACED && has(DIFFERENT);
    let passing = |least| if is_within(&["passes-on"]) { least } else { PASSING_SOME };
    match () {
        () if breaks => {
            let least = if is_among_others { AMONG_OTHERS } else { BREAKING[level] };
            let letter = if outcome == "fails" { 'x' } else { 'w' };
            if has(least) { (letter, detail) } else { ('-', String::new()) }
        }
        () if is_among_others => ('-', String::new()),
        // Where streams differ, no looser row is asked.
        () if !is_within(&["unaffected", "passes-on", "reports"]) => ('v', String::new()),
        () if is_within(&["unaffected"]) => (if is_sound { '.' } else { '-' }, String::new()),
        () if is_within(&["reports"]) => {
            (if REPORTING[level].is_some_and(has) { 'r' } else { '-' }, String::new())
        }
        () if PASSING[level].is_some_and(|least| has(passing(least))) => ('p', detail),
        () => ('-', String::new()),
    }
}

/// Returns a detail without the values of one stream, in a few words.
fn shown(detail: &str) -> String {
    const LONGEST: usize = 100;
    let detail = detail.split(", expected ").next().unwrap_or_default();
    let mut text = String::new();
    let mut is_quoted = false;
    for character in detail.chars() {
        match character {
            '"' if !text.ends_with('\\') => {
                is_quoted = !is_quoted;
                text.push(character);
                if is_quoted {
                    text.push('…');
                }
            }
            _ if is_quoted => {}
            _ => text.push(character),
        }
    }
    conformance::results::text::cut(&text, LONGEST)
}

//! `impact.toml`: the outcomes of clients for samples.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

use clients::{ImpactClient, ImpactPackages, impact_clients, impact_packages};
use codegen::formats::ImpactFile;
use conformance::checker::{Checker, LOOSEST, alike, among_others, needed};
use conformance::harness;
use serde::{Deserialize, Serialize};
use spec::Dialect;

use crate::corpus;
use crate::damages::{Damages, Stream, goldens};
use crate::samples::{self, shape};

/// Least number of good streams of a sample.
const LEAST: usize = 2;
/// Alternatives of the least numbers of damaged streams, of good streams, and of different damages that a word rests on. One damage
/// alone has to be played on more good streams. Chosen by the rates of false words on recordings that no row rests on.
type Least = &'static [(usize, usize, usize)];
/// Before a client is said to break, by how loosely the kinds of findings are alike.
const BREAKING: [Least; LOOSEST + 1] = [
    &[(3, 2, 1), (2, 2, 2)],
    &[(3, 3, 1), (2, 2, 2)],
    &[(4, 3, 2), (6, 6, 1)],
    &[(6, 3, 2), (6, 6, 1)],
    &[(10, 6, 2), (12, 8, 1)],
    &[(10, 4, 3), (12, 8, 1)],
];
/// Before a client is said to be unaffected: the damage that harms it may not be among them.
const SOUND: [Least; LOOSEST + 1] = [
    &[(4, 4, 1), (3, 2, 2)],
    &[(5, 4, 2), (8, 6, 1)],
    &[(4, 3, 2), (8, 6, 1)],
    &[(5, 3, 2)],
    &[(20, 8, 3)],
    &[(8, 4, 3), (8, 6, 1)],
];
/// The same of streams with the same findings, where no stream that is most loosely alike breaks it.
const SOUND_AS_ALL: Least = &[(3, 2, 1), (2, 2, 2)];
/// Before a client is said to pass on what the server changed.
const PASSING: [Least; LOOSEST + 1] = [
    &[(3, 2, 1)],
    &[(4, 3, 2), (6, 5, 1)],
    &[(8, 4, 2), (10, 8, 1)],
    &[(8, 4, 2), (10, 8, 1)],
    &[(16, 8, 3), (16, 10, 1)],
    &[(16, 8, 3), (16, 10, 1)],
];
/// The same, where some of the streams change nothing.
const PASSING_SOME: [Least; LOOSEST + 1] = [
    &[(4, 3, 1)],
    &[(4, 3, 2), (8, 6, 1)],
    &[(8, 4, 2), (12, 8, 1)],
    &[(12, 6, 3)],
    &[(24, 8, 3)],
    &[(24, 8, 3)],
];
/// Before a client is said to report an error: it fails in the same way where the stream goes on.
const REPORTING: [Least; LOOSEST + 1] = [
    &[(2, 2, 1)],
    &[(3, 2, 1)],
    &[(6, 3, 2), (8, 6, 1)],
    &[(10, 4, 3), (12, 6, 1)],
    &[(20, 6, 3)],
    &[(20, 6, 3)],
];
/// Streams with other findings, before a finding is said to do among any others what it does alone.
const AMONG_OTHERS: Least = &[(4, 3, 1)];
/// Streams with other findings, before a finding that was not played alone is said to break a client among any others.
const ONLY_AMONG_OTHERS: Least = &[(40, 8, 6)];
/// One play of so many that differs from all others is taken for an accident of its stream, or of the machine.
const ACCIDENT: usize = 30;
/// Kinds are alike enough for that up to this level.
const CLOSE: usize = 1;
/// Number of different damages to try before a client is said to be unaffected.
pub const HARMLESS: usize = 3;
/// Maximum number of kinds of findings in a row. With more of them, a stream is like no other one.
const KINDS: usize = 3;

/// Number of streams that a present row stands for.
const OF_ROW: usize = 4;

/// The outcomes that harm nobody.
const UNBROKEN: [&str; 3] = ["unaffected", "passes-on", "reports"];
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

/// The present rows as outcomes of as many streams as they need, for kinds that were not played again.
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
                    'x' => "fails",
                    'w' => "wrong",
                    'v' if nth < LEAST => ["fails", "unaffected"][nth],
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

/// All that was played to the clients of an API, with the kinds of findings: samples, damaged recordings of odd seeds, and the
/// present rows for samples that are not in the journal.
///
/// # Errors
///
/// If a journal or the rows cannot be read.
pub fn evidence(api: &str, samples: &Samples, folder: &Path) -> io::Result<Vec<Outcomes>> {
    let mut kinds_of: BTreeMap<(&str, &str), &str> = BTreeMap::new();
    for (kinds, made) in &samples.by_kinds {
        kinds_of.extend(
            made.iter().map(|one| ((&*samples.goldens[one.golden].name, &*one.name), kinds.as_str())),
        );
    }
    let mut evidence = of_recordings(api, folder)?;
    let mut played: BTreeSet<String> = BTreeSet::new();
    for mut one in journal(&folder.join(samples_journal(api)))? {
        let Some(kinds) = kinds_of.get(&(&*one.golden, &*one.name)) else { continue };
        one.kinds = kinds.split(ImpactFile::AND).map(str::to_owned).collect();
        played.insert((*kinds).to_owned());
        evidence.push(one);
    }
    let is_known = |kinds: &str| played.contains(kinds) || !samples.by_kinds.contains_key(kinds);
    let before: ImpactFile =
        toml::from_str(&std::fs::read_to_string(rows_file(api))?).map_err(io::Error::other)?;
    if before.drivers == drivers(api) {
        evidence.extend(of_rows(&before, is_known));
    }
    Ok(evidence)
}

/// The rows of an API.
pub fn rows_file(api: &str) -> PathBuf {
    corpus::repository().join("spec/apis").join(api).join("impact.toml")
}

/// The name of the journal of samples.
pub fn samples_journal(api: &str) -> String {
    format!("{api}-{}.jsonl", &drivers(api)[7..15])
}

/// What is said of clients, by the keys of rows.
#[derive(Debug)]
pub struct Words(BTreeMap<String, Row>);

/// The letters of clients, with the details.
#[derive(Debug)]
struct Row {
    of_clients: Vec<(char, String)>,
    /// Whether looser rows say less.
    say_more: bool,
}

impl Words {
    /// What follows from all that was played.
    pub fn of(api: &str, evidence: &[Outcomes]) -> Self {
        let clients: Vec<&str> = played_clients(api).map(|client| &*client.name).collect();
        Self(words_by_key(evidence, &clients))
    }

    /// Returns the letter of a client in a row.
    pub fn letter(&self, key: &str, client: usize) -> Option<char> {
        Some(self.0.get(key)?.of_clients[client].0)
    }

    /// Returns whether more plays of streams with these kinds of findings could tell more of some client.
    pub fn are_wanted(&self, kinds: &[String]) -> bool {
        // Where streams differ that are only alike, the same kinds may be clearer.
        const ALIKE: usize = 2;
        let row = |key: Vec<String>| self.0.get(&key.join(ImpactFile::AND));
        let own: Vec<_> =
            (0..=LOOSEST).filter_map(|level| Some((level, row(alike(kinds, level))?))).collect();
        let beside: Vec<Vec<_>> =
            among_others(kinds).into_iter().map(|keys| keys.into_iter().filter_map(row).collect()).collect();
        let count = self.0.values().next().map_or(0, |row| row.of_clients.len());
        let is_known = |letter: &char| *letter != '-';
        (0..count).any(|at| {
            let letter = |row: &Row| row.of_clients[at].0;
            let first = own.iter().map(|(level, row)| (*level, letter(row))).find(|(_, own)| is_known(own));
            let is_open = first.is_none_or(|(level, own)| own == 'v' && level >= ALIKE);
            let others: Vec<Option<char>> =
                beside.iter().map(|rows| rows.iter().map(|row| letter(row)).find(is_known)).collect();
            let is_broken = others.iter().flatten().any(|letter| "xw".contains(*letter));
            let are_known = first.is_none() && !others.is_empty() && !others.contains(&None);
            is_open && !is_broken && !are_known
        })
    }
}

/// Returns `impact.toml`.
pub fn table(api: &str, samples: &Samples, words: Words, versions: &BTreeMap<String, String>) -> String {
    let clients: Vec<&str> = played_clients(api).map(|client| &*client.name).collect();
    let mut details: Vec<Vec<String>> = vec![Vec::new(); clients.len()];
    let (mut rows, mut recorded) = (String::new(), String::new());
    for (key, words) in words.0 {
        let is_exact = ImpactFile::is_exact(&key);
        // Each other row of one stream's kinds can be made again without recordings.
        let is_recorded = is_exact && !samples.by_kinds.contains_key(&key);
        if is_recorded && !words.say_more {
            continue;
        }
        let written = words.of_clients.into_iter().zip(&mut details).map(|((letter, detail), details)| {
            // Streams that are only alike break a client elsewhere.
            if detail.is_empty() || !is_exact || is_recorded {
                return letter.to_string();
            }
            let at = details.iter().position(|known| *known == detail).unwrap_or_else(|| {
                details.push(detail);
                details.len() - 1
            });
            format!("{letter}{at}")
        });
        let letters: Vec<String> = written.collect();
        // Where streams differ, no looser row is asked.
        if words.say_more || letters.iter().any(|word| !["-", "v"].contains(&word.as_str())) {
            let rows = if is_recorded { &mut recorded } else { &mut rows };
            let _ = writeln!(rows, "{} = \"{}\"", serde_json::Value::from(key), letters.join(" "));
        }
    }
    let mut text = format!(
        "# What real clients did with damaged streams, by the kinds of findings in these; in a kind, `*` stands for any, and alone for any\n\
         # other kinds: such a row is about what a finding does alone, and among others, too. In `outcomes`, and in `recorded` for kinds\n\
         # that no sample has, each client has a word, in the order of the clients: x fails, w is wrong, p passes on what the server\n\
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
    if !recorded.is_empty() {
        recorded = format!("\n[recorded]\n{recorded}");
    }
    format!("{text}\n[outcomes]\n{rows}{recorded}")
}

/// The streams that a row rests on.
struct Evidence<'e> {
    /// How loosely their kinds are alike.
    level: usize,
    /// The kind that they have among others, if that is what the row is about.
    beside: Option<&'e str>,
    streams: Vec<&'e Outcomes>,
}

/// The words of clients by the keys of rows, without those that looser rows say, too.
fn words_by_key(evidence: &[Outcomes], clients: &[&str]) -> BTreeMap<String, Row> {
    let (all, looser) = by_key(evidence);
    let mut words: BTreeMap<String, Row> = BTreeMap::new();
    let mut keys: Vec<(&String, &Evidence<'_>)> = all.iter().collect();
    keys.sort_by_key(|(_, of)| (of.beside.is_some(), Reverse(of.level)));
    // The outcome for a key, in its own row or in looser ones.
    let mut found: BTreeMap<&String, Vec<char>> = BTreeMap::new();
    for (key, of) in keys {
        let unknown = || vec!['-'; clients.len()];
        let own: Vec<(char, String)> = if let Some(kind) = of.beside {
            let mut looser = (of.level..=LOOSEST).map(|level| loosened(kind, level));
            let alone = looser.find_map(|key| found.get(&key).cloned()).unwrap_or_else(unknown);
            let words = clients.iter().zip(alone);
            words.map(|(client, alone)| (word_among_others(client, of, alone), String::new())).collect()
        } else {
            let kinds: Vec<String> = key.split(ImpactFile::AND).map(str::to_owned).collect();
            let loosest = all.get(&alike(&kinds, LOOSEST).join(ImpactFile::AND)).filter(|_| of.level == 0);
            clients.iter().map(|client| word(client, of, loosest)).collect()
        };
        let beyond = looser.get(key).and_then(|looser| found.get(looser)).cloned().unwrap_or_else(unknown);
        let say_more = own.iter().zip(&beyond).any(|((letter, _), beyond)| !['-', *beyond].contains(letter));
        let both = own.iter().zip(&beyond).map(|((own, _), beyond)| if *own == '-' { *beyond } else { *own });
        found.insert(key, both.collect());
        if say_more || ImpactFile::is_exact(key) {
            words.insert(key.clone(), Row { of_clients: own, say_more });
        }
    }
    words
}

fn loosened(kind: &str, level: usize) -> String {
    alike(&[kind.to_owned()], level).join(ImpactFile::AND)
}

/// The outcomes by the keys of the rows that rest on them; and the next looser key of each.
fn by_key(evidence: &[Outcomes]) -> (BTreeMap<String, Evidence<'_>>, BTreeMap<String, String>) {
    let mut all: BTreeMap<String, Evidence<'_>> = BTreeMap::new();
    let mut looser: BTreeMap<String, String> = BTreeMap::new();
    for one in evidence.iter().filter(|one| !one.kinds.is_empty()) {
        let joined = |key: Vec<String>| key.join(ImpactFile::AND);
        let own = (0..=LOOSEST).map(|level| joined(alike(&one.kinds, level))).collect();
        let beside = one.kinds.iter().zip(among_others(&one.kinds)).map(|(kind, keys)| {
            let chain: Vec<String> = keys.into_iter().map(joined).collect();
            (Some(kind.as_str()), chain)
        });
        let mut keys: BTreeMap<String, (usize, Option<&str>)> = BTreeMap::new();
        for (kind, chain) in std::iter::once((None, own)).chain(beside) {
            for (level, key) in chain.iter().enumerate() {
                keys.entry(key.clone()).or_insert((level, kind));
                if let Some(next) = chain.get(level + 1).filter(|next| *next != key) {
                    looser.insert(key.clone(), next.clone());
                }
            }
        }
        for (key, (level, beside)) in keys {
            let empty = || Evidence { level, beside, streams: Vec::new() };
            all.entry(key).or_insert_with(empty).streams.push(one);
        }
    }
    (all, looser)
}

/// What a client did with streams that share a row.
struct Plays<'p> {
    outcomes: BTreeSet<&'p str>,
    count: usize,
    reports: usize,
    goldens: usize,
    damages: usize,
    /// What most of them did, besides none.
    most: (&'p str, String),
}

impl<'p> Plays<'p> {
    fn of(client: &str, of: &Evidence<'p>) -> Self {
        let told = of.streams.iter().flat_map(|one| one.clients.iter().map(move |told| (*one, told)));
        let mut all: Vec<(&Outcomes, &str, &str)> = told
            .filter(|(_, (name, outcome, _))| name == client && outcome != NOT_PLAYED)
            .map(|(one, (_, outcome, detail))| (one, outcome.as_str(), detail.as_str()))
            .collect();
        if of.level <= CLOSE {
            without_accidents(&mut all);
        }
        let mut times: BTreeMap<(&str, String), usize> = BTreeMap::new();
        for (_, outcome, detail) in all.iter().filter(|(_, outcome, _)| *outcome != "unaffected") {
            *times.entry((outcome, shown(detail))).or_default() += 1;
        }
        let damage = |one: &Outcomes| shape(&one.name).split(' ').next().map(str::to_owned);
        Self {
            outcomes: all.iter().map(|(_, outcome, _)| *outcome).collect(),
            count: all.len(),
            reports: all.iter().filter(|(_, outcome, _)| *outcome == "reports").count(),
            goldens: all.iter().map(|(one, ..)| &*one.golden).collect::<BTreeSet<_>>().len(),
            damages: all.iter().filter_map(|(one, ..)| damage(one)).collect::<BTreeSet<_>>().len(),
            most: times.into_iter().max_by_key(|(_, times)| *times).map(|(told, _)| told).unwrap_or_default(),
        }
    }

    fn are_within(&self, some: &[&str]) -> bool {
        self.outcomes.iter().all(|outcome| some.contains(outcome))
    }

    /// The same error is a report where the damage also cuts the response.
    fn break_it(&self) -> bool {
        let fail = self.are_within(&["fails", "reports"]) && self.reports * 4 <= self.count;
        self.are_within(&["fails", "wrong"]) || fail
    }

    fn are_enough(&self, least: Least) -> bool {
        let are = |(count, goldens, damages): &(usize, usize, usize)| {
            self.count >= *count && self.goldens >= *goldens && self.damages >= *damages
        };
        least.iter().any(are)
    }

    fn breaking_letter(&self) -> char {
        if self.most.0 == "fails" { 'x' } else { 'w' }
    }
}

/// If a client reads nearly all streams, the few plays in which it breaks are left out, and the other way round.
fn without_accidents(all: &mut Vec<(&Outcomes, &str, &str)>) {
    for some in [["fails", "wrong"], ["unaffected", "passes-on"]] {
        let count = all.iter().filter(|(_, outcome, _)| some.contains(outcome)).count();
        if count * ACCIDENT <= all.len() {
            all.retain(|(_, outcome, _)| !some.contains(outcome));
        }
    }
}

/// The letter of a client for streams that share a row, with the detail that most of them have.
fn word(client: &str, of: &Evidence<'_>, loosest: Option<&Evidence<'_>>) -> (char, String) {
    let plays = Plays::of(client, of);
    let level = of.level;
    let (letter, least) = match () {
        () if plays.count == 0 => return ('-', String::new()),
        () if plays.break_it() => (plays.breaking_letter(), BREAKING),
        // Where streams differ, no looser row is asked.
        () if !plays.are_within(&UNBROKEN) => return ('v', String::new()),
        () if plays.are_within(&["unaffected"]) => ('.', SOUND),
        () if plays.are_within(&["reports"]) => ('r', REPORTING),
        () if plays.are_within(&["passes-on"]) => ('p', PASSING),
        () => ('p', PASSING_SOME),
    };
    let is_sound_as_all = letter == '.'
        && plays.are_enough(SOUND_AS_ALL)
        && loosest.is_some_and(|all| Plays::of(client, all).are_within(&UNBROKEN));
    if !plays.are_enough(least[level]) && !is_sound_as_all {
        return ('-', String::new());
    }
    (letter, if ['.', 'r'].contains(&letter) { String::new() } else { plays.most.1 })
}

/// The letter of a client for a finding among any others, if it does there what it does alone.
fn word_among_others(client: &str, of: &Evidence<'_>, alone: char) -> char {
    let plays = Plays::of(client, of);
    let is_same = plays.are_enough(AMONG_OTHERS);
    match alone {
        'x' | 'w' if plays.break_it() && is_same => plays.breaking_letter(),
        '.' | 'p' if plays.are_within(&UNBROKEN) && is_same => alone,
        '-' | 'v' if plays.break_it() && plays.are_enough(ONLY_AMONG_OTHERS) => plays.breaking_letter(),
        _ => '-',
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

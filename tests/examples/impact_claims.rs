//! Compares what `conformance check` says of clients with what they do, on damaged recordings.
//!
//! `cargo run -p tests --example impact_claims -- CACHE [--seed=N] [--streams=N] [--no-play|--again] [API...]`, where CACHE has the
//! clients that `conformance impact --install` installs, and the corpus is beside the repository. Good recordings are damaged by
//! chance and played: one half of them with an odd seed, and the other with an even one. What was played is kept in `target/impact`.
//! Rows of `impact.toml` rest on odd seeds, too, so that even ones judge them.
//!
//! With an odd seed from 1001 on, many more streams are made, and those are played of which what was played tells too little. Rows
//! rest on these, too. With `--again`, what was played is played anew, because clients are judged in another way.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use catalogue::{CLIENTS, Level};
use checker::{Effect, Finding, LOOSEST, RuleSets, Unmeasured, alike, effects, needed};
use clients::Recorded;
use codegen::formats::ImpactFile;
use conformance::recordings::Checking;
use spec::Dialect;
use tests::chance::{self, Chance};
use tests::corpus;
use tests::damages::Stream;
use tests::measuring::{Outcomes, Samples, Words, evidence, journal, recorded_journal};
use tests::playing::{act, theatre, told};
use tests::random::Xorshift;

/// Number of recordings that are damaged.
const BASES: usize = 45;
/// Maximum number of streams with the same damage to the same value.
const ALIKE: usize = 2;
/// Maximum size of a recording.
const LARGEST: usize = 60_000;
/// From this seed on, streams are played of which something is not known.
const SEEKING: u64 = 1001;
/// Number of streams among which these are sought.
const CANDIDATES: usize = 60_000;
/// Maximum number of them whose kinds of findings are alike, and the part of them that is played where there are many.
const OF_KINDS: usize = 8;
const PART: usize = 8;

/// A damaged recording.
struct Damaged {
    name: String,
    base: usize,
    dialect: &'static Dialect,
    bytes: Vec<u8>,
    findings: Vec<Finding>,
}

/// Good recordings of an API.
struct Good {
    streams: Vec<Stream>,
    dialects: Vec<&'static Dialect>,
}

fn main() -> io::Result<()> {
    let mut words = env::args().skip(1);
    let cache = PathBuf::from(words.next().expect("the folder of the installed clients"));
    let (flags, apis): (Vec<String>, Vec<String>) = words.partition(|word| word.starts_with("--"));
    let number = |name: &str, usual: u64| {
        let given = flags.iter().find_map(|flag| flag.strip_prefix(name)?.strip_prefix('='));
        given.map_or(usual, |value| value.parse().expect("a number"))
    };
    let (seed, count) = (number("--seed", 2), number("--streams", 400));
    let count = usize::try_from(count).expect("few streams");
    let has = |name: &str| flags.iter().any(|flag| flag == name);
    let is_played = !has("--no-play");
    for api in ["chat", "gemini", "messages", "responses"] {
        if apis.is_empty() || apis.iter().any(|meant| meant == api) {
            let good = Good::of(api);
            let folder = corpus::repository().join("target/impact");
            fs::create_dir_all(&folder)?;
            let path = folder.join(recorded_journal(api, Some(seed)));
            let known: BTreeSet<String> = journal(&path)?.into_iter().map(|one| one.name).collect();
            let damaged = match seed {
                0..SEEKING => good.damaged(seed, count),
                _ if is_played && known.is_empty() => good.sought(api, seed, count, &folder)?,
                _ => good.candidates(seed, |name| known.contains(name)).collect(),
            };
            if is_played && has("--again") && path.exists() {
                fs::rename(&path, path.with_extension("before"))?;
            }
            if is_played {
                play(api, &cache, &path, &good.streams, &damaged)?;
            }
            renew(&path, &damaged)?;
            writeln!(io::stdout(), "{api}: {}", rates(&journal(&path)?, &damaged))?;
        }
    }
    Ok(())
}

impl Good {
    fn of(api: &str) -> Self {
        let folder = corpus::of_api(api).expect("there is a corpus beside the repository");
        let mut good = Self { streams: Vec::new(), dialects: Vec::new() };
        let is_meant = |of: &corpus::Recording| {
            of.class == "real" && Path::new(&of.file).extension().is_some_and(|end| end == "sse")
        };
        for recording in corpus::index(&folder).into_iter().filter(is_meant) {
            let mut stream = Stream::recorded(&folder.join(&recording.file), api == "chat");
            stream.name = recording.file;
            let (dialect, findings) = checked(stream.text.as_bytes());
            let is_good = stream.text.len() < LARGEST && findings.iter().all(|one| one.level == Level::May);
            if let Some(dialect) = dialect.filter(|dialect| is_good && dialect.api.name == api) {
                good.streams.push(stream);
                good.dialects.push(dialect);
            }
        }
        good
    }

    /// Damaged ones that have findings.
    fn damaged(&self, seed: u64, count: usize) -> Vec<Damaged> {
        let mut random = Xorshift::new(seed);
        let half = half(seed);
        let bases: Vec<usize> = (0..BASES).map(|_| random.below(self.streams.len() / 2) * 2 + half).collect();
        let mut times: BTreeMap<String, usize> = BTreeMap::new();
        let mut all = Vec::new();
        for _ in 0..count * 200 {
            if all.len() == count {
                break;
            }
            let base = *random.pick(&bases);
            let Some(made) = chance::any(&self.streams[base], &self.streams, &mut random) else { continue };
            let most = if made.name.contains(' ') { ALIKE } else { count / 60 };
            let times = times.entry(made.name.clone()).or_default();
            let (_, findings) = checked(&made.bytes);
            if *times < most && !findings.is_empty() {
                *times += 1;
                all.push(self.one(made.name, base, made.bytes, findings));
            }
        }
        all.sort_by_key(|one| one.base);
        for (nth, one) in all.iter_mut().enumerate() {
            one.name = format!("#{nth} {}", one.name);
        }
        all
    }

    fn one(&self, name: String, base: usize, bytes: Vec<u8>, findings: Vec<Finding>) -> Damaged {
        Damaged { name, base, dialect: self.dialects[base], bytes, findings }
    }

    /// The candidates of a seed with some names.
    fn candidates(&self, seed: u64, is_meant: impl Fn(&str) -> bool) -> impl Iterator<Item = Damaged> {
        let mut random = Xorshift::new(seed);
        let made = move |nth: usize| {
            let base = random.below(self.streams.len() / 2) * 2 + half(seed);
            let Chance { name, bytes } = chance::any(&self.streams[base], &self.streams, &mut random)?;
            let name = format!("#{nth} {name}");
            is_meant(&name).then(|| {
                let (_, findings) = checked(&bytes);
                self.one(name, base, bytes, findings)
            })
        };
        (0..CANDIDATES).filter_map(made)
    }

    /// The candidates that could tell more of some client: the most frequent kinds of findings first, on different bases.
    fn sought(&self, api: &str, seed: u64, count: usize, folder: &Path) -> io::Result<Vec<Damaged>> {
        let words = Words::of(api, &evidence(api, &Samples::of(api), folder)?);
        let mut of_kinds: BTreeMap<String, Vec<Candidate>> = BTreeMap::new();
        for one in self.candidates(seed, |_| true) {
            let kinds = needed(&one.findings.iter().collect::<Vec<_>>());
            if !kinds.is_empty() && words.are_wanted(&kinds) {
                let key = alike(&kinds, LOOSEST).join(ImpactFile::AND);
                of_kinds.entry(key).or_default().push((one.base, one.name, kinds));
            }
        }
        let mut groups: Vec<_> = of_kinds.into_values().collect();
        groups.sort_by_key(|group| Reverse(group.len()));
        let chosen: BTreeSet<&str> = groups.iter().flat_map(|group| different(group)).take(count).collect();
        let mut all: Vec<Damaged> = self.candidates(seed, |name| chosen.contains(name)).collect();
        all.sort_by_key(|one| one.base);
        Ok(all)
    }
}

/// The base, the name, and the kinds of findings of a stream.
type Candidate = (usize, String, Vec<String>);

/// A few streams of a group: other bases and other kinds before those that are chosen already.
fn different(group: &[Candidate]) -> Vec<&str> {
    let mut left: Vec<_> = group.iter().collect();
    let (mut bases, mut keys) = (BTreeMap::new(), BTreeMap::new());
    let mut chosen = Vec::new();
    while chosen.len() < OF_KINDS.max(group.len() / PART) {
        let times = |(base, _, kinds): &&Candidate| -> usize {
            bases.get(base).copied().unwrap_or(0) * 2 + keys.get(kinds).copied().unwrap_or(0)
        };
        let Some(at) = (0..left.len()).min_by_key(|at| times(&left[*at])) else { break };
        let (base, name, kinds) = left.remove(at);
        *bases.entry(base).or_insert(0) += 1;
        *keys.entry(kinds).or_insert(0) += 1;
        chosen.push(name.as_str());
    }
    chosen
}

/// One half of the recordings makes rows, and the other judges them.
fn half(seed: u64) -> usize {
    usize::try_from(seed % 2).unwrap_or_default()
}

/// The recognised dialect and the findings.
fn checked(bytes: &[u8]) -> (Option<&'static Dialect>, Vec<Finding>) {
    let sets = RuleSets::new(BTreeMap::new(), |_| true);
    let report = Checking::recognising(&sets, false).check("damaged".to_owned(), &mut { bytes }, None);
    let dialect = report.dialects.first().and_then(|seen| spec::dialect(&seen.dialect));
    (dialect, report.findings)
}

/// Plays what the journal lacks.
fn play(api: &str, cache: &Path, path: &PathBuf, streams: &[Stream], all: &[Damaged]) -> io::Result<()> {
    let theatre = theatre(api, cache);
    let known: BTreeSet<String> = journal(path)?.into_iter().map(|one| one.name).collect();
    let new: Vec<&Damaged> = all.iter().filter(|one| !known.contains(&one.name)).collect();
    let recorded: Vec<Recorded> = new
        .iter()
        .map(|one| {
            let rules: BTreeSet<String> = one.findings.iter().map(|one| one.rule.to_string()).collect();
            Recorded {
                act: act(&one.bytes),
                dialect: one.dialect,
                rules: rules.into_iter().collect(),
                intact: Some(Arc::new(act(streams[one.base].text.as_bytes()))),
            }
        })
        .collect();
    let mut file = File::options().create(true).append(true).open(path)?;
    for (one, (_, clients)) in new.into_iter().zip(theatre.play(recorded)?) {
        let kinds = needed(&one.findings.iter().collect::<Vec<_>>());
        let golden = streams[one.base].name.clone();
        let outcomes = Outcomes { golden, name: one.name.clone(), kinds, clients: told(clients) };
        writeln!(file, "{}", serde_json::to_string(&outcomes)?)?;
    }
    Ok(())
}

/// Writes the kinds of today's findings into the journal: rows rest on them, and rules change.
fn renew(path: &PathBuf, all: &[Damaged]) -> io::Result<()> {
    let found = all.iter().map(|one| (one.name.clone(), needed(&one.findings.iter().collect::<Vec<_>>())));
    let found: BTreeMap<String, Vec<String>> = found.collect();
    let mut lines = String::new();
    for mut one in journal(path)? {
        if let Some(kinds) = found.get(&one.name) {
            one.kinds.clone_from(kinds);
        }
        lines += &serde_json::to_string(&one)?;
        lines.push('\n');
    }
    fs::write(path, lines)
}

/// Returns how often nothing was said of a client that was played, and how often something false; and what that was.
fn rates(journal: &[Outcomes], all: &[Damaged]) -> String {
    let played: BTreeMap<&str, &Outcomes> = journal.iter().map(|one| (&*one.name, one)).collect();
    let (mut pairs, mut unknown) = (0, BTreeMap::new());
    // Of those that are said to break, to pass on, and to be unaffected: all, the false ones, and those that pass something on.
    let (mut broken, mut passing, mut unaffected) = ([0; 3], [0; 3], [0; 3]);
    let mut wrong = String::new();
    for one in all {
        let name = &one.name;
        let Some(outcomes) = played.get(name.as_str()) else { continue };
        let effects = effects(&one.findings.iter().collect::<Vec<_>>());
        for (client, outcome, detail) in
            outcomes.clients.iter().filter(|(_, outcome, _)| outcome != "not-played")
        {
            let Some(at) = CLIENTS.iter().position(|known| known.name == *client) else { continue };
            let breaks = matches!(outcome.as_str(), "fails" | "wrong");
            pairs += 1;
            let (counted, is_false) = match effects[at] {
                Effect::Fails(_) | Effect::Wrong(_) => (&mut broken, outcome == "unaffected"),
                Effect::PassesOn(_) | Effect::Reports => (&mut passing, breaks),
                Effect::Unaffected => (&mut unaffected, breaks),
                Effect::IsReported(_) | Effect::NotMeasured(_) => {
                    let why = if effects[at] == Effect::NotMeasured(Unmeasured::Varies) {
                        "plays differ"
                    } else {
                        "too few plays"
                    };
                    let of = if outcomes.kinds.len() < 2 { "of one finding" } else { "of several" };
                    *unknown.entry((why, of)).or_insert(0) += 1;
                    continue;
                }
            };
            counted[0] += 1;
            counted[2] += usize::from(matches!(outcome.as_str(), "passes-on" | "reports"));
            if is_false {
                counted[1] += 1;
                let kinds = outcomes.kinds.join(" & ");
                let _ = write!(
                    wrong,
                    "\n  {client}, {outcome} ({detail}): {name} of {}: {kinds}",
                    outcomes.golden
                );
            }
        }
    }
    let share = |part: usize, of: usize| {
        let per_mille = part * 1000 / of.max(1);
        format!("{}.{} %", per_mille / 10, per_mille % 10)
    };
    let told = |[all, wrong, passed]: [usize; 3]| {
        format!("{all}, {} false, {} pass on or report", share(wrong, all), share(passed, all))
    };
    let causes: Vec<String> =
        unknown.iter().map(|((why, of), times)| format!("{why} {of} {}", share(*times, pairs))).collect();
    format!(
        "{pairs} pairs, {} not measured ({}); breaks: {}; passes on or reports: {}, {} false; not affected: {}{wrong}",
        share(unknown.values().sum(), pairs),
        causes.join(", "),
        told(broken),
        passing[0],
        share(passing[1], passing[0]),
        told(unaffected)
    )
}

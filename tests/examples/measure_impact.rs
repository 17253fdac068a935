//! Plays samples of all that can be wrong with a stream to real clients, and writes what each did into `impact.toml`.
//!
//! `cargo run -p tests --example measure_impact -- CACHE [--no-play] [API...]`, where CACHE is the folder in which
//! `conformance impact --install` has installed the clients. Outcomes are kept in `target/impact`, and nothing is played again while
//! the clients stay the same. With `--no-play`, the file is written from what is kept.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clients::{Recorded, Theatre};
use codegen::formats::ImpactFile;
use conformance::gateway::Act;
use tests::corpus;
use tests::measuring::{
    HARMLESS, Made, Outcomes, Samples, Words, evidence, journal, rows_file, samples_journal, table,
};
use tests::playing::{act, theatre, told};
use tests::samples::shape;

/// Number of samples to play for the same kinds of findings.
const SAMPLES: usize = 4;
/// Number of samples that are played at once.
const PORTION: usize = 1000;

fn main() -> io::Result<()> {
    let mut words = env::args().skip(1);
    let cache = PathBuf::from(words.next().expect("the folder of the installed clients"));
    let (flags, apis): (Vec<String>, Vec<String>) = words.partition(|word| word.starts_with("--"));
    let is_played = !flags.iter().any(|flag| flag == "--no-play");
    for api in ["chat", "gemini", "messages", "responses"] {
        if apis.is_empty() || apis.iter().any(|meant| meant == api) {
            measure(api, &cache, is_played)?;
        }
    }
    Ok(())
}

fn measure(api: &str, cache: &Path, is_played: bool) -> io::Result<()> {
    let theatre = theatre(api, cache);
    let samples = Samples::of(api);
    let folder = corpus::repository().join("target/impact");
    fs::create_dir_all(&folder)?;
    let path = folder.join(samples_journal(api));
    let known = journal(&path)?;
    let (soundness, versions) = pilot(&theatre, &samples)?;
    let played: BTreeSet<(String, String)> =
        known.iter().map(|one| (one.golden.clone(), one.name.clone())).collect();
    let is_new =
        |made: &&Made| !played.contains(&(samples.goldens[made.golden].name.clone(), made.name.clone()));
    let mut chosen: Vec<(&String, &Made)> = Vec::new();
    for (kinds, all) in &samples.by_kinds {
        let count = all.len() - all.iter().filter(is_new).count();
        let shapes = |some: &mut dyn Iterator<Item = &Made>| {
            some.map(|made| shape(&made.name)).collect::<BTreeSet<_>>()
        };
        let is_one_sided = shapes(&mut all.iter().filter(|made| !is_new(made))).len() < HARMLESS;
        let is_open = is_one_sided && shapes(&mut all.iter()).len() >= HARMLESS;
        let left = if is_open { SAMPLES } else { SAMPLES.saturating_sub(count) };
        let some = spread(all, &soundness).into_iter().filter(is_new).take(left);
        chosen.extend(some.map(|made| (kinds, made)));
    }
    chosen.retain(|_| is_played);
    chosen.sort_by_key(|(_, made)| made.golden);
    let mut progress = io::stderr();
    let (kinds, new) = (samples.by_kinds.len(), chosen.len());
    writeln!(progress, "{api}: {kinds} kinds, {new} streams to play, {} played", known.len())?;
    let intact: Vec<Arc<Act>> =
        samples.goldens.iter().map(|golden| Arc::new(act(golden.text.as_bytes()))).collect();
    let mut file = File::options().create(true).append(true).open(&path)?;
    for (number, portion) in chosen.chunks(PORTION).enumerate() {
        let recorded = portion.iter().map(|(kinds, made)| Recorded {
            act: act(&made.bytes),
            dialect: samples.dialect,
            rules: kinds
                .split(ImpactFile::AND)
                .filter_map(|kind| Some(kind.split_once(' ')?.0.to_owned()))
                .collect(),
            intact: Some(Arc::clone(&intact[made.golden])),
        });
        for ((_, made), (_, clients)) in portion.iter().zip(theatre.play(recorded.collect())?) {
            let outcomes = Outcomes {
                golden: samples.goldens[made.golden].name.clone(),
                name: made.name.clone(),
                kinds: Vec::new(),
                clients: told(clients),
            };
            writeln!(file, "{}", serde_json::to_string(&outcomes)?)?;
        }
        writeln!(progress, "{api}: {} of {new}", number * PORTION + portion.len())?;
    }
    let words = Words::of(api, &evidence(api, &samples, &folder)?);
    fs::write(rows_file(api), table(api, &samples, words, &versions))
}

/// Plays the good streams. Returns for how many clients each is unsound, and the versions of the clients.
fn pilot(theatre: &Theatre, samples: &Samples) -> io::Result<(Vec<usize>, BTreeMap<String, String>)> {
    let recorded = samples.goldens.iter().map(|golden| {
        let act = act(golden.text.as_bytes());
        let intact = Some(Arc::new(act.clone()));
        Recorded { act, dialect: samples.dialect, rules: Vec::new(), intact }
    });
    let (mut unsound, mut versions) = (Vec::new(), BTreeMap::new());
    for (_, clients) in theatre.play(recorded.collect())? {
        unsound.push(clients.iter().filter(|client| client.outcome.name() != "unaffected").count());
        versions.extend(clients.into_iter().filter_map(|client| Some((client.name, client.version?))));
    }
    Ok((unsound, versions))
}

/// Returns samples so that different damages of different good streams come first, and of these the ones that most clients read.
fn spread<'s>(all: &'s [Made], unsound: &[usize]) -> Vec<&'s Made> {
    let mut sorted: Vec<&Made> = all.iter().collect();
    sorted.sort_by_key(|made| unsound[made.golden]);
    let mut goldens: BTreeMap<usize, usize> = BTreeMap::new();
    let mut shapes: BTreeMap<String, usize> = BTreeMap::new();
    let mut ranked: Vec<&Made> = Vec::new();
    while !sorted.is_empty() {
        let seen = |made: &&Made| {
            goldens.get(&made.golden).copied().unwrap_or_default()
                + shapes.get(&shape(&made.name)).copied().unwrap_or_default()
        };
        let Some(at) = (0..sorted.len()).min_by_key(|at| seen(&sorted[*at])) else { break };
        let made = sorted.remove(at);
        *goldens.entry(made.golden).or_default() += 1;
        *shapes.entry(shape(&made.name)).or_default() += 1;
        ranked.push(made);
        if ranked.len() == SAMPLES {
            break;
        }
    }
    ranked
}

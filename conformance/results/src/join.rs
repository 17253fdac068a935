//! Joins the parts of a run of a client or of a gateway, made with `--shard`.

use super::between::{BetweenPair, BetweenRun, BetweenTest, Unaccounted};
use super::client::{ClientRun, ClientTally};
use crate::run::merge::{check_shards, merged_profile, refuse};
use crate::{LeftOut, Outcome, ProfileReport, Reason, Test, TestCause, Unmergeable};

const OTHER: &str = "what it tested, or its options, differ from those of the first report";

impl ClientRun {
    /// Joins all parts of a run.
    ///
    /// # Errors
    ///
    /// If they are not parts of one run, or one is missing.
    pub fn merge(runs: Vec<Self>) -> Result<Self, Unmergeable> {
        check_shards(&runs.iter().map(|run| run.shard).collect::<Vec<_>>())?;
        same(&runs, |run| Self {
            outcome: Outcome::default(),
            totals: ClientTally::default(),
            causes: Vec::new(),
            tests: Vec::new(),
            profiles: Vec::new(),
            stale: Vec::new(),
            shard: None,
            ms: 0,
            folder: None,
            ..run.clone()
        })?;
        let of_parts: Vec<&[ProfileReport]> = runs.iter().map(|run| &*run.profiles).collect();
        let of_all = |profile: &ProfileReport| {
            let mut merged = merged_profile(profile, &of_parts);
            // Its reasons are in the order of its cases.
            let place = |reason: &Reason| merged.scenarios.iter().position(|name| *name == reason.name);
            let mut reasons = std::mem::take(&mut merged.reasons);
            reasons.sort_by_key(place);
            ProfileReport { reasons, ..merged }
        };
        let profiles = runs[0].profiles.iter().map(of_all).collect();
        let mut whole = Self { profiles, shard: None, ms: 0, tests: Vec::new(), ..runs[0].clone() };
        (whole.stale, whole.folder) = (Vec::new(), None);
        for run in runs {
            whole.ms = whole.ms.max(run.ms);
            whole.stale.extend(run.stale);
            whole.tests.extend(within(run.tests, run.folder.as_deref()));
        }
        whole.tests.sort_by(|one, other| one.name.cmp(&other.name));
        whole.stale.sort_unstable();
        Ok(whole.concluded())
    }
}

impl BetweenRun {
    /// Joins all parts of a run: puts the tests in an order, and settles what only the whole run shows.
    ///
    /// # Errors
    ///
    /// If they are not parts of one run, or one is missing.
    pub fn merge<K: Ord>(
        runs: Vec<Self>,
        order: impl Fn(&BetweenTest) -> K,
        settle: impl FnOnce(&mut [BetweenTest]),
    ) -> Result<Self, Unmergeable> {
        check_shards(&runs.iter().map(|run| run.shard).collect::<Vec<_>>())?;
        // A gateway that is started for each part listens at another address.
        let has_own_address = |run: &Self| run.is_reference || !run.command.is_empty();
        same(&runs, |run| Self {
            url: if has_own_address(run) { String::new() } else { run.url.clone() },
            upstream_port: run.upstream_port.filter(|_| !has_own_address(run)),
            outcome: Outcome::default(),
            pairs: Vec::new(),
            causes: Vec::new(),
            tests: Vec::new(),
            unaccounted: Vec::new(),
            stale: Vec::new(),
            not_played: Vec::new(),
            shard: None,
            ms: 0,
            folder: None,
            typed: None,
            ..run.clone()
        })?;
        let mut whole = Self { shard: None, typed: None, folder: None, ..runs[0].clone() };
        (whole.tests, whole.stale, whole.causes) = (Vec::new(), Vec::new(), Vec::new());
        (whole.pairs, whole.unaccounted, whole.not_played) = (Vec::new(), Vec::new(), Vec::new());
        // Each cause with the name of its example.
        let mut known: Vec<(String, TestCause)> = Vec::new();
        for mut run in runs {
            for cause in std::mem::take(&mut run.causes) {
                known.extend(
                    run.first_of(&cause).map(|(test, _)| test.name.clone()).map(|name| (name, cause)),
                );
            }
            whole.ms = whole.ms.max(run.ms);
            whole.stale.extend(run.stale);
            run.pairs.into_iter().for_each(|pair| add_pair(&mut whole.pairs, pair));
            run.unaccounted.into_iter().for_each(|request| add_request(&mut whole.unaccounted, request));
            run.not_played.into_iter().for_each(|left| add_left_out(&mut whole.not_played, left));
            whole.tests.extend(within(run.tests, run.folder.as_deref()));
        }
        for test in &mut whole.tests {
            test.findings = std::mem::take(&mut test.about.unsettled);
        }
        whole.tests.sort_by_key(order);
        whole.stale.sort_unstable();
        let place = |pair: &BetweenPair| {
            whole
                .tests
                .iter()
                .position(|test| test.about.front == pair.front && test.about.upstream == pair.upstream)
        };
        whole.pairs.sort_by_key(place);
        settle(&mut whole.tests);
        let place = |name: &str| whole.tests.iter().position(|test| test.name == name);
        whole.causes = known
            .into_iter()
            .filter_map(|(name, cause)| Some(TestCause { first: [place(&name)?, cause.first[1]], ..cause }))
            .collect();
        Ok(whole.concluded())
    }
}

/// All parts must agree in what they have in common.
fn same<R: PartialEq>(runs: &[R], common: impl Fn(&R) -> R) -> Result<(), Unmergeable> {
    let first = runs.first().map(&common);
    let mut all = runs.iter().enumerate();
    all.try_for_each(|(at, run)| refuse(at, &[(Some(common(run)) != first, OTHER)]))
}

/// Their recordings stay in the folder of their part.
fn within<A>(tests: Vec<Test<A>>, folder: Option<&str>) -> impl Iterator<Item = Test<A>> {
    tests.into_iter().map(move |mut test| {
        if let Some(folder) = folder {
            test.files =
                test.files.iter().map(|file| format!("{}/{file}", folder.trim_end_matches('/'))).collect();
        }
        test
    })
}

fn add_pair(all: &mut Vec<BetweenPair>, pair: BetweenPair) {
    if !all.iter().any(|known| known.front == pair.front && known.upstream == pair.upstream) {
        all.push(pair);
    }
}

fn add_request(all: &mut Vec<Unaccounted>, request: Unaccounted) {
    let is_it = |known: &&mut Unaccounted| known.request == request.request && known.body == request.body;
    match all.iter_mut().find(is_it) {
        Some(known) => known.times += request.times,
        None => all.push(request),
    }
}

fn add_left_out(all: &mut Vec<LeftOut>, left: LeftOut) {
    if !all.contains(&left) {
        all.push(left);
    }
}

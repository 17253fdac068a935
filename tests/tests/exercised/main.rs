//! What goldens and the reference gateway exercise of the lifecycles, and which features reach it.

mod unnoticed;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use catalogue::Scenario;
use conformance::capture::Format;
use conformance::evidence::Evidence;
use conformance::gateway::Settings;
use conformance::goldens::GOLDENS;
use conformance::recordings::Checking;
use conformance::results::{Exercised, Transport};
use conformance::{Rules, Suite};
use grammar::{Claim, Lifecycle, Walk, Window, exercised};
use spec::Dialect;
use spec::table::Fallback;
use tests::generated::{is_fresh, is_part_fresh};

type Windows = BTreeSet<(&'static str, Window)>;
type Features = BTreeSet<&'static str>;

/// Returns the dialects of the first parties.
fn usual() -> impl Iterator<Item = &'static Dialect> {
    spec::DIALECTS.iter().copied().filter(|dialect| dialect.fallback != Fallback::None)
}

fn walked(dialect: &'static Dialect, bytes: &[u8], format: Format) -> Windows {
    let mut walk = Walk::default();
    let mut checking = Checking::new(&Rules::of(dialect), false);
    checking.check_seen_by(String::new(), &mut &*bytes, Some(format), &mut walk);
    walk.windows
}

/// The run of all scenarios against the reference gateway.
struct Reference {
    dialect: &'static Dialect,
    /// What each exchange went through, with the features that its scenario needs.
    exchanges: Vec<(Features, Windows)>,
}

impl Reference {
    fn run(dialect: &'static Dialect) -> Self {
        let out: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("exercised").join(dialect.name);
        Suite::reference(Settings::new(dialect))
            .seed("0")
            .replace(true)
            .out(&out)
            .judge()
            .expect("it can be run");
        let evidence = Evidence::open(&out);
        let run = evidence.run().expect("it was written");
        let exchange = |file: &str, case: &str| {
            let scenario = catalogue::scenario_in(Transport::scenario(case), dialect).expect("it is known");
            let needs =
                std::iter::successors(Some(scenario), |scenario: &&'static Scenario| scenario.before());
            let bytes = evidence.read(file).expect("it was written");
            let features = needs.flat_map(|scenario| scenario.features.iter().copied()).collect();
            (features, walked(dialect, &bytes, Format::Exchange))
        };
        let exchanges = run.exchanges.iter().map(|kept| exchange(&kept.file, &kept.case)).collect();
        Self { dialect, exchanges }
    }

    /// Returns the lines of the steps that it reaches.
    fn reached(&self) -> String {
        let legal: BTreeSet<_> = Lifecycle::of(self.dialect)
            .windows
            .keys()
            .map(|window| (window.lane, window.stages[2]))
            .collect();
        let mut needs: BTreeMap<_, BTreeSet<&Features>> = BTreeMap::new();
        for (features, windows) in &self.exchanges {
            for (_, window) in windows {
                needs.entry((window.lane, window.stages[2])).or_default().insert(features);
            }
        }
        let mut text = String::new();
        for ((lane, stage), needs) in needs.into_iter().filter(|(step, _)| legal.contains(step)) {
            let is_least =
                |own: &&&Features| !needs.iter().any(|other| *other != **own && other.is_subset(own));
            let needs = needs.iter().filter(is_least).map(|features| match features.len() {
                0 => "always".to_owned(),
                _ => features.iter().copied().collect::<Vec<_>>().join("+"),
            });
            let needs = needs.collect::<Vec<_>>().join(", ");
            let stage = stage.expect("a window ends with a step");
            let _ = writeln!(text, "{}: {lane}: {stage}: {needs}", self.dialect.api.name);
        }
        text
    }

    fn all(&self) -> Windows {
        self.exchanges.iter().flat_map(|(_, windows)| windows.iter().copied()).collect()
    }
}

/// Returns what the goldens of a dialect go through.
fn of_goldens(dialect: &'static Dialect) -> Windows {
    let is_meant = |golden: &&conformance::goldens::Golden| {
        matches!(golden.format, Format::Sse | Format::WebSocket) && golden.holds_for(dialect.name)
    };
    GOLDENS.iter().filter(is_meant).flat_map(|golden| walked(dialect, golden.bytes, golden.format)).collect()
}

fn row(dialect: &'static Dialect, windows: &Windows) -> Exercised {
    exercised(dialect, windows, Claim::All).expect("there is a lifecycle")
}

#[test]
fn what_goldens_and_the_reference_gateway_exercise() {
    let by = "exercised";
    let mut reached = format!(
        "# Written by a test: BLESS=1 cargo test -p tests --test {by}\n\
         # <api>: <type of item, block or choice; or the root>: <step>: <features of scenarios whose answers have it>\n"
    );
    let mut rows = "\n| dialect | what | legal | in goldens | in a run against the reference gateway |\n\
                    |---|---|---|---|---|\n"
        .to_owned();
    for dialect in usual() {
        let reference = Reference::run(dialect);
        reached += &reference.reached();
        let (goldens, run) = (row(dialect, &of_goldens(dialect)), row(dialect, &reference.all()));
        for (what, share) in [
            ("steps", (|of| of.states) as fn(&Exercised) -> _),
            ("transitions", |of| of.transitions),
            ("pairs of transitions", |of| of.pairs),
            ("types of events", |of| of.events),
            ("types of values", |of| of.types),
        ] {
            let (goldens, run) = (share(&goldens), share(&run));
            let (legal, goldens, run) = (goldens.reachable, goldens.exercised, run.exercised);
            let _ = writeln!(rows, "| {} | {what} | {legal} | {goldens} | {run} |", dialect.name);
        }
    }
    rows.push('\n');
    is_fresh("spec/reached.txt", &reached, by);
    is_part_fresh("docs/coverage.md", ("<!-- exercised -->\n", "<!-- /exercised -->"), &rows, by);
}

/// What only a feature reaches is not counted without it.
#[test]
fn features_decide_what_is_reachable() {
    let dialect = spec::dialect("openai").expect("it is known");
    let share = |allows: &dyn Fn(&str) -> bool| {
        exercised(dialect, &Windows::new(), Claim::Features(allows))
            .expect("there is a lifecycle")
            .transitions
    };
    let (all, none) = (share(&|_| true), share(&|_| false));
    let tools = share(&|feature| feature == "tools");
    assert!(none.reachable > 0 && none.reachable < tools.reachable && tools.reachable < all.reachable);
    assert_eq!((none.exercised, all.exercised), (0, 0));
    let texts =
        fs::read_to_string(tests::corpus::repository().join("spec/reached.txt")).expect("it is there");
    assert!(texts.lines().any(|line| line.starts_with("responses: message: ") && line.ends_with(": always")));
}

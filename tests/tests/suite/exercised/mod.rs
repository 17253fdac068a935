//! What goldens and the reference gateway exercise of the lifecycles, and which features reach it.

mod unnoticed;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Write as _};
use std::fs;
use std::path::{Path, PathBuf};

use catalogue::{Scenario, VALUES};
use conformance::capture::Format;
use conformance::evidence::Evidence;
use conformance::gateway::Settings;
use conformance::goldens::GOLDENS;
use conformance::recordings::Checking;
use conformance::results::{Exercised, Transport};
use conformance::{Rules, Suite};
use grammar::{Claim, Lifecycle, Observed, Walk, Window, exercised};
use spec::Dialect;
use spec::table::Fallback;
use tests::generated::{is_fresh, is_part_fresh};

type Features = BTreeSet<&'static str>;
/// Of each step, by lane, the features of each exchange that has it.
type Needs<'e, S> = BTreeMap<(&'static str, S), BTreeSet<&'e Features>>;

/// Returns the dialects of the first parties.
fn usual() -> impl Iterator<Item = &'static Dialect> {
    spec::DIALECTS.iter().copied().filter(|dialect| dialect.fallback != Fallback::None)
}

fn walked(dialect: &'static Dialect, bytes: &[u8], format: Format) -> Observed {
    let mut walk = Walk::default();
    let mut checking = Checking::new(&Rules::of(dialect), false);
    checking.check_seen_by(String::new(), &mut &*bytes, Some(format), &mut walk);
    walk.observed
}

/// The run of all scenarios against the reference gateway.
struct Reference {
    dialect: &'static Dialect,
    /// What each exchange went through, with the features that its scenario needs.
    exchanges: Vec<(Features, Observed)>,
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
        let lifecycle = Lifecycle::of(self.dialect);
        let of_window = |window: &Window| (window.lane, window.stages[2].expect("a window ends with a step"));
        let legal: BTreeSet<_> = lifecycle.windows.keys().map(of_window).collect();
        let (mut steps, mut values) = (Needs::new(), Needs::new());
        for (features, observed) in &self.exchanges {
            let due = observed.windows.iter().map(|(_, window)| of_window(window));
            for step in due.filter(|step| legal.contains(step)) {
                steps.entry(step).or_default().insert(features);
            }
            let due = observed.values.iter().map(|(_, value)| *value);
            for value in due.filter(|value| lifecycle.values.contains(value)) {
                values.entry((VALUES, value)).or_default().insert(features);
            }
        }
        self.lines(steps) + &self.lines(values)
    }

    fn lines(&self, needs: Needs<'_, impl Display>) -> String {
        let mut text = String::new();
        for ((lane, step), needs) in needs {
            let is_least =
                |own: &&&Features| !needs.iter().any(|other| *other != **own && other.is_subset(own));
            let needs = needs.iter().filter(is_least).map(|features| match features.len() {
                0 => "always".to_owned(),
                _ => features.iter().copied().collect::<Vec<_>>().join("+"),
            });
            let needs = needs.collect::<Vec<_>>().join(", ");
            let _ = writeln!(text, "{}: {lane}: {step}: {needs}", self.dialect.api.name);
        }
        text
    }

    fn all(&self) -> Observed {
        self.exchanges.iter().map(|(_, observed)| observed).collect()
    }
}

/// Returns what the goldens of a dialect go through.
fn of_goldens(dialect: &'static Dialect) -> Observed {
    let is_meant = |golden: &&conformance::goldens::Golden| {
        matches!(golden.format, Format::Sse | Format::WebSocket) && golden.holds_for(dialect.name)
    };
    let goldens = GOLDENS.iter().filter(is_meant);
    let all: Vec<_> = goldens.map(|golden| walked(dialect, golden.bytes, golden.format)).collect();
    all.iter().collect()
}

fn row(dialect: &'static Dialect, observed: &Observed) -> Exercised {
    exercised(dialect, observed, Claim::All).expect("there is a lifecycle")
}

#[test]
fn what_goldens_and_the_reference_gateway_exercise() {
    let by = "exercised";
    let mut reached = format!(
        "# Written by a test: BLESS=1 cargo test -p tests --test suite {by}\n\
         # <api>: <type of item, block or choice; or the root>: <step>: <features of scenarios whose answers have it>\n\
         # <api>: {VALUES}: <member of an object of a type> = <enumeration value>: <the same>\n"
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
            ("enumeration values", |of| of.values),
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
        exercised(dialect, &Observed::default(), Claim::Features(allows)).expect("there is a lifecycle")
    };
    let (all, none) = (share(&|_| true), share(&|_| false));
    let tools = share(&|feature| feature == "tools");
    for of in [|of: &Exercised| of.transitions, |of: &Exercised| of.values] {
        let (all, none, tools) = (of(&all), of(&none), of(&tools));
        assert!(none.reachable > 0 && none.reachable < tools.reachable && tools.reachable < all.reachable);
        assert_eq!((none.exercised, all.exercised), (0, 0));
    }
    let texts =
        fs::read_to_string(tests::corpus::repository().join("spec/reached.txt")).expect("it is there");
    assert!(texts.lines().any(|line| line.starts_with("responses: message: ") && line.ends_with(": always")));
}

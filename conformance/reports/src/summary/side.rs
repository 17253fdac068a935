//! Several runs side by side, one for each dialect.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr;

use super::TABLE;
use crate::style::{Detail, Screen};
use crate::terminal::Page;
use catalogue::Level;
use results::text::{counted, visible};
use results::{LiveReport, ProfileState, Run, Tally, TwinsReport, UndecidedKind, Verdict};

/// The result of one of several runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    /// The title of its API.
    api: &'static str,
    dialect: String,
    trials: Tally,
    /// Number of profiles that passed, and of all that apply.
    profiles: (usize, usize),
    /// Number of broken clients; none if the endpoint could not be tested.
    broken: Option<usize>,
    is_without_path: bool,
}

impl Side {
    /// The result of a run.
    pub fn of(run: &Run) -> Self {
        let api = spec::dialect(&run.dialect).map_or("", |dialect| dialect.api.title);
        let due = run.matrix.profiles.iter().filter(|profile| profile.state != ProfileState::NotApplicable);
        let passed = due.clone().filter(|profile| profile.state == ProfileState::Passed).count();
        let is_untested =
            run.live.as_ref().is_some_and(|live| live.obstacle.is_some() && !live.has_verdict());
        let is_path =
            |live: &LiveReport| live.obstacle.as_ref().is_some_and(|it| it.class == UndecidedKind::Path);
        let broken = (!is_untested).then(|| run.broken_clients().len());
        Self {
            api,
            dialect: run.dialect.clone(),
            trials: run.totals.trials,
            profiles: (passed, due.count()),
            broken,
            is_without_path: is_untested && run.live.as_ref().is_some_and(is_path),
        }
    }

    /// Returns whether nothing answers at the path of the API.
    pub const fn is_without_path(&self) -> bool {
        self.is_without_path
    }

    /// The dialect, with the API if no other has the same one.
    fn name(&self, all: &[Self]) -> String {
        let is_alone = all.iter().filter(|side| side.api == self.api).count() == 1;
        visible(&if is_alone { format!("{} ({})", self.api, self.dialect) } else { self.dialect.clone() })
    }

    fn profiles(&self) -> String {
        match self.profiles {
            (_, 0) => "·".to_owned(),
            (passed, all) => format!("{passed} of {all}"),
        }
    }

    fn broken(&self) -> String {
        self.broken.map_or_else(|| "·".to_owned(), |broken| broken.to_string())
    }
}

/// Heads of the columns after the verdicts.
const PROFILES: &str = "profiles passed";
const CLIENTS: &str = "clients broken";
/// Maximum number of scenarios whose answers differ.
const TWINS: usize = 6;

/// The results of several runs as a table, and a line for each API that was not tested.
pub fn side_by_side(sides: &[Side], others: &[String], screen: Screen) -> String {
    let mut page = Page::new(screen, false);
    page.heading("side by side");
    // Many dialects of one API are too many for their titles.
    let is_short = sides.iter().any(|side| side.name(sides) == side.dialect);
    let names = sides.iter().map(|side| if is_short { visible(&side.dialect) } else { side.name(sides) });
    let names: Vec<String> = names.collect();
    let widest = names.iter().map(|name| name.width()).max().unwrap_or_default();
    let heads = Verdict::ALL.map(Verdict::word);
    let all: usize = heads.iter().map(|head| 2 + head.width()).sum();
    if page.width < TABLE.max(2 + widest + all + 4 + PROFILES.len() + CLIENTS.len()) {
        for (side, name) in sides.iter().zip(&names) {
            let (profiles, broken) = (side.profiles(), side.broken());
            page.row(2, 4, &format!("{name}: {}; {PROFILES} {profiles}; {CLIENTS} {broken}", side.trials));
        }
    } else {
        let _ = writeln!(page.out, "  {}  {}  {PROFILES}  {CLIENTS}", " ".repeat(widest), heads.join("  "));
        for (side, name) in sides.iter().zip(&names) {
            page.side(side, name, widest);
        }
    }
    for other in others {
        page.row(2, 4, &visible(other));
    }
    page.out
}

/// The results of several runs as a table in Markdown.
pub fn side_by_side_markdown(sides: &[Side]) -> String {
    let verdicts = Verdict::ALL.map(Verdict::word).join(" | ");
    let mut out = format!("# Side by side\n\n| API | {verdicts} | {PROFILES} | {CLIENTS} |\n|---|");
    out += &"---:|".repeat(Verdict::ALL.len() + 2);
    out.push('\n');
    for side in sides {
        let counts = Verdict::ALL.map(|verdict| side.trials.of(verdict).to_string()).join(" | ");
        let (name, profiles, broken) = (side.name(sides), side.profiles(), side.broken());
        let _ = writeln!(out, "| {name} | {counts} | {profiles} | {broken} |");
    }
    out + "\n"
}

/// Returns what the comparison of several runs found: the counts, and each difference that fails.
pub fn twins(report: &TwinsReport, detail: impl Into<Detail>, screen: Screen) -> String {
    let is_verbose = detail.into().is_verbose;
    let mut page = Page::new(screen, is_verbose);
    if report.twins.is_empty() {
        return page.out;
    }
    page.heading("the same scenario over each API");
    page.row(2, 4, &report.tally().to_string());
    let failed = report.twins.iter().filter(|twin| twin.judged.verdict == Verdict::Fail);
    let shown = failed.clone().take(if is_verbose { usize::MAX } else { TWINS });
    for twin in shown {
        page.row(2, 4, &visible(&format!("{}: {}", twin.name, twin.judged.reason)));
    }
    let more = failed.count().saturating_sub(if is_verbose { usize::MAX } else { TWINS });
    if more > 0 {
        page.row(2, 4, &format!("and {} (--verbose shows all)", counted(more as u64, "more difference")));
    }
    let noted = report.twins.iter().filter(|twin| !twin.notes.is_empty());
    if is_verbose {
        for twin in noted {
            page.row(2, 4, &visible(&format!("{}: note: {}", twin.name, twin.notes.join("; "))));
        }
    } else {
        let count = noted.count() as u64;
        if count > 0 {
            page.row(2, 4, &format!("{} with notes (--verbose shows them)", counted(count, "scenario")));
        }
    }
    page.out
}

impl Page {
    fn side(&mut self, side: &Side, name: &str, widest: usize) {
        let level = |is_bad: bool| is_bad.then_some(Level::Must);
        let is_short = side.profiles.0 < side.profiles.1;
        let is_broken = side.broken.is_some_and(|broken| broken > 0);
        let more = [(PROFILES, side.profiles(), level(is_short)), (CLIENTS, side.broken(), level(is_broken))];
        self.counts(name, widest, side.trials, more);
    }
}

//! Lists and tables about a run.

use results::text::counted;
use results::{GroupTotal, LiveReport, Matrix, Run, Tally, Verdict};

use crate::sheet::markdown::cell;
use crate::sheet::{Cell, Row, Section};
use crate::terms::dialect;

/// Maximum number of rules of a client.
const RULES: usize = 8;

pub(super) fn intro(run: &Run) -> Vec<Vec<Cell>> {
    let totals = &run.totals;
    let live = run.live.as_ref().map(|live| {
        let target =
            if live.is_reference { Cell::plain("the reference gateway") } else { Cell::code(&live.target) };
        let trials = Cell::Plain(format!(": {}", totals.trials));
        vec![target, Cell::plain(", model "), Cell::code(&live.model), trials]
    });
    let count = |of: [(u64, &str); 3]| of.map(|(count, what)| counted(count, what));
    let [recordings, streams, events] =
        count([(totals.captures, "recording"), (totals.streams, "stream"), (totals.events, "event")]);
    let mut checked = vec![Cell::Plain(format!("{recordings}, {streams} and {events} checked"))];
    if let Some(dialect) = dialect(run) {
        checked.push(Cell::plain(" as "));
        let is_count = dialect
            .strip_suffix(" dialects")
            .is_some_and(|count| count.bytes().all(|it| it.is_ascii_digit()));
        checked.push(if is_count { Cell::Plain(dialect) } else { Cell::Code(dialect) });
    }
    let levels = count([(totals.errors, "error"), (totals.warnings, "warning"), (totals.notes, "note")]);
    let seen = format!(
        " of the suite: {}, seen {} ({})",
        counted(run.own_causes().len() as u64, "cause"),
        counted(totals.faults().all(), "time"),
        levels.join(", ")
    );
    checked.extend([Cell::plain(" by version "), Cell::code(&run.suite), Cell::Plain(seen)]);
    live.into_iter().chain([checked]).collect()
}

pub(super) fn sections(run: &Run) -> Vec<Section> {
    let live = run.live.as_ref();
    let words =
        |latency: &results::Latency| Row::new([Cell::code(&latency.case), Cell::Plain(latency.words())]);
    let speed = Section::list(
        "Latency of concurrent requests",
        live.into_iter().flat_map(LiveReport::crowds).map(words),
    );
    let next = run.next.iter().map(|step| Row::new([Cell::code(&step.why), Cell::code(&step.command)]));
    vec![
        clients(run),
        groups(&run.groups, run.totals.trials),
        Section::profiles(live.into_iter().flat_map(|live| &live.profiles)),
        matrix(&run.matrix),
        Section { intro: "Median, with the 99th percentile in brackets:", ..speed },
        not_tested(run),
        Section::list("Next", next),
    ]
}

fn clients(run: &Run) -> Section {
    let mut rows = Vec::new();
    let clients = if run.causes.is_empty() { Vec::new() } else { run.failing_clients().collect() };
    for failing in clients {
        let broken = format!("broken, in {}", counted(failing.captures, "recording"));
        let names = failing.clients.iter().map(|client| client.named());
        rows.push(Row::new([Cell::Plain(broken), Cell::codes(names)]));
        let rules = failing.rules.iter().take(RULES);
        rows.extend(rules.map(|it| Row::below([Cell::code(&it.rule), Cell::code(&it.failure)])));
        let more = failing.rules.len().saturating_sub(RULES) as u64;
        rows.extend(
            (more > 0).then(|| Row::below([Cell::Plain(format!("and {}", counted(more, "more rule")))])),
        );
    }
    if run.causes.is_empty() {
        return Section::list("Clients", rows);
    }
    for (state, clients) in run.other_clients() {
        let names = clients.iter().map(|client| client.named());
        rows.push(Row::new([Cell::plain(state.words()), Cell::codes(names)]));
    }
    if !run.has_measured_clients() && !run.clients.is_empty() {
        rows.push(Row::new([Cell::plain("no client was measured with these findings")]));
    }
    for (unknown, clients) in run.unmeasured_clients() {
        let names = clients.iter().map(|client| client.named());
        rows.push(Row::new([Cell::plain("not measured"), Cell::codes(names)]));
        for why in unknown {
            let mut cells = vec![Cell::Plain(why.reason.to_string())];
            cells.extend((!why.rules.is_empty()).then(|| Cell::codes(&why.rules)));
            rows.push(Row::below(cells));
        }
    }
    Section::list("Clients", rows)
}

fn groups(groups: &[GroupTotal], all: Tally) -> Section {
    // Columns of zeros are left out.
    let shown: Vec<Verdict> = Verdict::ALL.into_iter().filter(|verdict| all.of(*verdict) > 0).collect();
    let row = |name: Cell, trials: Tally| {
        let counts = shown.iter().map(|verdict| Cell::Plain(trials.of(*verdict).to_string()));
        std::iter::once(name).chain(counts).collect()
    };
    let rows = groups.iter().map(|group| row(Cell::code(&group.name), group.trials));
    let all = (!groups.is_empty()).then(|| row(Cell::plain("all"), all));
    let heads = std::iter::once("group").chain(shown.iter().map(|verdict| verdict.word()));
    Section::table("Scenarios", heads, shown.len(), rows.chain(all))
}

fn matrix(matrix: &Matrix) -> Section {
    // Profiles without any tests have no column.
    let tested: Vec<usize> = (0..matrix.profiles.len())
        .filter(|at| {
            let of_groups = matrix.groups.iter().filter_map(|group| *group.cells.get(*at)?);
            of_groups.chain([matrix.profiles[*at].rules]).any(|tally| tally != Tally::NONE)
        })
        .collect();
    let row = |name: Cell, of: &dyn Fn(usize) -> Tally| -> Option<Vec<Cell>> {
        let text = |tally: Tally| if tally == Tally::NONE { String::new() } else { tally.to_string() };
        let has_any = tested.iter().any(|at| of(*at) != Tally::NONE);
        let cells = tested.iter().map(|at| Cell::Plain(text(of(*at))));
        has_any.then(|| std::iter::once(name).chain(cells).collect())
    };
    let rows = matrix.groups.iter().map(|group| {
        row(Cell::code(&group.name), &|at| group.cells.get(at).copied().flatten().unwrap_or_default())
    });
    let rules = row(Cell::plain("*rules*"), &|at| matrix.profiles[at].rules);
    let heads = tested.iter().filter_map(|at| Some(cell(&matrix.profiles.get(*at)?.name)));
    let heads = std::iter::once("group".to_owned()).chain(heads);
    let rows = rows.chain([rules]).flatten();
    Section::table("Scenarios and rules that meet each profile", heads, 0, rows)
}

fn not_tested(run: &Run) -> Section {
    let undecided = run.undecided.iter().map(|undecided| {
        let trials = Cell::Plain(counted(undecided.trials, "trial"));
        Row::new([trials, Cell::code(&undecided.reason), Cell::codes(&undecided.cases)])
    });
    let not_judged =
        run.not_judged().into_iter().map(|(what, files)| Row::new([Cell::Plain(what), Cell::codes(files)]));
    Section::list("Not tested", undecided.chain(not_judged))
}

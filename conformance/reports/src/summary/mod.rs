//! The summary of a run: groups of scenarios, rules, files, clients, untested trials, and next steps.

mod matrix;
mod side;

use std::fmt::Write as _;

use catalogue::Level;
use unicode_width::UnicodeWidthStr;

use super::human::{IN_FULL, effects, word};
use super::impact::{in_all, in_run};
use super::style::{Detail, Screen};
use super::terminal::Page;
use super::terms::{coverage, dialect, harm, terms};
use results::text::{counted, cut, listed, shortened, visible};
use results::{Cause, Faults, LiveReport, Run, Tally, Verdict};

/// Maximum number of files, the worst first.
const FILES: usize = 10;
/// Maximum number of rules of a client.
const RULES: usize = 6;
/// Maximum number of scenarios of a reason.
const MAX_CASES: usize = 4;
/// Maximum number of causes.
const CAUSES: usize = 30;
/// Maximum number of unbroken clients.
const CLIENTS: usize = 8;
/// Maximum number of reasons.
const REASONS: usize = 4;
const MAX_LENGTH: usize = 300;
/// Maximum length of a text in a row with others.
const SHORT: usize = 100;
/// Minimum number of columns of a table.
const TABLE: usize = 60;

pub use side::{Side, side_by_side, side_by_side_markdown, twins};

/// The summary of a run, with next steps.
pub fn summary(run: &Run, detail: impl Into<Detail>, screen: impl Into<Screen>) -> String {
    let detail = detail.into();
    let mut page = Page::new(screen.into(), detail.is_verbose);
    page.head(run, detail.level);
    if detail.is_verbose {
        page.tallies("by group of scenarios", run.groups.iter().map(|group| (&*group.name, group.trials)));
    }
    if run.live.as_ref().is_some_and(|live| live.obstacle.is_some() && !live.has_verdict()) {
        page.next(&run.next);
        return page.out;
    }
    page.by_profile(run);
    page.exercised(run);
    page.causes(run, detail.level);
    page.answers(run);
    if run.live.is_none() {
        page.by_file(run, detail.level);
    }
    page.clients(run, detail.level);
    page.played(run);
    page.speed(run);
    page.stale(run.stale());
    page.undecided(run);
    page.not_judged(run);
    page.next(&run.next);
    page.out
}

impl Page {
    fn head(&mut self, run: &Run, shown: Level) {
        let totals = &run.totals;
        let state = run.outcome.name();
        let checked = dialect(run).map(|dialect| format!(" as {dialect}")).unwrap_or_default();
        let dialect = visible(&run.dialect_in_words());
        let (streams, events) = (counted(totals.streams, "stream"), counted(totals.events, "event"));
        let told = match &run.live {
            None => {
                format!("{}, {streams}, {events} checked{checked}", counted(totals.captures, "file"))
            }
            Some(live) if live.is_reference => {
                format!("{} · reference gateway, dialect {dialect}", totals.trials)
            }
            Some(live) => {
                format!("{} · {}, dialect {dialect}", totals.trials, visible(&live.target))
            }
        };
        let start = self.out.len();
        self.row(0, 2, &format!("{state}: {told}"));
        let painted = self.style.outcome(run.outcome, state);
        self.out.replace_range(start..start + state.len(), &painted);
        let faults = in_words(totals.faults());
        if !faults.is_empty() {
            let own = run.own_causes().iter().filter(|cause| cause.is_shown(shown)).count();
            let hidden = (run.own_causes().len() - own) as u64;
            let effects = (run.causes.len() - run.own_causes().len()) as u64;
            let effects =
                if effects > 0 { format!(" and {}", counted(effects, "effect")) } else { String::new() };
            let times = counted(totals.faults().all(), "time");
            let below = if hidden > 0 {
                format!("; {hidden} more below --level {}", shown.name())
            } else {
                String::new()
            };
            self.row(
                2,
                2,
                &format!("{}{effects}, seen {times}: {faults}{below}", counted(own as u64, "cause")),
            );
        }
        for (name, text) in terms(run) {
            self.row(2, 4, &format!("{name}: {text}"));
        }
    }

    fn exercised(&mut self, run: &Run) {
        if run.live.is_none() || !self.is_verbose {
            return;
        }
        for text in coverage(run) {
            self.row(2, 4, &format!("exercised: {text}"));
        }
    }

    fn tallies<'n>(&mut self, heading: &str, of: impl Iterator<Item = (&'n str, Tally)>) {
        let rows: Vec<(String, Tally)> = of.map(|(name, trials)| (visible(name), trials)).collect();
        let Some(widest) = rows.iter().map(|(name, _)| name.width().max(5)).max() else { return };
        self.heading(heading);
        if self.width < TABLE {
            for (name, trials) in rows {
                self.row(2, 4, &format!("{name}: {trials}"));
            }
            return;
        }
        let heads = Verdict::ALL.map(Verdict::word);
        let _ = writeln!(self.out, "  {}  {}", " ".repeat(widest), heads.join("  "));
        for (name, trials) in rows {
            self.counts(&name, widest, trials, []);
        }
    }

    /// Each other cell has the head of its column, and its level.
    fn counts(
        &mut self,
        name: &str,
        widest: usize,
        trials: Tally,
        more: impl IntoIterator<Item = (&'static str, String, Option<Level>)>,
    ) {
        let _ = write!(self.out, "  {name}{}", " ".repeat(widest - name.width()));
        let counts = Verdict::ALL.map(|verdict| {
            let count = trials.of(verdict);
            let text = if count == 0 { "·".to_owned() } else { count.to_string() };
            (verdict.word(), text, verdict.level().filter(|_| count > 0))
        });
        for (head, text, level) in counts.into_iter().chain(more) {
            let room = " ".repeat(2 + head.width().saturating_sub(text.width()));
            let text = level.map_or_else(|| text.clone(), |level| self.style.level(level, &text));
            let _ = write!(self.out, "{room}{text}");
        }
        self.out.push('\n');
    }

    fn played(&mut self, run: &Run) {
        let most = if self.is_verbose { usize::MAX } else { CLIENTS };
        let played = run.own_causes().iter().filter_map(|cause| cause.played.as_ref());
        let lines = in_all(played, &run.not_played, most);
        if !lines.is_empty() {
            self.heading("clients that were played to");
        }
        for line in lines {
            self.row(2, 4, &visible(&line));
        }
    }

    fn speed(&mut self, run: &Run) {
        let mut crowds = run.live.iter().flat_map(LiveReport::crowds).peekable();
        if crowds.peek().is_some() {
            self.heading("latency of concurrent requests: median (p99)");
        }
        for latency in crowds {
            self.row(2, 4, &format!("{}: {}", visible(&latency.case), latency.words()));
        }
    }

    fn causes(&mut self, run: &Run, shown: Level) {
        let causes: Vec<&Cause> = run.own_causes().iter().filter(|cause| cause.is_shown(shown)).collect();
        let most = if self.is_verbose { usize::MAX } else { CAUSES };
        // The findings of an endpoint were shown before.
        let is_told = |at: usize| run.live.is_some() && !self.is_verbose && at < IN_FULL;
        let rest: Vec<(usize, &Cause)> =
            causes.iter().copied().enumerate().filter(|(at, _)| !is_told(*at)).collect();
        if rest.is_empty() {
            return;
        }
        self.heading(if rest.len() == causes.len() { "causes" } else { "other causes" });
        let names: Vec<String> = rest.iter().take(most).map(|(_, cause)| visible(&cause.rule)).collect();
        let widest = names.iter().map(|name| name.width()).max().unwrap_or_default();
        for ((at, cause), name) in rest.iter().zip(&names) {
            let level = self.style.level(cause.level, word(cause.level));
            let room_of_level = " ".repeat(9 - word(cause.level).len());
            let text = self.cause(run, cause);
            if 11 + widest + 2 + text.width() > self.width {
                let _ = writeln!(self.out, "  {level}{room_of_level}{name}");
                self.row(11, 11, &text);
            } else {
                let room = " ".repeat(widest - name.width());
                let _ = writeln!(self.out, "  {level}{room_of_level}{name}{room}  {text}");
            }
            // A cause that stands in full above is known by its rule, unless there are several of it.
            let is_alone = names.iter().filter(|other| *other == name).count() == 1;
            if *at >= IN_FULL || !is_alone {
                let message = shortened(&visible(&cause.message), self.width.saturating_sub(11));
                let _ = writeln!(self.out, "           {message}");
            }
            let played = if self.is_verbose { in_run(run, cause) } else { Vec::new() };
            for line in played {
                self.row(11, 13, &visible(&line));
            }
        }
        if rest.len() > most {
            let more = counted((rest.len() - most) as u64, "more cause");
            self.row(2, 4, &format!("and {more} (--verbose shows all)"));
        }
        if run.totals.omitted > 0 {
            self.row(2, 4, &format!("{}, not listed", counted(run.totals.omitted, "more fault")));
        }
    }

    fn cause(&self, run: &Run, cause: &Cause) -> String {
        let what = if run.live.is_some() { "answer" } else { "file" };
        let mut text = format!("{} in {}", counted(cause.times, "time"), counted(cause.captures, what));
        if let Some(harm) = harm(cause) {
            let _ = write!(text, " · {harm}");
        }
        let Some((capture, finding)) = run.first_of(cause) else { return text };
        let room = self.width.saturating_sub(11 + text.width());
        let place = format!(" · {}:{}", visible(&run.name(capture)), finding.place.line);
        if place.width() < room || self.is_verbose {
            text += &place;
        }
        if let Some(effects) = effects(run, cause) {
            let _ = write!(text, " · effects: {}", visible(&effects));
        }
        text
    }

    fn answers(&mut self, run: &Run) {
        let answers = run.wrong_answers();
        if answers.is_empty() {
            return;
        }
        self.heading("unexpected responses");
        let most = if self.is_verbose { usize::MAX } else { REASONS };
        for (reason, cases) in answers.iter().take(most) {
            let cases = listed(cases, MAX_CASES, |case| visible(case));
            self.short_row(&format!("{}: {cases}", visible(&cut(reason, SHORT))));
        }
        if answers.len() > most {
            self.row(
                2,
                4,
                &format!(
                    "and {} (--verbose shows all)",
                    counted((answers.len() - most) as u64, "more reason")
                ),
            );
        }
    }

    /// Nothing if there is a single file.
    fn by_file(&mut self, run: &Run, shown: Level) {
        if run.captures.len() < 2 {
            return;
        }
        let files = run.worst_first().into_iter().filter_map(|at| run.captures.get(at));
        let mut files = files
            .map(|capture| (capture, capture.faults().from(shown)))
            .filter(|(_, faults)| *faults != Faults::default());
        let listed: Vec<(String, String)> = files
            .by_ref()
            .take(FILES)
            .map(|(capture, faults)| (in_words(faults), visible(&capture.path())))
            .collect();
        let Some(widest) = listed.iter().map(|(_, name)| name.width()).max() else { return };
        self.heading("by file");
        for (faults, name) in listed {
            if 2 + widest + 2 + faults.width() > self.width {
                self.row(2, 4, &format!("{name} {faults}"));
            } else {
                let _ = writeln!(self.out, "  {name}{}  {faults}", " ".repeat(widest - name.width()));
            }
        }
        let more = files.count();
        if more > 0 {
            self.row(2, 4, &format!("and {more} more"));
        }
    }

    fn clients(&mut self, run: &Run, shown: Level) {
        if let Some(reason) = run.without_responses() {
            self.heading("clients");
            return self.row(2, 4, &visible(&format!("no verdict: {reason}")));
        }
        let is_shown = run.own_causes().iter().any(|cause| cause.is_shown(shown));
        let is_broken = !run.broken_clients().is_empty();
        if !(is_shown || is_broken) || run.clients.is_empty() {
            return;
        }
        self.heading("clients");
        let what = if run.live.is_some() { "answer" } else { "file" };
        if !self.is_verbose {
            let broken = run.broken_clients();
            if !broken.is_empty() {
                let names = listed(&broken, usize::MAX, |client| visible(&client.named()));
                self.row(2, 4, &format!("broken: {names}"));
            }
        }
        let is_verbose = self.is_verbose;
        for failing in run.failing_clients().filter(|_| is_verbose) {
            let broken = listed(failing.rules, RULES, |broken| visible(&broken.rule));
            let clients = listed(&failing.clients, usize::MAX, |client| visible(&client.named()));
            let files = counted(failing.captures, what);
            let why = failing.rules.first().map(|broken| visible(&cut(&broken.failure, SHORT)));
            let why = why.map(|failure| format!("; {failure}")).unwrap_or_default();
            self.row(2, 4, &format!("broken: {clients}, in {files} by {broken}{why}"));
        }
        let most = if self.is_verbose { usize::MAX } else { CLIENTS };
        for (state, clients) in run.other_clients() {
            let names = listed(&clients, most, |client| visible(&client.named()));
            self.row(2, 4, &format!("{}: {names}", state.words()));
        }
        let unmeasured = run.unmeasured_clients();
        if self.is_verbose {
            for (unknown, clients) in unmeasured {
                let names = listed(&clients, most, |client| visible(&client.named()));
                let why: Vec<String> = unknown.iter().map(|unknown| visible(&unknown.words())).collect();
                self.row(2, 4, &format!("not measured: {names}: {}", why.join("; ")));
            }
            return;
        }
        let count = unmeasured.iter().map(|(_, clients)| clients.len() as u64).sum();
        if run.has_measured_clients() && count > 0 {
            let clients = counted(count, "client");
            self.row(
                2,
                4,
                &format!("not measured with all of these findings: {clients} (--verbose says why)"),
            );
        } else if count > 0 {
            self.row(2, 4, "no client was measured with these findings (--verbose says why)");
        }
    }

    fn undecided(&mut self, run: &Run) {
        if run.undecided.is_empty() {
            return;
        }
        self.heading("not tested");
        let most = if self.is_verbose { usize::MAX } else { REASONS };
        let unanswered = run.unanswered();
        for undecided in run.undecided.iter().take(most) {
            let trials = counted(undecided.trials, "trial");
            let requests = unanswered.iter().find(|(reason, ..)| *reason == undecided.reason);
            let requests = requests.map(|(_, count, _)| format!(" ({})", counted(*count, "request")));
            let reason = visible(&cut(&undecided.reason, if self.is_verbose { MAX_LENGTH } else { SHORT }));
            let cases = listed(&undecided.cases, MAX_CASES, |case| visible(case));
            self.short_row(&format!("{trials}: {reason}{}: {cases}", requests.unwrap_or_default()));
        }
        if run.undecided.len() > most {
            let more = counted((run.undecided.len() - most) as u64, "more reason");
            self.row(2, 4, &format!("and for {more} (--verbose shows all)"));
        }
    }

    fn not_judged(&mut self, run: &Run) {
        let rows = run.not_judged();
        if rows.is_empty() {
            return;
        }
        self.heading("not checked");
        for (what, files) in rows {
            self.row(2, 4, &what);
            if !files.is_empty() {
                self.row(4, 4, &listed(&files, MAX_CASES, |file| visible(file)));
            }
        }
    }
}

fn in_words(faults: Faults) -> String {
    faults.non_zero().map(|(count, what)| counted(count, what)).collect::<Vec<_>>().join(", ")
}

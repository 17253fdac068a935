//! Results of profiles, as a table.

use std::fmt::Write as _;

use catalogue::Level;
use unicode_width::UnicodeWidthStr;

use crate::style::Style;
use crate::terminal::Page;
use results::text::{listed, shortened, visible};
use results::{Matrix, MatrixColumn, ProfileReport, ProfileState, Run, Tally, Verdict, shell_word};

/// Maximum number of unmet requirements of a profile.
const MAX_NAMES: usize = 3;
/// Between columns.
const GAP: usize = 2;
/// Label of the row of rules.
const RULES: &str = "(rules)";

impl Page {
    pub(super) fn by_profile(&mut self, run: &Run) {
        let matrix = &run.matrix;
        if matrix.profiles.is_empty() && matrix.unexercised.is_empty() {
            return;
        }
        if !self.is_verbose {
            self.profiles_in_short(run);
            return;
        }
        self.heading("by profile");
        let names = matrix.groups.iter().map(|row| visible(&row.name));
        let first = names.chain([RULES.to_owned()]).map(|name| name.width()).max().unwrap_or_default();
        for columns in blocks(matrix, self.width.saturating_sub(2 + first)) {
            self.block(matrix, &columns, first);
        }
        let signs: Vec<String> = Verdict::ALL
            .into_iter()
            .filter(|verdict| tallies(matrix).any(|tally| tally.of(*verdict) > 0))
            .map(|verdict| format!("{} {}", verdict.sign(), verdict.name()))
            .collect();
        if !signs.is_empty() {
            self.row(2, 2, &format!("scenarios and rules required: {}", signs.join(", ")));
        }
        let profiles = run.live.iter().flat_map(|live| &live.profiles);
        for profile in profiles.filter(|profile| !profile.reasons.is_empty()) {
            if matrix.profiles.iter().any(|told| told.name == profile.name) {
                self.row(2, 4, &format!("{}: {}", visible(&profile.name), visible(&profile.words())));
            }
        }
        self.outside(run);
        if !matrix.unexercised.is_empty() {
            let names: Vec<String> = matrix.unexercised.iter().map(|name| visible(name)).collect();
            self.row(2, 4, &format!("no scenario exercised of {}", names.join(", ")));
        }
    }

    fn profiles_in_short(&mut self, run: &Run) {
        if run.matrix.profiles.is_empty() {
            return;
        }
        self.heading("profiles");
        let widest = run.matrix.profiles.iter().map(|profile| visible(&profile.name).width()).max();
        for column in &run.matrix.profiles {
            let (name, state) = (visible(&column.name), column.state.name());
            let painted = painted(column.state, self.style);
            let room = " ".repeat(widest.unwrap_or_default() - name.width());
            let mut profiles = run.live.iter().flat_map(|live| &live.profiles);
            let profile = profiles.find(|profile| profile.name == column.name);
            let names = profile.map(ProfileReport::unmet).unwrap_or_default();
            let mut names = listed(&names, MAX_NAMES, |name| visible(name));
            let without = profile.map(|profile| excluded(run, profile)).unwrap_or_default();
            if !without.is_empty() {
                names = format!("without {}: {names}", without.join(", "));
            }
            let for_what = if names.is_empty() { String::new() } else { format!(": {names}") };
            let room_of_row = self.width.saturating_sub(4 + name.width() + room.len());
            let row = shortened(&format!("{state}{for_what}"), room_of_row);
            // Only the state has a color.
            let row = row.strip_prefix(state).map_or_else(|| row.clone(), |rest| format!("{painted}{rest}"));
            let _ = writeln!(self.out, "  {name}{room}  {row}");
        }
        self.outside(run);
    }

    /// Findings in the responses that the profiles do not demand.
    fn outside(&mut self, run: &Run) {
        let (faults, rules) = run.outside();
        if faults.all() == 0 {
            return;
        }
        let rules = listed(&rules, MAX_NAMES, |rule| visible(rule));
        let profiles = run.live.as_ref().map_or(0, |live| live.options.profiles.len());
        let of = if profiles == 1 { "this profile" } else { "these profiles" };
        let kept = run.captures.iter().find_map(|capture| capture.folder.as_ref());
        let how = match kept {
            Some(folder) => format!(
                "conformance check {} --dialect {}",
                shell_word(&folder.join("exchanges").display().to_string()),
                shell_word(&run.dialect)
            ),
            None => "a run without --profile".to_owned(),
        };
        let text = format!("outside of {of}: {} ({rules}); {how} shows them", super::in_words(faults));
        self.row(2, 4, &visible(&text));
    }

    fn block(&mut self, matrix: &Matrix, columns: &[usize], first: usize) {
        let widths: Vec<usize> = columns.iter().map(|at| width(matrix, *at)).collect();
        // Each cell plain, for its width, and styled.
        let row = |page: &mut Self, name: &str, cells: Vec<(String, String)>| {
            let name = visible(name);
            let _ = write!(page.out, "  {name}{}", " ".repeat(first - name.width()));
            for ((cell, painted), width) in cells.into_iter().zip(&widths) {
                let room = " ".repeat(GAP + width - cell.width());
                let _ = write!(page.out, "{room}{painted}");
            }
            page.out.push('\n');
        };
        let of = |at: &usize| matrix.profiles.get(*at);
        let heads = columns.iter().filter_map(of);
        let style = self.style;
        let head = |profile: &MatrixColumn| (visible(&profile.name), visible(&profile.name));
        row(self, "", heads.clone().map(head).collect());
        let state = |profile: &MatrixColumn| (profile.state.name().to_owned(), painted(profile.state, style));
        row(self, "", heads.clone().map(state).collect());
        let cell = |tally: Option<Tally>| match tally {
            None | Some(Tally::NONE) => ("·".to_owned(), "·".to_owned()),
            Some(tally) => (signs(tally, Style::Plain), signs(tally, style)),
        };
        for group in &matrix.groups {
            let cells = columns.iter().map(|at| group.cells.get(*at).copied().flatten());
            if cells.clone().any(|tally| tally.is_some()) {
                row(self, &group.name, cells.map(cell).collect());
            }
        }
        row(self, RULES, heads.map(|profile| cell(Some(profile.rules))).collect());
    }
}

fn excluded(run: &Run, profile: &ProfileReport) -> Vec<String> {
    let lacks = run.live.iter().flat_map(|live| &live.options.lacks);
    let needs = |feature: &&String| {
        let ids = profile.scenarios.iter().flat_map(|ids| ids.split('|'));
        ids.filter_map(catalogue::scenario).any(|scenario| scenario.features.contains(&feature.as_str()))
    };
    let excluded = lacks.filter(needs).filter(|_| profile.state != ProfileState::Passed);
    excluded.map(|feature| visible(feature)).collect()
}

fn tallies(matrix: &Matrix) -> impl Iterator<Item = Tally> {
    let cells = matrix.groups.iter().flat_map(|row| row.cells.iter().copied().flatten());
    cells.chain(matrix.profiles.iter().map(|profile| profile.rules))
}

fn width(matrix: &Matrix, at: usize) -> usize {
    let Some(profile) = matrix.profiles.get(at) else { return 0 };
    let cells = matrix.groups.iter().filter_map(|row| row.cells.get(at).copied().flatten());
    let cells = cells.chain([profile.rules]).map(|tally| signs(tally, Style::Plain).width());
    let heads = [visible(&profile.name).width(), profile.state.name().width()];
    cells.chain(heads).max().unwrap_or_default()
}

/// Splits the columns into tables of similar width.
fn blocks(matrix: &Matrix, room: usize) -> Vec<Vec<usize>> {
    let within = |room: usize| {
        let mut blocks: Vec<Vec<usize>> = Vec::new();
        let mut left = 0;
        for at in 0..matrix.profiles.len() {
            let width = GAP + width(matrix, at);
            if let Some(block) = blocks.last_mut().filter(|_| width <= left) {
                left -= width;
                block.push(at);
            } else {
                left = room.saturating_sub(width);
                blocks.push(vec![at]);
            }
        }
        blocks
    };
    let fewest = within(room).len();
    (0..room).map(within).find(|blocks| blocks.len() == fewest).unwrap_or_else(|| within(room))
}

/// Only failures are colored.
fn signs(tally: Tally, style: Style) -> String {
    let told = Verdict::ALL.into_iter().filter(|verdict| tally.of(*verdict) > 0);
    let sign = |verdict: Verdict| {
        let sign = format!("{}{}", tally.of(verdict), verdict.sign());
        verdict.level().map_or_else(|| sign.clone(), |level| style.level(level, &sign))
    };
    told.map(sign).collect::<Vec<_>>().join(" ")
}

fn painted(state: ProfileState, style: Style) -> String {
    match state {
        ProfileState::Passed => style.good(state.name()),
        ProfileState::Failed => style.level(Level::Must, state.name()),
        ProfileState::Incomplete | ProfileState::NotApplicable => style.level(Level::Should, state.name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_failed_is_red() {
        let tally = Tally { passed: 5, failed: 2, ..Tally::NONE };
        assert_eq!(signs(tally, Style::Plain), "5✓ 2✗");
        assert_eq!(signs(tally, Style::Colour), "5✓ \u{1b}[1;31m2✗\u{1b}[0m");
    }
}

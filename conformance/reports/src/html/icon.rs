//! The icon of a page, by how the run ended: people find it among many tabs.

use results::Outcome;

pub(crate) const fn of(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => {
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><rect width='16' height='16' rx='4' fill='#17713f'/><path d='M4.5 8.5l2.5 2.5l5-6' fill='none' stroke='#fff' stroke-width='2' stroke-linecap='round' stroke-linejoin='round'/></svg>"
        }
        Outcome::Failed => {
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><rect width='16' height='16' rx='4' fill='#b3261e'/><path d='M5 5l6 6M11 5l-6 6' fill='none' stroke='#fff' stroke-width='2' stroke-linecap='round'/></svg>"
        }
        Outcome::Incomplete => {
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><rect width='16' height='16' rx='4' fill='#855300'/><path d='M4.5 8h7' fill='none' stroke='#fff' stroke-width='2' stroke-linecap='round'/></svg>"
        }
    }
}

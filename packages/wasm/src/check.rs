//! The check of a recording, with its report.

use checker::{RuleSets, Rules};
use recordings::Checking;
use results::{AUTO, FailOn, Run};

/// The input has the dialect or `auto` on a line, the name on the next, and then the recording. Empty if there is no
/// such dialect.
pub(crate) fn report(input: &[u8], is_page: bool) -> String {
    let (dialect, rest) = line(input);
    let (name, mut recording) = line(rest);
    let run = if dialect == AUTO {
        let sets = RuleSets::all();
        let report = Checking::recognising(&sets, is_page).check(name, &mut recording, None);
        Run::of_recognised(&sets, vec![report], FailOn::default())
    } else {
        let Some(dialect) = spec::dialect(&dialect) else { return String::new() };
        let rules = Rules::of(dialect);
        Run::new(&rules, vec![Checking::new(&rules, is_page).check(name, &mut recording, None)], None)
    };
    if is_page { reports::html(&run) } else { reports::json(&run) }
}

fn line(input: &[u8]) -> (String, &[u8]) {
    let end = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    let text = String::from_utf8_lossy(&input[..end]).into_owned();
    (text, input.get(end + 1..).unwrap_or_default())
}

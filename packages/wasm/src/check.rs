//! The check of a recording, with its report.

use checker::Rules;
use recordings::{check, check_with_timelines};
use results::Run;

/// Checks a recording that follows on two lines, its dialect and its name. Empty where there is no such dialect.
pub(crate) fn report(input: &[u8], is_page: bool) -> String {
    let (dialect, rest) = line(input);
    let (name, mut recording) = line(rest);
    let Some(dialect) = spec::dialect(&dialect) else { return String::new() };
    let rules = Rules::of(dialect);
    let check = if is_page { check_with_timelines } else { check };
    let run = Run::new(&rules, vec![check(name, &mut recording, None, &rules)], None);
    if is_page { reports::html(&run) } else { reports::json(&run) }
}

/// Splits a line off.
fn line(input: &[u8]) -> (String, &[u8]) {
    let end = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    let text = String::from_utf8_lossy(&input[..end]).into_owned();
    (text, input.get(end + 1..).unwrap_or_default())
}

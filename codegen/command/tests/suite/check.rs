//! The specification of the repository agrees with itself. How disagreements are reported is shown in `commands/check`.

use codegen::check::check;

use crate::support::own_spec;

#[test]
fn the_specification_agrees_with_itself() {
    let report = check(&own_spec());
    let findings: Vec<String> = report.findings.iter().chain(&report.todo).map(ToString::to_string).collect();
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

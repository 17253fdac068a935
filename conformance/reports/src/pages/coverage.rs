//! Coverage of normative sentences.

use std::fmt::Write as _;

use catalogue::{Coverage, REQUIREMENTS, Requirement, RequirementLevel, Who};

use super::rule::{anchor, api_of, cell};

/// All sentences of all versions, with the rules and scenarios that cover them, or the reason why none can.
pub fn coverage() -> String {
    let mut out = "# Coverage of the specification\n\nThe rules and scenarios that cover each normative \
        sentence (in our words), or why no recording can show it.\n"
        .to_owned();
    let mut versions: Vec<&str> = REQUIREMENTS.iter().map(|requirement| requirement.version).collect();
    versions.dedup();
    for version in versions.into_iter().rev() {
        let of_version = || REQUIREMENTS.iter().filter(|requirement| requirement.version == version);
        let covered = of_version().filter(|one| matches!(one.coverage, Coverage::Covered { .. })).count();
        let open = of_version().filter(|one| matches!(one.coverage, Coverage::Open(_))).count();
        let all = of_version().count();
        let hidden = all - covered - open;
        let document = of_version().next().map(|one| format!("[{}]({})\n\n", one.source, one.address));
        let document = document.unwrap_or_default();
        let _ = writeln!(
            out,
            "\n## {version}\n\n{document}{all} sentences: {covered} covered, {hidden} not observable, {open} \
             open.\n\n| sentence | applies to | level | requirement | covered by |\n|---|---|---|---|---|"
        );
        for requirement in of_version() {
            let _ = writeln!(
                out,
                "| {} {} | {} | {} | {} | {} |",
                requirement.id,
                cell(requirement.heading),
                whose(requirement.who),
                duty(requirement.level),
                cell(requirement.statement),
                cell(&seen_to_by(requirement))
            );
        }
    }
    out
}

fn seen_to_by(requirement: &Requirement) -> String {
    match requirement.coverage {
        Coverage::Covered { rules, scenarios } => {
            let rule = |id: &&str| {
                let group = catalogue::group(id);
                format!("[{id}](rules/{group}.md#{})", anchor(id))
            };
            let api = api_of(requirement.version).name;
            let scenario = |id: &&str| format!("scenario [{id}](../spec/apis/{api}/scenarios/{id}.md)");
            let all: Vec<_> = rules.iter().map(rule).chain(scenarios.iter().map(scenario)).collect();
            all.join(", ")
        }
        Coverage::Unobservable(reason) => reason.to_owned(),
        Coverage::Open(plan) => format!("open: {plan}"),
    }
}

/// Returns to whom a sentence applies.
pub const fn whose(who: Who) -> &'static str {
    match who {
        Who::Server => "server",
        Who::Client => "client",
        Who::Both => "both",
    }
}

/// Returns the keyword of a sentence.
pub const fn duty(level: RequirementLevel) -> &'static str {
    match level {
        RequirementLevel::Must => "MUST",
        RequirementLevel::MustNot => "MUST NOT",
        RequirementLevel::Should => "SHOULD",
        RequirementLevel::ShouldNot => "SHOULD NOT",
        RequirementLevel::May => "MAY",
        RequirementLevel::Implied => "implied",
    }
}

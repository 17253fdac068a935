//! The table of defects in the documentation.

use std::fmt::Write;

use codegen::formats::{Client, Defect, DefectVerdict, DefectsFile};

/// `docs/defects.md`.
pub fn page(file: &DefectsFile) -> String {
    let mut page = String::from(
        "# What breaks clients, and what catches it\n\n\
         Each row is a stream with one defect, or with something that only looks like one. It was served to the \
         clients below. The edits that make it of a golden stand in `spec/defects.toml`; a test makes them and \
         holds that exactly these rules tell.\n\n\
         **error**: the client gives up. **wrong**: it gives a wrong or empty answer without an error. \
         **silent**: it passes over a failure, or over an end that never came.\n\n\
         | defect | what is done | caught by | clients it breaks |\n|---|---|---|---|\n",
    );
    for defect in &file.defects {
        let Defect { name, what, .. } = defect;
        _ = writeln!(page, "| `{name}` | {what} | {} | {} |", verdict(defect), clients(defect));
    }
    page += "\n## Clients\n\nA client knows the events, types and fields of the dialect that it is written for: what only \
             the dialect that is checked lacks does not break it.\n\n\
             | client | version | written for |\n|---|---|---|\n";
    for Client { name, dialect, version } in &file.clients {
        if let Some(version) = version {
            _ = writeln!(page, "| {name} | {version} | {dialect} |");
        }
    }
    page
}

fn verdict(defect: &Defect) -> String {
    match defect.verdict() {
        Some(DefectVerdict::Caught(rules)) => {
            let link = |rule: &String| format!("[{rule}](../spec/rules/{rule}.md)");
            rules.iter().map(link).collect::<Vec<_>>().join(", ")
        }
        Some(DefectVerdict::Legal(why)) => format!("allowed: {why}"),
        Some(DefectVerdict::Unseen(why)) => format!("cannot be seen: {why}"),
        Some(DefectVerdict::Gap(plan)) => format!("**nothing yet**: {plan}"),
        None => String::new(),
    }
}

fn clients(defect: &Defect) -> String {
    let groups = [("error", &defect.exception), ("wrong", &defect.wrong), ("silent", &defect.silent)];
    let filled = groups.iter().filter(|(_, clients)| !clients.is_empty());
    let lists: Vec<String> =
        filled.map(|(failure, clients)| format!("**{failure}**: {}", clients.join(", "))).collect();
    if lists.is_empty() { "none".to_owned() } else { lists.join("; ") }
}

//! The table of defects in the documentation.

use std::fmt::Write;

use codegen::formats::{Client, Defect, DefectVerdict, DefectsFile, Failure, MeasuredFile};

/// Returns the text of `docs/defects.md`.
pub fn page(file: &DefectsFile, measured: &MeasuredFile) -> String {
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
        _ = writeln!(page, "| `{name}` | {what} | {} | {} |", verdict(defect), clients(defect, measured));
    }
    page += "\n## Clients\n\nA client knows the events, types and fields of the dialect that it is written for: what only \
             the dialect that is checked lacks does not break it.\n\n\
             | client | measured version | called as | written for |\n|---|---|---|---|\n";
    for Client { name, dialect, version, how, .. } in &measured.clients {
        if let Some(version) = version {
            let how = how.as_deref().unwrap_or_default();
            _ = writeln!(page, "| {name} | {version} | {how} | {dialect} |");
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

fn clients(defect: &Defect, measured: &MeasuredFile) -> String {
    let broken = measured.broken(&defect.case());
    let of = |(failure, word): (Failure, &str)| {
        let names =
            broken.iter().filter(|(_, claim)| claim.failure == failure).map(|(client, _)| &*client.name);
        let names: Vec<&str> = names.collect();
        (!names.is_empty()).then(|| format!("**{word}**: {}", names.join(", ")))
    };
    let words = [(Failure::Exception, "error"), (Failure::Wrong, "wrong"), (Failure::Silent, "silent")];
    let lists: Vec<String> = words.into_iter().filter_map(of).collect();
    if lists.is_empty() { "none".to_owned() } else { lists.join("; ") }
}

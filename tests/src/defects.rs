//! The table of defects in the documentation.

use std::fmt::Write;

use codegen::formats::{Client, Defect, DefectVerdict, DefectsFile, MeasuredFile, Outcome};

/// Returns the text of `docs/defects.md`.
pub fn page(file: &DefectsFile, measured: &MeasuredFile) -> String {
    let mut page = String::from(
        "# What breaks clients, and what catches it\n\n\
         Each row is a stream with one defect, or with something that only looks like one. It was served to the \
         clients below. `spec/apis/responses/defects.toml` has the edits of a golden that produce it, and a test checks that \
         exactly these rules report it.\n\n\
         **error**: the client gives up. **wrong**: it gives a wrong or empty answer without an error. \
         **silent**: it does not report a failure, or that the end is missing. A client that does the same on the stream without \
         the defect is not listed.\n\n\
         | defect | what is done | caught by | clients it breaks |\n|---|---|---|---|\n",
    );
    for defect in &file.defects {
        let Defect { name, what, .. } = defect;
        _ = writeln!(page, "| `{name}` | {what} | {} | {} |", verdict(defect), clients(defect, measured));
    }
    page += "\n## Clients\n\nA client knows the events, types and fields of the dialect that it is written for. A defect \
             that this dialect allows does not break it.\n\n\
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
            let link = |rule: &String| {
                format!("[{rule}](rules/{}.md#{})", catalogue::group(rule), rule.replace('/', ""))
            };
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
    let of = |(outcome, word): (Outcome, &str)| {
        let names = broken.iter().filter(|claim| claim.outcome == outcome).map(|claim| &*claim.client.name);
        let names: Vec<&str> = names.collect();
        (!names.is_empty()).then(|| format!("**{word}**: {}", names.join(", ")))
    };
    let words = [(Outcome::Exception, "error"), (Outcome::Wrong, "wrong"), (Outcome::Silent, "silent")];
    let lists: Vec<String> = words.into_iter().filter_map(of).collect();
    if lists.is_empty() { "none".to_owned() } else { lists.join("; ") }
}

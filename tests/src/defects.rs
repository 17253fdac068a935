//! The table of defects in the documentation.

use std::fmt::Write;

use codegen::formats::{
    Client, Defect, DefectVerdict, DefectsFile, MeasuredFile, Outcome, Thread, ThreadCause,
};

/// Returns the text of `docs/defects.md`.
pub fn page(file: &DefectsFile, measured: &MeasuredFile) -> String {
    let mut page = String::from(
        "# What breaks clients, and what catches it\n\n\
         Each row is a stream with one defect, or with something that only looks like one. It was served to the \
         clients below. `spec/apis/<api>/defects.toml` has the edits of a golden that produce it, and a test checks that \
         exactly these rules report it. [Threads](threads.md) has reports of users about such streams.\n\n\
         **error**: the client gives up. **wrong**: it gives a wrong or empty answer without an error. \
         **silent**: it does not report a failure, or that the end is missing. A client that does the same on the stream without \
         the defect is not listed.\n",
    );
    let mut api = "";
    for defect in &file.defects {
        if defect.api != api {
            api = &defect.api;
            _ = write!(
                page,
                "\n## {}\n\n| defect | what is done | caught by | clients it breaks |\n|---|---|---|---|\n",
                title(api)
            );
        }
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

/// Returns the title of an API.
fn title(api: &str) -> &'static str {
    spec::APIS.iter().find(|known| known.name == api).map_or("", |known| known.title)
}

/// Returns a link from a page of the documentation to a rule.
pub fn link(rule: &str) -> String {
    format!("[{rule}](rules/{}.md#{})", catalogue::group(rule), rule.replace('/', ""))
}

fn verdict(defect: &Defect) -> String {
    match defect.verdict() {
        Some(DefectVerdict::Caught(rules)) => {
            rules.iter().map(|rule| link(rule)).collect::<Vec<_>>().join(", ")
        }
        Some(DefectVerdict::Legal(why)) => format!("allowed: {why}"),
        Some(DefectVerdict::Unseen(why)) => format!("cannot be seen: {why}"),
        Some(DefectVerdict::Gap(plan)) => format!("**nothing yet**: {plan}"),
        None => String::new(),
    }
}

fn clients(defect: &Defect, measured: &MeasuredFile) -> String {
    let outcomes = measured.outcomes(&defect.case());
    let of = |(outcome, word): (Outcome, &str)| {
        let clients = measured.measured().zip(&outcomes).filter(|(_, of)| **of == outcome);
        let names: Vec<&str> = clients.map(|(client, _)| &*client.name).collect();
        (!names.is_empty()).then(|| format!("**{word}**: {}", names.join(", ")))
    };
    let words = [(Outcome::Exception, "error"), (Outcome::Wrong, "wrong"), (Outcome::Silent, "silent")];
    let lists: Vec<String> = words.into_iter().filter_map(of).collect();
    if lists.is_empty() { "none".to_owned() } else { lists.join("; ") }
}

/// Returns the text of `docs/threads.md`.
pub fn threads(file: &DefectsFile, threads: &[Thread]) -> String {
    let mut page = String::from(
        "# Reports of users, and the rule that names the cause\n\n\
         Public threads in which a stream broke a client. Each is reproduced by a [defect](defects.md), as far as the stream is at \
         fault; a test checks which rules report it. `spec/apis/<api>/threads.toml` has the threads.\n",
    );
    let mut api = "";
    for thread in threads {
        if thread.api != api {
            api = &thread.api;
            let of_api = || threads.iter().filter(|other| other.api == *api);
            let is_defect = |thread: &&Thread| matches!(thread.cause(), Some(ThreadCause::Defect(_)));
            _ = write!(
                page,
                "\n## {}\n\n{} rows, {} of them with a stream.\n\n\
                 | thread | began | what it reports | stream | cause |\n|---|---|---|---|---|\n",
                title(api),
                of_api().count(),
                of_api().filter(is_defect).count()
            );
        }
        let at = thread.addresses().map(|(at, address)| match address {
            Some(address) => format!("[{at}]({address})"),
            None => at.to_owned(),
        });
        let at = at.collect::<Vec<_>>().join(", ");
        let (stream, cause) = match thread.cause() {
            Some(ThreadCause::Defect(name)) => {
                let defect = file.defects.iter().find(|defect| defect.name == name);
                (format!("`{name}`"), defect.map_or_else(String::new, verdict))
            }
            Some(ThreadCause::Client(why)) => (String::new(), format!("the client: {why}")),
            Some(ThreadCause::Request(why)) => (String::new(), format!("depends on the request: {why}")),
            Some(ThreadCause::Transport(why)) => (String::new(), format!("the transport: {why}")),
            Some(ThreadCause::Unread(why)) => (String::new(), format!("not known: {why}")),
            None => (String::new(), String::new()),
        };
        let day = thread.day.as_deref().unwrap_or_default();
        _ = writeln!(page, "| {at} | {day} | {} | {stream} | {cause} |", thread.what);
    }
    page
}

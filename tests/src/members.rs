//! The tables of clients in the documentation: what they do where a member is absent, null, or of another type, and where
//! an event is out of order.

use std::collections::BTreeMap;
use std::fmt::Write;

use codegen::formats::{MeasuredFile, Outcome};

/// The outcomes of the streams with one wrong member: by event, member and form.
type Events<'m> = BTreeMap<&'m str, BTreeMap<&'m str, BTreeMap<&'m str, Vec<Outcome>>>>;

/// Returns the text of `docs/client-members.md`.
pub fn page(measured: &BTreeMap<String, MeasuredFile>) -> String {
    let mut page = String::from(
        "# What clients do without a member\n\n\
         Each stream has one defect: a member is absent, null, or of another JSON type, in all events of its type. Each was \
         played to the clients of its API with `tests/clients/run`, and so was the same stream without the defect: a failure \
         counts only if the client handles that one.\n\n\
         A cell shows what the client does if the member is absent, if it is null, and if it has another type, in this order; \
         one sign stands for all three. A blank: the schema allows it.\n\n\
         | sign | meaning |\n|---|---|\n",
    );
    for outcome in Outcome::ALL {
        _ = writeln!(page, "| {} | {} |", sign(outcome), meaning(outcome));
    }
    for (api, measured) in measured.iter().filter(|(_, file)| !file.outcomes.is_empty()) {
        let title = spec::APIS.iter().find(|known| known.name == api).map_or(api.as_str(), |api| api.title);
        page += &of_api(title, measured);
    }
    page
}

/// Returns the tables of an API.
fn of_api(title: &str, measured: &MeasuredFile) -> String {
    let events = events(measured);
    let members: usize = events.values().map(BTreeMap::len).sum();
    let streams: usize = events.values().flat_map(BTreeMap::values).map(BTreeMap::len).sum();
    let mut page = format!("\n# {title}\n\n{streams} streams, {members} members.\n");
    page += "\n| client | version | broken by | handles | fails on the intact stream | not exercised |\n|---|---|---:|---:|---:|---:|\n";
    for (column, client) in measured.measured().enumerate() {
        let of_client = || events.values().flat_map(BTreeMap::values).flat_map(BTreeMap::values);
        let count = |is_it: &dyn Fn(Outcome) -> bool| {
            of_client().filter_map(|row| row.get(column)).filter(|outcome| is_it(**outcome)).count()
        };
        let version = client.version.as_deref().unwrap_or_default();
        let (broken, handled) = (count(&Outcome::is_failure), count(&|outcome| outcome == Outcome::Handled));
        let fails = count(&|outcome| outcome == Outcome::FailsOnIntact);
        let unasked = count(&|outcome| matches!(outcome, Outcome::NotExercised | Outcome::NotPlayed));
        _ = writeln!(page, "| {} | {version} | {broken} | {handled} | {fails} | {unasked} |", client.name);
    }
    for (event, members) in &events {
        page += &heading(event, "member", measured);
        for (member, forms) in members {
            let columns = 0..measured.measured().count();
            let cells: Vec<String> = columns.map(|column| cell(forms, column)).collect();
            _ = writeln!(page, "| `{member}` | {} |", cells.join(" | "));
        }
    }
    page + &orders(title, measured)
}

/// Returns the tables of the streams with an event out of order, one for each golden.
fn orders(title: &str, measured: &MeasuredFile) -> String {
    let mut goldens: BTreeMap<&str, Vec<(usize, &str, &str)>> = BTreeMap::new();
    for stream in measured.outcomes.keys() {
        let Some((golden, change)) = stream.strip_prefix("order/").and_then(|rest| rest.rsplit_once('/'))
        else {
            continue;
        };
        let numbered = change.split_once('-').and_then(|(number, how)| Some((number.parse().ok()?, how)));
        let (number, how) = numbered.unwrap_or((usize::MAX, change));
        goldens.entry(golden).or_default().push((number, how, stream));
    }
    let mut text = format!(
        "\n# {title}: an event out of order\n\n\
         In each of {} streams, one event is missing (dropped), is sent twice (repeated), is sent after the next one \
         (swapped), has another text (altered), or has no type in its item or part (untyped); or all events of a type \
         have a wrong member.\n",
        goldens.values().map(Vec::len).sum::<usize>()
    );
    for (golden, mut streams) in goldens {
        streams.sort_unstable();
        text += &heading(golden, "event", measured);
        for (number, how, stream) in streams {
            let cells: Vec<&str> = measured.outcomes(stream).into_iter().map(sign).collect();
            let row = if number == usize::MAX { format!("`{how}`") } else { format!("{number} {how}") };
            _ = writeln!(text, "| {row} | {} |", cells.join(" | "));
        }
    }
    text
}

/// Returns the title and the head of a table with a column for each client.
fn heading(title: &str, rows: &str, measured: &MeasuredFile) -> String {
    let names: Vec<&str> = measured.measured().map(|client| client.name.as_str()).collect();
    let rule = "---|".repeat(names.len());
    format!("\n## `{title}`\n\n| {rows} | {} |\n|---|{rule}\n", names.join(" | "))
}

fn events(measured: &MeasuredFile) -> Events<'_> {
    let mut events = Events::new();
    for stream in measured.outcomes.keys() {
        let Some((event, rest)) = stream.strip_prefix("member/").and_then(|rest| rest.split_once('/')) else {
            continue;
        };
        let Some((member, form)) = rest.rsplit_once('=') else { continue };
        let forms = events.entry(event).or_default().entry(member).or_default();
        forms.insert(form, measured.outcomes(stream));
    }
    events
}

/// Returns what a client does with the forms of a member: absent, null, and of another type.
fn cell(forms: &BTreeMap<&str, Vec<Outcome>>, column: usize) -> String {
    let of = |form: &str| forms.get(form).and_then(|row| row.get(column)).copied();
    let other = forms.keys().find(|form| !matches!(**form, "absent" | "null")).and_then(|form| of(form));
    let all = [of("absent"), of("null"), other];
    match all {
        [Some(first), ..] if all.iter().all(|outcome| *outcome == Some(first)) => sign(first).to_owned(),
        _ => all.iter().map(|outcome| outcome.map_or("&nbsp;", sign)).collect(),
    }
}

const fn sign(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Exception => "✗",
        Outcome::Wrong => "≠",
        Outcome::Silent => "∅",
        Outcome::Handled => "✓",
        Outcome::FailsOnIntact => "c",
        Outcome::NotExercised => "–",
        Outcome::NotPlayed => "?",
    }
}

const fn meaning(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Exception => "it fails with an error",
        Outcome::Wrong => "it returns wrong or empty content, or a value of a type that it does not promise",
        Outcome::Silent => "it does not report a failure, or that the end is missing",
        Outcome::Handled => "it returns what was sent, or reports what must be reported",
        Outcome::FailsOnIntact => "it fails on the stream without the defect, too",
        Outcome::NotExercised => "its driver cannot ask for such a response",
        Outcome::NotPlayed => "not played yet",
    }
}

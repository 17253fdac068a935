//! `docs/client-impact.md`: the outcomes of clients for damaged streams, by the kinds of findings.

use std::collections::BTreeMap;
use std::fmt::Write;

use codegen::formats::ImpactFile;

/// Least number of clients that were played to, where something is said of all.
const MOST: usize = 5;

/// Returns the text of the page.
pub fn page(files: &BTreeMap<String, ImpactFile>) -> String {
    let mut page = String::from(
        "# What clients do with damaged streams\n\n\
         Good streams were damaged in one place: a member is absent, null, empty, of another type or value, or an event is missing, sent \
         twice, early or late, or the stream ends. Each was played to the clients of its API, beside the good stream, and what they \
         return was compared. Streams with the same kinds of findings share a row: rule, event type, member, what is wrong with its \
         value, and what the event carries, where events of a type differ. A row rests on at least two good streams; ✓ \
         needs three damaged ones or two different damages, and → three. The file also has rows of kinds that are alike, of damaged recordings, too: where no row has just the kinds of a \
         stream, `conformance check` goes to kinds that say less of an event, then of a member, and that rest on more streams. Calls and \
         texts share no row, but for the loosest ones, and errors share none with either. For several kinds that were not played together, it goes to \
         rows of each with any others: what the kind does alone, and did in each stream with others. Words with \
         `@` say how far the response is, and as what data begin that are no event. `conformance impact` plays a recording itself.\n\n\
         | sign | the client |\n|---|---|\n",
    );
    for (_, sign, meaning) in SIGNS {
        _ = writeln!(page, "| {sign} | {meaning} |");
    }
    for (api, file) in files {
        page += &of_api(api, file);
    }
    page
}

/// The letters of outcomes, with their signs and meanings.
const SIGNS: [(char, &str, &str); 7] = [
    ('x', "✗", "fails with an error, although the response has an answer"),
    (
        'w',
        "≠",
        "is wrong: it loses, mixes or invents something, hangs, or takes what broke off for the whole",
    ),
    ('p', "→", "passes on what the server changed"),
    ('r', "!", "reports what broke off, as it should"),
    ('.', "✓", "is unaffected: it returns the same as for the good stream"),
    ('v', "±", "does one thing with one stream, and another with the next"),
    ('-', "&nbsp;", "was not played enough of the streams"),
];

fn sign(letter: char) -> &'static str {
    SIGNS.iter().find(|(known, ..)| *known == letter).map_or("", |(_, sign, _)| sign)
}

fn of_api(api: &str, file: &ImpactFile) -> String {
    let title = spec::APIS.iter().find(|known| known.name == api).map_or(api, |known| known.title);
    let (exact, alike): (Vec<_>, Vec<_>) =
        file.outcomes.iter().partition(|(kinds, _)| ImpactFile::is_exact(kinds));
    let rows: Vec<(&str, Vec<char>)> = exact
        .into_iter()
        .map(|(kinds, words)| (kinds.as_str(), file.row(words).map(|(letter, _)| letter).collect()))
        .collect();
    let mut page = format!(
        "\n# {title}\n\n{} rows, and {} more of kinds that are alike. The most tolerant client comes first.\n\n",
        rows.len(),
        alike.len()
    );
    page += "| client | version | breaks | fails | wrong | passes on | reports | unaffected | differs | not played |\n\
             |---|---|---:|---:|---:|---:|---:|---:|---:|---:|\n";
    let count = |at: usize, letter: char| rows.iter().filter(|(_, letters)| letters[at] == letter).count();
    let share = |at: usize| {
        let known = rows.len() - count(at, '-');
        (count(at, 'x') + count(at, 'w')) * 1000 / known.max(1)
    };
    let mut order: Vec<usize> = (0..file.clients.len()).collect();
    order.sort_by_key(|at| share(*at));
    for at in order {
        let client = &file.clients[at];
        let counts = ['x', 'w', 'p', 'r', '.', 'v', '-'].map(|letter| count(at, letter).to_string());
        let (whole, part) = (share(at) / 10, share(at) % 10);
        _ = writeln!(
            page,
            "| {} | {} | {whole}.{part} % | {} |",
            client.name,
            client.version,
            counts.join(" | ")
        );
    }
    let single = || rows.iter().filter(|(kinds, _)| !kinds.contains(ImpactFile::AND));
    let with = |is_it: &dyn Fn(char) -> bool| {
        let all = single().filter(|(_, letters)| {
            let known = || letters.iter().filter(|letter| **letter != '-');
            known().count() >= MOST && known().all(|letter| is_it(*letter))
        });
        all.map(|(kinds, _)| *kinds).collect::<Vec<&str>>()
    };
    for (heading, kinds) in [
        ("what breaks every client", with(&|letter| "xw".contains(letter))),
        ("what no client notices", with(&|letter| letter == '.')),
    ] {
        _ = write!(page, "\n## {title}: {heading}\n\n");
        for kind in kinds {
            _ = writeln!(page, "- {}", told(kind));
        }
    }
    _ = write!(
        page,
        "\n## {title}: all\n\nFindings of one kind each; the file also has rows of several kinds, and the errors.\n\n"
    );
    let names: Vec<&str> = file.clients.iter().map(|client| client.name.as_str()).collect();
    _ = write!(page, "| finding | {} |\n|---|{}\n", names.join(" | "), "---|".repeat(names.len()));
    for (kinds, letters) in single() {
        let cells: Vec<&str> = letters.iter().map(|letter| sign(*letter)).collect();
        _ = writeln!(page, "| {} | {} |", told(kinds), cells.join(" | "));
    }
    page
}

/// Returns a kind of finding as it is read: the rule, and where it is broken.
fn told(kind: &str) -> String {
    let parts: Vec<&str> = kind.split(' ').filter(|part| *part != "-").collect();
    match parts.split_first() {
        Some((rule, [])) => format!("`{rule}`"),
        Some((rule, place)) => {
            format!("`{rule}`: `{}`", place.join(" ").replace('|', "\\|").replace('`', "'"))
        }
        None => String::new(),
    }
}

//! The outcomes of real clients, by the findings in the streams, and the rules that these break.

use std::collections::BTreeMap;

use codegen_derive::Constant;

use crate::formats::{Breakage, Client, ImpactFile};

/// The outcomes of clients for streams with findings of these kinds, and no others.
#[derive(Debug, Constant)]
pub(super) struct Measurement {
    /// The kinds, sorted: rule, event type, member and form.
    kinds: Vec<String>,
    /// A letter for each client.
    outcomes: String,
    /// The errors of clients, and what is wrong with their results, by their place.
    details: Vec<(usize, String)>,
}

/// The table of an API, sorted by kinds.
pub(super) fn table(file: &ImpactFile) -> Vec<Measurement> {
    let rows = file.rows().map(|(kinds, words)| {
        let told = file.row(words).enumerate().filter(|(_, (_, detail))| !detail.is_empty());
        Measurement {
            kinds: kinds.split(ImpactFile::AND).map(str::to_owned).collect(),
            outcomes: file.row(words).map(|(letter, _)| letter).collect(),
            details: told.map(|(column, (_, detail))| (column, detail.to_owned())).collect(),
        }
    });
    let mut table: Vec<Measurement> = rows.collect();
    table.sort_by(|one, other| one.kinds.cmp(&other.kinds));
    table
}

/// The client, with its version and place in the measurements of its API.
pub(super) fn client(client: &Client, file: Option<&ImpactFile>) -> Client {
    let clients = file.map_or(&[][..], |file| &file.clients);
    let column = clients.iter().position(|played| played.name == client.name);
    let version = column.map(|column| clients[column].version.clone());
    Client { version, column, ..client.clone() }
}

/// The failures of clients on streams that break a rule and no other.
pub(super) fn breakages(file: &ImpactFile, rule: &str) -> Vec<Breakage> {
    let is_of_rule = |kinds: &str| kinds.split(ImpactFile::AND).all(|kind| rule_of(kind) == rule);
    let rows: Vec<&String> = file
        .outcomes
        .iter()
        .filter(|(kinds, _)| ImpactFile::is_exact(kinds) && is_of_rule(kinds))
        .map(|(_, words)| words)
        .collect();
    let of_client = |column: usize| -> Option<Breakage> {
        let played = rows.iter().filter_map(|words| file.row(words).nth(column));
        let known: Vec<(char, &str)> = played.filter(|(letter, _)| !"v-".contains(*letter)).collect();
        let broken = || known.iter().filter(|(letter, _)| "xw".contains(*letter));
        let mut frequent: BTreeMap<(char, &str), usize> = BTreeMap::new();
        for told in broken() {
            *frequent.entry(*told).or_default() += 1;
        }
        let ((letter, detail), _) = frequent.into_iter().max_by_key(|(_, times)| *times)?;
        let what = if letter == 'x' { "fails" } else { "is wrong" };
        let mut failure = if detail.is_empty() { what.to_owned() } else { format!("{what}: {detail}") };
        let broken = broken().count();
        if broken < known.len() {
            failure = format!("{failure}, in {broken} of {} measured kinds", known.len());
        }
        Some(Breakage {
            client: file.clients[column].name.clone(),
            failure,
            source: "docs/client-impact.md".to_owned(),
            at: Vec::new(),
            is_reported: false,
        })
    };
    (0..file.clients.len()).filter_map(of_client).collect()
}

fn rule_of(kind: &str) -> &str {
    kind.split_once(' ').map_or(kind, |(rule, _)| rule)
}

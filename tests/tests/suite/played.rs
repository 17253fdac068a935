//! What `check` says of streams that clients were played, beside what each client made of them. A client that loses something of a
//! stream without a finding, or of which a finding says the opposite, shows a rule that is wrong or missing.

use std::fmt::Write as _;
use std::fs;

use catalogue::Level;
use conformance::Rules;
use conformance::results::{ClientState, ClientTotal};
use serde::Deserialize;
use tests::corpus;

/// A file of `tests/clients/played`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Played {
    dialect: String,
    clients: Vec<String>,
    #[serde(rename = "case")]
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    /// A letter for each client.
    #[serde(default)]
    outcomes: String,
    /// Why the stream is good, though a client loses something of it.
    legal: Option<String>,
    stream: String,
}

impl Case {
    fn bytes(&self) -> Vec<u8> {
        let mut text = String::new();
        for line in self.stream.lines() {
            if let Some(raw) = line.strip_prefix('|') {
                _ = writeln!(text, "{raw}");
                continue;
            }
            let kind = line.split_once("\"event_type\":\"").and_then(|(_, rest)| rest.split_once('"'));
            let kind = if line == "[DONE]" { Some("done") } else { kind.map(|(kind, _)| kind) };
            if let Some(kind) = kind {
                _ = writeln!(text, "event: {kind}");
            }
            _ = writeln!(text, "data: {line}\n");
        }
        let thoughts = u32::from(text.contains("\"thought\"")) * 2;
        let mut whole = String::new();
        for (nth, piece) in (0..).zip(text.replace('¶', "\u{2028}").split('~')) {
            if nth > 0 {
                let (count, total) = (nth * 3, 5 + nth * 3 + thoughts);
                let thoughts =
                    if thoughts > 0 { format!(",\"thoughtsTokenCount\":{thoughts}") } else { String::new() };
                _ = write!(
                    whole,
                    ",\"usageMetadata\":{{\"promptTokenCount\":5,\"candidatesTokenCount\":{count},\
                     \"totalTokenCount\":{total}{thoughts}}},\"modelVersion\":\"gemini-2.5-flash\",\
                     \"responseId\":\"abcdEFGHijklMNOPqrst1\""
                );
            }
            whole += piece;
        }
        whole.into_bytes()
    }

    fn outcomes(&self) -> impl Iterator<Item = char> {
        let letters = self.outcomes.chars().filter(|letter| *letter != ' ');
        letters.chain(std::iter::repeat_n('.', if self.outcomes.is_empty() { usize::MAX } else { 0 }))
    }

    fn is_lossy(&self) -> bool {
        self.outcomes.contains(['x', 'w'])
    }
}

/// A letter as in the outcomes, `?` where nothing is known.
const fn letter(state: ClientState) -> char {
    match state {
        ClientState::Fails => 'x',
        ClientState::Wrong => 'w',
        ClientState::PassesOn => 'p',
        ClientState::Reports => 'r',
        ClientState::Unaffected => '.',
        ClientState::ReportedBroken | ClientState::NotMeasured => '?',
    }
}

/// Whether what is said of a client is the opposite of what it did.
fn is_opposite(said: char, did: char) -> bool {
    match said {
        'x' | 'w' => !matches!(did, 'x' | 'w'),
        '.' | 'p' => matches!(did, 'x' | 'w'),
        'r' => matches!(did, '.' | 'w'),
        _ => false,
    }
}

#[test]
fn clients_do_what_is_said_of_them() {
    let (mut table, mut silent) = (String::new(), String::new());
    let (mut cases, mut predicted, mut said, mut opposite) = (0, 0, 0, 0);
    let (mut lost, mut named) = (0, 0);
    for file in ["gemini", "interactions"] {
        let path = corpus::repository().join(format!("tests/clients/played/{file}.toml"));
        let played: Played = toml::from_str(&fs::read_to_string(path).expect("it is there")).expect(file);
        let dialect = spec::dialect(&played.dialect).expect("a dialect");
        for case in &played.cases {
            let report = conformance::check(&case.name, &mut &*case.bytes(), None, &Rules::of(dialect));
            let rules: Vec<String> = report
                .findings
                .iter()
                .filter(|finding| finding.level >= Level::Should)
                .map(|finding| finding.rule.to_string())
                .collect();
            if case.is_lossy() && case.legal.is_none() && rules.is_empty() {
                _ = writeln!(silent, "{file}/{}: clients lose something, and nothing is found", case.name);
            }
            if case.legal.is_some() && (!rules.is_empty() || !case.is_lossy()) {
                _ = writeln!(silent, "{file}/{}: it is not legal, or clients lose nothing", case.name);
            }
            // Findings that follow from another protocol say nothing of clients.
            let is_other = !report.foreign.is_empty() || !report.other_apis.is_empty();
            let totals = ClientTotal::all(&[report], &[dialect.api.name]);
            let (mut says, mut is_right) = (String::new(), true);
            for (name, did) in played.clients.iter().zip(case.outcomes()) {
                let total = totals.iter().find(|total| total.name == *name);
                let letter = total.filter(|_| !is_other).map_or('?', |total| letter(total.state));
                says.push(letter);
                let is_lost = matches!(did, 'x' | 'w') && case.legal.is_none();
                lost += usize::from(is_lost);
                named += usize::from(is_lost && matches!(letter, 'x' | 'w'));
                said += usize::from(letter != '?');
                if is_opposite(letter, did) {
                    (opposite, is_right) = (opposite + 1, false);
                    says.push('!');
                }
            }
            (cases, predicted) = (cases + 1, predicted + usize::from(is_right));
            let did: String = case.outcomes().take(played.clients.len()).collect();
            let mut rules = rules;
            rules.sort_unstable();
            rules.dedup();
            let found = case.legal.clone().map_or_else(|| rules.join(", "), |why| format!("({why})"));
            _ = writeln!(table, "{file}/{:<27} {did:<8} {says:<9} {found}", case.name);
        }
    }
    assert!(silent.is_empty(), "\n{silent}");
    let head = format!(
        "{predicted} of {cases} cases predicted; {said} words about clients, {opposite} of them wrong (!); \
         {named} of {lost} losses named\n\n\
         {:<34} did      said      found\n",
        "case"
    );
    insta::assert_snapshot!("played", head + &table);
}

//! The plan of a page: shown findings, and ids for links.

use std::collections::{BTreeMap, BTreeSet};

use results::{CaseReport, Finding, Run};

/// Maximum number of findings in full, of a recording and of a run.
const FINDINGS: usize = 30;
const ALL_FINDINGS: usize = 1000;

/// Findings of one cause in one exchange. The first is shown, the others are counted.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) id: String,
    pub(super) cause: Option<usize>,
    /// Indices of the findings in the recording.
    pub(super) findings: Vec<usize>,
}

/// The ids of a page, and the shown findings of each recording.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) cases: Vec<String>,
    pub(super) captures: Vec<String>,
    pub(super) causes: Vec<String>,
    groups: Vec<Vec<Group>>,
}

impl Plan {
    pub(super) fn of(run: &Run) -> Self {
        let mut ids = Ids::default();
        // `rule_id` reserves the ids of rules.
        for rule in &run.rules {
            ids.unique(&format!("rule/{}", rule.id));
        }
        let of_causes = run.causes.iter().map(|cause| ids.unique(&format!("cause/{}", cause.id))).collect();
        let cases: &[CaseReport] = run.live.as_ref().map(|live| &*live.cases).unwrap_or_default();
        let scenarios: Vec<String> = cases.iter().map(|case| ids.unique(&case.name)).collect();
        let mut names: Vec<Option<&str>> = vec![None; run.captures.len()];
        for (case, id) in cases.iter().zip(&scenarios) {
            for at in &case.attempts {
                if let Some(name) = names.get_mut(*at) {
                    *name = Some(id);
                }
            }
        }
        let by_place: BTreeMap<[usize; 2], usize> = (run.causes.iter().enumerate())
            .flat_map(|(cause, of)| of.findings.iter().map(move |place| (*place, cause)))
            .collect();
        let (mut captures, mut groups) = (Vec::new(), Vec::new());
        let mut left = ALL_FINDINGS;
        for (at, capture) in run.captures.iter().enumerate() {
            let base = match names.get(at).copied().flatten() {
                Some(case) => case.to_owned(),
                None => ids.unique(&format!("file/{}", capture.name)),
            };
            let mut of_capture = grouped(&capture.findings, |finding| by_place.get(&[at, finding]).copied());
            // Causes are ordered by harm.
            let mut worst: Vec<usize> = (0..of_capture.len()).collect();
            worst.sort_by_key(|group| of_capture.get(*group).and_then(|group| group.cause));
            worst.truncate(FINDINGS.min(left));
            let shown: BTreeSet<usize> = worst.into_iter().collect();
            let mut number = 0;
            of_capture.retain(|_| {
                number += 1;
                shown.contains(&(number - 1))
            });
            left -= of_capture.len();
            for group in &mut of_capture {
                let first = group.findings.first().and_then(|first| capture.findings.get(*first));
                group.id = ids.unique(&format!("{base}/{}", first.map_or("", |found| &found.rule)));
            }
            captures.push(base);
            groups.push(of_capture);
        }
        Self { cases: scenarios, captures, causes: of_causes, groups }
    }

    pub(super) fn groups(&self, capture: usize) -> &[Group] {
        self.groups.get(capture).map(Vec::as_slice).unwrap_or_default()
    }

    pub(super) fn link(&self, [capture, at]: [usize; 2]) -> Option<&str> {
        let group = self.groups(capture).iter().find(|group| group.findings.contains(&at))?;
        Some(&group.id)
    }
}

fn grouped(findings: &[Finding], cause: impl Fn(usize) -> Option<usize>) -> Vec<Group> {
    let mut known = BTreeMap::new();
    let mut groups: Vec<Group> = Vec::new();
    for (at, finding) in findings.iter().enumerate() {
        let cause = cause(at);
        // Without a cause, as in reports of other programs, findings are grouped by rule.
        let rule = cause.is_none().then_some(&*finding.rule);
        let place = *known.entry((cause, finding.exchange.as_deref(), rule)).or_insert_with(|| {
            groups.push(Group { id: String::new(), cause, findings: Vec::new() });
            groups.len() - 1
        });
        if let Some(group) = groups.get_mut(place) {
            group.findings.push(at);
        }
    }
    groups
}

#[derive(Debug, Default)]
struct Ids(BTreeMap<String, usize>);

impl Ids {
    fn unique(&mut self, name: &str) -> String {
        let name = anchor(name);
        let times = self.0.entry(name.clone()).or_default();
        *times += 1;
        // No other id has this character.
        if *times == 1 { name } else { format!("{name}~{times}") }
    }
}

pub(super) fn anchor(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-');
    let plain: String = name.chars().take(120).map(|c| if is_plain(c) { c } else { '-' }).collect();
    // Sections have ids without a slash.
    if plain.contains('/') { plain } else { format!("of/{plain}") }
}

pub(super) fn rule_id(rule: &str) -> String {
    anchor(&format!("rule/{rule}"))
}

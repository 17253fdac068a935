//! Whether concurrent streams are isolated.
//!
//! Each request has a unique mark in its input that the response must repeat. A mark of another request in a response,
//! or an id that two responses share, has leaked between streams. Sequence numbers that are counted across streams are
//! found by the rules of each stream.

use std::collections::BTreeMap;

use super::differences::first_of;
use super::facts::Facts;
use results::{Judgement, Verdict};

pub(super) fn apart(attempts: &[&Facts]) -> Judgement {
    if attempts.len() < 2 {
        return Judgement::new(
            Verdict::NotExercised,
            "it was sent alone; --concurrent sends several at once",
        );
    }
    let mut leaks = foreign_marks(attempts);
    leaks.extend(shared_ids(attempts));
    if !leaks.is_empty() {
        return Judgement::new(Verdict::Fail, first_of(&leaks));
    }
    let repeats_own = |facts: &&&Facts| facts.asked_mark.is_some_and(|mark| facts.marks.contains(&mark));
    match attempts.iter().filter(repeats_own).count() {
        0 => Judgement::new(Verdict::NotExercised, "no response repeats the mark of its request"),
        _ => Judgement::PASS,
    }
}

fn foreign_marks(attempts: &[&Facts]) -> Vec<String> {
    let of_mark = |mark: usize| attempts.iter().position(|facts| facts.asked_mark == Some(mark));
    let mut found = Vec::new();
    for (at, facts) in attempts.iter().enumerate() {
        for other in facts.marks.iter().filter(|mark| facts.asked_mark != Some(**mark)) {
            if let Some(of) = of_mark(*other) {
                found.push(format!(
                    "response {} contains the mark of the request for response {}",
                    at + 1,
                    of + 1
                ));
            }
        }
    }
    found
}

fn shared_ids(attempts: &[&Facts]) -> Vec<String> {
    let mut first: BTreeMap<&str, usize> = BTreeMap::new();
    let mut found = Vec::new();
    for (at, facts) in attempts.iter().enumerate() {
        for id in &facts.ids {
            match first.get(id.as_str()) {
                Some(of) => found.push(format!("responses {} and {} share the id {id:?}", of + 1, at + 1)),
                None => {
                    first.insert(id, at);
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(mark: usize, marks: &[usize], ids: &[&str]) -> Facts {
        Facts {
            asked_mark: Some(mark),
            marks: marks.iter().copied().collect(),
            ids: ids.iter().map(|id| (*id).to_owned()).collect(),
            ..Facts::default()
        }
    }

    fn judged(attempts: &[Facts]) -> String {
        apart(&attempts.iter().collect::<Vec<_>>()).to_string()
    }

    #[test]
    fn leaks_are_reported() {
        let good = [facts(1, &[1], &["a"]), facts(2, &[2], &["b"]), facts(3, &[], &["c"])];
        assert_eq!(judged(&good), "pass");
        let mark = [facts(1, &[1, 2], &["a"]), facts(2, &[2], &["b"])];
        assert_eq!(judged(&mark), "fail (response 1 contains the mark of the request for response 2)");
        let id = [facts(1, &[1], &["a"]), facts(2, &[2], &["b"]), facts(3, &[3], &["a"])];
        assert_eq!(judged(&id), "fail (responses 1 and 3 share the id \"a\")");
    }

    #[test]
    fn what_shows_nothing_is_no_pass() {
        assert!(judged(&[facts(1, &[1], &["a"])]).starts_with("not exercised"));
        assert!(judged(&[facts(1, &[], &["a"]), facts(2, &[], &["b"])]).starts_with("not exercised"));
        // A mark that was not sent is the model's invention.
        assert_eq!(judged(&[facts(1, &[1, 9], &["a"]), facts(2, &[], &["b"])]), "pass");
    }
}

//! Recordings that are right.

use catalogue::{BETWEEN_CASES, BETWEEN_LENIENCIES, BETWEEN_RULES};
use spec::Verdict;
use translation::Question;

use super::{Bench, pairs};
use crate::judge::stream::check;

#[test]
fn questions_of_pages_can_be_read() {
    for case in BETWEEN_CASES {
        let question: Result<Question, _> = serde_json::from_str(case.question);
        assert!(question.is_ok(), "{}: {question:?}", case.id);
    }
}

#[test]
fn a_good_gateway_has_no_findings() {
    let mut wrong = Vec::new();
    for (front, upstream) in pairs() {
        for case in BETWEEN_CASES
            .iter()
            .filter(|case| case.session.is_none() && case.crowd.is_none() && case.leaves_after.is_none())
        {
            let is_in = |apis: &[&str], api| apis.is_empty() || apis.contains(&api);
            if !is_in(case.fronts, front) || !is_in(case.upstreams, upstream) {
                continue;
            }
            // The renderer of Chat Completions shows one part of a summary.
            if (front, case.id) == ("chat", "reasoning/summary") {
                continue;
            }
            // Messages has one word for what a model and what a filter refuses, and Gemini has none for a model.
            if [("messages", "gemini"), ("gemini", "messages")].contains(&(front, upstream))
                && case.id.ends_with("refusal") | case.id.starts_with("refusal")
            {
                continue;
            }
            let judged = Bench::new(front, upstream, case.id).judge();
            for finding in judged.findings {
                wrong.push(format!(
                    "{front}-{upstream}/{}: {} [{}] {}\n    up {}\n    cl {}",
                    case.id, finding.rule, finding.kind, finding.message, finding.upstream, finding.client
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} findings\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn replaced_rules_find_what_gateways_may_do() {
    let mut found = Vec::new();
    for api in spec::spoken() {
        let mut bench = Bench::new(api.name, "responses", "text/plain");
        let client = bench.evidence.client.first_mut().unwrap();
        let named = format!("a-route/{}", bench.test.model);
        client.path = client.path.replace(&bench.test.model, &named);
        client.body = String::from_utf8_lossy(&client.body).replace(&bench.test.model, &named).into_bytes();
        found.extend(check(bench.test.front, client, true).into_iter().map(|finding| finding.rule));
        bench.test.model = named;
        assert_eq!(bench.found(), [], "{}", api.name);
    }
    let replaced = BETWEEN_RULES.iter().flat_map(|rule| rule.replaces);
    let unused: Vec<_> = replaced.filter(|rule| found.iter().all(|own| own != *rule)).collect();
    assert!(unused.is_empty(), "{unused:?}");
}

#[test]
fn a_test_can_be_shown() {
    let shown = format!("{:?}", Bench::new("chat", "messages", "text/plain").test);
    assert!(shown.starts_with("Test { name: \"chat-messages/text/plain\", "), "{shown}");
}

#[test]
fn each_leniency_is_one() {
    for known in BETWEEN_LENIENCIES {
        let mut bench = Bench::new(known.upstream, known.upstream, "text/plain");
        let root = bench.test.upstream.root("request").unwrap();
        let Verdict::Invalid(faults, _) = bench.test.upstream.check_type(root, known.request) else {
            panic!("the schema allows {}", known.request);
        };
        let demands: Vec<_> = faults.iter().map(|fault| fault.kind.to_string()).collect();
        assert!(demands.iter().any(|demand| demand.contains(known.demand)), "{}: {demands:?}", known.request);
        bench.evidence.upstream[0].body = known.request.as_bytes().to_vec();
        let found = bench.found();
        assert!(found.iter().all(|(rule, _)| rule != "request/schema"), "{}: {found:?}", known.request);
    }
}

//! Requests of an agent beside its turns.

use serde_json::Value;
use spec::Api;
use spec::table::Operation;
use translation::pen::counted;

use crate::evidence::{Ended, Evidence, Exchanged, Response};
use crate::judge::parts::findings::{Findings, Problem, tail};

/// The end of the path of a list of models.
const MODELS: &str = "/models";
/// No tokenizer makes a token of so many characters of an agent's request.
const LONGEST: usize = 100;

pub(in crate::judge) fn judge(findings: &mut Findings<'_>, api: &Api, evidence: &Evidence) {
    let counts = api.route(Operation::Count).map(|route| route.path);
    for probe in &evidence.probes {
        let Some(response) = &probe.response else { continue };
        let path = probe.path.split('?').next().unwrap_or_default();
        let name = format!("{} {}", probe.method.name(), probe.path);
        let wrong = match (&response.end, response.status) {
            (Ended::Silent(why) | Ended::Broken(why), _) => Some(format!("fails: {why}")),
            (_, 300..400) => Some(format!("is redirected with status {}", response.status)),
            (_, 200) if path.ends_with(MODELS) && !has_models(response) => {
                Some("is answered with status 200, and the body is no list of models".to_owned())
            }
            _ => None,
        };
        if let Some(wrong) = wrong {
            let shown = tail(&response.body());
            findings.add("contract/probe", Problem::new(path, format!("{name} {wrong}")).showing("", &shown));
        } else if counts.is_some_and(|end| path.ends_with(end)) && response.status == 200 {
            count(findings, api, &name, probe, response);
        }
    }
}

fn body(response: &Response) -> Value {
    serde_json::from_slice(&response.body()).unwrap_or_default()
}

fn has_models(response: &Response) -> bool {
    let body = body(response);
    body["data"].as_array().is_some_and(|all| all.iter().all(|model| model["id"].is_string()))
}

fn count(findings: &mut Findings<'_>, api: &Api, name: &str, probe: &Exchanged, response: &Response) {
    let size = probe.body.len();
    // The first member of a right answer.
    let answer = counted(api, 0);
    let member = answer.as_object().and_then(|all| all.keys().next()).map_or("", String::as_str);
    let told = body(response)[member].as_u64();
    let message = match told {
        None => format!("{name} is answered with status 200, and without `{member}`"),
        Some(count) if count < (size / LONGEST) as u64 => {
            format!("{name} counts {count} tokens in a request of {size} bytes")
        }
        Some(_) => return,
    };
    findings
        .add("contract/count-tokens", Problem::new("count", message).showing("", &tail(&response.body())));
}

//! Whether the upstream's request is valid.

use catalogue::BETWEEN_LENIENCIES;
use results::starred;
use results::text::listed_plainly;
use serde_json::Value;
use spec::json::{FaultKind, Wanted};
use spec::{Dialect, Fault, Verdict};

use crate::evidence::{Exchanged, Test};
use crate::judge::parts::findings::{Findings, Problem, shown};

/// The root of dialects that is the type of a request.
const ROOT: &str = "request";
/// Maximum number of faults of a request that are reported, and of properties that are named.
const MOST: usize = 5;
/// The member that distinguishes the forms of an object.
const TYPE: &str = "/type";

/// The places where the request is invalid.
pub(in crate::judge) fn judge(findings: &mut Findings<'_>, test: &Test, request: &Exchanged) -> Vec<String> {
    let api = test.upstream.api;
    let renamed = request.request(api).filter(|_| !api.request.opaque.is_empty());
    let json = renamed.map_or_else(|| String::from_utf8_lossy(&request.body), |it| it.to_string().into());
    let Some(root) = test.upstream.root(ROOT) else { return Vec::new() };
    match test.upstream.check_type(root, &json) {
        Verdict::Valid | Verdict::Unknown => Vec::new(),
        Verdict::NotJson(problem, at) => {
            let message = format!("the upstream's request is no JSON: {problem:?} at byte {at}");
            findings.add("request/schema", Problem::new("no JSON", message).showing(&json, ""));
            Vec::new()
        }
        Verdict::Invalid(faults, _) => {
            let value: Value = serde_json::from_str(&json).unwrap_or_default();
            let mut taken: Vec<&Fault> =
                faults.iter().filter(|fault| !is_lenient(test.upstream.api.name, fault)).collect();
            let broken = taken.iter().map(|fault| fault.pointer.clone()).collect();
            let mut places = 0;
            while let Some(fault) = taken.first().copied().filter(|_| places < MOST) {
                places += 1;
                let (same, rest): (Vec<&Fault>, _) =
                    taken.into_iter().partition(|other| is_alike(other, fault));
                taken = rest;
                findings.add("request/schema", problem(test.upstream, &value, &same));
            }
            broken
        }
    }
}

/// Objects at the same place that lack something have one fault.
fn is_alike(one: &Fault, other: &Fault) -> bool {
    let is_lack = |fault: &Fault| fault.kind.missing().is_some();
    starred(&one.pointer) == starred(&other.pointer)
        && (one.kind == other.kind || is_lack(one) && is_lack(other))
}

fn problem(upstream: &Dialect, request: &Value, faults: &[&Fault]) -> Problem {
    let Some(fault) = faults.first() else { return Problem::default() };
    let place = starred(&fault.pointer);
    let named = shown(if place.is_empty() { "the body" } else { &place });
    let mut lacking: Vec<&str> = faults.iter().filter_map(|fault| fault.kind.missing()).collect();
    lacking.dedup();
    let message = match lacking.as_slice() {
        [] if is_form(fault) => {
            let form = other_form(upstream, request, &fault.pointer);
            let title = upstream.api.title;
            format!(
                "{named} of the upstream's request is {}, which {title} does not have here{form}",
                shown(&fault.actual.to_string())
            )
        }
        [] => format!(
            "{named} of the upstream's request is {}, expected {}",
            shown(&fault.actual.to_string()),
            shown(&fault.kind.to_string())
        ),
        [one] => format!("{named} of the upstream's request lacks property {one:?}"),
        all => {
            let missing = listed_plainly(all, MOST, |name| format!("{name:?}"));
            format!("{named} of the upstream's request lacks properties {missing}")
        }
    };
    let value = request.pointer(&fault.pointer).filter(|_| !fault.pointer.is_empty());
    let holder =
        fault.pointer.strip_suffix(TYPE).filter(|_| is_form(fault)).and_then(|at| request.pointer(at));
    let sent = holder.or(value).map(Value::to_string).unwrap_or_default();
    let kind = format!(
        "{place} {}",
        if is_form(fault) { "form".to_owned() } else { shown(&fault.kind.to_string()) }
    );
    Problem::new(kind.trim(), message).showing(&sent, "")
}

/// If no form has the type of an object, its form is unknown.
fn is_form(fault: &Fault) -> bool {
    let is_type = fault.pointer.ends_with(TYPE) && fault.actual.string().is_some();
    is_type && matches!(fault.kind, FaultKind::Value(Wanted::Constant(_) | Wanted::OneOf(_)))
}

/// The form without a type shows which members the object lacks.
fn other_form(upstream: &Dialect, request: &Value, pointer: &str) -> String {
    let mut untyped = request.clone();
    let holder = pointer.strip_suffix(TYPE).unwrap_or_default();
    let removed = untyped.pointer_mut(holder).and_then(Value::as_object_mut).and_then(|it| it.remove("type"));
    let Some(root) = upstream.root(ROOT).filter(|_| removed.is_some()) else { return String::new() };
    let Verdict::Invalid(faults, _) = upstream.check_type(root, &untyped.to_string()) else {
        return String::new();
    };
    let lacking: Vec<&str> = faults
        .iter()
        .filter(|fault| fault.pointer == holder)
        .filter_map(|fault| fault.kind.missing())
        .collect();
    if lacking.is_empty() || lacking.contains(&"type") {
        return String::new();
    }
    let names = listed_plainly(&lacking, MOST, |name| format!("{name:?}"));
    format!("; without a type, {} lacks {names}", shown(&starred(holder)))
}

fn is_lenient(api: &str, fault: &Fault) -> bool {
    let (place, demand) = (starred(&fault.pointer), fault.kind.to_string());
    BETWEEN_LENIENCIES
        .iter()
        .any(|known| known.upstream == api && place.ends_with(known.place) && demand.contains(known.demand))
}

//! Rules, scenarios and profiles name only what there is.

use serde_json::Value;

use super::context::Context;
use super::report::{Place, Report};
use super::schemas::Judges;
use super::{profiles, structure, violations};
use crate::formats::{
    Authority, Coverage, OnSocket, Operation, PREVIOUS, PREVIOUS_OUTPUT, Place as Operand, Rule, Scenario,
    ScenarioMetadata,
};

pub(super) fn check<'c>(context: &'c Context, judges: &mut Judges<'c>, report: &mut Report) {
    for rule in context.catalogue.rules.values() {
        check_rule(context, rule, report);
        violations::check(context, rule, report);
    }
    structure::check(context, report);
    for scenario in context.catalogue.scenarios.values() {
        check_scenario(context, scenario, judges, report);
    }
    profiles::check(context, report);
}

fn check_rule(context: &Context, rule: &Rule, report: &mut Report) {
    let file = format!("rules/{}.md", rule.id);
    let metadata = &rule.metadata;
    let scopes = metadata.scope.names();
    for scope in scopes.iter().filter(|scope| !context.shared.scopes.scopes.contains_key(*scope)) {
        let message = format!("there is no scope \"{scope}\"");
        report.find(&file, Place::entry("scope"), message, "use a scope of scopes.toml, or `stream` alone");
    }
    for place in metadata.relation.iter().flat_map(|relation| relation.places()) {
        operand(context, place, scopes, &file, report);
    }
    for dialect in metadata.only_in.iter().filter(|name| !context.dialects.contains_key(*name)) {
        let message = format!("there is no dialect \"{dialect}\"");
        report.find(&file, Place::entry("only_in"), message, "name a dialect under dialects/");
    }
    let citation = &metadata.citation;
    let version = context.catalogue.requirements.get(&citation.source);
    let mut find = |message: String, help: &str| report.find(&file, Place::entry("citation"), message, help);
    match (&citation.requirement, version) {
        (Some(id), None) => {
            find(
                format!("{id} is a requirement of no file requirements/{}.toml", citation.source),
                "cite a version there",
            );
        }
        (Some(id), Some(version)) => {
            match version.requirements.iter().find(|requirement| requirement.id == *id) {
                None => find(format!("{} has no requirement {id}", citation.source), "cite one that it has"),
                Some(requirement) if !requirement.rules.contains(&rule.id) => {
                    let message =
                        format!("requirement {id} of {} does not name this rule in turn", citation.source);
                    find(message, "add the rule to its `rules`, in place of `open`");
                }
                Some(_) => {}
            }
        }
        (None, Some(_)) if metadata.authority == Authority::Sentence => {
            let message = format!("{} lists its sentences, but none is cited", citation.source);
            find(message, "add `requirement`, the id of the sentence");
        }
        _ => {}
    }
}

fn operand(context: &Context, place: &Operand, scopes: &[String], file: &str, report: &mut Report) {
    let mut find = |message: String, help: &str| report.find(file, Place::entry("relation"), message, help);
    let says = [place.role.is_some(), !place.events.is_empty(), place.stated_by.is_some()];
    if says.iter().filter(|said| **said).count() != 1 {
        find(
            "a place has exactly one of `role`, `events` and `stated_by`".to_owned(),
            "say whose value it is, once",
        );
    }
    for event in place.events.iter().filter(|event| !context.has_event(event)) {
        find(format!("no dialect has an event \"{event}\""), "name an event type");
    }
    if let Some(at) = place.at.as_ref().filter(|at| !at.starts_with('/')) {
        find(format!("\"{at}\" is no JSON pointer"), "a pointer begins with /");
    }
    let Some(role) = place.role else { return };
    for scope in scopes.iter().filter(|scope| context.shared.scopes.scopes.contains_key(*scope)) {
        let mut events = context.dialects.values().flat_map(|dialect| dialect.events.values());
        if !events.any(|event| event.lifecycle.scope == *scope && event.lifecycle.role == role) {
            find(
                format!("no event of scope \"{scope}\" has the role {role:?}"),
                "use a role that the scope has",
            );
        }
    }
}

fn check_scenario<'c>(
    context: &'c Context,
    scenario: &Scenario,
    judges: &mut Judges<'c>,
    report: &mut Report,
) {
    let file = format!("scenarios/{}.md", scenario.id);
    let mut find =
        |entry: &str, message: String, help: &str| report.find(&file, Place::entry(entry), message, help);
    let ScenarioMetadata { elicits, status, previous, operation, websocket, .. } = &scenario.metadata;
    let wants_stream =
        operation.is_aside() || scenario.request.get("stream").is_some_and(|stream| stream == true);
    if wants_stream && elicits.is_empty() && status.is_empty() {
        find(
            "elicits",
            "it elicits nothing, so it always passes".to_owned(),
            "name the event types it is there for, or the `status` of a refusal",
        );
    }
    for status in status.iter().filter(|status| !(200..600).contains(*status)) {
        find("status", format!("{status} is no status of an answer"), "name one from 200 to 599");
    }
    if let Some(id) = previous
        && let Some(problem) = endless(context, id)
    {
        find("previous", problem, "name a scenario that comes to an end");
    }
    if previous.is_none() && websocket.is_some_and(|how| how != OnSocket::Anew) {
        find("websocket", "it comes after nothing".to_owned(), "name the scenario before it as `previous`");
    }
    let is_of_http = websocket.is_none();
    let is_on_socket = |id: &String| context.catalogue.scenarios.get(id)?.metadata.websocket;
    if is_of_http && previous.as_ref().and_then(is_on_socket).is_some() {
        let message = "it is sent by HTTP, and what it continues is not".to_owned();
        find("previous", message, "name a scenario that is sent by HTTP, too");
    }
    for (problem, help) in misuses(scenario) {
        find("operation", problem.to_owned(), help);
    }
    let events = elicits.iter().flat_map(|events| events.split('|')).map(|event| ("elicits", event));
    let without = scenario.metadata.without.iter().filter_map(|event| event.split(' ').next());
    for (entry, event) in events.chain(without.map(|event| ("without", event))) {
        if !context.has_event(event) {
            find(entry, format!("no dialect has an event \"{event}\""), "name event types");
        }
    }
    let mut refused = None;
    let mut request = scenario.request.clone();
    if let Some(input) = request.get_mut("input").and_then(Value::as_array_mut) {
        input.retain(|entry| !is_previous_output(entry));
    }
    let root = match operation {
        Operation::Create => "request",
        operation if operation.is_aside() => "websocket_request",
        _ => "compact_request",
    };
    // What is to be refused may be wrong.
    let is_due = status.is_empty() && operation.has_body();
    let by_dialects = is_due.then_some(context.dialects.values());
    for dialect in by_dialects.into_iter().flatten() {
        let Some(root) = dialect.file.roots.get(root) else { continue };
        let faults = judges.faults(dialect, root, &request);
        if faults.is_empty() {
            refused = None;
            break;
        }
        refused = Some((dialect.name.clone(), faults));
    }
    if let Some((dialect, faults)) = refused {
        let message = format!("no dialect takes the request; {dialect} refuses it {}", faults.join(", and "));
        find("the request", message, "correct the request");
    }
    for id in &scenario.metadata.rules {
        known_rule(context, id, &file, "rules", report);
    }
}

fn is_previous_output(entry: &Value) -> bool {
    entry.get("type").is_some_and(|kind| kind == PREVIOUS_OUTPUT)
}

/// Returns what does not go with the operation of a scenario, and what to do.
fn misuses(scenario: &Scenario) -> Vec<(&'static str, &'static str)> {
    let ScenarioMetadata {
        operation,
        previous,
        twin,
        cut_after,
        fill,
        malformed,
        status,
        websocket,
        lanes,
        ..
    } = &scenario.metadata;
    let request = &scenario.request;
    let entries = request.get("input").and_then(Value::as_array);
    let is_previous = |name: &str| request.get(name).is_some_and(|id| id == PREVIOUS);
    let continues = is_previous("previous_response_id")
        || is_previous("response_id")
        || entries.is_some_and(|entries| entries.iter().any(is_previous_output));
    let is_stream = request.get("stream").is_some_and(|stream| stream == true);
    let is_text = request.get("input").is_some_and(Value::is_string);
    let mut found = Vec::new();
    let mut find = |is_wrong: bool, problem, help| found.extend(is_wrong.then_some((problem, help)));
    find(
        operation.has_body() && continues != previous.is_some() && *websocket != Some(OnSocket::Ahead),
        "`previous` and the request do not agree on whether something is continued",
        "give the request the previous_response_id \"previous\", or an input of the type \"previous_output\"",
    );
    find(
        matches!(operation, Operation::Poll | Operation::Resume) && previous.is_none(),
        "nothing can be polled or taken up again without `previous`",
        "name the scenario whose response it is",
    );
    find(
        !operation.has_body() && status.is_empty() && previous.is_none(),
        "an id that no response has must be refused",
        "give the `status` of the refusal, or `previous`",
    );
    find(
        *malformed && status.is_empty(),
        "what is no JSON must be refused",
        "give the `status` of the refusal",
    );
    find(*twin && !is_stream && status.is_empty(), "only a stream has a twin", "ask for a stream");
    find(cut_after.is_some() && !is_stream, "only a stream can be left", "ask for a stream");
    find(
        operation.is_aside() && (websocket.is_none() || *websocket == Some(OnSocket::Ahead)),
        "a message about a response is sent on the connection of that response",
        "set `websocket` to \"during\", or to \"in-turn\" if the response has to end before",
    );
    find(
        *websocket == Some(OnSocket::During) && !operation.is_aside(),
        "only a message about a response is sent while that comes",
        "set `operation` to \"steer\" or \"inject\", or `websocket` to \"ahead\"",
    );
    let is_in_lane = request.get("stream_id").is_some();
    find(
        (is_in_lane && websocket.is_none()) || (lanes.is_some() && !is_in_lane),
        "lanes have names, and are lanes of a WebSocket",
        "give the request a `stream_id`, and set `websocket`",
    );
    find(fill.is_some() && !is_text, "only an input that is a text can be filled", "make it a text");
    found
}

/// Returns why what a scenario continues cannot be sent first.
fn endless(context: &Context, previous: &str) -> Option<String> {
    let mut chain = vec![previous];
    while let Some(id) = chain.last() {
        let Some(scenario) = context.catalogue.scenarios.get(*id) else {
            return Some(format!("there is no scenario \"{id}\""));
        };
        let next = scenario.metadata.previous.as_deref()?;
        if chain.contains(&next) {
            return Some(format!("{} is a circle", chain.join(" after ")));
        }
        chain.push(next);
    }
    None
}

/// Notes a statement that names what does not exist, or says too little or too much of its coverage.
pub(super) fn coverage(
    context: &Context,
    found: Option<Coverage<'_>>,
    file: &str,
    id: &str,
    report: &mut Report,
) {
    match found {
        None => {
            let message = "it says nothing, or more than one thing, of how it is covered";
            let help = "give exactly one of `rules` (and `scenarios`), `unobservable` and `open`";
            report.find(file, Place::entry(id), message, help);
        }
        Some(Coverage::Covered { rules, scenarios }) => {
            for rule in rules {
                known_rule(context, rule, file, id, report);
            }
            for scenario in scenarios {
                known_scenario(context, scenario, file, id, report);
            }
        }
        Some(Coverage::Unobservable(text) | Coverage::Open(text)) if text.trim().is_empty() => {
            report.find(file, Place::entry(id), "the reason is empty", "say why, or what is to be written");
        }
        Some(_) => {}
    }
}

pub(super) fn known_rule(context: &Context, id: &str, file: &str, entry: &str, report: &mut Report) {
    if !context.catalogue.rules.contains_key(id) {
        report.find(file, Place::entry(entry), format!("there is no rule {id}"), "name a rule under rules/");
    }
}

pub(super) fn known_scenario(context: &Context, id: &str, file: &str, entry: &str, report: &mut Report) {
    if !context.catalogue.scenarios.contains_key(id) {
        report.find(
            file,
            Place::entry(entry),
            format!("there is no scenario {id}"),
            "name a scenario under scenarios/",
        );
    }
}

//! Checks the references in rules, scenarios and profiles.

use std::path::Path;

use codegen::formats::{
    ApiFile, Authority, Coverage, OnSocket, Operand, Operation, PREVIOUS, PREVIOUS_OUTPUT, Rule, RuleInApi,
    Scenario, Scopes,
};
use serde_json::Value;

use super::context::Context;
use super::report::Report;
use super::schemas::Judges;
use super::{structure, violations};

pub(super) fn check<'c>(context: &'c Context, judges: &mut Judges<'c>, report: &mut Report) {
    for rule in context.catalogue.rules.values() {
        check_rule(context, rule, report);
        violations::check(context, rule, report);
    }
    structure::check(context, report);
    for scenario in context.catalogue.scenarios.values() {
        check_scenario(context, scenario, judges, report);
    }
}

fn check_rule(context: &Context, rule: &Rule, report: &mut Report) {
    let file = context.file("rules", &rule.id, "md");
    let scopes = rule.scopes.names();
    let exercised_by = rule.exercised_by.as_ref().map(Scopes::names).unwrap_or_default();
    for (key, scopes) in [("scope", scopes), ("exercised_by", exercised_by)] {
        for scope in scopes.iter().filter(|scope| context.shared.scope(rule.api.as_deref(), scope).is_none())
        {
            let message = format!("there is no scope \"{scope}\"");
            report.find(&file, key, message, "use scopes of api.toml, or only `stream`");
        }
    }
    for place in rule.relation.iter().flat_map(|relation| relation.operands()) {
        operand(context, place, rule, &file, report);
    }
    for dialect in rule.only_in.iter().filter(|name| !context.dialects.contains_key(*name)) {
        let message = format!("there is no dialect \"{dialect}\"");
        report.find(&file, "only_in", message, "use a dialect under dialects/");
    }
    for own in &rule.in_apis {
        citation(context, rule, own, report);
    }
}

fn citation(context: &Context, rule: &Rule, own: &RuleInApi, report: &mut Report) {
    let (file, entry) = context.place_in_api(rule, own, "citation");
    let citation = &own.citation;
    let version = context.catalogue.requirements.get(&citation.source);
    let mut find = |message: String, help: &str| report.find(&file, entry.clone(), message, help);
    match (&citation.requirement, version) {
        (Some(id), None) => {
            find(
                format!(
                    "requirement {id} is cited, but requirements/{}.toml does not exist",
                    citation.source
                ),
                "set `source` to the name of a file in requirements/",
            );
        }
        (Some(id), Some(version)) => {
            match version.requirements.iter().find(|requirement| requirement.id == *id) {
                None => {
                    find(format!("{} has no requirement {id}", citation.source), "use an id of that file");
                }
                Some(requirement) if !requirement.rules.contains(&rule.id) => {
                    let message = format!("requirement {id} of {} does not list this rule", citation.source);
                    find(message, "replace `open` of the requirement by `rules`, and add the rule");
                }
                Some(_) => {}
            }
        }
        (None, Some(_)) if own.authority == Authority::Sentence => {
            let message =
                format!("the authority is a sentence of {}, but `requirement` is missing", citation.source);
            find(message, "set `requirement` to the id of the sentence");
        }
        _ => {}
    }
}

fn operand(context: &Context, place: &Operand, of: &Rule, file: &Path, report: &mut Report) {
    let mut find = |message: String, help: &str| report.find(file, "relation", message, help);
    let says = [place.role.is_some(), !place.events.is_empty(), place.stated_by.is_some()];
    if says.iter().filter(|said| **said).count() != 1 {
        find(
            "an operand needs exactly one of `role`, `events` and `stated_by`".to_owned(),
            "keep one of them",
        );
    }
    for event in place.events.iter().filter(|event| !context.has_effect(event)) {
        find(format!("no dialect has an event \"{event}\""), "use the type of an event");
    }
    if let Some(at) = place.at.as_ref().filter(|at| !at.starts_with('/')) {
        find(format!("\"{at}\" is not a JSON pointer"), "begin the pointer with /");
    }
    let Some(role) = place.role else { return };
    let known = |scope: &&String| context.shared.scope(of.api.as_deref(), scope).is_some();
    for scope in of.scopes.names().iter().filter(known) {
        let events = context.dialects.values().flat_map(|dialect| dialect.events.values());
        let mut effects = events.flat_map(|event| event.lifecycle.effects());
        if !effects.any(|effect| effect.scope == *scope && effect.role == role) {
            find(
                format!("no event of scope \"{scope}\" has the role {role:?}"),
                "use a role that an event of the scope has",
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
    let file = Context::file_of(scenario);
    let mut find = |entry: &str, message: String, help: &str| report.find(&file, entry, message, help);
    let Scenario { elicits, items, stops, status, previous, operation, websocket, .. } = scenario;
    let wants_stream =
        operation.is_aside() || scenario.request.get("stream").is_some_and(|stream| stream == true);
    let has_demand = !elicits.is_empty() || !items.is_empty() || !stops.is_empty();
    if wants_stream && !has_demand && status.is_empty() {
        find(
            "elicits",
            "`elicits` is empty, so the scenario always passes".to_owned(),
            "list the event types that the response must contain, or the `status` of an error response",
        );
    }
    for status in status.iter().filter(|status| !(200..600).contains(*status)) {
        find(
            "status",
            format!("{status} is not the HTTP status of a response"),
            "use a status from 200 to 599",
        );
    }
    if let Some(id) = previous
        && let Some(problem) = endless(context, scenario.api.as_deref(), id)
    {
        find("previous", problem, "use a scenario whose own `previous` leads to a first request");
    }
    if previous.is_none() && websocket.is_some_and(|how| how != OnSocket::Anew) {
        find(
            "websocket",
            "`websocket` is set without `previous`".to_owned(),
            "set `previous` to the scenario before it",
        );
    }
    let is_of_http = websocket.is_none();
    let is_on_socket = |id: &String| context.catalogue.scenario(scenario.api.as_deref(), id)?.websocket;
    if is_of_http && previous.as_ref().and_then(is_on_socket).is_some() {
        let message = "the scenario uses HTTP, but `previous` needs a WebSocket".to_owned();
        find("previous", message, "use a scenario that runs over HTTP, or set `websocket`");
    }
    let shape = context.shared.apis.get(scenario.api.as_deref().unwrap_or_default());
    for (problem, help) in shape.map(|api| misuses(scenario, api)).unwrap_or_default() {
        find("operation", problem.to_owned(), help);
    }
    let events = elicits.iter().flat_map(|events| events.split('|')).map(|event| ("elicits", event));
    let without = scenario.without.iter().filter_map(|event| event.split(' ').next());
    for (entry, event) in events.chain(without.map(|event| ("without", event))) {
        if !context.has_effect(event) {
            find(entry, format!("no dialect has an event \"{event}\""), "use types of events");
        }
    }
    let mut refused = None;
    let mut request = scenario.request.0.clone();
    let input = shape.and_then(|api| request.get_mut(&api.request.input)).and_then(Value::as_array_mut);
    if let Some(entries) = input {
        entries.retain(|entry| !is_previous_output(entry));
    }
    if context.shared.apis.values().all(|api| !api.operations.contains_key(operation)) {
        let message = format!("no API has the operation {}", operation.name());
        find("operation", message, "add its route to api.toml, or use another operation");
    }
    let root = shape.and_then(|api| api.operations.get(operation)?.request.as_ref());
    let dialects =
        context.dialects.values().filter(|dialect| Some(&dialect.file.api) == scenario.api.as_ref());
    // A request that must be rejected may be invalid.
    let is_due = status.is_empty() && operation.has_body();
    let by_dialects = is_due.then_some(dialects);
    for dialect in by_dialects.into_iter().flatten() {
        let Some(root) = root.and_then(|root| dialect.file.roots.get(root)) else { continue };
        let faults = judges.faults(dialect, root, &request);
        if faults.is_empty() {
            refused = None;
            break;
        }
        refused = Some((dialect.name.clone(), faults));
    }
    if let Some((dialect, faults)) = refused {
        let message = format!(
            "the request is not valid in any dialect; in {dialect}: {}",
            faults.iter().map(ToString::to_string).collect::<Vec<_>>().join(", and ")
        );
        find("the request", message, "correct the request");
    }
    for id in &scenario.rules {
        known_rule(context, id, &file, "rules", report);
    }
}

fn is_previous_output(entry: &Value) -> bool {
    entry.get("type").is_some_and(|kind| kind == PREVIOUS_OUTPUT)
}

fn misuses(scenario: &Scenario, api: &ApiFile) -> Vec<(&'static str, &'static str)> {
    let Scenario { operation, previous, twin, cut_after, fill, malformed, unknown_key, .. } = scenario;
    let Scenario { status, websocket, lanes, .. } = scenario;
    let request = &scenario.request;
    let input = request.get(&api.request.input);
    let entries = input.and_then(Value::as_array);
    let is_previous = |name: &String| request.get(name).is_some_and(|id| id == PREVIOUS);
    let names = api.session.as_ref().map(|session| [&session.previous, &session.target]);
    let continues = names.into_iter().flatten().any(is_previous)
        || entries.is_some_and(|entries| entries.iter().any(is_previous_output));
    let is_stream = request.get("stream").is_some_and(|stream| stream == true);
    let text = api.request.text.as_ref().zip(entries).and_then(|(at, entries)| entries.last()?.pointer(at));
    let is_text = text.or(input).is_some_and(Value::is_string);
    let mut found = Vec::new();
    let mut find = |is_wrong: bool, problem, help| found.extend(is_wrong.then_some((problem, help)));
    find(
        operation.has_body() && continues != previous.is_some() && *websocket != Some(OnSocket::Ahead),
        "only one of `previous` and the request continues another response",
        "set `previous`, and in the request the id of the previous response to \"previous\" or an entry of the type \"previous_output\"",
    );
    find(
        matches!(operation, Operation::Poll | Operation::Resume) && previous.is_none(),
        "the operations poll and resume need `previous`",
        "set `previous` to the scenario that creates the response",
    );
    find(
        !operation.has_body() && status.is_empty() && previous.is_none(),
        "without `previous`, the response does not exist and the request must fail, but `status` is missing",
        "set `status` to the status of the error, or set `previous`",
    );
    find(
        *malformed && status.is_empty(),
        "a malformed request must fail, but `status` is missing",
        "set `status` to the status of the error",
    );
    find(
        *unknown_key && status.is_empty(),
        "a request with an unknown key must fail, but `status` is missing",
        "set `status` to the status of the error",
    );
    find(
        *twin && !is_stream && status.is_empty(),
        "`twin` needs a streaming request",
        "set `stream` to true",
    );
    find(cut_after.is_some() && !is_stream, "`cut_after` needs a streaming request", "set `stream` to true");
    find(
        operation.is_aside() && (websocket.is_none() || *websocket == Some(OnSocket::Ahead)),
        "the operations steer and inject need the WebSocket of the response",
        "set `websocket` to \"during\", or to \"in-turn\" if the response must end first",
    );
    find(
        *websocket == Some(OnSocket::During) && !operation.is_aside(),
        "`websocket` is \"during\", but the operation is neither steer nor inject",
        "set `operation` to \"steer\" or \"inject\", or `websocket` to \"ahead\"",
    );
    let is_in_lane = api.session.as_ref().is_some_and(|session| request.get(&session.lane).is_some());
    find(
        (is_in_lane && websocket.is_none()) || (lanes.is_some() && !is_in_lane),
        "lanes need a `stream_id` and a WebSocket",
        "add `stream_id` to the request, and set `websocket`",
    );
    find(
        fill.is_some() && !is_text,
        "`fill` needs a conversation that is a text, or ends with one",
        "make the last entry of the conversation a text",
    );
    found
}

/// A scenario that continues itself has no first request.
fn endless(context: &Context, api: Option<&str>, previous: &str) -> Option<String> {
    let mut chain = vec![previous];
    while let Some(id) = chain.last() {
        let Some(scenario) = context.catalogue.scenario(api, id) else {
            return Some(format!("the API has no scenario \"{id}\""));
        };
        let next = scenario.previous.as_deref()?;
        if chain.contains(&next) {
            return Some(format!("`previous` is circular: {}", chain.join(" after ")));
        }
        chain.push(next);
    }
    None
}

pub(super) fn coverage(
    context: &Context,
    found: Option<&Coverage>,
    file: &Path,
    id: &str,
    report: &mut Report,
) {
    match found {
        None => {
            let message = "the coverage is missing or ambiguous";
            let help = "set exactly one of `rules` (with `scenarios`), `unobservable` and `open`";
            report.find(file, id, message, help);
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
            report.find(file, id, "the reason is empty", "explain why, or which rule is missing");
        }
        Some(_) => {}
    }
}

pub(super) fn known_rule(context: &Context, id: &str, file: &Path, entry: &str, report: &mut Report) {
    if !context.catalogue.rules.contains_key(id) {
        report.find(file, entry, format!("there is no rule {id}"), "use the id of a rule under rules/");
    }
}

pub(super) fn known_scenario(context: &Context, id: &str, file: &Path, entry: &str, report: &mut Report) {
    if context.catalogue.scenario(None, id).is_none() {
        report.find(
            file,
            entry,
            format!("there is no scenario {id}"),
            "use the id of a scenario under scenarios/",
        );
    }
}

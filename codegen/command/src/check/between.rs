//! Checks rules about gateways and clients with their contracts, and cases and limits of gateways.

use std::collections::BTreeMap;

use codegen::catalogue::Catalogue;
use codegen::folders::{
    self, AGENTS, BETWEEN_CASES, BETWEEN_LIMITS, BETWEEN_PROFILES, BETWEEN_RULES, CLIENT_CONTRACT,
    CLIENT_RULES, CONTRACT, LOG_RULES,
};
use codegen::formats::{
    AgentsFile, Authority, BetweenCase, BetweenLimit, Citation, ContractFile, Reaction, Request, ServedFault,
    SessionCase, TestRule, Writes,
};

use super::context::Context;
use super::report::Report;

/// The word in a request of an agent that the user's first text replaces.
const FIRST: &str = "{first}";
/// The word in a question that the name of a test replaces.
const MARK: &str = "{mark}";

/// The entry that is wrong, the problem, and the fix.
type Misuse = (&'static str, String, &'static str);
type Contract<'c> = (&'static str, &'c ContractFile);

pub(super) fn check(context: &Context, report: &mut Report) {
    let catalogue = &context.catalogue;
    let apis = folders::apis(&context.spec);
    for (rules, folder, contract) in all(catalogue) {
        for (id, rule) in rules {
            let file = folders::file(&context.spec, folder, &format!("{id}.md"));
            let founded = authority_misuses(rule, contract);
            let proven = violation_misuses(rule, folder == LOG_RULES);
            for (entry, problem, help) in rule_misuses(rule).into_iter().chain(founded).chain(proven) {
                report.find(&file, entry, problem, help);
            }
        }
    }
    for (id, rule) in &catalogue.between_rules {
        let file = folders::file(&context.spec, BETWEEN_RULES, &format!("{id}.md"));
        let unknown = rule.replaces.iter().filter(|replaced| !catalogue.rules.contains_key(*replaced));
        let unknown = unknown.map(|replaced| {
            ("replaces", format!("there is no rule {replaced}"), "name a rule of the client's API")
        });
        for (entry, problem, help) in unknown {
            report.find(&file, entry, problem, help);
        }
    }
    for (id, rule) in
        catalogue.client_rules.iter().filter(|(_, rule)| !rule.modes.is_empty() || !rule.replaces.is_empty())
    {
        let file = folders::file(&context.spec, CLIENT_RULES, &format!("{id}.md"));
        let entry = if rule.modes.is_empty() { "replaces" } else { "modes" };
        report.find(&file, entry, format!("`{entry}` belongs to rules about gateways"), "remove it");
    }
    contract(catalogue, report);
    agents(catalogue, report);
    profiles(context, report);
    for (id, case) in &catalogue.between_cases {
        let file = folders::file(&context.spec, BETWEEN_CASES, &format!("{id}.md"));
        let of_apis =
            case.fronts.iter().chain(&case.upstreams).filter_map(|api| unknown_api("fronts", api, &apis));
        let is_unlike = |like: &&String| *like == id || !catalogue.between_cases.contains_key(*like);
        let of_like = case.like.iter().filter(is_unlike).map(|like| {
            (
                "like",
                format!("`like` is {like}, which is no other case"),
                "name a case whose answer is the same",
            )
        });
        let is_unknown = |agent: &&String| {
            let is_it = |id: &String| id.split_once('/').is_some_and(|(_, name)| name == **agent);
            !catalogue.between_profiles.keys().any(is_it)
        };
        let of_profiles =
            case.session.iter().flat_map(|session| &session.profiles).filter(is_unknown).map(|profile| {
                ("profiles", format!("there is no profile {profile}"), "name a page of between/profiles")
            });
        let is_class = |class: &String| catalogue.refusals.refusals.iter().any(|one| one.class == *class);
        let refused = case.session.as_ref().and_then(|session| session.refused.as_ref());
        let of_refused = refused.filter(|class| !is_class(class)).map(|class| {
            ("refused", format!("there is no class {class}"), "name a class of between/refusals.toml")
        });
        let all =
            case_misuses(case).into_iter().chain(of_apis).chain(of_like).chain(of_profiles).chain(of_refused);
        for (entry, problem, help) in all {
            report.find(&file, entry, problem, help);
        }
    }
    for leniency in &catalogue.between_limits.leniencies {
        let place = || format!("{}: {}", leniency.place, leniency.demand);
        let unknown = unknown_api("upstream", &leniency.upstream, &apis);
        for (_, problem, help) in unknown.into_iter().chain(unfounded(&leniency.reason, &leniency.authority))
        {
            report.find(BETWEEN_LIMITS, place(), problem, help);
        }
    }
    for limit in &catalogue.between_limits.limits {
        let mut misuses = limit_misuses(limit);
        misuses.extend(
            [&limit.front, &limit.upstream]
                .into_iter()
                .flatten()
                .filter_map(|api| unknown_api("limit", api, &apis)),
        );
        let is_rule =
            [catalogue.between_rules.contains_key(&limit.rule), catalogue.rules.contains_key(&limit.rule)];
        if !is_rule.contains(&true) {
            misuses.push((
                "rule",
                format!("there is no rule {}", limit.rule),
                "name a rule of between/rules, or of the client's API",
            ));
        }
        let names = |case: &String| catalogue.between_cases.keys().any(|id| is_of(id, case));
        if let Some(case) = limit.case.as_ref().filter(|case| !names(case)) {
            misuses.push((
                "case",
                format!("there is no case {case}"),
                "name a case, or a group with `/` at its end",
            ));
        }
        for (entry, problem, help) in misuses {
            report.find(BETWEEN_LIMITS, format!("{}: {entry}", limit.rule), problem, help);
        }
    }
}

fn is_of(id: &str, named: &str) -> bool {
    id == named || named.ends_with('/') && id.starts_with(named)
}

fn unknown_api(entry: &'static str, api: &str, known: &[String]) -> Option<Misuse> {
    let is_known = known.iter().any(|name| name == api);
    (!is_known).then(|| (entry, format!("there is no API {api}"), "name a folder of spec/apis"))
}

fn rule_misuses(rule: &TestRule) -> Vec<Misuse> {
    let mut found = Vec::new();
    let is_one_line = !rule.fix.trim().is_empty() && !rule.fix.contains('\n') && !rule.fix.ends_with('.');
    if !is_one_line {
        found.push(("fix", "`fix` is no single line".to_owned(), "write one imperative without a full stop"));
    }
    found
}

fn violation_misuses(rule: &TestRule, is_about_logs: bool) -> Option<Misuse> {
    let (problem, help) = match (is_about_logs, rule.violation.is_empty()) {
        (true, true) => ("no row breaks the rule", "add a ```json block with rows of a log that break it"),
        (false, false) => ("rows of a log belong to rules about logs", "remove the ```json block"),
        _ => return None,
    };
    Some(("the violation", problem.to_owned(), help))
}

/// Threads only show that a rule was broken. They are no foundation for it.
fn authority_misuses(rule: &TestRule, (file, contract): Contract<'_>) -> Vec<Misuse> {
    let mut found = Vec::new();
    let clauses = || {
        let ids: Vec<&str> = contract.clauses.iter().map(|clause| &*clause.id).collect();
        if ids.is_empty() { "it has none".to_owned() } else { format!("it has {}", ids.join(", ")) }
    };
    match (rule.authority, &rule.clause) {
        (Authority::Observed, _) => {
            let problem = "a rule about gateways or clients cannot rest on what was observed".to_owned();
            found.push(("authority", problem, "name a clause of the contract, or cite a document"));
        }
        (Authority::Contract, None) => {
            let problem = format!("no clause of {file} is named; {}", clauses());
            found.push(("clause", problem, "name the clause on which the rule rests"));
        }
        (Authority::Contract, Some(id)) if !contract.clauses.iter().any(|clause| clause.id == *id) => {
            let problem = format!("{file} has no clause {id}; {}", clauses());
            found.push(("clause", problem, "name one of its clauses, or add it there"));
        }
        (Authority::Contract, Some(_)) => {}
        (_, Some(_)) => {
            let problem = "`clause` belongs to the authority `contract`".to_owned();
            found.push(("clause", problem, "remove it, or set `authority` to contract"));
        }
        (_, None) if rule.citations.is_empty() => {
            let problem = "the document that says so is missing".to_owned();
            found.push(("citations", problem, "cite the document and its heading"));
        }
        (_, None) => {}
    }
    let is_vague = |citation: &Citation| {
        citation.source.trim().is_empty()
            || citation.heading.trim().is_empty()
            || citation.requirement.is_some()
    };
    if rule.citations.iter().any(is_vague) {
        let problem = "a citation is no document with a heading".to_owned();
        found.push(("citations", problem, "write `source` and `heading`, and no `requirement`"));
    }
    if let Some(thread) = rule.threads.iter().find(|thread| !is_thread(thread)) {
        let problem = format!("{thread:?} is no thread");
        found.push(("threads", problem, "begin it with repository#number"));
    }
    found
}

fn is_thread(text: &str) -> bool {
    text.split_once('#').is_some_and(|(repository, rest)| {
        !repository.is_empty()
            && !repository.contains(char::is_whitespace)
            && rest.starts_with(|c: char| c.is_ascii_digit())
    })
}

/// Rules about logs rest on no contract.
/// The methods of probes.
const METHODS: [&str; 3] = ["GET", "HEAD", "POST"];

static NO_CONTRACT: ContractFile = ContractFile { clauses: Vec::new() };

/// The rules about gateways, about clients and about logs, each with their folder and their contract.
fn all(catalogue: &Catalogue) -> [(&BTreeMap<String, TestRule>, &'static str, Contract<'_>); 3] {
    [
        (&catalogue.between_rules, BETWEEN_RULES, (CONTRACT, &catalogue.contract)),
        (&catalogue.client_rules, CLIENT_RULES, (CLIENT_CONTRACT, &catalogue.client_contract)),
        (&catalogue.log_rules, LOG_RULES, ("a contract of logs", &NO_CONTRACT)),
    ]
}

/// Each clause needs a rule that rests on it, and a name that no clause of the other contract has.
fn contract(catalogue: &Catalogue, report: &mut Report) {
    let all = all(catalogue).into_iter().flat_map(|(rules, _, (file, contract))| {
        contract.clauses.iter().map(move |clause| (rules, file, clause))
    });
    let all: Vec<_> = all.collect();
    for (at, (rules, file, clause)) in all.iter().enumerate() {
        let mut find = |problem: &str, help| report.find(file, &clause.id, problem.to_owned(), help);
        let is_empty = |text: &str| text.trim().is_empty();
        if [&clause.id, &clause.owes, &clause.because].into_iter().any(|text| is_empty(text)) {
            find("`id`, `owes` or `because` is empty", "write what is owed in one sentence, and why");
        }
        if all.iter().take(at).any(|(.., before)| before.id == clause.id) {
            find("the clause is there twice", "merge the two, or rename one");
        }
        let rests = |rule: &TestRule| rule.clause.as_ref() == Some(&clause.id);
        if !rules.values().any(rests) {
            find("no rule rests on the clause", "name it in a rule, or remove it");
        }
    }
}

/// A reaction is of an agent that there is, and either harms or does not; harm is what reports say of a rule.
fn agents(catalogue: &Catalogue, report: &mut Report) {
    let AgentsFile { agents, faults } = &catalogue.agents;
    for fault in faults {
        let mut find = |problem: String, help| report.find(AGENTS, &fault.after, problem, help);
        let is_rule =
            |id: &String| catalogue.between_rules.contains_key(id) || catalogue.rules.contains_key(id);
        for id in fault.rules.iter().filter(|id| !is_rule(id)) {
            find(format!("there is no rule {id}"), "name a rule about gateways or of an API");
        }
        if fault.instead_of.as_ref().is_some_and(|of| !faults.iter().any(|fault| fault.after == *of)) {
            find("`instead_of` is no fault".to_owned(), "name the failure as it is here");
        }
        let served = &fault.served;
        let no_fault = ServedFault { each: served.each, apis: served.apis.clone(), ..ServedFault::default() };
        if *served == no_fault {
            find("`served` has no fault".to_owned(), "write the status, the page or the fault of the stream");
        }
        for (at, reaction) in fault.reactions.iter().enumerate() {
            let of = |one: &Reaction| one.agent == reaction.agent;
            if !agents.iter().any(|agent| agent.id == reaction.agent) || fault.reactions[..at].iter().any(of)
            {
                find(format!("{} is no agent, or there twice", reaction.agent), "name each agent once");
            }
            if reaction.does.is_some() == reaction.harm.is_some() {
                find(format!("{} needs `does` or `harm`", reaction.agent), "write one of the two");
            }
        }
        if fault.rules.is_empty() == fault.reactions.iter().any(|reaction| reaction.harm.is_some()) {
            find(
                "rules and harm belong together".to_owned(),
                "name the rules whose violation does harm, or write `does`",
            );
        }
    }
}

/// The requests of a profile hold what an agent's session replaces, and the shell runs its commands.
fn profiles(context: &Context, report: &mut Report) {
    let catalogue = &context.catalogue;
    for (id, profile) in &catalogue.between_profiles {
        let file = folders::file(&context.spec, BETWEEN_PROFILES, &format!("{id}.md"));
        let mut find = |is_wrong: bool, entry: &str, problem: &str, help| {
            if is_wrong {
                report.find(&file, entry, problem.to_owned(), help);
            }
        };
        let is_known = catalogue.agents.agents.iter().any(|agent| agent.id == profile.agent);
        find(!is_known, "agent", "there is no such agent", "name one of between/agents.toml");
        let is_api = id
            .split_once('/')
            .is_some_and(|(api, _)| folders::apis(&context.spec).iter().any(|it| it == api));
        find(!is_api, "the folder", "its name is that of no API", "name it as a folder of spec/apis");
        let once = |request: &Request| request.to_string().matches(FIRST).count() == 1;
        let help = "write {first} where the user's first text stands";
        find(!once(&profile.request), "the request", "the first request does not have {first} once", help);
        let has_helper = !profile.helper_request.is_null();
        find(
            has_helper && !once(&profile.helper_request),
            "the request",
            "the second agent's does not have {first} once",
            help,
        );
        find(
            has_helper != profile.helper.is_some(),
            "helper",
            "a second agent needs a header and a request",
            "write both, or none",
        );
        let is_probe =
            |probe: &String| probe.split_once(" /").is_some_and(|(method, _)| METHODS.contains(&method));
        find(
            !profile.probes.iter().all(is_probe),
            "probes",
            "a probe is no method and path",
            "write GET, HEAD or POST and a path",
        );
        find(!profile.shell.contains('$'), "shell", "`shell` has no command", "write `$` in its place");
    }
}

fn unfounded(reason: &str, authority: &str) -> Option<Misuse> {
    let is_empty = |text: &str| text.trim().is_empty();
    let help = "write why it does not apply, and who says so";
    (is_empty(reason) || is_empty(authority))
        .then(|| ("reason", "`reason` or `authority` is empty".to_owned(), help))
}

fn limit_misuses(limit: &BetweenLimit) -> Vec<Misuse> {
    let mut found = Vec::from_iter(unfounded(&limit.reason, &limit.authority));
    if limit.front.is_none() && limit.upstream.is_none() {
        let help = "name the API that cannot carry it as `front` or `upstream`";
        found.push(("front", "the limit applies to every pair of APIs".to_owned(), help));
    }
    found
}

fn case_misuses(case: &BetweenCase) -> Vec<Misuse> {
    let mut found = Vec::new();
    let mut find = |is_wrong: bool, entry, problem: &str, help| {
        found.extend(is_wrong.then(|| (entry, problem.to_owned(), help)));
    };
    find(case.answers.is_empty(), "answers", "`answers` is empty", "write what the upstream answers");
    find(
        case.results.len() + 1 != case.answers.len().max(1),
        "results",
        "the number of `results` is not that of the answers before the last one",
        "write one output for each answer with calls",
    );
    let marks = case.question.to_string().matches(MARK).count();
    find(
        marks != 1,
        "the question",
        "the question does not have {mark} once",
        "write {mark} in the last text of the user",
    );
    let has_turns =
        case.question.get("turns").is_some_and(|turns| !turns.as_array().is_none_or(Vec::is_empty));
    find(!has_turns, "the question", "the question has no `turns`", "write the conversation as `turns`");
    let is_status = |status: &u16| (400..600).contains(status);
    find(
        !case.statuses.iter().all(is_status),
        "statuses",
        "a status is not between 400 and 599",
        "list statuses of refusals",
    );
    find(
        case.retry_after.is_some() && case.statuses.is_empty(),
        "retry_after",
        "`retry_after` belongs to `statuses`",
        "list statuses, or remove it",
    );
    let needs_stream = case.is_in_step
        || case.silent_at.is_some()
        || case.leaves_after.is_some()
        || case.writes != Writes::Events;
    find(
        case.is_whole && (needs_stream || case.content_type.is_some()),
        "is_whole",
        "the case needs a stream, but its answer is one body",
        "remove `is_whole`",
    );
    let of_stream = [case.is_in_step, case.silent_at.is_some(), case.leaves_after.is_some()];
    let kinds = [!case.faults.is_empty(), !case.statuses.is_empty(), case.crowd.is_some()];
    let has_one_kind = kinds.into_iter().chain(of_stream).filter(|is| *is).count() <= 1;
    find(
        !has_one_kind,
        "faults",
        "the case is of several kinds: faults, statuses, in step, silent, a crowd, a client that leaves",
        "write a case for each of them",
    );
    find(
        case.crowd.is_some_and(|clients| !(2..=64).contains(&clients)),
        "crowd",
        "`crowd` is not between 2 and 64",
        "write the number of clients",
    );
    let numbers = case.session.iter().flat_map(|session| {
        [session.fault_at]
            .into_iter()
            .chain(session.helper.iter().copied())
            .chain(session.compacts_at)
            .chain(session.moves_at)
            .chain(session.interjects_at)
    });
    find(
        numbers.max().is_some_and(|number| number as usize >= case.answers.len()),
        "session",
        "`session` names an answer that is not there",
        "count the answers from 0",
    );
    let says_why = |session: &SessionCase| session.refusal.is_some() && session.refused.is_some();
    find(
        case.session.as_ref().is_some_and(says_why),
        "refused",
        "`refused` has the words of `refusal`",
        "remove one of them",
    );
    let is_half = |session: &SessionCase| session.interjects_at.is_some() != session.interjection.is_some();
    find(
        case.session.as_ref().is_some_and(is_half),
        "interjection",
        "`interjection` and `interjects_at` belong together",
        "write both, or none",
    );
    let needs_task = |session: &SessionCase| {
        let marks = session.helper_task.as_ref().map_or(0, |task| task.matches(MARK).count());
        marks != usize::from(!session.helper.is_empty())
    };
    find(
        case.session.as_ref().is_some_and(needs_task),
        "helper_task",
        "the task of a second agent does not have {mark} once",
        "write it beside `helper`, with {mark}",
    );
    find(
        case.crowd.is_some() && !case.answers.iter().all(|answer| answer.contains(MARK)),
        "answers",
        "the answer to a crowd has no {mark}, so that no client knows its own",
        "write {mark} in the answer",
    );
    found
}

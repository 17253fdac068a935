//! Pages of rules of clients and logs, and of rules and cases of `conformance between`.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use between::SESSION_GROUPS;
use catalogue::{
    AfterRefusal, AgentProfile, BETWEEN_LIMITS, BetweenCase, BetweenLimit, FaultPlaces, HandlingMode,
    SessionCase, SilentPlace, TestRule, UpstreamFault, Writes,
};

use super::page::{Page, prose, width};
use reports::Screen;
use reports::pages::words;

/// The page of a rule: its demand, authority, fix and exceptions, and how to see it broken.
pub(super) fn rule(rule: &TestRule, screen: Screen) -> String {
    let mut page = head(rule, "of `conformance between`, for both ends of a gateway", screen);
    let modes: Vec<&str> = rule.modes.iter().map(|mode| mode.name()).collect();
    let modes = if modes.is_empty() { "all".to_owned() } else { modes.join(", ") };
    page.fact("modes", &format!("{modes} (--mode)"));
    page.rows("limits", BETWEEN_LIMITS.iter().filter(|limit| limit.rule == rule.id).flat_map(limit));
    end(&mut page, rule, screen);
    let _ = write!(page.out, "\n{}\n\n{}", screen.style.bold("see it broken"), broken(rule));
    page.out
}

pub(super) fn client_rule(rule: &TestRule, screen: Screen) -> String {
    let mut page = head(rule, "of `conformance client`, for clients", screen);
    end(&mut page, rule, screen);
    page.out
}

pub(super) fn log_rule(rule: &TestRule, screen: Screen) -> String {
    let mut page = head(rule, "of `conformance check`, for rows of logs", screen);
    end(&mut page, rule, screen);
    let _ = write!(page.out, "\n{}\n\n{}", screen.style.bold("rows that break it"), rule.violation);
    page.out
}

fn head(rule: &TestRule, what: &str, screen: Screen) -> Page {
    let mut page = Page::new(rule.id, rule.title, screen);
    page.fact("rule", what);
    page.fact("level", rule.level.keyword());
    let citations = rule.citations.iter().map(ToString::to_string);
    if let Some(clause) = rule.contract() {
        page.fact(
            "authority",
            &format!("{}, `{}`: {}", words::authority(rule.authority), clause.id, clause.owes),
        );
        page.fact("because", clause.because);
        page.rows("cites", citations);
    } else {
        let name = words::authority(rule.authority);
        page.rows("authority", citations.map(|citation| format!("{name}: {citation}")));
    }
    page.rows("threads", rule.threads.iter().map(|thread| (*thread).to_owned()));
    page.fact("fix", rule.fix);
    page
}

fn end(page: &mut Page, rule: &TestRule, screen: Screen) {
    page.fact("since", rule.since);
    page.out.push('\n');
    page.out += &prose(rule.prose, width(screen));
}

/// The translator breaks the rule. Lines of the command are not wrapped, so that it can be copied.
fn broken(rule: &TestRule) -> String {
    let is_limit = |api: &str| {
        BETWEEN_LIMITS.iter().any(|it| it.rule == rule.id && it.upstream == Some(api) && it.case.is_none())
    };
    let spoken = || spec::spoken().rev().map(|api| api.name);
    let upstream = spoken().find(|api| !is_limit(api)).unwrap_or_default();
    // The translator passes bytes on where both APIs are the same.
    let (upstream, played, mode) = if SESSION_GROUPS.contains(&catalogue::group(rule.id)) {
        ("messages", "--profile all".to_owned(), "")
    } else if rule.modes == [HandlingMode::Passthrough] {
        (upstream, format!("--front {upstream}"), " --mode passthrough")
    } else {
        let others: Vec<&str> = spoken().rev().filter(|api| *api != upstream).collect();
        (upstream, format!("--front {}", others.join(",")), "")
    };
    // Some rules are judged where something is declared.
    let (declared, own) = match rule.id {
        "session/reasoning-home" => (" --other-model n", " --via-other-model n"),
        "socket/upgrade" => (" --websocket", ""),
        "time/kept-alive" => (" --keeps-alive 1s", " --via-keeps-alive 1s"),
        _ => ("", ""),
    };
    format!(
        "    conformance between {played} --upstream {upstream}{mode}{declared} --model m -- \\\n      \
         sh -c 'exec conformance serve --via \"$UPSTREAM_BASE_URL\" --via-api {upstream} \\\n        \
         --via-key-env UPSTREAM_KEY --port \"$GATEWAY_PORT\"{own} --fault {}'\n",
        rule.id
    )
}

pub(super) fn case(case: &'static BetweenCase, screen: Screen) -> String {
    let mut page = Page::new(case.id, case.title, screen);
    page.fact("case", "of `conformance between`, for both ends of a gateway");
    page.fact("question", case.question);
    page.rows("answers", case.answers.iter().map(|answer| (*answer).to_owned()));
    page.rows("results", case.results.iter().map(|result| (*result).to_owned()));
    page.fact("response", if case.is_whole { "one JSON body" } else { "a stream" });
    page.fact("writes", writes(case.writes));
    if case.is_in_step {
        page.fact("", "each event is sent only when the client has received the text of the one before");
    }
    let silent = case.silent_at.map(|place| match place {
        SilentPlace::Start => "before the first event, for longer than --keeps-alive declares",
        SilentPlace::Middle => "after half of its events, for longer than --keeps-alive declares",
    });
    page.fact("silent", silent.unwrap_or_default());
    page.fact("content", case.content_type.unwrap_or_default());
    let faults: Vec<&str> = case.faults.iter().map(|fault| effect(*fault)).collect();
    page.rows("faults", faults.iter().map(|effect| (*effect).to_owned()));
    if !faults.is_empty() {
        page.fact("places", places(case.places));
    }
    let statuses: Vec<String> = case.statuses.iter().map(u16::to_string).collect();
    page.fact("refused", &statuses.join(", "));
    page.fact("", &case.retry_after.map(|value| format!("with Retry-After: {value}")).unwrap_or_default());
    let leaves = case.leaves_after.map(|events| format!("the client disconnects after {events} events"));
    page.fact("cancel", &leaves.unwrap_or_default());
    page.fact("crowd", &case.crowd.map(|count| format!("{count} clients at once")).unwrap_or_default());
    if let Some(session) = &case.session {
        played(&mut page, case, session);
    }
    page.fact("like", &case.like.map(|other| format!("the same answer as {other}")).unwrap_or_default());
    page.fact("front", &case.fronts.join(", "));
    page.fact("upstream", &case.upstreams.join(", "));
    let limits = BETWEEN_LIMITS.iter().filter(|limit| limit.case.is_some_and(|named| names(named, case.id)));
    page.rows("limits", limits.flat_map(|it| [it.rule.to_owned()].into_iter().chain(limit(it))));
    page.rows("tests", tests(case));
    let filter = case.id.rsplit('/').next().filter(|_| case.session.is_some());
    let filter = filter.map_or_else(|| case.id.to_owned(), |name| format!("{name} --profile all"));
    page.fact("run it", &format!("conformance between {filter}"));
    page.out.push('\n');
    page.out += &prose(case.prose, width(screen));
    page.out
}

fn played(page: &mut Page, case: &BetweenCase, session: &SessionCase) {
    let agents: BTreeSet<&str> = case.played_by().map(AgentProfile::name).collect();
    page.fact("agents", &agents.into_iter().collect::<Vec<_>>().join(", "));
    if !(case.faults.is_empty() && case.statuses.is_empty()) {
        page.fact("fails at", &format!("answer {}; the agent then asks again", session.fault_at + 1));
    }
    page.fact("refusal", session.refusal.or(session.refused).unwrap_or_default());
    page.fact("headers", &named(session.refusal_headers));
    if let Some(AfterRefusal { drops, members, says }) = &session.then {
        page.fact("drops", &drops.join(", "));
        page.fact("changes", members);
        page.fact("says", says.unwrap_or_default());
    }
    page.fact("adds", session.adds);
    page.fact("sends", &named(session.adds_headers));
    if let Some(task) = session.helper_task {
        let answers: Vec<String> = session.helper.iter().map(|number| (number + 1).to_string()).collect();
        page.fact("helper", &format!("asks \"{task}\", and gets answers {}", answers.join(", ")));
    }
    if let Some((at, text)) = session.interjects_at.zip(session.interjection) {
        page.fact("interjects", &format!("\"{text}\" behind answer {}", at + 1));
    }
    if let Some(at) = session.compacts_at {
        page.fact("compacts", &format!("answer {} takes the place of the history", at + 1));
    }
}

fn named(headers: &[(&str, &str)]) -> String {
    headers.iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>().join(", ")
}

/// A limit names a case, or a group with `/`.
fn names(named: &str, case: &str) -> bool {
    case == named || named.ends_with('/') && case.starts_with(named)
}

/// Where it applies, why, and who says so.
fn limit(limit: &BetweenLimit) -> [String; 2] {
    let api = |api: Option<&'static str>| api.unwrap_or("any");
    let of_case = limit.case.map(|case| format!(", {case}")).unwrap_or_default();
    let pair = format!("{} → {}", api(limit.front), api(limit.upstream));
    [format!("{pair}{of_case}: {}", limit.reason), limit.authority.to_owned()]
}

fn tests(case: &'static BetweenCase) -> Vec<String> {
    let of_pair = |(pair, names): (String, Vec<String>)| {
        let suffix = |name: &str| name.find('@').and_then(|at| name.get(at..)).unwrap_or(name).to_owned();
        match names.as_slice() {
            [] => pair,
            [only] => only.clone(),
            [first, .., last] => format!("{first} … {} ({} tests)", suffix(last), names.len()),
        }
    };
    between::names_of(case).into_iter().map(of_pair).collect()
}

const fn writes(writes: Writes) -> &'static str {
    match writes {
        Writes::Events => "each event at once",
        Writes::Whole => "all of it at once",
        Writes::Bytes => "byte by byte",
        Writes::Split => "split within lines and characters",
        Writes::Crlf => "each event at once, lines end with CR LF",
        Writes::Comments => "comments, pings and empty lines between the events",
    }
}

const fn effect(fault: UpstreamFault) -> &'static str {
    match fault {
        UpstreamFault::Cut => "cut: the upstream's connection breaks",
        UpstreamFault::End => "end: the upstream's stream ends as if it were complete",
        UpstreamFault::Error => "error: the upstream sends an error event",
        UpstreamFault::Malformed => "malformed: the upstream sends an event that is no JSON",
        UpstreamFault::Stall => "stall: the upstream sends nothing more, and the connection stays open",
    }
}

const fn places(places: FaultPlaces) -> &'static str {
    match places {
        FaultPlaces::Each => "before the first event of the upstream, and after each but the last",
        FaultPlaces::Edges => {
            "before the first event of the upstream, after the first with output, and before the last"
        }
    }
}

#[cfg(test)]
mod tests {
    use catalogue::{BETWEEN_CASES, BETWEEN_RULES};
    use reports::Style;

    use super::*;

    #[test]
    fn every_page_is_complete() {
        for width in [40, 80, 200] {
            let screen = Screen { style: Style::Plain, width };
            for rule in BETWEEN_RULES {
                let page = super::rule(rule, screen);
                let command = format!("--fault {}'\n", rule.id);
                assert!(page.starts_with(rule.id) && page.ends_with(&command), "{page}");
                assert!(gateway::via_faults().contains(&rule.id), "{}", rule.id);
                let has_limits = BETWEEN_LIMITS.iter().any(|limit| limit.rule == rule.id);
                assert_eq!(page.contains("\nlimits     "), has_limits, "{page}");
            }
            let of_clients =
                catalogue::CLIENT_RULES.iter().map(|rule| (rule, super::client_rule(rule, screen)));
            let of_logs = catalogue::LOG_RULES.iter().map(|rule| (rule, super::log_rule(rule, screen)));
            for (rule, page) in of_clients.chain(of_logs) {
                let facts = ["\nlevel      ", "\nauthority  ", "\nfix        ", "\nsince      "];
                assert!(page.starts_with(rule.id) && facts.iter().all(|fact| page.contains(fact)), "{page}");
            }
            for case in BETWEEN_CASES {
                let page = super::case(case, screen);
                let facts = ["\nquestion   ", "\nanswers    ", "\ntests      ", "\nrun it     "];
                assert!(facts.iter().all(|fact| page.contains(fact)), "{page}");
            }
        }
    }

    #[test]
    fn the_tests_of_a_case_are_those_that_run() {
        let case = |id: &str| BETWEEN_CASES.iter().find(|case| case.id == id).unwrap();
        let plain = tests(case("text/plain"));
        assert_eq!(plain.len(), spec::spoken().count().pow(2));
        assert!(plain.contains(&"responses-chat/text/plain".to_owned()));
        let cut = tests(case("fault/cut-text"));
        let is_of_pair = |line: &&String| line.starts_with("messages-chat/fault/cut-text@cut:0 … @cut:");
        assert_eq!(cut.iter().filter(is_of_pair).count(), 1, "{cut:?}");
    }
}

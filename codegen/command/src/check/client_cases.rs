//! Checks the cases for clients: their golden, their edits and their settings.

use codegen::folders::{self, CLIENTS};
use codegen::formats::{
    Channel, ClientCase, ClientFailure, ClientRetries, ClientStep, Ending, Expect, Step, WaitForm,
};

use super::context::Context;
use super::report::{Report, SourcePlace};
use super::violations;

pub(super) fn check(context: &Context, report: &mut Report) {
    for case in &context.catalogue.client_cases {
        let file = folders::of_api(case.api.as_deref(), CLIENTS).join(format!("{}.md", case.id));
        let of_retries = case.retries.iter().flat_map(|retries| misuses_of_retries(case, retries));
        for (entry, problem, help) in misuses(case).into_iter().chain(of_retries) {
            report.find(&file, entry, problem, help);
        }
        let is_same = |other: &&ClientCase| other.id == case.id && other.api.is_some();
        if let (None, Some(other)) = (&case.api, context.catalogue.client_cases.iter().find(is_same)) {
            let problem = format!("{} has a case of this id, too", other.api.as_deref().unwrap_or_default());
            report.find(&file, SourcePlace::File, problem, "name one of them differently");
        }
        if let Some(golden) = &case.golden {
            violations::check_entry(context, golden, &case.edits, &file, "edits", report);
        }
    }
}

fn misuses(case: &ClientCase) -> Vec<(&'static str, &'static str, &'static str)> {
    let mut found = Vec::new();
    let mut find =
        |is_wrong: bool, entry, problem, help| found.extend(is_wrong.then_some((entry, problem, help)));
    find(
        case.authority.trim().is_empty(),
        "authority",
        "`authority` is empty",
        "cite a document and its heading, or write `field` and where the behaviour was seen",
    );
    find(case.transports.is_empty(), "transports", "`transports` is empty", "list at least one transport");
    find(
        case.end_after.is_some() && matches!(case.end, Ending::Whole | Ending::Reset),
        "end_after",
        "`end_after` is set, but the response ends normally",
        "set `end` to how the connection ends",
    );
    let is_streamed = case.transports.iter().all(|channel| *channel == Channel::Sse);
    find(
        (case.chunk.is_some() || case.pause_ms.is_some()) && !is_streamed,
        "transports",
        "`chunk` and `pause_ms` need a stream over HTTP",
        "use only the transport `sse`",
    );
    find(
        case.golden.is_some() && !case.request.is_null() && case.fill.is_some(),
        "fill",
        "`fill` has no effect on a golden",
        "remove `golden`",
    );
    find(
        !case.prompt.is_empty() && (case.golden.is_some() || !case.request.is_null()),
        "prompt",
        "`prompt` is set beside a request or a golden",
        "remove one of them",
    );
    find(
        case.api.is_none() && case.prompt.is_empty(),
        "prompt",
        "the case belongs to all APIs, but its request to one",
        "write `prompt` instead of the request, or move the page to the folder of an API",
    );
    let resumes = case.steps.iter().any(|next| next.step == Step::Resume);
    find(
        resumes && (case.end != Ending::Break || case.transports != [Channel::Sse]),
        "steps",
        "`resume` needs a stream that breaks",
        "break the stream over HTTP with `end` and `end_after`",
    );
    let is_odd = |next: &ClientStep| (next.step == Step::AnswerCalls) == next.outputs.is_empty();
    find(
        case.steps.iter().any(is_odd),
        "steps",
        "`outputs` belongs to the step `answer-calls`, and is required there",
        "add an output for each function to `answer-calls`; remove `outputs` from other steps",
    );
    let is_object = case.request.is_null() || case.request.is_object();
    find(!is_object, "the request", "the request is not a JSON object", "write a JSON object");
    let fills = case.request.to_string().contains("FILL") || case.prompt.contains("FILL");
    find(
        case.fill.is_some() != fills,
        "fill",
        "only one of `fill` and the word FILL is used",
        "set `fill` and write FILL in the request, or remove both",
    );
    found
}

fn misuses_of_retries(
    case: &ClientCase,
    retries: &ClientRetries,
) -> Vec<(&'static str, &'static str, &'static str)> {
    let mut found = Vec::new();
    let mut find =
        |is_wrong: bool, entry, problem, help| found.extend(is_wrong.then_some((entry, problem, help)));
    find(
        retries.failures.is_empty(),
        "failures",
        "`failures` is empty, so that the client has no reason to retry",
        "list what the first requests get",
    );
    let failures = retries.failures.len();
    let most = retries.requests.unwrap_or(retries.max + 1);
    find(
        most == 0 || most > retries.max + 1,
        "requests",
        "`requests` is not between 1 and `max` + 1",
        "count the first request, and each retry",
    );
    let needed = if case.expect == Expect::MustReport { failures } else { failures + 1 };
    find(
        usize::try_from(most).is_ok_and(|most| most < needed),
        "failures",
        "there are more failures than requests",
        "remove failures, or raise `max` and `requests`",
    );
    let is_odd = |failure: &ClientFailure| {
        failure.wait_as == WaitForm::Seconds && failure.wait_ms.is_some_and(|wait| wait % 1000 != 0)
    };
    find(
        retries.failures.iter().any(is_odd),
        "wait_ms",
        "`wait_ms` is no whole number of seconds",
        "write whole seconds, or set `wait_as`",
    );
    let is_early = |failure: &ClientFailure| {
        failure.end_after.is_some() && matches!(failure.end, Ending::Whole | Ending::Reset)
    };
    find(
        retries.failures.iter().any(is_early),
        "end_after",
        "`end_after` is set, but no stream ends early",
        "set `end` to `stall` or `break`",
    );
    find(
        case.transports.contains(&Channel::Websocket) || !case.steps.is_empty(),
        "retries",
        "`retries` belongs to a single request over HTTP",
        "use the transports `sse` and `json`, without `steps`",
    );
    found
}

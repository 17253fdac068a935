//! Every case for clients plays what there is, and can end in more than one way.

use super::context::Context;
use super::report::{Place, Report};
use super::violations;
use crate::formats::{Channel, ClientCase, ClientStep, Ending, Step};

pub(super) fn check(context: &Context, report: &mut Report) {
    for case in context.catalogue.client_cases.values() {
        let file = format!("clients/{}.md", case.id);
        for (entry, problem, help) in misuses(case) {
            report.find(&file, Place::entry(entry), problem, help);
        }
        if let Some(golden) = &case.metadata.golden {
            violations::check_entry(context, golden, &case.metadata.edits, &file, "edits", report);
        }
    }
}

fn misuses(case: &ClientCase) -> Vec<(&'static str, &'static str, &'static str)> {
    let metadata = &case.metadata;
    let mut found = Vec::new();
    let mut find =
        |is_wrong: bool, entry, problem, help| found.extend(is_wrong.then_some((entry, problem, help)));
    find(
        metadata.authority.trim().is_empty(),
        "authority",
        "nothing makes it binding",
        "name a document, or `field`",
    );
    find(metadata.transports.is_empty(), "transports", "it is never sent", "name a transport");
    find(
        metadata.end_after.is_some() && metadata.end == Ending::Whole,
        "end_after",
        "the answer is whole",
        "say with `end` how the connection ends",
    );
    let is_streamed = metadata.transports.iter().all(|channel| *channel == Channel::Sse);
    find(
        (metadata.chunk.is_some() || metadata.pause_ms.is_some()) && !is_streamed,
        "transports",
        "only a stream is sent in pieces",
        "leave it to `sse`",
    );
    find(
        metadata.golden.is_some() && case.request.is_some() && metadata.fill.is_some(),
        "fill",
        "a golden is not longer for it",
        "leave out `golden`",
    );
    let resumes = metadata.steps.iter().any(|next| next.step == Step::Resume);
    find(
        resumes && (metadata.end != Ending::Break || metadata.transports != [Channel::Sse]),
        "steps",
        "nothing is left to resume",
        "break a stream over HTTP with `end` and `end_after`",
    );
    let is_odd = |next: &ClientStep| (next.step == Step::AnswerCalls) == next.outputs.is_empty();
    find(
        metadata.steps.iter().any(is_odd),
        "steps",
        "only the step `answer-calls` has outputs, and it needs some",
        "name an output for each function, or leave them out",
    );
    let is_object = case.request.as_ref().is_none_or(serde_json::Value::is_object);
    find(!is_object, "the request", "it is no JSON object", "write one");
    let fills = case.request.as_ref().is_some_and(|request| request.to_string().contains("FILL"));
    find(
        metadata.fill.is_some() != fills,
        "fill",
        "`fill` and the word FILL do not agree",
        "use both or none",
    );
    found
}

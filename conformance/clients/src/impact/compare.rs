//! Compares the reply to a recorded response with that to an intact one, and with what the recorded one says.

use catalogue::About;
use checker::{Answer, Tokens, ToolCall};
use results::{Beside, PlayedOutcome};

use super::said::Said;
use crate::judge::{difference, error_of, quoted};
use crate::play::child::Ended;
use crate::protocol::{Reply, ReplyCall, Status};

/// The status of the AI SDK for a stream that ended without a sign of its end.
const INTERRUPTED: &str = "interrupted";
/// The beginning of the reason why a reply cannot be read, if it has a value of another type.
const OTHER_TYPE: &str = "the reply does not match its schema";

/// An intact reply, and what stands behind it.
pub(super) struct Intact<'r> {
    pub(super) reply: &'r Reply,
    pub(super) beside: Beside,
    /// The readings of an intact response that was given.
    pub(super) readings: &'r [Answer],
    /// Whether what the recorded response says is itself the damage.
    pub(super) is_still_broken: bool,
}

pub(super) fn outcome(said: &Said, intact: &Intact<'_>, ended: &Ended) -> (PlayedOutcome, String) {
    let is_lost = said.is_cut || said.has_error;
    let failed =
        |how: String| if is_lost { (PlayedOutcome::Reports, how) } else { (PlayedOutcome::Fails, how) };
    let reply = match ended {
        Ended::Hung => return (PlayedOutcome::Wrong, "it does not come to an end".to_owned()),
        // A process that dies takes the application with it.
        Ended::Died(how) => return (PlayedOutcome::Fails, quoted(how)),
        Ended::Unreadable(why) if why.starts_with(OTHER_TYPE) => {
            return (PlayedOutcome::PassesOn, "a value has another type than the client promises".to_owned());
        }
        Ended::Unreadable(why) => return (PlayedOutcome::NotPlayed, quoted(why)),
        Ended::Replied(reply) => match reply.status {
            Status::Unsupported => return (PlayedOutcome::NotPlayed, error_of(reply)),
            Status::Error => return failed(error_of(reply)),
            Status::Ok => reply,
        },
    };
    let reply = comparable(reply, intact, said);
    let differs = match intact.beside {
        Beside::Wire => None,
        Beside::Given | Beside::Mended => {
            Some(difference(&answers_of(intact, said), &[About::Id, About::Usage], &reply))
        }
    };
    if differs == Some(None) {
        return if intact.is_still_broken {
            (PlayedOutcome::PassesOn, "it returns what the response says".to_owned())
        } else {
            (PlayedOutcome::Unaffected, String::new())
        };
    }
    let has_no_word =
        said.readings.iter().all(|answer| answer.status.as_deref().unwrap_or_default().is_empty());
    if (is_lost || has_no_word) && reply.response_status.iter().flatten().any(|status| status == INTERRUPTED)
    {
        return (PlayedOutcome::Reports, format!("its status is {INTERRUPTED}"));
    }
    if is_lost {
        let what = if said.has_error { "the error is lost" } else { "it takes what broke off for the whole" };
        return (PlayedOutcome::Wrong, what.to_owned());
    }
    let Some(reply) = readable(reply, intact) else {
        return (PlayedOutcome::NotPlayed, "the suite reads the intact response in another way".to_owned());
    };
    match (difference(&said.readings, &[], &reply), differs.flatten()) {
        (None, Some(how)) => (PlayedOutcome::PassesOn, how),
        (None, None) => (PlayedOutcome::PassesOn, "it returns what the response says".to_owned()),
        (Some(_), _) if intact.beside == Beside::Mended && has_more(&reply, said) => {
            (PlayedOutcome::PassesOn, "it returns more than the suite reads in the response".to_owned())
        }
        (Some(how), differs) => (PlayedOutcome::Wrong, differs.unwrap_or(how)),
    }
}

/// Leaves out usage that the client counts in another way than the suite, as it does for the intact response: tokens from a
/// cache, for example. If the client reads more of the intact response in another way, its reply proves nothing.
fn readable(reply: Reply, intact: &Intact<'_>) -> Option<Reply> {
    let is_same = |reply: &Reply| difference(intact.readings, &[], reply).is_none();
    let without_usage = |reply: Reply| Reply { usage: None, ..reply };
    // Clients make ids where none were sent, and so does the suite.
    let mut read = Reply { response_id: None, ..intact.reply.clone() };
    for call in read.calls.iter_mut().flatten().flatten() {
        call.call_id = None;
    }
    if is_same(&read) {
        return Some(reply);
    }
    is_same(&without_usage(read)).then(|| without_usage(reply))
}

/// If a client finds a text or calls where the readers of the suite find none, the readers miss something.
fn has_more(reply: &Reply, said: &Said) -> bool {
    let answer = answer_of(reply);
    let has_no_text = said.readings.iter().all(|reading| reading.text().is_empty());
    let has_no_calls = said.readings.iter().all(|reading| reading.calls.is_empty());
    has_no_text && !answer.text().is_empty() || has_no_calls && !answer.calls.is_empty()
}

/// A part that the client lost becomes an empty value, and ids that were never sent are removed: clients leave these out, or
/// make their own.
fn comparable(reply: &Reply, intact: &Intact<'_>, said: &Said) -> Reply {
    let mut reply = reply.with_losses(intact.reply);
    let has_id = said.readings.iter().any(|answer| answer.id.as_deref().is_some_and(|id| !id.is_empty()));
    // Of several, each is one that the response has.
    let is_sent = |id: &Option<String>| id.as_deref().is_some_and(|id| said.has_id(id));
    if !has_id || intact.beside != Beside::Given && reply.response_id.as_ref().is_some_and(is_sent) {
        reply.response_id = None;
    }
    let ids = intact.reply.calls.iter().flatten().flatten().filter_map(|call| call.call_id.as_deref());
    let are_sent = ids.into_iter().all(|id| said.has_id(id));
    for call in reply.calls.iter_mut().flatten().flatten() {
        if !are_sent && call.call_id.as_deref().is_some_and(|id| !said.has_id(id)) {
            call.call_id = None;
        }
    }
    reply
}

/// The id and counts do not matter.
fn answer_of(reply: &Reply) -> Answer {
    let text = |text: &Option<Option<String>>| text.clone().flatten();
    let call = |call: &ReplyCall| ToolCall {
        id: call.call_id.clone().unwrap_or_default(),
        name: call.name.clone(),
        arguments: call.arguments.as_str().map_or_else(|| call.arguments.to_string(), str::to_owned),
    };
    Answer {
        texts: text(&reply.text).into_iter().collect(),
        refusal: text(&reply.refusal).unwrap_or_default(),
        reasoning: text(&reply.reasoning).unwrap_or_default(),
        calls: reply.calls.iter().flatten().flatten().map(call).collect(),
        status: text(&reply.response_status),
        ..Answer::default()
    }
}

fn answers_of(intact: &Intact<'_>, said: &Said) -> Vec<Answer> {
    let reply = intact.reply;
    let wire = || said.readings.iter();
    // Ids and counts of a mended response are its own.
    let (id, tokens) = match intact.beside {
        Beside::Given => (
            reply.response_id.clone().flatten(),
            reply
                .usage
                .flatten()
                .map(|usage| Tokens { input: usage.input_tokens, output: usage.output_tokens }),
        ),
        Beside::Mended | Beside::Wire => {
            (wire().find_map(|answer| answer.id.clone()), wire().find_map(|answer| answer.tokens))
        }
    };
    let mut all = vec![Answer { id, tokens, ..answer_of(reply) }];
    if let Some(streamed) = reply.streamed.clone().flatten() {
        all.push(Answer { texts: vec![streamed], ..all[0].clone() });
    }
    if intact.beside == Beside::Mended {
        // The mended response ends with the usual word for its content, the recorded one with another that is as good.
        let is_known = |word: &&String| !translation::stops(said.dialect.api.name, word).is_empty();
        for word in wire().filter_map(|answer| answer.status.as_ref()).filter(is_known) {
            all.push(Answer { status: Some(word.clone()), ..all[0].clone() });
        }
    }
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use gateway::Act;
    use serde_json::json;

    use super::*;

    /// A message whose input comes from a cache, but for 3 tokens.
    fn message(text: &str) -> Said {
        let usage = json!({"input_tokens": 3, "cache_read_input_tokens": 100, "output_tokens": 1});
        let events = [
            json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "usage": usage}}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}}),
            json!({"type": "message_stop"}),
        ];
        let bytes = events.map(|event| format!("data: {event}\n\n")).concat();
        let dialect = spec::dialect("anthropic").expect("it is there");
        Said::of(&Act::new(200, "text/event-stream", bytes.into_bytes()), dialect)
    }

    fn reply(text: &str, input: u64) -> Reply {
        let reply = json!({"status": "ok", "text": text, "calls": [], "response_status": "end_turn",
            "usage": {"input_tokens": input, "output_tokens": 1}});
        serde_json::from_value(reply).expect("it is a reply")
    }

    fn outcome_of(intact: &Reply, reply: Reply) -> PlayedOutcome {
        let readings = message("Hello!").readings;
        let intact =
            Intact { reply: intact, beside: Beside::Given, readings: &readings, is_still_broken: false };
        outcome(&message("Hell"), &intact, &Ended::Replied(Box::new(reply))).0
    }

    #[test]
    fn clients_count_tokens_from_a_cache_as_they_like() {
        for input in [3, 103, 100] {
            let intact = reply("Hello!", input);
            assert_eq!(outcome_of(&intact, reply("Hell", input)), PlayedOutcome::PassesOn, "{input}");
            assert_eq!(outcome_of(&intact, reply("He", input)), PlayedOutcome::Wrong, "{input}");
            assert_eq!(outcome_of(&intact, reply("Hello!", input)), PlayedOutcome::Unaffected, "{input}");
        }
    }

    #[test]
    fn clients_make_ids_of_calls_as_they_like() {
        let stream = |name: &str| {
            let call = json!({"name": name, "args": {}});
            let chunk = json!({"candidates": [{"content": {"role": "model", "parts": [{"functionCall": call}]},
                "finishReason": "STOP", "index": 0}], "responseId": "r", "modelVersion": "m"});
            let bytes = format!("data: {chunk}\r\n\r\n").into_bytes();
            Said::of(
                &Act::new(200, "text/event-stream", bytes),
                spec::dialect("gemini").expect("it is there"),
            )
        };
        let reply = |name: &str, id: &str| {
            let call = json!({"name": name, "arguments": {}, "call_id": id});
            let reply = json!({"status": "ok", "text": "", "calls": [call], "response_status": "STOP"});
            serde_json::from_value::<Reply>(reply).expect("it is a reply")
        };
        let (readings, intact) = (stream("f").readings, reply("f", "made-1"));
        let intact =
            Intact { reply: &intact, beside: Beside::Given, readings: &readings, is_still_broken: false };
        let outcome =
            |name| outcome(&stream("g"), &intact, &Ended::Replied(Box::new(reply(name, "made-2")))).0;
        assert_eq!([outcome("g"), outcome("h")], [PlayedOutcome::PassesOn, PlayedOutcome::Wrong]);
    }

    #[test]
    fn an_intact_response_that_is_read_in_another_way_proves_nothing() {
        assert_eq!(outcome_of(&reply("Hello! Hello!", 3), reply("Hell", 3)), PlayedOutcome::NotPlayed);
    }
}

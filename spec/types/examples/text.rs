//! Prints the text of a stream of any of the three APIs, and why it ended.
//!
//! `curl -N ... | cargo run -p responses-conformance-types --features anthropic,chat --example text -- chat`

use std::error::Error;
use std::io::{Read as _, Write as _, stdin, stdout};

use checker::Frame;
use checker::sse::Parser;
use types::{NotNull as _, anthropic, chat, openai};

fn main() -> Result<(), Box<dyn Error>> {
    let api = std::env::args().nth(1).unwrap_or_default();
    let mut stream = Vec::new();
    stdin().read_to_end(&mut stream)?;
    let said = match &*api {
        "responses" => said(&stream, responses),
        "messages" => said(&stream, messages),
        "chat" => said(&stream, completions),
        _ => return Err("pass responses, messages or chat".into()),
    };
    let end = said.end.as_deref().unwrap_or("the stream broke off");
    writeln!(stdout(), "{}\n({end})", said.text)?;
    said.error.map_or(Ok(()), |error| Err(error.into()))
}

/// The content of a stream.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Said {
    /// The text of all deltas.
    pub(crate) text: String,
    /// Why it ended, in the word of its API.
    pub(crate) end: Option<String>,
    /// The message of an error.
    pub(crate) error: Option<String>,
}

pub(crate) fn said(stream: &[u8], read: fn(&str, &mut Said)) -> Said {
    let mut said = Said::default();
    let mut take = |frame: &Frame<'_>| {
        if let Some(data) = frame.data.as_deref().filter(|data| *data != "[DONE]") {
            read(data, &mut said);
        }
    };
    let mut parser = Parser::default();
    parser.push(stream, &mut |frame| take(&frame));
    parser.finish(&mut |frame| take(&frame));
    said
}

pub(crate) fn responses(data: &str, said: &mut Said) {
    use openai::Event;
    match Event::parse(data) {
        Ok(Event::OutputTextDelta(event)) => said.text += &event.delta,
        Ok(Event::Completed(event)) => said.end = event.response.status.map(|status| status.to_string()),
        Ok(Event::Failed(event)) => {
            said.error = event.response.error.not_null().map(|error| error.message.to_string());
        }
        // It has one of two forms.
        Ok(event @ Event::Error(_)) => said.error = Some(event.to_json()),
        _ => {}
    }
}

/// Texts are in deltas of blocks, and `message_delta` has the stop reason.
pub(crate) fn messages(data: &str, said: &mut Said) {
    use anthropic::{ContentBlockDeltaDelta, Event};
    match Event::parse(data) {
        Ok(Event::ContentBlockDelta(event)) => {
            if let ContentBlockDeltaDelta::TextDelta(delta) = event.delta {
                said.text += &delta.text;
            }
        }
        Ok(Event::MessageDelta(event)) => {
            said.end = event.delta.stop_reason.not_null().map(ToString::to_string);
        }
        Ok(Event::Error(event)) => said.error = Some(event.error.message.to_string()),
        _ => {}
    }
}

/// Chunks have no `type`: an object with `error` is an error, any other a chunk.
pub(crate) fn completions(data: &str, said: &mut Said) {
    use chat::Event;
    match Event::parse(data) {
        Ok(Event::ChatCompletionChunk(chunk)) => {
            for choice in chunk.choices.iter().flatten() {
                if let Some(text) = choice.delta.content.not_null() {
                    said.text += text;
                }
                if let Some(reason) = choice.finish_reason.not_null() {
                    said.end = Some(reason.to_string());
                }
            }
        }
        Ok(Event::Error(event)) => said.error = Some(event.error.message.to_string()),
        _ => {}
    }
}

//! From a stream of bytes to events: a client that prints a text while it arrives, with reqwest.
//!
//! `cargo run --example read -- http://127.0.0.1:8080/v1 my-model "Say hello."`

use std::error::Error;
use std::io::{Write as _, stdout};

use checker::Frame;
use checker::sse::Parser;
use types::Lenient;
use types::openai::{CreateResponse, Event, InputParam};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let [base, model, input] = &std::env::args().skip(1).collect::<Vec<_>>()[..] else {
        return Err("pass a base URL, a model and a text".into());
    };
    // Not needed with the default features of reqwest.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let print = |text: &str| {
        let _ = stdout().write_all(text.as_bytes()).and_then(|()| stdout().flush());
    };
    let answer = read(&reqwest::Client::new(), base, model, input, print).await?;
    print("\n");
    if !answer.missing.is_empty() {
        print(&format!("The server leaves out: {}\n", answer.missing.join(", ")));
    }
    Ok(())
}

/// The content of a stream.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// The text of all deltas.
    pub(crate) text: String,
    /// The status of the response at its end; none if the stream broke off.
    pub(crate) status: Option<String>,
    /// The names of members that events should have had.
    pub(crate) missing: Vec<String>,
}

/// Asks a model, and reads its answer.
pub(crate) async fn read(
    client: &reqwest::Client,
    base: &str,
    model: &str,
    input: &str,
    mut print: impl FnMut(&str),
) -> Result<Answer, Box<dyn Error>> {
    let request = CreateResponse {
        model: Some(model.into()),
        input: Some(InputParam::Text(input.into())),
        stream: Some(true.into()),
        ..CreateResponse::default()
    };
    let request = client.post(format!("{base}/responses")).body(request.to_json());
    let mut response = request.header("content-type", "application/json").send().await?.error_for_status()?;

    // Chunks begin and end anywhere, also within a character; the parser puts frames together.
    let mut answer = Answer::default();
    let mut parser = Parser::default();
    while let Some(chunk) = response.chunk().await? {
        parser.push(&chunk, &mut |frame| answer.take(&frame, &mut print));
    }
    parser.finish(&mut |frame| answer.take(&frame, &mut print));
    if answer.status.is_none() {
        return Err("the stream broke off".into());
    }
    Ok(answer)
}

impl Answer {
    /// Comments, and frames without a blank line at the end, are no events.
    fn take(&mut self, frame: &Frame<'_>, print: &mut impl FnMut(&str)) {
        let Some(data) = frame.data.as_deref().filter(|data| frame.terminated && *data != "[DONE]") else {
            return;
        };
        let Ok(Lenient { value: event, missing }) = Event::parse_lenient(data) else { return };
        for name in missing {
            if !self.missing.iter().any(|known| known == name) {
                self.missing.push(name.to_owned());
            }
        }
        let ended = match &event {
            Event::OutputTextDelta(event) => {
                print(&event.delta);
                self.text += &event.delta;
                return;
            }
            Event::Completed(event) => &event.response,
            Event::Incomplete(event) => &event.response,
            Event::Failed(event) => &event.response,
            // Later versions, and other vendors, send more types: clients skip them.
            _ => return,
        };
        self.status = ended.status.as_ref().map(ToString::to_string);
    }
}

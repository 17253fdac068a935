//! From events to a stream of bytes: a server of `POST /v1/responses` that repeats its input, with axum.
//!
//! `cargo run --example serve` listens on port 8080; `cargo run --example read` reads from it.

use std::convert::Infallible;
use std::error::Error;

use axum::Router;
use axum::http::StatusCode;
use axum::response::sse::{Event as Frame, Sse};
use axum::routing::post;
use futures_util::{Stream, stream};
use tokio::net::TcpListener;
use types::openai::{
    Completed, ContentPartAdded, ContentPartDone, CreateResponse, Created, Event, InProgress, InputParam,
    OutputContent, OutputItem, OutputItemAdded, OutputItemDone, OutputMessage, OutputMessageContent,
    OutputMessageStatus, OutputTextContent, OutputTextDelta, OutputTextDone, Response, ResponseStatus,
    ResponseUsage, ResponseUsageInputTokensDetails, ResponseUsageOutputTokensDetails,
};
use types::{Number, Read};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    Ok(axum::serve(TcpListener::bind("127.0.0.1:8080").await?, app()).await?)
}

pub(crate) fn app() -> Router {
    Router::new().route("/v1/responses", post(respond))
}

/// Each event is a frame with an `event` line and a `data` line.
async fn respond(
    body: String,
) -> Result<Sse<impl Stream<Item = Result<Frame, Infallible>>>, (StatusCode, String)> {
    let request =
        CreateResponse::parse(&body).map_err(|error| (StatusCode::BAD_REQUEST, error.to_string()))?;
    let Some(InputParam::Text(input)) = &request.input else {
        return Err((StatusCode::BAD_REQUEST, "this server takes one text as input".to_owned()));
    };
    let model = request.model.map_or_else(|| "echo".to_owned(), |model| model.to_string());
    let frames: Vec<_> = events(&model, input)
        .iter()
        .map(|event| Ok(Frame::default().event(event.event_type()).data(event.to_json())))
        .collect();
    Ok(Sse::new(stream::iter(frames)))
}

fn events(model: &str, text: &str) -> Vec<Event<'static>> {
    let response = |status| Response {
        status: Some(status),
        ..Response::new(model.to_owned(), "resp_1", 1_785_000_000)
    };
    let message = |status| OutputMessage::new("msg_1", status);
    let part = |text: &str| OutputTextContent::new(text.to_owned());
    let done = OutputMessage {
        content: vec![OutputMessageContent::OutputText(part(text))],
        ..message(OutputMessageStatus::Completed)
    };
    let item = |message| OutputItem::Message(Box::new(message));
    let mut number = -1_i64;
    let mut next = || {
        number += 1;
        number
    };
    let mut events: Vec<Event<'static>> = vec![
        Created::new(response(ResponseStatus::InProgress), next()).into(),
        InProgress::new(response(ResponseStatus::InProgress), next()).into(),
        OutputItemAdded::new(0, next(), item(message(OutputMessageStatus::InProgress))).into(),
        ContentPartAdded::new("msg_1", 0, 0, OutputContent::OutputText(part("")), next()).into(),
    ];
    for word in text.split_inclusive(' ') {
        events.push(OutputTextDelta::new("msg_1", 0, 0, word.to_owned(), next()).into());
    }
    events.push(OutputTextDone::new("msg_1", 0, 0, text.to_owned(), next()).into());
    events.push(ContentPartDone::new("msg_1", 0, 0, next(), OutputContent::OutputText(part(text))).into());
    events.push(OutputItemDone::new(0, next(), item(done.clone())).into());
    let tokens = u32::try_from(text.split(' ').count()).unwrap_or(u32::MAX);
    let usage = ResponseUsage::new(
        tokens,
        ResponseUsageInputTokensDetails::new(0),
        tokens,
        ResponseUsageOutputTokensDetails::new(0),
        u64::from(tokens) * 2,
    );
    let completed = Response {
        output: vec![item(done)],
        usage: Some(Box::new(usage).into()),
        completed_at: Some(Number::from(1_785_000_001).into()),
        ..response(ResponseStatus::Completed)
    };
    events.push(Completed::new(completed, next()).into());
    events
}

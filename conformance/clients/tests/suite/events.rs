//! Reads streams of APIs in which no event repeats the response.

use checker::AnswerReader;
use clients::Answer;
use recordings::capture::{Entry, Format, read};
use serde_json::Value;
use spec::Dialect;

/// Returns what the events of a stream say, if they are valid and end the response without an error.
pub(super) fn read_all(body: &[u8], dialect: &Dialect) -> Result<Answer, String> {
    let mut reader = AnswerReader::new(dialect.api);
    let (mut problem, mut is_over) = (None, false);
    read(body, Some(Format::Sse), &mut |entry| {
        let Entry::Event(frame) = entry else { return };
        let Some(data) = frame.data.filter(|data| frame.terminated && data != "[DONE]") else { return };
        if is_over || problem.is_some() {
            return;
        }
        let event: Value = serde_json::from_str(&data).unwrap_or_default();
        let said = event.get("type").and_then(Value::as_str);
        let kind = said.unwrap_or("chat.completion.chunk");
        is_over = dialect.terminal.contains(&kind);
        if kind == "error" || event.get("error").is_some_and(Value::is_object) {
            problem = Some(format!("error: {data}"));
        } else if !event.is_object()
            || dialect.event(kind).is_some() && !dialect.check_event(kind, &data).is_valid()
        {
            problem = Some(format!("invalid: {data}"));
        } else {
            reader.data(dialect, &data);
        }
    })
    .map_err(|error| error.to_string())?;
    let answer = reader.finish();
    let is_over = (is_over || dialect.terminal.is_empty()) && answer.status.is_some();
    match problem {
        Some(problem) => Err(problem),
        None if is_over => Ok(answer),
        None => Err("the stream ended before the response".to_owned()),
    }
}

/// Returns the texts of a stream, as far as it came.
pub(super) fn shown(body: &[u8], dialect: &Dialect) -> Vec<String> {
    let mut reader = AnswerReader::new(dialect.api);
    let _ = read(body, Some(Format::Sse), &mut |entry| {
        if let Entry::Event(frame) = entry
            && let Some(data) = frame.data
        {
            reader.data(dialect, &data);
        }
    });
    reader.finish().texts
}

//! Reads the streams of the vectors with the types of async-openai. Types know no order: a vector passes if each of its events
//! can be read where the client has to survive.

use async_openai::types::responses::ResponseStreamEvent;
use serde_json::Value;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("pass the path of responses.json")?;
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let streams: Vec<&Value> = file["vectors"].as_array().into_iter().flatten().filter(|vector| is_stream(vector)).collect();
    let mut failed = 0;
    for vector in &streams {
        let body = vector["response"]["body"].as_str().unwrap_or_default().replace("\r\n", "\n").replace('\r', "\n");
        let data = body.split("\n\n").filter_map(|event| {
            let lines = event.lines().filter_map(|line| line.strip_prefix("data:"));
            let data: Vec<&str> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
            Some(data.join("\n")).filter(|data| !data.is_empty() && data != "[DONE]")
        });
        let read: Result<Vec<ResponseStreamEvent>, _> = data.map(|data| serde_json::from_str(&data)).collect();
        if let (Err(error), Some("must-survive")) = (read, vector["client"].as_str()) {
            println!("{} failed: {error}", vector["id"]);
            failed += 1;
        }
    }
    println!("{} of {} vectors passed", streams.len() - failed, streams.len());
    Ok(())
}

fn is_stream(vector: &Value) -> bool {
    let headers = vector["response"]["headers"].as_array().into_iter().flatten();
    headers.into_iter().any(|header| header[0] == "content-type" && header[1] == "text/event-stream")
}

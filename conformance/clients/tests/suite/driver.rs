//! A client based on `spec`, perfect or with one defect, that the tests start as a child process.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a client talks to the suite in this way")]

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use clients::Answer;
use clients::protocol::{CaseMessage, CaseStep, Reply, ReplyCall, ReplyError, Status};
use recordings::capture::{Entry, Format, read};
use serde_json::{Value, json};
use spec::Dialect;
use spec::json::at;
use spec::table::Content;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{Message, WebSocket, client};

use super::{conversation, events, retries};

/// The client that `CLIENT_KIND` names: reads cases from stdin, and writes replies to stdout.
#[test]
#[ignore = "the tests start it as a child"]
fn the_client() {
    let Ok(kind) = std::env::var("CLIENT_KIND") else { return };
    // Ends the line that the test harness has started, as it is not part of a reply.
    println!();
    for line in io::stdin().lock().lines() {
        let asked: CaseMessage = serde_json::from_str(&line.expect("it is text")).expect("it is a case");
        let reply = Client { kind: &kind, asked: &asked }.reply();
        let Some(reply) = reply else { continue };
        println!("{}", serde_json::to_string(&reply).expect("it is JSON"));
    }
}

/// Returns a request for a stream.
fn with_stream(request: &Value) -> String {
    let mut body = request.clone();
    body["stream"] = json!(true);
    body.to_string()
}

struct Client<'a> {
    kind: &'a str,
    asked: &'a CaseMessage,
}

/// The content of a stream so far.
#[derive(Clone, Default)]
struct Heard {
    events: u32,
    id: Option<String>,
    number: u64,
    texts: BTreeMap<(u64, u64), Vec<u16>>,
    calls: BTreeMap<u64, (String, String, String)>,
    last: Option<Answer>,
    marked: bool,
}

impl Client<'_> {
    fn is(&self, kind: &str) -> bool {
        self.kind == kind
    }

    fn reply(&self) -> Option<Reply> {
        let case = self.asked.case.clone();
        match self.kind {
            "hangs" => std::thread::sleep(Duration::from_secs(60)),
            "dies" => std::process::exit(3),
            "unsupported" => std::process::exit(89),
            "garbage" => {
                println!("<<< no JSON >>>\n{{\"case\":\"another\"}}\n{{\"case\":{case:?},\"status\":7}}");
                return None;
            }
            "floods" => loop {
                println!("nonsense");
            },
            "long-line" => {
                println!("{}", "x".repeat(9 << 20));
                return None;
            }
            _ => {}
        }
        let reply = match self.ask() {
            Ok(answer) => self.told(&answer),
            Err(problem) if self.is("dies-of-errors") => {
                eprintln!("fatal: {problem}");
                std::process::exit(1)
            }
            Err(_) if self.is("hides-errors") => {
                Reply { case, text: Some(Some(String::new())), ..Reply::default() }
            }
            Err(problem) => {
                let error = ReplyError { message: Some(problem), ..ReplyError::default() };
                Reply { case, status: Status::Error, error: Some(error), ..Reply::default() }
            }
        };
        let max_retries = self.asked.max_retries.filter(|_| !self.is("knows-no-retries"));
        Some(Reply { max_retries, ..reply })
    }

    fn told(&self, answer: &Answer) -> Reply {
        let call = |call: &clients::ToolCall| ReplyCall {
            call_id: Some(call.id.clone()).filter(|id| !id.is_empty() || !self.is("leaves-out-empty-ids")),
            name: call.name.clone(),
            arguments: if self.is("mangles-arguments") {
                json!(call.arguments.replace("\\\\", ""))
            } else {
                json!(call.arguments)
            },
        };
        let mut calls: Vec<ReplyCall> = answer.calls.iter().map(call).collect();
        if self.is("one-call") {
            calls.truncate(1);
        }
        let mut texts = answer.texts.clone();
        if self.is("first-part") {
            texts.truncate(1);
        }
        let text = match self.kind {
            "lies" => "Hello, world!".to_owned(),
            "trims" => texts.concat().trim().to_owned(),
            "ascii" => texts.concat().replace(|c: char| !c.is_ascii(), "?"),
            _ => texts.concat(),
        };
        if self.is("lazy") {
            return Reply { case: self.asked.case.clone(), text: Some(Some(text)), ..Reply::default() };
        }
        Reply {
            case: self.asked.case.clone(),
            status: Status::Ok,
            text: Some(Some(text)),
            refusal: (!self.is("says-nothing-of-refusals")).then(|| {
                Some(if self.is("drops-refusals") { String::new() } else { answer.refusal.clone() })
            }),
            reasoning: self.knows_reasoning().then(|| Some(answer.reasoning.clone())),
            calls: Some(Some(calls)),
            response_status: Some(if self.is("always-completed") {
                Some("completed".to_owned())
            } else {
                answer.status.clone()
            }),
            response_id: Some(answer.id.clone()),
            usage: Some(answer.tokens.map(Into::into)),
            ..Reply::default()
        }
    }

    /// Returns whether a response can have reasoning: vendors add it to the events of an API that is read from these alone.
    fn knows_reasoning(&self) -> bool {
        let dialect = spec::dialect(&self.asked.dialect).expect("it is there");
        !dialect.api.list.is_empty()
            || dialect.effects().any(|effect| effect.level.content == Some(Content::Reasoning))
    }

    fn ask(&self) -> Result<Answer, String> {
        let asked = self.asked;
        let dialect = spec::dialect(&asked.dialect).ok_or("the dialect is unknown")?;
        if asked.transport == "websocket" {
            return self.talk(dialect);
        }
        let mut request = asked.request.clone();
        let (mut answer, mut said) = self.answer(&request, dialect)?;
        for step in self.steps() {
            let next = if dialect.api.request.continues.is_empty() {
                conversation::following(step, &request, &said, (&answer, dialect.api), self.kind)
            } else {
                following(step, &asked.request, &answer, self.kind)
            };
            if let Some(next) = next {
                (answer, said) = self.answer(&next, dialect)?;
                request = next;
            }
        }
        Ok(answer)
    }

    fn steps(&self) -> &[CaseStep] {
        if self.is("stops-at-the-first-answer") { &[] } else { &self.asked.steps }
    }

    /// Sends a request over HTTP, and returns the answer, and how later requests repeat it.
    fn answer(&self, request: &Value, dialect: &Dialect) -> Result<(Answer, Value), String> {
        if self.asked.transport == "json" {
            let body = self.post(request, &mut |_| false)?;
            let response: Value = serde_json::from_slice(&body).map_err(|error| error.to_string())?;
            let answer = finished(Answer::of_response(dialect.api, &response), dialect)?;
            return Ok((answer, conversation::said_in(&response)));
        }
        if dialect.api.list.is_empty() {
            let place = dialect.api.path;
            let body = self.send("POST", place, &with_stream(request), &mut |_| false)?;
            let answer = match events::read_all(&body, dialect) {
                Err(_) if self.is_shown_again() => {
                    self.after(events::shown(&body, dialect), request, dialect)?
                }
                answer => answer?,
            };
            return Ok((answer, conversation::said(&body)));
        }
        let mut heard = Heard::default();
        let mut problem = None;
        self.post(request, &mut |body| {
            heard = Heard::default();
            problem = self.hear(body, dialect, &mut heard).err();
            problem.is_some() || self.is_over(&heard)
        })?;
        if heard.last.is_none() && problem.is_none() && self.steps().contains(&CaseStep::Resume) {
            let before = heard.clone();
            let id = before.id.as_deref().ok_or("there is no id to resume")?;
            let after = if self.is("resumes-from-the-start") { 0 } else { before.number };
            let path = format!("/responses/{id}?stream=true&starting_after={after}");
            self.send("GET", &path, "", &mut |body| {
                heard.clone_from(&before);
                problem = self.hear(body, dialect, &mut heard).err();
                problem.is_some() || self.is_over(&heard)
            })?;
        }
        let shown: Vec<String> = heard.texts.values().map(|units| String::from_utf16_lossy(units)).collect();
        match self.whole(heard, problem, dialect) {
            Err(_) if self.is_shown_again() => Ok((self.after(shown, request, dialect)?, Value::Null)),
            answer => Ok((answer?, Value::Null)),
        }
    }

    /// Returns whether the client sends a request again whose response broke off, and shows what comes behind it.
    fn is_shown_again(&self) -> bool {
        self.is("shows-both") && self.asked.max_retries.is_some()
    }

    fn after(&self, shown: Vec<String>, request: &Value, dialect: &Dialect) -> Result<Answer, String> {
        let mut answer = Client { kind: "perfect", asked: self.asked }.answer(request, dialect)?.0;
        answer.texts.splice(0..0, shown);
        Ok(answer)
    }

    fn is_over(&self, heard: &Heard) -> bool {
        let is_enough = self.asked.cancel_after_events.is_some_and(|most| heard.events >= most);
        let is_ended = heard.last.is_some() && (!self.is("needs-done") || heard.marked);
        is_ended || is_enough
    }

    /// Reads all available events.
    fn hear(&self, body: &[u8], dialect: &Dialect, heard: &mut Heard) -> Result<(), String> {
        let body = if self.is("knows-lf-only") {
            body.split(|byte| *byte == b'\r').collect::<Vec<_>>().join(&b"#"[..])
        } else {
            body.to_vec()
        };
        let mut result = Ok(());
        read(&body, Some(Format::Sse), &mut |entry| {
            let Entry::Event(frame) = entry else { return };
            if result.is_err() || !frame.terminated {
                return;
            }
            let Some(data) = frame.data else { return };
            if data == "[DONE]" {
                heard.marked = true;
            } else if heard.last.is_none()
                && self.asked.cancel_after_events.is_none_or(|most| heard.events < most)
            {
                let named = frame.event.as_deref().filter(|_| self.is("trusts-event-lines"));
                result = self.event(&data, named, dialect, heard);
            }
        })
        .map_err(|error| error.to_string())?;
        result
    }

    fn event(
        &self,
        data: &str,
        named: Option<&str>,
        dialect: &Dialect,
        heard: &mut Heard,
    ) -> Result<(), String> {
        heard.events += 1;
        let text = |pointer: &str| at(data, pointer).map(units).unwrap_or_default();
        let number = |name: &str| at(data, name).and_then(|number| number.parse::<u64>().ok()).unwrap_or(0);
        let kind = named.map_or_else(|| String::from_utf16_lossy(&text("/type")), str::to_owned);
        if kind.is_empty() && at(data, "/error").is_some() || kind == "error" {
            return if self.is("ignores-error-events") { Ok(()) } else { Err(format!("error: {data}")) };
        }
        if at(data, "/type").is_none() && !data.trim_start().starts_with('{')
            || !data.trim_end().ends_with('}')
        {
            return Err(format!("no event: {data}"));
        }
        heard.number = number("/sequence_number");
        if kind == "response.created" {
            heard.id = Some(String::from_utf16_lossy(&text("/response/id")));
        }
        let is_known = dialect.event(&kind).is_some();
        if !is_known && self.is("refuses-unknown-events") {
            return Err(format!("unknown event {kind}"));
        }
        if self.is("demands-sequence-numbers") && at(data, "/sequence_number").is_none() {
            return Err("no sequence number".to_owned());
        }
        if self.is("demands-schemas") && !dialect.check_event(&kind, data).is_valid() {
            return Err("the event is invalid".to_owned());
        }
        let place =
            (number("/output_index"), if self.is("ignores-indices") { 0 } else { number("/content_index") });
        match &*kind {
            "response.output_text.delta" => {
                let delta = text("/delta");
                let is_dropped = self.is("drops-a-delta") && heard.events == 6;
                if !is_dropped {
                    heard.texts.entry(place).or_default().extend(delta);
                }
            }
            "response.output_item.added" => {
                let of_item = |name: &str| String::from_utf16_lossy(&text(&format!("/item/{name}")));
                if matches!(&*of_item("type"), "function_call" | "custom_tool_call") {
                    let index = if self.is("ignores-indices") { 0 } else { place.0 };
                    heard.calls.insert(index, (of_item("call_id"), of_item("name"), String::new()));
                }
            }
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                let index = if self.is("ignores-indices") { 0 } else { place.0 };
                if let Some(call) = heard.calls.get_mut(&index) {
                    call.2 += &String::from_utf16_lossy(&text("/delta"));
                }
            }
            kind if dialect.terminal.contains(&kind) => {
                let response = at(data, "/response").ok_or("the last event has no response")?;
                let response: Value = serde_json::from_str(response).map_err(|error| error.to_string())?;
                heard.last = Some(Answer::of_response(dialect.api, &response));
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the content of a finished stream.
    fn whole(&self, heard: Heard, problem: Option<String>, dialect: &Dialect) -> Result<Answer, String> {
        let texts: Vec<String> = heard.texts.values().map(|units| String::from_utf16_lossy(units)).collect();
        if let Some(most) = self.asked.cancel_after_events {
            let answer = Answer { texts, ..Answer::default() };
            return if heard.events >= most { Ok(answer) } else { Err("nothing to leave".to_owned()) };
        }
        if let Some(problem) = problem {
            return Err(problem);
        }
        let calls: Vec<clients::ToolCall> = heard
            .calls
            .into_values()
            .map(|(id, name, arguments)| clients::ToolCall { id, name, arguments })
            .collect();
        let Some(last) = heard.last.filter(|_| !self.is("needs-done") || heard.marked) else {
            if self.is("needs-no-end") {
                return Ok(Answer { texts, calls, ..Answer::default() });
            }
            return Err("the stream ended before the response".to_owned());
        };
        if self.is("takes-failures-for-answers") {
            return Ok(last);
        }
        let last = finished(last, dialect)?;
        let trusts_deltas = ["trusts-deltas", "leaves-out-empty-ids", "drops-a-delta", "ignores-indices"];
        if trusts_deltas.contains(&self.kind) {
            return Ok(Answer { texts, calls, ..last });
        }
        let is_told = !texts.concat().is_empty() || !calls.is_empty();
        if is_told && !self.is("trusts-the-end") && (texts.concat() != last.text() || calls != last.calls) {
            return Err("the last event says something else than the deltas".to_owned());
        }
        Ok(last)
    }

    /// Sends the request, and reads the body until `is_enough`, or its end.
    fn post(&self, request: &Value, is_enough: &mut dyn FnMut(&[u8]) -> bool) -> Result<Vec<u8>, String> {
        let asked = self.asked;
        let mut body = request.clone();
        body["stream"] = json!(asked.transport == "sse");
        if self.is("sends-nonsense") {
            body["max_output_tokens"] = json!("many");
        }
        if self.is("forgets-the-previous-id")
            && let Some(members) = body.as_object_mut()
        {
            members.remove("previous_response_id");
        }
        let dialect = spec::dialect(&asked.dialect).ok_or("the dialect is unknown")?;
        self.send("POST", dialect.api.path, &body.to_string(), is_enough)
    }

    /// Sends a request, and sends it again as often as the case allows.
    fn send(
        &self,
        method: &str,
        place: &str,
        body: &str,
        is_enough: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<Vec<u8>, String> {
        for attempt in 0.. {
            let mut head = String::new();
            let sent = retries::again(self.kind, body, attempt);
            let result = self.send_once((method, place, attempt), &sent, is_enough, &mut head);
            match retries::pause(self.kind, self.asked, attempt, &head)? {
                Some(pause) if result.is_err() => std::thread::sleep(pause),
                _ => return result,
            }
        }
        Err("there were too many requests".to_owned())
    }

    fn send_once(
        &self,
        (method, place, attempt): (&str, &str, u32),
        body: &str,
        is_enough: &mut dyn FnMut(&[u8]) -> bool,
        head_of: &mut String,
    ) -> Result<Vec<u8>, String> {
        let fail = |error: io::Error| error.to_string();
        let asked = self.asked;
        let (host, path) = parts(&asked.base_url);
        let key = if self.is("sends-no-key") {
            String::new()
        } else {
            format!("authorization: Bearer {}\r\n", asked.api_key)
        };
        let key = key + &retries::key(self.kind, attempt);
        let kind = if self.is("sends-text") { "text/plain" } else { "application/json" };
        let mut stream = TcpStream::connect(host).map_err(fail)?;
        let head = format!(
            "{method} {path}{place} HTTP/1.0\r\nhost: {host}\r\n{key}content-type: {kind}\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).map_err(fail)?;
        let began = Instant::now();
        let limit = if self.is("has-no-timeout") {
            Duration::from_secs(60)
        } else {
            Duration::from_millis(asked.timeout_ms)
        };
        let (mut bytes, mut buffer, mut head) = (Vec::new(), vec![0; 65536], None);
        loop {
            let left = limit.checked_sub(began.elapsed()).filter(|left| !left.is_zero()).ok_or("timeout")?;
            stream.set_read_timeout(Some(left)).map_err(fail)?;
            let read = match stream.read(&mut buffer) {
                Ok(read) => read,
                Err(error)
                    if head.is_some()
                        && !matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) =>
                {
                    0
                }
                Err(error) => return Err(error.to_string()),
            };
            bytes.extend_from_slice(&buffer[..read]);
            if head.is_none() {
                head = bytes.windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4);
                *head_of = String::from_utf8_lossy(&bytes[..head.unwrap_or(0)]).into_owned();
                let status = head_of.split(' ').nth(1).map(str::to_owned);
                if head.is_some() && status.as_deref() != Some("200") && !self.is("ignores-the-status") {
                    return Err(format!("status {status:?}"));
                }
            }
            let Some(head) = head else {
                if read == 0 {
                    return Err("no answer".to_owned());
                }
                continue;
            };
            // Read all available data first.
            if (read < buffer.len() && is_enough(&bytes[head..])) || read == 0 {
                return Ok(bytes.split_off(head));
            }
        }
    }

    /// Runs a turn on a WebSocket.
    fn talk(&self, dialect: &Dialect) -> Result<Answer, String> {
        let asked = self.asked;
        let (host, path) = parts(&asked.base_url);
        let stream = TcpStream::connect(host).map_err(|error| error.to_string())?;
        stream
            .set_read_timeout(Some(Duration::from_millis(asked.timeout_ms)))
            .map_err(|error| error.to_string())?;
        let url = format!("ws://{host}{path}/responses");
        let mut request = url.into_client_request().map_err(|error| error.to_string())?;
        let key = format!("Bearer {}", asked.api_key).parse().map_err(|_| "the key is no header")?;
        request.headers_mut().insert("authorization", key);
        let (mut socket, _) = client(request, stream).map_err(|error| error.to_string())?;
        let mut answer = self.take_turn(&mut socket, asked.request.clone(), dialect)?;
        for step in self.steps() {
            if let Some(request) = following(step, &asked.request, &answer, self.kind) {
                answer = self.take_turn(&mut socket, request, dialect)?;
            }
        }
        Ok(answer)
    }

    fn take_turn(
        &self,
        socket: &mut WebSocket<TcpStream>,
        mut turn: Value,
        dialect: &Dialect,
    ) -> Result<Answer, String> {
        turn["type"] = json!("response.create");
        if self.is("streams-on-sockets") {
            turn["stream"] = json!(true);
        } else if let Some(members) = turn.as_object_mut() {
            members.remove("background");
        }
        socket.send(Message::Text(turn.to_string().into())).map_err(|error| error.to_string())?;
        let mut heard = Heard { marked: true, ..Heard::default() };
        let mut problem = None;
        while problem.is_none() && !self.is_over(&heard) {
            match socket.read() {
                Ok(Message::Text(text)) => {
                    problem = self.event(text.as_str(), None, dialect, &mut heard).err();
                }
                Ok(Message::Close(_)) | Err(_) => break,
                Ok(_) => {}
            }
        }
        self.whole(heard, problem, dialect)
    }
}

/// Returns the request of a step, if it sends one.
fn following(step: &CaseStep, first: &Value, before: &Answer, kind: &str) -> Option<Value> {
    let id = if kind == "continues-another" { Some("resp_0") } else { before.id.as_deref() };
    match step {
        CaseStep::Continue { request } => {
            let mut request = request.clone();
            if kind == "repeats-the-conversation" {
                request["input"] = json!([
                    {"role": "user", "content": first["input"]},
                    {"role": "assistant", "content": before.text()},
                    {"role": "user", "content": request["input"]},
                ]);
            } else {
                request["previous_response_id"] = json!(id);
            }
            Some(request)
        }
        CaseStep::AnswerCalls { outputs } => {
            let output = |call: &clients::ToolCall| {
                let call_id = if kind == "mixes-up-calls" { "call_0" } else { &call.id };
                json!({"type": "function_call_output", "call_id": call_id, "output": outputs.get(&call.name)})
            };
            let input: Vec<Value> = before.calls.iter().map(output).collect();
            Some(json!({"model": first["model"], "input": input, "previous_response_id": id}))
        }
        CaseStep::Resume => None,
    }
}

fn finished(answer: Answer, dialect: &Dialect) -> Result<Answer, String> {
    match answer.status.as_deref() {
        Some("completed" | "incomplete") => Ok(answer),
        Some(_) if dialect.api.list.is_empty() => Ok(answer),
        status => Err(format!("the response is {status:?}")),
    }
}

fn parts(base_url: &str) -> (&str, &str) {
    let rest = base_url.trim_start_matches("http://");
    rest.split_at(rest.find('/').unwrap_or(rest.len()))
}

/// Returns the code units of a JSON string. Two strings may contain the halves of a surrogate pair.
fn units(json: &str) -> Vec<u16> {
    let mut units = Vec::new();
    let inside = json.strip_prefix('"').and_then(|json| json.strip_suffix('"')).unwrap_or(json);
    let mut rest = inside.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            units.extend(c.encode_utf16(&mut [0; 2]).iter());
            continue;
        }
        match rest.next() {
            Some('u') => {
                let digits: String = rest.by_ref().take(4).collect();
                units.push(u16::from_str_radix(&digits, 16).unwrap_or(0xfffd));
            }
            Some('n') => units.push(10),
            Some('t') => units.push(9),
            Some('r') => units.push(13),
            Some('b') => units.push(8),
            Some('f') => units.push(12),
            Some(c) => units.extend(c.encode_utf16(&mut [0; 2]).iter()),
            None => {}
        }
    }
    units
}

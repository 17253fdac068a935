//! An endpoint that responds with files, for tests of commands that send requests.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Serves until it is killed. Patterns and files follow each other.
#[expect(clippy::print_stdout, reason = "the test reads the URL")]
pub(crate) fn serve(rules: &[&str]) -> ExitCode {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    println!("http://{}", listener.local_addr().expect("it is bound"));
    let rules: Arc<[Rule]> = rules.chunks(2).map(Rule::new).collect();
    let counts = Arc::new(Mutex::new(HashMap::new()));
    for stream in listener.incoming().map_while(Result::ok) {
        let (rules, counts) = (Arc::clone(&rules), Arc::clone(&counts));
        thread::spawn(move || respond(stream, &rules, &counts));
    }
    ExitCode::SUCCESS
}

/// A pattern in a request, and the responses to the requests that contain it.
struct Rule {
    pattern: String,
    files: Vec<String>,
}

impl Rule {
    fn new(pair: &[&str]) -> Self {
        let files = pair.get(1).map(|files| files.split(',').map(str::to_owned).collect());
        Self { pattern: pair[0].to_owned(), files: files.unwrap_or_default() }
    }
}

fn respond(mut stream: TcpStream, rules: &[Rule], counts: &Mutex<HashMap<usize, usize>>) -> Option<()> {
    let request = read(&stream)?;
    let number = rules.iter().position(|rule| request.contains(&rule.pattern))?;
    // Whether there is a list of models is asked before every run.
    let is_logged = !request.starts_with("GET /v1/models") || rules[number].pattern.contains("models");
    let file = {
        let mut counts = counts.lock().ok()?;
        let count = counts.entry(number).or_insert(0);
        let files = &rules[number].files;
        let file = files.get(*count).or(files.last())?.clone();
        if is_logged {
            *count += 1;
            let mut log = OpenOptions::new().create(true).append(true).open("requests").ok()?;
            writeln!(log, "{request}").ok()?;
        }
        if is_logged { file } else { "404".to_owned() }
    };
    stream.write_all(&response(&file)?).ok()
}

/// Returns the response of a file: `STATUS`, `STATUS:FILE`, `FILE`, `hang`, `close`, or `stop`, which ends the
/// server, after `slow:`, which takes half a second. A file with a status line is sent as it is.
fn response(file: &str) -> Option<Vec<u8>> {
    match file {
        "hang" => {
            thread::sleep(Duration::from_secs(20));
            return None;
        }
        "close" => return None,
        "stop" => stop(),
        _ => {}
    }
    if let Some(file) = file.strip_prefix("slow:") {
        thread::sleep(Duration::from_millis(500));
        return response(file);
    }
    let (status, file) = match file.split_once(':') {
        Some((status, file)) => (status, file),
        None if file.parse::<u16>().is_ok() => (file, ""),
        None => ("200", file),
    };
    let body = if file.is_empty() { b"{}".to_vec() } else { fs::read(file).ok()? };
    if body.starts_with(b"HTTP/1.1 ") {
        return Some(body);
    }
    let kind = match file.rsplit('.').next() {
        Some("sse") => "text/event-stream",
        Some("html") => "text/html",
        Some("txt") => "text/plain",
        _ => "application/json",
    };
    let head = format!("HTTP/1.1 {status} Status\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n");
    Some([head.into_bytes(), body].concat())
}

#[expect(clippy::exit, reason = "the endpoint has crashed")]
fn stop() -> ! {
    std::process::exit(1)
}

/// Reads the head and the body of a request. Names of headers are in lower case.
fn read(stream: &TcpStream) -> Option<String> {
    let mut reader = BufReader::new(stream);
    let mut request = String::new();
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        let (name, value) =
            line.split_once(": ").map_or((line.to_owned(), ""), |(name, value)| (name.to_lowercase(), value));
        if name == "content-length" {
            length = value.parse().ok()?;
        }
        request.extend([&*name, if value.is_empty() { "" } else { ": " }, value, "\n"]);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(request + "\n" + &String::from_utf8_lossy(&body))
}

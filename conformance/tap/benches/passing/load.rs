//! An upstream whose streams have a pace, and their clients, in a process of their own: the memory and the time of this one
//! are those of a proxy.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval, sleep};

/// The argument of the process.
pub(crate) const ARGUMENT: &str = "load";
/// Connections are made this far apart, so that the streams do not beat together.
const APART: Duration = Duration::from_micros(500);
/// The start of the time in an event.
const CONTENT: &[u8] = b"\"content\":\"";

fn event(content: &str, stop: &str) -> String {
    let choice = format!("{{\"index\":0,\"delta\":{{\"content\":\"{content}\"}},\"finish_reason\":{stop}}}");
    let rest = "\"object\":\"chat.completion.chunk\",\"created\":1785000000,\"model\":\"m\"";
    format!("data: {{\"id\":\"chatcmpl-1\",{rest},\"choices\":[{choice}]}}\n\n")
}

/// The path has the number of events, the microseconds between two, and the seconds of silence behind them.
async fn answer(mut stream: TcpStream, began: Instant) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut head = [0; 2048];
    let length = stream.read(&mut head).await?;
    let head = String::from_utf8_lossy(&head[..length]).into_owned();
    let mut numbers = head.split(['/', ' ']).filter_map(|word| word.parse::<u64>().ok());
    let [events, gap, silence] = [(); 3].map(|()| numbers.next().unwrap_or_default());
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n").await?;
    let mut ticks = interval(Duration::from_micros(gap.max(1)));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    for _ in 0..events {
        ticks.tick().await;
        let now = began.elapsed().as_micros().to_string();
        stream.write_all(event(&now, "null").as_bytes()).await?;
    }
    let mut end = [0];
    tokio::select! {
        () = sleep(Duration::from_secs(silence)) => {}
        // A client that leaves closes the connection.
        _ = stream.read(&mut end) => return Ok(()),
    }
    stream.write_all((event("", "\"stop\"") + "data: [DONE]\n\n").as_bytes()).await
}

/// Returns how long each event took.
async fn listen(
    to: SocketAddr,
    events: u64,
    gap: u64,
    began: Instant,
    silence: u64,
    mut held: watch::Receiver<bool>,
) -> Vec<u64> {
    let mut stream = TcpStream::connect(to).await.expect("it listens");
    stream.set_nodelay(true).expect("it is a socket");
    let request = format!(
        "POST /{events}/{gap}/{silence}/v1/chat/completions HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{{}}"
    );
    stream.write_all(request.as_bytes()).await.expect("it reads");
    let (mut bytes, mut took) = (Vec::new(), Vec::new());
    let mut chunk = vec![0; 8192];
    loop {
        let read = tokio::select! {
            read = stream.read(&mut chunk) => read,
            _ = held.wait_for(|holds| !holds) => return took,
        };
        let Ok(length @ 1..) = read else { return took };
        bytes.extend_from_slice(&chunk[..length]);
        let now = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
        let mut parsed = 0;
        while let Some(at) = bytes[parsed..].windows(CONTENT.len()).position(|window| window == CONTENT) {
            let from = parsed + at + CONTENT.len();
            let Some(length) = bytes[from..].iter().position(|byte| *byte == b'"') else { break };
            if let Ok(sent) = String::from_utf8_lossy(&bytes[from..from + length]).parse::<u64>() {
                took.push(now.saturating_sub(sent));
            }
            parsed = from + length;
        }
        bytes.drain(..parsed);
    }
}

async fn run(to: SocketAddr, streams: u64, events: u64, gap: u64, began: Instant, holds: bool) -> String {
    let (release, held) = watch::channel(true);
    let silence = if holds { 3600 } else { 0 };
    let mut clients = Vec::new();
    for _ in 0..streams {
        clients.push(tokio::spawn(listen(to, events, gap, began, silence, held.clone())));
        sleep(APART).await;
    }
    if holds {
        // All of them have their events, and wait.
        sleep(Duration::from_secs(1)).await;
        println!("open");
        let mut line = String::new();
        std::io::stdin().lock().read_line(&mut line).expect("it is released");
        release.send_replace(false);
    }
    let mut took = Vec::new();
    for client in clients {
        took.extend(client.await.expect("it ends"));
    }
    took.sort_unstable();
    let at = |part: usize| {
        took.get((took.len() * part / 1000).min(took.len().saturating_sub(1))).copied().unwrap_or_default()
    };
    let late = took.len() - took.partition_point(|took| *took <= gap);
    format!("{} {} {} {} {late}", took.len(), at(500), at(990), at(1000))
}

/// Does what its standard input asks for.
pub(crate) fn main() {
    let began = Instant::now();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("it starts");
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port is free");
    println!("{}", listener.local_addr().expect("it is bound"));
    runtime.spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream, began));
        }
    });
    let mut line = String::new();
    while std::io::stdin().lock().read_line(&mut line).is_ok_and(|length| length > 0) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [holds, to, streams, events, gap] = *words {
            let [streams, events, gap] = [streams, events, gap].map(|word| word.parse().expect("a number"));
            let to = to.parse().expect("an address");
            println!("{}", runtime.block_on(run(to, streams, events, gap, began, holds == "hold")));
        }
        line.clear();
    }
}

/// The process.
#[derive(Debug)]
pub(crate) struct Load {
    process: Child,
    say: ChildStdin,
    said: BufReader<ChildStdout>,
    pub(crate) upstream: SocketAddr,
}

/// The events of all streams, and how long they took.
#[derive(Debug)]
pub(crate) struct Events {
    pub(crate) count: u64,
    /// In milliseconds: the median, one of a hundred, and the most.
    pub(crate) took: [f64; 3],
    /// They took longer than the time between two events.
    pub(crate) late: u64,
}

impl Load {
    pub(crate) fn start() -> Self {
        let program = env::current_exe().expect("it has a path");
        let mut process = Command::new(program)
            .arg(ARGUMENT)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let (say, said) = (process.stdin.take(), process.stdout.take());
        let (say, mut said) = (say.expect("it is piped"), BufReader::new(said.expect("it is piped")));
        let upstream = line(&mut said).parse().expect("an address");
        Self { process, say, said, upstream }
    }

    pub(crate) fn run(&mut self, to: SocketAddr, streams: u64, events: u64, gap: Duration) -> Events {
        writeln!(self.say, "run {to} {streams} {events} {}", gap.as_micros()).expect("it reads");
        self.events()
    }

    /// Opens streams, and closes them after this function.
    pub(crate) fn hold<T>(
        &mut self,
        to: SocketAddr,
        streams: u64,
        events: u64,
        then: impl FnOnce() -> T,
    ) -> T {
        writeln!(self.say, "hold {to} {streams} {events} 1000").expect("it reads");
        assert_eq!(line(&mut self.said), "open");
        let value = then();
        writeln!(self.say, "close").expect("it reads");
        self.events();
        value
    }

    fn events(&mut self) -> Events {
        let words = line(&mut self.said);
        let numbers: Vec<u32> = words.split(' ').map(|word| word.parse().expect("a number")).collect();
        let [count, p50, p99, most, late] = *numbers else { panic!("{words}") };
        let took = [p50, p99, most].map(|micros| f64::from(micros) / 1e3);
        Events { count: count.into(), took, late: late.into() }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn line(from: &mut impl BufRead) -> String {
    let mut line = String::new();
    from.read_line(&mut line).expect("it says something");
    line.trim().to_owned()
}

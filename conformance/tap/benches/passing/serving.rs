//! All faults of the reference gateway through a tap. A relay before the gateway keeps the bytes of each exchange, and the
//! client compares its own with them.

use std::collections::{BTreeSet, HashMap};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use checker::Rules;
use gateway::{Embedded, FaultKind, Settings, fault_list, without_path};
use serde_json::Value;
use spec::Dialect;
use spec::table::Operation;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::{sleep, timeout};

/// The header that numbers an exchange.
const NUMBER: &str = "x-number: ";
/// Clients leave if nothing comes for so long, and they have all that was sent: a stalled stream never ends.
const QUIET: Duration = Duration::from_secs(3);
/// Clients wait so long for bytes that were sent, also where other processes have most of the time.
const PATIENCE: Duration = Duration::from_secs(300);
const END_OF_HEAD: &[u8] = b"\r\n\r\n";
/// The server may refuse a WebSocket.
const SWITCHED: &[u8] = b"HTTP/1.1 101 ";
/// Headers of one connection.
const HOPS: [&str; 5] = ["connection:", "host:", "keep-alive:", "transfer-encoding:", "upgrade:"];

/// An exchange that a client begins, with the bytes of the tap and of the gateway at the relay.
#[derive(Debug)]
struct Asked {
    gateway: SocketAddr,
    sides: [Mutex<Vec<u8>>; 2],
}

impl Asked {
    fn side(&self, side: usize) -> MutexGuard<'_, Vec<u8>> {
        self.sides[side].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type Open = Arc<Mutex<HashMap<u64, Arc<Asked>>>>;

fn of(open: &Open) -> MutexGuard<'_, HashMap<u64, Arc<Asked>>> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The start line, the headers that pass, the body, and whether it is whole.
fn message(bytes: &[u8]) -> (Vec<String>, Vec<u8>, bool) {
    let Some(at) = bytes.windows(4).position(|window| window == END_OF_HEAD) else {
        return (Vec::new(), bytes.to_vec(), false);
    };
    let head = String::from_utf8_lossy(&bytes[..at]);
    let mut lines = head.lines().map(str::to_owned);
    let first = lines.next();
    let (hops, mut headers): (Vec<String>, Vec<String>) =
        lines.partition(|line| HOPS.iter().any(|hop| line.to_ascii_lowercase().starts_with(hop)));
    headers.sort();
    let body = crate::scene::body(bytes);
    let is_chunked = hops.iter().any(|line| line.to_ascii_lowercase().ends_with(": chunked"));
    let length: Option<usize> = headers
        .iter()
        .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let is_whole = if is_chunked {
        bytes.ends_with(b"\r\n0\r\n\r\n")
    } else {
        length.is_none_or(|length| body.len() == length)
    };
    (first.into_iter().chain(headers).collect(), body, is_whole)
}

fn is_same(asked: &Asked, own: [&[u8]; 2]) -> bool {
    (0..2).all(|side| message(&asked.side(side)) == message(own[side]))
}

/// Passes one exchange of a connection to the gateway, and keeps its bytes.
async fn relay(mut tap: TcpStream, open: Open) -> std::io::Result<()> {
    tap.set_nodelay(true)?;
    let mut head = Vec::new();
    while !head.windows(4).any(|window| window == END_OF_HEAD) {
        if tap.read_buf(&mut head).await? == 0 {
            return Ok(());
        }
    }
    let text = String::from_utf8_lossy(&head).to_ascii_lowercase();
    let number = text.split(NUMBER).nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
    let Some(asked) = number.and_then(|number: u64| of(&open).get(&number).cloned()) else { return Ok(()) };
    asked.side(0).extend_from_slice(&head);
    // The next exchange has a connection of its own.
    let end = head.windows(4).position(|window| window == END_OF_HEAD).unwrap_or_default();
    head.splice(end..end, *b"\r\nConnection: close");
    let mut server = TcpStream::connect(asked.gateway).await?;
    server.set_nodelay(true)?;
    server.write_all(&head).await?;
    let (mut from_tap, mut to_tap) = tap.split();
    let (mut from_server, mut to_server) = server.split();
    // Where one side leaves, the other one is left.
    tokio::select! {
        ended = copied(&mut from_tap, &mut to_server, |chunk| asked.side(0).extend_from_slice(chunk)) => ended,
        ended = copied(&mut from_server, &mut to_tap, |chunk| asked.side(1).extend_from_slice(chunk)) => ended,
    }
}

async fn copied(
    from: &mut ReadHalf<'_>,
    to: &mut WriteHalf<'_>,
    mut keep: impl FnMut(&[u8]),
) -> std::io::Result<()> {
    let mut chunk = vec![0; 16 << 10];
    while let Ok(length @ 1..) = from.read(&mut chunk).await {
        keep(&chunk[..length]);
        to.write_all(&chunk[..length]).await?;
    }
    Ok(())
}

/// A request of a dialect for a fault.
#[derive(Debug)]
struct Played {
    /// The dialect, and the fault if there is one.
    name: String,
    gateway: SocketAddr,
    path: String,
    headers: String,
    body: String,
    is_socket: bool,
}

/// Transport faults are the same in all dialects of an API.
fn played(dialect: &'static Dialect, gateway: SocketAddr, is_first_of_api: bool) -> Vec<Played> {
    let mut faults = fault_list([&Rules::of(dialect)]);
    let sound =
        faults.iter().find(|fault| fault.kind == FaultKind::Transport).map(|fault| fault.request.clone());
    faults.retain(|fault| is_first_of_api || fault.kind != FaultKind::Transport);
    let faults = faults
        .into_iter()
        .map(|fault| (Some(fault.fault), fault.request, fault.kind == FaultKind::Websocket));
    let api = dialect.api;
    let of = |(fault, request, is_socket): (Option<&str>, Value, bool)| {
        let is_stream = request["stream"] == true;
        let (segments, body) = without_path(api, request);
        let path = if segments.is_empty() { api.path.to_owned() } else { format!("/{}", segments.join("/")) };
        let query = api.route(Operation::Create).filter(|_| is_stream).map_or(&[][..], |route| route.query);
        let query: Vec<String> = query.iter().map(|(name, value)| format!("{name}={value}")).collect();
        Played {
            name: format!("{} {}", dialect.name, fault.unwrap_or("without a fault")),
            gateway,
            path: format!("/{}{path}?{}", api.version, query.join("&")),
            headers: fault.map_or_else(String::new, |fault| format!("X-Conformance-Fault: {fault}\r\n")),
            body: body.to_string(),
            is_socket,
        }
    };
    let sound = sound.map(|request| (None, request, false));
    faults.chain(sound).map(of).collect()
}

impl Played {
    fn request(&self, number: u64) -> Vec<u8> {
        let Self { path, headers, body, .. } = self;
        if self.is_socket {
            return format!(
                "GET {path} HTTP/1.1\r\nHost: a.test\r\n{NUMBER}{number}\r\n{headers}Connection: Upgrade\r\nUpgrade: websocket\r\n\
                 Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
            )
            .into_bytes();
        }
        format!(
            "POST {path} HTTP/1.1\r\nHost: a.test\r\n{NUMBER}{number}\r\n{headers}Connection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .into_bytes()
    }

    /// Two turns on a WebSocket. Their mask changes nothing.
    fn turns(&self) -> Vec<u8> {
        let text = format!("{{\"type\":\"response.create\",{}", &self.body[1..]);
        let length = u16::try_from(text.len()).expect("it is short");
        let frame = [&[0x81, 0xfe], &length.to_be_bytes()[..], &[0; 4], text.as_bytes()].concat();
        frame.repeat(2)
    }
}

/// The ends of exchanges.
#[derive(Debug, Default)]
struct Ends {
    differ: AtomicU64,
    hang: AtomicU64,
    left: AtomicU64,
    broken: AtomicU64,
    bytes: AtomicU64,
    applied: Mutex<BTreeSet<String>>,
}

impl Ends {
    async fn play(&self, tap: SocketAddr, played: &Played, number: u64, open: &Open) {
        let asked = Arc::new(Asked { gateway: played.gateway, sides: Default::default() });
        of(open).insert(number, Arc::clone(&asked));
        let count = |counter: &AtomicU64| counter.fetch_add(1, Ordering::Relaxed);
        let (mut sent, mut got) = (played.request(number), Vec::new());
        let mut stream = TcpStream::connect(tap).await.expect("it listens");
        stream.write_all(&sent).await.expect("it reads");
        let (began, mut has_sent) = (Instant::now(), !played.is_socket);
        let mut has_left = false;
        loop {
            match timeout(QUIET, stream.read_buf(&mut got)).await {
                Ok(Ok(1..)) if !has_sent && got.starts_with(SWITCHED) => {
                    has_sent = true;
                    let turns = played.turns();
                    stream.write_all(&turns).await.expect("it reads");
                    sent.extend(turns);
                }
                Ok(Ok(1..)) => {}
                Ok(Ok(0) | Err(_)) => break,
                Err(_) => {
                    has_left = !got.is_empty() && is_same(&asked, [&sent, &got]);
                    if has_left || began.elapsed() > PATIENCE {
                        break;
                    }
                }
            }
        }
        drop(stream);
        of(open).remove(&number);
        let (head, _, is_whole) = message(&got);
        if !is_same(&asked, [&sent, &got]) {
            let lengths = [asked.side(0).len(), sent.len(), asked.side(1).len(), got.len()];
            println!("{number}: {}: {lengths:?} bytes, {head:?}", played.name);
            count(&self.differ);
        }
        if has_left {
            count(&self.left);
        } else if !is_whole {
            count(&self.broken);
        }
        self.bytes.fetch_add((sent.len() + got.len()) as u64, Ordering::Relaxed);
        let is_applied = played.is_socket || head.iter().any(|line| line.ends_with(": applied"));
        if is_applied || played.headers.is_empty() {
            self.applied.lock().unwrap_or_else(PoisonError::into_inner).insert(played.name.clone());
        }
        // The relay ends, too: a client that leaves is not waited for.
        while Arc::strong_count(&asked) > 1 {
            if began.elapsed() > PATIENCE {
                println!("{number}: {} hangs", played.name);
                count(&self.hang);
                return;
            }
            sleep(Duration::from_millis(1)).await;
        }
    }
}

/// Plays all faults of all dialects in turn.
pub(crate) fn all_pass(streams: u64, at_once: u64) {
    let start = |dialect| (dialect, Embedded::start(Settings::new(dialect)).expect("a port is free"));
    let gateways: Vec<(&Dialect, Embedded)> = gateway::dialects().map(start).collect();
    let mut apis = BTreeSet::new();
    let all = gateways
        .iter()
        .flat_map(|(dialect, gateway)| played(dialect, gateway.address(), apis.insert(dialect.api.name)));
    let all: Arc<Vec<Played>> = Arc::new(all.collect());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("it starts");
    let open = Open::default();
    let bound = async {
        // All clients may connect at once.
        let socket = TcpSocket::new_v4()?;
        socket.bind(SocketAddr::from(([127, 0, 0, 1], 0)))?;
        socket.listen(4096)
    };
    let listener: std::io::Result<TcpListener> = runtime.block_on(bound);
    let listener = listener.expect("a port is free");
    let mut tapped = crate::judging(listener.local_addr().expect("it is bound"), 256 << 10, 1.0, true);
    let relayed = Arc::clone(&open);
    runtime.spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(relay(stream, Arc::clone(&relayed)));
        }
    });
    let (ends, next, tap) = (Arc::new(Ends::default()), Arc::new(AtomicU64::new(0)), tapped.address);
    let began = Instant::now();
    runtime.block_on(async {
        let client = |_| {
            let (ends, next, open, all) =
                (Arc::clone(&ends), Arc::clone(&next), Arc::clone(&open), Arc::clone(&all));
            tokio::spawn(async move {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= streams {
                        return;
                    }
                    let played = &all[usize::try_from(number).expect("it is small") % all.len()];
                    ends.play(tap, played, number, &open).await;
                }
            })
        };
        for client in (0..at_once).map(client).collect::<Vec<_>>() {
            client.await.expect("it ends");
        }
    });
    let seconds = began.elapsed().as_secs_f64();
    tapped.end();
    let applied = ends.applied.lock().unwrap_or_else(PoisonError::into_inner);
    for played in all.iter().filter(|played| !applied.contains(&played.name)) {
        println!("not applied: {}", played.name);
    }
    let rules: BTreeSet<String> = tapped
        .metrics
        .text()
        .lines()
        .filter_map(|line| Some(line.split("_findings_total{rule=\"").nth(1)?.split('"').next()?.to_owned()))
        .collect();
    let [differ, hang, left, broken, bytes] =
        [&ends.differ, &ends.hang, &ends.left, &ends.broken, &ends.bytes]
            .map(|count| count.load(Ordering::Relaxed));
    println!(
        "{streams} streams of {} dialects, {at_once} at once, {} faults, {} MB in {seconds:.0} s: {differ} differ, {hang} hang, \
         {broken} were broken off at both ends, {left} were left by clients; {} judged, {} rules broken, {}",
        gateways.len(),
        all.len() - gateways.len(),
        bytes / 1_000_000,
        tapped.metrics.checked(),
        rules.len(),
        crate::dropped(&tapped),
    );
    assert_eq!((differ, hang), (0, 0));
}

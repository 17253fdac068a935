//! A gateway that a run starts.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use harness::live::RunRuntime;
use harness::process::{Process, Processes, Tail, wait};
use harness::wire::{Secrets, Target};
use results::text::visible;

/// The environment variable with the URL of the upstream.
pub const UPSTREAM_BASE_URL: &str = "UPSTREAM_BASE_URL";
/// The environment variable with the key for the upstream.
pub const UPSTREAM_KEY: &str = "UPSTREAM_KEY";
/// The environment variable with a free port for the gateway.
pub const GATEWAY_PORT: &str = "GATEWAY_PORT";

const LINES: usize = 12;
/// Maximum time to connect, and for the first byte of an answer.
const ANSWER: Duration = Duration::from_secs(5);
/// Time between two requests while the gateway starts.
const PAUSE: Duration = Duration::from_millis(50);
/// A start is slow from this time on.
const SLOW: Duration = Duration::from_secs(2);
/// Maximum time for the gateway to end by itself.
const GRACE: Duration = Duration::from_secs(5);

/// How to start a gateway.
#[derive(Debug, Clone)]
pub struct GatewayCommand {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// Its URL; `http://127.0.0.1:GATEWAY_PORT` if absent.
    pub url: Option<String>,
    /// Maximum time until it answers.
    pub limit: Duration,
    /// The file for its output.
    pub log: Option<PathBuf>,
    /// Secrets that its output must not show.
    pub secrets: Vec<String>,
}

/// A running gateway. When dropped, it and its descendants end.
#[derive(Debug)]
pub struct StartedGateway {
    process: Option<Process>,
    output: Tail,
    url: String,
}

impl GatewayCommand {
    /// Starts the gateway, with the URL of the upstream and the key for it in its environment, and waits until it answers.
    /// Calls `slow` with its URL if that takes long.
    ///
    /// # Errors
    ///
    /// If it cannot be started, ends, or does not answer within its limit; and when the run is interrupted. The message has
    /// the last lines of its output, escaped.
    pub fn start(
        &self,
        upstream_url: &str,
        upstream_key: &str,
        machine: &RunRuntime,
        slow: &dyn Fn(&str),
    ) -> io::Result<StartedGateway> {
        let (program, arguments) =
            self.command.split_first().ok_or_else(|| io::Error::other("no command is set"))?;
        let named = visible(&program.to_string_lossy());
        let failed = |what: &str, error: &io::Error| io::Error::other(format!("{what}: {error}"));
        let port = free_port().map_err(|error| failed("there is no free port for the gateway", &error))?;
        let url = self.url.clone().unwrap_or_else(|| format!("http://127.0.0.1:{port}"));
        let addresses = addresses(&url)?;
        // A given URL names the port of the gateway.
        let port = match (&self.url, addresses.first()) {
            (Some(_), Some(address)) => address.port(),
            _ => port,
        };
        if addresses.iter().any(|address| connect(address).is_some()) {
            return Err(io::Error::other(format!(
                "something else already listens at {}: end it, or choose another port",
                visible(&url)
            )));
        }
        let log = match &self.log {
            Some(file) => {
                Some(File::create(file).map_err(|error| failed(&visible(&file.to_string_lossy()), &error))?)
            }
            None => None,
        };
        let processes = Processes::default();
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env(UPSTREAM_BASE_URL, upstream_url)
            .env(UPSTREAM_KEY, upstream_key)
            .env(GATEWAY_PORT, port.to_string());
        let mut process = processes
            .start(&mut command)
            .map_err(|error| failed(&format!("{named} cannot be started"), &error))?;
        machine.on_interrupt(move || processes.ask_to_end());
        drop(process.child.stdin.take());
        let out = process.child.stdout.take().map(|out| Box::new(out) as Box<dyn Read + Send>);
        let err = process.child.stderr.take().map(|err| Box::new(err) as Box<dyn Read + Send>);
        let output = Tail::of(out.into_iter().chain(err), log, &Secrets::new(&self.secrets));
        let output = output.map_err(|error| failed("the output of the gateway cannot be read", &error))?;
        let mut gateway = StartedGateway { process: Some(process), output, url };
        match gateway.wait(&addresses, self.limit, machine, slow) {
            Ok(()) => Ok(gateway),
            Err(why) => {
                gateway.end();
                Err(io::Error::other(format!("{named} {why}{}", shown(&gateway.last_lines()))))
            }
        }
    }
}

impl StartedGateway {
    /// Its URL.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns whether it has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        let child = self.process.as_mut().map(|process| &mut process.child);
        child.is_none_or(|child| wait(child, Duration::ZERO).is_some())
    }

    /// The last lines of its output.
    pub fn last_lines(&self) -> Vec<String> {
        self.output.last_lines(LINES)
    }

    fn end(&mut self) {
        if let Some(process) = self.process.take() {
            process.end(GRACE);
        }
    }

    fn wait(
        &mut self,
        addresses: &[SocketAddr],
        limit: Duration,
        machine: &RunRuntime,
        slow: &dyn Fn(&str),
    ) -> Result<(), String> {
        let began = Instant::now();
        let mut is_slow = false;
        let Some(process) = &mut self.process else { return Ok(()) };
        loop {
            if machine.is_interrupted() {
                return Err("was interrupted before it answered".to_owned());
            }
            if addresses.iter().any(answers) {
                return Ok(());
            }
            if let Some(status) = wait(&mut process.child, Duration::ZERO) {
                return Err(format!("exited before it answered ({status})"));
            }
            if began.elapsed() >= SLOW && !std::mem::replace(&mut is_slow, true) {
                slow(&self.url);
            }
            if began.elapsed() >= limit {
                return Err(format!(
                    "did not answer at {} within {} s (--start-timeout); its port is in the variable {GATEWAY_PORT}, or \
                     pass its URL with --gateway",
                    visible(&self.url),
                    limit.as_secs_f64()
                ));
            }
            thread::sleep(PAUSE);
        }
    }
}

impl Drop for StartedGateway {
    fn drop(&mut self) {
        self.end();
    }
}

/// The last lines, as the rest of a message.
fn shown(lines: &[String]) -> String {
    if lines.is_empty() {
        return "; it printed nothing".to_owned();
    }
    let lines: Vec<String> = lines.iter().map(|line| format!("\n  {}", visible(line))).collect();
    format!("; the end of its output:{}", lines.concat())
}

fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

fn addresses(url: &str) -> io::Result<Vec<SocketAddr>> {
    let api = spec::APIS.first().ok_or_else(|| io::Error::other("this build has no API"))?;
    let target = Target::new(url, api).map_err(|error| io::Error::other(visible(&error.to_string())))?;
    let found = target.url().socket_addrs(|| None);
    found.map_err(|error| io::Error::other(format!("{} has no address: {error}", visible(url))))
}

/// A connection from a port to itself is none.
fn connect(address: &SocketAddr) -> Option<TcpStream> {
    let stream = TcpStream::connect_timeout(address, ANSWER).ok()?;
    let is_itself = stream.local_addr().ok()? == *address;
    (!is_itself).then_some(stream)
}

/// Any answer counts, except hanging up, as servers of TLS do.
fn answers(address: &SocketAddr) -> bool {
    let Some(mut stream) = connect(address) else { return false };
    let request = format!("GET / HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    let limits = stream.set_read_timeout(Some(ANSWER)).and_then(|()| stream.set_write_timeout(Some(ANSWER)));
    let mut begin = [0; 1];
    limits.and_then(|()| stream.write_all(request.as_bytes())).is_ok()
        && matches!(stream.read(&mut begin), Ok(1))
}

#[cfg(all(test, unix))]
mod tests {
    use std::{env, fs, process};

    use super::*;

    const PYTHON: &str = "\
import http.server, os, sys, threading
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_error(404)
print('upstream', os.environ['UPSTREAM_BASE_URL'], os.environ['UPSTREAM_KEY'], flush=True)
http.server.HTTPServer(('127.0.0.1', int(os.environ['GATEWAY_PORT'])), Handler).serve_forever()
";

    fn command(words: &[&str]) -> GatewayCommand {
        GatewayCommand {
            command: words.iter().map(OsString::from).collect(),
            url: None,
            limit: Duration::from_secs(60),
            log: None,
            secrets: vec!["word-of-honor".to_owned()],
        }
    }

    fn start(command: &GatewayCommand) -> Result<StartedGateway, String> {
        let machine = RunRuntime::start().unwrap();
        let started = command.start("http://127.0.0.1:1/v1", "sk-upstream", &machine, &|_| ());
        started.map_err(|problem| problem.to_string())
    }

    #[test]
    fn a_given_url_names_the_port_of_the_gateway() {
        let url = format!("http://127.0.0.1:{}/other", free_port().unwrap());
        let gateway = GatewayCommand { url: Some(url.clone()), ..command(&["python3", "-c", PYTHON]) };
        assert_eq!(start(&gateway).unwrap().url(), url);
    }

    #[test]
    fn a_gateway_runs_until_it_is_dropped() {
        let log = env::temp_dir().join(format!("conformance-between-{}.log", process::id()));
        let command = GatewayCommand { log: Some(log.clone()), ..command(&["python3", "-c", PYTHON]) };
        let mut gateway = start(&command).unwrap();
        let addresses = addresses(gateway.url()).unwrap();
        assert!(addresses.iter().any(answers) && !gateway.has_ended());
        drop(gateway);
        assert!(!addresses.iter().any(|address| connect(address).is_some()));
        let text = fs::read_to_string(&log).unwrap();
        fs::remove_file(&log).unwrap();
        assert!(text.starts_with("upstream http://127.0.0.1:1/v1 sk-upstream\n"), "{text}");
    }

    #[test]
    fn one_that_exits_shows_its_last_words() {
        let script = "exec >&2; i=0; while [ $i -lt 50 ]; do echo line $i; i=$((i+1)); done; echo my word-of-honor; printf 'bad \\033[2J\\n'; exit 3";
        let problem = start(&command(&["sh", "-c", script])).unwrap_err();
        assert!(problem.starts_with("sh exited before it answered (exit status: 3)"), "{problem}");
        assert!(problem.contains("\n  line 49") && !problem.contains("line 20"), "{problem}");
        assert!(problem.contains("\n  my *************\n  bad \\u{1b}[2J"), "{problem}");
    }

    #[test]
    fn one_that_does_not_answer_is_ended() {
        let slow = GatewayCommand { limit: Duration::from_millis(50), ..command(&["sleep", "1000"]) };
        let problem = start(&slow).unwrap_err();
        assert!(problem.starts_with("sleep did not answer at http://127.0.0.1:"), "{problem}");
        assert!(problem.ends_with("it printed nothing"), "{problem}");
        assert!(start(&command(&["/no/such-gateway"])).unwrap_err().contains("cannot be started"));
    }

    #[test]
    fn another_server_is_not_taken_for_the_gateway() {
        let other = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let url = format!("http://{}/v1", other.local_addr().unwrap());
        let command = GatewayCommand { url: Some(url), ..command(&["sleep", "1000"]) };
        assert!(start(&command).unwrap_err().starts_with("something else already listens at"));
    }
}

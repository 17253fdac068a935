//! Programs that a run starts, and that end with it.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

use crate::lock;
use crate::plan::random_seed;
use crate::wire::{Mask, Secrets};

/// Maximum number of bytes kept of the output of a program.
const TAIL: usize = 4096;
/// Maximum number of bytes of its output that are copied to a file.
const COPIED: u64 = 64 << 20;
/// Maximum time for the end of its output to arrive.
const MOMENT: Duration = Duration::from_millis(500);

/// The environment variable that marks the programs of a run, and what these start.
const MARK: &str = "CONFORMANCE_PROCESSES";

/// The programs of a run, which end with it.
#[derive(Debug, Clone, Default)]
pub struct Processes(Arc<Mutex<Groups>>);

#[derive(Debug)]
struct Groups {
    running: BTreeSet<u32>,
    is_over: bool,
    mark: String,
}

impl Default for Groups {
    fn default() -> Self {
        Self { running: BTreeSet::new(), is_over: false, mark: random_seed() }
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        end_strays(&self.mark);
    }
}

/// Descendants can leave their process group. Some systems show the environment of processes, which has the mark.
fn end_strays(mark: &str) {
    let wanted = format!("{MARK}={mark}");
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let number = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok());
        let Some(number) = number else { continue };
        // That of another user cannot be read.
        let Ok(environment) = fs::read(entry.path().join("environ")) else { continue };
        if environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes()) {
            send(&number.to_string(), "KILL");
        }
    }
}

impl Processes {
    /// Starts a program in a process group of its own.
    ///
    /// # Errors
    ///
    /// If it cannot be started, or the run is over.
    pub fn start(&self, command: &mut Command) -> io::Result<Process> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let mut groups = lock(&self.0);
        command.env(MARK, &groups.mark);
        if groups.is_over {
            return Err(io::Error::other("the run was interrupted"));
        }
        let child = command.spawn()?;
        groups.running.insert(child.id());
        Ok(Process { child, all: self.clone() })
    }

    /// Kills all programs and their descendants, and lets no more start.
    pub fn end(&self) {
        self.end_with("KILL");
    }

    /// Asks all programs and their descendants to end, and lets no more start.
    pub fn ask_to_end(&self) {
        self.end_with("TERM");
    }

    fn end_with(&self, name: &str) {
        let mut groups = lock(&self.0);
        groups.is_over = true;
        groups.running.iter().for_each(|group| signal(*group, name));
        if name == "KILL" {
            end_strays(&groups.mark);
        }
    }
}

/// A running program. When dropped, it and its descendants are killed.
#[derive(Debug)]
pub struct Process {
    /// The program.
    pub child: Child,
    all: Processes,
}

impl Process {
    /// Asks the program and its descendants to end, and waits for the program. Processes that still run after the limit
    /// are killed.
    pub fn end(mut self, limit: Duration) {
        signal(self.child.id(), "TERM");
        let _ = wait(&mut self.child, limit);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Also if it has exited: its descendants may run on.
        signal(self.child.id(), "KILL");
        let _ = self.child.kill();
        let _ = self.child.wait();
        lock(&self.all.0).running.remove(&self.child.id());
    }
}

fn signal(group: u32, name: &str) {
    send(&format!("-{group}"), name);
}

#[cfg_attr(not(unix), expect(unused_variables, reason = "other systems have no process groups"))]
fn send(whom: &str, name: &str) {
    #[cfg(unix)]
    let _ = Command::new("kill")
        .args([&format!("-{name}"), "--", whom])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
}

/// The end of what a program prints.
#[derive(Debug)]
pub struct Tail {
    kept: Arc<Mutex<Kept>>,
    /// Disconnected when all output is closed.
    closed: Receiver<()>,
}

#[derive(Debug, Default)]
struct Kept {
    /// The pieces in reading order, each with the number of its stream.
    pieces: Vec<(usize, Vec<u8>)>,
    copy: Option<File>,
    copied: u64,
    /// The masks of the streams, which hold back what may be the beginning of a secret.
    masks: Vec<Mask>,
}

impl Tail {
    /// Reads the output of a program without secrets, each stream in a thread, and copies it to a file if there is one.
    ///
    /// # Errors
    ///
    /// If the system starts no more threads.
    pub fn of(
        streams: impl IntoIterator<Item = Box<dyn Read + Send>>,
        copy: Option<File>,
        secrets: &Secrets,
    ) -> io::Result<Self> {
        let streams: Vec<_> = streams.into_iter().collect();
        let masks = streams.iter().map(|_| Mask::new(secrets.clone())).collect();
        let kept = Arc::new(Mutex::new(Kept { copy, masks, ..Kept::default() }));
        let (open, closed) = sync_channel(0);
        for (number, stream) in streams.into_iter().enumerate() {
            let (kept, open) = (Arc::clone(&kept), open.clone());
            Builder::new().spawn(move || read(stream, number, &kept, &open))?;
        }
        Ok(Self { kept, closed })
    }

    /// The last line. The last message of a program that has ended may take a moment to arrive.
    pub fn last_line(&self) -> String {
        self.last_lines(1).pop().unwrap_or_default()
    }

    /// The last lines that are not empty. The last message of a program that has ended may take a moment to arrive.
    pub fn last_lines(&self, most: usize) -> Vec<String> {
        let _ = self.closed.recv_timeout(MOMENT);
        let kept = lock(&self.kept);
        let bytes = kept.pieces.iter().map(|(_, piece)| &**piece).collect::<Vec<_>>().concat();
        let text = String::from_utf8_lossy(&bytes);
        let mut lines: Vec<String> = text
            .lines()
            .rev()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .take(most)
            .map(str::to_owned)
            .collect();
        lines.reverse();
        lines
    }
}

fn read(mut stream: Box<dyn Read + Send>, number: usize, kept: &Mutex<Kept>, _open: &SyncSender<()>) {
    let mut buffer = vec![0; TAIL];
    while let Ok(read @ 1..) = stream.read(&mut buffer) {
        let mut kept = lock(kept);
        let bytes = kept.masks[number].push(buffer.get(..read).unwrap_or_default());
        kept.add(number, &bytes);
    }
    let mut kept = lock(kept);
    let rest = kept.masks[number].finish();
    kept.add(number, &rest);
}

impl Kept {
    /// The end of each stream is kept, so that one stream does not displace the other.
    fn add(&mut self, number: usize, bytes: &[u8]) {
        match self.pieces.last_mut() {
            Some((last, piece)) if *last == number => piece.extend_from_slice(bytes),
            _ => self.pieces.push((number, bytes.to_vec())),
        }
        let mut room = TAIL;
        for (_, piece) in self.pieces.iter_mut().rev().filter(|(of, _)| *of == number) {
            piece.drain(..piece.len().saturating_sub(room));
            room -= piece.len();
        }
        self.pieces.retain(|(_, piece)| !piece.is_empty());
        let Some(file) = self.copy.as_mut().filter(|_| self.copied < COPIED) else { return };
        self.copied += bytes.len() as u64;
        // The program goes on where its output cannot be kept.
        let _ = file.write_all(bytes);
        if self.copied >= COPIED {
            let _ = writeln!(file, "\n[what follows is left out]");
        }
    }
}

/// Waits for a program. Returns its exit status, or none on a timeout.
pub fn wait(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    let began = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if began.elapsed() < limit => thread::sleep(Duration::from_millis(2)),
            Ok(None) | Err(_) => return None,
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(30);

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    fn tail(process: &mut Process) -> Tail {
        let (out, err) = (process.child.stdout.take().unwrap(), process.child.stderr.take().unwrap());
        let secrets = Secrets::new(&["a-secret".to_owned()]);
        Tail::of([Box::new(out) as Box<dyn Read + Send>, Box::new(err)], None, &secrets).unwrap()
    }

    #[test]
    fn a_program_ends_with_its_descendants() {
        let processes = Processes::default();
        // The pipe is closed when the last process that holds it has ended.
        let mut process = processes.start(&mut shell("sleep 1000 & echo started; wait")).unwrap();
        let mut out = process.child.stdout.take().unwrap();
        let mut begin = [0; 8];
        out.read_exact(&mut begin).unwrap();
        process.end(LIMIT);
        assert_eq!(out.read(&mut begin).unwrap(), 0);
        assert!(lock(&processes.0).running.is_empty());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_left_its_group_ends_with_the_run() {
        let processes = Processes::default();
        let mut process = processes.start(&mut shell("setsid sleep 1000 & echo started")).unwrap();
        let mut out = process.child.stdout.take().unwrap();
        let mut begin = [0; 8];
        out.read_exact(&mut begin).unwrap();
        process.end(LIMIT);
        drop(processes);
        // The pipe is closed when the last process that holds it has ended.
        assert_eq!(out.read(&mut begin).unwrap(), 0);
    }

    #[test]
    fn one_that_does_not_end_is_killed() {
        let mut process = Processes::default()
            .start(&mut shell("trap '' TERM; echo started; sleep 1000 & wait; wait"))
            .unwrap();
        let mut out = process.child.stdout.take().unwrap();
        let mut begin = [0; 8];
        out.read_exact(&mut begin).unwrap();
        process.end(Duration::from_millis(50));
        assert_eq!(out.read(&mut begin).unwrap(), 0);
    }

    #[test]
    fn the_end_of_all_output_is_kept() {
        let script = "i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done; echo error a-secret >&2";
        let mut process = Processes::default().start(&mut shell(script)).unwrap();
        let tail = tail(&mut process);
        assert!(wait(&mut process.child, LIMIT).is_some());
        let lines = tail.last_lines(1000);
        assert!(lines.len() < 1000 && lines.contains(&"line 2999".to_owned()), "{lines:?}");
        assert!(lines.iter().any(|line| line.ends_with("error ********")), "{lines:?}");
    }

    #[test]
    fn none_starts_after_the_end() {
        let processes = Processes::default();
        processes.ask_to_end();
        assert!(processes.start(&mut shell("true")).is_err());
    }
}

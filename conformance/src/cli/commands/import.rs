//! `conformance import`: writes what others recorded in a form of the suite.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use between::{Session, read_sessions};
use catalogue::AgentProfile;
use clap::{Args, ValueEnum};
use results::text::counted;

use crate::cli::input::known;
use crate::cli::message::note;
use crate::cli::{CommandArgs, print};

const EXAMPLES: &str = "\
Examples:
  conformance import session evidence/ --out sessions/
  conformance import session agent.har --out sessions/
  conformance import session ~/.claude/projects/my-project/ --out sessions/
  conformance between --self --session sessions/";

/// Imports sessions of agents from recordings, for `between --session`.
///
/// Reads HAR files, cassettes, transcripts, recordings of `record` and the evidence of `tap --keep all`, whose sessions --session-header tells
/// apart. Filler of the same length takes the place of texts: texts that begin alike still do, so that caches are judged as before.
/// Ids, numbers, names of models and tools, and words of the protocol stay.
///
/// Transcripts of Claude Code and Codex and exports of opencode have no requests. These are made of the turns, with the system,
/// tools, headers and cache marks of a profile of the agent.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct ImportArgs {
    /// Kind of import: session.
    #[arg(value_enum, value_name = "session", hide_possible_values = true)]
    what: What,
    /// Recordings, folders of them, or the evidence of a tap.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Folder to write to: a file for each session.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Agent whose requests are made of a transcript, such as codex or messages/pi [default: the agent that wrote it].
    #[arg(long, value_name = "AGENT", value_parser = known::agent)]
    profile: Option<&'static AgentProfile>,
    /// Write texts as they are.
    #[arg(long)]
    keep_texts: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum What {
    Session,
}

impl CommandArgs for ImportArgs {
    fn run(self) -> Result<ExitCode> {
        let What::Session = self.what;
        let (sessions, others) = read_sessions(&self.files, self.profile)?;
        if others > 0 {
            note(&format!(
                "note: {} without a request of an API that the suite speaks",
                counted(others as u64, "file")
            ));
        }
        if sessions.is_empty() {
            bail!("no request of these files creates a response of an API that the suite speaks");
        }
        let mut lines = String::new();
        for session in &sessions {
            lines += &self.write(session)?;
        }
        print(&lines)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl ImportArgs {
    /// Another session of that name stays.
    fn write(&self, session: &Session) -> Result<String> {
        let file = self.out.join(format!("{}.jsonl", session.name));
        let shown = || file.display().to_string();
        if file.exists() {
            bail!("{}: it already exists; choose another folder", shown());
        }
        fs::create_dir_all(file.parent().unwrap_or(&self.out)).with_context(shown)?;
        let text = if self.keep_texts { session.lines() } else { session.hidden().lines() };
        harness::replace(&file, &text).with_context(shown)?;
        let left_out = match session.left_out {
            0 => String::new(),
            count => format!("; left out: {} without an answer or of no API", counted(count as u64, "line")),
        };
        let requests = counted(session.len() as u64, "request");
        let made = session
            .made_as
            .map(|agent| format!(", made like those of {}", agent.words()))
            .unwrap_or_default();
        Ok(format!("{}: {requests} of {}{made}{left_out}\n", shown(), session.api().title))
    }
}

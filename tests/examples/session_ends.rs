//! Judges recordings of both ends of gateways: `client.jsonl` and `upstream.jsonl` in each folder that is named.
//!
//! `cargo run -p tests --example session_ends -- FOLDER...`

use std::io::Write as _;
use std::path::Path;
use std::{env, io};

use between::{judge_ends, read_sessions};

fn main() -> io::Result<()> {
    for folder in env::args().skip(1) {
        let end = |name: &str| Ok::<_, io::Error>(read_sessions(&[Path::new(&folder).join(name)], None)?.0);
        let (client, upstream) = (end("client.jsonl")?, end("upstream.jsonl")?);
        let [client, upstream] = [&client, &upstream].map(|sessions| sessions.first());
        let judged = client.zip(upstream).and_then(|(client, upstream)| judge_ends(client, upstream));
        let judged = judged.ok_or_else(|| io::Error::other(format!("{folder} has no two ends")))?;
        let mut out = io::stdout().lock();
        writeln!(out, "{folder}\n  {}", judged.measures.join(" · "))?;
        for finding in judged.findings {
            writeln!(
                out,
                "  {} {} ({}): {}",
                finding.level.keyword(),
                finding.rule,
                finding.kind,
                finding.message
            )?;
        }
    }
    Ok(())
}

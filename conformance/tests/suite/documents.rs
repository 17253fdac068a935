//! Every command in README.md and docs/ runs, against the reference gateway.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{LazyLock, Mutex};
use std::{env, fs, thread};

use conformance::gateway::{Embedded, Settings};
use conformance::goldens;

const PROGRAM: &str = env!("CARGO_BIN_EXE_conformance");

/// Commands that do not run here, by how they begin, and why.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("cargo ", "builds or tests the workspace; .ci/run makes the skeletons of `codegen new`"),
    ("INSTA_UPDATE=", "changes files of the repository"),
    ("BLESS=", "changes files of the repository"),
    ("docker ", "needs a container runtime"),
    ("gh ", "needs the attestation of a job"),
    ("cosign ", "needs the token of a job"),
    ("pip ", "installs packages"),
    ("python3 codegen/", "needs the package that the line before installs"),
    ("tests/gateways/run", "installs packages for five minutes"),
    ("tests/clients/run", "installs packages"),
    ("tests/agents/run", "installs packages"),
    ("conformance impact ", "installs clients"),
    ("conformance verify certificates/", "the folder of a vendor"),
    ("curl -N ...", "an abbreviation"),
    ("uvx ", "packages/python/test runs it with the wheel"),
    ("pytest ", "packages/python/test runs it with the wheel"),
    ("python packages/", "packages/python/test runs it with the wheel"),
    ("conformance report all.json", "reads what the line before it writes"),
    ("conformance check archive/", "reads what the line before it writes"),
    ("npx ", "packages/npm/test runs it with the package"),
    ("conformance between --model my-model -- ", "starts the gateway of the reader"),
    ("conformance between --profile claude-code,codex --model ", "starts the gateway of the reader"),
    ("conformance between --front ", "needs the gateway of the reader"),
    ("conformance between --session ", "needs the gateway of the reader"),
    ("conformance tap ", "waits for clients of the reader; commands/tap/tap.txt runs it"),
    ("conformance client --mode ", "waits for a client of the reader"),
    (
        "conformance record --target http://localhost:8080/v1/messages",
        "the reference gateway does not speak Messages",
    ),
];

/// Commands that exit with another code than 0, and why.
const CODES: &[(&str, i32, &str)] = &[
    ("conformance run --rerun-failed run/", 2, "nothing failed in the run against the reference gateway"),
    (
        "conformance run --rerun-failed run/ --out run2/",
        2,
        "nothing failed in the run against the reference gateway",
    ),
    ("conformance run --capture captures/ --snapshots shapes/", 1, "the shapes are those of another run"),
    ("conformance check stream.sse --dialect open-responses", 1, "the stream is of openai"),
    (
        "conformance client --out run/ --report junit=client.xml,html=client.html -- ./my-client",
        1,
        "the example gets one case wrong",
    ),
    (
        "conformance client --profile client-core,client-tools --out run/ -- ./my-client",
        1,
        "the example repeats no conversation",
    ),
    ("conformance client -- ./my-client", 1, "the example gets one case wrong"),
    (
        "conformance client --api gemini --profile gemini-client-core,gemini-client-tools -- ./my-client",
        1,
        "the example speaks another API",
    ),
    ("conformance client --rerun-failed run/", 1, "the case is still wrong"),
];

/// Pages whose scripts another test runs.
const ELSEWHERE: &[(&str, &str)] = &[
    ("translation-report.md", "its commands start the gateways that tests/between/run installs"),
    ("session-report.md", "its commands install these gateways"),
    ("ci.md", "conformance/tests/commands/ci/documents.txt runs its scripts as a whole"),
    ("responses.md", "the same test runs it from its first command to its last"),
    ("messages.md", "the same test runs it from its first command to its last"),
    ("chat.md", "the same test runs it from its first command to its last"),
];

static OPENAI: LazyLock<Embedded> = LazyLock::new(|| {
    let beside = ["anthropic", "chat", "gemini"].iter().filter_map(|name| spec::dialect(name)).collect();
    let settings = Settings { beside, ..Settings::new(&spec::openai::DIALECT) };
    Embedded::start(settings).expect("a port is free")
});
static OPEN_RESPONSES: LazyLock<Embedded> =
    LazyLock::new(|| Embedded::start(Settings::new(&spec::open_responses::DIALECT)).expect("a port is free"));

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("it lies in the repository")
}

fn empty(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("documents").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("it can be made");
    folder
}

fn bash(folder: &Path, line: &str) -> Output {
    let programs = Path::new(PROGRAM).parent().expect("it lies in a folder");
    let path = env::var("PATH").unwrap_or_default();
    let mut command = Command::new("timeout");
    command.args(["300", "bash", "-euo", "pipefail", "-c", line]).current_dir(folder);
    command.env("PATH", format!("{}:{path}", programs.display())).env("no_proxy", "127.0.0.1");
    command.env("CONFORMANCE_API_KEY", "a-key-for-this-test").stdin(Stdio::null());
    command.output().expect("there is a shell")
}

/// The folder in which the commands of a page run: recordings, runs and a configuration, created by real commands.
static SEEDS: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = empty("seeds");
    let stream = goldens::golden("openai/text").expect("it is there").bytes;
    fs::create_dir(folder.join("captures")).expect("it can be made");
    for name in ["stream.sse", "captures/a.sse"] {
        fs::write(folder.join(name), stream).expect("it can be written");
    }
    let others = [
        ("messages.sse", "anthropic/text"),
        ("chat.sse", "chat/text"),
        ("gemini.sse", "gemini/text"),
        ("interactions.sse", "interactions/text"),
    ];
    for (name, golden) in others {
        let stream = goldens::golden(golden).expect("it is there").bytes;
        fs::write(folder.join(name), stream).expect("it can be written");
    }
    let target = format!("--target {} --model m", OPENAI.url());
    for line in [
        format!("conformance init {target}"),
        format!("conformance run text/hello {target} --out run"),
        "cp -r run before".to_owned(),
        "cp -r run after".to_owned(),
        "cp -r run run1".to_owned(),
        "cp -r run run2".to_owned(),
        format!(
            "printf '#!/bin/sh\\nexec python3 {}/examples/client.py\\n' >my-client",
            repository().display()
        ),
        format!("cp -r {}/conformance/between/tests/data/sessions .", repository().display()),
        "cp -r sessions evidence".to_owned(),
        "chmod +x my-client".to_owned(),
        "conformance client text/hello --out python -- ./my-client".to_owned(),
        "cp -r python node".to_owned(),
        "conformance client text/ --shard 1/2 --out part1 -- ./my-client".to_owned(),
        "conformance client text/ --shard 2/2 --out part2 -- ./my-client".to_owned(),
        "conformance dialect new ./acme --extends openai --event acme.progress".to_owned(),
    ] {
        let output = bash(&folder, &line);
        assert!(output.status.success(), "{line}: {output:?}");
    }
    folder
});

/// Returns the shell blocks of a page.
fn blocks(page: &Path) -> Vec<String> {
    let text = fs::read_to_string(page).expect("it is there");
    let of = |fence: &str| -> Vec<String> {
        let parts = text.split(fence).skip(1).filter_map(|rest| rest.split("\n```").next());
        parts.map(str::to_owned).collect()
    };
    ["```sh\n", "```console\n"].into_iter().flat_map(of).collect()
}

/// Returns the commands of a block, without comments.
fn commands(block: &str) -> Vec<String> {
    let without_comment = |line: &str| line.split("  #").next().unwrap_or_default().trim().to_owned();
    let joined = block.replace("\\\n", " ");
    joined.lines().map(without_comment).filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
}

/// Creates the files that a block requires and does not create itself.
fn seed(folder: &Path, block: &str) {
    for (name, made) in [
        ("stream.sse", "conformance record"),
        ("captures", "mkdir"),
        ("before", "--out before"),
        ("after", "--out after"),
        ("run", "--out run"),
        ("run1", "--out run1"),
        ("run2", "--out run2"),
        ("python", "--out python"),
        ("node", "--out node"),
        ("part1", "--out part1"),
        ("part2", "--out part2"),
        ("acme", "dialect new"),
        ("messages.sse", "> messages.sse"),
        ("chat.sse", "> chat.sse"),
        ("gemini.sse", "> gemini.sse"),
        ("interactions.sse", "> interactions.sse"),
        ("sessions", "--out sessions"),
        ("evidence", "mkdir evidence"),
        ("my-client", "chmod"),
        ("conformance.toml", "conformance init"),
    ] {
        let folder_of_a_run = made.strip_prefix("--out ");
        let writes = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let out = words.windows(2).find(|pair| pair.first() == Some(&"--out"));
            out.and_then(|pair| pair.get(1)).map(|name| name.trim_end_matches('/')) == folder_of_a_run
        };
        let is_made = match folder_of_a_run {
            Some(_) => block.lines().any(writes),
            None => block.contains(made),
        };
        if !is_made {
            let from = SEEDS.join(name);
            let copied = Command::new("cp").arg("-r").arg(&from).arg(folder).status();
            assert!(copied.is_ok_and(|status| status.success()), "{}", from.display());
        }
    }
}

/// Starts a server, and stops it after it has printed its address.
fn serve(folder: &Path, line: &str) -> Result<(), String> {
    let words: Vec<&str> = line.split_whitespace().skip(1).collect();
    let mut server = Command::new(PROGRAM)
        .args(words.iter().map(|word| if *word == "8080" { "0" } else { word }))
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
    let mut first = String::new();
    let read = BufReader::new(server.stdout.take().expect("it is piped")).read_line(&mut first);
    let _ = server.kill();
    let _ = server.wait();
    read.map_err(|error| error.to_string())?;
    if first.contains("http://127.0.0.1:") { Ok(()) } else { Err(format!("it says {first:?}")) }
}

/// Runs the commands of a block. Returns how many ran, and those that failed.
fn run(name: &str, number: usize, block: &str) -> (usize, Vec<String>) {
    let (mut ran, mut failures) = (0, Vec::new());
    let folder = empty(&format!("{}-{number}", name.replace('/', "-")));
    seed(&folder, block);
    for line in commands(block) {
        if EXCEPTIONS.iter().any(|(start, _)| line.starts_with(start)) || line.starts_with("export ") {
            continue;
        }
        ran += 1;
        if line.starts_with("conformance serve") && !line.contains("--list-faults") {
            failures.extend(serve(&folder, &line).err().map(|problem| format!("{name}: {line}: {problem}")));
            continue;
        }
        let gateway = if line.contains("open-responses") { &OPEN_RESPONSES } else { &OPENAI };
        let real = line
            .replace("http://localhost:8080/v1", &gateway.url())
            .replace("https://gateway.example/v1", &gateway.url());
        let expected = CODES.iter().find(|(start, ..)| line == *start).map_or(0, |(_, code, _)| *code);
        let output = bash(&folder, &real);
        if output.status.code() != Some(expected) {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            failures.push(format!(
                "{name}: {line}: {}, expected {expected}\n{}\n{}",
                output.status,
                text(&output.stdout),
                text(&output.stderr)
            ));
        }
    }
    (ran, failures)
}

/// The number of commands of each page, which all run. Blocks are independent, and most commands wait.
fn run_all(names: Vec<String>) -> BTreeMap<String, usize> {
    let of_page = |name: String| {
        let blocks = blocks(&repository().join(&name)).into_iter().enumerate();
        blocks.map(move |(number, block)| (name.clone(), number, block))
    };
    let all: Vec<(String, usize, String)> = names.into_iter().flat_map(of_page).collect();
    let all = Mutex::new(all.into_iter());
    let next = || all.lock().expect("no thread panics with it").next();
    let done = Mutex::new((BTreeMap::new(), Vec::new()));
    thread::scope(|scope| {
        for _ in 0..2 * thread::available_parallelism().map_or(2, NonZero::get) {
            scope.spawn(|| {
                while let Some((name, number, block)) = next() {
                    let (own, failures) = run(&name, number, &block);
                    let mut done = done.lock().expect("no thread panics with it");
                    *done.0.entry(name).or_insert(0) += own;
                    done.1.extend(failures);
                }
            });
        }
    });
    let (ran, failures) = done.into_inner().expect("no thread panicked");
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    ran
}

#[test]
fn the_readme_runs() {
    assert!(run_all(vec!["README.md".to_owned()])["README.md"] >= 4);
}

#[test]
fn all_other_pages_run() {
    let entries = fs::read_dir(repository().join("docs")).expect("it is there").flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let is_page = |name: &str| Path::new(name).extension().is_some_and(|of| of == "md");
    let is_run = |name: &String| is_page(name) && ELSEWHERE.iter().all(|(page, _)| page != name);
    let ran = run_all(names.filter(is_run).map(|name| format!("docs/{name}")).collect());
    let ran_at_least = |name: &str, least| ran[&format!("docs/{name}")] >= least;
    let all =
        ran_at_least("running.md", 20) && ran_at_least("certifying.md", 6) && ran_at_least("clients.md", 2);
    assert!(all, "{ran:?}");
}

/// An exception that no page needs any more goes.
#[test]
fn exceptions_are_needed() {
    let folder = repository().join("docs");
    let pages = fs::read_dir(&folder).expect("it is there").flatten().map(|entry| entry.path());
    let pages = pages.chain([repository().join("README.md")]).filter(|page| page.is_file());
    let lines: Vec<String> =
        pages.flat_map(|page| blocks(&page)).flat_map(|block| commands(&block)).collect();
    assert!(lines.len() > 50, "{}", lines.len());
    for (start, reason) in EXCEPTIONS {
        assert!(lines.iter().any(|line| line.starts_with(start)), "{start}: {reason}");
    }
    for (command, _, reason) in CODES {
        assert!(lines.iter().any(|line| line == command), "{command}: {reason}");
    }
}

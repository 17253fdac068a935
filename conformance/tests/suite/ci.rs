//! The CI examples in the documents and the GitHub action work as described.

use std::collections::BTreeMap;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::{env, fs};

const PROGRAM: &str = env!("CARGO_BIN_EXE_conformance");

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("it lies in the repository")
}

/// Creates an empty folder for a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ci").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("it can be made");
    folder
}

/// Runs a script there, with the program at hand and no proxy.
fn bash(folder: &Path, args: &[&str], variables: &[(&str, &str)]) -> Output {
    let programs = Path::new(PROGRAM).parent().expect("it lies in a folder");
    let path = env::var("PATH").unwrap_or_default();
    let mut command = Command::new("bash");
    command.args(args).current_dir(folder).env("PATH", format!("{}:{path}", programs.display()));
    command.env("no_proxy", "127.0.0.1").env_remove("CONFORMANCE_API_KEY");
    command.envs(variables.iter().copied()).output().expect("there is a shell")
}

fn told(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}\n{}\n{}", output.status, text(&output.stdout), text(&output.stderr))
}

/// Returns a port that was free a moment ago.
fn port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    listener.local_addr().expect("it is bound").port()
}

#[test]
fn the_shell_examples_run() {
    let text = fs::read_to_string(repository().join("docs/ci.md")).expect("it is there");
    let scripts: Vec<&str> =
        text.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(scripts.len(), 3);
    let folder = folder("shell");
    for script in scripts {
        let script = script.replace("18099", &port().to_string());
        let output = bash(&folder, &["-euo", "pipefail", "-c", &script], &[]);
        assert!(output.status.success(), "{script}\n{}", told(&output));
    }
    for report in ["report.xml", "report.md", "badge.json", "report.sarif", "changes.md"] {
        let length = fs::metadata(folder.join(report)).map(|file| file.len()).unwrap_or_default();
        assert!(length > 50, "{report} has {length} bytes");
    }
}

/// Runs the script of the action. Returns its output, and the variables that it sets for later steps.
fn action(folder: &Path, variables: &[(&str, &str)]) -> (Output, BTreeMap<String, String>) {
    let script = repository().join(".ci/action");
    let (out, results) = (folder.join("out"), folder.join("results"));
    let path = |path: &Path| path.to_str().expect("it is UTF-8").to_owned();
    let (out, results) = (path(&out), path(&results));
    let usual = [("BINARY", PROGRAM), ("OUT", &out), ("GITHUB_OUTPUT", &results)];
    let output = bash(folder, &[&path(&script)], &[&usual, variables].concat());
    let written = fs::read_to_string(&results).unwrap_or_default();
    let pairs = written.lines().filter_map(|line| line.split_once('='));
    (output, pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

#[test]
fn the_action_checks_recordings() {
    let folder = folder("recordings");
    fs::write(folder.join("a.sse"), "data: {\"type\":\"response.created\",\"sequence_number\":0}\n\n")
        .expect("it can be written");
    let (output, results) = action(&folder, &[("CAPTURES", "a.sse"), ("DIALECT", "openai")]);
    assert_eq!(output.status.code(), Some(1), "{}", told(&output));
    assert_eq!(results.get("exit-code").map(String::as_str), Some("1"));
    for name in ["sarif", "junit"] {
        let report = fs::read_to_string(&results[name]).expect("it is there");
        assert!(report.contains("schema/event-valid"), "{name}: {report}");
    }
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.contains("::error file=a.sse,line=1"), "{stdout}");
}

/// A running reference gateway, stopped when dropped.
struct Gateway {
    child: Child,
    url: String,
}

impl Gateway {
    fn start(more: &[&str]) -> Self {
        let port = port().to_string();
        let mut command = Command::new(PROGRAM);
        let mut child = command.args(["serve", "--port", &port]).args(more).spawn().expect("it starts");
        // It answers as soon as it listens.
        while TcpStream::connect(format!("127.0.0.1:{port}")).is_err() {
            assert!(child.try_wait().expect("it can be asked").is_none(), "it has ended");
            std::thread::yield_now();
        }
        Self { child, url: format!("http://127.0.0.1:{port}/v1") }
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill().and_then(|()| self.child.wait());
    }
}

/// The first hour of a vendor: a gateway that breaks a rule, and then one that is mended.
#[test]
fn getting_started_runs_as_it_is_written() {
    let text = fs::read_to_string(repository().join("docs/getting-started.md")).expect("it is there");
    let blocks = text.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    let lines: Vec<&str> =
        blocks.flat_map(str::lines).filter(|line| line.starts_with("conformance ")).collect();
    let mended = lines.iter().position(|line| line.starts_with("conformance init ")).expect("it is there");
    let (first, then) = lines.split_at(mended);
    assert!(first.len() >= 4 && then.len() >= 4, "{lines:?}");
    let folder = folder("getting-started");
    let broken = Gateway::start(&["--fault", "part/before-open"]);
    for line in first {
        let line = line.replace("http://localhost:8080/v1", &broken.url);
        let output = bash(&folder, &["-c", &line], &[]);
        let expected = i32::from(!line.contains(" explain "));
        assert_eq!(output.status.code(), Some(expected), "{line}\n{}", told(&output));
    }
    let whole = Gateway::start(&[]);
    for line in then {
        let line = line.replace("http://localhost:8080/v1", &whole.url);
        let output = bash(&folder, &["-c", &line], &[]);
        assert!(output.status.success(), "{line}\n{}", told(&output));
    }
}

/// Returns the entries of a list in the example for GitLab.
fn gitlab(text: &str, list: &str) -> String {
    let (_, job) = text.split_once("```yaml\nconformance:\n").expect("there is a job");
    let (job, _) = job.split_once("```").expect("it ends");
    let (_, rest) = job.split_once(&format!("\n  {list}:\n")).expect("it has such a list");
    let entries = rest.lines().map_while(|line| line.strip_prefix("    - "));
    entries.collect::<Vec<_>>().join("\n")
}

/// Runs each step in a shell, as a runner does, with a `cargo` that installs the program built for the test.
#[test]
fn the_example_for_gitlab_runs() {
    let text = fs::read_to_string(repository().join("docs/ci.md")).expect("it is there");
    let folder = folder("gitlab");
    let install = format!(
        "#!/bin/sh\n[ \"$*\" = 'install --locked --git https://git.test/suite conformance' ] || exit 3\n\
         exec cp '{PROGRAM}' '{0}/conformance'\n",
        folder.display()
    );
    fs::write(folder.join("cargo"), install).expect("it can be written");
    let path = format!("{}:{}", folder.display(), env::var("PATH").unwrap_or_default());
    assert!(bash(&folder, &["-c", "chmod +x cargo"], &[]).status.success());
    for (fault, code) in [(&[][..], 0), (&["--fault", "text/deltas-joined"], 1)] {
        let gateway = Gateway::start(fault);
        let variables = [
            ("PATH", &*path),
            ("CONFORMANCE_REPOSITORY", "https://git.test/suite"),
            ("GATEWAY_URL", &gateway.url),
        ];
        // All of it would take long.
        let script = gitlab(&text, "script").replace("--model", "text/hello --model");
        let output = bash(&folder, &["-eo", "pipefail", "-c", &script], &variables);
        assert_eq!(output.status.code(), Some(code), "{}", told(&output));
        let output = bash(&folder, &["-eo", "pipefail", "-c", &gitlab(&text, "after_script")], &variables);
        assert!(output.status.success(), "{}", told(&output));
        // The gateway serves all APIs.
        let junit =
            told(&bash(&folder, &["-c", "cat report-openai.xml report-anthropic.xml report-chat.xml"], &[]));
        assert_eq!(junit.contains("<failure"), code == 1, "{junit}");
        for left in ["run", "report*.xml", "conformance"] {
            let _ = bash(&folder, &["-c", &format!("rm -r {left}")], &[]);
        }
    }
}

/// An input that is not set is not passed, as a flag wins over the settings file.
#[test]
fn the_action_and_the_component_pass_only_what_is_set() {
    let folder = folder("inputs");
    let program = "#!/bin/sh\n[ \"$1\" = report ] && exit 1\nprintf '%s\\n' \"$@\" >arguments\n";
    fs::write(folder.join("conformance"), program).expect("it can be written");
    assert!(bash(&folder, &["-c", "chmod +x conformance && mkdir out"], &[]).status.success());
    let binary = folder.join("conformance").to_str().expect("it is UTF-8").to_owned();
    let path = format!("{}:{}", folder.display(), env::var("PATH").unwrap_or_default());
    let template = fs::read_to_string(repository().join("templates/conformance.yml")).expect("it is there");
    let (_, script) = template.split_once("    - |\n").expect("it has a script");
    let script = script.split("  after_script:").next().unwrap_or_default();
    let lines: Vec<&str> = script.lines().map(|line| line.trim_start_matches("      ")).collect();
    let script = lines.join("\n");
    let passed = |inputs: &[(&str, &str)]| {
        let with = |more: (&'static str, &str)| {
            let pairs = inputs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            pairs.chain([(more.0.to_owned(), more.1.to_owned())]).collect::<Vec<_>>()
        };
        let of_action = with(("BINARY", &binary));
        let of_action: Vec<_> = of_action.iter().map(|(name, value)| (&**name, &**value)).collect();
        action(&folder, &of_action);
        let arguments = fs::read_to_string(folder.join("arguments")).expect("it was called");
        let mut of_component = with(("PATH", &path));
        for (name, _) in &mut of_component {
            if name != "PATH" {
                *name = format!("CONFORMANCE_{name}");
            }
        }
        let of_component: Vec<_> = of_component.iter().map(|(name, value)| (&**name, &**value)).collect();
        let output = bash(&folder, &["-euo", "pipefail", "-c", &format!("set +u; {script}")], &of_component);
        assert!(output.status.success(), "{}", told(&output));
        let component = fs::read_to_string(folder.join("arguments")).expect("it was called");
        let out = folder.join("out").display().to_string();
        let words =
            |text: &str| text.replace(&format!("{out}/run"), "run").replace('\n', " ").trim_end().to_owned();
        [words(&arguments), words(&component)]
    };
    for said in passed(&[("TARGET", "staging")]) {
        assert_eq!(said, "run --target staging --out run");
    }
    let all = [
        ("TARGET", "staging"),
        ("CONFIG", "my.toml"),
        ("DIALECT", "openai"),
        ("MODEL", "my model"),
        ("PROFILE", "core,tools"),
        ("WITHOUT", "store"),
        ("EXPECTED_FAILURES", "known.toml"),
        ("SHARD", "2/4"),
        ("ARGS", "text/ --strict"),
    ];
    for said in passed(&all) {
        assert_eq!(
            said,
            "run --target staging --out run --dialect openai --config my.toml --model my model --profile core,tools \
             --without store --expected-failures known.toml --shard 2/4 text/ --strict"
        );
    }
    let [by_action, by_component] = passed(&[("CAPTURES", "a.sse b.sse")]);
    assert_eq!(by_action, "check a.sse b.sse --format json");
    assert_eq!(by_component, "check a.sse b.sse --report json=run/report.json");
}

#[test]
fn the_action_runs_against_an_endpoint() {
    let folder = folder("endpoint");
    let gateway = Gateway::start(&[]);
    let variables = [("TARGET", gateway.url.as_str()), ("DIALECT", "openai"), ("ARGS", "text/hello")];
    let (output, results) = action(&folder, &variables);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert_eq!(results["exit-code"], "0");
    let junit = fs::read_to_string(&results["junit"]).expect("it is there");
    assert!(junit.contains("text/hello"), "{junit}");
}

/// Downloads a release from a server: the archive for this machine, with its checksum.
#[test]
fn the_action_downloads_what_is_released_and_checks_it() {
    let folder = folder("download");
    let machine = format!("{}-{}", env::consts::OS, env::consts::ARCH);
    let target = match &*machine {
        "linux-x86_64" => "x86_64-unknown-linux-musl",
        "linux-aarch64" => "aarch64-unknown-linux-musl",
        "macos-x86_64" => "x86_64-apple-darwin",
        "macos-aarch64" => "aarch64-apple-darwin",
        _ => return,
    };
    let pack = format!(
        "mkdir -p v1/conformance-{target} && echo '#!/bin/sh\necho released' >v1/conformance-{target}/conformance \
         && chmod +x v1/conformance-{target}/conformance && cd v1 \
         && tar -czf conformance-{target}.tar.gz conformance-{target} \
         && {{ sha256sum conformance-{target}.tar.gz || shasum -a 256 conformance-{target}.tar.gz; }} \
         >conformance-{target}.tar.gz.sha256"
    );
    assert!(bash(&folder, &["-c", &pack], &[]).status.success());
    let script = repository().join(".ci/download");
    let script = script.to_str().expect("it is UTF-8");
    let releases = format!("file://{}", folder.display());
    let download = |into: &str, version: &str| {
        bash(&folder, &[script, into], &[("RELEASES", &releases), ("VERSION", version)])
    };
    let output = download("good", "1");
    assert!(output.status.success(), "{}", told(&output));
    let checked = bash(&folder, &["-c", "good/conformance"], &[]);
    assert_eq!(checked.stdout, b"released\n");
    // It is already installed, so nothing is downloaded.
    assert!(download("good", "none").status.success());

    let refused = |output: &Output, reason: &str| {
        assert_eq!(output.status.code(), Some(2), "{}", told(output));
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert!(stdout.starts_with("::error") && stdout.contains(reason), "{}", told(output));
    };
    refused(&download("none", "none"), "cannot be downloaded");
    assert!(bash(&folder, &["-c", "echo >>v1/*.tar.gz"], &[]).status.success());
    refused(&download("damaged", "1"), "checksum");
    assert!(!folder.join("damaged").exists());
}

#[test]
fn the_action_needs_something_to_check() {
    let (output, _) = action(&folder("nothing"), &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("::error"), "{}", told(&output));
}

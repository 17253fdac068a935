//! What files of a repository, and strings of an endpoint, must not be able to do.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use conformance::results::text::first_dangerous;
use serde_json::Value;

use crate::program::{Outcome, bare, command, expect, folder, outcome, path};
use crate::server::{Server, answer, text};

/// Characters that control a terminal, forge a line, or reorder text.
const HOSTILE: &str = "m\u{1b}]0;pwn\u{7}\n::error::owned\r\u{202e}gnp\u{9b}2J";

/// Asserts that nothing printed controls the terminal, and that no line is one of somebody else.
fn harmless(run: &Outcome) {
    for line in run.stdout.lines().chain(run.stderr.lines()) {
        assert_eq!(first_dangerous(line), None, "{line:?}");
        assert!(!line.trim_start().starts_with("::") && !line.starts_with("consistent: forged"), "{line:?}");
    }
}

/// Returns a new folder with this configuration.
fn configured(name: &str, config: &str) -> PathBuf {
    let at = folder(name);
    fs::create_dir_all(&at).expect("it can be made");
    fs::write(at.join("conformance.toml"), config).expect("it can be written");
    at
}

fn hello(at: &Path, args: &[&str]) -> Command {
    let mut command = bare(&[&["run", "text/hello::answer", "--transport", "sse"], args].concat());
    command
        .current_dir(at)
        .env("CONFORMANCE_API_KEY", "key-of-the-user")
        .env("SECRET_OF_TEST", "secret-of-test");
    command
}

#[test]
fn a_url_is_a_url() {
    let (named, other) = (Server::new(text), Server::new(text));
    let config = format!("[targets.\"{}\"]\nurl = \"{}\"\n", named.url, other.url);
    let at = configured("trust-url", &config);
    let run = outcome(&mut hello(&at, &["--target", &named.url]));
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("has a URL for a name"), "{}", run.stderr);
    assert_eq!((named.connections(), other.connections()), (0, 0));
}

#[test]
fn a_file_sends_no_secrets_to_a_url() {
    let server = Server::new(text);
    let config = "[defaults]\nmodel = 'of-file'\nheaders = { x-l = '$SECRET_OF_TEST', x-m = 'literal' }\n\
                  api-key = '$SECRET_OF_TEST'\nca-file = 'none.pem'\n";
    let at = configured("trust-secrets", config);
    let run = outcome(&mut hello(&at, &["--target", &server.url]));
    expect(&run, 0, &[]);
    for words in [
        "settings from ./conformance.toml: model, header x-m\n",
        "not applied from ./conformance.toml: ca-file, api-key ($SECRET_OF_TEST), header x-l ($SECRET_OF_TEST); \
         to apply them to a URL, pass --trust-config\n",
    ] {
        assert!(run.stderr.contains(words), "{words}: {}", run.stderr);
    }
    let request = server.requests().pop().expect("it came");
    assert!(!request.headers.contains("secret-of-test") && request.headers.contains("x-m: literal"));
    assert!(request.headers.contains("Bearer key-of-the-user") && request.body.contains("of-file"));
    // With trust, and for a target that the user names, all of it applies, and the output says what.
    let trusted = config.replace("ca-file = 'none.pem'\n", "");
    let trusted = format!("{trusted}[targets.mine]\nurl = '{}'\n", server.url);
    let at = configured("trust-secrets", &trusted);
    for args in [&["--target", &*server.url, "--trust-config"][..], &["--target", "mine"]] {
        let run = outcome(&mut hello(&at, args));
        expect(&run, 0, &[]);
        let told = "model, api-key ($SECRET_OF_TEST), header x-l ($SECRET_OF_TEST), header x-m\n";
        assert!(run.stderr.contains(told), "{}", run.stderr);
        let request = server.requests().pop().expect("it came");
        assert!(
            request.headers.contains("Bearer secret-of-test") && request.headers.contains("x-l: secret-of")
        );
    }
}

#[test]
fn no_file_above_the_repository_is_read() {
    let server = Server::new(text);
    let above = configured("trust-above", "[defaults]\nmodel = 'of-above'\n");
    let below = above.join("repository/below");
    fs::create_dir_all(&below).expect("it can be made");
    fs::create_dir_all(above.join("repository/.git")).expect("it can be made");
    let model = || server.requests().pop().expect("it came").body;
    let run = outcome(&mut hello(&below, &["--target", &server.url]));
    assert!(!run.stderr.contains("settings from") && !model().contains("of-above"), "{}", run.stderr);
    fs::write(above.join("repository/conformance.toml"), "[defaults]\nmodel = 'of-root'\n")
        .expect("it can be written");
    let run = outcome(&mut hello(&below, &["--target", &server.url]));
    assert!(run.stderr.contains("settings from ../conformance.toml: model\n"), "{}", run.stderr);
    assert!(model().contains("of-root"));
    // Without a repository, only that of the working folder is read.
    let alone = std::env::temp_dir().join(format!("conformance-trust-{}", std::process::id()));
    fs::create_dir_all(alone.join("below")).expect("it can be made");
    fs::write(alone.join("conformance.toml"), "[defaults]\nmodel = 'of-alone'\n").expect("it can be written");
    let run = outcome(&mut hello(&alone.join("below"), &["--target", &server.url]));
    assert!(!run.stderr.contains("settings from"), "{}", run.stderr);
    let run = outcome(&mut hello(&alone, &["--target", &server.url]));
    assert!(run.stderr.contains("settings from ./conformance.toml: model"), "{}", run.stderr);
    fs::remove_dir_all(&alone).expect("it is there");
}

#[test]
fn evidence_of_others_gets_no_key() {
    let server = Server::new(|_, stream| answer(stream, "500 Broken", "application/json", "{}"));
    let out = folder("trust-rerun");
    let run = outcome(&mut hello(Path::new("."), &["--target", &server.url, "--out", path(&out)]));
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let before = server.connections();
    let again = |more: &[&str], has_key: bool| {
        let mut command = bare(&[&["run", "--rerun-failed", path(&out)], more].concat());
        if has_key {
            command.env("CONFORMANCE_API_KEY", "key-of-the-user");
        }
        outcome(&mut command)
    };
    for (more, has_key, what) in [
        (&[][..], true, "the key in CONFORMANCE_API_KEY"),
        (&["--api-key", "key-of-the-user"], false, "the key of --api-key"),
        (&["--header", "x-a: 12345678"], false, "the headers of --header"),
    ] {
        let refused = again(more, has_key);
        assert_eq!(refused.code, Some(2), "{}", refused.stderr);
        let words =
            format!("which would receive {what}: to confirm it, add --target {}/v1/responses", server.url);
        assert!(refused.stderr.contains(&words), "{words}: {}", refused.stderr);
    }
    assert_eq!(server.connections(), before);
    expect(&again(&[], false), 1, &[]);
    expect(&again(&["--target", &server.url], true), 1, &[]);
}

/// Values of a configuration file appear in messages, also in those of the command line.
#[test]
fn values_of_files_forge_nothing() {
    let quoted = serde_json::to_string(HOSTILE).expect("it is a text").replace('\u{7f}', "\\u007f");
    let bare_values = [
        format!("dialect = {quoted}"),
        format!("profile = [{quoted}]"),
        format!("without = ['tools', {quoted}]"),
        format!("limits = {{ timeout = {quoted} }}"),
        format!("headers = {{ {quoted} = 'a' }}"),
        format!("api-key = {quoted}"),
        format!("{quoted} = 1"),
        format!("expected-failures = {quoted}"),
    ];
    let mut configs: Vec<String> = bare_values.iter().map(|value| format!("[defaults]\n{value}\n")).collect();
    configs.push(format!("[targets.{quoted}]\nurl = 'http://127.0.0.1:9'\n"));
    configs.push(format!("[targets.a]\nurl = {quoted}\n"));
    configs.push(HOSTILE.to_owned());
    for config in configs {
        let at = configured("trust-values", &config);
        for target in ["http://127.0.0.1:9", "a"] {
            let run = outcome(bare(&["run", "--target", target]).current_dir(&at));
            assert_eq!(run.code, Some(2), "{config}: {}", run.stdout);
            harmless(&run);
        }
    }
    // And arguments.
    for flag in
        ["--profile", "--dialect", "--timeout", "--given", "--report", "--without", "--target", HOSTILE]
    {
        let run = outcome(&mut bare(&["run", "--target", "http://127.0.0.1:9", flag, HOSTILE]));
        assert_eq!(run.code, Some(2), "{flag}");
        harmless(&run);
    }
}

#[test]
fn files_that_a_file_names_are_not_printed() {
    let at = configured("trust-named", "[defaults]\nexpected-failures = 'other'\n");
    fs::write(at.join("other"), "root:x:0:0:secret line\n").expect("it can be written");
    let run = outcome(&mut hello(&at, &["--target", "http://127.0.0.1:9"]));
    assert!(run.code == Some(2) && run.stderr.contains("./other:1:"), "{}", run.stderr);
    assert!(!run.stderr.contains("secret line"), "{}", run.stderr);
    #[cfg(unix)]
    for setting in ["expected-failures", "ca-file"] {
        let config =
            format!("[targets.a]\nurl = 'http://127.0.0.1:9'\nsettings = {{ {setting} = '/dev/zero' }}\n");
        let at = configured("trust-named", &config);
        let run = outcome(&mut hello(&at, &["--target", "a"]));
        assert!(run.code == Some(2) && run.stderr.contains("not a regular file"), "{}", run.stderr);
    }
}

#[test]
fn numbers_have_limits() {
    let refused = |args: &[&str]| {
        let run =
            outcome(&mut bare(&[&["run", "text/hello", "--target", "http://127.0.0.1:9"], args].concat()));
        assert_eq!(run.code, Some(2), "{args:?}: {}", run.stderr);
        assert!(
            run.stderr.contains("invalid value") && !run.stderr.contains("panic"),
            "{args:?}: {}",
            run.stderr
        );
    };
    let longest = u64::MAX;
    for flag in [
        "--timeout",
        "--delay",
        "--idle-timeout",
        "--first-event-timeout",
        "--connect-timeout",
        "--max-total-time",
    ] {
        for unit in ["", "s", "m", "ms"] {
            refused(&[&format!("{flag}={longest}{unit}")]);
        }
    }
    for flag in ["--concurrent", "--jobs", "--attempts", "--test-threads"] {
        for value in ["0", "100000", "18446744073709551615"] {
            refused(&[&format!("{flag}={value}")]);
        }
    }
    let config =
        "[targets.a]\nurl = 'http://127.0.0.1:9'\nsettings = { limits = { concurrent = 1000000000 } }\n";
    let at = configured("trust-numbers", config);
    let run = outcome(&mut hello(&at, &["--target", "a"]));
    assert!(run.code == Some(2) && run.stderr.contains("1000000000"), "{}", run.stderr);
    // The largest numbers work.
    let server = Server::new(text);
    let run = outcome(&mut hello(
        Path::new("."),
        &[
            "--target",
            &server.url,
            "--timeout",
            "43200m",
            "--jobs",
            "1000",
            "--concurrent",
            "10000",
            "--max-bytes",
            &longest.to_string(),
        ],
    ));
    expect(&run, 0, &[]);
}

#[test]
fn an_endpoint_cannot_write_to_the_terminal() {
    let listed = serde_json::json!({"object": "list", "data": [{"id": HOSTILE}]}).to_string();
    let server = Server::listing(&listed, text);
    let at = folder("trust-init");
    fs::create_dir_all(&at).expect("it can be made");
    let init = |args: &[&str]| outcome(command(&[&["init"], args].concat()).current_dir(&at));
    let long = format!(r#"{{"data":[{{"id":"{}"}}]}}"#, "x".repeat(1 << 20));
    for server in [&server, &Server::listing(&long, text)] {
        let run = init(&["--target", &server.url, "--no-run"]);
        harmless(&run);
        let told = "model default: GET /models lists only names that are too long, or invisible in part";
        assert!(run.code == Some(0) && run.stderr.contains(told), "{}", run.stderr);
        fs::remove_file(at.join("conformance.toml")).expect("it is written");
    }
    // The file is shared, so that it holds no secret, and nothing that it could not be read with.
    for target in ["http://user:secret-1@127.0.0.1:9", "http://127.0.0.1:9/v1?key=secret-1"] {
        let run = init(&["--target", target, "--model", "m"]);
        assert!(run.code == Some(2) && !run.stderr.contains("secret-1"), "{}", run.stderr);
        assert!(run.stderr.contains("is a file to share"), "{}", run.stderr);
    }
    for name in [HOSTILE, "https://a.test"] {
        let run = init(&["--target", &server.url, "--model", "m", "--name", name]);
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        harmless(&run);
    }
    assert!(!at.join("conformance.toml").exists());
    let run = init(&["--target", &server.url, "--model", "a \"b\" # c", "--name", "a] [x = 'y", "--no-run"]);
    expect(&run, 0, &[]);
    let listed = outcome(bare(&["run", "--target", "a] [x = 'y", "--list", "text/hello"]).current_dir(&at));
    expect(&listed, 0, &["text/hello::answer"]);
}

#[cfg(unix)]
#[test]
fn init_follows_no_link() {
    let server = Server::new(text);
    let at = folder("trust-link");
    fs::create_dir_all(&at).expect("it can be made");
    std::os::unix::fs::symlink(at.join("elsewhere"), at.join("conformance.toml")).expect("it can be made");
    let args = ["init", "--target", &server.url, "--model", "m", "--no-run"];
    let run = outcome(command(&args).current_dir(&at));
    assert!(run.code == Some(2) && !at.join("elsewhere").exists(), "{}", run.stderr);
}

#[cfg(unix)]
#[test]
fn evidence_is_written_through_no_link() {
    let server = Server::new(text);
    let out = folder("trust-out");
    let victim = folder("trust-out-victim");
    fs::create_dir_all(&out).expect("it can be made");
    fs::write(&victim, "untouched").expect("it can be written");
    for name in ["run.json.new", "report.json.new", "certificate.json"] {
        std::os::unix::fs::symlink(&victim, out.join(name)).expect("it can be made");
    }
    expect(&outcome(&mut hello(Path::new("."), &["--target", &server.url, "--out", path(&out)])), 0, &[]);
    assert_eq!(fs::read_to_string(&victim).expect("it is there"), "untouched");
    expect(&outcome(&mut bare(&["verify", path(&out)])), 0, &["consistent: "]);
}

/// Returns the pointers of all strings of a value, one for each place in a list.
fn strings(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(at.to_owned()),
        Value::Array(values) => {
            values.iter().take(1).for_each(|value| strings(value, &format!("{at}/0"), found));
        }
        Value::Object(members) => {
            for (name, value) in members {
                let name = name.replace('~', "~0").replace('/', "~1");
                strings(value, &format!("{at}/{name}"), found);
            }
        }
        _ => {}
    }
}

/// No string of stored files reaches the terminal as it is, whichever command reads it.
#[test]
fn stored_files_control_no_terminal() {
    let out = folder("trust-stored");
    let run = outcome(&mut bare(&["run", "text/hello", "--profile", "core", "--out", path(&out)]));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let mut tried = 0;
    for name in ["run.json", "report.json", "certificate.json"] {
        let text = fs::read_to_string(out.join(name)).expect("it is there");
        let stored: Value = serde_json::from_str(&text).expect("it is JSON");
        let mut pointers = Vec::new();
        strings(&stored, "", &mut pointers);
        for pointer in pointers {
            let mut edited = stored.clone();
            *edited.pointer_mut(&pointer).expect("it is there") = HOSTILE.into();
            fs::write(out.join(name), edited.to_string()).expect("it can be written");
            let commands: &[&[&str]] = match name {
                "run.json" => &[&["verify"], &["sign", "--statement"], &["run", "--list", "--rerun-failed"]],
                "report.json" => &[&["verify"], &["report"], &["report", "--verbose", "--level", "may"]],
                _ => &[&["verify"], &["sign", "--statement"]],
            };
            for command in commands {
                let told = outcome(&mut bare(&[*command, &[path(&out)]].concat()));
                assert!(matches!(told.code, Some(0..=2)), "{name}{pointer} {command:?}: {}", told.stderr);
                harmless(&told);
                tried += 1;
            }
        }
        fs::write(out.join(name), text).expect("it can be written");
    }
    assert!(tried > 100, "{tried} commands: these cannot be all strings");
}

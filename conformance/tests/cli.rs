//! The program: its output and exit codes.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use catalogue::LooksAt;

struct Outcome {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

fn conformance(args: &[&str], input: &str) -> Outcome {
    let mut child = Command::new(env!("CARGO_BIN_EXE_conformance"))
        .args(args)
        .current_dir(env!("CARGO_TARGET_TMPDIR"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // The program may exit without reading its input.
    let _ = child.stdin.take().expect("it is piped").write_all(input.as_bytes());
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("what it prints is UTF-8");
    Outcome { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// Creates a folder with these files for a test.
fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    for (file, text) in files {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().expect("it is in the folder")).expect("a folder can be made");
        fs::write(path, text).expect("a file can be written");
    }
    folder
}

fn golden(id: &str) -> &'static str {
    std::str::from_utf8(conformance::goldens::golden(id).expect("it exists").bytes).expect("it is UTF-8")
}

#[test]
fn the_suite_passes() {
    let all = conformance(&["--all-tests"], "");
    assert_eq!(all.code, Some(0), "{}", all.stdout);
    assert!(all.stdout.contains("test violation::schema/event-valid"), "{}", all.stdout);
    let one = conformance(&["--exact", "openai/text::wire", "--quiet"], "");
    assert!(one.stdout.contains("1 passed; 0 failed"), "{}", one.stdout);
    let few = conformance(&["openai/text", "--select", "schema", "--skip", "event-known", "--quiet"], "");
    assert!(few.stdout.contains("running 1 test\n"), "{}", few.stdout);
    let untold = conformance(&["--exact", "openai/text::wire"], "");
    assert!(!untold.stderr.contains("To test an endpoint"), "{}", untold.stderr);
    let bare = conformance(&[], "");
    assert_eq!(bare.code, Some(0), "{}", bare.stdout);
    assert!(
        bare.stderr.starts_with("no --target: testing the suite's own reference gateway"),
        "{}",
        bare.stderr
    );
    assert!(bare.stderr.contains("conformance run --target URL --model MODEL --profile core\n"));
}

#[test]
fn a_list_is_made_without_reading() {
    let list = conformance(&["--list", "--capture", "nowhere.sse"], "");
    assert_eq!(list.code, Some(0));
    assert!(list.stdout.contains("nowhere.sse::schema/event-valid: test"), "{}", list.stdout);
}

#[test]
fn the_suite_runs_over_recordings() {
    let broken = golden("openai/text").replace("\"logprobs\":[]", "\"logprobs\":0");
    folder("suite", &[("a.sse", golden("openai/text")), ("b/c.sse", &broken), ("b/body.json", "{}")]);
    let run = conformance(&["--capture", "suite", "--test-threads", "1"], "");
    assert_eq!(run.code, Some(1), "{}", run.stdout);
    assert!(run.stdout.contains("test suite/b/c.sse::schema/event-valid"), "{}", run.stdout);
    assert!(
        run.stdout.contains("error[schema/event-valid]: /logprobs is number 0, not an array"),
        "{}",
        run.stdout
    );
    let dialect = spec::DIALECTS.iter().find(|dialect| dialect.name == "openai").expect("the build has it");
    let all = conformance::Rules::of(dialect);
    // Only rules that a bare stream can exercise.
    let is_seen = |rule: &catalogue::Rule| {
        rule.looks_at.contains(&LooksAt::Stream) && !rule.looks_at.contains(&LooksAt::Head)
    };
    let (rules, seen) = (all.iter().count(), all.iter().filter(|rule| is_seen(rule)).count());
    for (rule, reason) in [
        ("wire/event-stream-content-type", "it has no headers"),
        ("schema/body-valid", "it has no non-streaming response"),
        ("ws/one-in-flight", "it is not of a WebSocket"),
    ] {
        let line = run.stdout.lines().find(|line| line.contains(&format!("a.sse::{rule} ")));
        assert!(line.is_some_and(|line| line.contains(&format!("ignored ({reason})"))), "{line:?}");
    }
    let expected = format!("{} passed; 1 failed; {} ignored", 2 * seen - 1, 3 * rules - 2 * seen);
    assert!(run.stdout.contains(&expected), "{expected}: {}", run.stdout);
    let (_, summary) = run.stdout.split_once("failed: 3 files").expect("it ends with a summary");
    for told in [
        "causes\n  error    schema/event-valid",
        "by file\n  suite/b/c.sse",
        "no stream with this finding was played (schema/event-valid)",
        "not checked\n  1 answer that is neither a response nor an error\n    suite/b/body.json\n",
        "next\n  show the requirement of schema/event-valid",
    ] {
        assert!(summary.contains(told), "{told}: {summary}");
    }
    assert_eq!(conformance(&["--capture", "suite/nowhere.sse"], "").code, Some(2));
}

#[test]
fn recordings_are_tested_like_they_are_checked() {
    let chat = "data: {\"object\":\"chat.completion.chunk\",\"choices\":[]}\n\n";
    let folder = folder(
        "alike",
        &[("all/a.sse", golden("openai/text")), ("all/b.sse", chat), ("empty/a.sse", ": hi\n\n")],
    );
    for (path, code) in [("all", 0), ("all/b.sse", 1), ("empty", 2), ("empty/a.sse", 2)] {
        let path = format!("alike/{path}");
        assert_eq!(conformance(&["check", &path], "").code, Some(code), "{path}");
        let tested = conformance(&["--capture", &path, "--report", "json=alike/run.json"], "");
        assert_eq!(tested.code, Some(code), "{path}: {}", tested.stdout);
        let report = fs::read_to_string(folder.join("run.json")).expect("the report");
        assert!(report.contains("\"timelines\""), "{path}");
    }
    fs::create_dir_all(folder.join("nothing")).expect("a folder can be made");
    for command in [&["check"][..], &["--capture"]] {
        let run = conformance(&[command, &["alike/nothing"]].concat(), "");
        assert_eq!(
            (run.code, run.stderr.as_str()),
            (Some(2), "error: there is no recording in alike/nothing\n")
        );
    }
}

#[cfg(unix)]
#[test]
fn names_of_files_do_not_control_the_terminal() {
    let broken = golden("openai/text").replace("\"logprobs\":[]", "\"logprobs\":0");
    folder("control", &[("a\u{1b}]0;x\u{7}.sse", &broken), ("empty\u{1b}[31m/notes.md", "")]);
    for arguments in [
        &["--capture", "control"][..],
        &["--capture", "control", "--snapshots", "control/shapes"],
        &["check", "control"],
        &["check", "control/empty\u{1b}[31m"],
        &["serve", "--replay", "control/empty\u{1b}[31m"],
        &["explain", "no\u{1b}[31m/rule"],
    ] {
        let run = conformance(arguments, "");
        let told = run.stdout + &run.stderr;
        assert!(told.contains("\\u{1b}") && !told.contains('\u{1b}'), "{arguments:?}: {told}");
    }
}

#[test]
fn the_suggested_command_names_the_file() {
    let broken = golden("openai/text").replace("\"logprobs\":[]", "\"logprobs\":0");
    let broken = broken.replace("\"sequence_number\":2", "\"sequence_number\":9");
    folder("odd", &[("-a.sse", &broken), ("it's.sse", &broken), ("a\u{1b}[31m.sse", &broken)]);
    let suggested = |name: &str| {
        let told = conformance(&["check", &format!("odd/../odd/{name}")], "").stdout;
        told.contains("  show only ").then_some(told)
    };
    assert!(suggested("it's.sse").is_some_and(|told| told.contains("check 'odd/../odd/it'\\''s.sse' ")));
    assert!(suggested("a\u{1b}[31m.sse").is_none());
    let dash = Command::new(env!("CARGO_BIN_EXE_conformance"))
        .args(["check", "--", "-a.sse"])
        .current_dir(Path::new(env!("CARGO_TARGET_TMPDIR")).join("odd"))
        .output()
        .expect("the program runs");
    let told = String::from_utf8_lossy(&dash.stdout);
    assert!(told.contains("conformance check ./-a.sse "), "{told}");
}

#[test]
fn the_summary_of_recordings_is_of_the_tests_that_ran() {
    let broken = golden("openai/text").replace("\"logprobs\":[]", "\"logprobs\":0");
    folder("some", &[("a.sse", &broken), ("b.sse", golden("openai/text"))]);
    let sequence = conformance(&["--capture", "some", "--", "::sequence"], "");
    assert_eq!(sequence.code, Some(0), "{}", sequence.stdout);
    assert!(sequence.stdout.contains("\npassed: 2 files"), "{}", sequence.stdout);
    let one = conformance(&["--capture", "some", "--skip", "a.sse"], "");
    assert!(one.stdout.contains("\npassed: 1 file,"), "{}", one.stdout);
    // A shape that differs breaks no rule.
    let shapes = conformance(&["--capture", "some/b.sse", "--snapshots", "some/shapes"], "");
    assert_eq!(shapes.code, Some(1), "{}", shapes.stdout);
    assert!(shapes.stdout.contains("\nfailed: 1 file,"), "{}", shapes.stdout);
    let told = conformance(&["--capture", "some/b.sse", "--quiet"], "");
    assert!(!told.stdout.contains("passed: 1 file"), "{}", told.stdout);
}

#[test]
fn findings_are_told_like_a_compilers() {
    let stream = "event: response.refusal.delta\n\
        data: {\"type\":\"response.refusal.delta\",\"item_id\":\"msg_1\",\"output_index\":0,\"content_index\":0,\"delta\":[\"\u{1b}[31m\"],\"sequence_number\":4}\n\n\
        data: {\"type\":\n\n\
        data: {\"type\":\"response.reasoning.delta\",\"sequence_number\":1}\n\n";
    let run = conformance(&["check", "-", "--level", "may"], stream);
    assert_eq!(run.code, Some(1));
    insta::assert_snapshot!("diagnostics", run.stderr);
    insta::assert_snapshot!("summary", run.stdout);
    assert!(conformance(&["check", "-", "--color", "always"], stream).stderr.contains("\u{1b}[1;31merror"));
}

#[test]
fn findings_are_told_to_programs() {
    let run = conformance(
        &["check", "-", "--format", "json", "--select", "schema,wire/json-object"],
        "data: {\"type\":\"response.thinking\"}\n\ndata: 1\n\n",
    );
    assert_eq!((run.code, run.stderr.as_str()), (Some(1), ""));
    insta::assert_snapshot!("json", run.stdout);
}

#[test]
fn the_rest_is_checked_when_something_cannot_be_read() {
    folder(
        "unread",
        &[("a.sse", ""), ("b.sse", golden("openai/text")), ("c.http", "HTTP/1.1\r\n"), ("d.tsv", "x")],
    );
    let run = conformance(&["check", "unread", "unread/nowhere.sse"], "");
    assert_eq!(run.code, Some(2));
    insta::assert_snapshot!("unread", run.stdout + "---\n" + &run.stderr);
    assert_eq!(conformance(&["check", "unread/d.tsv"], "").code, Some(2));
    let unanswered = "{\"exchange\":1,\"request\":{\"method\":\"POST\",\"url\":\"http://a.test/\"},\"response\":null}\n\
        {\"at\":1.0,\"end\":\"lost\",\"reason\":\"reset by peer\"}\n";
    let run = conformance(&["check", "-"], unanswered);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("no response was recorded: reset by peer"), "{}", run.stderr);
    assert_eq!(conformance(&["check", "-"], golden("openai/text")).code, Some(0));
}

#[test]
fn many_files_are_summed_up() {
    let good = golden("openai/text");
    let unopened = good.replacen("response.content_part.added", "response.in_progress", 2);
    let unended = good.split("event: response.completed").next().expect("there is a beginning");
    let names: Vec<String> = (10..22).map(|number| format!("{number}.sse")).collect();
    let mut files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), unended)).collect();
    files.extend([
        ("a.sse", good),
        ("worst.sse", &unopened),
        ("list.json", "{\"object\":\"list\",\"data\":[]}"),
    ]);
    folder("many", &files);
    let run = conformance(&["check", "many", "--select", "part,response/one-terminal,schema"], "");
    assert_eq!(run.code, Some(1));
    insta::assert_snapshot!("many", run.stdout);
}

#[test]
fn rules_are_chosen() {
    let stream = "data: 1\n\ndata: {\"type\":\"response.created\"}\n\n";
    assert_eq!(conformance(&["check", "-", "--select", "schema/event-known"], stream).code, Some(0));
    let few = ["check", "-", "--select", "schema,wire/json-object"];
    assert_eq!(conformance(&few, stream).code, Some(1));
    assert_eq!(conformance(&[&few[..], &["--ignore", "schema,wire"]].concat(), stream).code, Some(0));
    let group = conformance(&["check", "-", "--select", "shcema"], stream);
    assert!(group.stderr.contains("did you mean schema?"), "{}", group.stderr);
    let mistaken = conformance(&["check", "-", "--ignore", "event-vaild"], stream);
    assert_eq!(mistaken.code, Some(2));
    let dialect = conformance(&["check", "-", "--dialect", "opneai"], stream);
    insta::assert_snapshot!(dialect.stderr, @"error: there is no dialect \"opneai\" (did you mean openai?); there are: aitronos, azure, codex, deepseek, eugpt, open-responses, open-responses@2026-04-24, open-responses@2026-01-15, openai, openrouter, vllm, vllm-responses, wave, xai");
}

#[test]
fn rules_are_explained() {
    let page = conformance(&["explain", "schema/event-known", "--dialect", "open-responses"], "");
    assert_eq!(page.code, Some(0));
    assert!(page.stdout.starts_with("schema/event-known: "), "{}", page.stdout);
    assert!(page.stdout.contains("level      MUST in open-responses"), "{}", page.stdout);
    // The page shows the violation and the finding in it.
    assert!(page.stdout.contains(" | + "), "{}", page.stdout);
    assert!(page.stdout.contains("error[schema/event-known]: "), "{}", page.stdout);
    let off = conformance(&["explain", "response/times-in-seconds", "--dialect", "eugpt"], "").stdout;
    assert!(off.contains("level      not checked in eugpt; "), "{off}");
    assert!(off.contains("The examples use milliseconds"), "{off}");
    let coloured = conformance(&["explain", "schema/event-known", "--color", "always"], "");
    assert!(coloured.stdout.starts_with("\u{1b}[1mschema/event-known\u{1b}[0m: "), "{}", coloured.stdout);
    insta::assert_snapshot!(
        "explain",
        conformance(&["explain", "part/before-open", "--dialect", "wave"], "").stdout
    );
    let mistaken = conformance(&["explain", "schema/event-konwn"], "");
    assert_eq!(mistaken.code, Some(2));
    assert!(mistaken.stderr.contains("(did you mean schema/event-known?)"), "{}", mistaken.stderr);
}

#[test]
fn every_sentence_that_is_listed_is_explained() {
    let json = conformance(&["list", "requirements", "--format", "json"], "").stdout;
    let listed: Vec<serde_json::Value> = serde_json::from_str(&json).expect("a list");
    for name in listed.iter().filter_map(|sentence| sentence["id"].as_str()).step_by(9) {
        let page = conformance(&["explain", name], "");
        assert_eq!(page.code, Some(0), "{name}: {}", page.stderr);
        assert!(page.stdout.starts_with(&format!("{name}: ")), "{}", page.stdout);
    }
    insta::assert_snapshot!("sentence", conformance(&["explain", "N35"], "").stdout);
    let hidden = conformance(&["explain", "open-responses@2026-01-15#N02"], "").stdout;
    assert!(
        hidden.contains("uncovered  no rule and no scenario covers it. A duty of the client."),
        "{hidden}"
    );
    // A SHOULD of another document is not binding; one of the dialect's own document needs no reason.
    let should = conformance(&["explain", "wire/no-id-line"], "").stdout;
    let in_a_line = should.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(in_a_line.contains("not of openai: here a SHOULD"), "{should}");
    let own = conformance(&["explain", "N35", "--dialect", "open-responses"], "").stdout;
    assert!(!own.contains("a sentence of") && own.contains("(MUST in open-responses)"), "{own}");
    let mistaken = conformance(&["explain", "open-responses@2026-04-24#N3S"], "");
    assert_eq!(mistaken.code, Some(2));
    assert!(mistaken.stderr.contains("did you mean open-responses@2026-04-24#N3"), "{}", mistaken.stderr);
}

#[test]
fn everything_can_be_listed() {
    let all = conformance(&["list"], "");
    assert_eq!(all.code, Some(0), "{}", all.stderr);
    for what in ["rules", "events", "dialects", "features", "scenarios", "profiles", "requirements"] {
        assert!(all.stdout.contains(&format!("\n{what} ")), "{}", all.stdout);
        let list = conformance(&["list", what], "");
        assert_eq!(list.code, Some(0), "{what}");
        let json = conformance(&["list", what, "--format", "json"], "");
        let entries: Vec<serde_json::Value> = serde_json::from_str(&json.stdout).expect(what);
        // The table has column headers, and some rows have additional text.
        let mut lines = list.stdout.lines();
        let heads = lines.next().unwrap_or_default();
        assert!(heads.contains("  ") && heads.to_uppercase() == heads, "{heads}");
        let names: Vec<_> = lines.take_while(|line| !line.is_empty()).collect();
        assert_eq!(entries.len(), names.len(), "{what}");
        assert!(!entries.is_empty(), "{what}");
    }
    let dialects = conformance(&["list", "dialects"], "").stdout;
    for name in ["open-responses ", "open-responses@2026-01-15 ", "open-responses@2026-04-24 ", "wave "] {
        assert!(dialects.lines().any(|line| line.starts_with(name)), "{name}: {dialects}");
    }
}

/// `explain` describes the test of every name.
#[test]
fn the_names_of_tests_are_explained() {
    let all = conformance(&["--list", "--target", "http://127.0.0.1:9", "--concurrent", "2"], "").stdout;
    let ends = all.lines().filter_map(|line| line.strip_suffix(": test")?.rsplit("::").next());
    let ends: std::collections::BTreeSet<&str> = ends.collect();
    assert!(ends.contains("answer") && ends.contains("apart") && ends.contains("agrees"), "{ends:?}");
    let help = conformance(&["run", "--help"], "").stdout;
    let page = include_str!("../../docs/reading-a-report.md");
    for end in ends {
        let is_group = catalogue::RULES.iter().any(|rule| rule.group() == end);
        let is_told = help.contains(&format!("`{end}`")) && page.contains(&format!("| `{end}` |"));
        assert!(is_group || is_told, "nobody says what ::{end} is\n{help}");
    }
}

#[test]
fn shells_can_complete() {
    let script = conformance(&["completions", "bash"], "");
    assert_eq!(script.code, Some(0));
    for known in ["--ignore", "part/before-open", "text/hello", "open-responses", "structured-output", "N35"]
    {
        assert!(script.stdout.contains(known), "{known}: {}", script.stdout);
    }
}

#[test]
fn every_command_has_a_man_page() {
    let page = conformance(&["man"], "").stdout;
    assert!(page.contains(".TH conformance 1") && page.contains("conformance\\-check(1)"), "{page}");
    let page = conformance(&["man", "check"], "").stdout;
    for expected in
        [".TH conformance-check 1", ".SH SYNOPSIS", "\\-\\-format\\-in", "captures/ \\-\\-dialect"]
    {
        assert!(page.contains(expected), "{expected}: {page}");
    }
    let unknown = conformance(&["man", "chek"], "");
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("(did you mean check?)"), "{}", unknown.stderr);
    let folder = folder("man", &[]);
    assert_eq!(conformance(&["man", "--out", "man"], "").code, Some(0));
    let pages: Vec<_> = fs::read_dir(&folder).expect("it is there").collect();
    assert!(pages.len() > 12 && folder.join("conformance-run.1").is_file(), "{pages:?}");
}

#[test]
fn short_help_fits_a_screen() {
    let commands = conformance(&["--help"], "").stdout;
    let names = commands.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = names.take_while(|line| !line.is_empty()).filter_map(|line| line.split_whitespace().next());
    let names: Vec<&str> = names.filter(|name| *name != "help").collect();
    assert!(names.len() >= 10, "{names:?}");
    for args in names.iter().map(|name| vec![*name, "-h"]).chain([vec!["-h"]]) {
        let help = conformance(&args, "").stdout;
        let lines = help.lines().count();
        assert!(lines <= 50, "{args:?}: {lines} lines\n{help}");
    }
    assert!(!commands.contains("Usefull"));
}

#[test]
fn typical_mistakes_are_answered_with_the_right_command() {
    let page = "<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head></html>\n";
    let failures = "[[failure]]\nrule = \"agrees\"\nscenarios = [\"state/continued\"]\nreason = \"\"\n\n\
                    [[failure]]\nrule = \"part/before-open\"\nscenarios = [\"text/hello\"]\nreason = \" \"\n";
    folder("mistakes", &[("page.http", page), ("known.toml", failures)]);
    for (args, words) in [
        (
            &["--target", "localhost:9100"][..],
            "\"localhost:9100\" is not a URL; try --target http://localhost:9100/v1",
        ),
        (&["check", "mistakes/page.http"], "it is an HTML page, as a proxy or a wrong URL sends one"),
        (
            &["report", "mistakes/run"],
            "mistakes/run: No such file or directory (os error 2); give the folder that `run --out`",
        ),
        (
            &["report", "mistakes"],
            "mistakes/report.json: No such file or directory (os error 2); has the run finished?",
        ),
        (
            &["--expected-failures", "mistakes/known.toml", "text/hello"],
            "error: mistakes/known.toml has 2 invalid entries\n  \
             mistakes/known.toml:1: agrees: `reason` is empty; state why it fails and why that is acceptable\n  \
             mistakes/known.toml:6: part/before-open: `reason` is empty; ",
        ),
    ] {
        let run = conformance(args, "");
        assert_eq!(run.code, Some(2), "{args:?}: {}", run.stdout);
        assert!(run.stderr.contains(words), "{args:?}: {}", run.stderr);
    }
}

#[test]
fn filters_that_match_nothing_are_an_error() {
    folder("filters", &[("run.json", "{}"), ("a.sse", golden("openai/text"))]);
    for (args, words) in [
        (&["text/helo"][..], "no test matches \"text/helo\" (did you mean text/hello"),
        (&["text/hello", "text/helo", "--list"], "no test matches \"text/helo\""),
        (&["text/hello", "--exact"], "no test is named \"text/hello\""),
        (&["/nothing$/"], "no test matches \"/nothing$/\""),
        (&["/(/"], "unclosed group"),
        (&["text/hello", "--skip", "text"], "no test is left"),
        (&["filters"], "filters is the folder of a run: conformance report filters"),
        (&["run", "filters"], "filters is the folder of a run: conformance report filters"),
        (&["everything"], "there is no command \"everything\""),
        (&["filters/a.sse"], "conformance check filters/a.sse"),
        (&["chek"], "(did you mean check?)"),
        (&["--capture", "filters/a.sse", "--", "itme"], "no test matches \"itme\""),
    ] {
        let run = conformance(args, "");
        assert_eq!(run.code, Some(2), "{args:?}: {}", run.stdout);
        assert!(run.stderr.contains(words), "{args:?}: {}", run.stderr);
    }
}

#[test]
fn filters_are_several_patterns_and_sentences() {
    let list = |args: &[&str]| {
        let run = conformance(&[args, &["--list"]].concat(), "");
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        run.stdout
            .lines()
            .filter_map(|line| line.strip_suffix(": test"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        list(&["/^text.(hello|long)::item$/", "call/single::answer"]),
        ["text/hello::item", "text/long::item", "call/single::answer"]
    );
    assert_eq!(list(&["run", "text/hello::item", "--exact"]), ["text/hello::item"]);
    let sentence = list(&["N35", "--exact"]);
    assert!(sentence.iter().any(|name| name == "violation::part/before-open"), "{sentence:?}");
    assert!(sentence.iter().any(|name| name == "text/hello::part"), "{sentence:?}");
    assert!(!sentence.iter().any(|name| name == "text/hello::wire"), "{sentence:?}");
}

#[test]
fn reports_are_written_by_the_same_flags() {
    let broken = golden("openai/text").replace("\"logprobs\":[]", "\"logprobs\":0");
    let at = folder("reports", &[("a.sse", &broken)]);
    let file = |name: &str| at.join(name).display().to_string();
    let reports = format!("junit={},html={}", file("a.xml"), file("a.html"));
    let (json, copy) = (file("a.json"), file("b.json"));
    let capture = file("a.sse");
    let check =
        conformance(&["check", &capture, "--format", "json", "--output", &json, "--report", &reports], "");
    assert_eq!((check.code, &*check.stdout), (Some(1), ""), "{}", check.stderr);
    let report = conformance(&["report", &json, "--format", "json", "--output", &copy], "");
    assert_eq!(report.code, Some(0), "{}", report.stderr);
    let read = |name: &str| fs::read_to_string(at.join(name)).expect("it is written");
    assert_eq!(read("a.json"), read("b.json"));
    assert!(read("a.xml").contains("<testsuites") && read("a.html").starts_with("<!"));
    let unknown = conformance(&["check", &capture, "--report", "pdf=a.pdf"], "");
    assert!(
        unknown.code == Some(2) && unknown.stderr.contains("there is no format \"pdf\""),
        "{}",
        unknown.stderr
    );
}

#[test]
fn a_reader_may_have_seen_enough() {
    for args in [&["list", "requirements", "--format", "json"][..], &[][..], &["check", "-"][..]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_conformance"))
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!stderr.contains("panicked"), "{args:?}: {stderr}");
    }
}

//! Detection of recordings in folders, and errors of unreadable files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use conformance::goldens;

#[allow(dead_code, unreachable_pub, reason = "it is a package of its own, too")]
#[path = "../../fuzz/src/lib.rs"]
mod fuzz;

/// Runs `check` on paths in a folder. Returns the exit code, the recordings in order, and stderr.
fn check(folder: &Path, paths: &[&str]) -> (Option<i32>, Vec<String>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_conformance"))
        .args(["check", "--format", "json", "--dialect", "openai"])
        .args(paths)
        .current_dir(folder)
        .output()
        .expect("the program runs");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let captures = report["captures"].as_array().into_iter().flatten();
    let told = captures.map(|capture| {
        let name = capture["name"].as_str().unwrap_or_default();
        match capture["error"].as_str() {
            None => format!("{name}: {} events", capture["events"]),
            Some(error) => format!("{name}: {error}"),
        }
    });
    (output.status.code(), told.collect(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn folder(name: &str, files: &[(&str, &[u8])]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder can be made");
    for (file, bytes) in files {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().expect("it is in the folder")).expect("a folder can be made");
        fs::write(path, bytes).expect("a file can be written");
    }
    folder
}

fn stream() -> &'static [u8] {
    goldens::golden("openai/refusal").expect("it exists").bytes
}

#[test]
fn what_is_named_twice_is_checked_once() {
    let folder = folder("twice", &[("b.sse", stream()), ("a/c.sse", stream()), ("a/d.tsv", b"x")]);
    let events = fuzz::recordings::data(stream()).len();
    let (code, told, _) = check(&folder, &["b.sse", ".", "a", "./b.sse", "a/../b.sse"]);
    assert_eq!(told, [format!("b.sse: {events} events"), format!("./a/c.sse: {events} events")]);
    assert_eq!(code, Some(0));
    // A file is listed as it is named, also if it is not a recording by its name.
    let (_, told, _) = check(&folder, &["a", "./a/c.sse", "a/d.tsv", "./a/d.tsv"]);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].starts_with("./a/c.sse: ") && told[1].starts_with("a/d.tsv: "), "{told:?}");
}

#[test]
fn compressed_recordings_are_recordings() {
    let gzip = fuzz::recordings::gzip(stream());
    let files: [(&str, &[u8]); 4] = [
        ("a.sse.gz", &gzip),
        ("b.sse.zst", &fuzz::recordings::zstd(stream())),
        ("c.sse.gz", &gzip[..gzip.len() / 2]),
        ("d.sse.br", stream()),
    ];
    let folder = folder("compressed", &files);
    let (code, told, _) = check(&folder, &["."]);
    assert_eq!(code, Some(2));
    let events = fuzz::recordings::data(stream()).len();
    assert_eq!(told[..2], [format!("./a.sse.gz: {events} events"), format!("./b.sse.zst: {events} events")]);
    assert!(
        told[2].starts_with("./c.sse.gz: it is compressed with gzip, and cannot be decompressed"),
        "{told:?}"
    );
    assert!(
        told[3].starts_with("./d.sse.br: it is compressed with br, and cannot be decompressed at all"),
        "{told:?}"
    );
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_never_in_circles() {
    use std::os::unix::fs::symlink;

    let folder = folder("links", &[("a/b.sse", stream()), ("elsewhere.d/x.sse", stream())]);
    for (target, link) in [
        ("..", "a/back"),
        ("../elsewhere.d", "a/there"),
        ("b.sse", "a/same.sse"),
        ("nowhere", "a/lost.sse"),
        ("self.sse", "a/self.sse"),
    ] {
        symlink(target, folder.join(link)).expect("links can be made");
    }
    let (code, told, _) = check(&folder, &["a"]);
    let names: Vec<_> = told.iter().filter_map(|line| line.split(": ").next()).collect();
    // `a/back` leads to the folder of them all, and so to `x.sse`, before `a/there` does.
    assert_eq!(names, ["a/b.sse", "a/back/elsewhere.d/x.sse", "a/lost.sse", "a/self.sse"]);
    assert!(told[2].contains("No such file"), "{told:?}");
    assert_eq!(code, Some(2));
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_listed_is_told() {
    use std::os::unix::fs::PermissionsExt;

    let folder = folder("closed", &[("a.sse", stream()), ("b/c.sse", stream())]);
    let closed = folder.join("b");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).expect("they can be changed");
    let is_barred = fs::read_dir(&closed).is_err();
    let (code, told, _) = check(&folder, &["."]);
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).expect("they can be changed");
    // The root user can read all files.
    if is_barred {
        assert!(told[1].starts_with("./b: Permission denied"), "{told:?}");
        assert_eq!(code, Some(2));
    } else {
        assert_eq!(told.len(), 2);
    }
}

#[test]
fn no_progress_is_shown_where_nobody_watches() {
    let folder = folder("progress", &[("a.sse", stream())]);
    let (_, _, stderr) = check(&folder, &["a.sse"]);
    assert_eq!(stderr, "");
}

#[test]
fn nothing_that_was_judged_is_no_pass() {
    let chat = br#"{"interactions":[{"request":{"url":"/v1/chat/completions"},"response":{"status":200,"body":"{}"}}]}"#;
    let files: [(&str, &[u8]); 3] =
        [("other.json", b"{\"some\":\"thing\"}"), ("chat.json", chat), ("stream.sse", stream())];
    let folder = folder("nothing", &files);
    for file in ["other.json", "chat.json"] {
        let (code, told, _) = check(&folder, &[file]);
        assert_eq!((code, told), (Some(2), vec![format!("{file}: 0 events")]));
    }
    assert_eq!(check(&folder, &["."]).0, Some(0), "beside what was judged it is no failure");
}

/// A folder of a project that asks several APIs: only recordings of this one are judged.
#[test]
fn recordings_of_other_apis_are_one_line() {
    let text = goldens::golden("openai/text").expect("a golden").bytes;
    let messages = b"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\n";
    let kept_alive = [b"event: ping\ndata: {\"type\":\"ping\"}\n\n", &messages[..]].concat();
    let chat = b"data: {\"object\":\"chat.completion.chunk\",\"choices\":[]}\n\ndata: [DONE]\n\n";
    let cassette = |url: &str| {
        format!(
            "interactions:\n- request:\n    method: POST\n    uri: https://a.test{url}\n  response:\n    body:\n      \
             string: |+\n        event: message_start\n        data: {{\"type\":\"message_start\"}}\n\n    headers:\n      \
             content-type: text/event-stream\n    status:\n      code: 200\n"
        )
    };
    let (other, ours) = (cassette("/v1/messages"), cassette("/v1/responses"));
    let here = folder(
        "mixed",
        &[
            ("all/a.sse", text),
            ("all/b.sse", messages),
            ("all/b2.sse", kept_alive.as_slice()),
            ("all/c.sse", chat),
            ("all/d.yaml", other.as_bytes()),
            ("all/e.txtar", [b"-- request --\n{}\n-- streaming --\n", text].concat().as_slice()),
            ("all/f.cassette.blobs/0.bin", text),
            ("all/f.cassette.blobs/1.bin", b"\x89PNG"),
            ("all/notes.md", b"notes"),
            ("ours/a.yaml", ours.as_bytes()),
        ],
    );
    let summary = |paths: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_conformance"))
            .args(["check", "--color", "never"])
            .args(paths)
            .current_dir(&here)
            .output()
            .expect("the program runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (code, told, findings) = summary(&["all"]);
    assert_eq!(code, Some(0), "{told}{findings}");
    assert!(told.contains("passed: 7 files, 3 streams"), "{told}");
    assert!(
        told.contains(
            "not checked\n  4 recordings of other APIs (Anthropic Messages 3, Chat Completions 1)\n"
        ),
        "{told}"
    );
    assert!(told.contains("2 files skipped"), "{told}");
    // Files are checked if they are named explicitly, or respond to a request for a response.
    assert_eq!(summary(&["all/b.sse"]).0, Some(1));
    for paths in [["all", "./all/b.sse"], ["./all/b.sse", "all"]] {
        assert_eq!(summary(&paths).0, Some(1), "{paths:?}");
    }
    let (_, told, _) = summary(&["all", "all/notes.md"]);
    assert!(told.contains("1 file skipped"), "{told}");
    let (code, told, findings) = summary(&["ours"]);
    assert_eq!(code, Some(1), "{told}");
    assert!(
        findings.contains("ours/a.yaml:9  interaction 1, POST https://a.test/v1/responses · "),
        "{findings}"
    );
}

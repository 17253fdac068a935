//! Which files of a folder are recordings, and what happens to those that cannot be read.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use conformance::goldens;

#[allow(dead_code, unreachable_pub, reason = "it is a package of its own, too")]
#[path = "../../fuzz/src/lib.rs"]
mod fuzz;

/// What `check` says of paths in a folder: how it exits, the recordings it names in order, and stderr.
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
    // Who may do everything is barred from nothing.
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

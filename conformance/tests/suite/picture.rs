//! The picture of a terminal in the README, generated from the output of the program.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use unicode_width::UnicodeWidthStr;

/// Width of a character in pixels.
const WIDTH: f64 = 8.4;
const HEIGHT: usize = 20;
const MARGIN: usize = 20;

#[test]
fn picture_is_fresh() {
    let picture = draw(&printed());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/terminal.svg");
    if env::var_os("BLESS").is_some() {
        fs::write(&path, &picture).expect("it can be written");
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == picture,
        "docs/terminal.svg is stale: BLESS=1 cargo test -p conformance --test suite picture"
    );
}

/// Returns a stream that breaks clients: without `response.content_part.added`, and numbered without a gap.
fn recording() -> String {
    let golden = include_str!("../../../spec/apis/responses/goldens/openai/text.sse");
    let frames =
        golden.split_inclusive("\n\n").filter(|frame| !frame.contains("response.content_part.added"));
    let renumbered = frames.enumerate().map(|(number, frame)| {
        let (before, after) = frame.split_once("\"sequence_number\":").expect("each event has a number");
        let rest = after.trim_start_matches(|digit: char| digit.is_ascii_digit());
        format!("{before}\"sequence_number\":{number}{rest}")
    });
    renumbered.collect()
}

/// Returns the report of that stream.
fn printed() -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("picture");
    fs::create_dir_all(&folder).expect("it can be made");
    fs::write(folder.join("stream.sse"), recording()).expect("it can be written");
    let args = ["check", "stream.sse", "--color", "always"];
    let output = Command::new(env!("CARGO_BIN_EXE_conformance"))
        .args(args)
        .current_dir(folder)
        .output()
        .expect("the program starts");
    let text = [output.stderr, output.stdout].concat();
    let text = String::from_utf8(text).expect("what it prints is UTF-8");
    assert!(text.contains("broken: openai-"), "the picture shows clients that break: {text}");
    format!("\x1b[2m$\x1b[0m conformance {}\n{text}", args[..2].join(" "))
}

/// Draws lines with the escapes of a terminal as SVG.
fn draw(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let plain = |line: &str| pieces(line).iter().map(|(_, text)| text.width()).sum::<usize>();
    let columns = lines.iter().map(|line| plain(line)).max().unwrap_or_default();
    #[expect(clippy::cast_precision_loss, reason = "a screen has few columns")]
    let pixels = |columns: usize| (columns as f64 * WIDTH).round();
    let (width, height) = (pixels(columns) + 2.0 * 20.0, lines.len() * HEIGHT + 2 * MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" aria-label=\"conformance check in a terminal\">\n\
         <style>text {{ font: 14px ui-monospace, Menlo, Consolas, \"Liberation Mono\", monospace; fill: #d8dee6; white-space: pre; }} \
         .b {{ font-weight: bold; }} .dim {{ fill: #8792a0; }} .red {{ fill: #ff8a80; }} .green {{ fill: #74cf9b; }} .yellow {{ fill: #e9b85f; }} .blue {{ fill: #86b7f2; }} .cyan {{ fill: #7fd0d6; }}</style>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"10\" fill=\"#171b21\"/>\n"
    );
    for (number, line) in lines.iter().enumerate() {
        let y = MARGIN + number * HEIGHT + 14;
        let mut at = 0;
        for (class, text) in pieces(line) {
            let columns = text.width();
            if !text.trim().is_empty() {
                let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
                let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
                let (x, length) = (pixels(at) + 20.0, pixels(columns));
                let _ = writeln!(
                    svg,
                    "<text x=\"{x}\" y=\"{y}\" textLength=\"{length}\"{class}>{escaped}</text>"
                );
            }
            at += columns;
        }
    }
    svg + "</svg>\n"
}

/// Returns the pieces of a line, with the classes of their styles.
fn pieces(line: &str) -> Vec<(&'static str, &str)> {
    let mut parts = line.split("\x1b[");
    let mut pieces = vec![("", parts.next().unwrap_or_default())];
    for part in parts {
        let (code, text) = part.split_once('m').expect("it is a style");
        let class = match code {
            "0" => "",
            "1" => "b",
            "2" => "dim",
            "1;31" => "b red",
            "31" => "red",
            "1;32" => "b green",
            "32" => "green",
            "1;33" => "b yellow",
            "33" => "yellow",
            "1;34" => "b blue",
            "1;36" => "b cyan",
            other => panic!("the picture has no style for {other}"),
        };
        pieces.push((class, text));
    }
    pieces
}

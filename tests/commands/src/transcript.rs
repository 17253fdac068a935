//! The text of a test: prose, commands, and what they print.

use std::fmt::{self, Display};

/// A line that stands for any lines.
const ANY: &str = "...";

/// A test: its lines of prose, and its steps.
#[derive(Debug, Clone)]
pub(crate) struct Transcript(Vec<Part>);

#[derive(Debug, Clone)]
enum Part {
    Prose(String),
    Step(Step),
}

/// A command, and what it prints.
#[derive(Debug, Clone, Default)]
pub(crate) struct Step {
    pub(crate) command: Vec<String>,
    output: Vec<String>,
}

/// What a command printed.
#[derive(Debug, Clone)]
pub(crate) struct Printed {
    pub(crate) lines: Vec<String>,
    pub(crate) code: i32,
}

impl Transcript {
    /// Reads a test: commands follow `  $ `, their other lines `  > `, and what they print is indented, too.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut parts: Vec<Part> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let indented = line.strip_prefix("  ");
            match (indented, parts.last_mut()) {
                (Some(line), _) if line.starts_with("$ ") => {
                    parts.push(Part::Step(Step { command: vec![line[2..].to_owned()], output: Vec::new() }));
                }
                (Some(line), Some(Part::Step(step))) if step.output.is_empty() && is_more(line) => {
                    step.command.push(line.get(2..).unwrap_or_default().to_owned());
                }
                (Some(line), Some(Part::Step(step))) => step.output.push(line.to_owned()),
                (Some(_), _) => return Err(format!("line {}: no command prints it", number + 1)),
                (None, Some(Part::Step(step))) if line.is_empty() => step.output.push(String::new()),
                (None, _) => parts.push(Part::Prose(line.to_owned())),
            }
        }
        for part in &mut parts {
            if let Part::Step(step) = part {
                drop_empty_end(&mut step.output);
            }
        }
        let transcript = Self(parts);
        if transcript.steps().next().is_none() {
            return Err("it runs no command".to_owned());
        }
        Ok(transcript)
    }

    pub(crate) fn steps(&self) -> impl Iterator<Item = &Step> {
        self.0.iter().filter_map(|part| match part {
            Part::Step(step) => Some(step),
            Part::Prose(_) => None,
        })
    }

    /// Returns the test with this output. What `...` stands for stays away.
    pub(crate) fn with(&self, printed: &[Printed]) -> Result<Self, String> {
        let mut printed = printed.iter();
        let mut parts = self.0.clone();
        for part in &mut parts {
            let Part::Step(step) = part else { continue };
            let found = printed.next().ok_or_else(|| format!("`{}` did not run", step.command.join("\n")))?;
            let mut lines = found.lines.clone();
            if found.code != 0 {
                lines.push(format!("[{}]", found.code));
            }
            drop_empty_end(&mut lines);
            if let Some(line) = lines.iter().find(|line| line.starts_with("$ ")) {
                return Err(format!("{line:?} cannot be told from a command: filter it out"));
            }
            // What `lines` and `edit` print if a text is missing.
            if let Some(line) = lines.iter().find(|line| line.starts_with("no line has: ")) {
                return Err(format!("{}\n{line}\n{}", step.command.join("\n"), found.lines.join("\n")));
            }
            if !matches(&step.output, &lines) {
                step.output = elide(&step.output, lines);
            }
        }
        Ok(Self(parts))
    }
}

fn is_more(line: &str) -> bool {
    line.starts_with("> ") || line == ">"
}

fn drop_empty_end(lines: &mut Vec<String>) {
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
}

/// Returns whether the lines are those that are expected.
fn matches(expected: &[String], mut lines: &[String]) -> bool {
    let mut blocks: Vec<&[String]> = expected.split(|line| line == ANY).collect();
    let (Some(last), true) = (blocks.pop(), !blocks.is_empty()) else { return expected == lines };
    for (number, block) in blocks.into_iter().enumerate() {
        let is_there = |at: &usize| lines.get(*at..).is_some_and(|rest| rest.starts_with(block));
        let furthest = if number == 0 { 0 } else { lines.len() };
        let Some(at) = (0..=furthest).find(is_there) else { return false };
        lines = &lines[at + block.len()..];
    }
    lines.ends_with(last)
}

/// Puts `...` again where it stood, if the lines around it are still there.
fn elide(expected: &[String], mut lines: Vec<String>) -> Vec<String> {
    let mut from = 0;
    for (at, _) in expected.iter().enumerate().filter(|(_, line)| *line == ANY) {
        let before = at.checked_sub(1).map(|at| &expected[at]);
        let start = match before {
            None => Some(from),
            Some(before) => lines.iter().skip(from).position(|line| line == before).map(|at| from + at + 1),
        };
        let Some(start) = start else { continue };
        let end = match expected.get(at + 1) {
            None => Some(lines.len()),
            Some(after) => lines.iter().skip(start).position(|line| line == after).map(|at| start + at),
        };
        let Some(end) = end else { continue };
        lines.splice(start..end, [ANY.to_owned()]);
        from = start + 1;
    }
    lines
}

impl Display for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = self.0.iter().peekable();
        while let Some(part) = parts.next() {
            match part {
                Part::Prose(line) => writeln!(f, "{line}")?,
                Part::Step(step) => {
                    for (number, line) in step.command.iter().enumerate() {
                        let mark = if number == 0 { "$" } else { ">" };
                        writeln!(f, "{}", format!("  {mark} {line}").trim_end())?;
                    }
                    for line in &step.output {
                        writeln!(f, "{}", format!("  {line}").trim_end())?;
                    }
                    if matches!(parts.peek(), Some(Part::Prose(_))) {
                        writeln!(f)?;
                    }
                }
            }
        }
        Ok(())
    }
}

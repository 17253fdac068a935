//! Suggested steps after a run.

use super::{BetweenRun, BetweenTest};
use crate::{Step, Verdict, shell_word};

/// The mode of a gateway that answers itself.
const LOCAL: &str = "local";

impl BetweenRun {
    /// Returns the URL that a repetition names: without one, a command listens on a port of the suite's choice.
    pub fn named_url(&self) -> Option<&str> {
        self.given_url.as_deref().or_else(|| self.command.is_empty().then_some(&*self.url))
    }

    /// The command that runs tests with these names again, with more flags.
    pub fn command_for(&self, names: &[&str], flags: &[&str]) -> String {
        let mut words = vec!["conformance between".to_owned()];
        words.extend(names.iter().map(|name| shell_word(name).into_owned()));
        words.extend(flags.iter().map(|flag| (*flag).to_owned()));
        if !self.is_reference {
            words.extend(self.named_url().map(|url| format!("--gateway {}", shell_word(url))));
            if let Some(port) = self.upstream_port {
                words.push(format!("--upstream-port {port}"));
            }
            words.push(format!("--model {}", shell_word(&self.model)));
        }
        if !self.profiles.is_empty() {
            let names: Vec<&str> = self.profiles.iter().map(String::as_str).collect();
            words.push(format!("--profile {}", shell_word(&names.join(","))));
        }
        words.extend(self.sessions.iter().map(|path| format!("--session {}", shell_word(path))));
        let is_local = !self.pairs.is_empty() && self.pairs.iter().all(|pair| pair.mode == LOCAL);
        let modes: Vec<String> = self
            .pairs
            .iter()
            .filter(|pair| pair.mode != "transform")
            .map(|pair| format!("{}-{}={}", pair.front, pair.upstream, pair.mode))
            .collect();
        if is_local {
            words.push(format!("--mode {LOCAL}"));
        } else if !modes.is_empty() {
            words.push(format!("--mode {}", shell_word(&modes.join(","))));
        }
        // Of the reference translator, only its tests are named without --self.
        if self.is_reference && !flags.is_empty() {
            words.push("--self".to_owned());
        }
        for (flag, milliseconds) in [("--timeout", self.timeout), ("--limit", self.limit)] {
            words.extend(milliseconds.map(|milliseconds| format!("{flag} {}", time(milliseconds))));
        }
        words.extend(self.declared.flags());
        if !self.command.is_empty() {
            words.push("--".to_owned());
            words.extend(self.command.iter().map(|word| shell_word(word).into_owned()));
        }
        words.join(" ")
    }

    /// The command that runs one test again.
    pub fn command_of(&self, test: &BetweenTest) -> String {
        self.command_for(&[&test.name], &[])
    }

    /// Suggested steps.
    pub fn next(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        let Some(first) = self.failed().next() else { return steps };
        if let Some(cause) = self.causes.first().filter(|cause| cause.fails) {
            steps.push(Step::new(
                format!("show what {} demands, and why", cause.rule),
                format!("conformance explain {}", shell_word(&cause.rule)),
            ));
        }
        match &self.folder {
            Some(folder) => steps.push(Step::new(
                "run only the failed tests again",
                format!("conformance between --rerun-failed {}", shell_word(folder)),
            )),
            None if first.verdict == Verdict::Fail => {
                let command = self.command_for(&[&first.name], &["--out between/"]);
                steps.push(Step::new("record what both sides send and receive", command));
            }
            None => {}
        }
        steps
    }
}

fn time(milliseconds: u64) -> String {
    match milliseconds % 1000 {
        0 => format!("{}s", milliseconds / 1000),
        _ => format!("{milliseconds}ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_repeats_the_url_and_the_limits_of_its_run() {
        let mut run = BetweenRun {
            url: "http://127.0.0.1:4000/v1".to_owned(),
            command: vec!["my-gateway".to_owned()],
            model: "m".to_owned(),
            // A word of the command is none of the run.
            typed: Some("conformance between -- my-gateway --gateway x".to_owned()),
            ..BetweenRun::default()
        };
        assert_eq!(run.command_for(&["a"], &[]), "conformance between a --model m -- my-gateway");
        (run.timeout, run.limit) = (Some(3000), Some(500));
        run.given_url = Some("http://127.0.0.1:4000".to_owned());
        assert_eq!(
            run.command_for(&["a"], &[]),
            "conformance between a --gateway http://127.0.0.1:4000 --model m --timeout 3s --limit 500ms -- my-gateway"
        );
    }
}

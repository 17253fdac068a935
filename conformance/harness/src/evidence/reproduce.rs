//! The command that repeats a run.

use std::fmt::Write as _;
use std::time::Duration;

use super::folder::DIALECT;
use super::run_file::RunFile;
use crate::wire::Limits;
use recordings::capture::REDACTED;
use results::{FailOn, LevelChange, Transport, shell_word};

/// Returns the command that repeats a run, and keeps it in a folder if one is given.
pub(crate) fn command(run: &RunFile, out: Option<&str>) -> String {
    let options = &run.options;
    let mut command = "conformance run".to_owned();
    let dialect = match run.dialect_folder {
        Some(_) => format!("./{DIALECT}/{}", run.dialect),
        None => run.dialect.clone(),
    };
    if !run.is_reference {
        let _ = write!(command, " --target {}", quoted(&run.target));
    }
    let _ = write!(command, " --dialect {} --model {}", quoted(&dialect), quoted(&run.model));
    for name in &options.headers {
        let _ =
            write!(command, " --header {}\"${}\"", quoted(&format!("{name}: ")), variable("HEADER", name));
    }
    if run.has_directives && !run.is_reference {
        command += " --directives";
    }
    for (name, value) in &options.given {
        let _ = if value == REDACTED {
            write!(command, " --given {}\"${}\"", quoted(&format!("{name}=")), variable("GIVEN", name))
        } else {
            write!(command, " --given {}", quoted(&format!("{name}={value}")))
        };
    }
    if options.has_authorities {
        command += " --ca-file \"$CA_FILE\"";
    }
    let mut add = |flag: &str, value: &str| {
        // Writing to a string cannot fail.
        let _ = write!(command, " --{flag} {}", quoted(value));
    };
    let lists = [("profile", &options.profiles), ("select", &options.select), ("ignore", &options.ignore)];
    for (flag, values) in lists.into_iter().filter(|(_, values)| !values.is_empty()) {
        add(flag, &values.join(","));
    }
    let usual: &[Transport] =
        if run.is_reference { &Transport::ALL } else { &[Transport::Sse, Transport::Json] };
    if options.transports != usual {
        let names: Vec<&str> = options.transports.iter().map(|transport| transport.name()).collect();
        add("transport", &names.join(","));
    }
    if let Some(features) = &options.features {
        add("features", &features.join(","));
    }
    if !options.lacks.is_empty() {
        add("without", &options.lacks.join(","));
    }
    for (flag, value, usual) in
        [("attempts", options.attempts, 3), ("jobs", options.jobs, 1), ("concurrent", options.concurrent, 1)]
    {
        if value != usual {
            add(flag, &value.to_string());
        }
    }
    let limits = Limits::default();
    for (flag, value, usual) in [
        ("delay", options.delay_ms, Duration::ZERO),
        ("connect-timeout", options.connect_ms, limits.connect),
        ("first-event-timeout", options.first_event_ms, limits.first_event),
        ("idle-timeout", options.idle_ms, limits.idle),
        ("timeout", options.total_ms, limits.total),
    ] {
        if value != usual.as_millis() {
            add(flag, &format!("{value}ms"));
        }
    }
    if options.bytes != limits.bytes {
        add("max-bytes", &options.bytes.to_string());
    }
    let fail_on = options.fail_on();
    if fail_on != FailOn::default() {
        add("fail-on", fail_on.name());
    }
    let level = |change: &LevelChange| format!("{}={}", change.rule, change.level.name());
    if !options.levels.is_empty() {
        add("rule", &options.levels.iter().map(level).collect::<Vec<_>>().join(","));
    }
    if run.is_seed_given {
        add("seed", &run.seed);
    }
    if let Some(bytes) = options.max_total_bytes {
        add("max-total-bytes", &bytes.to_string());
    }
    if let Some(time) = options.max_total_ms {
        add("max-total-time", &format!("{time}ms"));
    }
    for word in &options.filters.without {
        add("skip", word);
    }
    if let Some(shard) = options.filters.shard {
        add("shard", &shard.to_string());
    }
    if options.filters.exact {
        command += " --exact";
    }
    if let Some(out) = out {
        let _ = write!(command, " --out {}", quoted(out));
    }
    if !options.filters.with.is_empty() {
        command += " --";
        for word in &options.filters.with {
            let _ = write!(command, " {}", quoted(word));
        }
    }
    command
}

fn variable(prefix: &str, name: &str) -> String {
    let upper = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    format!("{prefix}_{}", name.chars().map(upper).collect::<String>())
}

/// Quotes a word for a shell. The command stays in one line.
fn quoted(word: &str) -> String {
    let printable: String = word.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    shell_word(&printable).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_words() {
        assert_eq!(quoted("it's\n"), r"'it'\''s?'");
    }
}

//! The command that repeats a run.

use std::fmt::Write as _;

use super::folder::DIALECT;
use super::run_file::RunFile;
use recordings::capture::REDACTED;
use results::{Options, Transport, shell_word};

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
    let mut usual = Options::usual();
    if run.is_reference {
        usual.transports = Transport::ALL.to_vec();
    }
    for (flag, value) in options.flags(&usual) {
        add(flag, &value);
    }
    if run.is_seed_given {
        add("seed", &run.seed);
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

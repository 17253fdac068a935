//! `codegen new`: skeletons of what the specification is made of.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::formats::Role;
use crate::scaffold;
use crate::todo::MARK;

/// Writes the skeleton of an event, a rule, a dialect or a scenario, and says what to do next.
#[derive(Debug, Args)]
pub struct NewArgs {
    #[command(subcommand)]
    what: What,
    /// The folder of the specification.
    #[arg(long, value_name = "PATH", default_value = "spec", global = true)]
    spec_dir: PathBuf,
}

#[derive(Debug, Subcommand)]
enum What {
    /// An event of a dialect.
    Event {
        /// Its type on the wire.
        #[arg(value_name = "TYPE")]
        name: String,
        /// The dialect that has it.
        #[arg(long, value_name = "NAME")]
        dialect: String,
        /// The scope it happens in.
        #[arg(long)]
        scope: String,
        /// What it does there: open, delta, final, close, phase, terminal or point.
        #[arg(long, value_parser = role)]
        role: Role,
    },
    /// A rule.
    Rule {
        /// Its id.
        #[arg(value_name = "GROUP/NAME")]
        id: String,
    },
    /// A dialect.
    Dialect {
        /// Its name.
        name: String,
        /// The dialect that it only differs from.
        #[arg(long, value_name = "NAME")]
        extends: Option<String>,
    },
    /// A scenario.
    Scenario {
        /// Its id.
        #[arg(value_name = "GROUP/NAME")]
        id: String,
    },
}

fn role(text: &str) -> Result<Role, String> {
    serde_json::from_value(text.into()).map_err(|error| error.to_string())
}

impl NewArgs {
    /// Writes the skeleton.
    ///
    /// # Errors
    ///
    /// Fails when the name cannot be used, or is taken.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let spec = &self.spec_dir;
        let skeleton = match &self.what {
            What::Event { name, dialect, scope, role } => scaffold::event(spec, name, dialect, scope, *role),
            What::Rule { id } => scaffold::rule(spec, id),
            What::Dialect { name, extends } => scaffold::dialect(spec, name, extends.as_deref()),
            What::Scenario { id } => scaffold::scenario(spec, id),
        }?;
        skeleton.write(spec)?;
        let mut stdout = std::io::stdout().lock();
        for (path, _) in skeleton.files.iter().chain(&skeleton.edited) {
            writeln!(stdout, "wrote {}", spec.join(path).display())?;
        }
        writeln!(stdout, "next:")?;
        for step in &skeleton.next {
            writeln!(stdout, "  - {step}")?;
        }
        writeln!(stdout, "what is to be filled in is marked {MARK}, and `codegen check` names each place")?;
        Ok(ExitCode::SUCCESS)
    }
}

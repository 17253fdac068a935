//! `codegen new`: skeletons of what the specification is made of.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, Subcommand};

use crate::SpecFiles;
use crate::formats::Role;
use crate::scaffold;
use crate::todo::MARK;

/// Writes the skeleton of an event, a rule, a dialect, a scenario or a case for clients, and says what to do next.
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
        /// The scope it happens in; `codegen list scopes` says which there are.
        #[arg(long)]
        scope: Option<String>,
        /// What it does there; `codegen list roles` says what each does.
        #[arg(long)]
        role: Option<String>,
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
    /// A case for clients.
    Client {
        /// Its id.
        #[arg(value_name = "GROUP/NAME")]
        id: String,
    },
}

/// The scope and the role that were given; the error says which there are.
fn place(spec: &Path, scope: Option<&str>, role: Option<&str>) -> anyhow::Result<(String, Role)> {
    let scopes = SpecFiles::load(spec)?.scopes.scopes;
    let names: Vec<&str> = scopes.keys().map(String::as_str).collect();
    let roles = super::list::roles();
    let known = role.and_then(|role| serde_json::from_value(role.into()).ok());
    let mut wrong = Vec::new();
    match scope {
        Some(scope) if scopes.contains_key(scope) => {}
        Some(scope) => wrong.push(format!("there is no scope \"{scope}\"")),
        None => wrong.push("--scope is missing".to_owned()),
    }
    match (role, known) {
        (_, Some(_)) => {}
        (Some(role), None) => wrong.push(format!("there is no role \"{role}\"")),
        (None, None) => wrong.push("--role is missing".to_owned()),
    }
    match (scope, known) {
        (Some(scope), Some(role)) if wrong.is_empty() => Ok((scope.to_owned(), role)),
        _ => bail!(
            "{}\n  scopes: {}\n  roles: {}\n  `codegen list scopes` and `codegen list roles` say what they are",
            wrong.join(", and "),
            names.join(", "),
            roles.join(", ")
        ),
    }
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
            What::Event { name, dialect, scope, role } => {
                let (scope, role) = place(spec, scope.as_deref(), role.as_deref())?;
                scaffold::event(spec, name, dialect, &scope, role)
            }
            What::Rule { id } => scaffold::rule(spec, id),
            What::Dialect { name, extends } => scaffold::dialect(spec, name, extends.as_deref()),
            What::Scenario { id } => scaffold::scenario(spec, id),
            What::Client { id } => scaffold::client(spec, id),
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

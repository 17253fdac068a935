//! `codegen new`: writes skeletons of new files of the specification.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{bail, ensure};
use clap::{Args, Subcommand};

use crate::SpecFiles;
use crate::dialect;
use crate::formats::Role;
use crate::scaffold;
use crate::todo::MARK;

/// Writes the skeleton of an event, a rule, a dialect, a scenario or a case for clients, and prints the next steps.
#[derive(Debug, Args)]
pub struct NewArgs {
    #[command(subcommand)]
    what: What,
    /// Folder of the specification.
    #[arg(long, value_name = "PATH", default_value = "spec", global = true)]
    spec_dir: PathBuf,
}

#[derive(Debug, Subcommand)]
enum What {
    /// An event of a dialect.
    Event {
        /// Type on the wire.
        #[arg(value_name = "TYPE")]
        name: String,
        /// Dialect that defines it.
        #[arg(long, value_name = "NAME")]
        dialect: String,
        /// Scope of the event; see `codegen list scopes`.
        #[arg(long)]
        scope: Option<String>,
        /// Role in the scope; see `codegen list roles`.
        #[arg(long)]
        role: Option<String>,
    },
    /// A rule.
    Rule(Page),
    /// A dialect.
    Dialect {
        /// Name.
        name: String,
        /// Dialect that it extends.
        #[arg(long, value_name = "NAME", conflicts_with = "api")]
        extends: Option<String>,
        /// API that it belongs to, a folder of `apis/` [default: responses].
        #[arg(long, value_name = "NAME")]
        api: Option<String>,
    },
    /// A scenario.
    Scenario(Page),
    /// A case for clients.
    Client(Page),
}

#[derive(Debug, Args)]
struct Page {
    /// Id.
    #[arg(value_name = "GROUP/NAME")]
    id: String,
    /// API that it belongs to, a folder of `apis/` [default: none if all share its group, or else responses].
    #[arg(long, value_name = "NAME")]
    api: Option<String>,
}

/// Parses the scope and the role; the error lists the possible values.
fn place(
    spec: &Path,
    dialect: &str,
    scope: Option<&str>,
    role: Option<&str>,
) -> anyhow::Result<(String, Role)> {
    let files = SpecFiles::load(spec)?;
    let known = dialect::list(spec)?.iter().any(|known| known == dialect);
    ensure!(known, "there is no dialect \"{dialect}\"");
    let dialect = dialect::load(spec, dialect)?;
    let scopes = &files.api_of(&dialect).map_err(anyhow::Error::msg)?.scopes;
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
            "{}\n  scopes: {}\n  roles: {}\n  `codegen list scopes` and `codegen list roles` describe them",
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
    /// Fails if the name is invalid or exists.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let spec = &self.spec_dir;
        let skeleton = match &self.what {
            What::Event { name, dialect, scope, role } => {
                let (scope, role) = place(spec, dialect, scope.as_deref(), role.as_deref())?;
                scaffold::event(spec, name, dialect, &scope, role)
            }
            What::Rule(Page { id, api }) => scaffold::rule(spec, api.as_deref(), id),
            What::Dialect { name, extends: Some(parent), .. } => scaffold::extension(spec, name, parent),
            What::Dialect { name, api, .. } => scaffold::dialect(spec, name, api.as_deref()),
            What::Scenario(Page { id, api }) => scaffold::scenario(spec, api.as_deref(), id),
            What::Client(Page { id, api }) => scaffold::client(spec, api.as_deref(), id),
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
        writeln!(stdout, "places to fill in are marked {MARK}; `codegen check` lists them")?;
        Ok(ExitCode::SUCCESS)
    }
}

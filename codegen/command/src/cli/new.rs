//! `codegen new`: writes skeletons of new files of the specification.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, Subcommand};
use codegen::SpecFiles;
use codegen::dialect;
use codegen::formats::{ApiFile, Role, Scope};
use codegen::todo::MARK;

use crate::nearest::is_dialect;
use crate::scaffold;

/// Writes the skeleton of an event, a rule, a dialect, a scenario or a case for clients, and prints the next steps.
#[derive(Debug, Args)]
pub(super) struct NewArgs {
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

type ScopeOfApi<'a> = (&'a String, &'a Scope);

fn place<'a>(
    api: &'a ApiFile,
    scope: Option<&str>,
    role: Option<&str>,
) -> anyhow::Result<(ScopeOfApi<'a>, Role)> {
    let scopes = &api.scopes;
    let names: Vec<&str> = scopes.keys().map(String::as_str).collect();
    let roles = Role::ALL.map(Role::name);
    let known = role.and_then(|role| Role::ALL.into_iter().find(|known| known.name() == role));
    let mut wrong = Vec::new();
    let found = scope.and_then(|scope| scopes.get_key_value(scope));
    match scope {
        _ if found.is_some() => {}
        Some(scope) => wrong.push(format!("there is no scope \"{scope}\"")),
        None => wrong.push("--scope is missing".to_owned()),
    }
    match (role, known) {
        (_, Some(_)) => {}
        (Some(role), None) => wrong.push(format!("there is no role \"{role}\"")),
        (None, None) => wrong.push("--role is missing".to_owned()),
    }
    match (found, known) {
        (Some(found), Some(role)) => Ok((found, role)),
        _ => bail!(
            "{}\n  scopes: {}\n  roles: {}\n  `codegen list scopes` and `codegen list roles` describe them",
            wrong.join(", and "),
            names.join(", "),
            roles.join(", ")
        ),
    }
}

impl NewArgs {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let spec = &self.spec_dir;
        let skeleton = match &self.what {
            What::Event { name, dialect, scope, role } => {
                let files = SpecFiles::load(spec)?;
                is_dialect(dialect, &dialect::list(spec)?)?;
                let dialect = dialect::load(spec, dialect)?;
                let api = files.api_of(&dialect).map_err(anyhow::Error::msg)?;
                let (scope, role) = place(api, scope.as_deref(), role.as_deref())?;
                scaffold::event(name, &dialect, api, scope, role)
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

//! `codegen list`: lists the values that the files of the specification can refer to.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use codegen::formats::{ApiFile, Role};
use codegen::{SpecFiles, dialect};

/// Lists the values of `x-lifecycle` in events and of the options of `new`.
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// The kind of entry to list; without it, the kinds are listed.
    #[arg(value_enum)]
    what: Option<What>,
    /// Folder of the specification.
    #[arg(long, value_name = "PATH", default_value = "spec")]
    spec_dir: PathBuf,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum What {
    /// Scopes of a stream, with their parents.
    Scopes,
    /// Roles of an event in its scope.
    Roles,
    /// Dialects.
    Dialects,
}

impl ListArgs {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let mut stdout = std::io::stdout().lock();
        let Some(what) = self.what else {
            for what in What::value_variants().iter().filter_map(ValueEnum::to_possible_value) {
                let help = what.get_help().map(ToString::to_string).unwrap_or_default();
                writeln!(stdout, "{:10}{help}", what.get_name())?;
            }
            return Ok(ExitCode::SUCCESS);
        };
        let rows: Vec<(String, String)> = match what {
            What::Scopes => SpecFiles::load(&self.spec_dir)?.apis.values().flat_map(scopes).collect(),
            What::Roles => {
                ROLES.iter().map(|(role, text)| (role.name().to_owned(), (*text).to_owned())).collect()
            }
            What::Dialects => {
                let names = dialect::list(&self.spec_dir)?.into_iter();
                let summary = |name: String| {
                    let dialect = dialect::open(&self.spec_dir, &name, dialect::Errata::Applied)?;
                    Ok((name, dialect.own.summary))
                };
                names.map(summary).collect::<anyhow::Result<_>>()?
            }
        };
        let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
        for (name, text) in rows {
            writeln!(stdout, "{name:width$}  {text}")?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

const ROLES: &[(Role, &str)] = &[
    (Role::Open, "Opens the scope, like response.output_item.added."),
    (Role::Delta, "Appends a delta to the value at `value`."),
    (Role::Final, "States the final value at `value`."),
    (Role::Close, "Closes the scope, like response.output_item.done."),
    (Role::Phase, "Begins the phase in `phase`."),
    (Role::Terminal, "Ends the response."),
    (Role::Point, "Occurs in the scope without changing it."),
];

fn scopes(file: &ApiFile) -> Vec<(String, String)> {
    let text = |scope: &codegen::formats::Scope| {
        let parent = scope.parent.as_ref().map(|parent| match scope.of.as_slice() {
            [] => format!(" In: {parent}."),
            of => format!(" In: {parent} ({}).", of.join(", ")),
        });
        let phases: Vec<&str> = scope.phases.iter().chain(&scope.ends).map(String::as_str).collect();
        let phases = (!phases.is_empty()).then(|| format!(" Phases: {}.", phases.join(", ")));
        [scope.description.clone(), parent.unwrap_or_default(), phases.unwrap_or_default()].concat()
    };
    file.scopes.iter().map(|(name, scope)| (name.clone(), text(scope))).collect()
}

//! `conformance vector`: prints a legal stream by its number.

use std::process::ExitCode;

use anyhow::{Context, anyhow};
use clap::Args;
use grammar::{Enumeration, Grammar, words};

use super::list;
use crate::cli::input::{known, names};
use crate::cli::{CommandArgs, print};

/// Prints a legal stream by its number.
///
/// Every legal stream within bounds has the name of an enumeration and a number, by which it is made again. Pipe it into
/// `conformance check -`, or play it to your client.
#[derive(Debug, Args)]
pub(in crate::cli) struct VectorArgs {
    /// Enumeration and number of the stream, such as responses#10482; without it, what is enumerated.
    #[arg(value_name = "NAME#NUMBER", value_parser = known::ENUMERATIONS, hide_possible_values = true)]
    stream: Option<String>,
    /// Print the steps of the stream in words, one event a line.
    #[arg(long)]
    steps: bool,
}

impl CommandArgs for VectorArgs {
    fn run(self) -> anyhow::Result<ExitCode> {
        let Some(asked) = &self.stream else { return list::ListArgs::vectors().run() };
        let (name, number) = asked.split_once('#').unwrap_or((asked, ""));
        let all = Enumeration::all();
        let of = all.iter().find(|of| of.name == name).ok_or_else(|| {
            let hint = names::meant(name, all.iter().map(|of| &*of.name));
            anyhow!("there is no enumeration \"{name}\"{hint}; `conformance list vectors` lists them all")
        })?;
        let count = of.count;
        let number = number.parse().ok().filter(|number| (1..=count).contains(number));
        let number = number.with_context(|| {
            format!("\"{asked}\" names no stream: those of {name} are {name}#1 to {name}#{count}")
        })?;
        let grammar = Grammar::of(names::dialect(&of.dialect)?);
        let mut streams = of.streams(&grammar, of.full);
        let stream =
            streams.nth(number - 1).ok_or_else(|| anyhow!("{name} has less than {count} streams"))?;
        let steps = || stream.iter().map(|event| words(event) + "\n").collect();
        print(&if self.steps { steps() } else { grammar.write(&stream) })?;
        Ok(ExitCode::SUCCESS)
    }
}

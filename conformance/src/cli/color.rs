//! Detection of the capabilities of the terminal.

use std::env;
use std::io::IsTerminal;

use clap::ValueEnum;

use reports::{Screen, Style};

/// When to use color.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub(super) enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Color {
    pub(super) fn screen(self, stream: &(impl IsTerminal + Descriptor)) -> Screen {
        let is_set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = || env::var_os("TERM").is_some_and(|kind| kind == "dumb");
        let wanted = match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => stream.is_terminal() && !is_set("NO_COLOR") && !is_dumb(),
        };
        let width = terminal_size::terminal_size_of(stream)
            .map(|(terminal_size::Width(columns), _)| usize::from(columns))
            .filter(|columns| *columns > 0);
        Screen {
            style: if wanted { Style::Colour } else { Style::Plain },
            width: width.unwrap_or(Screen::USUAL_WIDTH),
        }
    }
}

#[cfg(unix)]
pub(super) use std::os::fd::AsFd as Descriptor;
#[cfg(windows)]
pub(super) use std::os::windows::io::AsHandle as Descriptor;

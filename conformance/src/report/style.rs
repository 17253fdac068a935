//! How what is told looks.

use catalogue::Level;

use super::run::Outcome;

/// Whether to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Text alone.
    Plain,
    /// With the escapes of a terminal.
    Colour,
}

/// What the findings are shown on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screen {
    /// Whether it has colours.
    pub style: Style,
    /// How many columns it has.
    pub width: usize,
}

impl Screen {
    /// So many columns has what does not say how many it has, such as a file.
    pub const USUAL_WIDTH: usize = 120;
    /// With fewer columns nothing can be shown; what is narrower has to break the lines itself.
    pub const LEAST_WIDTH: usize = 40;
}

impl From<Style> for Screen {
    fn from(style: Style) -> Self {
        Self { style, width: Self::USUAL_WIDTH }
    }
}

impl Style {
    fn paint(self, code: &str, text: &str) -> String {
        match self {
            Self::Colour if !text.is_empty() => format!("\x1b[{code}m{text}\x1b[0m"),
            _ => text.to_owned(),
        }
    }

    pub(crate) fn frame(self, text: &str) -> String {
        self.paint("1;34", text)
    }

    pub(super) fn good(self, text: &str) -> String {
        self.paint("1;32", text)
    }

    pub(super) fn outcome(self, outcome: Outcome, text: &str) -> String {
        match outcome {
            Outcome::Passed => self.good(text),
            Outcome::Failed => self.level(Level::Must, text),
            Outcome::Incomplete => self.level(Level::Should, text),
        }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    #[cfg(feature = "cli")]
    pub(crate) fn added(self, text: &str) -> String {
        self.paint("32", text)
    }

    #[cfg(feature = "cli")]
    pub(crate) fn removed(self, text: &str) -> String {
        self.paint("31", text)
    }

    #[cfg(feature = "cli")]
    pub(crate) fn changed(self, text: &str) -> String {
        self.paint("33", text)
    }

    pub(crate) fn level(self, level: Level, text: &str) -> String {
        let code = match level {
            Level::Must => "1;31",
            Level::Should => "1;33",
            Level::May | Level::Off => "1;36",
        };
        self.paint(code, text)
    }
}

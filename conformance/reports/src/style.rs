//! Styles of text output.

use catalogue::Level;

use results::Outcome;

/// Whether to use color.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Plain text.
    Plain,
    /// With terminal escapes.
    Colour,
}

/// The amount of detail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Detail {
    /// The lowest level to show.
    pub level: Level,
    /// Whether to show every finding and table instead of one finding for each cause.
    pub is_verbose: bool,
}

impl From<Level> for Detail {
    fn from(level: Level) -> Self {
        Self { level, is_verbose: false }
    }
}

/// The output device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screen {
    /// Whether it supports color.
    pub style: Style,
    /// Its number of columns.
    pub width: usize,
}

impl Screen {
    /// Number of columns of unknown devices, such as files.
    pub const USUAL_WIDTH: usize = 120;
    /// Minimum number of columns.
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

    /// Styles the frame of quoted lines.
    pub fn frame(self, text: &str) -> String {
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

    /// Styles emphasized text.
    pub fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// Styles added text.
    pub fn added(self, text: &str) -> String {
        self.paint("32", text)
    }

    /// Styles removed text.
    pub fn removed(self, text: &str) -> String {
        self.paint("31", text)
    }

    /// Styles changed text.
    pub fn changed(self, text: &str) -> String {
        self.paint("33", text)
    }

    /// Styles a text in the color of a level.
    pub fn level(self, level: Level, text: &str) -> String {
        let code = match level {
            Level::Must => "1;31",
            Level::Should => "1;33",
            Level::May | Level::Off => "1;36",
        };
        self.paint(code, text)
    }
}

//! How what is told looks.

use catalogue::Level;

use results::Outcome;

/// Whether to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Text alone.
    Plain,
    /// With the escapes of a terminal.
    Colour,
}

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Detail {
    /// The lowest level that is shown.
    pub level: Level,
    /// Whether every finding is shown, and every table, instead of one finding for each cause.
    pub is_verbose: bool,
}

impl From<Level> for Detail {
    fn from(level: Level) -> Self {
        Self { level, is_verbose: false }
    }
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

    /// Paints what frames quoted lines.
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

    /// Paints what stands out.
    pub fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// Paints what came to it.
    pub fn added(self, text: &str) -> String {
        self.paint("32", text)
    }

    /// Paints what was taken away.
    pub fn removed(self, text: &str) -> String {
        self.paint("31", text)
    }

    /// Paints what is otherwise than before.
    pub fn changed(self, text: &str) -> String {
        self.paint("33", text)
    }

    /// Paints a text in the colour of a level.
    pub fn level(self, level: Level, text: &str) -> String {
        let code = match level {
            Level::Must => "1;31",
            Level::Should => "1;33",
            Level::May | Level::Off => "1;36",
        };
        self.paint(code, text)
    }
}

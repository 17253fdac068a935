//! Pages: Markdown files with fenced blocks of data.

use std::fmt;
use std::ops::Deref;

use proc_macro2::TokenStream;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Constant;

/// An invalid page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageError {
    /// The line, counted from 1.
    pub line: usize,
    /// The problem, and what was expected.
    pub message: String,
}

impl PageError {
    pub(super) fn new(line: usize, message: impl fmt::Display) -> Self {
        Self { line, message: message.to_string() }
    }
}

/// A parsed page: a `toml` block, a title, prose, and blocks of data.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) title: String,
    /// Everything after the title except the blocks of data.
    pub(super) prose: String,
    metadata: Block,
    pub(super) data: Vec<Block>,
    lines: usize,
}

/// A fenced block.
#[derive(Debug)]
pub(super) struct Block {
    language: String,
    /// The first line of its text in the file.
    pub(super) line: usize,
    pub(super) text: String,
}

/// The body of a request; `null` if there is none, which programs have as an empty text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Request(pub Value);

impl Deref for Request {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0
    }
}

impl Constant for Request {
    fn of() -> TokenStream {
        String::of()
    }

    fn expression(&self) -> TokenStream {
        if self.is_null() { String::new().expression() } else { self.0.expression() }
    }
}

impl Block {
    pub(super) fn request(&self) -> Result<Request, PageError> {
        serde_json::from_str(&self.text).map(Request).map_err(|error| {
            let line = self.line + error.line().saturating_sub(1);
            PageError::new(line, format!("the request is not JSON: {error}"))
        })
    }
}

impl Page {
    /// Blocks in the languages of `data` are data; others belong to the prose.
    pub(super) fn split(text: &str, data: &str) -> Result<Self, PageError> {
        let mut blocks: Vec<Block> = Vec::new();
        let mut title = None;
        let mut prose = String::new();
        let mut open: Option<(Block, bool)> = None;
        let mut number = 0;
        for (index, line) in text.lines().enumerate() {
            number = index + 1;
            if let Some((block, is_data)) = &mut open {
                let closes = line.trim_end() == "```";
                if !*is_data {
                    prose += line;
                    prose.push('\n');
                } else if !closes {
                    block.text += line;
                    block.text.push('\n');
                }
                if closes && let Some((block, true)) = open.take() {
                    blocks.push(block);
                }
            } else if let Some(language) = line.strip_prefix("```") {
                let is_data = blocks.is_empty() || language.trim() == data;
                if !is_data {
                    prose += line;
                    prose.push('\n');
                }
                let language = language.trim().to_owned();
                open = Some((Block { language, line: number + 1, text: String::new() }, is_data));
            } else if let (None, Some(heading)) = (&title, line.strip_prefix("# ")) {
                title = Some(heading.trim().to_owned());
            } else if title.is_some() {
                prose += line;
                prose.push('\n');
            } else if !line.trim().is_empty() {
                let expected = "expected a ```toml block at the start of the page, then a line `# Title`";
                return Err(PageError::new(number, expected));
            }
        }
        if let Some((block, _)) = open {
            return Err(PageError::new(block.line - 1, "the block is not closed; end it with a line ```"));
        }
        let mut blocks = blocks.into_iter();
        let metadata = blocks.next().filter(|block| block.language == "toml");
        let metadata = metadata.ok_or_else(|| {
            PageError::new(1, "expected a ```toml block of metadata at the start of the page")
        })?;
        let title = title.filter(|title| !title.is_empty());
        let title = title
            .ok_or_else(|| PageError::new(number.max(1), "the page has no title; add a line `# Title`"))?;
        let prose = prose.trim().to_owned();
        if prose.is_empty() {
            return Err(PageError::new(number, "the page has no text; add a description below the title"));
        }
        Ok(Self { title, prose, metadata, data: blocks.collect(), lines: number })
    }

    /// Parses the metadata; an error has the line of the file.
    pub(super) fn metadata<T: DeserializeOwned>(&self) -> Result<T, PageError> {
        let Block { line, text, .. } = &self.metadata;
        toml::from_str(text).map_err(|error| {
            let before = error.span().map_or("", |span| text.get(..span.start).unwrap_or(text));
            PageError::new(line + before.matches('\n').count(), error.message())
        })
    }

    pub(super) const fn metadata_line(&self) -> usize {
        self.metadata.line
    }

    pub(super) fn blocks(&self) -> &[Block] {
        &self.data
    }

    pub(super) fn only_block(&self, language: &str) -> Result<&Block, PageError> {
        match self.data.as_slice() {
            [block] => Ok(block),
            [] => Err(PageError::new(self.lines, format!("a block ```{language} is missing"))),
            [_, second, ..] => {
                Err(PageError::new(second.line - 1, format!("expected only one block ```{language}")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "```toml\na = 1\n```\n# Title\n\nProse.\n\n```sh\nls\n```\n\n```data\nx\ny\n```\n";

    #[test]
    fn a_page_falls_apart_into_metadata_title_prose_and_data() {
        let page = Page::split(PAGE, "data").unwrap();
        assert_eq!(page.title, "Title");
        assert_eq!(page.prose, "Prose.\n\n```sh\nls\n```");
        let block = page.only_block("data").unwrap();
        assert_eq!((block.line, block.text.as_str()), (13, "x\ny\n"));
    }
}

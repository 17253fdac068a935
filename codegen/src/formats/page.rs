//! Pages: Markdown files of which some fenced blocks are data.

use std::fmt;

use serde::de::DeserializeOwned;

/// A page that is not as its format says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong there, and what was expected.
    pub message: String,
}

impl PageError {
    pub(super) fn new(line: usize, message: impl fmt::Display) -> Self {
        Self { line, message: message.to_string() }
    }
}

impl fmt::Display for PageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for PageError {}

/// A page, taken apart: a `toml` block first, then a title, prose, and the blocks that are data.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) title: String,
    /// Everything after the title but the blocks that are data.
    pub(super) prose: String,
    metadata: Block,
    data: Vec<Block>,
    lines: usize,
}

/// A fenced block.
#[derive(Debug)]
pub(super) struct Block {
    language: String,
    /// The line of the file that its text begins on.
    pub(super) line: usize,
    pub(super) text: String,
}

impl Page {
    /// Takes a page apart. Blocks in the language `data` are data; others belong to the prose.
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
                let expected = "a page begins with a ```toml block, then comes a line `# Title`";
                return Err(PageError::new(number, expected));
            }
        }
        if let Some((block, _)) = open {
            return Err(PageError::new(block.line - 1, "this block is never closed; end it with a line ```"));
        }
        let mut blocks = blocks.into_iter();
        let metadata = blocks.next().filter(|block| block.language == "toml");
        let metadata =
            metadata.ok_or_else(|| PageError::new(1, "a page begins with a ```toml block of metadata"))?;
        let title = title.filter(|title| !title.is_empty());
        let title =
            title.ok_or_else(|| PageError::new(number.max(1), "the page has no title: a line `# Title`"))?;
        let prose = prose.trim().to_owned();
        if prose.is_empty() {
            return Err(PageError::new(number, "the page says nothing: explain it below the title"));
        }
        Ok(Self { title, prose, metadata, data: blocks.collect(), lines: number })
    }

    /// The metadata; an error names the line of the file.
    pub(super) fn metadata<T: DeserializeOwned>(&self) -> Result<T, PageError> {
        let Block { line, text, .. } = &self.metadata;
        toml::from_str(text).map_err(|error| {
            let before = error.span().map_or("", |span| text.get(..span.start).unwrap_or(text));
            PageError::new(line + before.matches('\n').count(), error.message())
        })
    }

    /// The line that the metadata begin on.
    pub(super) const fn metadata_line(&self) -> usize {
        self.metadata.line
    }

    /// The blocks of data.
    pub(super) fn blocks(&self) -> &[Block] {
        &self.data
    }

    /// The one block of data.
    pub(super) fn only_block(&self, language: &str) -> Result<&Block, PageError> {
        match self.data.as_slice() {
            [block] => Ok(block),
            [] => Err(PageError::new(self.lines, format!("a block ```{language} is missing"))),
            [_, second, ..] => Err(PageError::new(
                second.line - 1,
                format!("only one block ```{language} can stand on a page"),
            )),
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

    #[derive(Debug, serde::Deserialize)]
    struct Metadata {
        #[expect(dead_code, reason = "only the error is looked at")]
        a: String,
    }

    #[test]
    fn errors_name_the_line() {
        let cases = [
            ("# Title\n", 1, "a page begins with a ```toml block"),
            ("hello\n", 1, "a page begins with"),
            ("```toml\n```\nprose\n", 3, "a page begins with"),
            ("```toml\n```\n", 2, "no title"),
            ("```toml\n```\n# T\n", 3, "says nothing"),
            ("```toml\n```\n# T\nx\n```data\n", 5, "never closed"),
        ];
        for (text, line, message) in cases {
            let error = Page::split(text, "data").unwrap_err();
            assert_eq!(error.line, line, "{text}: {error}");
            assert!(error.message.contains(message), "{text}: {error}");
        }
        let page = Page::split(PAGE, "other").unwrap();
        assert_eq!(page.only_block("other").unwrap_err().line, 15);
        assert_eq!(page.metadata::<Metadata>().unwrap_err().line, 2);
    }
}

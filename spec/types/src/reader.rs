//! The cursor for reading typed values.

use crate::{Miss, ParseError};
use spec::json::{RawNumber, RawString, Scanner};

/// A cursor for reading typed values.
#[derive(Debug)]
pub struct Reader<'a> {
    pub(crate) scanner: Scanner<'a>,
    /// Number of unknown values kept so far.
    pub(crate) unexplained: u32,
    /// Number of bytes that may still be read again to try another branch of a union. Nested unions without a tag would
    /// multiply the work, so this limits it; beyond it, values of a hostile text are kept as text.
    pub(crate) retries: usize,
    /// In lenient reading, the required members that objects lack, each with the offset where its object ends.
    pub(crate) missing: Option<Vec<(usize, &'static str)>>,
}

impl<'a> Reader<'a> {
    /// Returns a reader at the start of the text.
    pub fn new(text: &'a str) -> Self {
        Self {
            scanner: Scanner::new(text),
            unexplained: 0,
            retries: text.len().saturating_mul(16).saturating_add(1 << 16),
            missing: None,
        }
    }

    /// Objects need not have the members that their types require.
    pub(crate) fn lenient(text: &'a str) -> Self {
        Self { missing: Some(Vec::new()), ..Self::new(text) }
    }

    pub(crate) fn error(&self, miss: Miss) -> ParseError {
        let problem = (miss == Miss::Syntax).then(|| self.scanner.problem());
        ParseError { miss, offset: self.scanner.offset(), problem }
    }

    #[inline]
    pub(crate) fn string(&mut self) -> Result<RawString<'a>, Miss> {
        if self.scanner.peek() == b'"' { Ok(self.scanner.string()?) } else { self.other_kind() }
    }

    #[inline]
    pub(crate) fn number(&mut self) -> Result<RawNumber<'a>, Miss> {
        match self.scanner.peek() {
            b'-' | b'0'..=b'9' => Ok(self.scanner.number()?),
            _ => self.other_kind(),
        }
    }

    /// The error for a value of another JSON type, or a syntax error if there is no value.
    #[cold]
    pub(crate) fn other_kind<T>(&mut self) -> Result<T, Miss> {
        self.scanner.skip()?;
        Err(Miss::Kind)
    }

    #[inline]
    pub(crate) fn enter(&mut self, open: u8) -> Result<(), Miss> {
        if self.scanner.peek() != open {
            return self.other_kind();
        }
        if !self.scanner.descend() {
            self.scanner.ascend();
            return Err(Miss::Depth);
        }
        self.scanner.advance();
        Ok(())
    }

    #[inline]
    pub(crate) fn entries(
        &mut self,
        mut entry: impl FnMut(&mut Self) -> Result<(), Miss>,
    ) -> Result<(), Miss> {
        self.enter(b'[')?;
        let mut end = self.scanner.peek() == b']';
        if end {
            self.scanner.advance();
        }
        while !end {
            if let Err(miss) = entry(self) {
                self.scanner.ascend();
                return Err(miss);
            }
            end = self.scanner.separator(b']')?;
        }
        self.scanner.ascend();
        Ok(())
    }

    pub(crate) fn members(
        &mut self,
        mut member: impl FnMut(&mut Self, RawString<'a>) -> Result<(), Miss>,
    ) -> Result<(), Miss> {
        self.enter(b'{')?;
        let mut next = self.first_name()?;
        while let Some(name) = next {
            if let Err(miss) = member(self, name) {
                self.scanner.ascend();
                return Err(miss);
            }
            next = self.next_name()?;
        }
        self.scanner.ascend();
        Ok(())
    }

    /// The cursor is then at the value of the member. `None` if there is none.
    #[inline]
    pub(crate) fn first_name(&mut self) -> Result<Option<RawString<'a>>, Miss> {
        if self.scanner.peek() == b'}' {
            self.scanner.advance();
            return Ok(None);
        }
        Ok(Some(self.scanner.name()?))
    }

    #[inline]
    pub(crate) fn next_name(&mut self) -> Result<Option<RawString<'a>>, Miss> {
        if self.scanner.separator(b'}')? {
            return Ok(None);
        }
        Ok(Some(self.scanner.name()?))
    }
}

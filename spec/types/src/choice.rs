//! Selects the branch of a union, and keeps values that match none.

use crate::{Miss, Raw, Read, Reader, Str};

/// Kinds of JSON value, one bit each.
pub(crate) mod kind {
    pub(crate) const NULL: u8 = 1;
    pub(crate) const BOOLEAN: u8 = 2;
    pub(crate) const NUMBER: u8 = 4;
    pub(crate) const STRING: u8 = 8;
    pub(crate) const ARRAY: u8 = 16;
    pub(crate) const OBJECT: u8 = 32;
}

/// The start of a value, and the number of unknown values before it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Checkpoint {
    offset: usize,
    unexplained: u32,
}

/// A branch of a union: the kinds of value that it can match, and its reader.
pub(crate) type Branch<'a, T> = (u8, fn(&mut Reader<'a>) -> Result<T, Miss>);

/// A function that tries a branch, by its number, on a value of a kind.
type Attempt<'a, 'b> = dyn FnMut(&mut Reader<'a>, usize, u8) -> Option<Result<bool, Miss>> + 'b;

impl<'a> Reader<'a> {
    /// The member distinguishes the branches of a union. `None` if the value is not an object, or the union has no such
    /// member.
    #[inline]
    pub(crate) fn tag(&mut self, name: &str) -> Result<Option<Str<'a>>, Miss> {
        if name.is_empty() || self.scanner.peek() != b'{' {
            return Ok(None);
        }
        Ok(Some(self.scanner.member(name)?.map(Str::from_raw).unwrap_or_default()))
    }

    /// The branch that leaves the fewest values unknown wins; of equals, the first.
    ///
    /// `branch` tries a branch by its number. It returns `None` if there are no more, and false if the branch does not match
    /// the kind of value. The result of the last successful call is kept.
    pub(crate) fn best(&mut self, branch: &mut Attempt<'a, '_>) -> Result<(), Miss> {
        let kind = match self.scanner.peek() {
            b'{' => kind::OBJECT,
            b'"' => kind::STRING,
            b'[' => kind::ARRAY,
            b't' | b'f' => kind::BOOLEAN,
            b'n' => kind::NULL,
            _ => kind::NUMBER,
        };
        let place = self.checkpoint();
        let mut best: Option<(u32, usize, usize)> = None;
        let mut last = usize::MAX;
        let mut miss = Miss::Kind;
        for at in 0.. {
            if !self.retry(place) {
                break;
            }
            match branch(self, at, kind) {
                None => break,
                Some(Ok(false)) => {}
                Some(Ok(true)) if self.unexplained == place.unexplained => return Ok(()),
                Some(Ok(true)) => {
                    last = at;
                    let unexplained = self.unexplained - place.unexplained;
                    if best.is_none_or(|(least, ..)| unexplained < least) {
                        best = Some((unexplained, at, self.scanner.offset()));
                    }
                }
                Some(Err(Miss::Syntax)) => return Err(Miss::Syntax),
                Some(Err(other)) => miss = other,
            }
        }
        match best {
            None => Err(miss),
            // The members that the last branch lacked are forgotten by now.
            Some((unexplained, at, end)) if at == last && self.missing.is_none() => {
                self.unexplained = place.unexplained + unexplained;
                self.scanner.rewind(end);
                Ok(())
            }
            Some((_, at, _)) if self.retry(place) => {
                branch(self, at, kind).map_or(Ok(()), |read| read.map(drop))
            }
            Some(_) => Err(Miss::Kind),
        }
    }

    #[inline]
    pub(crate) fn start_of_object(&mut self) -> Result<Checkpoint, Miss> {
        if self.scanner.peek() == b'{' { Ok(self.checkpoint()) } else { self.other_kind() }
    }

    #[inline]
    pub(crate) fn checkpoint(&mut self) -> Checkpoint {
        self.scanner.peek();
        Checkpoint { offset: self.scanner.offset(), unexplained: self.unexplained }
    }

    /// Goes back to a checkpoint, if the limit of repeated reading allows it.
    fn retry(&mut self, to: Checkpoint) -> bool {
        let again = self.scanner.offset() - to.offset;
        if again > self.retries {
            return false;
        }
        self.retries -= again;
        self.rewind(to);
        true
    }

    fn rewind(&mut self, to: Checkpoint) {
        self.scanner.rewind(to.offset);
        self.unexplained = to.unexplained;
        if let Some(missing) = &mut self.missing {
            missing.retain(|(end, _)| *end <= to.offset);
        }
    }

    /// The value is kept as text, unless the text is not JSON.
    #[cold]
    pub(crate) fn missed(&mut self, miss: Miss, place: Checkpoint) -> Result<Raw<'a>, Miss> {
        if miss == Miss::Syntax { Err(miss) } else { self.misfit(place) }
    }

    /// The value is kept as text.
    #[cold]
    pub(crate) fn misfit(&mut self, place: Checkpoint) -> Result<Raw<'a>, Miss> {
        self.rewind(place);
        self.not_understood();
        Raw::read(self)
    }

    #[inline]
    pub(crate) const fn not_understood(&mut self) {
        self.unexplained = self.unexplained.saturating_add(1);
    }
}

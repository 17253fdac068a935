//! Choosing the branch of a union, and keeping what fits none.

use super::{Miss, Raw, Read, Reader, Str};

/// Kinds of JSON value, one bit each.
pub mod kind {
    /// `null`
    pub const NULL: u8 = 1;
    /// `true` or `false`
    pub const BOOLEAN: u8 = 2;
    /// a number
    pub const NUMBER: u8 = 4;
    /// a string
    pub const STRING: u8 = 8;
    /// a list
    pub const ARRAY: u8 = 16;
    /// an object
    pub const OBJECT: u8 = 32;
}

/// Where a value starts, and how much before it was not understood.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    offset: usize,
    unexplained: u32,
}

/// A branch of a union: the kinds of value that it may match, and how it is read.
pub(crate) type Branch<'a, T> = (u8, fn(&mut Reader<'a>) -> Result<T, Miss>);

/// Tries the branch of a number on a value of a kind.
type Attempt<'a, 'b> = dyn FnMut(&mut Reader<'a>, usize, u8) -> Option<Result<bool, Miss>> + 'b;

impl<'a> Reader<'a> {
    /// Returns the value of the string member that tells the branches of a union apart; `None` for what is no
    /// object, and for unions that have no such member.
    #[inline]
    pub(crate) fn tag(&mut self, name: &str) -> Result<Option<Str<'a>>, Miss> {
        if name.is_empty() || self.scanner.peek() != b'{' {
            return Ok(None);
        }
        Ok(Some(self.string_member(name)?.unwrap_or_default()))
    }

    /// Reads a value with whichever branch leaves the least of it unexplained, the first of equals.
    ///
    /// `branch` tries one by its number: `None` when there are no more, false when values of the kind
    /// are not for it. The last one that it tried is the one to keep.
    pub(crate) fn best(&mut self, branch: &mut Attempt<'a, '_>) -> Result<(), Miss> {
        let kind = match self.scanner.peek() {
            b'{' => kind::OBJECT,
            b'"' => kind::STRING,
            b'[' => kind::ARRAY,
            b't' | b'f' => kind::BOOLEAN,
            b'n' => kind::NULL,
            _ => kind::NUMBER,
        };
        let place = self.place();
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
            Some((unexplained, at, end)) if at == last => {
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

    /// Returns the place of the object at the cursor.
    #[inline]
    pub(super) fn start_of_object(&mut self) -> Result<Place, Miss> {
        if self.scanner.peek() == b'{' { Ok(self.place()) } else { self.other_kind() }
    }

    /// Returns where the value at the cursor starts.
    #[inline]
    pub(crate) fn place(&mut self) -> Place {
        self.scanner.peek();
        Place { offset: self.scanner.offset(), unexplained: self.unexplained }
    }

    /// Goes back, if there is anything left to spend on that.
    fn retry(&mut self, to: Place) -> bool {
        let again = self.scanner.offset() - to.offset;
        if again > self.retries {
            return false;
        }
        self.retries -= again;
        self.scanner.rewind(to.offset);
        self.unexplained = to.unexplained;
        true
    }

    /// Takes the value at a place as it stands, unless the text is not JSON.
    #[cold]
    pub(crate) fn missed(&mut self, miss: Miss, place: Place) -> Result<Raw<'a>, Miss> {
        if miss == Miss::Syntax { Err(miss) } else { self.misfit(place) }
    }

    /// Takes the value at a place as it stands.
    #[cold]
    pub(crate) fn misfit(&mut self, place: Place) -> Result<Raw<'a>, Miss> {
        self.scanner.rewind(place.offset);
        self.unexplained = place.unexplained;
        self.not_understood();
        Raw::read(self)
    }

    #[inline]
    pub(crate) const fn not_understood(&mut self) {
        self.unexplained = self.unexplained.saturating_add(1);
    }
}

//! Reads the fields of an object.

use std::borrow::Cow;

use crate::choice::Checkpoint;
use crate::{Extra, Miss, Raw, Read, Reader, Str, decode};
use spec::json::RawString;

#[derive(Debug)]
pub(crate) struct Fields<'a> {
    name: RawString<'a>,
    /// The name of the current member, if it has escapes.
    decoded: String,
    /// The required members that were seen, one bit each.
    seen: u128,
    /// The constant members that have another value, one bit each.
    other: u128,
    extra: Vec<(Str<'a>, Raw<'a>)>,
    /// Invalid values of optional fields, each field once.
    misfits: Vec<(&'static str, Raw<'a>)>,
}

impl<'a> Fields<'a> {
    #[inline]
    pub(crate) fn name(&self) -> &str {
        if self.name.escaped { &self.decoded } else { self.name.raw }
    }

    #[inline]
    pub(crate) fn required<T: Read<'a>>(
        &mut self,
        reader: &mut Reader<'a>,
        at: u32,
        _: &'static str,
        slot: &mut T,
    ) -> Result<(), Miss> {
        let place = reader.checkpoint();
        self.see(at, true);
        match T::read(reader) {
            Ok(value) => {
                *slot = value;
                Ok(())
            }
            Err(miss) => {
                self.see(at, false);
                reader.missed(miss, place).map(drop)
            }
        }
    }

    #[inline]
    const fn see(&mut self, at: u32, fits: bool) {
        self.seen = self.seen & !(1 << at) | (fits as u128) << at;
    }

    /// An invalid value is kept among the unknown ones.
    #[inline]
    pub(crate) fn optional<T: Read<'a>>(
        &mut self,
        reader: &mut Reader<'a>,
        _: u32,
        name: &'static str,
        slot: &mut Option<T>,
    ) -> Result<(), Miss> {
        let place = reader.checkpoint();
        match T::read(reader) {
            Ok(value) => {
                *slot = Some(value);
                if self.misfits.is_empty() { Ok(()) } else { self.settle(reader, name, place, None) }
            }
            Err(miss) => {
                *slot = None;
                self.settle(reader, name, place, Some(miss))
            }
        }
    }

    /// Without a miss, an earlier invalid value of the field is removed.
    #[cold]
    fn settle(
        &mut self,
        reader: &mut Reader<'a>,
        name: &'static str,
        place: Checkpoint,
        miss: Option<Miss>,
    ) -> Result<(), Miss> {
        self.misfits.retain(|(known, _)| *known != name);
        if let Some(miss) = miss {
            self.misfits.push((name, reader.missed(miss, place)?));
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn constant(
        &mut self,
        reader: &mut Reader<'a>,
        at: u32,
        wanted: &'static str,
    ) -> Result<(), Miss> {
        let fits = match reader.string() {
            Ok(found) if found.escaped => decode(found.raw) == (Cow::Borrowed(wanted), false),
            Ok(found) => found.raw == wanted,
            Err(Miss::Syntax) => return Err(Miss::Syntax),
            Err(_) => false,
        };
        self.see(at, fits);
        if !fits {
            self.other |= 1 << at;
        }
        Ok(())
    }

    #[cold]
    pub(crate) fn unknown(&mut self, reader: &mut Reader<'a>) -> Result<(), Miss> {
        reader.not_understood();
        self.extra.push((Str::from_raw(self.name), Raw::read(reader)?));
        Ok(())
    }

    fn leftover(self) -> Extra<'a> {
        if self.extra.is_empty() && self.misfits.is_empty() {
            return Extra::new();
        }
        let misfits = self.misfits.into_iter().map(|(name, raw)| (name.into(), raw));
        Extra::from_members(self.extra.into_iter().chain(misfits).collect())
    }
}

impl<'a> Reader<'a> {
    /// The result is the unknown members.
    pub(crate) fn fields(
        &mut self,
        required: u128,
        names: &[&'static str],
        member: &mut dyn FnMut(&mut Fields<'a>, &mut Self) -> Result<(), Miss>,
    ) -> Result<Extra<'a>, Miss> {
        self.enter(b'{')?;
        let mut fields = Fields {
            name: RawString { raw: "", escaped: false },
            decoded: String::new(),
            seen: 0,
            other: 0,
            extra: Vec::new(),
            misfits: Vec::new(),
        };
        let mut next = self.first_name()?;
        while let Some(name) = next {
            fields.name = name;
            if name.escaped {
                fields.decoded = decode(name.raw).0.into_owned();
            }
            member(&mut fields, self)?;
            next = self.next_name()?;
        }
        self.scanner.ascend();
        match required & !fields.seen {
            0 => Ok(fields.leftover()),
            missing if missing & fields.other == 0 && self.do_without(missing, names) => {
                Ok(fields.leftover())
            }
            missing => Err(Miss::Field(name_of(missing.trailing_zeros(), names))),
        }
    }

    /// Notes the required members that an object lacks, one bit each. Returns false if they are needed.
    #[cold]
    fn do_without(&mut self, missing: u128, names: &[&'static str]) -> bool {
        let end = self.scanner.offset();
        let Some(noted) = &mut self.missing else { return false };
        let lacking = (0..u128::BITS).filter(|at| missing >> at & 1 == 1);
        noted.extend(lacking.map(|at| (end, name_of(at, names))));
        self.unexplained = self.unexplained.saturating_add(missing.count_ones());
        true
    }
}

fn name_of(at: u32, names: &[&'static str]) -> &'static str {
    names.get(at as usize).copied().unwrap_or_default()
}

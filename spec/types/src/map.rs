//! Objects with arbitrary names.

use std::collections::HashMap;
use std::fmt;

use crate::{IntoOwned, Miss, ObjectWriter, Raw, Read, Reader, Str, Write};

/// An ordered map of names to values.
#[derive(Clone, PartialEq)]
pub struct Map<'a, T>(Vec<(Str<'a>, T)>);

/// Undeclared members.
pub type Extra<'a> = Map<'a, Raw<'a>>;

/// Maximum number of members for which comparing all pairs is cheaper than a table.
const FEW: usize = 16;

impl<'a, T> Map<'a, T> {
    /// Creates an empty map without allocating.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Returns the number of members.
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether the map is empty.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the value of a name.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// Returns the names and values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Sets the value of a name, and returns the old one.
    pub fn insert(&mut self, name: impl Into<Str<'a>>, value: T) -> Option<T> {
        let name = name.into();
        if let Some((_, known)) = self.0.iter_mut().find(|(known, _)| *known == name) {
            return Some(std::mem::replace(known, value));
        }
        self.0.push((name, value));
        None
    }

    /// Removes a name, and returns its value.
    pub fn remove(&mut self, name: &str) -> Option<T> {
        let at = self.0.iter().position(|(known, _)| known == name)?;
        Some(self.0.remove(at).1)
    }

    /// Of members with the same name, the last counts.
    pub(crate) fn from_members(mut members: Vec<(Str<'a>, T)>) -> Self {
        let unique = if members.len() <= FEW {
            (1..members.len()).all(|at| members[..at].iter().all(|(name, _)| *name != members[at].0))
        } else {
            let mut names = std::collections::HashSet::with_capacity(members.len());
            members.iter().all(|(name, _)| names.insert(name))
        };
        if !unique {
            let last: HashMap<Str<'a>, usize> =
                members.iter().enumerate().map(|(at, (name, _))| (name.clone(), at)).collect();
            let mut at = 0;
            members.retain(|(name, _)| {
                at += 1;
                last.get(name) == Some(&(at - 1))
            });
        }
        Self(members)
    }
}

impl<T> Default for Map<'_, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a, T, N: Into<Str<'a>>> FromIterator<(N, T)> for Map<'a, T> {
    fn from_iter<I: IntoIterator<Item = (N, T)>>(members: I) -> Self {
        Self::from_members(members.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }
}

impl<'a, T: Read<'a>> Read<'a> for Map<'a, T> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, Miss> {
        let mut members = Vec::new();
        reader.members(|reader, name| {
            members.push((Str::from_raw(name), T::read(reader)?));
            Ok(())
        })?;
        Ok(Self::from_members(members))
    }
}

impl<T: Write> Write for Map<'_, T> {
    fn write(&self, out: &mut String) {
        let mut object = ObjectWriter::open(out);
        object.members(&self.0);
        object.close();
    }
}

impl<T: IntoOwned> IntoOwned for Map<'_, T> {
    type Owned = Map<'static, T::Owned>;

    fn detach(&self) -> Self::Owned {
        Map(self.0.iter().map(|(name, value)| (name.detach(), value.detach())).collect())
    }
}

impl<T: fmt::Debug> fmt::Debug for Map<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<'a, T> Map<'a, T> {
    /// Names as written, with their values.
    pub(crate) const fn entries(&self) -> &[(Str<'a>, T)] {
        self.0.as_slice()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_repeated_names_the_last_counts() {
        let few = Extra::parse(r#"{"a":1,"b":2,"\u0061":3}"#).unwrap();
        assert_eq!(few.to_json(), r#"{"b":2,"a":3}"#);
        let members: Vec<String> = (0..100).map(|n| format!("\"k{}\":{n}", n % 40)).collect();
        let many = format!("{{{}}}", members.join(","));
        let many = Extra::parse(&many).unwrap();
        assert_eq!((many.len(), many.get("k3").unwrap().as_str()), (40, "83"));
    }

    #[test]
    fn values_are_set_and_taken() {
        let mut map: Map<'_, i64> = [("a", 1), ("b", 2)].into_iter().collect();
        assert_eq!(map.insert("a", 3), Some(1));
        assert_eq!(map.remove("b"), Some(2));
        assert_eq!(map.iter().collect::<Vec<_>>(), [("a", &3)]);
    }
}

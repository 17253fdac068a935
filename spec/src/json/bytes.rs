//! Compares and searches text in words and blocks of bytes.

/// Returns whether two texts are equal. Names are compared so often that calling `memcmp` takes longer.
#[inline]
pub fn is_same(one: &[u8], other: &[u8]) -> bool {
    if one.len() > SHORT { one == other } else { is_same_short(one, other) }
}

/// Maximum length of a text that is compared without a call.
pub(super) const SHORT: usize = 64;

#[inline]
pub(super) fn is_same_short(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    // The first and the last bytes of a text overlap if it is shorter than both together.
    match one.len() {
        0..4 => one.iter().zip(other).all(|(one, other)| one == other),
        4..8 => one.first_chunk::<4>() == other.first_chunk() && one.last_chunk::<4>() == other.last_chunk(),
        8..=16 => {
            one.first_chunk::<8>() == other.first_chunk() && one.last_chunk::<8>() == other.last_chunk()
        }
        17..=32 => {
            one.first_chunk::<16>() == other.first_chunk() && one.last_chunk::<16>() == other.last_chunk()
        }
        _ => one.first_chunk::<32>() == other.first_chunk() && one.last_chunk::<32>() == other.last_chunk(),
    }
}

/// Returns the length of the common prefix of two texts.
pub fn shared_length(one: &[u8], other: &[u8]) -> usize {
    const BLOCK: usize = 32;
    const WORD: usize = 8;
    let blocks = one.as_chunks::<BLOCK>().0.iter().zip(other.as_chunks::<BLOCK>().0);
    let before = BLOCK * blocks.take_while(|(one, other)| one == other).count();
    let (one, other) = (one.get(before..).unwrap_or_default(), other.get(before..).unwrap_or_default());
    let words = one.as_chunks::<WORD>().0.iter().zip(other.as_chunks::<WORD>().0);
    let behind = WORD * words.take_while(|(one, other)| one == other).count();
    let rest = one.iter().zip(other).skip(behind);
    before + behind + rest.take_while(|(one, other)| one == other).count()
}

#[inline]
pub(super) fn word(block: &[u8], offset: usize) -> u64 {
    let bytes = block.get(offset..offset + 8).and_then(|bytes| bytes.try_into().ok());
    u64::from_le_bytes(bytes.unwrap_or_default())
}

/// The top bit of each byte of a word.
pub(super) const TOPS: u64 = u64::from_le_bytes([0x80; 8]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_compared_up_to_their_first_difference() {
        let long = "0123456789".repeat(10);
        for at in [0, 1, 31, 32, 33, 63, 64, 99] {
            let other = format!("{}x{}", &long[..at], &long[at + 1..]);
            assert_eq!(shared_length(long.as_bytes(), other.as_bytes()), at);
            assert_eq!(shared_length(long.as_bytes(), &other.as_bytes()[..at]), at);
        }
        assert_eq!(shared_length(long.as_bytes(), long.as_bytes()), 100);
    }

    #[test]
    fn texts_of_every_length_are_compared() {
        for length in 0..=SHORT + 2 {
            let text = vec![b'a'; length];
            assert!(is_same(&text, &text.clone()), "{length}");
            assert!(!is_same(&text, &vec![b'a'; length + 1]), "{length}");
            for at in 0..length {
                let mut other = text.clone();
                other[at] = b'b';
                assert!(!is_same(&text, &other), "{length}, {at}");
            }
        }
    }
}

//! Finds the end of the plain part of a string: the first quote, backslash or control character.

use super::bytes::word;

/// Number of bytes that are searched at once.
pub(super) const BLOCK: usize = 16;

#[inline]
pub(super) fn plain_run(bytes: &[u8]) -> usize {
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    let mut at = 0;
    for block in blocks {
        let plain = plain_start(block);
        at += plain;
        if plain < BLOCK {
            return at;
        }
    }
    at + rest.iter().take_while(|byte| is_plain(**byte)).count()
}

const fn is_plain(byte: u8) -> bool {
    !matches!(byte, b'"' | b'\\' | ..0x20)
}

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(super) use sse2::plain_start;
#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
pub(super) use words::plain_start;

/// Searches a block by instructions that every processor of the target has.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod sse2 {
    use std::arch::x86_64::{
        _mm_cmpeq_epi8, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128, _mm_set_epi64x, _mm_set1_epi8,
    };

    use super::{BLOCK, word};

    /// The number of leading bytes of the block that are plain in a string.
    #[expect(unsafe_code, reason = "functions do not inherit the features of the target")]
    #[inline]
    pub(crate) fn plain_start(block: &[u8; BLOCK]) -> usize {
        // SAFETY: the instructions only use registers, and the target has them.
        let found = unsafe {
            let bytes = _mm_set_epi64x(word(block, 8).cast_signed(), word(block, 0).cast_signed());
            let quotes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'"'.cast_signed()));
            let backslashes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'\\'.cast_signed()));
            let controls = _mm_cmpeq_epi8(bytes, _mm_min_epu8(bytes, _mm_set1_epi8(0x1f)));
            _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quotes, backslashes), controls))
        };
        (found | 1 << BLOCK).trailing_zeros() as usize
    }
}

/// Searches a block in words.
#[allow(dead_code, reason = "for other processors")]
mod words {
    use super::{BLOCK, word};
    use crate::json::bytes::TOPS;

    #[inline]
    pub(crate) fn plain_start(block: &[u8; BLOCK]) -> usize {
        let (first, second) = (special(word(block, 0)), special(word(block, 8)));
        let (found, before) = if first == 0 { (second, 8) } else { (first, 0) };
        if found == 0 { BLOCK } else { before + found.trailing_zeros() as usize / 8 }
    }

    /// Marks the bytes of a word that are not plain, in each byte's top bit. Only the lowest mark is reliable.
    #[inline]
    const fn special(word: u64) -> u64 {
        const ONES: u64 = u64::from_le_bytes([1; 8]);
        let quote = word ^ (ONES * b'"' as u64);
        let backslash = word ^ (ONES * b'\\' as u64);
        let quote = quote.wrapping_sub(ONES) & !quote;
        let backslash = backslash.wrapping_sub(ONES) & !backslash;
        let control = word.wrapping_sub(ONES * 0x20) & !word;
        (quote | backslash | control) & TOPS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_plain_up_to_its_first_special_byte() {
        for (at, byte) in (0..BLOCK).flat_map(|at| (0..=u8::MAX).map(move |byte| (at, byte))) {
            for behind in [b'a', b'"', 0xff] {
                let mut block = [b'a'; BLOCK];
                block[at] = byte;
                block[at + 1..].fill(behind);
                let expected = block.iter().take_while(|byte| is_plain(**byte)).count();
                assert_eq!(
                    (plain_start(&block), words::plain_start(&block)),
                    (expected, expected),
                    "{block:x?}"
                );
            }
        }
    }

    #[test]
    fn a_plain_run_ends_at_the_first_special_byte() {
        for length in 0..=3 * BLOCK {
            let mut text = vec![b'a'; length];
            assert_eq!(plain_run(&text), length);
            for at in (0..length).rev() {
                text[at] = b'"';
                assert_eq!(plain_run(&text), at, "{length}");
            }
        }
    }
}

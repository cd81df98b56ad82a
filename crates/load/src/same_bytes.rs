//! Comparison of bytes at the same cost with every C library. `==` and `starts_with` call its `memcmp`, and that of musl compares
//! one byte after another: a body of 100 KiB cost the generator three times as much CPU time as with glibc.

const WORD: usize = size_of::<u64>();
/// Compared by a few wide loads and one branch.
const WIDE: usize = 8 * WORD;

/// As `text.starts_with(part)`.
#[inline]
pub(crate) fn begins_with(text: &[u8], part: &[u8]) -> bool {
    text.get(..part.len()).is_some_and(|text| are_same(text, part))
}

/// Both have the same length. What is left after whole chunks is compared by a last chunk that overlaps them.
#[inline]
fn are_same(one: &[u8], other: &[u8]) -> bool {
    if let (Some(end), Some(other_end)) = (one.last_chunk(), other.last_chunk()) {
        let (chunks, other_chunks) = (one.as_chunks().0, other.as_chunks().0);
        return differing(end, other_end) == 0
            && chunks.iter().zip(other_chunks).all(|(chunk, other)| differing(chunk, other) == 0);
    }
    if let (Some(end), Some(other_end)) = (one.last_chunk::<WORD>(), other.last_chunk::<WORD>()) {
        let (words, other_words) = (one.as_chunks::<WORD>().0, other.as_chunks::<WORD>().0);
        return end == other_end && words.iter().zip(other_words).all(|(word, other)| word == other);
    }
    one.iter().eq(other)
}

/// The bits in which words of both differ, of all words together.
#[inline]
fn differing(one: &[u8; WIDE], other: &[u8; WIDE]) -> u64 {
    let words = |bytes: &[u8; WIDE]| {
        let mut words = [0; WIDE / WORD];
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u64::from_ne_bytes(*bytes);
        }
        words
    };
    words(one).iter().zip(words(other)).fold(0, |all, (one, other)| all | (one ^ other))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::begins_with;

    proptest! {
        #[test]
        fn as_the_standard_library_has_it(
            text in prop::collection::vec(any::<u8>(), 0..300), length in 0..310_usize, wrong in 0..300_usize,
        ) {
            let mut part = text[..length.min(text.len())].to_vec();
            if length > text.len() {
                part.push(0);
            }
            prop_assert_eq!(begins_with(&text, &part), text.starts_with(&part));
            if let Some(byte) = part.get_mut(wrong) {
                *byte ^= 1;
                prop_assert!(!begins_with(&text, &part));
            }
        }
    }
}

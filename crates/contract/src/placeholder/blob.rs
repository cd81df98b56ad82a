//! Long texts for uploads that differ each time: one text for each length, read from varying offsets.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// One-byte and two-byte characters in UTF-8, so that characters and bytes count differently.
const CHARACTERS: [char; 64] = [
    'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'p', 'q', 'r', 's', 't', 'u',
    'v', 'w', 'x', 'y', 'z', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', ' ', '\n', '"', '\\', '<',
    '&', '%', '+', 'ä', 'ö', 'ü', 'ß', 'é', 'è', 'ñ', 'ø', 'ą', 'ł', 'č', 'ř', 'α', 'β', 'γ', 'δ', 'д', 'ж',
    'я', 'щ',
];

/// A text of `bytes` bytes.
pub(super) fn draw<R: Rng>(bytes: usize, rng: &mut R) -> String {
    let whole = whole(bytes);
    let mut start = rng.random_range(0..bytes);
    while !whole.is_char_boundary(start) {
        start -= 1;
    }
    let (end, beginning) = whole.split_at(start);
    [beginning, end].concat()
}

/// The text of a length. It is cached, since making it takes longer than sending it.
fn whole(bytes: usize) -> Arc<str> {
    static MADE: OnceLock<Mutex<BTreeMap<usize, Arc<str>>>> = OnceLock::new();
    let mut made = MADE.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(made.entry(bytes).or_insert_with(|| make(bytes).into()))
}

fn make(bytes: usize) -> String {
    // Drawn in one call: twenty million single calls take seconds in a debug build.
    let mut draws = vec![0; bytes];
    ChaCha8Rng::seed_from_u64(bytes as u64).fill_bytes(&mut draws);
    let mut text = String::with_capacity(bytes);
    for draw in draws {
        let character = CHARACTERS[usize::from(draw) % CHARACTERS.len()];
        if text.len() + character.len_utf8() > bytes {
            break;
        }
        text.push(character);
    }
    text.extend(std::iter::repeat_n('x', bytes - text.len()));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_its_length_and_another_beginning_each_time() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for bytes in [1, 2, 3, 1000, 500_000] {
            assert_eq!(draw(bytes, &mut rng).len(), bytes);
        }
        let (one, other) = (draw(1000, &mut rng), draw(1000, &mut rng));
        assert_ne!(one, other);
        assert!(one.chars().count() < 1000, "some characters have two bytes");
    }
}

//! The content of a folder's files: text from the seed, about as compressible as real files.

use std::sync::{Arc, OnceLock};

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Extensions of compressed formats, whose files contain no words.
const COMPRESSED: [&str; 8] = [".woff2", ".woff", ".webp", ".png", ".jpg", ".gz", ".br", ".zip"];
/// Vocabulary size: text with fewer words compresses better than real text, with more words worse.
const WORDS: usize = 600;

/// The contents of all files, made on first use.
#[derive(Debug, Clone, Default)]
pub(super) struct FilesMade(Arc<OnceLock<Vec<String>>>);

/// Always equal: the contents follow from names, lengths and seed, which are compared anyway.
impl PartialEq for FilesMade {
    fn eq(&self, _: &FilesMade) -> bool {
        true
    }
}

impl Eq for FilesMade {}

impl FilesMade {
    pub(super) fn get(&self, files: &[(String, usize)], seed: u64) -> &[String] {
        self.0.get_or_init(|| {
            let content = |(place, (name, bytes)): (usize, &(String, usize))| {
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                rng.set_stream(place as u64);
                content(name, *bytes, &mut rng)
            };
            files.iter().enumerate().map(content).collect()
        })
    }
}

fn content(name: &str, bytes: usize, rng: &mut impl Rng) -> String {
    let mut text = String::with_capacity(bytes + 16);
    if COMPRESSED.iter().any(|extension| name.ends_with(extension)) {
        text.extend((0..bytes).map(|_| char::from(rng.random_range(b' '..=b'~'))));
        return text;
    }
    let words: Vec<String> = (0..WORDS).map(|_| word(rng)).collect();
    while text.len() < bytes {
        // A few words are frequent, as in a natural language.
        let place = rng.random_range(0..WORDS) * rng.random_range(0..WORDS) / WORDS;
        text.push_str(&words[place]);
        text.push(if rng.random_range(0..9) == 0 { '\n' } else { ' ' });
    }
    text.truncate(bytes);
    text
}

fn word(rng: &mut impl Rng) -> String {
    (0..rng.random_range(2..10)).map(|_| char::from(rng.random_range(b'a'..=b'z'))).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::io::Write;

    use super::*;

    fn files() -> Vec<(String, usize)> {
        [("app.js", 20_000), ("site.css", 20_000), ("font.woff2", 20_000), ("photo.webp", 5), ("one.txt", 1)]
            .map(|(name, bytes)| (name.to_owned(), bytes))
            .into()
    }

    fn compressed(text: &str) -> usize {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap().len()
    }

    #[test]
    fn each_file_has_its_length_and_a_content_of_the_seed() {
        let files = files();
        let of_seed = |seed| FilesMade::default().get(&files, seed).to_vec();
        let made = of_seed(7);
        let lengths: Vec<usize> = made.iter().map(String::len).collect();
        assert_eq!(lengths, [20_000, 20_000, 20_000, 5, 1]);
        assert_eq!(made, of_seed(7));
        assert!(made[..4].iter().zip(&of_seed(8)).all(|(one, other)| one != other));
        assert_eq!(made[..4].iter().collect::<BTreeSet<_>>().len(), 4, "no two are alike");
        assert!(
            made.iter().all(|content| content.is_ascii()),
            "a byte is a character, so that each can be cut anywhere"
        );
    }

    #[test]
    fn a_text_compresses_as_texts_do_and_what_is_compressed_does_not() {
        let files = files();
        let made = FilesMade::default();
        let made = made.get(&files, 7);
        for text in &made[..2] {
            let share = compressed(text) as f64 / text.len() as f64;
            assert!((0.2..0.6).contains(&share), "{share}");
        }
        // Printable characters have less than seven bits of information in eight.
        assert!(compressed(&made[2]) as f64 > 0.8 * made[2].len() as f64);
    }

    #[test]
    fn they_are_made_once_for_all_copies() {
        let files = files();
        let made = FilesMade::default();
        let copy = made.clone();
        assert_eq!(made.get(&files, 7).as_ptr(), copy.get(&files, 7).as_ptr());
    }
}

//! What the files of a folder hold: text that is made from the seed, as well compressible as the text of its kind is.

use std::sync::{Arc, OnceLock};

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Extensions of what is compressed already; its files hold no words.
const COMPRESSED: [&str; 8] = [".woff2", ".woff", ".webp", ".png", ".jpg", ".gz", ".br", ".zip"];
/// A vocabulary of this size: text of few words compresses better than real text, and of many worse.
const WORDS: usize = 600;

/// The contents of all files, made when the first of them is needed.
#[derive(Debug, Clone, Default)]
pub(super) struct FilesMade(Arc<OnceLock<Vec<String>>>);

/// They follow from the names, lengths and seed that stand beside them.
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
        // Few words are frequent, as in a language.
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

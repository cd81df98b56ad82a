//! Environment values that a contract sends and that must not be stored: tokens, passwords. [`redact`]
//! filters what Tare writes; [`scrub`] filters a run's folder, since a service may print what it receives.
//!
//! There is one list for the whole process: every writer must respect it.

use std::{
    borrow::Cow,
    fs, io,
    path::Path,
    sync::{PoisonError, RwLock},
};

use tare_base::percent;

use crate::seal;
use tare_base::whole;

/// Shorter values are too likely to occur by chance, and are hardly secrets.
const LENGTH_MIN: usize = 4;

/// Shortest part of a truncated secret to replace: less reveals little and may occur by chance.
const PART_LENGTH_MIN: usize = 6;

static KNOWN: RwLock<Vec<Secret>> = RwLock::new(Vec::new());

struct Secret {
    /// The text that replaces it: `{{env:NAME}}`.
    placeholder: String,
    /// The value in its possible spellings: as it is, in JSON, in a path.
    forms: Vec<String>,
}

/// Makes [`redact`] replace this value of the variable `name`.
pub fn keep(name: &str, value: &str) {
    if value.len() < LENGTH_MIN {
        return;
    }
    let placeholder = format!("{{{{env:{name}}}}}");
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    if known.iter().any(|secret| secret.placeholder == placeholder && secret.forms[0] == value) {
        return;
    }
    let json = serde_json::Value::from(value).to_string();
    let mut forms = vec![value.to_owned(), json[1..json.len() - 1].to_owned(), percent::encoded(value)];
    forms.dedup();
    known.push(Secret { placeholder, forms });
    // Longest first: one secret may contain another.
    known.sort_by_key(|secret| std::cmp::Reverse(secret.forms[0].len()));
}

/// The text with each secret, and each secret truncated at either end, replaced by its placeholder.
pub fn redact(text: &str) -> Cow<'_, str> {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    // Most runs have no secret, and each of their records passes through here.
    if known.is_empty() {
        return Cow::Borrowed(text);
    }
    let forms = || {
        known
            .iter()
            .flat_map(|Secret { placeholder, forms }| forms.iter().map(move |form| (form, placeholder)))
    };
    // Whole secrets first: one may begin like another.
    let whole = forms().fold(text.to_owned(), |text, (form, placeholder)| text.replace(form, placeholder));
    let cut = forms().flat_map(|(form, placeholder)| parts(form).map(move |part| (part, placeholder)));
    let clean = cut.fold(whole, |text, (part, placeholder)| match text.contains(part) {
        true => text.replace(part, placeholder),
        false => text,
    });
    Cow::Owned(clean)
}

/// The parts that a truncated secret may leave, the longest first.
fn parts(form: &str) -> impl Iterator<Item = &str> {
    let cuts = form.char_indices().map(|(place, _)| place).filter(|place| *place > 0);
    let cuts: Vec<usize> = cuts.collect();
    let beginnings = cuts.clone().into_iter().rev().map(|cut| &form[..cut]);
    let ends = cuts.into_iter().map(|cut| &form[cut..]);
    let of_some_length = |part: &&str| part.len() >= PART_LENGTH_MIN;
    beginnings.chain(ends).filter(of_some_length)
}

/// Replaces the secrets in all files below `folder`. Files without a secret are not written.
///
/// # Errors
/// A file cannot be read or written.
pub fn scrub(folder: &Path) -> io::Result<()> {
    if KNOWN.read().unwrap_or_else(PoisonError::into_inner).is_empty() {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            scrub(&entry.path())?;
        } else if kind.is_file() {
            scrub_file(&entry.path())?;
        }
    }
    Ok(())
}

/// Bytes that are not text stay.
fn scrub_file(path: &Path) -> io::Result<()> {
    let bytes = fs::read(path)?;
    let clean = seal::change(&bytes, redacted);
    if clean == bytes { Ok(()) } else { whole::write(path, clean) }
}

/// Invalid UTF-8 stays byte by byte between the valid pieces.
fn redacted(bytes: &[u8]) -> Vec<u8> {
    let mut clean = Vec::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        clean.extend_from_slice(redact(chunk.valid()).as_bytes());
        clean.extend_from_slice(chunk.invalid());
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_replaced_in_every_form() {
        keep("SHOP_TOKEN", "to\"ken/1");
        keep("SHOP_LONGER", "to\"ken/1 and more");
        keep("SHOP_SHORT", "abc");
        let text = "a to\"ken/1, {\"x\": \"to\\\"ken/1\"}, /a?b=to%22ken%2F1, to\"ken/1 and more, abc";
        assert_eq!(
            redact(text),
            "a {{env:SHOP_TOKEN}}, {\"x\": \"{{env:SHOP_TOKEN}}\"}, /a?b={{env:SHOP_TOKEN}}, {{env:SHOP_LONGER}}, abc"
        );
    }

    #[test]
    fn what_is_left_of_one_that_was_cut_off_is_replaced_too() {
        keep("CUT_TOKEN", "zyxwvu-tsrqpo");
        assert_eq!(redact("token=zyxwvu-ts..."), "token={{env:CUT_TOKEN}}...");
        assert_eq!(redact("...u-tsrqpo."), "...{{env:CUT_TOKEN}}.");
        assert_eq!(redact("zyxwv"), "zyxwv", "too little to know");
    }

    #[test]
    fn a_folder_is_scrubbed_and_other_bytes_stay() {
        keep("SCRUBBED", "hunter22");
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("inner")).unwrap();
        let path = folder.path().join("inner/stdout");
        fs::write(&path, b"\xff hunter22 \xfe hunter22").unwrap();
        let head = folder.path().join("run.json");
        fs::write(&head, seal::DOCUMENT.seal("{\n  \"url\": \"/?hunter22\"\n}\n")).unwrap();
        scrub(folder.path()).unwrap();
        let clean = seal::DOCUMENT.read(&head, 100).unwrap();
        assert_eq!(
            clean, b"{\n  \"url\": \"/?{{env:SCRUBBED}}\"\n}\n",
            "with a checksum that is right again"
        );
        assert_eq!(fs::read(&path).unwrap(), b"\xff {{env:SCRUBBED}} \xfe {{env:SCRUBBED}}");
    }
}

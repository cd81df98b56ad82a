//! Values of the environment that a contract sends and that must not be written down: a token, a password. What Tare writes or prints
//! passes through [`redact`], and the folder of a run through [`scrub`], since a service may print what it was sent.
//!
//! There is one list for the whole process: what must not be written is not a matter of who writes it.

use std::{
    borrow::Cow,
    fs, io,
    path::Path,
    sync::{PoisonError, RwLock},
};

use tare_load::percent;

use crate::{seal, whole};

/// A shorter value may stand anywhere by chance, and is no secret worth the name.
const LENGTH_MIN: usize = 4;

/// Of a secret that was cut off, less than this tells little, and may stand anywhere.
const PART_LENGTH_MIN: usize = 6;

static KNOWN: RwLock<Vec<Secret>> = RwLock::new(Vec::new());

struct Secret {
    /// What stands in its place: `{{env:NAME}}`.
    placeholder: String,
    /// The value as it may be written: as it is, in JSON, in a path.
    forms: Vec<String>,
}

/// From now on [`redact`] replaces this value of the variable `name`.
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
    // One may hold another.
    known.sort_by_key(|secret| std::cmp::Reverse(secret.forms[0].len()));
}

/// The text with each secret replaced by its placeholder, and what is left of one that was cut off at either end.
pub fn redact(text: &str) -> Cow<'_, str> {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    // Most runs have none, and each of their records comes through here.
    if known.is_empty() {
        return Cow::Borrowed(text);
    }
    let forms = || {
        known
            .iter()
            .flat_map(|Secret { placeholder, forms }| forms.iter().map(move |form| (form, placeholder)))
    };
    // All whole ones first: one may begin as another does.
    let whole = forms().fold(text.to_owned(), |text, (form, placeholder)| text.replace(form, placeholder));
    let cut = forms().flat_map(|(form, placeholder)| parts(form).map(move |part| (part, placeholder)));
    let clean = cut.fold(whole, |text, (part, placeholder)| match text.contains(part) {
        true => text.replace(part, placeholder),
        false => text,
    });
    Cow::Owned(clean)
}

/// What may be left of one that is cut off, the longest first.
fn parts(form: &str) -> impl Iterator<Item = &str> {
    let cuts = form.char_indices().map(|(place, _)| place).filter(|place| *place > 0);
    let cuts: Vec<usize> = cuts.collect();
    let beginnings = cuts.clone().into_iter().rev().map(|cut| &form[..cut]);
    let ends = cuts.into_iter().map(|cut| &form[cut..]);
    let of_some_length = |part: &&str| part.len() >= PART_LENGTH_MIN;
    beginnings.chain(ends).filter(of_some_length)
}

/// Replaces the secrets in all files below `folder`. Files without one are not written.
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

/// Bytes that are no text stay as they are.
fn scrub_file(path: &Path) -> io::Result<()> {
    let bytes = fs::read(path)?;
    let clean = seal::change(&bytes, redacted);
    if clean == bytes { Ok(()) } else { whole::write(path, clean) }
}

/// What is not UTF-8 is kept byte by byte between the pieces that are.
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

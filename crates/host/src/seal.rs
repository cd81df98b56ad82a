//! Checksums of what Tare stores. A CRC-32 is part of the file itself, so file and checksum are written
//! together or not at all. A separate list would have to be written before or after the files.
//!
//! A checksum reveals changes by a disk or an editor. It does not protect against a person, who can compute
//! one too. Content without a checksum is accepted, since older Tares wrote none.

use std::{
    borrow::Cow,
    io::{self, ErrorKind},
    path::Path,
};

use crate::foreign;

const DIGITS: usize = 8;

/// The content differs from what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("its checksum is wrong: it was changed after it was written; take it from a copy, or measure again")]
pub struct BrokenSeal;

/// Where a text contains its checksum, which is computed over the text without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    /// Between the text and the digits.
    key: &'static str,
    /// After the digits, before the end.
    quote: &'static str,
    /// How every text of this form ends.
    end: &'static str,
}

/// A journal line, which is an object around a record: the checksum is the last key of the record. Each line
/// stays a JSON object, and an older Tare treats the checksum as an unknown key.
pub const LINE: Form = Form { key: ",\"crc32\":\"", quote: "\"", end: "}}" };

/// A JSON object over several lines: the checksum is its last key.
pub const DOCUMENT: Form = Form { key: ",\n  \"crc32\": \"", quote: "\"", end: "\n}\n" };

/// For formats with `#` comments such as TOML, and for those that state their own length such as histograms:
/// the checksum is a line at the end.
pub const LAST_LINE: Form = Form { key: "# crc32 ", quote: "\n", end: "" };

impl Form {
    /// The text with its checksum. Text that is empty, or lacks the end of this form, gets none.
    pub fn seal(self, text: impl AsRef<[u8]>) -> Vec<u8> {
        let text = text.as_ref();
        match text.strip_suffix(self.end.as_bytes()) {
            Some(open) if !open.is_empty() && !open.ends_with(b"{") => {
                let sum = format!("{}{:08x}{}{}", self.key, crc32fast::hash(text), self.quote, self.end);
                [open, sum.as_bytes()].concat()
            }
            _ => text.to_owned(),
        }
    }

    /// The text without its checksum, if it has one.
    ///
    /// # Errors
    /// The checksum does not match.
    pub fn unseal(self, sealed: &[u8]) -> Result<Cow<'_, [u8]>, BrokenSeal> {
        let Some((open, digits)) = self.split(sealed) else { return Ok(Cow::Borrowed(sealed)) };
        let text = match self.end {
            "" => Cow::Borrowed(open),
            end => Cow::Owned([open, end.as_bytes()].concat()),
        };
        let sum = format!("{:08x}", crc32fast::hash(&text));
        if sum.as_bytes() == digits { Ok(text) } else { Err(BrokenSeal) }
    }

    /// Reads an untrusted file of this form, and removes its checksum.
    ///
    /// # Errors
    /// As [`foreign::read`], or the checksum does not match.
    pub fn read(self, path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
        let sealed = foreign::read(path, bytes_max)?;
        let text = self.unseal(&sealed).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
        Ok(text.into_owned())
    }

    /// The part before the checksum, and the digits.
    fn split(self, sealed: &[u8]) -> Option<(&[u8], &[u8])> {
        let rest = sealed.strip_suffix(self.end.as_bytes())?.strip_suffix(self.quote.as_bytes())?;
        let (rest, digits) = rest.split_at_checked(rest.len().checked_sub(DIGITS)?)?;
        Some((rest.strip_suffix(self.key.as_bytes())?, digits))
    }

    /// The changed text with a new checksum; absent if the text has none.
    fn change(self, sealed: &[u8], change: impl FnOnce(&[u8]) -> Vec<u8>) -> Option<Vec<u8>> {
        self.split(sealed)?;
        Some(self.seal(change(&self.unseal(sealed).ok()?)))
    }
}

/// Changes text that may be sealed in any form, as a whole or line by line, and renews its checksums.
pub(crate) fn change(bytes: &[u8], change: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let whole = [DOCUMENT, LAST_LINE].iter().find_map(|form| form.change(bytes, &change));
    let of_line = |line: &[u8]| {
        let sealed = line.strip_suffix(b"\n").and_then(|line| LINE.change(line, &change));
        sealed.map(|sealed| [&sealed[..], b"\n"].concat())
    };
    whole.unwrap_or_else(|| {
        // In a file without checksums a secret may span two lines.
        let lines = || bytes.split_inclusive(|byte| *byte == b'\n');
        match lines().any(|line| of_line(line).is_some()) {
            true => lines().flat_map(|line| of_line(line).unwrap_or_else(|| change(line))).collect(),
            false => change(bytes),
        }
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    const RECORD: &str = r#"{"ended":{"reason":"complete","elapsed_ns":5}}"#;

    fn sealed(form: Form, text: &str) -> String {
        String::from_utf8(form.seal(text)).unwrap()
    }

    #[test]
    fn a_sealed_text_is_of_the_same_kind_and_gives_the_text_again() {
        let document = serde_json::to_string_pretty(&json!({"a": 1})).unwrap() + "\n";
        for (form, text, expected) in [
            (LINE, RECORD, r#"{"ended":{"reason":"complete","elapsed_ns":5,"crc32":"924f72fa"}}"#),
            (DOCUMENT, &document, "{\n  \"a\": 1,\n  \"crc32\": \"c2bf3c0e\"\n}\n"),
            (LAST_LINE, "a = 1\n", "a = 1\n# crc32 af2fda68\n"),
        ] {
            let sealed = sealed(form, text);
            assert_eq!(sealed, expected);
            assert_eq!(form.unseal(sealed.as_bytes()).unwrap(), text.as_bytes());
            assert_eq!(form.unseal(text.as_bytes()).unwrap(), text.as_bytes(), "of an older Tare");
        }
        assert_eq!(sealed(DOCUMENT, "{}\n"), "{}\n", "where no key can follow");
    }

    #[test]
    fn a_file_that_was_changed_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.toml");
        fs::write(&path, LAST_LINE.seal("version = \"1.26.8\"\n")).unwrap();
        assert_eq!(LAST_LINE.read(&path, 100).unwrap(), b"version = \"1.26.8\"\n");
        fs::write(&path, fs::read_to_string(&path).unwrap().replace("1.26", "4.26")).unwrap();
        let refused = LAST_LINE.read(&path, 100).unwrap_err();
        assert_eq!(refused.to_string(), BrokenSeal.to_string());
    }

    #[test]
    fn what_is_changed_on_purpose_keeps_a_right_checksum_and_what_is_broken_stays_broken() {
        let shout =
            |bytes: &[u8]| String::from_utf8_lossy(bytes).replace("complete", "COMPLETE").into_bytes();
        let document = "{\n  \"reason\": \"complete\"\n}\n";
        for (form, text) in [(DOCUMENT, document), (LAST_LINE, "complete\n")] {
            let changed = change(&form.seal(text), shout);
            assert_eq!(form.unseal(&changed).unwrap(), shout(text.as_bytes()));
            let broken = sealed(form, text).replace("comp", "cOmp").into_bytes();
            assert_eq!(form.unseal(&change(&broken, shout)), Err(BrokenSeal));
        }
        let journal = format!("{}\ncomplete\n", sealed(LINE, RECORD));
        let expected = [LINE.seal(shout(RECORD.as_bytes())), b"\nCOMPLETE\n".to_vec()].concat();
        assert_eq!(change(journal.as_bytes(), shout), expected);
    }

    proptest! {
        #[test]
        fn whatever_is_changed_no_other_text_is_read(
            reason in ".{0,40}", place in any::<prop::sample::Index>(), change in 1_u8..,
        ) {
            let value = json!({"failed": {"row": 1, "reason": reason}});
            let document = serde_json::to_string_pretty(&value).unwrap() + "\n";
            for (form, text) in [(LINE, value.to_string()), (DOCUMENT, document)] {
                let mut bytes = form.seal(&text);
                prop_assert_eq!(form.unseal(&bytes).unwrap(), text.as_bytes());
                let place = place.index(bytes.len());
                bytes[place] ^= change;
                // If the damage hit the key of the checksum, the text before it must be unchanged.
                let read = form.unseal(&bytes).ok().and_then(|text| serde_json::from_slice::<Value>(&text).ok());
                if let Some(read) = read {
                    prop_assert_eq!(&read["failed"]["row"], &value["failed"]["row"]);
                    prop_assert_eq!(&read["failed"]["reason"], &value["failed"]["reason"]);
                }
            }
        }
    }
}

//! Reads hand-written files. Their text does not depend on the system that saved it, and each error of a TOML
//! file is one line with file, line, key and nearest valid name. Knows nothing of the documents' meaning.

use std::path::{Path, PathBuf};

use crate::spelling::suggestion;
use serde::de::DeserializeOwned;

#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    #[error("{}: cannot be read: {source}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{} {source}", path.display())]
    Decode { path: PathBuf, source: DecodeError },
    #[error("{}: there is no such folder, and no such program", path.display())]
    NoFolder { path: PathBuf },
    #[error("{}: has no service.toml, which says how a service is started", path.display())]
    NoManifest { path: PathBuf },
    #[error("{}:{line}: {message}", path.display())]
    Invalid { path: PathBuf, line: usize, message: String },
}

/// Why bytes are not text. Each message continues a sentence after the file's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    #[error("is not UTF-8 in line {line}: save it as UTF-8")]
    NotUtf8 { line: usize },
    #[error("begins as UTF-16, and is not: save it as UTF-8")]
    NotUtf16,
    #[error("is UTF-16 without a byte order mark: save it as UTF-8")]
    NoMark,
    #[error("is UTF-32: save it as UTF-8")]
    Utf32,
}

impl DocumentError {
    /// An error in the meaning of `text`, at the first line that contains `needle`, or else at line 1.
    pub fn at(path: &Path, text: &str, needle: &str, message: impl Into<String>) -> DocumentError {
        let line = text.lines().position(|line| line.contains(needle)).map_or(1, |index| index + 1);
        DocumentError::Invalid { path: path.to_owned(), line, message: message.into() }
    }
}

/// Reads the file at `path` as text.
///
/// # Errors
/// The file does not exist, cannot be read, or is not text.
pub fn read(path: &Path) -> Result<String, DocumentError> {
    let bytes =
        std::fs::read(path).map_err(|source| DocumentError::Read { path: path.to_owned(), source })?;
    decoded(&bytes).map_err(|source| DocumentError::Decode { path: path.to_owned(), source })
}

/// Decodes a file as UTF-8, or as UTF-16 with a byte order mark. The mark is removed, and lines end with a
/// line feed only.
///
/// # Errors
/// The bytes are not text in any of these encodings.
pub fn decoded(bytes: &[u8]) -> Result<String, DecodeError> {
    let text = text_of(bytes)?;
    Ok(if text.contains('\r') { text.replace("\r\n", "\n") } else { text })
}

/// As [`decoded`], with unchanged line ends, for text that other programs read too.
///
/// # Errors
/// As [`decoded`].
pub fn text_of(bytes: &[u8]) -> Result<String, DecodeError> {
    Ok(match bytes {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => return Err(DecodeError::Utf32),
        [0xff, 0xfe, text @ ..] => of_utf16(text, u16::from_le_bytes)?,
        [0xfe, 0xff, text @ ..] => of_utf16(text, u16::from_be_bytes)?,
        [0, _, ..] | [_, 0, ..] => return Err(DecodeError::NoMark),
        [0xef, 0xbb, 0xbf, text @ ..] | text => of_utf8(text)?.to_owned(),
    })
}

fn of_utf8(bytes: &[u8]) -> Result<&str, DecodeError> {
    std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        DecodeError::NotUtf8 { line: before.iter().filter(|byte| **byte == b'\n').count() + 1 }
    })
}

fn of_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, DecodeError> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let units: Vec<u16> = pairs.iter().map(|pair| unit(*pair)).collect();
    match String::from_utf16(&units) {
        Ok(text) if rest.is_empty() => Ok(text),
        _ => Err(DecodeError::NotUtf16),
    }
}

/// Parses `text`; errors name `path`. `format` is the supported `major.minor`: a document with another format
/// is rejected before anything else is read.
///
/// # Errors
/// The text is not TOML, has another format, or has a key or value that `T` lacks; it names the line.
pub fn parse<T: DeserializeOwned>(path: &Path, text: &str, format: &str) -> Result<T, DocumentError> {
    parse_one_of(path, text, &[format])
}

/// As [`parse`], for several formats, the newest last.
///
/// # Errors
/// As [`parse`].
pub fn parse_one_of<T: DeserializeOwned>(
    path: &Path,
    text: &str,
    formats: &[&str],
) -> Result<T, DocumentError> {
    check_format(path, text, formats)?;
    toml::from_str(text).map_err(|error| describe(path, text, &error))
}

/// Quoted, separated by commas and an "and".
fn listed(formats: &[&str]) -> String {
    let quoted: Vec<String> = formats.iter().map(|format| format!("\"{format}\"")).collect();
    match quoted.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => quoted.concat(),
    }
}

fn check_format(path: &Path, text: &str, formats: &[&str]) -> Result<(), DocumentError> {
    let newest = formats.last().copied().unwrap_or_default();
    let table: toml::Table = toml::from_str(text).map_err(|error| describe(path, text, &error))?;
    match table.get("format").and_then(toml::Value::as_str) {
        Some(found) if formats.contains(&found) => Ok(()),
        Some(found) => Err(DocumentError::at(
            path,
            text,
            "format",
            format!("format \"{found}\" is not one this tare reads: it reads {}", listed(formats)),
        )),
        None => Err(DocumentError::at(path, text, "format", format!("needs the key format = \"{newest}\""))),
    }
}

fn describe(path: &Path, text: &str, error: &toml::de::Error) -> DocumentError {
    let start = error.span().map_or(0, |span| span.start);
    let line = text[..start.min(text.len())].matches('\n').count() + 1;
    let message =
        improve(error.message()).unwrap_or_else(|| error.message().replace('`', "\"").replace('\n', " "));
    DocumentError::Invalid { path: path.to_owned(), line, message }
}

/// Turns `unknown field `x`, expected one of `a`, `b`` into `unknown key "x"; did you mean "a"?`.
fn improve(message: &str) -> Option<String> {
    let (kind, rest) = [("unknown field ", "key"), ("unknown variant ", "value")]
        .into_iter()
        .find_map(|(prefix, kind)| message.strip_prefix(prefix).map(|rest| (kind, rest)))?;
    let names: Vec<&str> = rest.split('`').skip(1).step_by(2).collect();
    let (given, valid) = names.split_first()?;
    Some(format!("unknown {kind} \"{given}\"{}", suggestion(given, valid.iter().copied())))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        #[serde(rename = "format")]
        _format: String,
        #[serde(rename = "contracts")]
        _contracts: Vec<String>,
    }

    fn error(text: &str) -> String {
        parse::<Sample>(Path::new("a/service.toml"), text, "1.0").unwrap_err().to_string()
    }

    #[test]
    fn a_mistake_is_one_line_with_file_line_and_nearest_name() {
        assert_eq!(
            error("format = \"1.0\"\ncontrats = []\n"),
            "a/service.toml:2: unknown key \"contrats\"; did you mean \"contracts\"?"
        );
        assert_eq!(
            error("format = \"2.0\"\n"),
            "a/service.toml:1: format \"2.0\" is not one this tare reads: it reads \"1.0\""
        );
        assert_eq!(error("contracts = []\n"), "a/service.toml:1: needs the key format = \"1.0\"");
        let wrong_type = error("format = \"1.0\"\ncontracts = 3\n");
        assert!(wrong_type.starts_with("a/service.toml:2: invalid type"), "{wrong_type}");
        assert!(!error("format = \"1.0\"\ncontracts = [\n").contains('\n'));
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named() {
        let error = read(Path::new("/no/such/service.toml")).unwrap_err().to_string();
        assert!(error.starts_with("/no/such/service.toml: cannot be read: "), "{error}");
    }

    #[test]
    fn an_error_in_the_meaning_has_the_line_of_its_text() {
        let at = |needle| DocumentError::at(Path::new("a"), "one\ntwo\ntwo", needle, "wrong").to_string();
        assert_eq!((at("two"), at("three")), ("a:2: wrong".to_owned(), "a:1: wrong".to_owned()));
    }

    /// Text as Windows saves it: with a byte order mark and CRLF, in the encoding of `unit`.
    fn utf16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
        format!("\u{feff}{}", text.replace('\n', "\r\n")).encode_utf16().flat_map(unit).collect()
    }

    #[test]
    fn a_file_is_the_same_text_in_every_encoding() {
        let text = "a = \"é𝄞\"\n\nb\n";
        for bytes in [
            text.as_bytes().to_vec(),
            format!("\u{feff}{text}").into_bytes(),
            text.replace('\n', "\r\n").into_bytes(),
            utf16(text, u16::to_le_bytes),
            utf16(text, u16::to_be_bytes),
        ] {
            assert_eq!(decoded(&bytes).as_deref(), Ok(text), "{bytes:?}");
        }
        assert_eq!(decoded(b"").as_deref(), Ok(""));
        assert_eq!(decoded(b"\xff\xfe").as_deref(), Ok(""));
        assert_eq!(decoded(b"a\rb\r\r\n").as_deref(), Ok("a\rb\r\n"), "a return alone is no end of a line");
    }

    #[test]
    fn what_is_no_text_is_refused_with_the_reason() {
        for (bytes, expected) in [
            (&b"a\nb\xe9"[..], DecodeError::NotUtf8 { line: 2 }),
            (b"\xef\xbb\xbf\xe9", DecodeError::NotUtf8 { line: 1 }),
            (b"\xff\xfea\0b", DecodeError::NotUtf16),
            (b"\xfe\xff\xd8\0", DecodeError::NotUtf16),
            (b"a\0b\0", DecodeError::NoMark),
            (b"\0a\0b", DecodeError::NoMark),
            (b"\xff\xfe\0\0a\0\0\0", DecodeError::Utf32),
            (b"\0\0\xfe\xff\0\0\0a", DecodeError::Utf32),
        ] {
            assert_eq!(decoded(bytes), Err(expected), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(text in any::<String>()) {
            let text = text.replace('\r', "").trim_start_matches(['\u{feff}', '\0']).to_owned();
            prop_assume!(text.as_bytes().get(1) != Some(&0));
            for bytes in [text.clone().into_bytes(), utf16(&text, u16::to_le_bytes), utf16(&text, u16::to_be_bytes)] {
                prop_assert_eq!(decoded(&bytes), Ok(text.clone()));
            }
        }

        #[test]
        fn every_error_is_one_line_with_an_existing_line_number(
            text in "(format = \"1.0\"\n)?(contracts = \\[|\\]|\"é\"|[a-z]{1,5}|=|\n|\\[\\[|#|'){0,20}",
        ) {
            if let Err(error) = parse::<Sample>(Path::new("a.toml"), &text, "1.0") {
                let error = error.to_string();
                prop_assert!(!error.contains('\n'), "{}", error);
                let line: usize = error.split(':').nth(1).unwrap().parse().unwrap();
                prop_assert!((1..=text.lines().count().max(1) + 1).contains(&line), "{} of {:?}", error, text);
            }
        }

        #[test]
        fn a_mistyped_key_is_found_wherever_it_is(before in "(#[a-zé ]{0,9}\n|\n){0,6}") {
            let text = format!("{before}format = \"1.0\"\ncontrcats = []\n");
            let expected = format!(
                "a/service.toml:{}: unknown key \"contrcats\"; did you mean \"contracts\"?",
                before.matches('\n').count() + 2,
            );
            prop_assert_eq!(error(&text), expected);
        }
    }
}

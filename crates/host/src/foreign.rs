//! Reads untrusted input: the output of services and tools, and run folders from elsewhere. Input has a size
//! limit, comes from a regular file, and cannot hide characters from a reader.

use std::{
    borrow::Cow,
    fs::File,
    io::{self, Read},
    path::Path,
};

use rustix::fs::{Mode, OFlags};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Longest quoted line, in characters. The rest is only counted.
const LINE_CHARS_MAX: usize = 2_000;

/// Whether a terminal interprets it, or it changes the direction of writing: it would hide text.
pub fn is_hidden(c: char) -> bool {
    let turns =
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || matches!(c, '\u{fffe}' | '\u{ffff}') || (c.is_control() && c != '\n')
}

/// Text without hidden characters. Control characters and marks of direction are shown by their number, a tab
/// becomes a space. XML 1.0 cannot express most of them, Markdown drops some, and two names that differ only
/// in them would look the same.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' => out.push(' '),
            c if is_hidden(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Text for a terminal. Tare's own colours and tabs stay; every other control character is shown as its JSON
/// escape, so JSON stays the same value.
pub fn painted(text: &str) -> Cow<'_, str> {
    if !text.contains(|c| is_hidden(c) && c != '\t') {
        return Cow::Borrowed(text);
    }
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(c) = rest.chars().next() {
        let length = colour(rest).unwrap_or(c.len_utf8());
        match length == c.len_utf8() && is_hidden(c) && c != '\t' && !rest.starts_with("\r\n") {
            true => out += &format!("\\u{:04x}", u32::from(c)),
            false => out += &rest[..length],
        }
        rest = &rest[length..];
    }
    Cow::Owned(out)
}

/// Length in bytes of a colour sequence such as `ESC[1;31m` at the beginning of a text.
fn colour(text: &str) -> Option<usize> {
    let numbers = text.strip_prefix("\u{1b}[")?;
    let end = numbers.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    numbers[end..].starts_with('m').then_some(end + 3)
}

/// Output of a program for a message: visible characters only, and long lines are cut.
pub fn quotable(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let line = visible(line);
        let cut = line.char_indices().nth(LINE_CHARS_MAX);
        match cut {
            None => line.into_owned(),
            Some((at, _)) => format!("{}... ({} more characters)", &line[..at], line[at..].chars().count()),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Parses untrusted JSON; every text in it is made visible.
///
/// # Errors
/// The bytes are not JSON, or not of this type.
pub fn json<T: DeserializeOwned>(bytes: &[u8]) -> serde_json::Result<T> {
    match hides_something(bytes) {
        false => serde_json::from_slice(bytes),
        true => serde_json::from_value(json_value(bytes)?),
    }
}

/// As [`json`], for any type.
///
/// # Errors
/// The bytes are not JSON.
pub fn json_value(bytes: &[u8]) -> serde_json::Result<Value> {
    let mut value = serde_json::from_slice(bytes)?;
    if hides_something(bytes) {
        reveal(&mut value);
    }
    Ok(value)
}

/// Whether a text in this JSON may need changes. Most journal lines do not, and are parsed only once.
pub fn hides_something(bytes: &[u8]) -> bool {
    let escapes = memchr::memchr_iter(b'\\', bytes);
    let mut spelled = escapes.filter_map(|at| bytes.get(at + 1));
    if spelled.any(|kind| b"ubfrt".contains(kind)) {
        return true;
    }
    !bytes.is_ascii() && String::from_utf8_lossy(bytes).contains(|c| is_hidden(c) && !c.is_ascii())
        || memchr::memchr(0x7f, bytes).is_some()
}

fn reveal(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(revealed) = visible(text) {
                *text = revealed;
            }
        }
        Value::Array(values) => values.iter_mut().for_each(reveal),
        Value::Object(fields) => {
            for (mut key, mut field) in std::mem::take(fields) {
                if let Cow::Owned(revealed) = visible(&key) {
                    key = revealed;
                }
                reveal(&mut field);
                fields.insert(key, field);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Opens an untrusted path for reading, if it is a regular file. A FIFO or a device could block for ever or
/// never end, so both are refused without waiting.
///
/// # Errors
/// The file cannot be opened, or is not a regular file.
pub fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    if file.metadata()?.is_file() { Ok(file) } else { Err(invalid("it is no regular file".to_owned())) }
}

/// The content of such a file, if it is at most `bytes_max` long.
///
/// # Errors
/// As [`open`], or the file is larger.
pub fn read(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // One byte more than allowed shows that the file is too large, even if it grows meanwhile.
    open(path)?.take(bytes_max + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > bytes_max {
        true => Err(invalid(format!(
            "it has more than {bytes_max} bytes, which nothing that tare writes there has"
        ))),
        false => Ok(bytes),
    }
}

fn invalid(reason: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

#[cfg(test)]
mod tests {
    use std::{fs, time::Instant};

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_shown_by_its_number() {
        assert_eq!(visible("a\u{1b}[2J\u{7}\tb\r"), "a\\u{1b}[2J\\u{7} b\\u{d}");
        assert_eq!(visible("\u{202e}txt.exe \u{9b}31m"), "\\u{202e}txt.exe \\u{9b}31m");
        for turns in
            "\u{61c}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{2066}\u{2067}\u{2068}\u{2069}".chars()
        {
            assert_eq!(visible(&turns.to_string()), turns.escape_unicode().to_string());
        }
        assert!(matches!(visible("plain, é, 漢\nanother line"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_terminal_gets_colours_and_nothing_else_that_it_obeys() {
        let text = "\u{1b}[1;31merror\u{1b}[0m: \u{1b}[2J\u{1b}]0;x\u{7}\t\u{202e}\r\n\r";
        let expected = "\u{1b}[1;31merror\u{1b}[0m: \\u001b[2J\\u001b]0;x\\u0007\t\\u202e\r\n\\u000d";
        assert_eq!(painted(text), expected);
        assert_eq!(painted("\u{1b}["), "\\u001b[");
        assert!(matches!(painted("plain\tand é"), Cow::Borrowed(_)));
        let json = painted("{\"a\":\"\u{202e}\"}").into_owned();
        assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), json!({ "a": "\u{202e}" }));
    }

    #[test]
    fn a_line_of_any_length_is_cut_and_says_so() {
        let long = "é".repeat(LINE_CHARS_MAX + 7);
        let shown = quotable(&format!("one\r\n{long}"));
        assert_eq!(shown, format!("one\n{}... (7 more characters)", "é".repeat(LINE_CHARS_MAX)));
    }

    #[test]
    fn texts_of_json_are_revealed_however_they_are_spelled() {
        let text = r#"{"a\u001b":["\u202e","RAW","\b"],"n":1.5}"#.replace("RAW", "\u{202e}");
        let found = json_value(text.as_bytes()).unwrap();
        assert_eq!(found, json!({ "a\\u{1b}": ["\\u{202e}", "\\u{202e}", "\\u{8}"], "n": 1.5 }));
        let found: Vec<String> = json("[\"\u{7f}\"]".as_bytes()).unwrap();
        assert_eq!(found, ["\\u{7f}"]);
        assert!(!hides_something(r#"{"a":"é\n\"\\"}"#.as_bytes()), "what is plain is read once");
    }

    #[test]
    fn only_a_regular_file_of_some_size_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "12345").unwrap();
        assert_eq!(read(&path, 5).unwrap(), b"12345");
        assert!(read(&path, 4).unwrap_err().to_string().contains("more than 4 bytes"));
        assert_eq!(read(&folder.path().join("none"), 4).unwrap_err().kind(), io::ErrorKind::NotFound);
        let fifo = folder.path().join("fifo");
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, Mode::RUSR, 0).unwrap();
        let began = Instant::now();
        for path in [fifo.as_path(), Path::new("/dev/zero"), folder.path()] {
            let refused = read(path, 1 << 20).unwrap_err();
            assert!(refused.to_string().contains("no regular file"), "{refused}");
        }
        assert!(began.elapsed().as_secs() < 5);
    }

    proptest! {
        #[test]
        fn nothing_is_hidden_and_what_is_plain_stays(text in "(?s).{0,60}") {
            let shown = visible(&text);
            prop_assert!(!shown.contains(is_hidden));
            prop_assert!(text.contains(is_hidden) || shown == text);
        }

        #[test]
        fn no_text_of_json_hides_anything(text in "(?s).{0,40}", key in "(?s).{0,10}") {
            let written = serde_json::to_vec(&json!({ key: [text] })).unwrap();
            let read: Value = json(&written).unwrap();
            let mut texts = Vec::new();
            for (key, field) in read.as_object().unwrap() {
                texts.extend([key.clone(), field[0].as_str().unwrap().to_owned()]);
            }
            prop_assert!(texts.iter().all(|text| !text.contains(is_hidden)), "{texts:?}");
        }
    }
}

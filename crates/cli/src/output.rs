//! Data goes to stdout, everything else to stderr. Colours are always written; `anstream` strips them without
//! a terminal or if `NO_COLOR` is set.

use std::{
    fs,
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
};

use anyhow::Context;
use tare_base::whole;
use tare_host::{foreign, secrets};
use tare_report::{
    document::{Table, Unit, Value},
    write::text::{self, TextLook},
};

/// How a command prints its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// A table for a terminal
    Text,
    /// For a pull request: the answer and a small table, the rest folded
    Markdown,
    /// For programs
    Json,
}

/// `text` in an ANSI colour.
pub(crate) fn paint(code: &str, text: &str) -> String {
    format!("\x1b[{code}m{text}\x1b[0m")
}

/// Prints text, which must contain no terminal sequences except colours.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    put(anstream::stdout().lock(), foreign::painted(&secrets::redact(text)).as_bytes())
}

/// Prints data of another format byte by byte, without interpreting colours.
pub(crate) fn print_bytes(bytes: &[u8]) -> anyhow::Result<()> {
    put(std::io::stdout().lock(), bytes)
}

/// A closed reader (`tare list | head`) is no error.
fn put(mut stdout: impl Write, bytes: &[u8]) -> anyhow::Result<()> {
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write to stdout"),
    }
}

/// Writes a file atomically: to a temporary file first, so that a full disk preserves the old content. A
/// device or a pipe is written directly.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let write = || {
        // Replace the target of a link, not the link.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            return fs::OpenOptions::new().write(true).open(&path)?.write_all(bytes);
        }
        whole::write(&path, bytes)
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}

/// Writes a file into a folder. An existing link of that name is replaced, not followed: the user only named
/// the folder.
pub(crate) fn write_in(folder: &Path, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
    let path = folder.join(name);
    whole::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

/// Writes files into a folder. If the disk is full, all of them keep their old content.
pub(crate) fn write_files(folder: &Path, files: &[(&str, &[u8])]) -> anyhow::Result<()> {
    let files: Vec<(PathBuf, &[u8])> =
        files.iter().map(|(name, bytes)| (folder.join(name), *bytes)).collect();
    for parent in files.iter().filter_map(|(path, _)| path.parent()) {
        fs::create_dir_all(parent).with_context(|| format!("cannot make the folder {}", parent.display()))?;
    }
    whole::write_all(&files).map_err(|(path, error)| {
        anyhow::Error::from(error).context(format!("cannot write {}", path.display()))
    })
}

pub(crate) fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    print(&json(value)?)
}

/// Prints a value as JSON or in words.
pub(crate) fn print_either(
    json: bool,
    value: &impl serde::Serialize,
    words: impl FnOnce() -> String,
) -> anyhow::Result<()> {
    if json { print_json(value) } else { print(&words()) }
}

/// A value as indented JSON, as printed and stored in run folders.
pub(crate) fn json(value: &impl serde::Serialize) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

/// A table in the width of the terminal: see [`Table::plain`].
pub(crate) fn table<const N: usize>(
    columns: [(&str, Unit, u8); N],
    rows: Vec<[Value; N]>,
    look: TextLook,
) -> String {
    text::table(&Table::plain(columns, rows), look)
}

/// The form of text on stdout.
pub(crate) fn look() -> TextLook {
    let width = width();
    // The reader of a file may use another locale.
    TextLook { width, colours: true, ascii: width.is_some() && is_ascii() }
}

/// Whether the locale says that the terminal has no UTF-8. Without a locale UTF-8 is assumed.
pub(crate) fn is_ascii() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .filter_map(std::env::var_os)
        .find(|value| !value.is_empty());
    locale.is_some_and(|locale| !is_utf8(&locale.to_string_lossy()))
}

fn is_utf8(locale: &str) -> bool {
    let locale = locale.to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

/// The width of the terminal at stdout; `None` if it is no terminal.
fn width() -> Option<usize> {
    let terminal = console::Term::stdout();
    terminal.size_checked().filter(|_| terminal.is_term()).map(|(_, columns)| columns.into())
}

/// Whether stdout is a terminal.
pub(crate) fn is_on_terminal() -> bool {
    console::Term::stdout().is_term()
}

/// Prints the path of a file to stderr, as a link (OSC 8) if that is a terminal with colours.
pub(crate) fn tell_link(words: &str, path: &Path) {
    let is_plain = anstream::AutoStream::choice(&std::io::stderr()) == anstream::ColorChoice::Never;
    let link = path.canonicalize().ok().filter(|_| !is_plain).map(|target| link(path, &target));
    match link {
        // Both parts of the link are escaped, so that no file name can control the terminal.
        Some(link) => {
            let _gone = writeln!(std::io::stderr().lock(), "{}", secrets::redact(&format!("{words}{link}")));
        }
        None => tare_host::message!("{words}{}", path.display()),
    }
}

/// `path` as text, linked to `target`, which is absolute.
fn link(path: &Path, target: &Path) -> String {
    let shown = path.display().to_string();
    let (shown, url) = (foreign::visible(&shown), file_url(target));
    format!("\x1b]8;;{url}\x1b\\{shown}\x1b]8;;\x1b\\")
}

/// Escapes every byte that is not safe in a URL.
fn file_url(path: &Path) -> String {
    let mut url = "file://".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'~' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                url.push(char::from(*byte))
            }
            byte => url += &format!("%{byte:02X}"),
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_leads_to_the_file_and_obeys_no_name() {
        let link = link(Path::new("out/a b\x1b]8;;http://x\x07.html"), Path::new("/out/a b\x1b.html"));
        let beginning = "\x1b]8;;file:///out/a%20b%1B.html\x1b\\out/a b\\u{1b}]8;;http";
        assert!(link.starts_with(beginning), "{link:?}");
        assert_eq!(link.matches('\x1b').count(), 4, "{link:?}");
    }

    #[test]
    fn a_file_in_a_folder_takes_the_place_of_a_link_and_one_that_was_named_is_where_it_leads() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target"), folder.path().join("report.md"));
        fs::write(&target, "of the user").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        write_file(&link, b"named").unwrap();
        assert!(link.is_symlink() && fs::read(&target).unwrap() == b"named");
        write_in(folder.path(), "report.md", b"new").unwrap();
        assert!(!link.is_symlink() && fs::read(&link).unwrap() == b"new");
        assert_eq!(fs::read(&target).unwrap(), b"named", "nothing is written through the link");
    }

    #[test]
    fn a_locale_says_whether_there_are_signs_that_draw() {
        assert_eq!(["C.UTF-8", "de_DE.utf8", "C", "en_US"].map(is_utf8), [true, true, false, false]);
    }
}

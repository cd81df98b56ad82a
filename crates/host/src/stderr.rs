//! The one place that writes to stderr. A failed write never ends a run: a closed terminal, a pipe without a
//! reader and a full disk are ignored, where `eprintln!` would panic. A lint forbids the macros of the
//! standard library and of `anstream` (`clippy.toml`).

use std::{fmt, io::Write};

use crate::{foreign, secrets};

/// Writes a line to stderr; errors are ignored. Secrets are removed, and colours too if stderr is no
/// terminal. Other control characters become visible.
#[macro_export]
macro_rules! message {
    ($($words:tt)*) => { $crate::stderr::line(format_args!($($words)*)) };
}

/// The function behind [`message!`](crate::message).
pub fn line(words: fmt::Arguments<'_>) {
    line_to(&mut anstream::stderr().lock(), words);
}

/// Writes the line in one call, so that lines of two threads do not mix.
fn line_to(out: &mut impl Write, words: fmt::Arguments<'_>) {
    let line = format!("{words}\n");
    let line = secrets::redact(&line);
    let _gone = out.write_all(foreign::painted(&line).as_bytes()).and_then(|()| out.flush());
}

#[cfg(test)]
mod tests {
    use std::{fs, io};

    use super::*;

    /// A writer that fails, like a pipe without a reader.
    struct Gone;

    impl Write for Gone {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
    }

    #[test]
    fn a_line_is_written_whole_or_not_at_all() {
        let mut out = Vec::new();
        line_to(&mut out, format_args!("one {}", 1));
        line_to(&mut out, format_args!("two\x1b[2J"));
        assert_eq!(out, b"one 1\ntwo\\u001b[2J\n");
        line_to(&mut Gone, format_args!("lost"));
        line_to(&mut fs::OpenOptions::new().write(true).open("/dev/full").unwrap(), format_args!("lost"));
    }

    #[test]
    fn secrets_are_left_out() {
        crate::secrets::keep("STDERR_TOKEN", "not-to-be-written");
        let mut out = Vec::new();
        line_to(&mut out, format_args!("sent not-to-be-written"));
        assert_eq!(out, b"sent {{env:STDERR_TOKEN}}\n");
    }
}

//! A service that behaves well until it is verified, and is hostile afterwards. The raw socket's
//! `--misbehave` lacks these modes, because they do not test the instrument.

use std::{
    fs::OpenOptions,
    io::{self, BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use strum::VariantNames;

/// Output with terminal sequences: clear the screen, set a title, reverse the writing direction.
pub(crate) const ESCAPES: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}";
const RIGHT: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 12\r\n\r\nHello world!";
/// Enough answers for its proof, but not for a run.
const RIGHT_ANSWERS: usize = 600;
/// The file that records an earlier start.
const STARTED: &str = "hostile-was-here";

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, strum::VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum Hostility {
    /// From its second start on it answers with a body that does not end.
    Endless,
    /// From its second start on it answers with a header, a byte every half second.
    Dripping,
    /// It dies with escapes on stderr, once it was asked often enough.
    Escapes,
}

impl Hostility {
    pub(crate) const NAMES: &[&str] = Hostility::VARIANTS;
}

/// Serves until it is killed.
pub(crate) fn serve(hostility: Hostility, port: u16) -> io::Result<()> {
    let is_first = OpenOptions::new().write(true).create_new(true).open(STARTED).is_ok();
    let listener = TcpListener::bind(("127.0.0.1", port))?;
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    for stream in listener.incoming().flatten() {
        thread::spawn(move || converse(&stream, hostility, is_first, &ASKED));
    }
    Ok(())
}

fn converse(stream: &TcpStream, hostility: Hostility, is_first: bool, asked: &AtomicUsize) -> io::Result<()> {
    let mut to = stream;
    for line in BufReader::new(stream).lines() {
        if !line?.is_empty() {
            continue;
        }
        match hostility {
            Hostility::Endless if !is_first => loop {
                to.write_all(&[b'x'; 1 << 16])?;
            },
            Hostility::Dripping if !is_first => drip(to)?,
            Hostility::Escapes if asked.fetch_add(1, Ordering::Relaxed) > RIGHT_ANSWERS => {
                eprint!("{ESCAPES}");
                std::process::exit(3);
            }
            _ => to.write_all(RIGHT.as_bytes())?,
        }
    }
    Ok(())
}

fn drip(mut to: &TcpStream) -> io::Result<()> {
    to.write_all(b"HTTP/1.1 200 OK\r\nX-Drip: ")?;
    loop {
        to.write_all(b"x")?;
        thread::sleep(std::time::Duration::from_millis(500));
    }
}

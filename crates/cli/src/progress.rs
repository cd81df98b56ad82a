//! Progress on stderr: a line that is rewritten on a terminal, plain lines elsewhere.

use std::{
    io::IsTerminal,
    sync::Mutex,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};
use tare_lab::run::{campaign::Watch, record::Record};

/// Where there is no terminal, a line at most this often.
const PLAIN_EVERY: Duration = Duration::from_secs(10);

/// Long work that tells how far it is.
#[derive(Debug)]
pub struct Progress {
    bar: Option<ProgressBar>,
    plain: Mutex<Option<Instant>>,
    quiet: bool,
}

impl Progress {
    /// A rewritten line on a terminal, plain lines elsewhere, nothing where `quiet`.
    pub fn new(quiet: bool) -> Progress {
        let bar = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let style =
                ProgressStyle::with_template("{spinner:.cyan} {wide_msg}").expect("a constant template");
            let bar = ProgressBar::new_spinner().with_style(style);
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        Progress { bar, plain: Mutex::new(None), quiet }
    }

    /// What is going on; where there is no terminal, lines that come too fast are left out.
    pub fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.set_message(text.to_owned()),
            None if self.quiet => {}
            None => {
                let mut last = self.plain.lock().expect("no thread panics with the lock");
                if last.is_none_or(|last| last.elapsed() >= PLAIN_EVERY) {
                    eprintln!("{text}");
                    *last = Some(Instant::now());
                }
            }
        }
    }

    /// Something that stays on the screen.
    pub fn keep(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| anstream::eprintln!("{text}")),
            None if self.quiet => {}
            None => anstream::eprintln!("{text}"),
        }
    }

    /// Lets `write` use the terminal, and puts the line back under what it wrote.
    pub fn suspend<T>(&self, write: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    /// Clears the line.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A campaign as it goes.
#[derive(Debug)]
pub struct CampaignProgress<'a>(pub &'a Progress);

impl Watch for CampaignProgress<'_> {
    fn heard(&mut self, record: &Record, left: Duration) {
        let left = format!("about {} left", duration(left));
        match record {
            Record::Pilot(pilot) => {
                let steady = match pilot.steady_after_ns {
                    Some(ns) => format!("steady after {:.1} s", ns as f64 / 1e9),
                    None => "not steady in the time it had".to_owned(),
                };
                self.0.say(&format!("warm-up of {}: {steady}; {left}", pilot.row));
            }
            // What the pilots have found is in it.
            Record::Block { block: 0, .. } => self.0.keep(&format!("measuring: {left}")),
            Record::Block { block, order, .. } => {
                self.0.say(&format!("block {}: starting {} services; {left}", block + 1, order.len()));
            }
            Record::Started(started) => {
                self.0.say(&format!("block {}: {} is ready; {left}", started.block + 1, started.row));
            }
            Record::Slice(slice) => {
                let (block, round) = (slice.block + 1, slice.round + 1);
                self.0.say(&format!("block {block}, round {round}: {}; {left}", slice.row));
            }
            Record::Stopped(stopped) => {
                self.0.say(&format!("block {}: {} stopped; {left}", stopped.block + 1, stopped.row));
            }
            Record::Failed { row, reason, .. } => {
                self.0.keep(&format!("{} {row}: {reason}", crate::output::paint("31", "failed")));
            }
            Record::Ended { .. } => {}
        }
    }
}

/// `2 min 05 s`, `7 s`.
pub fn duration(time: Duration) -> String {
    match time.as_secs() {
        seconds if seconds >= 60 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        seconds => format!("{seconds} s"),
    }
}

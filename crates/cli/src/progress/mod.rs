//! Progress on stderr: on a terminal a line, or a table, that is rewritten; plain lines elsewhere.
//!
//! `model` turns records into a `view`, which is plain data; `view` draws itself into cells; `screen` writes
//! cells. The first two are pure.

mod growth;
pub(crate) mod live;
pub(crate) mod model;
mod screen;
pub(crate) mod view;

use std::{
    io::{IsTerminal, Stderr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};
use tare_host::process::Notices;

pub(crate) use live::RunProgress;
use screen::Screen;
use view::{Size, View};

/// The shortest interval between lines without a terminal.
const PLAIN_EVERY: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    screen: Mutex<Option<Screen<Stderr>>>,
    plain: Mutex<Option<Instant>>,
    quiet: bool,
}

impl Progress {
    /// A rewritten line on a terminal, plain lines elsewhere, nothing if `quiet`.
    pub(crate) fn new(quiet: bool) -> Progress {
        let bar = (!quiet && can_be_rewritten()).then(|| {
            let style =
                ProgressStyle::with_template("{spinner:.cyan} {wide_msg}").expect("a constant template");
            let bar = ProgressBar::new_spinner().with_style(style);
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        Progress { bar, screen: Mutex::default(), plain: Mutex::default(), quiet }
    }

    /// Switches from the line to views; returns false if that is impossible.
    fn open(&self) -> bool {
        let Some(bar) = self.bar.as_ref().filter(|_| size().is_some()) else { return false };
        // The bar's own thread would use CPU time within slices.
        bar.disable_steady_tick();
        bar.finish_and_clear();
        let colours = anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never;
        *self.screen() = Some(Screen::new(std::io::stderr(), colours));
        true
    }

    /// Shows the view, if there is a screen.
    fn show(&self, view: &View) {
        if let (Some(screen), Some(size)) = (self.screen().as_mut(), size()) {
            screen.show(view, size);
        }
    }

    /// The lock, even after a panic of another thread, so that the view can be erased.
    fn screen(&self) -> MutexGuard<'_, Option<Screen<Stderr>>> {
        self.screen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prints the current step. Without a terminal, lines that come too fast are dropped.
    pub(crate) fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.set_message(tare_host::foreign::visible(text).into_owned()),
            None if self.quiet => {}
            None => {
                let mut last = self.plain.lock().expect("no thread panics with the lock");
                if last.is_none_or(|last| last.elapsed() >= PLAIN_EVERY) {
                    tare_host::message!("{text}");
                    *last = Some(Instant::now());
                }
            }
        }
    }

    /// Prints a line that stays on the screen.
    pub(crate) fn keep(&self, text: &str) {
        if !self.quiet {
            self.suspend(|| tare_host::message!("{text}"));
        }
    }

    /// A handler that prints why a service is not ready.
    pub(crate) fn notices(self: &Arc<Progress>) -> Notices {
        let progress = Arc::clone(self);
        Notices::to(move |why| progress.keep(why))
    }

    /// Prints text that a view contains too: only if there is no view.
    pub(crate) fn announce(&self, text: &str) {
        if self.bar.is_some() { self.say(text) } else { self.keep(text) }
    }

    /// Lets `write` use the terminal, and draws the line or the view again below its output.
    pub(crate) fn suspend<T>(&self, write: impl FnOnce() -> T) -> T {
        match (self.screen().as_mut(), &self.bar) {
            (Some(screen), _) => screen.above(write),
            (None, Some(bar)) => bar.suspend(write),
            (None, None) => write(),
        }
    }

    /// Clears the line and the view.
    pub(crate) fn finish(&self) {
        if let Some(mut screen) = self.screen().take() {
            screen.clear();
        }
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A terminal that can move its cursor.
fn can_be_rewritten() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// The current size of the terminal at stderr.
fn size() -> Option<Size> {
    console::Term::stderr().size_checked().map(|(lines, columns)| Size { columns, lines })
}

/// Formats `2 min 05 s`, `7 s`.
pub(crate) fn duration(time: Duration) -> String {
    match time.as_secs() {
        seconds if seconds >= 60 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        seconds => format!("{seconds} s"),
    }
}

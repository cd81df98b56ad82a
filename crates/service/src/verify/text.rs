//! A transcript as plain text; the caller adds colours.

use std::fmt;

use super::transcript::{CheckOutcome, CheckResult, Transcript, Wire};

impl Transcript {
    /// Number of results by outcome: `1 failed, 20 passed`.
    pub fn counts(&self) -> String {
        counts(self.checks.iter().map(|result| &result.outcome))
    }

    /// Why the service failed, in one line: the first failure, and the number of others.
    pub fn reason(&self) -> Option<String> {
        let mut failures = self.failures();
        let first = failures.next()?;
        let CheckOutcome::Fail(reason) = &first.outcome else { return None };
        let more = match failures.count() {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        let request = if first.request.is_empty() { "" } else { &format!(" of \"{}\"", first.request) };
        Some(format!("{}: {}{request}: {reason}{more}", self.contract, first.check))
    }
}

/// Number of outcomes by kind: `1 failed, 20 passed`.
pub fn counts<'a>(outcomes: impl Iterator<Item = &'a CheckOutcome>) -> String {
    let words: Vec<&str> = outcomes.map(CheckOutcome::word).collect();
    let count = |word: &str| words.iter().filter(|own| **own == word).count();
    let kinds = [("FAIL", "failed"), ("warn", "warned"), ("pass", "passed"), ("skip", "skipped")];
    let counted = kinds.map(|(word, past)| (count(word), past)).into_iter();
    let shown: Vec<String> =
        counted.filter(|(count, _)| *count > 0).map(|(count, past)| format!("{count} {past}")).collect();
    shown.join(", ")
}

impl CheckOutcome {
    /// `pass`, `warn`, `FAIL` or `skip`: the word at the start of a line.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            CheckOutcome::Pass => "pass",
            CheckOutcome::Warn(_) => "warn",
            CheckOutcome::Fail(_) => "FAIL",
            CheckOutcome::Skipped(_) => "skip",
        }
    }
}

/// All checks in order; requests that passed the same check share a line.
impl fmt::Display for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.passed() { "honoured" } else { "not honoured" };
        writeln!(f, "contract {}: {verdict} ({})", self.contract, self.counts())?;
        for alike in self.checks.chunk_by(stand_in_one_line) {
            let names: Vec<&str> = alike.iter().map(|result| result.request.as_str()).collect();
            // `chunk_by` makes no empty chunks.
            let Some(first) = alike.first() else { continue };
            write_result(f, first, &names.join(", "))?;
        }
        Ok(())
    }
}

fn stand_in_one_line(a: &CheckResult, b: &CheckResult) -> bool {
    let brief =
        |result: &CheckResult| matches!(result.outcome, CheckOutcome::Pass | CheckOutcome::Skipped(_));
    brief(a) && a.check == b.check && a.outcome == b.outcome && a.note == b.note
}

fn write_result(f: &mut fmt::Formatter<'_>, result: &CheckResult, names: &str) -> fmt::Result {
    let head = format!("  {}  {:<16}  {names}", result.outcome.word(), result.check);
    let aside = match &result.outcome {
        CheckOutcome::Skipped(reason) => Some(reason),
        _ => result.note.as_ref(),
    };
    match aside {
        Some(aside) if names.is_empty() => writeln!(f, "{head}{aside}")?,
        Some(aside) => writeln!(f, "{head}: {aside}")?,
        None => writeln!(f, "{head}")?,
    }
    if let CheckOutcome::Fail(reason) | CheckOutcome::Warn(reason) = &result.outcome {
        writeln!(f, "        {reason}")?;
    }
    // The bytes of a warning would be too long here; they are in the JSON.
    match (&result.outcome, &result.wire) {
        (CheckOutcome::Fail(_), Some(wire)) => write_wire(f, wire),
        _ => Ok(()),
    }
}

fn write_wire(f: &mut fmt::Formatter<'_>, wire: &Wire) -> fmt::Result {
    for (direction, bytes) in [("sent", &wire.sent), ("received", &wire.received)] {
        if bytes.is_empty() {
            writeln!(f, "        {direction} nothing")?;
            continue;
        }
        writeln!(f, "        {direction}")?;
        for line in bytes.split_inclusive("\\r\\n") {
            writeln!(f, "          {line}")?;
        }
    }
    Ok(())
}

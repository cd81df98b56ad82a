//! Faults that tests inject into the analysis, to check that the selftest detects them. They exist only with
//! the feature `faults`, which only tests enable; the program contains none of this.

#[cfg(feature = "faults")]
use std::cell::Cell;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// No pair of rows is separated.
    NoneSeparated,
    /// Every pair of rows is separated.
    AllSeparated,
    Rounds,
    /// Every measured row is valid, and no figure has a finding.
    Validity,
}

#[cfg(feature = "faults")]
thread_local! {
    static ACTIVE: Cell<Option<Fault>> = const { Cell::new(None) };
}

/// Calls `analyse` with a fault in the analysis of this thread.
#[cfg(feature = "faults")]
pub fn with<T>(fault: Fault, analyse: impl FnOnce() -> T) -> T {
    ACTIVE.set(Some(fault));
    let found = analyse();
    ACTIVE.set(None);
    found
}

#[cfg(feature = "faults")]
pub(crate) fn is_active(fault: Fault) -> bool {
    ACTIVE.get() == Some(fault)
}

#[cfg(not(feature = "faults"))]
pub(crate) const fn is_active(_: Fault) -> bool {
    false
}

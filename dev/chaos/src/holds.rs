//! The conditions that must hold for a measurement after any fault.

use std::time::Duration;

use crate::{
    fault::Fault,
    measurement::Stored,
    measurement::was_run_unasked,
    processes::{groups_of, within},
    started::Started,
};

/// A violated condition.
#[derive(Debug)]
pub(crate) struct Violation(pub String);

type Checked = Result<(), Violation>;

/// The time that the watchdog may take after a kill.
const CLEAN_WITHIN: Duration = Duration::from_secs(10);
/// 128 plus the number of the signal that requested the end.
const ASKED_TO_END: [i32; 3] = [129, 130, 143];

pub(crate) fn ended_in_time(in_time: bool) -> Checked {
    holds(in_time, || "it did not end".to_owned())
}

/// Checks that it ended with a documented status, and without a panic.
pub(crate) fn ended_well(started: &Started, fault: Fault) -> Checked {
    let code = started.status().and_then(|status| status.code());
    let ok = match (code, started.signal()) {
        (Some(code), _) => (0..=6).contains(&code) || ASKED_TO_END.contains(&code),
        (None, Some(signal)) => fault.may_end_by(signal),
        (None, None) => false,
    };
    holds(ok, || format!("ended with {:?}: {}", started.status(), said(started)))?;
    is_text(&started.stderr())?;
    no_panic(started, fault)
}

/// If a started thread has no memory for its signal stack, the standard library panics before any code of the
/// thread runs, and the program aborts. Tare cannot prevent that; other conditions are checked.
const OF_A_THREAD_WITHOUT_MEMORY: &str = "/library/std/src/sys/pal/unix/stack_overflow.rs";

/// Checks that the output of services contains no terminal sequences.
fn is_text(said: &str) -> Checked {
    let obeyed = said.lines().find(|line| line.contains(tare_host::foreign::is_hidden));
    holds(obeyed.is_none(), || format!("printed what a terminal obeys: {obeyed:?}"))
}

/// Checks that looking at a repository ran none of its commands.
pub(crate) fn only_looked(started: &Started) -> Checked {
    holds(!was_run_unasked(started.root()), || "a command of a manifest was run by `tare list`".to_owned())?;
    holds(started.status().is_some_and(|status| status.success()), || {
        format!("cannot be listed: {:?}: {}", started.status(), said(started))
    })
}

fn no_panic(started: &Started, fault: Fault) -> Checked {
    let said = started.stderr();
    let is_own = |line: &&str| {
        let of_the_library = fault == Fault::LimitMemory && line.contains(OF_A_THREAD_WITHOUT_MEMORY);
        line.contains("panicked at") && !of_the_library
    };
    holds(!said.lines().any(|line| is_own(&line)), || format!("panicked: {said}"))
}

pub(crate) fn nothing_is_left(started: &Started) -> Checked {
    let is_clean = || started.alive().is_empty() && groups_of(started.pid()).is_empty();
    holds(within(CLEAN_WITHIN, is_clean), || {
        format!("left: processes {:?}, cgroups {:?}", started.alive(), groups_of(started.pid()))
    })?;
    holds(!started.has_left_a_mount(), || "left a mount".to_owned())
}

/// Checks that stored lines are still there, in their places.
pub(crate) fn nothing_is_lost(before: &[String], stored: &Stored) -> Checked {
    let after = stored.lines();
    holds(after.starts_with(before), || {
        let same = before.iter().zip(&after).take_while(|(one, other)| one == other).count();
        format!("{} lines were stored, and {} of {} are still there", before.len(), same, after.len())
    })
}

/// Checks that failures of the instrument are blamed on no service.
pub(crate) fn no_service_is_blamed(stored: &Stored) -> Checked {
    let failed = stored.failed();
    holds(failed.is_empty(), || format!("blamed: {}", failed.join("")))
}

/// Checks for figures, or a sentence about their absence.
pub(crate) fn shows(shown: &Started) -> Checked {
    let code = shown.status().and_then(|status| status.code());
    holds(code.is_some_and(|code| (0..=6).contains(&code)), || {
        format!("cannot be shown: {:?}: {}", shown.status(), said(shown))
    })?;
    is_text(&shown.stdout())?;
    holds(!shown.stderr().contains("panicked at"), || format!("panicked: {}", shown.stderr()))
}

/// Checks that writes during a fault are complete, or were undone.
pub(crate) fn is_undamaged(shown: &Started) -> Checked {
    let text = shown.stdout();
    let damage = text.lines().find(|line| line.contains("journal.ndjson: line"));
    holds(damage.is_none(), || format!("its journal is damaged: {damage:?}"))
}

/// Checks that the run is complete, or at least longer.
pub(crate) fn went_on(resumed: &Started, stored: &Stored) -> Checked {
    holds(stored.is_complete(), || {
        format!("not complete after it was continued: {:?}: {}", resumed.status(), said(resumed))
    })
}

/// Makes checks readable as sentences.
fn holds(is_so: bool, otherwise: impl FnOnce() -> String) -> Checked {
    if is_so { Ok(()) } else { Err(Violation(otherwise())) }
}

fn said(started: &Started) -> String {
    let text = started.stderr();
    let last: Vec<&str> = text.lines().rev().take(4).collect();
    last.into_iter().rev().collect::<Vec<_>>().join(" | ")
}

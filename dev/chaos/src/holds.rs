//! What must hold of a measurement, whatever it met.

use std::time::Duration;

use crate::{
    fault::Fault,
    measurement::Stored,
    measurement::was_run_unasked,
    processes::{groups_of, within},
    started::Started,
};

/// What must hold, and does not.
#[derive(Debug)]
pub(crate) struct Violation(pub String);

type Checked = Result<(), Violation>;

/// After a kill the watchdog needs a moment.
const CLEAN_WITHIN: Duration = Duration::from_secs(10);
/// 128 and the number of the signal that asked it to end.
const ASKED_TO_END: [i32; 3] = [129, 130, 143];

pub(crate) fn ended_in_time(in_time: bool) -> Checked {
    holds(in_time, || "it did not end".to_owned())
}

/// With a status that has a meaning, and without a panic.
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

/// Where a thread has started and finds no memory for its signal stack, the standard library panics before any code of the thread
/// runs, and the program aborts. Nothing can be done about that from within; what must hold afterwards is checked all the same.
const OF_A_THREAD_WITHOUT_MEMORY: &str = "/library/std/src/sys/pal/unix/stack_overflow.rs";

/// A terminal obeys nothing of what a service printed.
fn is_text(said: &str) -> Checked {
    let obeyed = said.lines().find(|line| line.contains(tare_host::foreign::is_hidden));
    holds(obeyed.is_none(), || format!("printed what a terminal obeys: {obeyed:?}"))
}

/// Looking at a repository runs nothing of it.
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

/// Lines that were stored are still there, in their place.
pub(crate) fn nothing_is_lost(before: &[String], stored: &Stored) -> Checked {
    let after = stored.lines();
    holds(after.starts_with(before), || {
        let same = before.iter().zip(&after).take_while(|(one, other)| one == other).count();
        format!("{} lines were stored, and {} of {} are still there", before.len(), same, after.len())
    })
}

/// What the instrument could not do is held against no service.
pub(crate) fn no_service_is_blamed(stored: &Stored) -> Checked {
    let failed = stored.failed();
    holds(failed.is_empty(), || format!("blamed: {}", failed.join("")))
}

/// The figures of what is there, or a sentence about why there are none.
pub(crate) fn shows(shown: &Started) -> Checked {
    let code = shown.status().and_then(|status| status.code());
    holds(code.is_some_and(|code| (0..=6).contains(&code)), || {
        format!("cannot be shown: {:?}: {}", shown.status(), said(shown))
    })?;
    is_text(&shown.stdout())?;
    holds(!shown.stderr().contains("panicked at"), || format!("panicked: {}", shown.stderr()))
}

/// What was written around a fault is whole, or was taken back.
pub(crate) fn is_undamaged(shown: &Started) -> Checked {
    let text = shown.stdout();
    let damage = text.lines().find(|line| line.contains("journal.ndjson: line"));
    holds(damage.is_none(), || format!("its journal is damaged: {damage:?}"))
}

/// It is complete now, or at least longer.
pub(crate) fn went_on(resumed: &Started, stored: &Stored) -> Checked {
    holds(stored.is_complete(), || {
        format!("not complete after it was continued: {:?}: {}", resumed.status(), said(resumed))
    })
}

/// So that checks read as sentences.
fn holds(is_so: bool, otherwise: impl FnOnce() -> String) -> Checked {
    if is_so { Ok(()) } else { Err(Violation(otherwise())) }
}

fn said(started: &Started) -> String {
    let text = started.stderr();
    let last: Vec<&str> = text.lines().rev().take(4).collect();
    last.into_iter().rev().collect::<Vec<_>>().join(" | ")
}

//! Input of cluster runs: handwritten files, job lists, and output of an engine's programs.

use std::path::Path;

use tare_cluster::{JobList, Machines, queue};

/// A `machines.toml`: a parsed file round-trips.
pub(crate) fn machines(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    match Machines::parse(Path::new("fuzzed.toml"), text) {
        Ok(machines) => {
            assert!(machines.classes.iter().all(|class| class.cpus > 0 && !class.name.contains('/')))
        }
        Err(error) => one_line(&error.to_string(), "fuzzed.toml:"),
    }
}

/// A job list: a parsed list round-trips, and names no path outside of its batch.
pub(crate) fn job_list(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let path = Path::new("fuzzed.ndjson");
    let list = match JobList::parse(path, text) {
        Ok(list) => list,
        Err(error) => return one_line(&error.to_string(), "fuzzed.ndjson:"),
    };
    let names = list.jobs.iter().map(|job| job.name()).chain([list.batch_name()]);
    for name in names {
        assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{name:?}");
    }
    let written = list.text().expect("texts and numbers");
    assert_eq!(JobList::parse(path, &written).expect("it was read before"), list);
}

/// The name of a batch, and output of `squeue` and of `scontrol`.
pub(crate) fn queue(input: &[u8]) {
    let Some([batch, text]) = crate::text_parts::<2>(input) else { return };
    let states = queue::states(text, batch);
    assert!(states.len() <= text.lines().count());
    let _ = queue::is_exclusive(text);
}

fn one_line(error: &str, start: &str) {
    assert!(error.starts_with(start) && !error.contains('\n'), "{error:?}");
}

//! Parses the output of `squeue` and `scontrol`. Pure; an unknown line is ignored, because it belongs to
//! another program.

use std::collections::BTreeMap;

use tare_host::foreign;

use super::EngineState;

/// The most elements of an array: less than the default of MaxArraySize, 1001.
pub const ARRAY_MAX: usize = 1000;

/// The format for `squeue --format`: name, array, element, state, nodes and, because it may contain anything,
/// the reason last.
pub const FORMAT: &str = "%j|%F|%K|%T|%N|%r";

pub fn array_name(batch: &str, array: usize) -> String {
    format!("tare-{batch}+{array}")
}

/// The queue's states of a batch, by position in the list. Active elements take precedence over ended ones;
/// of two ended ones, the newer array counts.
pub fn states(text: &str, batch: &str) -> BTreeMap<usize, EngineState> {
    let mut found: BTreeMap<usize, (bool, u64, EngineState)> = BTreeMap::new();
    for (position, array, state) in text.lines().filter_map(|line| element(line, batch)) {
        let entry = (state.is_active(), array, state);
        let is_better = |old: &(bool, u64, EngineState)| (entry.0, entry.1) >= (old.0, old.1);
        if found.get(&position).is_none_or(is_better) {
            found.insert(position, entry);
        }
    }
    found.into_iter().map(|(position, (_, _, state))| (position, state)).collect()
}

fn element(line: &str, batch: &str) -> Option<(usize, u64, EngineState)> {
    let mut fields = line.splitn(6, '|').map(str::trim);
    let mut next = || fields.next();
    let (name, array, element, word, node) = (next()?, next()?, next()?, next()?, next()?);
    let reason = next().unwrap_or_default();
    let number = name.strip_prefix("tare-")?.strip_prefix(batch)?.strip_prefix('+')?.parse::<usize>().ok()?;
    let element = element.parse::<usize>().ok().filter(|element| *element < ARRAY_MAX)?;
    let position = number.checked_mul(ARRAY_MAX)?.checked_add(element)?;
    Some((position, array.parse().ok()?, state(word, node, reason)))
}

/// An unknown state counts as active: waiting for a job in vain is better than running it twice.
fn state(word: &str, node: &str, reason: &str) -> EngineState {
    const WAITING: [&str; 7] = [
        "PENDING",
        "REQUEUED",
        "REQUEUE_HOLD",
        "REQUEUE_FED",
        "SPECIAL_EXIT",
        "RESV_DEL_HOLD",
        "CONFIGURING",
    ];
    const ENDED: [(&str, &str); 11] = [
        ("COMPLETED", "it ended"),
        ("FAILED", "it failed"),
        ("TIMEOUT", "it reached its time limit"),
        ("CANCELLED", "it was cancelled"),
        ("NODE_FAIL", "its node failed"),
        ("OUT_OF_MEMORY", "it was out of memory"),
        ("PREEMPTED", "it was preempted"),
        ("BOOT_FAIL", "its node did not start"),
        ("DEADLINE", "it reached its deadline"),
        ("REVOKED", "it was revoked"),
        ("LAUNCH_FAILED", "it could not be started"),
    ];
    if WAITING.contains(&word) {
        let why = match reason {
            "" | "None" | "(null)" => word.to_lowercase(),
            reason => reason.to_owned(),
        };
        return EngineState::Waiting { why: foreign::visible(&why).into_owned() };
    }
    match ENDED.iter().find(|(ended, _)| *ended == word) {
        Some((_, how)) => EngineState::Ended { how: (*how).to_owned() },
        None => EngineState::Running { node: foreign::visible(node).into_owned() },
    }
}

/// Whether the job in the output of `scontrol show job --oneliner` has its nodes exclusively; `None` if the
/// output does not say.
pub fn is_exclusive(text: &str) -> Option<bool> {
    let value = text.split_ascii_whitespace().find_map(|word| word.strip_prefix("OverSubscribe="))?;
    match value {
        "NO" | "EXCLUSIVE" => Some(true),
        "YES" | "OK" | "USER" | "MCS" => Some(false),
        _ => None,
    }
}

/// Whether the error of a Slurm program means that the controller does not answer.
pub(crate) fn is_unreachable(said: &str) -> bool {
    const SAID: [&str; 10] = [
        "Unable to contact slurm controller",
        "Socket timed out",
        "Zero Bytes were transmitted or received",
        "Connection refused",
        "Unable to contact slurmctld",
        "Communication connection failure",
        "Communication shutdown failure",
        "Message send failure",
        "Message receive failure",
        "Connection reset by peer",
    ];
    SAID.iter().any(|part| said.contains(part))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Output of Slurm 22.05.
    const QUEUE: &str = "\
tare-quick-0a1b2c3d4e5f+0|12|5|PENDING||Resources
tare-quick-0a1b2c3d4e5f+0|12|4|PENDING||ReqNodeNotAvail, UnavailableNodes:n[1-3]
tare-quick-0a1b2c3d4e5f+0|12|3|RUNNING|n3|None
tare-quick-0a1b2c3d4e5f+0|12|0|COMPLETING|n2|None
tare-quick-0a1b2c3d4e5f+0|12|1|COMPLETED|n2|None
tare-quick-0a1b2c3d4e5f+0|12|2|FAILED|n1|NonZeroExitCode
tare-quick-0a1b2c3d4e5f+0|9|2|CANCELLED||None
tare-quick-0a1b2c3d4e5f+0|9|3|FAILED|n1|NonZeroExitCode
tare-quick-0a1b2c3d4e5f+1|13|7|PENDING||BeginTime
tare-quick-0a1b2c3d4e5f+0|14|[8-9]|PENDING||Priority
tare-other-0a1b2c3d4e5f+0|15|0|RUNNING|n1|None
something else|16|N/A|RUNNING|n1|None
";

    #[test]
    fn each_job_has_the_state_of_its_newest_element_that_is_active() {
        let states = states(QUEUE, "quick-0a1b2c3d4e5f");
        let lines: Vec<String> =
            states.iter().map(|(position, state)| format!("{position} {state:?}")).collect();
        insta::assert_snapshot!(lines.join("\n"), @r#"
        0 Running { node: "n2" }
        1 Ended { how: "it ended" }
        2 Ended { how: "it failed" }
        3 Running { node: "n3" }
        4 Waiting { why: "ReqNodeNotAvail, UnavailableNodes:n[1-3]" }
        5 Waiting { why: "Resources" }
        1007 Waiting { why: "BeginTime" }
        "#);
    }

    #[test]
    fn what_slurm_does_not_say_is_not_known() {
        assert_eq!(is_exclusive("JobId=2 JobName=x OverSubscribe=NO Contiguous=0"), Some(true));
        assert_eq!(is_exclusive("JobId=2 OverSubscribe=OK"), Some(false));
        assert_eq!((is_exclusive("JobId=2 OverSubscribe=PERHAPS"), is_exclusive("")), (None, None));
        assert!(matches!(state("NEW_STATE", "n1", ""), EngineState::Running { .. }));
        assert!(is_unreachable(
            "slurm_load_jobs error: Unable to contact slurm controller (connect failure)"
        ));
        assert!(!is_unreachable("sbatch: error: invalid partition specified: bench"));
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(?s).{0,60}", batch in "[a-z]{0,3}") {
            let _ = (states(&text, &batch), is_exclusive(&text));
        }

        #[test]
        fn a_changed_line_is_no_other_job(at in 0..QUEUE.len(), piece in "[|0-9A-Z+]{0,3}") {
            let text = format!("{}{piece}{}", &QUEUE[..at], &QUEUE[at..]);
            for position in states(&text, "quick-0a1b2c3d4e5f").into_keys() {
                prop_assert!(position % ARRAY_MAX < ARRAY_MAX);
            }
        }
    }
}

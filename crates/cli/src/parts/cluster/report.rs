//! The table of a batch.

use tare_cluster::BatchStatus;
use tare_report::write::text;

use super::batch::jobs;
use crate::output;

/// The table for stdout, with a summary.
pub(super) fn table(status: &BatchStatus) -> String {
    format!("{}\n{}\n", text::table(&jobs(status), output::look()), status.summary())
}

#[cfg(test)]
mod tests {
    use tare_cluster::{EngineName, JobState, JobStatus};

    use super::*;

    #[test]
    fn a_batch_is_a_table_with_a_summary() {
        let job = |name: &str, state, detail: &str| JobStatus {
            name: name.to_owned(),
            class: "x86".to_owned(),
            seed: 7,
            revisions: 0,
            state,
            node: Some("n1".to_owned()).filter(|_| state != JobState::Waiting),
            since: None,
            attempts: usize::from(state != JobState::Waiting),
            detail: detail.to_owned(),
        };
        let status = BatchStatus {
            batch: "quick-1".to_owned(),
            engine: EngineName::Slurm,
            jobs: vec![
                job("x86-1", JobState::Collected, ""),
                job("x86-2", JobState::Running, "measuring"),
                job("x86-3", JobState::Waiting, "Resources"),
                job("x86-4", JobState::Missing, "a build failed"),
            ],
            engine_error: None,
        };
        insta::assert_snapshot!(console::strip_ansi_codes(&table(&status)), @r"
        job    state      node  attempts  detail
        x86-1  collected  n1    1         -
        x86-2  running    n1    1         measuring
        x86-3  waiting    -     -         Resources
        x86-4  MISSING    n1    1         a build failed
        in all rows: seed: 7

        4 jobs: 1 collected, 1 running, 1 waiting, 1 missing
        ");
    }
}

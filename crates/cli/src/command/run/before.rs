//! The steps before the measurement, in words: the services to build, and the duration of their last builds.

use std::time::Duration;

use anyhow::bail;
use tare_bench::plan::Plan;
use tare_service::{
    build::{Outlook, WhyBuild},
    catalogue::{Absent, Row, Service},
    workspace::Workspace,
};

use crate::{output::paint, progress::duration};

/// Fails if the program or script of a service is missing: its plan would be meaningless.
pub(crate) fn refuse_absent<'s>(services: impl IntoIterator<Item = &'s Service>) -> anyhow::Result<()> {
    for service in services {
        let (id, folder) = (&service.id, service.folder.display());
        for absent in service.absent() {
            match absent {
                Absent::Program(program) => bail!("`{id}`: there is no program {program}"),
                Absent::Script(file) => bail!("`{id}`: there is no file {file} in {folder}"),
                Absent::Perhaps(file) => {
                    let word = paint("33", "warning:");
                    tare_host::message!("{word} `{id}`: there is no file {file} in {folder}");
                }
            }
        }
    }
    Ok(())
}

/// A service that must be built.
struct Due<'a> {
    label: &'a str,
    why: WhyBuild,
    last: Option<Duration>,
}

/// The lines of a plan. Nothing is run for them, so a changed toolchain is not noticed.
pub(super) fn text(plan: &Plan, rows: &[Row], workspace: &Workspace) -> String {
    let takes_part = plan.rows.iter().zip(rows).filter(|(planned, _)| planned.excluded.is_none());
    of(takes_part.map(|(_, row)| row), workspace)
}

/// The same lines for these rows.
pub(crate) fn of<'r>(rows: impl Iterator<Item = &'r Row>, workspace: &Workspace) -> String {
    let mut services: Vec<&Row> = Vec::new();
    for row in rows {
        if !services.iter().any(|other| other.service.name == row.service.name) {
            services.push(row);
        }
    }
    let outlooks: Vec<(&Row, Outlook)> =
        services.into_iter().map(|row| (row, workspace.outlook(&row.service))).collect();
    let due: Vec<Due> = outlooks.iter().filter_map(|(row, outlook)| Due::of(row, outlook)).collect();
    let are_built = outlooks.iter().any(|(_, outlook)| *outlook == Outlook::Built);
    head(&due, outlooks.len(), are_built) + &due.iter().map(Due::line).collect::<String>()
}

fn head(due: &[Due], services: usize, are_built: bool) -> String {
    let verified = "each is verified: some seconds";
    match due.len() {
        0 if are_built => {
            format!("before      every service is built, if its tools are still the same; {verified}\n")
        }
        0 => format!("before      no service has to be built; {verified}\n"),
        count => {
            format!(
                "before      {count} of {services} services must be built{}; then {verified}\n",
                how_long(due)
            )
        }
    }
}

fn how_long(due: &[Due]) -> String {
    let known: Vec<Duration> = due.iter().filter_map(|one| one.last).collect();
    let all = duration(known.iter().sum());
    match (known.len(), due.len() - known.len()) {
        (0, _) => ", and no record says how long that takes".to_owned(),
        (1, 0) => format!(", which took {all} the last time"),
        (_, 0) => format!(", which took {all} the last time, one after the other"),
        (_, unknown) => {
            format!(", which took {all} the last time, and of {unknown} no record says how long it takes")
        }
    }
}

impl<'a> Due<'a> {
    fn of(row: &'a Row, outlook: &Outlook) -> Option<Due<'a>> {
        match *outlook {
            Outlook::ToBuild { why, last_seconds } => {
                let last = last_seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                Some(Due { label: &row.label, why, last })
            }
            Outlook::NothingToBuild | Outlook::Built => None,
        }
    }

    fn line(&self) -> String {
        let why = match self.why {
            WhyBuild::NeverBuilt => "there is no record of a build",
            WhyBuild::Changed => "it has changed since its last build",
            WhyBuild::Removed => "its last build was removed",
            WhyBuild::NotKnown => "an older tare built it, and whether it has changed since is not known",
        };
        let last = self.last.map(|last| format!("; that took {}", duration(last))).unwrap_or_default();
        format!("to build    {}: {why}{last}\n", self.label)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(label: &str, why: WhyBuild, last_s: Option<u64>) -> Due<'_> {
        Due { label, why, last: last_s.map(Duration::from_secs) }
    }

    #[test]
    fn what_must_be_built_is_told_with_what_it_took() {
        let all = [
            due("a", WhyBuild::NeverBuilt, None),
            due("b", WhyBuild::Changed, Some(12)),
            due("c", WhyBuild::Removed, Some(63)),
            due("d", WhyBuild::NotKnown, Some(1)),
        ];
        let told = |due: &[Due]| head(due, 8, true) + &due.iter().map(Due::line).collect::<String>();
        insta::assert_snapshot!([told(&all), told(&all[..1]), told(&all[1..3]), told(&[])].join("\n"));
        assert!(head(&[], 2, false).starts_with("before      no service has to be built"));
    }
}

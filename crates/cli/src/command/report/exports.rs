//! Exports in the formats of other tools.

use std::path::{Path, PathBuf};

use anyhow::bail;
use tare_report::{
    document::Status,
    exports::Exported,
    write::exports::{bencher, github, go_bench, openmetrics, otava},
};
use tare_stats::Better;

use super::{Form, deliver::Content, tell_damage};
use crate::{exit::Outcome, output};

/// Exports a run, or several for Otava.
pub(super) fn run(form: Form, runs: &[PathBuf], to: Option<&Path>) -> anyhow::Result<Outcome> {
    if runs.len() > 1 && form != Form::Otava {
        bail!("{} runs: only --format otava has a row for each run; name one run", runs.len());
    }
    let exported = runs.iter().map(|run| Exported::read(run)).collect::<Result<Vec<_>, _>>()?;
    exported.iter().for_each(tell);
    let text = match (form, exported.as_slice()) {
        (Form::Bmf, [run]) => bencher::bencher(run),
        (Form::GoBench, [run]) => samples(run)?,
        (Form::GithubBigger, [run]) => github::github(run, Better::Higher),
        (Form::GithubSmaller, [run]) => github::github(run, Better::Lower),
        (Form::Openmetrics, [run]) => openmetrics::openmetrics(run),
        _ => history(&exported),
    };
    Content::File(text.into_bytes()).deliver(to)?;
    Ok(Outcome::Fine)
}

/// Prints what the export leaves out.
fn tell(run: &Exported) {
    tell_damage(&run.damage);
    if run.status != Status::Complete {
        tare_host::message!("{} {}: {}", output::paint("33", "not complete:"), run.run, run.status.text());
    }
    for left_out in &run.left_out {
        tare_host::message!("{} {left_out}", output::paint("33", "left out:"));
    }
}

fn samples(run: &Exported) -> anyhow::Result<String> {
    if run.subjects.iter().all(|subject| subject.blocks.is_empty()) {
        bail!("--format go-bench: the run \"{}\" has no blocks, so there are no samples", run.run);
    }
    Ok(go_bench::go_bench(run))
}

fn history(runs: &[Exported]) -> String {
    let history = otava::otava(runs);
    for column in &history.left_out {
        tare_host::message!("{} {column}: not every run has it", output::paint("33", "left out:"));
    }
    history.csv
}

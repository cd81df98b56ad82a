//! Several published experiments in sequence: `tare run all`. The folder of the
//! series has a folder for each, and `series.json` with their list. The same command resumes it.

use std::path::Path;

use anyhow::{bail, ensure};
use tare_bench::{
    experiment::{SequentialExperiment, Series},
    folder::{
        self,
        about::{About, quoted},
        series::{self, SeriesHead},
    },
    plan::Plan,
    record::{Ending, ending},
};
use tare_report::{Document, gather::gather};
use tare_service::{catalogue::Row, workspace::Workspace};

use super::{plan, prepare_for_links};
use crate::{
    command::{
        print::{self, Extent},
        report::page,
        run::{Args, agents::Access, dry, measure_into, resume_stored},
    },
    exit::{self, Outcome},
    output::{Format, paint},
    workspace::Global,
};

/// A planned experiment of the series.
struct Member {
    name: String,
    plan: Plan,
    rows: Vec<Row>,
}

/// Runs the series at `path`. An experiment that fails does not stop the others.
pub(crate) fn run(global: &Global, args: &Args, series: &Series, path: &Path) -> anyhow::Result<Outcome> {
    args.refuse_those_of_blocks()?;
    let experiments = experiments(series, args, path)?;
    experiments.iter().for_each(|(experiment, _)| prepare_for_links(experiment, args));
    let mut workspace = global.open()?;
    let members = experiments.iter().map(|(experiment, scale)| {
        let (plan, rows) = plan(&mut workspace, experiment, args, &asked_of(experiment, args), Some(*scale))?;
        Ok(Member { name: experiment.name.clone(), plan: args.start.applied(plan)?, rows })
    });
    let members: Vec<Member> = members.collect::<anyhow::Result<_>>()?;
    let format = args.start.format();
    if args.start.dry_run {
        let planned: Vec<(&Plan, &[Row])> =
            members.iter().map(|member| (&member.plan, member.rows.as_slice())).collect();
        dry::show_all(&planned, &workspace, format)?;
        return Ok(Outcome::Fine);
    }
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let all = args.start.out.clone().unwrap_or_else(|| workspace.new_run(&name, jiff::Timestamp::now()));
    let names = members.iter().map(|member| member.name.clone()).collect();
    SeriesHead::new(&series.title, names).keep(&all)?;
    let mut outcome = Outcome::Fine;
    for member in members {
        let run = all.join(&member.name);
        match measure(&mut workspace, member, &run, args.start.no_wait) {
            Ok(document) if format != Format::Json => {
                print::document(&document, format, Extent::Brief)?;
                crate::output::print("\n")?;
            }
            Ok(_) => {}
            Err(error) => {
                tare_host::message!("{}: {error:#}", paint("1;31", "error"));
                outcome = outcome.graver(exit::of_error(&error));
            }
        }
        if tare_host::signals::received().is_some() {
            break;
        }
    }
    let document = page::keep(&all, |text| tare_host::message!("{text}"))?;
    let of_all = print::document(&document, format, Extent::Brief)?;
    tare_host::message!("stored in {}; to resume, run the same command with --out {0}", all.display());
    Ok(of_all.graver(outcome))
}

/// A series is resumed by its own command, which alone can plan experiments that were not begun.
pub(crate) fn refuse_to_resume(run: &Path) -> anyhow::Result<()> {
    if !series::is_one(run) {
        return Ok(());
    }
    let members = SeriesHead::read(run)?.0.members;
    let about = members.iter().find_map(|name| About::read(&run.join(name)).ok().flatten());
    let mut words = about.map(|about| about.command).unwrap_or_else(|| vec!["run ...".to_owned()]);
    if !words.iter().any(|word| word == "--out" || word.starts_with("--out=")) {
        words.extend(["--out".to_owned(), run.display().to_string()]);
    }
    let command = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    bail!(
        "{}: a series is resumed by the command that started it, with --out: tare {command}",
        run.display()
    );
}

fn has_begun(member: &Path) -> bool {
    member.join("run.json").exists()
}

/// The experiments with any requested rows, with their scales.
fn experiments(
    series: &Series,
    args: &Args,
    path: &Path,
) -> anyhow::Result<Vec<(SequentialExperiment, f64)>> {
    let beside = path.parent().unwrap_or(Path::new("."));
    let mut experiments = Vec::new();
    for member in &series.members {
        let experiment = SequentialExperiment::load(&beside.join(&member.file))?;
        let has_rows = args.services.is_empty() || !asked_of(&experiment, args).is_empty();
        if has_rows && (!args.published.sweep || experiment.has_sweep()) {
            experiments.push((experiment, args.published.scale.unwrap_or(member.scale)));
        }
    }
    let is_unknown =
        |name: &&String| !experiments.iter().any(|(experiment, _)| asked_of(experiment, args).contains(name));
    if let Some(unknown) = args.services.iter().find(is_unknown) {
        bail!("--services: none of its experiments has a row \"{unknown}\"");
    }
    ensure!(!experiments.is_empty(), "{}: none of its experiments has what is asked for", path.display());
    Ok(experiments)
}

/// The requested services that an experiment has.
fn asked_of(experiment: &SequentialExperiment, args: &Args) -> Vec<String> {
    let is_there = |name: &&String| experiment.rows.iter().any(|row| row.service == **name);
    args.services.iter().filter(is_there).cloned().collect()
}

/// Starts a run, resumes one, or reports a complete one. A begun run is resumed as planned then.
fn measure(workspace: &mut Workspace, member: Member, run: &Path, no_wait: bool) -> anyhow::Result<Document> {
    if !has_begun(run) {
        return measure_into(workspace, run, member.plan, member.rows, no_wait);
    }
    let stored = folder::read(run)?;
    match ending(&stored.records) {
        Some((Ending::Complete, _)) => Ok(gather(run)?),
        _ => resume_stored(workspace, run, &stored, no_wait, Access::default()),
    }
}

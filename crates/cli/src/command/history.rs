//! `tare history`: the cost of a service in each of its versions, all measured today in the same blocks.

use std::time::Duration;

use anyhow::{Context, ensure};
use tare_base::units::parse_time;
use tare_bench::{experiment::Experiment, metric::Metric, plan::Plan};
use tare_service::{
    catalogue::Row,
    release::{self, PinnedRelease},
    revisions,
    workspace::Workspace,
};

use super::{
    asked::{self, AskedOptions},
    compare::contenders,
    load_options::LoadOptions,
    revised::{BuildOptions, Revised},
    run::{
        explain::{WhyOptions, WhyPart},
        measure_and_explain, pinning,
    },
    start::StartOptions,
};
use crate::{exit::Outcome, workspace::Global};

const NAME: &str = "history";
/// Versions are compared within blocks, and a block has room for this many rows.
const VERSIONS_MAX: usize = 12;

/// Measure many versions of a service today, and find where its cost changed
///
/// All versions run in the same blocks, so that nothing that changed on the machine in the meantime is taken for a change of the
/// service. Each has an interval. A version at which the cost changed is marked: of all such marks of a run, one is wrong in at most
/// 5% of runs. A version that does not build, or fails its contract, is a row with its reason. After
/// the greatest change Tare says which functions are behind it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare history 'node server.js' v1.0 v1.1 v1.2 HEAD --get /items/1    these versions, oldest first
  tare history shop v1.0..HEAD --get /items/1                         the commits between two, at most twelve of them
  tare history ./mine HEAD~5..HEAD --budget 10m                       a folder with a manifest
  tare history 'node server.js' --releases express@4.21.2,express@5.1.0   releases of a package that package.json has
  tare history koa --releases 2.16.0,3.3.0                            of the package that the manifest names

Exit codes: 0 every version was measured, 1 usage error, or a version was not built, 2 a version failed its contract, 4 a version is \
not valid, 130 or 143 interrupted.")]
pub(crate) struct Args {
    /// The service: a command such as `'node server.js'`, which listens on the port in PORT or in place of `{port}`; a name; or a
    /// folder such as `./mine`
    service: String,
    /// Git revisions, oldest first; or a range such as `v1.0..HEAD`
    #[arg(required_unless_present = "releases", num_args = 1.., value_name = "REVISION")]
    revisions: Vec<String>,
    /// Releases of a package in place of revisions, oldest first: `2.16.0,3.3.0` of the package of the service, or of another,
    /// `express@4.21.2,express@5.1.0`. Each is set in a copy of the service by its own tool: cargo, go, npm or pip
    #[arg(long, value_name = "RELEASES", value_delimiter = ',', conflicts_with = "revisions")]
    releases: Vec<String>,
    #[command(flatten)]
    build: BuildOptions,
    /// The contract [default: the first of the service]
    #[arg(long)]
    contract: Option<String>,
    /// The measuring may not take longer than this; building and verifying are not counted [default: 3m, and 12 blocks]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    budget: Option<Duration>,
    #[command(flatten)]
    why: WhyOptions,
    #[command(flatten)]
    load: LoadOptions,
    #[command(flatten)]
    asked: AskedOptions,
    #[command(flatten)]
    start: StartOptions,
}

pub(crate) fn run(global: &Global, mut args: Args, why: WhyPart) -> anyhow::Result<Outcome> {
    let mut workspace = global.open()?;
    let mut revised = Revised::of(&mut workspace, &args.service, args.build.build.as_deref())?;
    let mut rows = match args.releases.is_empty() {
        true => of_revisions(&mut workspace, &mut revised, &args.revisions)?,
        false => of_releases(&revised.now, &args.releases)?,
    };
    if let Some(asked) = args.asked.of(&rows, args.contract.as_deref())? {
        let settings = args.load.service_settings();
        asked::learn_for_run(&mut workspace, &mut rows, &asked, &mut args.start, &settings, NAME)?;
    }
    let plan = plan(&workspace, &args, &revised.now, &rows)?;
    measure_and_explain(&workspace, &args.start, plan, rows, Some((why, &args.why)))
}

fn of_revisions(
    workspace: &mut Workspace,
    revised: &mut Revised,
    words: &[String],
) -> anyhow::Result<Vec<Row>> {
    let names = revisions_of(words, &revised.now)?;
    has_room(&names, "revision", ", or a range such as v1.0..HEAD")?;
    names.iter().map(|name| revised.at(workspace, name)).collect()
}

/// The service of the work tree, with these releases of a package.
fn of_releases(now: &Row, words: &[String]) -> anyhow::Result<Vec<Row>> {
    has_room(words, "release", "")?;
    let row = |(place, word): (usize, &String)| {
        ensure!(!words[..place].contains(word), "--releases: \"{word}\" stands twice");
        let release = PinnedRelease::of_word(&now.service, word).context("--releases")?;
        let service = release::set(&now.service, &release).context("--releases")?;
        Ok(Row { label: format!("{}@{word}", now.label), service })
    };
    words.iter().enumerate().map(row).collect()
}

/// Checks the number of versions: at least two, and at most the rows of a block.
fn has_room(names: &[String], kind: &str, or_range: &str) -> anyhow::Result<()> {
    ensure!(names.len() > 1, "one {kind} has no history: name two or more{or_range}");
    ensure!(
        names.len() <= VERSIONS_MAX,
        "{} {kind}s: versions are compared within blocks, which have room for {VERSIONS_MAX}",
        names.len()
    );
    Ok(())
}

/// The named revisions, or at most [`VERSIONS_MAX`] commits of a range, evenly spread, with both ends.
fn revisions_of(words: &[String], now: &Row) -> anyhow::Result<Vec<String>> {
    Ok(match words {
        [range] if range.contains("..") => {
            let [good, bad] = revisions::range(range, &now.service.folder)?;
            let commits = revisions::between(&now.service.folder, &good, &bad)?;
            let all: Vec<String> = commits.into_iter().map(|commit| commit.name).collect();
            if all.len() > VERSIONS_MAX {
                tare_host::message!("{} of {} commits are measured, evenly spread", VERSIONS_MAX, all.len());
            }
            spread(&all)
        }
        words => words.to_vec(),
    })
}

fn spread(all: &[String]) -> Vec<String> {
    let (last, steps) = (all.len() - 1, VERSIONS_MAX.min(all.len()) - 1);
    (0..=steps).map(|step| all[step * last / steps.max(1)].clone()).collect()
}

fn plan(workspace: &Workspace, args: &Args, now: &Row, rows: &[Row]) -> anyhow::Result<Plan> {
    let (first, last) = (&rows[0], &rows[rows.len() - 1]);
    let mut experiment = Experiment::of_versions();
    experiment.name = NAME.to_owned();
    experiment.title = format!("{} from {} to {}", now.label, first.label, last.label);
    experiment.question = format!("Where did the {} of {} change?", Metric::Cpu.name(), now.label);
    experiment.reference.clone_from(&first.label);
    experiment.contract = contenders::contract(workspace, args.contract.as_deref(), [first, last])?;
    args.load.enter(&mut experiment);
    let plan = Plan::interleaved(&experiment, rows, args.start.seed(), pinning(&experiment, rows));
    let plan = plan.of_versions();
    Ok(match args.budget {
        Some(budget) => plan.bounded(budget),
        None => plan,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_range_is_spread_evenly_with_its_ends() {
        let all: Vec<String> = (0..40).map(|number| number.to_string()).collect();
        let found = spread(&all);
        assert_eq!((found.len(), found[0].as_str(), found[11].as_str()), (12, "0", "39"));
        assert_eq!(spread(&all[..3]), ["0", "1", "2"]);
        assert_eq!(spread(&all[..1]), ["0"]);
    }
}

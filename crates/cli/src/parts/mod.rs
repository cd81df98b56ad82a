//! The parts that a build may leave out, each a feature of this crate. No other file has a `cfg` of them, but for one attribute in
//! `main.rs`. What a part brings to a command of the core is a value or a command here: the core names no part.

#[cfg(feature = "import")]
mod adopt;
#[cfg(feature = "audit")]
mod audit;
#[cfg(feature = "cluster")]
mod cluster;
#[cfg(feature = "import")]
mod footprint;
#[cfg(feature = "cluster")]
mod merge;
#[cfg(feature = "import")]
mod record;
#[cfg(feature = "site")]
mod serve;
#[cfg(feature = "site")]
mod site;
#[cfg(feature = "why")]
mod why;

use clap::Subcommand;
use tare_report::gather::merged::MergedReader;

#[cfg(not(feature = "cluster"))]
use crate::command::run::agents::RunAgents;

#[cfg(feature = "cluster")]
pub(crate) use cluster::{agents::RUN as RUN_AGENTS, load};

use tare_service::workspace::Readers;

use crate::{
    command::{list::PrintFootprints, report::Parquet, run::explain::WhyPart},
    exit::Outcome,
    workspace::Global,
};

/// A feature, whether it is there, and its commands and options.
type Part = (&'static str, bool, &'static [&'static str]);

const PARTS: [Part; 5] = [
    ("audit", cfg!(feature = "audit"), &["audit"]),
    ("cluster", cfg!(feature = "cluster"), &["agent", "cluster", "merge", "load --engine"]),
    ("import", cfg!(feature = "import"), &["adopt", "record"]),
    ("site", cfg!(feature = "site"), &["site", "serve"]),
    ("why", cfg!(feature = "why"), &["why"]),
];

#[cfg(feature = "site")]
pub(crate) const PARQUET: Parquet = Parquet {
    files: |document| Ok(tare_site::parquet::parquet(document)?),
    table: |document, id, table| Ok(tare_site::parquet::of_table(document, id, table)?),
};
#[cfg(not(feature = "site"))]
pub(crate) const PARQUET: Parquet = Parquet {
    files: |_| anyhow::bail!(absent("`tare report --format parquet`", "site")),
    table: |_, _, _| anyhow::bail!(absent("`tare report --format parquet`", "site")),
};

#[cfg(feature = "cluster")]
pub(crate) const MERGED: MergedReader = MergedReader {
    document: |folder| Ok(tare_machines::machines(&[folder.to_owned()])?),
    header: tare_machines::folder::header,
};
#[cfg(not(feature = "cluster"))]
pub(crate) const MERGED: MergedReader =
    MergedReader { document: |_| Err(absent("a folder of merged runs", "cluster").into()), header: |_| None };

#[cfg(not(feature = "cluster"))]
pub(crate) const RUN_AGENTS: RunAgents = RunAgents {
    check_contracts: |_, _| anyhow::bail!(absent("`tare run --agents`", "cluster")),
    connect: |_, _, _, _| anyhow::bail!(absent("`tare run --agents`", "cluster")),
};

/// `tare load`, to which the part adds options.
#[cfg(not(feature = "cluster"))]
pub(crate) mod load {
    use crate::{command::load, exit::Outcome, workspace::Global};

    pub(crate) use load::Args;

    pub(crate) fn run(global: &Global, args: Args) -> anyhow::Result<Outcome> {
        load::run(global, args, |_, _, _| anyhow::bail!(super::absent("`tare load --agents`", "cluster")))
    }
}
#[cfg(feature = "why")]
pub(crate) const WHY: WhyPart = WhyPart { is_there: true, explain: why::explain };
#[cfg(not(feature = "why"))]
pub(crate) const WHY: WhyPart =
    WhyPart { is_there: false, explain: |_, _| anyhow::bail!(absent("`--why`", "why")) };

#[cfg(feature = "import")]
pub(crate) const READERS: Option<Readers> = Some(tare_import::READERS);
#[cfg(not(feature = "import"))]
pub(crate) const READERS: Option<Readers> = None;

#[cfg(feature = "import")]
pub(crate) const PRINT_FOOTPRINTS: PrintFootprints = footprint::run;
#[cfg(not(feature = "import"))]
pub(crate) const PRINT_FOOTPRINTS: PrintFootprints =
    |_, _, _, _| anyhow::bail!(absent("`tare list --footprint`", "import"));

#[derive(Debug, Subcommand)]
pub(crate) enum PartCommand {
    #[cfg(feature = "audit")]
    Audit(audit::Args),
    #[cfg(feature = "cluster")]
    Agent(cluster::agent::Args),
    #[cfg(feature = "cluster")]
    Cluster(cluster::Args),
    #[cfg(feature = "cluster")]
    #[command(hide = true)]
    Job(cluster::job::Args),
    #[cfg(feature = "cluster")]
    #[command(hide = true)]
    JobChild(cluster::job::ChildArgs),
    #[cfg(feature = "cluster")]
    Merge(merge::Args),
    #[cfg(feature = "import")]
    Adopt(adopt::Args),
    #[cfg(feature = "import")]
    Record(record::Args),
    #[cfg(feature = "site")]
    Site(site::Args),
    #[cfg(feature = "site")]
    Serve(serve::Args),
    #[cfg(feature = "why")]
    Why(why::Args),
}

impl PartCommand {
    #[cfg_attr(not(feature = "parts"), allow(unused_variables))]
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<Outcome> {
        match self {
            #[cfg(feature = "audit")]
            PartCommand::Audit(args) => audit::run(&args),
            #[cfg(feature = "cluster")]
            PartCommand::Agent(args) => cluster::agent::run(&args),
            #[cfg(feature = "cluster")]
            PartCommand::Cluster(args) => cluster::run(global, &args),
            #[cfg(feature = "cluster")]
            PartCommand::Job(args) => cluster::job::run(global, &args),
            #[cfg(feature = "cluster")]
            PartCommand::JobChild(args) => cluster::job::run_child(&args),
            #[cfg(feature = "cluster")]
            PartCommand::Merge(args) => merge::run(&args),
            #[cfg(feature = "import")]
            PartCommand::Adopt(args) => adopt::run(&args),
            #[cfg(feature = "import")]
            PartCommand::Record(args) => record::run(&args),
            #[cfg(feature = "site")]
            PartCommand::Site(args) => site::run(global, &args),
            #[cfg(feature = "site")]
            PartCommand::Serve(args) => serve::run(global, &args),
            #[cfg(feature = "why")]
            PartCommand::Why(args) => why::run(global, args),
        }
    }
}

/// The parts that this build has.
pub(crate) fn listed() -> String {
    let has: Vec<&str> = PARTS.iter().filter(|(_, is_there, _)| *is_there).map(|(name, ..)| *name).collect();
    if has.is_empty() { "the core alone".to_owned() } else { has.join(", ") }
}

/// What is said of a command, or an option such as `load --engine`, that this build leaves out. `None` if it is there, or if no part has
/// it.
pub(crate) fn left_out(asked: &str) -> Option<String> {
    left_out_of(&PARTS, asked)
}

fn left_out_of(parts: &[Part], asked: &str) -> Option<String> {
    let (part, ..) = parts.iter().find(|(_, is_there, asks)| !is_there && asks.contains(&asked))?;
    Some(absent(&format!("`tare {asked}`"), part))
}

/// What needs a part that this build leaves out, and where that part is to be had.
fn absent(what: &str, part: &str) -> String {
    format!(
        "{what} needs the part \"{part}\", which this build leaves out: install a package of Tare, which has all parts, \
         or build it with `cargo build --release -p tare-http`"
    )
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::Cli;

    #[test]
    fn what_a_part_has_is_known_where_the_part_is_there() {
        let cli = Cli::command();
        for asked in PARTS.iter().flat_map(|(_, _, asks)| *asks) {
            let (name, option) =
                asked.split_once(" --").map_or((*asked, None), |(name, option)| (name, Some(option)));
            let command = cli.find_subcommand(name);
            let is_known = match option {
                Some(option) => command.unwrap().get_arguments().any(|one| one.get_long() == Some(option)),
                None => command.is_some(),
            };
            assert_eq!(is_known, left_out(asked).is_none(), "{asked}");
        }
    }

    #[test]
    fn a_command_that_was_left_out_says_where_it_is_to_be_had() {
        let without = PARTS.map(|(name, _, commands)| (name, false, commands));
        let said = left_out_of(&without, "serve").unwrap();
        assert!(
            said.starts_with("`tare serve` needs the part \"site\", which this build leaves out: "),
            "{said}"
        );
        assert_eq!(left_out_of(&without, "compare"), None);
    }
}

//! `cargo xtask cluster`: a cluster from nothing on this machine, to try things out. What there is to it is in `dev/engines`.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Result;
use tare_engines::SlurmCluster;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
    /// Folder of the cluster [default: target/cluster/slurm]
    #[arg(long, global = true)]
    folder: Option<PathBuf>,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Start it, and wait until it takes jobs
    Up {
        engine: EngineKind,
        /// Nodes, all of them this machine
        #[arg(long, default_value_t = 3)]
        nodes: usize,
    },
    /// End it with all of its jobs, and remove its folder
    Down,
    /// Print what runs of it
    Status,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum EngineKind {
    Slurm,
}

pub(crate) fn run(root: &Path, arguments: &Arguments) -> Result<ExitCode> {
    let folder = arguments.folder.clone().unwrap_or_else(|| root.join("target/cluster/slurm"));
    match &arguments.action {
        Action::Up { engine: EngineKind::Slurm, nodes } => {
            let missing = SlurmCluster::missing();
            if !missing.is_empty() {
                eprintln!("skipped: Slurm is not installed here (apt-get install {})", missing.join(" "));
                return Ok(ExitCode::SUCCESS);
            }
            let cluster = SlurmCluster::up(&folder, *nodes)?;
            println!("export SLURM_CONF={}", cluster.config().display());
            eprintln!("{nodes} nodes take jobs; `cargo xtask cluster down` ends them");
        }
        Action::Down => match SlurmCluster::open(&folder) {
            Ok(cluster) => cluster.down()?,
            Err(_) => eprintln!("{}: there is no cluster", folder.display()),
        },
        Action::Status => print!("{}", SlurmCluster::open(&folder)?.status()),
    }
    Ok(ExitCode::SUCCESS)
}

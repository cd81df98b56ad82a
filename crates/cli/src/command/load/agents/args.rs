//! The options of a load from several generators.

use std::path::PathBuf;

/// More than these options there is none: what an agent may do is an option of `tare agent`.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Several generators")]
pub(crate) struct AgentArgs {
    /// Let these agents (`tare agent`) send the load, each HOST:PORT. Connections and requests are those of all together, threads
    /// those of each
    #[arg(
        long,
        value_name = "HOST:PORT",
        value_delimiter = ',',
        conflicts_with_all = ["requests", "requests_each", "connections_total", "unix", "source", "cpus", "calibrate", "dry_run"]
    )]
    pub agents: Vec<String>,
    /// File with the token that the agents have too [default: the variable TARE_AGENT_TOKEN]
    #[arg(long, value_name = "FILE", requires = "agents")]
    pub token_file: Option<PathBuf>,
}

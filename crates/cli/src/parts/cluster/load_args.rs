//! The options of a load group.

use std::{path::PathBuf, time::Duration};

use anyhow::{Context, ensure};
use clap::builder::PossibleValuesParser;
use tare_agent::AGENTS_MAX;
use tare_cluster::{EngineName, GROUP_ENGINES};

use crate::command::words;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "A load group on a cluster")]
pub(crate) struct GroupArgs {
    /// Start generators, and the service if one is given, on this engine, and remove them after the load. This command must reach
    /// the network of the pods
    #[arg(
        long,
        value_parser = PossibleValuesParser::new(GROUP_ENGINES.map(EngineName::as_str)),
        requires = "on",
        requires = "generators",
        group = "several",
        conflicts_with_all = [
            "agents", "requests", "requests_each", "connections_total", "unix", "source", "cpus", "max_interference", "calibrate", "cert"
        ]
    )]
    pub engine: Option<String>,
    /// File with the classes of machines
    #[arg(long, value_name = "FILE", requires = "engine")]
    pub on: Option<PathBuf>,
    /// Number of generators on machines of a class; several classes are separated by commas
    #[arg(long, value_name = "CLASS:N", value_delimiter = ',', value_parser = generators, requires = "engine")]
    pub generators: Vec<Generators>,
    /// Start this service first: a command of the image that listens on all addresses, at the port of the URL, whose host is then
    /// `service`; or `raw-socket`, the built-in server
    #[arg(long, value_name = "COMMAND", requires = "engine", conflicts_with = "i_may_load")]
    pub service: Option<String>,
    /// The service runs on a machine of this class [default: the first of --generators]
    #[arg(long, value_name = "CLASS", requires = "service")]
    pub service_class: Option<String>,
    /// The Secret that has the token of --token-file under the key `token`
    #[arg(long, value_name = "NAME", default_value = "tare-load", requires = "engine")]
    pub secret: String,
    /// All must have started within this time
    #[arg(long, value_name = "TIME", value_parser = words::duration, default_value = "5m", requires = "engine")]
    pub ready_timeout: Duration,
}

/// A number of generators on machines of a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Generators {
    pub class: String,
    pub count: usize,
}

/// Parses `x86:2`.
fn generators(text: &str) -> anyhow::Result<Generators> {
    let (class, count) = text.rsplit_once(':').with_context(|| {
        format!("\"{text}\" is no number of generators of a class: give CLASS:N, such as x86:2")
    })?;
    let count: usize =
        count.parse().ok().with_context(|| format!("\"{count}\" is no number of generators"))?;
    ensure!(
        (1..=AGENTS_MAX).contains(&count),
        "{count} generators of the class \"{class}\": give 1 to {AGENTS_MAX}"
    );
    Ok(Generators { class: class.to_owned(), count })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generators_are_a_class_and_a_number() {
        assert_eq!(generators("x86:2").unwrap(), Generators { class: "x86".to_owned(), count: 2 });
        let error = |text| generators(text).unwrap_err().to_string();
        insta::assert_snapshot!(error("x86"), @r#""x86" is no number of generators of a class: give CLASS:N, such as x86:2"#);
        insta::assert_snapshot!(error("x86:many"), @r#""many" is no number of generators"#);
        insta::assert_snapshot!(error("x86:0"), @r#"0 generators of the class "x86": give 1 to 256"#);
    }
}

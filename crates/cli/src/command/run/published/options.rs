//! The options of a sequential experiment on the command line.

use std::time::Duration;

use anyhow::ensure;
use tare_base::units::parse_time;
use tare_bench::plan::SequentialOptions;
use tare_host::link::LinkSpec;

#[derive(Debug, Default, PartialEq, clap::Args)]
#[command(next_help_heading = "Published experiments (experiments/published/)")]
pub(crate) struct PublishedOptions {
    /// Share of the published time, messages and connections, such as 0.1; the table says so
    #[arg(long)]
    pub scale: Option<f64>,
    /// Length of every load that ends by time, such as `10s` [default: the published one]
    #[arg(long, value_parser = parse_time)]
    duration: Option<Duration>,
    /// Number of measurements of each cell [default: that of the experiment]
    #[arg(long)]
    rounds: Option<usize>,
    /// Run the sweep that chose the published load, instead of the experiment
    #[arg(long)]
    pub sweep: bool,
    /// `THREADS` of the services, if the experiment has several values of it, such as `28,4`
    #[arg(long, value_delimiter = ',', value_name = "COUNTS")]
    threads: Vec<usize>,
    /// The slow link, one way each: `delay=26ms,jitter=1ms,loss=0.1%,rate=100mbit` [default: that of the experiment]
    #[arg(long, value_name = "LINK")]
    link: Option<LinkSpec>,
}

impl PublishedOptions {
    /// The options as a value, at this scale.
    pub(crate) fn options(&self, scale: Option<f64>) -> anyhow::Result<SequentialOptions> {
        ensure!(
            scale.is_none_or(|scale| scale > 0.0 && scale <= 1.0),
            "--scale: give more than 0 and at most 1"
        );
        ensure!(self.rounds.is_none_or(|rounds| (1..=100).contains(&rounds)), "--rounds: give 1 to 100");
        ensure!(self.threads.iter().all(|count| (1..=1024).contains(count)), "--threads: give 1 to 1024");
        ensure!(self.duration.is_none_or(|time| time.as_millis() >= 100), "--duration: give 100ms or more");
        let duration_ns = self.duration.map(|time| time.as_nanos() as u64);
        Ok(SequentialOptions {
            scale,
            duration_ns,
            rounds: self.rounds,
            sweep: self.sweep,
            threads: self.threads.clone(),
            link: self.link,
        })
    }
}

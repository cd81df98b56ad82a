//! The `[latency]` table of an experiment file.

use std::time::Duration;

use serde::Deserialize;
use tare_base::units::{deserialize_duration, parse_rate};

use super::{Rate, load::is_within};

/// Rates are measured one after another, so more would make a block too long.
const RATES_MAX: usize = 8;

/// Open loops after the closed loops of a block: requests are due independently of the service.
#[derive(Debug, Clone, PartialEq)]
pub struct LatencySetting {
    pub rates: Vec<Rate>,
    pub slice: Duration,
    /// Slices of each service at each rate in a block.
    pub slices_per_block: usize,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct LatencyFile {
    rate: Option<String>,
    #[serde(default)]
    shares: Vec<f64>,
    #[serde(deserialize_with = "deserialize_duration")]
    slice: Duration,
    slices_per_block: usize,
}

impl LatencyFile {
    /// The checked setting, or the error.
    pub(super) fn read(self) -> Result<LatencySetting, String> {
        let rate = self.rate.as_deref().map(parse_rate).transpose();
        let rate = rate.map_err(|error| format!("\"rate\": {error}"))?;
        let bad = |share: &&f64| !(0.01..=2.0).contains(*share);
        if let Some(share) = self.shares.iter().find(bad) {
            return Err(format!("a share of capacity is {share}; it must be 0.01 to 2"));
        }
        let shares = self.shares.into_iter().map(Rate::OfCapacity);
        let rates: Vec<Rate> = rate.map(Rate::PerSecond).into_iter().chain(shares).collect();
        if rates.is_empty() || rates.len() > RATES_MAX {
            return Err(format!(
                "gives {} rates; \"rate\" and \"shares\" give 1 to {RATES_MAX}",
                rates.len()
            ));
        }
        is_within("slices-per-block", self.slices_per_block, 1..=1000)?;
        let slice = self.slice;
        if !(20..=60_000).contains(&slice.as_millis()) {
            return Err("\"slice\" must be 20ms to 60s".to_owned());
        }
        Ok(LatencySetting { rates, slice, slices_per_block: self.slices_per_block })
    }
}

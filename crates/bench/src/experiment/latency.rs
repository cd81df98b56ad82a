//! `[latency]` as it stands in the file.

use serde::Deserialize;
use tare_load::schedule::parse::parse_rate;

use super::{LatencySetting, Point};

/// More would be measured one after the other for longer than a block should last.
const POINTS_MAX: usize = 8;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct File {
    rate: Option<String>,
    #[serde(default)]
    shares: Vec<f64>,
    slice: jiff::SignedDuration,
    slices_per_block: usize,
}

impl File {
    /// What it means, or what is wrong with it.
    pub fn read(self) -> Result<LatencySetting, String> {
        let rate = self.rate.as_deref().map(parse_rate).transpose();
        let rate = rate.map_err(|error| format!("\"rate\": {error}"))?;
        let bad = |share: &&f64| !(0.01..=2.0).contains(*share);
        if let Some(share) = self.shares.iter().find(bad) {
            return Err(format!("a share of capacity is {share}; it must be 0.01 to 2"));
        }
        let shares = self.shares.into_iter().map(Point::OfCapacity);
        let points: Vec<Point> = rate.map(Point::PerSecond).into_iter().chain(shares).collect();
        if points.is_empty() || points.len() > POINTS_MAX {
            return Err(format!(
                "gives {} rates; \"rate\" and \"shares\" give 1 to {POINTS_MAX}",
                points.len()
            ));
        }
        if !(1..=1000).contains(&self.slices_per_block) {
            return Err(format!("\"slices-per-block\" is {}; it must be 1 to 1000", self.slices_per_block));
        }
        let slice = self.slice.unsigned_abs();
        if !(20..=60_000).contains(&slice.as_millis()) {
            return Err("\"slice\" must be 20ms to 60s".to_owned());
        }
        Ok(LatencySetting { points, slice, slices_per_block: self.slices_per_block })
    }
}

//! `--until`: the stopping rule of a run, in addition to its budget and its largest number of blocks.

use anyhow::ensure;
use tare_base::spelling::suggestion;
use tare_bench::plan::{
    Plan,
    until::{ALPHA, Metric, RanksGoal, Until, looks},
};

use crate::command::words;

/// The default difference up to which two rows count as equal.
pub(super) const DELTA: f64 = 0.03;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    Budget,
    Ranks(Metric),
}

/// Parses `budget`, `ranks`, or `ranks:throughput`.
pub(super) fn parse(text: &str) -> Result<Asked, String> {
    match text.split_once(':') {
        Some(("ranks", metric)) => words::metric(metric).map(Asked::Ranks),
        None if text == "ranks" => Ok(Asked::Ranks(Metric::Cpu)),
        None if text == "budget" => Ok(Asked::Budget),
        _ => Err(format!("unknown end{}", suggestion(text, ["budget", "ranks", "ranks:throughput"]))),
    }
}

/// Sets the stopping rule of a plan, which must have interim looks.
pub(super) fn enter(plan: &mut Plan, asked: Asked, delta: f64) -> anyhow::Result<()> {
    let Asked::Ranks(metric) = asked else { return Ok(()) };
    ensure!(
        plan.groups() == 1,
        "--until ranks compares rows within a block, and {} rows do not fit into one: choose at most {} by --services",
        plan.rows.len(),
        plan.blocks().group_max
    );
    plan.until = Until::Ranks(RanksGoal { metric, delta, looks: looks(plan.blocks().max), alpha: ALPHA });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_has_a_name() {
        assert_eq!(parse("budget"), Ok(Asked::Budget));
        assert_eq!(parse("ranks"), Ok(Asked::Ranks(Metric::Cpu)));
        assert_eq!(parse("ranks:throughput"), Ok(Asked::Ranks(Metric::Throughput)));
        assert!(parse("rnaks").unwrap_err().ends_with("did you mean \"ranks\"?"));
        assert!(parse("ranks:cpus").unwrap_err().ends_with("did you mean \"cpu\"?"));
    }
}

//! The plan of an interleaved experiment. Points are the first closed loop, the open loops, then the other
//! closed loops, so that the only load of an experiment is point 0.

use tare_host::cpus::Pinning;
use tare_service::catalogue::Row;

use super::{
    BLOCKS_PER_START_MAX, Blocks, GROUP_MAX, LoadSpec, Order, Plan, PlannedRow, Point, Publication, Spread,
    Until,
};
use crate::experiment::{Experiment, LatencySetting, LoadSetting, Rate};

impl Plan {
    /// Plans `experiment` over `rows`; the rows are not built yet.
    pub fn interleaved(experiment: &Experiment, rows: &[Row], seed: u64, pinning: Pinning) -> Plan {
        let schedule = &experiment.schedule;
        let mut points: Vec<Point> =
            experiment.loads.iter().map(|load| closed_loop(experiment, load, rows.len())).collect();
        let open = experiment.latency.iter().flat_map(|latency| open_loops(latency, &points[0]));
        let open: Vec<Point> = open.collect();
        points.splice(1..1, open);
        let plan = Plan {
            experiment: experiment.name.clone(),
            title: experiment.title.clone(),
            question: experiment.question.clone(),
            reference: Some(experiment.reference.clone()),
            twin: None,
            are_versions: false,
            isolates: false,
            agents: None,
            seed,
            pinning,
            order: Order::Interleaved(Blocks {
                min: schedule.blocks_min,
                max: schedule.blocks_max,
                budget_ns: ns(schedule.budget),
                is_bound: false,
                warm_up_ns_max: schedule.warm_up_max.map(ns),
                warm_up_ns_limit: None,
                group_max: GROUP_MAX,
                per_start_max: BLOCKS_PER_START_MAX,
                spread: None,
            }),
            until: Until::Budget,
            rows: rows.iter().map(|row| PlannedRow::with_ballast(row, rows.len())).collect(),
            points,
            publication: Publication::default(),
        };
        if schedule.slices_per_block.is_some() { plan } else { plan.with_spread(Spread::DEFAULT) }
    }

    /// Warm-up load on a fresh process before its first sample.
    pub fn warm_up_ns(&self) -> u64 {
        self.points[0].warm_up_ns
    }
}

fn closed_loop(experiment: &Experiment, load: &LoadSetting, rows: usize) -> Point {
    let schedule = &experiment.schedule;
    let LoadSetting { connections, threads, connection_use } = *load;
    Point {
        part: load.label(),
        contract: experiment.contract.clone(),
        requests: Vec::new(),
        rounds: schedule.slices_per_block.unwrap_or(1),
        load: LoadSpec::Closed { connections, threads, duration_ns: ns(schedule.slice), think_ns: None },
        connection_use,
        published: None,
        warm_up_ns: ns(schedule.warm_up),
        service_settings: experiment.service_settings.clone(),
        link: None,
        rows: (0..rows).collect(),
    }
}

/// The open loops, which use the connections of the first closed loop.
fn open_loops<'a>(latency: &'a LatencySetting, first: &'a Point) -> impl Iterator<Item = Point> + 'a {
    latency.rates.iter().map(|rate| first.open(*rate, ns(latency.slice), latency.slices_per_block))
}

impl Point {
    /// An open loop over the same connections, with the same service.
    pub(super) fn open(&self, rate: Rate, duration_ns: u64, rounds: usize) -> Point {
        let tare_load::Connections { total: connections, threads } = self.load.connections();
        let load = LoadSpec::Open { rate, connections, threads, duration_ns };
        Point { part: rate.label(), rounds, load, ..self.clone() }
    }
}

pub(super) fn ns(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

//! Several loads in one run. Each is a point of the plan: the first one, then the open loops, then the other loads; so the samples of a
//! run with one load stand where they always stood.
//!
//! Whoever reads a run takes one load after the other: [`Kept::at_load`] gives the run that would have been stored if that load had
//! been measured alone. So no figure of one load can depend on the samples of another.

use std::borrow::Cow;

use super::{
    folder::{Header, Kept},
    plan::Plan,
    record::{Record, Stopped},
};
use crate::{
    experiment::{LoadSetting, Point},
    sample::Sample,
};

impl Plan {
    /// The load that decides when a run ends, and that a run of one load has.
    pub fn load(&self) -> &LoadSetting {
        &self.loads[0]
    }

    /// The place of a load among the points.
    pub fn point_of_load(&self, load: usize) -> usize {
        if load == 0 { 0 } else { self.open_loops() + load }
    }

    /// How many points there are.
    pub fn points(&self) -> usize {
        self.loads.len() + self.open_loops()
    }

    /// For the file names of histograms: the first load has no name, so that those of a run with one load are as they were.
    pub fn point_labels(&self) -> Vec<Option<String>> {
        let open = self.latency.iter().flat_map(|latency| &latency.points).map(Point::label);
        let others = self.loads.iter().skip(1).map(LoadSetting::label);
        std::iter::once(None).chain(open.chain(others).map(Some)).collect()
    }

    /// The points that belong to a load: open loops take their rates from the first one.
    fn points_of_load(&self, load: usize) -> Vec<usize> {
        match load {
            0 => (0..=self.open_loops()).collect(),
            _ => vec![self.point_of_load(load)],
        }
    }

    fn open_loops(&self) -> usize {
        self.latency.as_ref().map_or(0, |latency| latency.points.len())
    }

    fn at_load(&self, load: usize) -> Plan {
        let latency = self.latency.clone().filter(|_| load == 0);
        Plan { loads: vec![self.loads[load].clone()], latency, ..self.clone() }
    }
}

impl Kept {
    /// The run as if it had this load only, by its place in the plan.
    pub fn at_load(&self, load: usize) -> Cow<'_, Kept> {
        let plan = &self.header.plan;
        if plan.loads.len() == 1 {
            return Cow::Borrowed(self);
        }
        Cow::Owned(Kept {
            header: Header { plan: plan.at_load(load), ..self.header.clone() },
            records: self.records.iter().filter_map(|record| record.at_load(plan, load)).collect(),
            damage: self.damage.clone(),
            goes_on: self.goes_on,
        })
    }
}

impl Record {
    /// The record as a run of this load only would have it; absent if it is a sample of another load.
    pub fn at_load(&self, plan: &Plan, load: usize) -> Option<Record> {
        let points = plan.points_of_load(load);
        match self {
            Record::Sample(sample) => {
                let point = points.iter().position(|point| *point == sample.point)?;
                Some(Record::Sample(Box::new(Sample { point, ..(**sample).clone() })))
            }
            Record::Stopped(stopped) => {
                let latency = points.iter().map(|point| stopped.latency_at(*point).copied()).collect();
                Some(Record::Stopped(Stopped { latency, ..stopped.clone() }))
            }
            other => Some(other.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        fixture,
        run::{
            plan::LatencyPlan,
            record::{Failed, Latency},
        },
    };
    use tare_host::environment::Environment;

    fn plan(connections: &[usize]) -> Plan {
        let points = vec![Point::PerSecond(10.0), Point::OfCapacity(0.5)];
        Plan {
            loads: LoadSetting::each(connections, 1).unwrap(),
            latency: Some(LatencyPlan { points, slice_ns: 1, slices_per_block: 1 }),
            ..fixture::plan(&["a", "b"])
        }
    }

    fn sample(point: usize) -> Record {
        Record::Sample(Box::new(Sample { point, round: 7, ..Sample::default() }))
    }

    fn kept(plan: Plan) -> Kept {
        let latency = |p50_ns| Some(Latency { p50_ns, ..Latency::default() });
        let stopped =
            Stopped { latency: (0..plan.points() as u64).map(latency).collect(), ..Stopped::default() };
        let mut records: Vec<Record> = (0..plan.points()).map(sample).collect();
        records.push(Record::Stopped(stopped));
        records.push(Record::Failed(Failed::default()));
        let header = Header::new("0.1.0", String::new(), plan, Environment::default());
        Kept { header, records, damage: Vec::new(), goes_on: false }
    }

    /// The points of its samples, and the latency of its processes.
    fn shape(kept: &Kept) -> (Vec<usize>, Vec<u64>) {
        let points = kept.records.iter().filter_map(|record| match record {
            Record::Sample(sample) => Some(sample.point),
            _ => None,
        });
        let latency = kept.records.iter().find_map(|record| match record {
            Record::Stopped(stopped) => Some(stopped.latency.iter().flatten().map(|latency| latency.p50_ns)),
            _ => None,
        });
        (points.collect(), latency.into_iter().flatten().collect())
    }

    #[test]
    fn each_load_is_a_run_of_its_own() {
        let kept = kept(plan(&[16, 64, 256]));
        let [first, second, third] = [0, 1, 2].map(|load| kept.at_load(load));
        assert_eq!(shape(&first), (vec![0, 1, 2], vec![0, 1, 2]), "with the open loops");
        assert_eq!((shape(&second), shape(&third)), ((vec![0], vec![3]), (vec![0], vec![4])));
        let connections = |run: &Kept| run.header.plan.load().connections;
        assert_eq!([&first, &second, &third].map(|run| connections(run)), [16, 64, 256]);
        assert_eq!([first.header.plan.points(), third.header.plan.points()], [3, 1]);
        assert_eq!(third.records.len(), 3, "what is of no load is of each");
    }

    #[test]
    fn a_run_of_one_load_is_as_it_was() {
        let kept = kept(plan(&[64]));
        assert!(matches!(kept.at_load(0), Cow::Borrowed(_)));
        let json = serde_json::to_value(&kept.header.plan).unwrap();
        assert_eq!(json["load"], serde_json::json!({ "connections": 64, "threads": 1 }));
        for connections in [&[64][..], &[16, 64]] {
            let plan = plan(connections);
            let read: Plan = serde_json::from_value(serde_json::to_value(&plan).unwrap()).unwrap();
            assert_eq!(read, plan);
        }
    }
}

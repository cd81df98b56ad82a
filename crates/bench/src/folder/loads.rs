//! One load of a run with several, as the run that would have been stored if that load had been measured
//! alone. Readers take one load after the other, so no figure of one load depends on the samples of another.

use std::borrow::Cow;

use super::{Header, StoredRun};
use crate::{
    plan::Plan,
    record::{Record, StoppedService},
    sample::Sample,
    sample_agents::DiscardedSlice,
};

impl StoredRun {
    /// The run with this load only, by its place among the loads.
    pub fn at_load(&self, load: usize) -> Cow<'_, StoredRun> {
        let plan = &self.header.plan;
        if plan.closed_loops().nth(1).is_none() {
            return Cow::Borrowed(self);
        }
        Cow::Owned(StoredRun {
            header: Header { plan: plan.at_load(load), ..self.header.clone() },
            records: self.records.iter().filter_map(|record| record.at_load(plan, load)).collect(),
            damage: self.damage.clone(),
            in_progress: self.in_progress,
        })
    }
}

impl Record {
    /// The record, as a run with this load only would have it; absent if it belongs to another load.
    pub fn at_load(&self, plan: &Plan, load: usize) -> Option<Record> {
        let points = plan.points_of_load(load);
        match self {
            Record::Sample(sample) => {
                let point = points.iter().position(|point| *point == sample.point)?;
                Some(Record::Sample(Box::new(Sample { point, ..(**sample).clone() })))
            }
            Record::Discarded(slice) => {
                let point = points.iter().position(|point| *point == slice.point)?;
                Some(Record::Discarded(DiscardedSlice { point, ..slice.clone() }))
            }
            Record::Stopped(stopped) => {
                let latency = points.iter().map(|point| stopped.latency_at(*point).copied()).collect();
                Some(Record::Stopped(StoppedService { latency, ..stopped.clone() }))
            }
            other => Some(other.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        experiment::Rate,
        fixture,
        record::{Failed, Latency},
    };
    use tare_host::environment::Environment;

    fn plan(connections: &[usize]) -> Plan {
        let rates = [Rate::PerSecond(10.0), Rate::OfCapacity(0.5)];
        fixture::with_rates(fixture::under_loads(fixture::plan(&["a", "b"]), connections), &rates, 1)
    }

    fn sample(point: usize) -> Record {
        Record::Sample(Box::new(Sample { point, round: 7, ..Sample::default() }))
    }

    fn kept(plan: Plan) -> StoredRun {
        let latency = |p50_ns| Some(Latency { p50_ns, ..Latency::default() });
        let stopped = StoppedService {
            latency: (0..plan.points.len() as u64).map(latency).collect(),
            ..StoppedService::default()
        };
        let mut records: Vec<Record> = (0..plan.points.len()).map(sample).collect();
        records.push(Record::Stopped(stopped));
        records.push(Record::Failed(Failed::default()));
        let header = Header::new("0.1.0", String::new(), plan, Environment::default());
        StoredRun { header, records, damage: Vec::new(), in_progress: false }
    }

    /// The points of its samples, and the latency counts of its processes.
    fn shape(stored: &StoredRun) -> (Vec<usize>, Vec<u64>) {
        let points = stored.records.iter().filter_map(|record| match record {
            Record::Sample(sample) => Some(sample.point),
            _ => None,
        });
        let latency = stored.records.iter().find_map(|record| match record {
            Record::Stopped(stopped) => Some(stopped.latency.iter().flatten().map(|latency| latency.p50_ns)),
            _ => None,
        });
        (points.collect(), latency.into_iter().flatten().collect())
    }

    #[test]
    fn each_load_is_a_run_of_its_own() {
        let stored = kept(plan(&[16, 64, 256]));
        let [first, second, third] = [0, 1, 2].map(|load| stored.at_load(load));
        assert_eq!(shape(&first), (vec![0, 1, 2], vec![0, 1, 2]), "with the open loops");
        assert_eq!((shape(&second), shape(&third)), ((vec![0], vec![3]), (vec![0], vec![4])));
        let connections = |run: &StoredRun| run.header.plan.load().connections;
        assert_eq!([&first, &second, &third].map(|run| connections(run)), [16, 64, 256]);
        assert_eq!([first.header.plan.points.len(), third.header.plan.points.len()], [3, 1]);
        assert_eq!(third.records.len(), 3, "what is of no load is of each");
    }

    #[test]
    fn a_run_of_one_load_is_itself() {
        let stored = kept(plan(&[64]));
        assert!(matches!(stored.at_load(0), Cow::Borrowed(_)));
        assert_eq!(stored.header.plan.point_labels(), [None, Some("10/s"), Some("50%")]);
    }

    #[test]
    fn a_plan_is_read_as_it_was_stored() {
        for plan in [plan(&[64]), plan(&[16, 64])] {
            let read: Plan = serde_json::from_value(serde_json::to_value(&plan).unwrap()).unwrap();
            assert_eq!(read, plan);
        }
    }
}

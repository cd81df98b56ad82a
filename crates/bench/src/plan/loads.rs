//! Several loads in one run. Each closed loop is a point; open loops belong to the first one.

use super::{Plan, Point};
use crate::experiment::{LoadSetting, Rate};

impl Plan {
    /// The closed loops in order; the first one decides when a run ends.
    pub fn loads(&self) -> Vec<LoadSetting> {
        self.closed_loops().map(|point| self.points[point].connections()).collect()
    }

    pub fn load(&self) -> LoadSetting {
        self.points[0].connections()
    }

    /// The rates of the open loops, each with its place among the points.
    pub fn rates(&self) -> impl Iterator<Item = (usize, Rate)> {
        let rate = |(place, point): (usize, &Point)| Some((place, point.load.rate()?));
        self.points.iter().enumerate().filter_map(rate)
    }

    pub fn slice_ns(&self) -> u64 {
        self.points[0].load.duration_ns()
    }

    /// Slices per block, of each row under each load.
    pub fn slices_per_block(&self) -> usize {
        self.points[0].rounds
    }

    pub fn point_of_load(&self, load: usize) -> usize {
        self.closed_loops().nth(load).unwrap_or(0)
    }

    /// Suffixes for the files of histograms; the first load has none.
    pub fn point_labels(&self) -> Vec<Option<&str>> {
        self.points
            .iter()
            .enumerate()
            .map(|(place, point)| (place > 0).then_some(point.part.as_str()))
            .collect()
    }

    pub(crate) fn closed_loops(&self) -> impl Iterator<Item = usize> {
        (0..self.points.len()).filter(|point| self.points[*point].load.rate().is_none())
    }

    /// The points of a load; the open loops take their rates from the first load.
    pub(crate) fn points_of_load(&self, load: usize) -> Vec<usize> {
        match load {
            0 => std::iter::once(0).chain(self.rates().map(|(place, _)| place)).collect(),
            _ => vec![self.point_of_load(load)],
        }
    }

    pub(crate) fn at_load(&self, load: usize) -> Plan {
        let points = self.points_of_load(load).into_iter().map(|point| self.points[point].clone());
        Plan { points: points.collect(), ..self.clone() }
    }
}

impl Point {
    fn connections(&self) -> LoadSetting {
        let tare_load::Connections { total, threads } = self.load.connections();
        LoadSetting { connections: total, threads, connection_use: self.connection_use }
    }
}

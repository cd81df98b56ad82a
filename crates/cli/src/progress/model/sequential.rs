//! A published benchmark as it is made again: how many cells are done, and what is known at the point that is measured now.

use std::{collections::BTreeMap, time::Duration};
use tare_analysis::estimate::Estimate;

use tare_analysis::{
    figures::{percent, rate, time},
    sequential::{self, CellReport, PublishedRow, SequentialReport},
};
use tare_bench::{
    folder::{Header, StoredRun},
    record::Record,
    schedule::{self, Slot},
};

use crate::progress::view::{Column, Range, Row, Scale, Table, Tone, View};

/// A sequential experiment, as far as it has come.
#[derive(Debug)]
pub struct SequentialModel {
    kept: StoredRun,
    /// Cells of each row.
    cells: BTreeMap<usize, usize>,
    report: SequentialReport,
    now: Option<Slot>,
    /// Cells that have begun.
    begun: usize,
    left: Duration,
}

impl SequentialModel {
    /// With this head, after `past`.
    pub fn new(header: &Header, past: &[Record]) -> SequentialModel {
        let kept = StoredRun {
            header: header.clone(),
            records: past.to_vec(),
            damage: Vec::new(),
            in_progress: true,
        };
        let mut cells = BTreeMap::new();
        for cell in schedule::order(&header.plan) {
            *cells.entry(cell.row).or_default() += 1;
        }
        let left = Duration::from_nanos(header.plan.expected_ns());
        SequentialModel { report: sequential::compute(&kept), kept, cells, now: None, begun: 0, left }
    }

    /// A cell begins after this many others; so much may still be to come.
    pub fn begin(&mut self, cell: Slot, done: usize, left: Duration) {
        (self.now, self.begun, self.left) = (Some(cell), done + 1, left);
    }

    /// A record was stored.
    pub fn hear(&mut self, record: &Record) {
        self.kept.records.push(record.clone());
    }

    /// Brings what is known up to date: not while anything is measured.
    pub fn compute(&mut self) {
        self.report = sequential::compute(&self.kept);
    }

    /// How it looks, so long after this part of it began.
    pub fn view(&self, elapsed: Duration) -> View {
        let plan = &self.kept.header.plan;
        let place = self.now.map_or("starting".to_owned(), |cell| {
            let (row, point) = (&plan.rows[cell.row].label, plan.points[cell.point].describe());
            format!("sample {} of {}, round {}: {row}, {point}", self.begun, plan.samples(), cell.round + 1)
        });
        View {
            title: plan.title.clone(),
            place,
            finding: String::new(),
            elapsed,
            left: self.left,
            table: self.table(),
            remarks: Vec::new(),
        }
    }

    /// Of the point that is measured now.
    fn table(&self) -> Table {
        let point = self.now.and_then(|cell| self.report.points.get(cell.point));
        let cells = point.map_or(&[][..], |point| &point.cells);
        let is_makespan = cells.iter().any(|cell| cell.makespan_ns.is_some());
        let (title, figure): (_, fn(f64) -> String) =
            if is_makespan { ("makespan", time) } else { ("req/s", rate) };
        let mut rows: Vec<Row> = Vec::new();
        for (place, row) in self.report.rows.iter().enumerate() {
            let cell = cells.iter().find(|cell| cell.row == place);
            rows.push(self.row(place, row, cell, is_makespan, figure));
        }
        let scale = Scale::length(&rows, 0.0, figure);
        let columns = [("cells", 3), (title, 0), ("95% interval", 1), ("of reference", 4), ("CPU/req", 2)];
        let columns = columns.map(|(title, spare)| Column { title, spare }).into();
        Table { name: "service", columns, scale, rows }
    }

    fn row(
        &self,
        place: usize,
        row: &PublishedRow,
        cell: Option<&CellReport>,
        is_makespan: bool,
        figure: fn(f64) -> String,
    ) -> Row {
        let name = row.label.clone();
        if let Some(excluded) = &row.excluded {
            let state = format!("left out: {}", excluded.reason);
            return Row { name, state, tone: Tone::Open, is_out: true, ..Row::default() };
        }
        let dash = || "-".to_owned();
        let found = cell.and_then(|cell| if is_makespan { cell.makespan_ns } else { cell.per_second });
        let is_now = self.now.is_some_and(|cell| cell.row == place);
        let trouble = cell.and_then(|cell| cell.hung.as_ref().or(cell.failed.as_ref()));
        let (state, tone) = match trouble {
            _ if is_now => ("measuring".to_owned(), Tone::Plain),
            Some(trouble) => (trouble.clone(), Tone::Bad),
            None => (String::new(), Tone::Plain),
        };
        let value = |found: Option<Estimate>, show: fn(f64) -> String| {
            found.map_or_else(dash, |found| show(found.value))
        };
        let interval = found.and_then(|found| found.interval());
        Row {
            name,
            cells: vec![
                format!("{}/{}", self.done(place), self.cells.get(&place).copied().unwrap_or_default()),
                value(found, figure),
                interval.map_or_else(dash, |(low, high)| format!("{} .. {}", figure(low), figure(high))),
                value(cell.and_then(|cell| cell.of_reference), percent),
                value(cell.and_then(|cell| cell.cpu_ns_per_request), time),
            ],
            range: found.map(|found| Range { value: Some(found.value), interval, marks: Vec::new() }),
            state,
            tone,
            is_now,
            interest: 2 * u8::from(is_now) + u8::from(cell.is_some()),
            ..Row::default()
        }
    }

    fn done(&self, row: usize) -> usize {
        let is_of = |record: &&Record| matches!(record, Record::Sample(sample) if sample.row == row);
        self.kept.records.iter().filter(is_of).count()
    }
}

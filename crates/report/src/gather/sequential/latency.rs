//! Latency by percentile, measured and published, for the layouts that have it.

use tare_analysis::sequential::{PUBLISHED, SWEEP};
use tare_bench::{experiment::Layout, sample::PROBABILITIES};

use super::{Experiment, ServiceAt};
use crate::{
    document::{Chart, Section, Unit},
    gather::curves::{self, Percentile},
};

impl<'a> ServiceAt<'a> {
    /// The curve of a service under a load, from its known quantiles. The maximum is in the tables: on an
    /// axis of nines it would be at infinity.
    fn percentiles(self) -> impl Iterator<Item = Percentile<'a>> {
        let finite = PROBABILITIES.iter().filter(|probability| **probability < 1.0);
        finite.filter_map(move |&percentile| {
            let latency = &self.figures()?.latency;
            Some(Percentile {
                label: self.label(),
                load: self.load(),
                percentile,
                latency_ns: latency.ns_at(percentile)? as f64,
                published_ns: self.published_ns(percentile),
                answers: latency.count,
                at_least: Some(latency.at_least),
            })
        })
    }

    fn published_ns(&self, percentile: f64) -> Option<f64> {
        let row = self.published()?;
        let wrk = row.latency_ms.and_then(|of| match percentile {
            0.5 => Some(of.p50),
            0.75 => Some(of.p75),
            0.9 => Some(of.p90),
            0.99 => Some(of.p99),
            _ => None,
        });
        // A percentage times 0.01 may differ from the probability in the last digit.
        let is_it = |percent: &f64| (percent / 100.0 - percentile).abs() < 1e-9;
        let place = self.report.published.percentiles.iter().position(is_it);
        let listed = place.and_then(|place| row.at.get(place).copied());
        wrk.or(listed).map(|ms| ms * 1e6)
    }
}

/// `None` if the layout has no latencies.
pub(crate) fn section(run: &Experiment) -> Option<Section> {
    if !matches!(run.report.layout, Layout::Percentiles | Layout::Latency) {
        return None;
    }
    let cells = run.cells(|part| part != SWEEP).into_iter();
    let steps: Vec<Percentile> = cells.flat_map(ServiceAt::percentiles).collect();
    let p99 = steps.iter().filter(|step| step.percentile == 0.99);
    let worst = p99.max_by(|a, b| a.latency_ns.total_cmp(&b.latency_ns))?;
    let longest = Unit::Nanoseconds.show(worst.latency_ns);
    let longest = format!("the longest p99 of all loads is {longest} of {}", worst.label);
    let chart = |title: &str, y: &str, load: &str| -> Chart {
        let chart = curves::chart(title, y, load, &format!("{title}: a curve for each service; {longest}."));
        Chart { alike: true, ..chart }
    };
    let is_published = steps.iter().any(|step| step.published_ns.is_some());
    let published = is_published.then(|| chart("As published", "latency_ns_published", PUBLISHED));
    let loads = run.parts().into_iter().filter(|part| steps.iter().any(|step| step.load == *part));
    let here = loads.map(|load| match load {
        PUBLISHED => chart("Here, under the published load", "latency_ns", load),
        load => chart(&format!("Here, {load}"), "latency_ns", load),
    });
    let charts = published.into_iter().chain(here).collect();
    let lead = "From the instant each request was due, of the round in the middle. The longest stands in the tables of the loads.";
    Some(Section { charts, ..Section::new("latency", "Latency", lead, curves::table(steps)) })
}

//! Several cores: a curve over numbers of threads for each service, and its universal scalability law.

use tare_analysis::{
    estimate::UnitEstimate,
    interleaved::{AtThreads, FittedLaw, RowState, Scaling},
};
use tare_base::units::several;
use tare_stats::scalability::Peak;

use crate::{
    document::{Chart, Scale, Section, Shape, Unit},
    gather::{
        columns::{Columns, four_digits, state},
        words::{Headline, capital, span, with_interval},
    },
};

const LEAD: &str = "Each service with several numbers of threads, each row on CPUs of its own and measured in the same blocks as the \
                    others of its service. With perfect scaling twice the threads answer twice as many requests: the speed-up doubles \
                    and the efficiency stays 100%. CPU per request that rises shows that threads get in each other's way; efficiency \
                    that falls while CPU per request stays shows that they wait.";

const LAW_LEAD: &str = "The universal scalability law (Gunther), fitted to the throughput of each service. Contention is the share of the \
                        work that one thread at a time can do, such as what is done under a lock: others queue for it. Coherence is what \
                        every pair of threads spends on agreeing, such as a cache line that moves between cores: it grows with the square \
                        of their number, so that more threads are slower from some number on. A law that does not fit says nothing: \
                        look at the misfit first.";

/// A law is in doubt if two conditions hold. Points that follow it would deviate as much in fewer than this
/// share of runs, and the worst point is off by more than the next constant. Over many blocks, a test alone
/// finds irrelevant deviations.
const DOUBTFUL_P: f64 = 0.05;
const DOUBTFUL_SHARE: f64 = 0.05;

/// A service at a number of threads, or a service with its law.
type Line<'a> = (&'a Scaling, &'a AtThreads);
type Fitted<'a> = (&'a Scaling, &'a FittedLaw);

/// The curve and the law; empty for a run with one number of threads.
pub(super) fn sections(scalings: &[Scaling]) -> Vec<Section> {
    if scalings.is_empty() {
        return Vec::new();
    }
    let lines = || scalings.iter().flat_map(|of| of.points.iter().map(move |point| (of, point)));
    let table = columns().table("Services by number of threads", lines());
    let curve = Section { charts: charts(scalings), ..Section::new("cores", "Several cores", LEAD, table) };
    let curve = left_out(scalings).into_iter().fold(curve, Section::note);
    vec![curve.brief(), law(scalings)]
}

/// The numbers of threads for which this machine has too few CPUs, once per reason instead of per service.
fn left_out(scalings: &[Scaling]) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for point in scalings.iter().flat_map(|of| &of.points) {
        let (RowState::Excluded(_), Some(reason)) = (&point.state, &point.reason) else { continue };
        let note = format!("{} left out: {reason}", several(point.threads, "thread"));
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}

fn columns<'a>() -> Columns<'a, Line<'a>> {
    Columns::new()
        .facet("service", "service", |(of, _): &Line| of.service.clone())
        .language(|(of, _)| of.language.clone())
        .count("threads", "threads", |(_, point)| point.threads)
        .help("THREADS of the service; it is pinned to as many CPUs")
        .estimate(Unit::PerSecond, "requests_per_second", "req/s", |(_, point)| point.requests_per_second)
        .help("right answers a second; the mean of the blocks, with a 95% interval")
        .estimate(Unit::Times, "speed_up", "speed-up", |(_, point)| point.speed_up)
        .help("throughput related to that of the same service with its least number of threads, in the same block, with a 95% interval")
        .estimate(Unit::Share, "efficiency", "efficiency", |(_, point)| point.efficiency)
        .help("the speed-up divided by how many times as many threads there are: 100% is perfect scaling")
        .estimate(Unit::Nanoseconds, "cpu_ns_per_request", "CPU/request", |(_, point)| {
            point.cpu_ns_per_request
        })
        .help("CPU time of the service's processes for each answer; the mean of the blocks, with a 95% interval")
        .estimate(Unit::Times, "cpu_to_first", "CPU of least", |(_, point)| point.cpu_to_first)
        .help("CPU per request related to that of the same service with its least number of threads, in the same block")
        .share("server_cpu_share", "CPU busy", |(_, point)| point.server_cpu_share)
        .help("the share of the measured time in which the service's CPUs were busy with it")
        .count("generator_threads", "generator", |(_, point)| point.generator_threads)
        .help("threads of the generator, each on a CPU of its own")
        .count("blocks", "blocks", |(_, point)| point.blocks)
        .facet("state", "state", |(_, point)| state(point.verdict))
        .text("reason", "why not", why)
}

/// The reason of a row; that of a row that was left out is in a note, once for all services.
fn why((_, point): &Line) -> Option<String> {
    point.reason.clone().filter(|_| !matches!(point.state, RowState::Excluded(_)))
}

/// One line per service.
fn charts(scalings: &[Scaling]) -> Vec<Chart> {
    type Figure = fn(&AtThreads) -> Option<f64>;
    let line = |key: &str, title: &str, unit: Unit, y_scale: Scale, figure: Figure| {
        let lines = scalings.iter().flat_map(|of| of.points.iter().map(move |point| (of, point)));
        let named = lines.filter_map(|(of, point)| {
            Some((format!("{} with {}", of.service, several(point.threads, "thread")), figure(point)?))
        });
        let named: Vec<(String, f64)> = named.collect();
        let span = span(unit, named.iter().map(|(name, value)| (name.as_str(), *value)))?;
        let alt = format!("{title} by threads: {span}.");
        let chart = Chart::new(Shape::Lines, "threads", key, &alt).series("service");
        Some(chart.scales(Scale::Log, y_scale).title(title).n("blocks"))
    };
    let charts = [
        line("requests_per_second", "Requests a second", Unit::PerSecond, Scale::Linear, |point| {
            Some(point.requests_per_second?.value)
        }),
        line("speed_up", "Speed-up", Unit::Times, Scale::Log, |point| Some(point.speed_up?.value)),
        line("cpu_ns_per_request", "CPU per request", Unit::Nanoseconds, Scale::Linear, |point| {
            Some(point.cpu_ns_per_request?.value)
        }),
    ];
    charts.into_iter().flatten().collect()
}

fn law(scalings: &[Scaling]) -> Section {
    const TITLE: &str = "What limits the scaling";
    let fitted: Vec<Fitted> = scalings.iter().filter_map(|of| Some((of, of.law.as_ref().ok()?))).collect();
    let missing = scalings.iter().filter_map(|of| Some((of, of.law.as_ref().err()?)));
    let missing: Vec<String> = missing.map(|(of, why)| format!("{}: no law: {why}", of.service)).collect();
    if fitted.is_empty() {
        return missing.into_iter().fold(Section::without("cores-law", TITLE, LAW_LEAD), Section::note);
    }
    let sentences: Vec<String> = fitted.iter().map(sentence).collect();
    let table = law_columns().table("The law of each service", fitted);
    let section = Section::new("cores-law", TITLE, LAW_LEAD, table);
    sentences.into_iter().chain(missing).fold(section, Section::note)
}

/// Scaled to millionths, for figures far below 1%.
fn millionths(of: UnitEstimate) -> UnitEstimate {
    let scaled = of.over(1e-6);
    let brief = |end: Option<f64>| end.map(four_digits);
    UnitEstimate {
        value: four_digits(scaled.value),
        low: brief(scaled.low),
        high: brief(scaled.high),
        ..scaled
    }
}

fn law_columns<'a>() -> Columns<'a, Fitted<'a>> {
    Columns::new()
        .text("service", "service", |(of, _): &Fitted| of.service.clone())
        .estimate(Unit::PerSecond, "lambda_per_second", "one thread", |(_, law)| Some(law.lambda))
        .help("throughput of one thread by the law (lambda), with a 95% interval")
        .estimate(Unit::Share, "contention", "contention", |(_, law)| Some(law.sigma))
        .help("the share of the work in which threads queue for each other (sigma), with a 95% interval cut at 0")
        .estimate(Unit::Number, "coherence_millionths", "coherence, per million", |(_, law)| {
            Some(millionths(law.kappa))
        })
        .help("what each pair of threads spends on agreeing, in millionths of the work (kappa), with a 95% interval cut at 0")
        .count("threads_most", "up to", |(_, law)| law.most())
        .help("the largest number of threads that the law was fitted to")
        .share("work_share", "work", |(_, law)| law.shares(law.most())[0])
        .help("with that number of threads: the share of their time that is work, by the law")
        .share("waiting_share", "waiting", |(_, law)| law.shares(law.most())[1])
        .help("with that number of threads: the share of their time that contention takes, by the law")
        .share("agreeing_share", "agreeing", |(_, law)| law.shares(law.most())[2])
        .help("with that number of threads: the share of their time that coherence takes, by the law")
        .text("peak", "peak at", |(_, law)| peak(law))
        .help("the number of threads beyond which more are slower, by the law, with a 95% interval")
        .share("misfit_share", "misfit", |(_, law)| law.misfit.share)
        .help("how far the point that fits worst lies above the law; below it if negative")
        .count("misfit_threads", "misfit at", |(_, law)| law.misfit.n)
        .help("the number of threads of that point")
        .add(Unit::Probability, "misfit_p", "p of misfit", |(_, law)| law.misfit.p)
        .help("F test for lack of fit: how often points that follow the law lie so far away by chance")
        .text("fit", "the law", |(_, law)| Fit::of(law).word())
        .help("it does not fit if that is less often than 5%, and the worst point is off by more than 5%")
        .count("blocks", "blocks", |(_, law)| law.parts)
        .help("independent parts of the run that the intervals are made of")
}

/// How well a law fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fit {
    /// The scatter of the points is unknown.
    NotTested,
    /// The deviations are within the scatter.
    NotRefuted,
    /// The deviations exceed the scatter, but are so small that the law describes the points.
    Nearly,
    Refuted,
}

impl Fit {
    fn of(law: &FittedLaw) -> Fit {
        match law.misfit.p {
            None => Fit::NotTested,
            Some(p) if p >= DOUBTFUL_P => Fit::NotRefuted,
            Some(_) if law.misfit.share.abs() <= DOUBTFUL_SHARE => Fit::Nearly,
            Some(_) => Fit::Refuted,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Fit::NotTested => "not tested",
            Fit::NotRefuted => "not refuted",
            Fit::Nearly => "fits within 5%",
            Fit::Refuted => "does not fit",
        }
    }
}

/// `52.3 threads (47.0 .. 60.1)`, or why there is none.
fn peak(law: &FittedLaw) -> String {
    match law.peak {
        _ if Fit::of(law) == Fit::Refuted => "the law does not fit".to_owned(),
        Peak::At { n, low, high } => {
            let end = |end: Option<f64>| end.map_or("?".to_owned(), |end| format!("{end:.1}"));
            let interval = match (low, high) {
                (None, None) => String::new(),
                (low, high) => format!(" ({} .. {})", end(low), end(high)),
            };
            format!("{n:.1} threads{interval}")
        }
        Peak::NotMeasured { above } => {
            let above = above
                .filter(|above| *above > 1.0)
                .map_or(String::new(), |above| format!("; above {above:.1}, with 95% confidence"));
            format!("none within the measured range{above}")
        }
    }
}

/// The parameters of one service in words.
fn sentence((of, law): &Fitted) -> String {
    let (service, most) = (&of.service, law.most());
    let share = |share: f64| Unit::Share.show(share);
    if Fit::of(law) == Fit::Refuted {
        let side = if law.misfit.share > 0.0 { "above" } else { "below" };
        return format!(
            "{service}: the law does not fit: with {} the throughput lies {} {side} it, more than blocks scatter. Its parameters describe \
             the curve badly, and no peak is read from it",
            several(law.misfit.n as usize, "thread"),
            share(law.misfit.share.abs())
        );
    }
    let [work, waits, agrees] = law.shares(most);
    let peak = match law.peak {
        Peak::At { .. } => format!("it answers most with {}, and with more it is slower", peak(law)),
        Peak::NotMeasured { .. } => {
            format!("no number up to {most} was found beyond which more threads are slower")
        }
    };
    format!(
        "{service}: by the law, with {} {} of the threads' time is work, contention takes {} and coherence {}; {peak}",
        several(most, "thread"),
        share(work),
        share(waits),
        share(agrees)
    )
}

/// How far services scale. `None` for a run with one number of threads, or without measurements at two.
pub(super) fn answer(scalings: &[Scaling]) -> Option<Headline> {
    let largest = |of: &Scaling| {
        let last = of.points.iter().rev().find(|point| point.speed_up.is_some())?;
        (of.points.first()?.threads < last.threads).then(|| (of.service.clone(), last.clone()))
    };
    let found: Vec<(String, AtThreads)> = scalings.iter().filter_map(largest).collect();
    let Some(most) = found.iter().map(|(_, point)| point.threads).max() else { return alone(scalings) };
    let at_most: Vec<&(String, AtThreads)> =
        found.iter().filter(|(_, point)| point.threads == most).collect();
    let (said, basis) = match at_most.as_slice() {
        [(service, point)] => {
            let speed_up = point.speed_up.map(|it| Unit::Times.show(it.value)).unwrap_or_default();
            let interval = point.speed_up.map(|it| with_interval(&it, Unit::Times)).unwrap_or_default();
            let efficiency = point.efficiency.map(|it| Unit::Share.show(it.value)).unwrap_or_default();
            (
                format!("with {most} threads {service} answers {speed_up} as much as with its least number"),
                format!("Speed-up {interval}, an efficiency of {efficiency}."),
            )
        }
        all => {
            let efficiency =
                all.iter().filter_map(|(service, point)| Some((service.as_str(), point.efficiency?.value)));
            let span = span(Unit::Share, efficiency).unwrap_or_default();
            let services = several(all.len(), "service");
            (format!("with {most} threads the efficiency of {services} is {span}"), String::new())
        }
    };
    Some(Headline::new(capital(&said) + ".", basis))
}

/// The answer on a machine with CPUs for only one number of threads.
fn alone(scalings: &[Scaling]) -> Option<Headline> {
    let measured = |of: &Scaling| of.points.iter().any(|point| point.state == RowState::Measured);
    let services = scalings.iter().filter(|of| measured(of)).count();
    let first = scalings.first()?.points.first()?.threads;
    let words = several(first, "thread");
    (services > 0).then(|| {
        let said = format!(
            "how {} scale is not known: they were measured with {words} only",
            several(services, "service")
        );
        Headline::new(capital(&said) + ".", "This machine has too few CPUs for more.")
    })
}

#[cfg(test)]
mod tests;

//! An experiment over time: its runs, and the cost of each service from run to run on one machine.

use std::fmt::Write;
use tare_base::units::several;

use super::{
    RunEntry, SiteError, SiteRow, SiteSettings,
    address::Address,
    catalogue::ExperimentRuns,
    chart::{LogScale, Step, escaped, trend},
    figure::RunFigure,
    frame::{self, PageFrame, Sections},
    index::Standing,
    source,
    words::shown,
};
use askama::Template;
use tare_report::{
    document::{Section, Tone, Unit, Value},
    gather::columns::Columns,
    write::File,
};

pub(super) fn page(experiment: &ExperimentRuns<'_>, settings: &SiteSettings) -> Result<File, SiteError> {
    let newest = experiment.speaker();
    let address = Address::Experiment(experiment.name);
    let frame = PageFrame::new(address, &newest.title, &newest.answer, settings)
        .image_of(Some(newest), settings)
        .command(source::command(newest, &[]));
    // A single run has its own page, and no list.
    let sections = if experiment.runs.len() > 1 { vec![runs(experiment)] } else { Vec::new() };
    let link = |key: &str, id: &str| (key == "run").then(|| frame.to(Address::Run(id)));
    let page = Sections {
        kind: "experiment over time",
        title: &newest.title,
        lead: &newest.question,
        answer: &newest.answer,
        cautions: &newest.cautions,
        before: &(newest_link(newest, &frame, settings) + &trends(experiment, &frame)),
        sections: frame::linked(&sections, link),
        after: "",
    };
    frame::file(&frame, &page.render()?)
}

fn newest_link(run: &RunEntry, frame: &PageFrame<'_>, settings: &SiteSettings) -> String {
    let (link, day) = (frame.to(Address::Run(&run.id)), escaped(&run.day()));
    let code = source::code_link(run, source::tree(run, settings).as_deref());
    format!("<p class=\"go\"><a href=\"{link}\">All figures of the run of {day}</a> {code}</p>")
}

fn runs(experiment: &ExperimentRuns<'_>) -> Section {
    let columns = Columns::new()
        .text("run", "run", |run: &&RunEntry| run.id.clone())
        .text("day", "day", |run| run.day())
        .text("machine", "machine", |run| run.machine.clone())
        .text("state", "state", |run| standing(run))
        .text("answer", "what came out", |run| run.answer.clone());
    let caption = "Runs, newest first";
    let count = experiment.runs.len();
    let lead = format!("There are {count}. Runs on different machines are not compared with each other.");
    Section::new("runs", "Runs", &lead, columns.table(caption, experiment.runs.iter().copied()))
}

fn standing(run: &RunEntry) -> Value {
    let tone = if run.is_sound() { Tone::Plain } else { Tone::Open };
    Value::Word(Standing::of(run).text, tone)
}

/// The series of each service; empty with a single run.
fn trends(experiment: &ExperimentRuns<'_>, frame: &PageFrame<'_>) -> String {
    let series = experiment.series();
    let Some(newest) = series.last().filter(|_| series.len() > 1) else { return String::new() };
    let figures: Vec<RunFigure> = series.iter().flat_map(|run| &run.rows).filter_map(SiteRow::cost).collect();
    let scale = LogScale::of(figures.iter());
    let mut html = format!(
        "<section class=\"part\" aria-labelledby=\"trends\"><h2 id=\"trends\">Over time</h2><p class=\"lead\">{}, \
         related to {}'s, in {} on {}. All have one scale.</p><ul class=\"trends\">",
        newest.cost_name(),
        escaped(&newest.reference),
        several(series.len(), "run"),
        escaped(&newest.machine)
    );
    for row in newest.rows.iter().filter(|row| row.cost().is_some()) {
        let steps: Vec<Step> = series.iter().map(|run| step(run, &row.service)).collect();
        let known: Vec<RunFigure> = steps.iter().filter_map(|step| step.figure).collect();
        let [Some(first), Some(last)] = [known.first(), known.last()] else { continue };
        let name = escaped(&row.service);
        let link = frame.to(Address::Service(&row.service));
        _ = write!(
            html,
            "<li><a href=\"{link}\"><bdi>{name}</bdi></a> <span>{} → {}</span>{}</li>",
            Unit::Times.show(first.value),
            Unit::Times.show(last.value),
            trend(&steps, scale)
        );
    }
    html + "</ul></section>"
}

fn step(run: &RunEntry, service: &str) -> Step {
    let figure = run.row(service).and_then(SiteRow::cost);
    let value = figure.map_or("no figure".to_owned(), |figure| shown(figure, Unit::Times));
    Step { text: format!("{}: {value}", run.day()), figure }
}

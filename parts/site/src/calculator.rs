//! How many CPUs a rate of requests takes: the CPU time per request, multiplied.

use askama::Template;

use super::{RunEntry, SiteError, figure::RunFigure};
use tare_report::{document::Unit, write::html};

/// The rate of the sentence that is there without a script.
const RATE: f64 = 10_000.0;

#[derive(Template)]
#[template(path = "site/calculator.html")]
struct Calculator<'a> {
    /// The sentence for [`RATE`].
    sentence: String,
    run: &'a RunEntry,
    /// Each service with its CPU time per request in nanoseconds, and both ends of the interval, as JSON.
    times: String,
}

/// Both ends of an interval.
type Ends = Option<(f64, f64)>;

/// The section for some services of a run, as HTML; empty without a service that has the figure.
pub(crate) fn section(run: &RunEntry, services: &[&str]) -> Result<String, SiteError> {
    let time = |name: &&str| Some((run.row(name)?.service.as_str(), run.row(name)?.cpu_ns_per_request?));
    let times: Vec<(&str, RunFigure)> = services.iter().filter_map(time).collect();
    let sentence = match times.as_slice() {
        [] => return Ok(String::new()),
        [(name, only)] => format!("10,000 requests a second of {name} need at least {}.", cpus(*only)),
        [(least, one), .., (most, other)] => format!(
            "10,000 requests a second need at least {} with {least}, and {} with {most}.",
            cpus(*one),
            cpus(*other)
        ),
    };
    let list: Vec<(&str, f64, Ends)> =
        times.iter().map(|(name, time)| (*name, time.value, time.ends())).collect();
    Ok(Calculator { sentence, run, times: html::embeddable(&list) }.render()?)
}

/// `0.107 CPUs (0.104 .. 0.11)`, as `cpus` of `web/src/calculator.js`.
fn cpus(time: RunFigure) -> String {
    let of = |nanoseconds: f64| nanoseconds * RATE / 1e9;
    let interval = time.ends().map(|(low, high)| Unit::Number.show_interval(of(low), of(high)));
    let interval = interval.map_or_else(String::new, |interval| format!(" ({interval})"));
    format!("{} CPUs{interval}", Unit::Number.show(of(time.value)))
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            SiteRow,
            entry::{row_of, run_of},
        },
        *,
    };

    #[test]
    fn cpus_are_the_time_of_a_request_multiplied() {
        let row = |name, value| SiteRow {
            cpu_ns_per_request: Some(RunFigure {
                value,
                low: Some(value * 0.9),
                high: Some(value * 1.1),
                ..RunFigure::default()
            }),
            ..row_of(name, "rust", 1.0)
        };
        let run = run_of(vec![row("axum", 10_700.0), row("</script>", 312_000.0)]);
        let one = section(&run, &["axum"]).unwrap();
        assert!(
            one.contains("10,000 requests a second of axum need at least 0.107 CPUs (0.0963 .. 0.1177)."),
            "{one}"
        );
        let both = section(&run, &["axum", "</script>"]).unwrap();
        assert!(both.contains("and 3.12 CPUs (2.808 .. 3.432) with &#60;/script&#62;."), "{both}");
        assert_eq!(both.matches("</script>").count(), 1, "only its own: {both}");
        assert_eq!(section(&run, &["none"]).unwrap(), "");
    }
}

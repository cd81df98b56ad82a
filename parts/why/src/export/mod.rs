//! Call stacks in the formats of other tools.

mod firefox;
mod pprof;

use std::{collections::HashMap, fmt::Write as _};

use serde_json::{Value, json};
use tare_analysis::why::{FunctionCost, WhyReport};

pub use firefox::firefox;
pub use pprof::pprof;

/// Where the functions of stacks are in their files, as far as a report knows.
struct Frames<'a>(HashMap<String, &'a FunctionCost>);

impl<'a> Frames<'a> {
    fn of(report: &'a WhyReport) -> Frames<'a> {
        Frames(report.functions.iter().map(|function| (function.frame(), function)).collect())
    }

    /// The file, and the line; empty and 0 if they are not known.
    fn place(&self, frame: &str) -> (&'a str, i64) {
        let function = self.0.get(frame);
        let file = function.and_then(|function| function.file.as_deref()).unwrap_or_default();
        (file, function.and_then(|function| function.line).map_or(0, i64::from))
    }
}

/// A line for each stack: its functions from the outermost, and the ns of a request. Of two services each has a root of its own, so that
/// one picture shows both.
pub fn collapsed(report: &WhyReport) -> String {
    let mut text = String::new();
    for (place, subject) in report.subjects.iter().enumerate() {
        for stack in &report.stacks {
            let ns = stack.ns[place].round();
            if ns < 1.0 {
                continue;
            }
            // A semicolon separates functions, and a blank the number.
            let frames = stack.frames.iter().map(|frame| report.frames[*frame].replace([';', '\n'], ":"));
            let frames: Vec<String> =
                std::iter::once(subject.label.replace([';', '\n'], ":")).chain(frames).collect();
            let _ = writeln!(text, "{} {ns}", frames.join(";"));
        }
    }
    text
}

/// The file format of speedscope, with a profile of each service whose weights are the ns of a request.
pub fn speedscope(report: &WhyReport) -> Value {
    let profile = |(place, subject): (usize, &tare_analysis::why::ProfiledSubject)| {
        let stacks: Vec<_> = report.stacks.iter().filter(|stack| stack.ns[place] > 0.0).collect();
        json!({
            "type": "sampled",
            "name": subject.label,
            "unit": "nanoseconds",
            "startValue": 0,
            "endValue": stacks.iter().map(|stack| stack.ns[place]).sum::<f64>(),
            "samples": stacks.iter().map(|stack| &stack.frames).collect::<Vec<_>>(),
            "weights": stacks.iter().map(|stack| stack.ns[place]).collect::<Vec<_>>(),
        })
    };
    json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "exporter": "tare",
        "name": "CPU time of a request",
        "activeProfileIndex": report.subjects.len().saturating_sub(1),
        "shared": { "frames": report.frames.iter().map(|name| json!({ "name": name })).collect::<Vec<_>>() },
        "profiles": report.subjects.iter().enumerate().map(profile).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use tare_analysis::why::{FunctionCost, ProfiledSubject, StackCost};

    use super::*;

    pub(super) fn report() -> WhyReport {
        let subject = |label: &str| ProfiledSubject { label: label.to_owned(), ..ProfiledSubject::default() };
        WhyReport {
            subjects: vec![subject("old"), subject("new")],
            functions: vec![FunctionCost {
                name: "main".to_owned(),
                file: Some("src/main.c".to_owned()),
                line: Some(7),
                ..FunctionCost::default()
            }],
            frames: vec!["main".to_owned(), "f;g".to_owned()],
            stacks: vec![
                StackCost { frames: vec![0, 1], ns: vec![10.0, 20.4] },
                StackCost { frames: vec![0], ns: vec![0.0, 3.0] },
            ],
            ..WhyReport::default()
        }
    }

    #[test]
    fn each_stack_is_a_line_with_its_time() {
        assert_eq!(collapsed(&report()), "old;main;f:g 10\nnew;main;f:g 20\nnew;main 3\n");
    }

    #[test]
    fn speedscope_has_a_profile_of_each() {
        let found = speedscope(&report());
        assert_eq!(found["profiles"][1]["weights"], json!([20.4, 3.0]));
        assert_eq!(
            (&found["profiles"][0]["samples"], &found["shared"]["frames"][1]["name"]),
            (&json!([[0, 1]]), &json!("f;g"))
        );
    }
}

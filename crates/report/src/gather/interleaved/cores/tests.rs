use tare_analysis::interleaved::{compute, scalings};
use tare_bench::{
    fixture,
    folder::{Header, StoredRun},
    plan::{Excluded, Exclusion, Plan, cores_label},
    record::{EndedRun, Ending, Record},
};
use tare_host::cpus::Pinning;
use tare_stats::scalability::Law;

use super::*;
use crate::{
    gather::{fixture::write, gather},
    write::text::{self, TextLook},
};

/// The throughput as a function of the number of threads.
type Speed = fn(f64) -> f64;
/// A service, and how it scales.
type Curve = (&'static str, Speed);

const NUMBERS: [usize; 5] = [1, 2, 4, 8, 16];

fn scales(n: f64) -> f64 {
    Law { lambda: 1.0, sigma: 0.03, kappa: 0.0004 }.at(n)
}

fn peaks(n: f64) -> f64 {
    Law { lambda: 0.6, sigma: 0.1, kappa: 0.012 }.at(n)
}

/// Eight threads do the work of four.
fn has_a_knee(n: f64) -> f64 {
    0.5 * n.min(4.0)
}

/// Twelve blocks of these services with the first `measured` numbers of threads; the others were left out.
fn kept(services: &[Curve], measured: usize) -> StoredRun {
    let all = services.iter().flat_map(|(word, curve)| NUMBERS.map(|threads| (*word, *curve, threads)));
    let all: Vec<(&str, Speed, usize)> = all.collect();
    let labels: Vec<String> = all.iter().map(|(word, _, threads)| cores_label(word, *threads)).collect();
    let mut plan = fixture::plan(&labels.iter().map(String::as_str).collect::<Vec<_>>());
    let is_measured = |threads: usize| NUMBERS[..measured].contains(&threads);
    for (row, (word, _, threads)) in plan.rows.iter_mut().zip(&all) {
        (row.service, row.threads) = ((*word).to_owned(), Some(*threads));
        match is_measured(*threads) {
            true => {
                let generator = (64 - threads..64).collect();
                row.pinning = Some(Pinning { server: (0..*threads).collect(), generator });
            }
            false => {
                let reason =
                    format!("{threads} threads of the service and {threads} of the generator need more CPUs");
                row.excluded = Some(Excluded { why: Exclusion::NotOnThisMachine, reason });
            }
        }
    }
    let header =
        Header { plan: Plan { until: tare_bench::plan::Until::Budget, ..plan }, ..fixture::compared() };
    let levels: Vec<f64> = all.iter().map(|(_, curve, threads)| curve(*threads as f64)).collect();
    let row_of = |record: &Record| match record {
        Record::Sample(sample) => Some(sample.row),
        Record::Started(started) => Some(started.row),
        Record::Stopped(stopped) => Some(stopped.row),
        _ => None,
    };
    let records = (0..12).flat_map(|block| fixture::block(block, &levels));
    let mut records: Vec<Record> =
        records.filter(|record| row_of(record).is_none_or(|row| is_measured(all[row].2))).collect();
    for record in &mut records {
        match record {
            Record::Sample(sample) => {
                sample.host.server_cpu_ns *= all[sample.row].2 as u64;
                sample.host.generator_cpu_ns *= all[sample.row].2 as u64;
            }
            Record::Block(block) => block.order.retain(|row| is_measured(all[*row].2)),
            _ => {}
        }
    }
    records.push(Record::Ended(EndedRun { reason: Ending::BudgetSpent, elapsed_ns: 60_000_000_000 }));
    StoredRun { header, records, damage: Vec::new(), in_progress: false }
}

/// The answer and the sections as text for a terminal.
fn shown(stored: &StoredRun) -> String {
    let report = compute(stored);
    let scalings = scalings(stored, &report);
    let mut out = format!("{}\n", answer(&scalings).unwrap_or_default().whole());
    for section in sections(&scalings) {
        out += &format!("\n## {}\n", section.title);
        for chart in &section.charts {
            out += &format!("chart {:?} {} over {}: {}\n", chart.shape, chart.y, chart.x, chart.alt);
        }
        out += &text::section(&section, TextLook { width: Some(260), ..TextLook::default() });
    }
    out
}

#[test]
fn curves_and_laws_of_services_that_scale_differently() {
    let services: [Curve; 3] = [("raw-socket", scales), ("peaks", peaks), ("knee", has_a_knee)];
    insta::assert_snapshot!(shown(&kept(&services, 5)));
}

#[test]
fn on_a_small_machine_nothing_is_claimed() {
    insta::assert_snapshot!(shown(&kept(&[("raw-socket", scales), ("peaks", peaks)], 1)));
}

#[test]
fn three_numbers_of_threads_are_a_curve_without_a_law() {
    let stored = kept(&[("peaks", peaks)], 3);
    let report = compute(&stored);
    let found = scalings(&stored, &report);
    let [curve, law] = &sections(&found)[..] else { panic!("two sections") };
    assert_eq!(curve.table.as_ref().unwrap().rows.len(), 5);
    assert!(law.table.is_none(), "{law:?}");
    let says = "peaks: no law: numbers of threads with figures: 3; the law goes through any three, so that it takes 4";
    assert_eq!(law.notes, [says]);
    assert!(answer(&found).unwrap().said.starts_with("With 4 threads peaks answers "));
}

#[test]
fn a_whole_document_has_the_curve_behind_the_ranks() {
    let run = tempfile::tempdir().unwrap();
    write(&kept(&[("raw-socket", scales), ("peaks", peaks)], 4), run.path());
    let document = gather(run.path()).unwrap();
    assert_eq!(document.check(), Vec::<String>::new());
    let ids: Vec<&str> = document.sections.iter().map(|section| section.id.as_str()).collect();
    assert_eq!(ids[..3], ["ranks", "cores", "cores-law"]);
    let says = "With 8 threads the efficiency of 2 services is from 42.";
    assert!(document.answer.starts_with(says), "{}", document.answer);
    let command = document.facts.iter().find(|fact| fact.label == "Command").unwrap();
    assert!(command.text.contains("--services raw-socket,peaks --reference raw-socket"), "{}", command.text);
    let load = document.facts.iter().find(|fact| fact.label == "Load").unwrap();
    let says = "64 connections, a generator thread for each of its CPUs; service: THREADS=1, 2, 4, 8, 16";
    assert!(load.text.contains(says), "{}", load.text);
}

#[test]
fn a_run_with_one_number_of_threads_has_no_such_section() {
    assert!(sections(&[]).is_empty());
}

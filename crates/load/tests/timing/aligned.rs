//! Runs with a common start, and generators that share a load.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::kit::load::{HELLO, SLACK, TIMEOUT, drivers, generator_of, hello, load, ms, open, run, settings};
use crate::kit::peer::serve;
use tare_base::{Clock, Monotonic};
use tare_load::{Aligned, ArrivalProcess, DriverChoice, GeneratorSettings, Load, RunReport, Split};

const MS: u64 = 1_000_000;

fn aligned(load: Load, start_ns: u64, marks_ms: &[u64]) -> Load {
    let marks_ns = marks_ms.iter().map(|ms| ms * MS).collect();
    Load { aligned: Some(Aligned { start_ns, marks_ns }), ..load }
}

/// Runs generators in parallel, each with its part of the load.
fn side_by_side(of: usize, load: &Load) -> Vec<RunReport> {
    let target = serve(|mut peer| peer.always(HELLO));
    std::thread::scope(|scope| {
        let each = |index| {
            scope.spawn(move || {
                let settings = GeneratorSettings { split: Split { index, of }, ..settings(target, 4, 1) };
                let mut generator = generator_of(settings, hello());
                generator.open(4, TIMEOUT).unwrap();
                run(&mut generator, load)
            })
        };
        let threads: Vec<_> = (0..of).map(each).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn a_run_begins_at_its_instant_and_counts_its_answers_at_each_mark() {
    for driver in drivers() {
        let target = serve(|mut peer| peer.always(HELLO));
        let settings = GeneratorSettings { driver: DriverChoice::Only(driver), ..settings(target, 4, 2) };
        let mut generator = generator_of(settings, hello());
        generator.open(4, TIMEOUT).unwrap();
        let start_ns = Monotonic.now_ns() + 50 * MS;
        let report = run(&mut generator, &aligned(load(200, 10_000), start_ns, &[0, 50, 150, 199, 5_000]));
        assert!(Monotonic.now_ns() >= start_ns + 200 * MS, "it did not begin before its time");
        let kept = report.aligned.expect("it was aligned");
        assert!(kept.late_ns < SLACK.as_nanos() as u64, "{} ns late", kept.late_ns);
        assert_eq!(report.window_ns, 200 * MS, "counted from the instant of the start");
        let [at_start, early, late, last, end] = kept.answered_at[..] else { panic!("{kept:?}") };
        assert_eq!(at_start, 0);
        assert!(0 < early && early < late && late < last, "{kept:?}");
        assert_eq!(end, report.total.tally.answered, "a mark after the end has them all");
        let unaligned = run(&mut generator, &load(20, 1_000));
        assert_eq!(unaligned.aligned, None);
    }
}

#[test]
fn an_interrupt_ends_the_wait_for_the_start() {
    let target = serve(|mut peer| peer.always(HELLO));
    let mut generator = generator_of(settings(target, 2, 1), hello());
    let far = aligned(load(60_000, 1_000), Monotonic.now_ns() + 3_600_000 * MS, &[10]);
    let interrupt = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&interrupt);
    let began = Instant::now();
    let thread = std::thread::spawn(move || {
        std::thread::sleep(ms(50));
        flag.store(true, Ordering::Relaxed);
    });
    let report = generator.run(&far, &interrupt).unwrap();
    thread.join().unwrap();
    assert!(began.elapsed() < ms(70) + SLACK, "{:?}", began.elapsed());
    assert!(report.interrupted && report.window_ns < SLACK.as_nanos() as u64, "{report:?}");
    assert_eq!(report.total.tally.reconcile(), Ok(()));
}

/// The generators together have as many due requests as one generator alone, and each of n has its nth part,
/// to one request.
#[test]
fn generators_that_share_an_open_loop_have_its_requests_together() {
    for process in [ArrivalProcess::Poisson, ArrivalProcess::Constant] {
        let window = ms(400);
        let due = |report: &RunReport| report.total.tally.sent + report.total.tally.unsent;
        let one: u64 = side_by_side(1, &open(1_000.0, process, window)).iter().map(due).sum();
        let start_ns = Monotonic.now_ns() + 200 * MS;
        let three = side_by_side(3, &aligned(open(1_000.0, process, window), start_ns, &[]));
        let each: Vec<u64> = three.iter().map(due).collect();
        assert_eq!(each.iter().sum::<u64>(), one, "{process:?}: {each:?}");
        assert!(each.iter().max().unwrap() - each.iter().min().unwrap() <= 1, "{each:?}");
    }
}

/// A second run is another sample. All generators share it, and it is the sample of a single generator.
#[test]
fn a_second_run_is_shared_too() {
    let target = serve(|mut peer| peer.always(HELLO));
    let load = open(1_000.0, ArrivalProcess::Poisson, ms(300));
    let due = |index, of| {
        let settings = GeneratorSettings { split: Split { index, of }, ..settings(target, 4, 1) };
        let mut generator = generator_of(settings, hello());
        generator.open(4, Duration::from_secs(1)).unwrap();
        [(); 2].map(|()| run(&mut generator, &load).total.tally.sent)
    };
    let (whole, halves) = (due(0, 1), [due(0, 2), due(1, 2)]);
    for second in [0, 1] {
        assert!(halves[0][second].abs_diff(halves[1][second]) <= 1, "{halves:?}");
    }
    let sums: Vec<u64> = (0..2).map(|second| halves[0][second] + halves[1][second]).collect();
    assert_eq!(sums, whole);
    assert_ne!(sums[0], sums[1], "with this seed the samples differ in their size");
}

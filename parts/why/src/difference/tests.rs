use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::{names::OWN_CODE, profile::LineCount};

/// A block with these stacks and their shares of a request, as that many samples would show it.
fn measured(
    names: &mut Names,
    stacks: &[(&str, f64)],
    samples: u64,
    random: &mut ChaCha8Rng,
) -> SampledBlock {
    let all: f64 = stacks.iter().map(|(_, ns)| ns).sum();
    let mut profile = StackCounts::default();
    for _ in 0..samples {
        let mut at = random.random::<f64>() * all;
        let hit = stacks.iter().find(|(_, ns)| {
            at -= ns;
            at < 0.0
        });
        let (stack, _) = hit.unwrap_or(&stacks[0]);
        let function = |name: &str| match name.starts_with("JS:") {
            true => names.spelled(name),
            false => names.special(name, true),
        };
        let stack: Vec<FunctionId> = stack.split(';').map(function).collect();
        *profile.stacks.entry(stack.into()).or_default() += 1;
        profile.samples += 1;
    }
    // A block has its own level, which both rows of it share only in part.
    let level = 1.0 + 0.01 * (random.random::<f64>() - 0.5);
    SampledBlock {
        profile,
        cpu_ns: all * 1000.0 * level,
        answered: 1000.0,
        calls: Some(2000.0),
        period_ns: 500_000,
        ..SampledBlock::default()
    }
}

fn report(old: &[(&str, f64)], new: &[(&str, f64)], seed: u64) -> WhyReport {
    let (mut names, mut random) = (Names::default(), ChaCha8Rng::seed_from_u64(seed));
    let rows: Vec<Vec<SampledBlock>> = [old, new]
        .iter()
        .map(|stacks| (0..10).map(|_| measured(&mut names, stacks, 500, &mut random)).collect())
        .collect();
    compute(SampledRows { rows: &rows, names: &mut names, period_ns: 500_000, has_kernel: true })
}

const OLD: [(&str, f64); 5] = [
    ("main;serve;read;[kernel]", 4000.0),
    ("main;serve;write;[kernel]", 3000.0),
    ("main;serve;handler;signBody", 300.0),
    ("main;serve;handler;json", 1500.0),
    ("main;serve", 1200.0),
];

fn with(extra: &[(&'static str, f64)]) -> Vec<(&'static str, f64)> {
    OLD.iter().chain(extra).copied().collect()
}

fn named(report: &WhyReport) -> Vec<&str> {
    report.answer.iter().map(|place| report.functions[*place].name.as_str()).collect()
}

#[test]
fn a_function_that_does_more_is_named_with_what_it_calls() {
    let new = with(&[
        ("main;serve;handler;signBody;Sum256;block", 500.0),
        ("main;serve;handler;signBody;Sum256", 400.0),
        ("main;serve;handler;signBody", 600.0),
    ]);
    let found = report(&OLD, &new, 1);
    assert_eq!(named(&found), ["signBody"], "{:?}", found.answer_text());
    let interval = found.functions[found.answer[0]].all_difference.unwrap();
    assert!(interval.low <= 1500.0 && 1500.0 <= interval.high, "{interval:?}");
    let lines: Vec<(&str, usize)> =
        found.lines.iter().map(|line| (found.functions[line.function].name.as_str(), line.depth)).collect();
    assert_eq!(lines[..2], [("signBody", 0), ("Sum256", 1)]);
    assert!(found.stacks.len() >= 7 && found.others.len() == 1);
}

#[test]
fn two_functions_that_share_a_difference_are_both_named() {
    let new = with(&[("main;serve;handler;json;escape", 600.0), ("main;serve;handler;log;format", 700.0)]);
    let found = report(&OLD, &new, 2);
    let mut names = named(&found);
    names.sort_unstable();
    assert_eq!(names, ["escape", "format"], "{}", found.answer_text());
}

#[test]
fn time_in_the_kernel_is_named_by_what_calls_it() {
    let found = report(&OLD, &with(&[("main;serve;handler;fsync;[kernel]", 900.0)]), 3);
    assert_eq!(named(&found), ["fsync"], "{}", found.answer_text());
}

#[test]
fn between_equal_programs_no_function_is_named() {
    let wrong = (0..40).filter(|seed| !named(&report(&OLD, &OLD, 100 + seed)).is_empty()).count();
    assert!(wrong <= 4, "{wrong} of 40");
}

#[test]
fn an_own_function_is_named_whose_own_callees_have_only_a_part_of_its_difference() {
    let new = with(&[
        ("main;serve;JS:*copies s.js:3:1;collect;JS:*clone s.js:9:1;malloc", 600.0),
        ("main;serve;JS:*copies s.js:3:1;drop;free", 600.0),
    ]);
    assert_eq!(named(&report(&OLD, &new, 7)), ["copies"]);
    let all = with(&[("main;serve;JS:*copies s.js:3:1;collect;JS:*clone s.js:9:1;malloc", 1200.0)]);
    assert_eq!(named(&report(&OLD, &all, 8)), ["clone"]);
}

#[test]
fn what_is_around_the_same_code_under_another_name_is_no_answer() {
    let renamed = |to: &'static str| -> Vec<(String, f64)> {
        OLD.iter().map(|(stack, ns)| (stack.replace("serve;", to), *ns)).collect()
    };
    let (old, new) = (renamed("serve;poll;"), renamed("serve;{closure#0};"));
    let of = |stacks: &[(String, f64)], extra: &[(&'static str, f64)], seed| {
        let stacks: Vec<(&str, f64)> = stacks.iter().map(|(stack, ns)| (stack.as_str(), *ns)).collect();
        let old: Vec<(&str, f64)> = old.iter().map(|(stack, ns)| (stack.as_str(), *ns)).collect();
        let found = report(&old, &[&stacks[..], extra].concat(), seed);
        named(&found).into_iter().map(str::to_owned).collect::<Vec<String>>()
    };
    assert_eq!(of(&new, &[], 11), Vec::<String>::new());
    let planted = [("main;serve;{closure#0};handler;signBody", 900.0)];
    assert_eq!(of(&new, &planted, 12), ["signBody"]);
}

#[test]
fn what_has_another_caller_and_costs_the_same_is_no_answer() {
    let moved =
        OLD.map(|(stack, ns)| (if ns == 4000.0 { "main;serve;poll_read;read;[kernel]" } else { stack }, ns));
    let new = [&moved[..], &[("main;serve;route", 500.0)]].concat();
    for seed in 13..16 {
        let found = report(&OLD, &new, seed);
        assert_eq!(named(&found), ["route"], "{}", found.answer_text());
    }
}

#[test]
fn packages_add_up_to_the_request() {
    let new = with(&[("main;serve;handler;axum::routing::RouteFuture::poll", 400.0)]);
    let found = report(&OLD, &new, 21);
    let sum = |row: usize| found.packages.iter().map(|package| package.own_ns[row]).sum::<f64>();
    assert!((sum(0) - 10_000.0).abs() < 100.0 && (sum(1) - 10_400.0).abs() < 100.0, "{:?}", found.packages);
    assert_eq!(
        (found.packages[0].name.as_str(), found.packages[1].name.as_str()),
        ("[kernel]", "the program")
    );
    let axum = found.packages.iter().find(|package| package.name == "axum").unwrap().difference.unwrap();
    assert!(axum.low > 0.0 && axum.low <= 400.0 && 400.0 <= axum.high, "{axum:?}");
}

#[test]
fn own_code_has_a_row_among_the_packages_although_what_it_calls_has_nearly_all_of_its_time() {
    let others: Vec<String> = (0..30).map(|place| format!("main;serve;p{place}::run::go")).collect();
    let stacks_with = |own: &'static str| {
        let others = others.iter().map(|stack| (stack.as_str(), 1000.0));
        others.chain([(own, 30.0)]).collect::<Vec<(&str, f64)>>()
    };
    for (seed, own) in [(22, "main;serve;main.signBody"), (23, "main;serve;main.signBody;p3::run::go")] {
        let stacks = stacks_with(own);
        let found = report(&stacks, &stacks, seed);
        let own = found.packages.iter().find(|package| package.name == OWN_CODE);
        assert!(own.is_some_and(|own| own.own_ns.iter().all(|ns| *ns < 100.0)), "{:?}", found.packages);
        assert_eq!(
            found.packages.len(),
            20 + 2,
            "the dearest, own code, and all others: {:?}",
            found.packages
        );
    }
}

#[test]
fn lines_of_the_answer_are_those_of_the_candidate_the_dearest_first() {
    let (mut names, mut random) = (Names::default(), ChaCha8Rng::seed_from_u64(24));
    let new = with(&[("main;serve;handler;signBody", 1500.0)]);
    let [sign, json] = ["signBody", "json"].map(|name| names.special(name, true));
    let row = |names: &mut Names, random: &mut ChaCha8Rng, stacks: &[(&str, f64)], lines: [(u32, u64); 3]| {
        let block = |_| {
            let mut measured = measured(names, stacks, 500, random);
            for (line, all) in lines {
                measured.profile.lines.insert((sign, line), LineCount { own: all / 2, all });
            }
            measured.profile.lines.insert((json, 7), LineCount { own: 60, all: 60 });
            measured
        };
        (0..10).map(block).collect::<Vec<SampledBlock>>()
    };
    let old = row(&mut names, &mut random, &OLD, [(9, 15), (10, 0), (99, 1)]);
    let new = row(&mut names, &mut random, &new, [(9, 20), (10, 60), (11, 1)]);
    let rows = [old, new];
    let found = compute(SampledRows { rows: &rows, names: &mut names, period_ns: 500_000, has_kernel: true });
    assert_eq!(named(&found), ["signBody"]);
    let lines: Vec<u32> = found.source_lines.iter().map(|line| line.line).collect();
    assert_eq!(lines, [10, 9], "{:?}", found.source_lines);
    let line = &found.source_lines[0];
    // 60 of 500 samples of a request of 11,500 ns.
    assert!((line.all_ns - 1380.0).abs() < 20.0 && (line.own_ns - 690.0).abs() < 10.0, "{line:?}");
    assert!(line.all_interval.is_some_and(|all| all.low <= 1380.0 && 1380.0 <= all.high), "{line:?}");
}

#[test]
fn what_allocations_cost_is_said_apart_from_functions() {
    let new = with(&[
        ("main;serve;handler;json;runtime.mallocgc;runtime.gcAssistAlloc", 500.0),
        ("main;serve;handler;json;runtime.mallocgc", 400.0),
        ("runtime.gcBgMarkWorker;runtime.gcDrain", 600.0),
    ]);
    let found = report(&OLD, &new, 25);
    let of = |name: &str| {
        found.others.iter().find(|other| other.name == name).and_then(|other| other.difference).unwrap()
    };
    let holds = |name: &str, ns: f64| of(name).low > 0.0 && of(name).low <= ns && ns <= of(name).high;
    assert!(holds("garbage collector", 1100.0) && holds("memory allocator", 400.0), "{:?}", found.others);
    let without = report(&OLD, &OLD, 26);
    assert!(without.others.iter().all(|other| other.unit.is_empty() || other.unit == "bytes"));
}

#[test]
fn planted_differences_are_within_their_intervals() {
    let holds = |seed: u64| {
        let found = report(&OLD, &with(&[("main;serve;handler;signBody;Sum256", 600.0)]), 200 + seed);
        let sum = found.functions.iter().find(|function| function.name == "Sum256").unwrap();
        let interval = sum.all_difference.unwrap();
        interval.low <= 600.0 && 600.0 <= interval.high
    };
    let right = (0..40).filter(|seed| holds(*seed)).count();
    assert!(right >= 36, "{right} of 40");
}

#[test]
fn the_kernel_is_the_rest_where_it_is_not_sampled() {
    let (mut names, mut random) = (Names::default(), ChaCha8Rng::seed_from_u64(5));
    let user = [("main;f", 3000.0)];
    let mut rows = vec![vec![measured(&mut names, &user, 600, &mut random); 8]; 2];
    for (row, blocks) in rows.iter_mut().enumerate() {
        for block in blocks {
            // 600 samples of half a millisecond for 1,000 requests are 300 µs of user time each; the rest is the kernel's.
            block.cpu_ns = 400_000_000.0 + row as f64 * 50_000_000.0;
        }
    }
    let found =
        compute(SampledRows { rows: &rows, names: &mut names, period_ns: 500_000, has_kernel: false });
    let kernel = found.functions.iter().find(|function| function.name == KERNEL).unwrap();
    assert_eq!(kernel.own_ns.iter().map(|ns| ns.round()).collect::<Vec<_>>(), [100_000.0, 150_000.0]);
}

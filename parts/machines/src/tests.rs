//! Runs of simulated machines, merged.

use std::fs;

use tare_bench::{
    fixture as bench,
    folder::StoredRun,
    plan::{Excluded, Exclusion},
    record::{Ending, Failed, Record},
    sample::{LoadResult, Sample},
};
use tare_stats::meta::Pooled;

use super::{
    bundle::FoundBundles,
    fixture::{self, Simulated, TWIN, five},
    *,
};
use tare_analysis::status::Status;

fn merged(runs: &[Simulated]) -> Merged {
    Merged::of(runs.iter().map(Simulated::bundle).collect()).unwrap()
}

/// One run per machine, each modified.
fn changed(runs: &[Simulated], change: impl Fn(usize, &mut StoredRun)) -> Vec<RunBundle> {
    let of = |(place, run): (usize, &Simulated)| {
        let mut stored = run.stored();
        change(place, &mut stored);
        fixture::bundle(&format!("{}/{}", run.machine, run.seed), stored)
    };
    runs.iter().enumerate().map(of).collect()
}

fn refusal(bundles: Vec<RunBundle>) -> String {
    Merged::of(bundles).unwrap_err().to_string()
}

fn row<'a>(merged: &'a Merged, label: &str) -> &'a PooledRow {
    merged.loads[0].rows.iter().find(|row| row.label == label).unwrap()
}

fn codes(merged: &Merged) -> Vec<(&str, Option<usize>, &'static str)> {
    let of = |one: &LeftOutMachine| (one.machine, one.run, one.reason.code());
    let named = merged.left_out.iter().map(of);
    named.map(|(machine, run, code)| (merged.machines[machine].name.as_str(), run, code)).collect()
}

#[test]
fn ratios_are_pooled_over_machines_and_within_each_class() {
    let merged = merged(&five());
    assert_eq!((merged.runs.len(), merged.machines.len(), merged.left_out.len()), (5, 5, 0));
    assert_eq!(merged.classes(), ["aarch64", "x86_64"]);
    let labels: Vec<&str> = merged.loads[0].rows.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(labels, ["asio", "axum"], "the reference and its twin are no rows, and the dearer comes last");
    let axum = &row(&merged, "axum").throughput;
    let all = axum.all.mean().unwrap();
    let (low, high) = all.interval().unwrap();
    assert!((all.value - 0.638).abs() < 0.005 && all.n == 5, "{all:?}");
    assert!(0.58 < low && low < 0.61 && 0.66 < high && high < 0.70, "{all:?}");
    assert!(matches!(axum.agreement, Agreement::Differ { p } if p < 1e-6), "{:?}", axum.agreement);
    let [prediction_low, prediction_high] = axum.all.prediction().unwrap();
    assert!(prediction_low < low && high < prediction_high);
    let classes: Vec<(&str, f64, usize)> = axum
        .classes
        .iter()
        .map(|(class, found)| (class.as_str(), found.figure().unwrap().value, found.machines()))
        .collect();
    let [(arm, of_arm, 2), (x86, of_x86, 3)] = classes[..] else { panic!("{classes:?}") };
    assert_eq!((arm, x86), ("aarch64", "x86_64"));
    assert!((of_arm - 0.605).abs() < 0.005 && (of_x86 - 0.66).abs() < 0.005, "{classes:?}");
    // CPU per request is the inverse.
    let cpu = row(&merged, "axum").cpu.all.mean().unwrap();
    assert!((cpu.value * all.value - 1.0).abs() < 0.01, "{cpu:?}");
    let asio = &row(&merged, "asio").throughput;
    assert!(matches!(asio.agreement, Agreement::NotShown { .. }), "{:?}", asio.agreement);
}

#[test]
fn a_machine_says_what_its_own_table_says() {
    let runs = five();
    let merged = merged(&runs);
    let axum = &row(&merged, "axum").throughput;
    let (_, found) = axum.each.iter().find(|(place, _)| *place == merged.runs[0].machine).unwrap();
    let own = merged.runs[0].run.row("axum").unwrap().ratio.unwrap();
    let found = found.as_ref().unwrap().estimate();
    assert!((found.value - own.value).abs() < 1e-12 && found.n == 12, "{found:?} {own:?}");
    let (low, high) = own.interval().unwrap();
    let (own_low, own_high) = found.interval().unwrap();
    assert!((low - own_low).abs() < 1e-6 && (high - own_high).abs() < 1e-6, "{found:?} {own:?}");
}

#[test]
fn leaving_a_machine_out_is_what_the_others_say() {
    let runs = five();
    let all = merged(&runs);
    let without = row(&all, "axum").throughput.all.without();
    assert_eq!(without.len(), 5);
    let place =
        all.machines.iter().position(|machine| machine.identity == Identity::Id("id of d".to_owned()));
    let (_, found) = without.iter().find(|(machine, _)| Some(*machine) == place).unwrap();
    let rest: Vec<Simulated> = runs.into_iter().filter(|run| run.machine != "d").collect();
    let rest = row(&merged(&rest), "axum").throughput.all.mean().unwrap();
    assert_eq!(found.value.to_bits(), rest.value.to_bits());
}

#[test]
fn one_machine_has_no_interval_over_machines() {
    let merged = merged(&five()[..1]);
    let axum = &row(&merged, "axum").throughput;
    assert!(axum.all.mean().is_none() && axum.all.prediction().is_none() && axum.all.without().is_empty());
    assert_eq!(axum.agreement, Agreement::NotKnown);
    assert!(matches!(axum.all.pooled(), Some(Pooled::One(_))));
    assert!((axum.all.figure().unwrap().value - 0.66).abs() < 0.01, "what it says itself");
}

#[test]
fn two_machines_have_a_mean_and_nothing_of_a_third() {
    let merged = merged(&five()[..2]);
    let axum = &row(&merged, "axum").throughput.all;
    assert!(matches!(axum.pooled(), Some(Pooled::Two(..))));
    assert!(axum.mean().is_some() && axum.prediction().is_none() && axum.without().is_empty());
}

#[test]
fn several_seeds_of_a_machine_are_one_observation() {
    let seeds = |machine, class, axum| (1..=3).map(move |seed| Simulated::new(machine, class, seed, axum));
    let runs: Vec<Simulated> = seeds("a", "x86_64", 0.66)
        .chain(seeds("b", "x86_64", 0.64))
        .chain(seeds("c", "aarch64", 0.6))
        .collect();
    let merged = merged(&runs);
    assert_eq!((merged.runs.len(), merged.machines.len()), (9, 3));
    let axum = &row(&merged, "axum").throughput;
    assert_eq!(axum.all.machines(), 3);
    let found = axum.each[0].1.as_ref().unwrap();
    assert_eq!((found.runs(), found.blocks()), (3, 36));
    let alone = five()[..1].to_vec();
    let one = self::merged(&alone);
    let one = row(&one, "axum").throughput.each[0].1.as_ref().unwrap().estimate();
    let width = |of: UnitEstimate| of.interval().map(|(low, high)| high / low - 1.0).unwrap();
    assert!(width(found.estimate()) < width(one), "three runs are surer of their machine than one");
}

/// All results as text with full precision.
fn digits(merged: &Merged) -> String {
    let runs: Vec<&RunId> = merged.runs.iter().map(|run| &run.id).collect();
    format!("{runs:?} {:?} {:?} {:?}", merged.machines, merged.left_out, merged.loads)
}

const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

#[test]
fn the_order_of_arrival_changes_no_digit() {
    let runs = &five()[1..4];
    let first = digits(&merged(runs));
    for order in ORDERS {
        let again = merged(&order.map(|place| runs[place].clone()));
        assert_eq!(digits(&again), first, "{order:?}");
    }
}

#[test]
fn a_copy_counts_once_and_a_changed_copy_is_refused() {
    let runs = five();
    let twice: Vec<Simulated> = runs.iter().chain(&runs[..2]).cloned().collect();
    let once = merged(&runs);
    let copied = merged(&twice);
    assert_eq!((copied.copies, once.copies), (2, 0));
    assert_eq!(digits(&copied), digits(&once));
    let other = |change: fn(&mut StoredRun)| {
        let mut bundles = changed(&runs, |_, _| {});
        let mut copy = runs[0].stored();
        change(&mut copy);
        bundles.push(fixture::bundle("copies/a", copy));
        refusal(bundles)
    };
    let cut = other(|copy| drop(copy.records.pop()));
    assert!(cut.starts_with("two contents of one run (quick of 2026-01-02T03:01:00"), "{cut}");
    assert!(cut.contains("the records (journal.ndjson) differ between \"a/1\" and \"copies/a\""), "{cut}");
    let moved = other(|copy| copy.header.environment.machine = Some("another".to_owned()));
    assert!(moved.contains("the heads (run.json) differ"), "{moved}");
}

/// A change of a run, and the text of the refusal.
type Refused = (fn(&mut StoredRun), &'static str);

#[test]
fn what_makes_another_experiment_is_refused_with_its_values() {
    let runs = &five()[..3];
    let refused = |change: fn(&mut StoredRun)| {
        refusal(changed(runs, |place, stored| {
            if place == 2 {
                change(stored)
            }
        }))
    };
    let of_plan: [Refused; 6] = [
        (
            |run| {
                run.header.plan =
                    bench::at_points(run.header.plan.clone(), |point| point.contract = "rest".to_owned())
            },
            "contract: \"hello\" in #1, #2, \"rest\" in #3",
        ),
        (|run| run.header.plan.experiment = "slow".to_owned(), "experiment: \"quick\" in #1, #2"),
        (
            |run| run.header.plan.rows[3].version = Some("9".to_owned()),
            "version of a service: \"axum: axum 1.2.3",
        ),
        (|run| run.header.plan.rows[3].label = "actix".to_owned(), "services: \"asio, axum, raw-socket"),
        (
            |run| run.header.plan.twin = None,
            "second name of the reference: \"raw-socket@2\" in #1, #2, \"none\" in #3",
        ),
        (
            |run| run.header.plan = bench::under_loads(run.header.plan.clone(), &[64, 256]),
            "loads: \"64 connections\" in #1, #2",
        ),
    ];
    for (change, reason) in of_plan {
        let text = refused(change);
        assert!(text.starts_with("not runs of one experiment: ") && text.contains(reason), "{text}");
        assert!(text.contains("#1 is a/1, #2 is b/2, #3 is c/3"), "{text}");
    }
}

#[test]
fn a_machine_may_differ_in_what_is_a_machines_and_lack_a_service() {
    let bundles = changed(&five()[..3], |place, stored| {
        stored.header.environment.kernel = format!("Linux 6.{place}");
        if place == 2 {
            let reason = "no toolchain".to_owned();
            stored.header.plan.rows[3].version = None;
            stored.header.plan.rows[3].excluded = Some(Excluded { why: Exclusion::NotOnThisMachine, reason });
        }
    });
    let merged = Merged::of(bundles).unwrap();
    let axum = &row(&merged, "axum").throughput;
    assert_eq!((axum.all.machines(), row(&merged, "asio").throughput.all.machines()), (2, 3));
    let reason = axum.each.iter().find_map(|(_, found)| found.as_ref().err()).unwrap();
    assert_eq!(reason, "axum: no toolchain");
}

#[test]
fn a_run_that_is_not_sound_is_left_out_with_its_reason() {
    let runs = five();
    let out = |change: fn(&mut StoredRun)| {
        let bundles = changed(&runs, |place, stored| {
            if place == 0 {
                change(stored);
            }
        });
        let merged = Merged::of(bundles).unwrap();
        assert_eq!((merged.counted().count(), row(&merged, "axum").cpu.all.machines()), (4, 4));
        let codes: Vec<&str> = codes(&merged).iter().map(|(.., code)| *code).collect();
        let run = merged.left_out.iter().find(|one| one.run.is_some()).unwrap();
        assert_eq!(codes, [run.reason.code(), "no-run-left"]);
        run.reason.to_string()
    };
    assert_eq!(out(|run| drop(run.records.pop())), "the run did not come to its end: cut off");
    let damaged = out(|run| run.damage.push("journal.ndjson: line 3: left out".to_owned()));
    assert_eq!(damaged, "not all of it could be read: journal.ndjson: line 3: left out");
    let reference = out(|run| run.records.insert(1, failed(0)));
    assert_eq!(reference, "the reference has no figures: block 1: was killed");
    let twin = out(|run| run.records.insert(1, failed(1)));
    assert!(
        twin.starts_with("the reference has no figures under its second name, raw-socket@2: block 1"),
        "{twin}"
    );
}

fn failed(row: usize) -> Record {
    Record::Failed(Failed { block: 0, row, reason: "was killed".to_owned() })
}

#[test]
fn an_interrupted_run_has_not_ended() {
    let bundles = changed(&five()[..3], |place, stored| {
        if let Some(Record::Ended(ended)) = stored.records.last_mut().filter(|_| place == 1) {
            ended.reason = Ending::Interrupted;
        }
    });
    let merged = Merged::of(bundles).unwrap();
    assert!(merged.left_out.iter().any(|one| one.reason == Reason::NotEnded(Status::Interrupted)));
}

#[test]
fn a_machine_whose_twin_differs_is_left_out() {
    let mut runs = five();
    runs[1].twin = 0.95;
    let merged = merged(&runs);
    assert_eq!(codes(&merged), [("machine 4", None, "twin-separated")]);
    let text = merged.left_out[0].reason.to_string();
    assert!(
        text.starts_with("the reference differs from itself: under its second name it has 105."),
        "{text}"
    );
    assert_eq!(row(&merged, "axum").throughput.all.machines(), 4);
    assert_eq!(merged.classes(), ["aarch64", "x86_64"]);
    let twin = merged.machines[0].twin.unwrap();
    assert!((twin.value - 1.0).abs() < 0.01, "{twin:?}");
    assert!(merged.loads[0].rows.iter().all(|row| row.label != TWIN));
}

#[test]
fn a_selftest_that_failed_leaves_its_machine_out() {
    let with = |certified: Certified| {
        let mut bundles = changed(&five(), |_, _| {});
        bundles[3].certified = certified;
        let merged = Merged::of(bundles).unwrap();
        let reason = merged.left_out.first().map(|one| one.reason.to_string());
        (reason, row(&merged, "axum").throughput.all.machines())
    };
    assert_eq!([with(Certified::Passed), with(Certified::Unknown)], [(None, 5), (None, 5)]);
    let (reason, machines) = with(Certified::Failed(vec!["twins".to_owned()]));
    assert_eq!((reason.as_deref(), machines), (Some("`tare selftest` did not see 1 fault there: twins"), 4));
    assert_eq!(with(Certified::OfAnotherMachine).1, 4);
    assert_eq!(with(Certified::Unreadable("no JSON".to_owned())).1, 4);
}

#[test]
fn cpu_time_that_is_counted_in_two_ways_is_pooled_within_a_class_only() {
    let bundles = changed(&five(), |_, stored| {
        let is_arm = stored.header.environment.architecture.as_deref() == Some("aarch64");
        stored.header.environment.irq_time_apart = Some(is_arm);
    });
    let merged = Merged::of(bundles).unwrap();
    let axum = row(&merged, "axum");
    let OverMachines::Nothing(reason) = &axum.cpu.all else { panic!("{:?}", axum.cpu.all) };
    assert!(reason.starts_with("not measured in one way: softirq in CPU time of processes:"), "{reason}");
    assert_eq!(axum.cpu.classes.iter().map(|(_, found)| found.machines()).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(axum.throughput.all.machines(), 5, "throughput has no such doubt");
    assert_eq!(axum.cpu.agreement, Agreement::NotKnown);
}

#[test]
fn machines_are_known_by_job_id_or_hardware() {
    let runs = &five()[..3];
    let nameless = changed(runs, |_, stored| stored.header.environment.machine = None);
    let alike = Merged::of(nameless).unwrap();
    assert_eq!(alike.machines.len(), 1, "three machines alike are one");
    assert!(
        matches!(&alike.machines[0].identity, Identity::Hardware(text) if text == "x86_64, a CPU of x86_64, 4 CPUs, 16 GiB")
    );
    let mut bundles = changed(runs, |_, stored| stored.header.environment.machine = None);
    for (bundle, name) in bundles.iter_mut().zip(["node-1", "node-2", "node-2"]) {
        bundle.label.machine = Some(name.to_owned());
        bundle.label.class = Some(format!("class of {name}"));
    }
    let named = Merged::of(bundles).unwrap();
    let names: Vec<&str> = named.machines.iter().map(|machine| machine.name.as_str()).collect();
    assert_eq!((names, named.has_mixed_identities), (vec!["node-1", "node-2"], false));
    assert_eq!(named.classes(), ["class of node-1", "class of node-2"]);
    let mut bundles = changed(runs, |_, _| {});
    bundles[0].label.machine = Some("node-1".to_owned());
    assert!(Merged::of(bundles).unwrap().has_mixed_identities);
}

#[test]
fn every_load_is_pooled_by_itself() {
    // With more connections axum has three quarters of its rate.
    let again = |sample: &Sample| {
        let share = if sample.row == 3 { 0.75 } else { 1.0 };
        let answered = (sample.load.answered as f64 * share) as u64;
        let load =
            LoadResult { sent: answered, answered, answered_in_window: answered, ..sample.load.clone() };
        Record::Sample(Box::new(Sample { point: 1, load, ..sample.clone() }))
    };
    let twice = |record: &Record| match record {
        Record::Sample(sample) => vec![record.clone(), again(sample)],
        other => vec![other.clone()],
    };
    let bundles = changed(&five()[..3], |_, stored| {
        stored.header.plan = bench::under_loads(stored.header.plan.clone(), &[64, 256]);
        stored.records = stored.records.iter().flat_map(twice).collect();
    });
    let merged = Merged::of(bundles).unwrap();
    assert_eq!(
        merged.loads.iter().map(|load| load.label.as_str()).collect::<Vec<_>>(),
        ["64 connections", "256 connections"]
    );
    let [first, second] = [0, 1].map(|load| {
        let row = merged.loads[load].rows.iter().find(|row| row.label == "axum").unwrap();
        row.throughput.all.mean().unwrap().value
    });
    assert!((second / first - 0.75).abs() < 0.001, "{first} {second}");
}

#[test]
fn bundles_are_found_in_folders_with_what_lies_beside_them() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let runs = five();
    fixture::write(&runs[0].stored(), &at("jobs/0/run")).unwrap();
    fixture::write(&runs[1].stored(), &at("jobs/1/run")).unwrap();
    fixture::write(&runs[2].stored(), &at("plain/first")).unwrap();
    fixture::write(&runs[3].stored(), &at("plain/second")).unwrap();
    // Runs of a selftest do not count, and neither do hidden folders.
    fixture::write(&runs[4].stored(), &at("jobs/0/selftest/honest")).unwrap();
    fixture::write(&runs[4].stored(), &at("jobs/.partial/run")).unwrap();
    fs::write(at("jobs/0/job.json"), r#"{"machine": "node-1", "class": "metal", "attempt": 2}"#).unwrap();
    let certificate = |outcome: &str, cpu: &str| {
        let environment =
            serde_json::to_value(Environment { cpu: cpu.to_owned(), ..Environment::default() }).unwrap();
        serde_json::json!({"format": "1.0", "environment": environment, "trials": [
            {"name": "honest", "outcome": "seen"}, {"name": "twins", "outcome": outcome},
        ]})
        .to_string()
    };
    fs::write(at("jobs/0/selftest/certificate.json"), certificate("seen", "a CPU of x86_64")).unwrap();
    fs::write(at("jobs/1/certificate.json"), certificate("not-seen", "a CPU of x86_64")).unwrap();
    fs::write(at("plain/certificate.json"), certificate("not-seen", "a CPU of x86_64")).unwrap();
    fs::write(at("plain/second/certificate.json"), certificate("seen", "another")).unwrap();
    let places = ["jobs", "plain", "none"].map(at);
    fs::create_dir(at("none")).unwrap();
    let found = FoundBundles::read(&places);
    assert_eq!(found.left_out.len(), 1);
    assert!(
        found.left_out[0].ends_with("none: is no run folder, and there is none in it"),
        "{:?}",
        found.left_out
    );
    let certified: Vec<&Certified> = found.bundles.iter().map(|bundle| &bundle.certified).collect();
    let failed = Certified::Failed(vec!["twins".to_owned()]);
    assert_eq!(certified, [&Certified::Passed, &failed, &Certified::Unknown, &Certified::OfAnotherMachine]);
    assert_eq!(found.bundles[0].label.machine.as_deref(), Some("node-1"));
    assert_eq!(found.bundles[0].label.class.as_deref(), Some("metal"));
    assert_eq!(found.bundles[1].label, Default::default());
    fs::write(at("jobs/1/certificate.json"), "{").unwrap();
    let again = FoundBundles::read(&[at("jobs/1")]);
    assert!(matches!(again.bundles[0].certified, Certified::Unreadable(_)));
    let merged = Merged::of(found.bundles).unwrap();
    assert_eq!((merged.machines.len(), merged.counted().count()), (4, 2));
    fs::write(at("jobs/0/job.json"), r#"{"machine": 7}"#).unwrap();
    let wrong = FoundBundles::read(&[at("jobs/0")]);
    assert!(
        wrong.bundles.is_empty() && wrong.left_out[0].contains("job.json: invalid type"),
        "{:?}",
        wrong.left_out
    );
}

#[test]
fn without_a_run_there_is_nothing_to_merge() {
    assert_eq!(refusal(Vec::new()), "there is no run to merge");
}

#[test]
fn a_batch_of_a_cluster_gives_its_bundles_and_each_job_once() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let head = |node: &str, job: &str| {
        let shared = serde_json::json!([{"code": "quota", "quota_cpus": 1.5, "received": 2}]);
        let job = serde_json::json!({"id": job, "class": "metal", "seed": 1});
        serde_json::json!({"format": "1.0", "node": node, "job": job, "shared": shared}).to_string()
    };
    let runs = five();
    let names = ["bundles/metal-1", "bundles/metal-2", "later/metal-1.b", "rejected/metal-2.c"];
    for (place, name) in names.into_iter().enumerate() {
        fixture::write(&runs[place].stored(), &at(name).join("run")).unwrap();
        let head = head(&format!("node-{place}"), &format!("{}", place % 2));
        fs::write(at(name).join("bundle.json"), head).unwrap();
    }
    let found = FoundBundles::read(&[folder.path().to_owned()]);
    assert_eq!((found.bundles.len(), found.left_out.len()), (2, 0));
    let merged = Merged::of(found.bundles).unwrap();
    let names: Vec<&str> = merged.machines.iter().map(|machine| machine.name.as_str()).collect();
    assert_eq!((names, merged.classes()), (vec!["node-0", "node-1"], vec!["metal".to_owned()]));
    assert_eq!(merged.runs[0].shared, ["quota"]);
    // Another attempt of a job, given beside the batch, is not independent.
    let found = FoundBundles::read(&[folder.path().to_owned(), at("later/metal-1.b")]);
    let text = refusal(found.bundles);
    assert!(text.starts_with("two runs of one job (0): ") && text.contains("later/metal-1.b/run"), "{text}");
    fs::write(at("bundles/metal-1/bundle.json"), "{}").unwrap();
    let found = FoundBundles::read(&[at("bundles")]);
    assert!(found.left_out[0].contains("bundle.json: missing field"), "{:?}", found.left_out);
}

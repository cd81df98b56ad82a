//! Costs of builds, messages about failures, and parallel builds.

use std::{
    fs,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use tare_service::{
    build::{BuildError, BuildOptions, Site, build_many},
    catalogue::{Service, Step},
};

use super::bench::Bench;

#[test]
fn a_build_says_what_it_cost() {
    let bench = Bench::new();
    let busy = "i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done";
    let script = format!("sh -c '{busy}'; head -c 100000 /dev/zero > product; echo 1 > version");
    let service = bench.service("one", "busy", &script);
    let cost = bench.build("one", &service).unwrap().cost;
    // CPU time of the inner shell, which the outer one waited for.
    assert!(cost.seconds > 0.0 && cost.cpu_seconds >= 0.01, "{cost:?}");
    assert!((100_000..200_000).contains(&cost.disk_bytes), "{cost:?}");
    assert_eq!(cost.download_bytes, Some(0));
    assert_eq!(bench.build("one", &service).unwrap().cost, cost, "of a build that is there already");
}

#[test]
fn a_failed_step_names_the_step_the_last_line_and_the_log() {
    let bench = Bench::new();
    let service = bench.service("one", "failing", "echo working; echo 'no such header' >&2; exit 3");
    let error = bench.build("one", &service).unwrap_err().to_string();
    assert!(error.contains("failed (exit status 3): no such header; all of it: "), "{error}");
    let builder = bench.builder("one");
    let log = fs::read_to_string(builder.log(&service)).unwrap();
    assert!(log.starts_with("$ sh -e build.sh\n") && log.contains("\nworking\nno such header\n"), "{log}");
    assert_eq!(builder.last(&service), None);
}

#[test]
fn a_version_of_two_lines_is_refused() {
    let bench = Bench::new();
    let service = bench.service("one", "talking", "printf 'a\\nb\\n' > version");
    let error = bench.build("one", &service).unwrap_err().to_string();
    assert!(error.contains("printed 2 lines"), "{error}");
}

#[test]
fn an_interrupted_build_ends_with_all_it_started() {
    let bench = Bench::new();
    let script = format!("sleep 600 & echo $! > {}; wait", bench.path("pid").display());
    let service = bench.service("one", "long", &script);
    let interrupt = AtomicBool::new(false);
    let began = Instant::now();
    let site = Site::new(&bench.supervisor, &interrupt);
    let sleeper = std::thread::scope(|scope| {
        let building = scope.spawn(|| bench.builder("one").build(&service, &site, false));
        let sleeper = loop {
            let text = fs::read_to_string(bench.path("pid")).unwrap_or_default();
            match text.trim().parse::<u32>() {
                Ok(pid) => break pid,
                Err(_) => std::thread::sleep(Duration::from_millis(5)),
            }
            assert!(began.elapsed() < Duration::from_secs(20));
        };
        interrupt.store(true, Ordering::Relaxed);
        assert!(matches!(building.join().unwrap(), Err(BuildError::Interrupted)));
        sleeper
    });
    let stat = fs::read_to_string(format!("/proc/{sleeper}/stat")).unwrap_or_default();
    // Its new parent may not have reaped it yet.
    assert!(stat.is_empty() || stat.contains(") Z "), "{stat}");
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[test]
fn several_are_built_side_by_side_and_those_not_begun_are_reported() {
    let bench = Bench::new();
    // Each waits until the other has begun: in sequence they would never end.
    let meet = |mine: &str, other: &str| {
        let (mine_at, other_at) = (bench.path(mine), bench.path(other));
        let (touch, wait) = (mine_at.display(), other_at.display());
        format!("touch {touch}; until [ -e {wait} ]; do sleep 0.01; done; echo {mine} > version")
    };
    let services = [
        bench.service("one", "a", &meet("a", "b")),
        bench.service("one", "b", &meet("b", "a")),
        bench.service("one", "c", "exit 1"),
    ];
    let begun = Mutex::new(0);
    let two = || {
        let mut begun = begun.lock().unwrap();
        *begun += 1;
        *begun <= 2
    };
    let done = Mutex::new(Vec::new());
    let many = BuildOptions { jobs: 2, force: false, may_begin: &two };
    let services: Vec<&Service> = services.iter().collect();
    build_many(&bench.builder("one"), &services, &bench.site(), many, |service, built| {
        let version = built.map(|built| built.unwrap().version);
        done.lock().unwrap().push((service.name.as_str(), version));
    });
    let mut done = done.into_inner().unwrap();
    done.sort_unstable();
    assert_eq!(done, [("a", Some("a".to_owned())), ("b", Some("b".to_owned())), ("c", None)]);
}

#[test]
fn while_one_service_compiles_the_next_one_is_fetched() {
    let bench = Bench::new();
    let [fetched, compiled] = ["fetched", "compiled"].map(|name| bench.path(name).display().to_string());
    // In sequence the first would wait for ever.
    let wait =
        format!("until [ -e {fetched} ]; do sleep 0.01; done; sleep 0.2; touch {compiled}; echo 1 > version");
    let first = bench.service("one", "a", &wait);
    // The second has one turn with the first, so it compiles later.
    let mut second = bench.service("one", "b", &format!("[ -e {compiled} ]; echo 2 > version"));
    let fetch = Step { command: vec!["touch".to_owned(), fetched], network: true, ..Step::default() };
    second.build.insert(0, fetch);
    let many = BuildOptions { jobs: 1, force: false, may_begin: &|| true };
    build_many(&bench.builder("one"), &[&first, &second], &bench.site(), many, |service, built| {
        built.unwrap().unwrap_or_else(|error| panic!("{}: {error}", service.name));
    });
}

//! Builds with real steps: what is built again and what is not, what it cost, and what is said of a failure.

use std::{
    fs,
    path::Path,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use tare_host::process::{Isolation, Supervisor};
use tare_service::{
    build::{BuildError, Builder, Built, Many, Site, build_many},
    catalogue::{Catalogue, RawSocket, Service, Step},
};

/// Its command `keeper` keeps.
const FAKE: &str = env!("CARGO_BIN_EXE_fake-service");

static NOT_INTERRUPTED: AtomicBool = AtomicBool::new(false);

struct Bench {
    supervisor: Supervisor,
    root: tempfile::TempDir,
}

impl Bench {
    fn new() -> Bench {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("services")).unwrap();
        let supervisor = Supervisor::start(Path::new(FAKE), Isolation::detect()).unwrap();
        Bench { supervisor, root }
    }

    /// A service of a folder of its own that is built by a script.
    fn service(&self, name: &str, script: &str) -> Service {
        let catalogue = Catalogue::load(self.root.path(), &["hello"], RawSocket::default()).unwrap();
        let mut service = catalogue.services[0].clone();
        let shell = |script: &str| vec!["sh".to_owned(), "-c".to_owned(), script.to_owned()];
        service.name = name.to_owned();
        service.folder = self.root.path().join(name);
        service.build = vec![Step { command: shell(script), network: false }];
        service.version_command = shell("cat version");
        fs::create_dir_all(&service.folder).unwrap();
        fs::write(service.folder.join(".gitignore"), "version\nruns\n").unwrap();
        fs::write(service.folder.join("source"), "1").unwrap();
        service
    }

    fn site(&self) -> Site<'_> {
        Site::new(&self.supervisor, &NOT_INTERRUPTED)
    }

    fn build(&self, service: &Service, force: bool) -> Result<Built, BuildError> {
        Builder::new(self.root.path()).build(service, &self.site(), force)
    }
}

#[test]
fn an_unchanged_folder_is_built_once() {
    let bench = Bench::new();
    let service = bench.service("one", "echo 1.2.3 > version; echo built >> runs");
    let runs = || fs::read_to_string(service.folder.join("runs")).unwrap().lines().count();

    let first = bench.build(&service, false).unwrap();
    assert_eq!((first.version.as_str(), first.cached), ("1.2.3", false));
    assert!(bench.build(&service, false).unwrap().cached);
    assert_eq!(runs(), 1);

    fs::write(service.folder.join("source"), "2").unwrap();
    assert!(!bench.build(&service, false).unwrap().cached);
    assert!(!bench.build(&service, true).unwrap().cached);
    assert_eq!(runs(), 3);

    fs::remove_file(service.folder.join("version")).unwrap();
    assert!(!bench.build(&service, false).unwrap().cached, "an artefact that is gone is made again");
}

#[test]
fn what_a_whole_build_cost_is_kept() {
    let bench = Bench::new();
    let busy = "i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done";
    let script =
        format!("test -e version || sh -c '{busy}'; head -c 100000 /dev/zero > runs; echo 1 > version");
    let service = bench.service("busy", &script);
    let cost = bench.build(&service, false).unwrap().cost;
    assert!(cost.from_nothing && cost.seconds > 0.0, "{cost:?}");
    // That of the inner shell, which the outer one waited for.
    assert!(cost.cpu_seconds >= 0.01, "{cost:?}");
    assert!((100_000..200_000).contains(&cost.disk_bytes), "{cost:?}");
    assert_eq!(cost.download_bytes, Some(0));
    // The second finds most of it done, and says nothing new.
    assert_eq!(bench.build(&service, true).unwrap().cost, cost);
}

#[test]
fn a_failed_step_names_the_step_the_last_line_and_the_log() {
    let bench = Bench::new();
    let service = bench.service("failing", "echo working; echo 'no such header' >&2; exit 3");
    let error = bench.build(&service, false).unwrap_err().to_string();
    assert!(error.contains("failed (exit status 3): no such header; all of it: "), "{error}");
    let builder = Builder::new(bench.root.path());
    let log = fs::read_to_string(builder.log(&service)).unwrap();
    assert!(log.starts_with("$ sh -c echo working") && log.contains("\nworking\nno such header\n"), "{log}");
    assert_eq!(builder.last(&service), None);
}

#[test]
fn a_receipt_of_two_lines_is_refused() {
    let bench = Bench::new();
    let service = bench.service("talking", "printf 'a\\nb\\n' > version");
    let error = bench.build(&service, false).unwrap_err().to_string();
    assert!(error.contains("printed 2 lines"), "{error}");
}

#[test]
fn an_interrupted_build_ends_with_all_it_started() {
    let bench = Bench::new();
    let service = bench.service("long", "sleep 600 & echo $! > runs; wait");
    let interrupt = AtomicBool::new(false);
    let began = Instant::now();
    let site = Site::new(&bench.supervisor, &interrupt);
    let sleeper = std::thread::scope(|scope| {
        let building = scope.spawn(|| Builder::new(bench.root.path()).build(&service, &site, false));
        let sleeper = loop {
            let text = fs::read_to_string(service.folder.join("runs")).unwrap_or_default();
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
    // Whoever inherited it may not have waited for it yet.
    assert!(stat.is_empty() || stat.contains(") Z "), "{stat}");
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[test]
fn several_are_built_side_by_side_and_what_is_not_begun_is_told() {
    let bench = Bench::new();
    // Each waits for the other to have begun: one after the other would take for ever.
    let meet = |mine: &str, other: &str| {
        format!("touch runs; until [ -e ../{other}/runs ]; do sleep 0.01; done; echo {mine} > version")
    };
    let services = [
        bench.service("a", &meet("a", "b")),
        bench.service("b", &meet("b", "a")),
        bench.service("c", "exit 1"),
    ];
    let begun = Mutex::new(0);
    let two = || {
        let mut begun = begun.lock().unwrap();
        *begun += 1;
        *begun <= 2
    };
    let done = Mutex::new(Vec::new());
    let many = Many { jobs: 2, force: false, may_begin: &two };
    let services: Vec<&Service> = services.iter().collect();
    build_many(&Builder::new(bench.root.path()), &services, &bench.site(), many, |service, built| {
        let version = built.map(|built| built.unwrap().version);
        done.lock().unwrap().push((service.name.as_str(), version));
    });
    let mut done = done.into_inner().unwrap();
    done.sort_unstable();
    assert_eq!(done, [("a", Some("a".to_owned())), ("b", Some("b".to_owned())), ("c", None)]);
}

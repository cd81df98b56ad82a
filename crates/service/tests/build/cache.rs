//! When services are built again, and what an interrupted build leaves.

use std::{
    fs,
    os::unix::fs::symlink,
    path::Path,
    time::{Duration, SystemTime},
};

use tare_service::{
    build::{BuildError, Builder, Store},
    survey::CacheKind,
};

use super::bench::{Bench, NOT_INTERRUPTED};

const SCRIPT: &str = "note\necho 1.2.3 > version";

#[test]
fn an_unchanged_service_is_built_once_for_all_checkouts() {
    let bench = Bench::new();
    let (one, two) = (bench.service("one", "web", SCRIPT), bench.service("two", "web", SCRIPT));
    let first = bench.build("one", &one).unwrap();
    assert_eq!((first.version.as_str(), first.cached), ("1.2.3", false));
    assert!(first.place.starts_with(bench.home().canonicalize().unwrap()), "{first:?}");
    assert!(!one.folder.join("version").exists(), "the checkout is not built in");
    for (checkout, service) in [("one", &one), ("two", &two)] {
        let again = bench.build(checkout, service).unwrap();
        assert!(again.cached);
        assert_eq!((&again.place, &again.content, again.cost), (&first.place, &first.content, first.cost));
        assert_eq!(bench.builder(checkout).last(service).unwrap().folder, *first.place);
    }
    assert_eq!(bench.notes(), 1);
}

#[test]
fn what_has_changed_is_built_anew_beside_what_was() {
    let bench = Bench::new();
    let service = bench.service("one", "web", SCRIPT);
    let first = bench.build("one", &service).unwrap();
    fs::write(service.folder.join("source"), "2").unwrap();
    let second = bench.build("one", &service).unwrap();
    assert!(!second.cached && second.content != first.content && second.place.join("source").is_file());
    fs::remove_file(service.folder.join("source")).unwrap();
    assert_eq!(bench.build("one", &service).unwrap().place, first.place, "the other is still there");
    assert_eq!(bench.notes(), 2);
}

#[test]
fn force_and_a_lost_product_build_again_and_leave_what_runs_alone() {
    let bench = Bench::new();
    let service = bench.service("one", "web", SCRIPT);
    let first = bench.build("one", &service).unwrap();
    let forced = bench.builder("one").build(&service, &bench.site(), true).unwrap();
    assert!(!forced.cached && forced.place != first.place);
    assert!(first.place.join("version").is_file(), "its value lives, so that a process may run there");
    fs::remove_file(forced.place.join("version")).unwrap();
    drop((first, forced));
    let third = bench.build("one", &service).unwrap();
    assert!(!third.cached);
    let attempts = fs::read_dir(third.place.parent().unwrap()).unwrap().flatten();
    assert_eq!(
        attempts.filter(|entry| entry.path().is_dir()).count(),
        1,
        "a build that is not in use is removed"
    );
    assert_eq!(bench.notes(), 3);
}

#[test]
fn half_a_build_is_not_taken_for_a_whole_one() {
    let bench = Bench::new();
    let fails = "note\necho half > version\ntest -e PATH";
    let mended = bench.path("mended");
    let service = bench.service("one", "web", &fails.replace("PATH", mended.to_str().unwrap()));
    let failed = |error: &BuildError| matches!(error, BuildError::Step { .. });
    assert!(bench.build("one", &service).is_err_and(|error| failed(&error)));
    assert!(bench.builder("one").last(&service).is_none());
    assert!(bench.build("one", &service).is_err_and(|error| failed(&error)));
    fs::write(mended, "").unwrap();
    let built = bench.build("one", &service).unwrap();
    assert_eq!((built.cached, bench.notes()), (false, 3));
}

/// An entry contains its own path, as products do.
#[test]
fn a_cache_that_was_moved_is_built_anew() {
    let bench = Bench::new();
    let service = bench.service("one", "web", SCRIPT);
    let first = bench.build("one", &service).unwrap();
    fs::rename(bench.home(), bench.path("moved")).unwrap();
    let moved = Builder::new(&bench.path("one"), Store::new(&bench.path("moved")));
    let second = moved.build(&service, &bench.site(), false).unwrap();
    assert!(!second.cached && second.place != first.place);
    // Another name of the same folder is the same cache.
    symlink(bench.path("moved"), bench.path("link")).unwrap();
    let linked = Builder::new(&bench.path("one"), Store::new(&bench.path("link")));
    assert!(linked.build(&service, &bench.site(), false).unwrap().cached);
}

#[test]
fn two_at_once_build_once() {
    let bench = Bench::new();
    let script = "note\nsleep 0.3\necho 1 > version";
    let services = ["one", "two", "three"].map(|checkout| (checkout, bench.service(checkout, "web", script)));
    let cached = std::thread::scope(|scope| {
        let builds =
            services.each_ref().map(|(checkout, service)| scope.spawn(|| bench.build(checkout, service)));
        builds.map(|build| build.join().unwrap().unwrap().cached)
    });
    assert_eq!(cached.iter().filter(|cached| !**cached).count(), 1);
    assert_eq!(bench.notes(), 1);
}

#[test]
fn what_lies_above_a_service_is_copied_and_counts_where_it_is_the_build_root() {
    let bench = Bench::new();
    let mut service = bench.service("one", "web", "note\ncat ../../common > version");
    let root = bench.path("one").join("services");
    fs::write(root.join("common"), "1").unwrap();
    assert!(matches!(bench.build("one", &service), Err(BuildError::Step { .. })), "it is not there");
    service.build_root = root.clone();
    let first = bench.build("one", &service).unwrap();
    assert_eq!(first.version, "1");
    assert!(first.place.ends_with("fake/web"));
    fs::write(root.join("common"), "2").unwrap();
    let second = bench.build("one", &service).unwrap();
    assert_eq!((second.version.as_str(), second.cached), ("2", false));
    // Another service of the same root is a separate build.
    let mut other = bench.service("one", "other", "note\ncat ../../common > version");
    other.build_root = root;
    assert_ne!(bench.build("one", &other).unwrap().content, bench.build("one", &service).unwrap().content);
}

#[test]
fn pruning_removes_what_was_not_used_and_nothing_that_runs() {
    let bench = Bench::new();
    let prune = |before| {
        let found = bench.store().survey(before, &NOT_INTERRUPTED).unwrap();
        found.into_iter().map(|(kind, kept)| (kind, kept.removed, kept.bytes)).collect::<Vec<_>>()
    };
    let at = |time| Some(time);
    let now = SystemTime::now;
    assert_eq!((prune(None), prune(at(now()))), (vec![], vec![]), "there need be no cache");
    let service = bench.service("one", "web", "head -c 100000 /dev/zero > product\necho 1 > version");
    let built = bench.build("one", &service).unwrap();
    let hour = Duration::from_secs(60 * 60);
    let (kind, removed, bytes) = prune(at(now() + hour))[0];
    assert_eq!((kind, removed), (CacheKind::Builds, false), "it is in use");
    assert!(bytes >= 100_000, "{bytes}");
    drop(built);
    let kept = vec![(kind, false, bytes)];
    assert_eq!((prune(None), prune(at(now() - hour))), (kept.clone(), kept), "it was used since");
    assert_eq!((prune(at(now() + hour)), prune(None)), (vec![(kind, true, bytes)], vec![]));
    assert!(bench.builder("one").last(&service).is_none());
    assert!(!bench.build("one", &service).unwrap().cached);
}

#[test]
fn a_cache_that_cannot_be_written_to_is_an_error_that_names_the_variable() {
    let bench = Bench::new();
    let service = bench.service("one", "web", SCRIPT);
    fs::write(bench.path("file"), "").unwrap();
    let builder = Builder::new(&bench.path("one"), Store::new(&bench.path("file")));
    let error = builder.build(&service, &bench.site(), false).unwrap_err().to_string();
    let told = error.replace(bench.path("file").to_str().unwrap(), "FILE");
    let wanted = "builds cannot be cached in \"FILE/builds\": Not a directory (os error 20); set TARE_HOME to a folder \
                  that can be written to";
    assert_eq!(told, wanted);
}

/// For example a cache in a container image.
#[test]
fn a_cache_that_can_only_be_read_serves_what_it_has() {
    let bench = Bench::new();
    let service = bench.service("one", "web", SCRIPT);
    drop(bench.build("one", &service).unwrap());
    let read_only = |path: &Path| {
        let mut permissions = path.metadata().unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(path, permissions).unwrap();
    };
    let slot = fs::read_dir(bench.store().folder()).unwrap().flatten().find(|entry| entry.path().is_dir());
    read_only(&slot.unwrap().path());
    assert!(bench.build("one", &service).unwrap().cached);
}

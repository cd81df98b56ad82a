use std::time::Duration;

use super::*;
use crate::catalogue::Place;

static NEVER: AtomicBool = AtomicBool::new(false);

struct Bench {
    home: tempfile::TempDir,
    root: tempfile::TempDir,
}

impl Bench {
    fn new() -> Bench {
        Bench { home: tempfile::tempdir().unwrap(), root: tempfile::tempdir().unwrap() }
    }

    fn folders(&self) -> SharedFolders {
        SharedFolders::new(self.home.path())
    }

    /// A service in Rust, which is built in its own folder.
    fn service(&self, repository: &str, name: &str) -> Service {
        let folder = self.root.path().join(repository).join("services/rust").join(name);
        fs::create_dir_all(&folder).unwrap();
        let lock = format!("[[package]]\nname = \"{name}\"\nversion = \"0.1.0\"\n");
        fs::write(folder.join("Cargo.lock"), lock).unwrap();
        let place = Place::new(folder.clone());
        Service {
            language: "rust".to_owned(),
            build_root: folder.clone(),
            folder,
            place,
            ..Service::default()
        }
    }

    fn take(&self, service: &Service, toolchain: &str) -> SharedFolder {
        self.folders().take(service, toolchain, &NEVER).unwrap().unwrap()
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// As Cargo leaves it after a build of `name`.
fn compile(shared: &SharedFolder, name: &str) {
    let release = shared.target().join("release");
    write(&release.join(".cargo-lock"), "");
    write(&release.join(format!(".fingerprint/{name}-0000000000000001/bin")), "");
    write(&release.join(".fingerprint/tokio-0000000000000002/lib"), "");
    write(&release.join(format!("deps/{name}-0000000000000001")), name);
    write(&release.join("deps/libtokio-0000000000000002.rlib"), "tokio");
    write(&release.join(format!("{name}.d")), "");
    fs::hard_link(release.join(format!("deps/{name}-0000000000000001")), release.join(name)).unwrap();
}

#[test]
fn services_of_a_repository_share_by_compiler_and_others_do_not() {
    let bench = Bench::new();
    let (one, two) = (bench.service("a", "one"), bench.service("a", "two"));
    let folder = |service: &Service, toolchain: &str| bench.take(service, toolchain).folder.clone();
    let shared = folder(&one, "1.95");
    assert_eq!(folder(&two, "1.95"), shared);
    assert_ne!(folder(&two, "1.96"), shared, "another compiler");
    assert_ne!(folder(&bench.service("b", "one"), "1.95"), shared, "another repository");
    let note = fs::read_to_string(shared.join(NOTE)).unwrap();
    assert!(note.contains("/a/services\n1.95"), "{note}");
    let alone = Service { language: "own".to_owned(), ..two };
    assert_ne!(folder(&alone, "1.95"), shared, "it is in no catalogue");
}

#[test]
fn without_a_lock_file_nothing_says_what_is_shared() {
    let bench = Bench::new();
    let service = bench.service("a", "one");
    fs::remove_file(service.folder.join("Cargo.lock")).unwrap();
    assert!(bench.folders().take(&service, "", &NEVER).unwrap().is_none());
}

#[test]
fn products_are_copied_and_only_crates_of_registries_stay() {
    let bench = Bench::new();
    let service = bench.service("a", "one");
    let shared = bench.take(&service, "");
    let variables = shared.begin().unwrap();
    let of = |name: &str| variables.iter().find(|(key, _)| key == name).unwrap().1.clone();
    assert_eq!(of(TARGET_VARIABLE), shared.target().display().to_string());
    assert_eq!(of("TARE_OWN_PACKAGES"), "one");
    compile(&shared, "one");
    shared.finish().unwrap();
    let product = service.folder.join("target/release/one");
    assert_eq!(fs::read_to_string(&product).unwrap(), "one");
    assert!(!service.folder.join("target/release/one.d").exists());
    let release = shared.target().join("release");
    assert!(release.join("deps/libtokio-0000000000000002.rlib").exists());
    for gone in ["one", "deps/one-0000000000000001", ".fingerprint/one-0000000000000001"] {
        assert!(!release.join(gone).exists(), "{gone}");
    }
    assert!(!shared.folder.join(BUILDING).exists());
    drop(shared);

    // Another service of the same name, at another version: it must find no code of the first.
    let shared = bench.take(&bench.service("a", "two"), "");
    compile(&shared, "two");
    shared.begin().unwrap();
    assert!(!release.join("two").exists() && !release.join(".fingerprint/two-0000000000000001").exists());
    assert!(release.join("deps/libtokio-0000000000000002.rlib").exists());
}

#[test]
fn after_a_killed_step_and_beyond_the_bound_it_is_emptied() {
    let bench = Bench::new();
    let service = bench.service("a", "one");
    let tokio = |shared: &SharedFolder| shared.target().join("release/deps/libtokio-0000000000000002.rlib");
    let shared = bench.take(&service, "");
    shared.begin().unwrap();
    compile(&shared, "one");
    shared.leave().unwrap();
    shared.begin().unwrap();
    assert!(tokio(&shared).exists(), "a step that failed removes nothing");
    drop(shared);
    let shared = bench.take(&service, "");
    shared.begin().unwrap();
    assert!(!tokio(&shared).exists(), "a killed one left its mark");
    compile(&shared, "one");
    shared.leave().unwrap();
    shared.begin_below(1).unwrap();
    assert!(!tokio(&shared).exists(), "it was too large");
}

#[test]
fn one_that_is_not_in_use_is_removed_once_it_is_old() {
    let bench = Bench::new();
    let service = bench.service("a", "one");
    let later = Some(SystemTime::now() + Duration::from_secs(60));
    let survey = |before| bench.folders().survey(before).unwrap();
    assert_eq!(survey(later), []);
    let shared = bench.take(&service, "");
    compile(&shared, "one");
    let found = |before| survey(before).iter().map(|kept| (kept.removed, kept.bytes > 0)).collect::<Vec<_>>();
    assert_eq!(found(later), [(false, true)], "it is in use");
    drop(shared);
    assert_eq!(found(None), [(false, true)]);
    assert_eq!(found(Some(SystemTime::UNIX_EPOCH)), [(false, true)]);
    assert_eq!((found(later), found(None)), (vec![(true, true)], vec![]));
    fs::create_dir_all(bench.home.path().join("shared/x.removed")).unwrap();
    assert_eq!(
        found(Some(SystemTime::UNIX_EPOCH)),
        [(true, false)],
        "the rest of a removal that was cut off"
    );
}

#[test]
fn a_step_waits_for_the_one_before_it_and_a_wait_can_be_interrupted() {
    let bench = Bench::new();
    let service = bench.service("a", "one");
    let shared = bench.take(&service, "");
    let interrupted = AtomicBool::new(true);
    let error = bench.folders().take(&service, "", &interrupted).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::Interrupted);
    drop(shared);
    bench.folders().take(&service, "", &interrupted).unwrap().unwrap();
}

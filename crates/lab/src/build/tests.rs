use super::*;
use crate::catalogue::{Catalogue, Pivot, Step};

fn service(root: &Path, step: &str) -> Service {
    let catalogue = Catalogue::load(root, &["hello"], Pivot::default());
    let mut service = match catalogue {
        Ok(catalogue) => catalogue.services[0].clone(),
        Err(error) => panic!("{error}"),
    };
    let shell = |script: &str| vec!["sh".to_owned(), "-c".to_owned(), script.to_owned()];
    service.folder = root.join("service");
    service.build = vec![Step { command: shell(step), network: false }];
    service.version_command = shell("cat version");
    service
}

fn root() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir_all(root.path().join("services")).unwrap();
    fs::create_dir_all(root.path().join("service")).unwrap();
    fs::write(root.path().join("service/.gitignore"), "version\nruns\n").unwrap();
    fs::write(root.path().join("service/source"), "1").unwrap();
    root
}

#[test]
fn an_unchanged_folder_is_built_once() {
    let root = root();
    let service = service(root.path(), "echo 1.2.3 > version; echo built >> runs");
    let builder = Builder::new(root.path());
    let runs = || fs::read_to_string(root.path().join("service/runs")).unwrap().lines().count();

    let first = builder.build(&service, false).unwrap();
    assert_eq!((first.version.as_str(), first.cached), ("1.2.3", false));
    assert!(builder.build(&service, false).unwrap().cached);
    assert_eq!(runs(), 1);

    fs::write(root.path().join("service/source"), "2").unwrap();
    assert!(!builder.build(&service, false).unwrap().cached);
    assert!(!builder.build(&service, true).unwrap().cached);
    assert_eq!(runs(), 3);

    fs::remove_file(root.path().join("service/version")).unwrap();
    assert!(!builder.build(&service, false).unwrap().cached, "an artefact that is gone is made again");
}

#[test]
fn a_failed_step_names_the_step_the_last_line_and_the_log() {
    let root = root();
    let service = service(root.path(), "echo working; echo 'no such header' >&2; exit 3");
    let builder = Builder::new(root.path());
    let error = builder.build(&service, false).unwrap_err().to_string();
    assert!(error.contains("failed (exit status: 3): no such header; all of it: "), "{error}");
    assert!(fs::read_to_string(builder.log(&service)).unwrap().contains("working"));
    assert_eq!(builder.last(&service), None);
}

#[test]
fn a_receipt_of_two_lines_is_refused() {
    let root = root();
    let service = service(root.path(), "printf 'a\\nb\\n' > version");
    let error = Builder::new(root.path()).build(&service, false).unwrap_err().to_string();
    assert!(error.contains("printed 2 lines"), "{error}");
}

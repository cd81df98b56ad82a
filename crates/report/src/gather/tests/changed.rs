//! A changed byte in a run folder: no damaged file is read as if it were intact.

use std::{collections::BTreeMap, path::PathBuf};

use tare_host::seal::{DOCUMENT, LAST_LINE, LINE};

use super::*;

/// A run with a file of each kind that is read again, as this Tare stores them, and the paths of these files.
fn sealed_run() -> (tempfile::TempDir, Vec<PathBuf>) {
    let kept = kept(3);
    let folder = folder(&kept);
    let run = folder.path();
    let seal = |name: &str, seal: &dyn Fn(Vec<u8>) -> Vec<u8>| {
        fs::write(run.join(name), seal(fs::read(run.join(name)).unwrap())).unwrap();
    };
    seal("run.json", &|mut text| {
        text.push(b'\n');
        DOCUMENT.seal(text)
    });
    seal("journal.ndjson", &|text| {
        let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.flat_map(|line| [LINE.seal(line), b"\n".to_vec()].concat()).collect()
    });
    let mut files = vec![run.join("run.json"), run.join("journal.ndjson")];
    for row in fs::read_dir(run.join("histograms")).unwrap() {
        let histogram = row.unwrap().path().join("block-000.hgrm-v2");
        fs::write(&histogram, LAST_LINE.seal(fs::read(&histogram).unwrap())).unwrap();
        files.push(histogram);
    }
    let command = ["run", "quick"].map(str::to_owned).to_vec();
    let (aspects, profiles) = (BTreeMap::new(), BTreeMap::new());
    let format = tare_bench::folder::FORMAT.to_owned();
    let revision = Some(RevisionNote { commit: "0a1b2c".to_owned(), changed: false });
    About { format, command, revision, aspects, profiles }.keep(run).unwrap();
    files.push(run.join("about.json"));
    let header = |name: &str| Field { name: name.to_owned(), value: "1.26.8".to_owned(), varies: false };
    let sent = SentAnswer {
        request: "hello".to_owned(),
        status_line: "HTTP/1.1 200 OK".to_owned(),
        headers: vec![header("Server")],
        framing: SentFraming::ContentLength,
        head_bytes: 60,
        body_bytes: 13,
        total_bytes: 73,
    };
    let contract = kept.header.plan.contract();
    fs::create_dir_all(service_folder(run, "axum")).unwrap();
    keep_sent(run, "axum", contract, &[sent]).unwrap();
    files.push(service_folder(run, "axum").join(format!("sent-{contract}.json")));
    (folder, files)
}

fn names(text: &str, file: &str) -> usize {
    text.matches(file).count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_byte_that_was_changed_changes_no_figure_and_no_text_unless_its_file_is_named(
        file in any::<prop::sample::Index>(), place in any::<prop::sample::Index>(), change in 1_u8..,
    ) {
        let (folder, files) = sealed_run();
        let text = |document: &Document| crate::write::json::json(document);
        let before = text(&gather(folder.path()).unwrap());
        let file = &files[file.index(files.len())];
        let mut bytes = fs::read(file).unwrap();
        let place = place.index(bytes.len());
        bytes[place] ^= change;
        fs::write(file, bytes).unwrap();
        let name = file.file_name().unwrap().to_str().unwrap();
        match gather(folder.path()) {
            Err(error) => prop_assert!(names(&error.to_string(), name) > 0, "{error}"),
            Ok(after) => {
                let after = text(&after);
                prop_assert!(after == before || names(&after, name) > names(&before, name), "{name} at {place}");
            }
        }
    }
}

#[test]
fn a_version_that_was_changed_in_the_head_is_an_error_that_says_what_to_do() {
    let (folder, files) = sealed_run();
    let head = fs::read_to_string(&files[0]).unwrap();
    fs::write(&files[0], head.replace("Linux 6.1", "Linux 9.1")).unwrap();
    let error = gather(folder.path()).unwrap_err().to_string();
    let told = "run.json: its checksum is wrong: it was changed after it was written; take it from a copy, or measure again";
    assert!(error.ends_with(told), "{error}");
}

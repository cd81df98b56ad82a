//! Audits published results of others, and our own, by the same arithmetic.

use std::fs;

use crate::support::{Workspace, real_root};

#[test]
fn figures_of_others_are_held_to_arithmetic() {
    let workspace = Workspace::new(&[]);
    let data = real_root().join("parts/audit/data");
    let arena = data.join("http-arena").display().to_string();
    let ended = workspace.tare(&["audit", &arena, "--page", "audit.html"]).expect(4);
    assert!(ended.stdout.contains("Audit of HttpArena"), "{ended}");
    assert!(ended.stdout.contains("p99 is the mean, to the last digit (23.2 ms)"), "{ended}");
    let page = fs::read_to_string(workspace.root().join("audit.html")).unwrap();
    assert!(page.contains("CPUs were busy, and the server had 64"));
    let suites = data.join("techempower/results.json").display().to_string();
    let both = workspace.tare(&["audit", &suites, &arena]).expect(4);
    let place = |title: &str| both.stdout.find(title).unwrap_or_else(|| panic!("{title}: {both}"));
    assert!(place("Audit of TechEmpower") < place("Audit of HttpArena"), "each has its report");
    assert!(place("req/s, published") < place("no time is below zero"), "findings come before rules");
    let list = workspace.tare(&["audit", &suites, &arena, "--json"]).expect(4);
    let list: serde_json::Value = serde_json::from_str(&list.stdout).unwrap();
    assert_eq!(list.as_array().map(Vec::len), Some(2));
    let page = workspace.tare(&["audit", &suites, &arena, "--page", "both.html"]).expect(1);
    assert!(page.stderr.contains("--page shows one of these at a time"), "{page}");
    let other = workspace.tare(&["audit", "tare.toml"]).expect(1);
    assert!(other.stderr.contains("tare.toml: it is neither the results of a suite"), "{other}");
}

#[test]
fn a_folder_of_outputs_is_audited_file_by_file_and_what_is_none_is_named() {
    let workspace = Workspace::new(&[]);
    let tools = real_root().join("parts/audit/data/tools");
    let folder = workspace.root().join("outputs");
    fs::create_dir(&folder).unwrap();
    for name in ["ab.txt", "autocannon.txt", "hey.txt", "vegeta.json"] {
        fs::copy(tools.join(name), folder.join(name)).unwrap();
    }
    let honest = workspace.tare(&["audit", "outputs"]).expect(0);
    for title in ["Audit of ab", "Audit of autocannon", "Audit of hey", "Audit of vegeta"] {
        assert!(honest.stdout.contains(title), "{title}: {honest}");
    }
    let text = fs::read_to_string(tools.join("wrk-404.txt")).unwrap();
    let units = text.replace('\n', "\r\n").encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    fs::write(folder.join("utf16.txt"), [&[0xff, 0xfe][..], &units].concat()).unwrap();
    fs::write(folder.join("empty.txt"), "").unwrap();
    fs::write(folder.join("packed.gz"), b"\x1f\x8b\x08\0\0\0").unwrap();
    let gravest = workspace.tare(&["audit", "outputs"]).expect(5);
    let words: Vec<&str> = gravest.stdout.split_whitespace().collect();
    assert!(words.join(" ").contains("100.0% of the requests failed"), "UTF-16 is read: {gravest}");
    assert!(gravest.stderr.contains("empty.txt: it is empty"), "{gravest}");
    assert!(gravest.stderr.contains("packed.gz: it is no text"), "{gravest}");
}

#[test]
fn no_rule_speaks_against_a_kept_run() {
    let workspace = Workspace::new(&[]);
    let record = real_root().join("record");
    let folders = fs::read_dir(&record).unwrap().map(|entry| entry.unwrap().path());
    for run in folders.filter(|path| path.join("run.json").is_file()) {
        let ended = workspace.tare(&["audit", run.to_str().unwrap()]).expect(0);
        assert!(ended.stdout.contains("No rule speaks against any of the "), "{ended}");
    }
}

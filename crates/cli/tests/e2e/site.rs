//! `tare site`: the site of the stored runs. Its HTML is valid, and unchanged files are not written again.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Component, Path, PathBuf},
    process::Command,
};

use serde_json::Value;
use tare_host::fixture::skip;

use crate::support::{Workspace, real_root};

/// The reference checker of HTML, which `scripts/setup.sh` installs with the tools for the pages.
const CHECKER: &str = "web/node_modules/vnu-jar/build/dist/vnu.jar";

fn site(workspace: &Workspace, runs: &[&Path]) -> Value {
    let runs: Vec<&str> = runs.iter().map(|run| run.to_str().unwrap()).collect();
    workspace.tare(&[&["site", "out", "--json"], runs.as_slice()].concat()).expect(0).json()
}

/// All files below a folder, by relative path.
pub fn files(root: &Path) -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => {
                    let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                    found.insert(name, path);
                }
            }
        }
    }
    found
}

fn values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
    let begins = format!(" {attribute}=\"");
    page.split(&begins).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

/// The target of a relative link, from the root of the site.
fn target(page: &str, link: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in Path::new(link).components() {
        match part {
            Component::ParentDir => _ = parts.pop().expect("no link leads out of the site"),
            Component::Normal(part) => parts.push(part.to_str().unwrap()),
            other => panic!("{page}: {link}: {other:?}"),
        }
    }
    parts.join("/")
}

/// The page without its scripts, whose attributes are no links.
fn without_scripts(page: &str) -> String {
    let mut text = String::new();
    for part in page.split("<script") {
        let rest =
            if text.is_empty() { part } else { part.split_once("</script>").map_or("", |(_, rest)| rest) };
        text.push_str(rest);
        text.push(' ');
    }
    text
}

/// Fails if a link of a page leads to a missing file or anchor.
pub fn no_dead_links(files: &BTreeMap<String, PathBuf>) {
    let pages: BTreeMap<&str, String> = files
        .iter()
        .filter(|(name, _)| name.ends_with(".html"))
        .map(|(name, path)| (name.as_str(), without_scripts(&fs::read_to_string(path).unwrap())))
        .collect();
    assert!(pages.len() > 60, "{}", pages.len());
    let ids: BTreeMap<&str, BTreeSet<&str>> =
        pages.iter().map(|(name, page)| (*name, values(page, "id").into_iter().collect())).collect();
    let mut links = 0;
    for (name, page) in &pages {
        for link in values(page, "href").into_iter().chain(values(page, "src")) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            if link.starts_with("data:") || link.starts_with("https://") {
                continue;
            }
            let to = if path.is_empty() { (*name).to_owned() } else { target(name, path) };
            assert!(files.contains_key(&to), "{name}: \"{link}\" leads to no file");
            let known = ids.get(to.as_str());
            assert!(
                anchor.is_empty() || known.is_some_and(|ids| ids.contains(anchor)),
                "{name}: \"{link}\": no such part"
            );
            links += 1;
        }
    }
    assert!(links > 1000, "{links}");
}

#[test]
fn every_page_of_a_site_is_valid() {
    let workspace = Workspace::new(&[]);
    let record = real_root().join("record");
    site(&workspace, &[&record]);
    valid(&workspace.root().join("out"));
    // A standalone page contains its style and its scripts.
    valid(&record);
}

fn valid(root: &Path) {
    let jar = real_root().join(CHECKER);
    if !jar.is_file() {
        return skip("valid HTML", "vnu-jar is not in web/node_modules: make setup installs it");
    }
    let checked = Command::new("java")
        .arg("-jar")
        .arg(&jar)
        .args(["--errors-only", "--skip-non-html", "--stdout"])
        .arg(root)
        .output()
        .expect("java runs: services need it too");
    let found = String::from_utf8_lossy(&checked.stdout);
    assert!(checked.status.success(), "{}{found}", String::from_utf8_lossy(&checked.stderr));
}

#[test]
fn what_has_not_changed_is_not_made_again_and_what_is_gone_is_removed() {
    let workspace = Workspace::new(&[]);
    let [quick, published] = ["quick", "simple-web-server-2019"].map(|name| {
        let copy = workspace.root().join(name);
        copy_folder(&real_root().join("record").join(name), &copy);
        copy
    });
    let first = site(&workspace, &[&quick, &published]);
    assert_eq!(first["runs_read"], 2);
    let again = site(&workspace, &[&quick, &published]);
    assert_eq!((&again["runs_read"], &again["files_written"]), (&0.into(), &0.into()), "{again}");
    assert_eq!(again["files"], first["files"]);

    // Reports, which Tare writes, are no reason to read a run again; its records are.
    fs::write(published.join("report.md"), "other words").unwrap();
    assert_eq!(site(&workspace, &[&quick, &published])["runs_read"], 0);
    fs::write(published.join("about.json"), "{}").unwrap();
    assert_eq!(site(&workspace, &[&quick, &published])["runs_read"], 1);

    let out = workspace.root().join("out");
    assert!(out.join("run/simple-web-server-2019/index.html").is_file());
    let less = site(&workspace, &[&quick]);
    assert!(less["files_removed"].as_u64().unwrap() >= 4, "{less}");
    assert!(!out.join("run/simple-web-server-2019").exists());
    assert!(!out.join("experiment/simple-web-server-2019").exists());
}

/// The file system refuses a part of a new site: the old site is unchanged, byte for byte.
#[test]
fn a_site_that_cannot_be_written_whole_leaves_the_one_that_was_there() {
    let workspace = Workspace::new(&[]);
    let [quick, published] =
        ["quick", "simple-web-server-2019"].map(|name| real_root().join("record").join(name));
    // Files above some KiB are refused, as by a full disk.
    let limited = |out: &str, runs: &[&Path]| {
        let mut shell = Command::new("sh");
        shell.args(["-c", "ulimit -f 64; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_tare"), "site", out]);
        shell.args(runs).current_dir(workspace.root()).output().unwrap()
    };
    let refused = limited("out", &[&quick]);
    let told = String::from_utf8_lossy(&refused.stderr);
    assert!(refused.status.code() == Some(1) && told.contains("File too large"), "{told}");
    let names = |folder: &Path| -> Vec<String> { files(folder).into_keys().collect() };
    assert!(
        !workspace.root().join("out").exists()
            && !names(workspace.root()).iter().any(|name| name.contains(".new"))
    );

    site(&workspace, &[&quick]);
    let out = workspace.root().join("out");
    workspace.write("out/CNAME", "example.org");
    let content = || -> Vec<(String, Vec<u8>)> {
        files(&out).into_iter().map(|(name, path)| (name, fs::read(path).unwrap())).collect()
    };
    let before = content();
    let refused = limited("out", &[&quick, &published]);
    assert_eq!(refused.status.code(), Some(1), "{}", String::from_utf8_lossy(&refused.stderr));
    assert!(content() == before, "it is as it was");
    site(&workspace, &[&quick, &published]);
    assert_eq!(fs::read_to_string(out.join("CNAME")).unwrap(), "example.org", "what others put there stays");
    assert!(out.join("run/simple-web-server-2019/index.html").is_file());
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for (name, path) in files(from) {
        let to = to.join(name);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(path, to).unwrap();
    }
}

#[test]
fn data_of_a_site_are_what_their_schema_says() {
    let workspace = Workspace::new(&[]);
    let runs = ["quick", "restinio-2017"].map(|name| real_root().join("record").join(name));
    site(&workspace, &[&runs[0], &runs[1]]);
    let out = workspace.root().join("out");
    let read = |name: &str| -> Value { serde_json::from_slice(&fs::read(out.join(name)).unwrap()).unwrap() };
    let validator = jsonschema::validator_for(&read("data/site.schema.json")).unwrap();
    let data = read("data/site.json");
    let wrong: Vec<String> = validator.iter_errors(&data).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!(!validator.is_valid(&serde_json::json!({"format": "1.0", "runs": [{"id": 1}]})));

    // Each figure of the overview comes from the run's own document.
    let document = read("data/run/quick.json");
    let table = &document["sections"][0]["table"];
    let place = |key: &str| {
        let columns = table["columns"].as_array().unwrap();
        columns.iter().position(|column| column["key"] == key).unwrap()
    };
    let (label, cpu) = (place("label"), place("cpu_ratio"));
    let rows = table["rows"].as_array().unwrap();
    let quick = data["runs"].as_array().unwrap().iter().find(|run| run["id"] == "quick").unwrap();
    for row in quick["rows"].as_array().unwrap() {
        let own = rows.iter().find(|own| own[label] == row["service"]).unwrap();
        assert_eq!(own[cpu].as_f64(), row["cpu_ratio"]["value"].as_f64(), "{}", row["service"]);
    }
    let badge = read("badge/quick/hyper.json");
    assert_eq!(badge["schemaVersion"], 1);
}

/// The numbers of each row of a page, by the name in its first cell.
fn figures(page: &str) -> Vec<(String, Vec<f64>)> {
    let rows = page.split("<tr data-row=").skip(1);
    let row = |row: &str| {
        let row = row.split("</tr>").next().unwrap();
        let values = values(row, "data-value");
        (values[0].to_owned(), values[1..].iter().filter_map(|value| value.parse().ok()).collect())
    };
    rows.map(row).collect()
}

#[test]
fn each_number_of_the_shared_pages_is_one_of_a_run() {
    let workspace = Workspace::new(&[]);
    let all =
        ["quick", "all", "restinio-2017", "languages-2018"].map(|name| real_root().join("record").join(name));
    site(&workspace, &all.each_ref().map(PathBuf::as_path));
    let out = workspace.root().join("out");
    let read = |name: &str| fs::read_to_string(out.join(name)).unwrap();
    let mut of_service: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for run in ["quick", "all", "restinio-2017", "languages-2018"] {
        let document: Value = serde_json::from_str(&read(&format!("data/run/{run}.json"))).unwrap();
        for table in document["sections"].as_array().unwrap().iter().map(|section| &section["table"]) {
            let Some(columns) = table["columns"].as_array() else { continue };
            let Some(label) = columns.iter().position(|column| column["key"] == "label") else { continue };
            for row in table["rows"].as_array().unwrap() {
                let own = of_service.entry(row[label].as_str().unwrap().to_owned()).or_default();
                own.extend(row.as_array().unwrap().iter().filter_map(Value::as_f64));
            }
        }
    }
    let mut seen = 0;
    let mut check = |service: &str, numbers: &[f64]| {
        for number in numbers {
            assert!(of_service[service].contains(number), "{service}: {number} is in no run");
            seen += 1;
        }
    };
    for page in ["index.html", "language/rust/index.html", "language/cpp/index.html"] {
        for (service, numbers) in figures(&read(page)) {
            check(&service, &numbers);
        }
    }
    for service in ["axum", "restinio", "spring-boot"] {
        for (_, numbers) in figures(&read(&format!("service/{service}/index.html"))) {
            check(service, &numbers);
        }
    }
    assert!(seen > 200, "{seen}");
}

/// A page of some KB for each pair, with the ratio of the data: the larger figure over the smaller.
#[test]
fn each_pair_has_a_page_with_its_interval_or_the_reason_why_not() {
    let workspace = Workspace::new(&[]);
    let all = real_root().join("record/all");
    site(&workspace, &[&all]);
    let out = workspace.root().join("out");
    let document: Value = serde_json::from_slice(&fs::read(out.join("data/run/all.json")).unwrap()).unwrap();
    let sections = document["sections"].as_array().unwrap();
    let table = &sections.iter().find(|section| section["id"] == "pairs").unwrap()["table"];
    let columns = table["columns"].as_array().unwrap();
    let place = |key: &str| columns.iter().position(|column| column["key"] == key).unwrap();
    let (mut with, mut without) = (0, 0);
    for row in table["rows"].as_array().unwrap() {
        let [first, second] = ["first", "second"].map(|key| row[place(key)].as_str().unwrap());
        let mut names = [first, second];
        names.sort_unstable();
        let page = fs::read_to_string(out.join(format!("vs/{}/{}/index.html", names[0], names[1]))).unwrap();
        assert!(page.len() < 40_000, "{first}, {second}: {} bytes", page.len());
        let [ratio, low] = ["cpu_ratio", "cpu_ratio_low"].map(|key| row[place(key)].as_f64());
        if let Some(ratio) = ratio {
            let [one, other] = if ratio < 1.0 { [second, first] } else { [first, second] };
            let number = tare_report::document::Unit::Times.show(ratio.max(ratio.recip()));
            let end = if low.is_some() { " (" } else { "." };
            let told = format!("{one} needs {number} {other}&#39;s CPU time per request{end}");
            assert!(page.contains(&told), "{told} is not in {page}");
        }
        let why = ["No block had both of them", "One block had both of them"];
        assert_eq!(low.is_none(), why.iter().any(|why| page.contains(why)), "{first}, {second}: {page}");
        let settles = "A run of these two alone puts both into every block";
        assert!(low.is_some() || page.contains(settles), "{first}, {second}: {page}");
        *(if low.is_some() { &mut with } else { &mut without }) += 1;
    }
    assert!(with > 300 && without > 300, "{with} and {without}");
}

#[test]
fn what_is_no_site_is_not_written_over_and_what_is_no_run_is_named() {
    let workspace = Workspace::new(&[]);
    let quick = real_root().join("record/quick");
    workspace.write("mine/notes.txt", "mine");
    let refused = workspace.tare(&["site", "mine", quick.to_str().unwrap()]).expect(1);
    assert!(
        refused.stderr.contains("mine: is not empty, and no site of this command; name a new folder"),
        "{}",
        refused.stderr
    );
    let no_run = workspace.tare(&["site", "out", "mine"]).expect(1);
    assert!(no_run.stderr.contains("mine: is no run folder, and there is none in it"), "{}", no_run.stderr);
    let no_folder = workspace.tare(&["site", "out", "mine/notes.txt"]).expect(1);
    assert!(
        no_folder.stderr.contains("name run folders, or a folder of run folders"),
        "{}",
        no_folder.stderr
    );
    let none = workspace.tare(&["site", "out"]).expect(1);
    assert!(none.stderr.contains("there are no runs"), "{}", none.stderr);
    let no_url = workspace.tare(&["site", "out", "--url", "here"]).expect(1);
    assert!(no_url.stderr.contains("https://example.org/results/"), "{}", no_url.stderr);
    assert!(!workspace.root().join("out").exists());
}

#[test]
fn a_site_whose_place_is_known_says_it_to_who_shows_links() {
    let workspace = Workspace::new(&[]);
    let quick = real_root().join("record/quick");
    let words =
        ["site", "out", "--url", "https://example.org/tare", "--title", "Ours", quick.to_str().unwrap()];
    // As a shell expands `record/*`.
    let readme = real_root().join("record/README.md");
    let words = [words.as_slice(), &[readme.to_str().unwrap()]].concat();
    workspace.tare(&words).expect(0);
    let read = |name: &str| fs::read_to_string(workspace.root().join("out").join(name)).unwrap();
    let page = read("run/quick/index.html");
    assert!(
        page.contains(
            "<meta property=\"og:image\" content=\"https://example.org/tare/run/quick/preview.png\">"
        )
    );
    assert!(page.contains("<link rel=\"canonical\" href=\"https://example.org/tare/run/quick/index.html\">"));
    let picture = fs::read(workspace.root().join("out/run/quick/preview.png")).unwrap();
    assert_eq!(&picture[..8], b"\x89PNG\r\n\x1a\n");
    assert!(read("sitemap.xml").contains("<loc>https://example.org/tare/service/axum/index.html</loc>"));
    assert!(read("feed.xml").contains("<link href=\"https://example.org/tare/run/quick/index.html\"/>"));
    let badge = read("service/axum/index.html");
    assert!(badge.contains("https://example.org/tare/badge/quick/axum.svg"), "{badge}");
    // A picture is named by what it shows: an unchanged one is not drawn again.
    let picture = badge.split("og:image\" content=\"https://example.org/tare/").nth(1).unwrap();
    let picture = workspace.root().join("out").join(picture.split('"').next().unwrap());
    let inode = || std::os::unix::fs::MetadataExt::ino(&fs::metadata(&picture).unwrap());
    let before = inode();
    workspace.tare(&words).expect(0);
    assert_eq!(inode(), before, "{}", picture.display());
}

#[test]
fn pages_lead_to_the_measured_code_if_its_repository_is_known() {
    let workspace = Workspace::new(&[]);
    let quick = real_root().join("record/quick");
    let words = ["site", "out", "--source-url", "https://github.com/o/tare/", quick.to_str().unwrap()];
    workspace.tare(&words).expect(0);
    let read = |name: &str| fs::read_to_string(workspace.root().join("out").join(name)).unwrap();
    let about: Value = serde_json::from_slice(&fs::read(quick.join("about.json")).unwrap()).unwrap();
    let commit = about["revision"]["commit"].as_str().unwrap();
    let tree = format!("href=\"https://github.com/o/tare/tree/{commit}");
    assert!(read("run/quick/index.html").contains(&format!("{tree}\"")));
    let page = read("service/axum/index.html");
    assert!(page.contains(&format!("{tree}/services/rust/axum\"")), "{page}");
    assert!(read("service/raw-socket/index.html").contains(&format!("{tree}/crates/reference\"")));
    assert!(page.contains("href=\"https://github.com/o/tare\">repository</a>"), "{page}");
    assert!(page.contains("<code>tare run quick --services axum</code>"), "{page}");
}

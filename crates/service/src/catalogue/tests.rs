use std::fs;

use proptest::prelude::*;

use super::*;
use tare_contract::protocol;
use tare_load::Protocol;

pub(super) const MANIFEST: &str = r#"
format    = "1.0"
name      = "mux"
language  = "go"
framework = "Mux"
url       = "https://example.org"
licence   = "MIT"
contracts = ["hello", "rest"]
style     = "framework"
[version]
command = ["./build/service", "--version"]
[run]
command       = ["./build/service"]
ready-timeout = "10s"
env           = { A = "1" }
arguments     = { rest = ["--rest"] }
[[variant]]
name  = "slow"
title = "slower"
env   = { B = "2" }
keeps-connections = false
"#;

fn load(manifest: &str) -> Result<Catalogue, String> {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("services/go/mux");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("service.toml"), manifest).unwrap();
    let catalogue = Catalogue::load(root.path(), &["hello", "rest"], RawSocket::default()).unwrap();
    match catalogue.broken.first() {
        Some(Broken { name, error }) => {
            assert_eq!((name.as_str(), catalogue.services.len()), ("mux", 1));
            Err(error.to_string().replace(&root.path().display().to_string(), "ROOT"))
        }
        None => Ok(catalogue),
    }
}

fn labels(rows: &[Row]) -> Vec<&str> {
    rows.iter().map(|row| row.label.as_str()).collect()
}

#[test]
fn variants_become_services_that_share_the_folder() {
    let catalogue = load(MANIFEST).unwrap();
    let ids: Vec<&str> = catalogue.services.iter().map(|service| service.id.as_str()).collect();
    assert_eq!(ids, ["raw-socket", "mux", "mux:slow"]);
    let slow = catalogue.get("mux:slow").unwrap();
    assert_eq!(slow.name, "mux");
    assert_eq!(slow.run.env.keys().collect::<Vec<_>>(), ["A", "B"]);
    let keeps = |catalogue: &Catalogue, id: &str| catalogue.get(id).unwrap().run.keeps_connections;
    assert_eq!((keeps(&catalogue, "mux"), keeps(&catalogue, "mux:slow")), (true, false));
    let own = MANIFEST
        .replace("keeps-connections = false\n", "")
        .replace("[[variant]]", "keeps-connections = false\n[[variant]]");
    let catalogue = load(&own).unwrap();
    assert_eq!(
        (keeps(&catalogue, "mux"), keeps(&catalogue, "mux:slow")),
        (false, false),
        "a variant inherits it"
    );
}

#[test]
fn a_licence_without_an_identifier_has_a_name_of_its_own() {
    for licence in ["LicenseRef-House", "MIT OR Apache-2.0", "GPL-2.0-only WITH Classpath-exception-2.0"] {
        let catalogue = load(&MANIFEST.replacen("\"MIT\"", &format!("\"{licence}\""), 1)).unwrap();
        assert_eq!(catalogue.get("mux").unwrap().licence, licence);
    }
}

#[test]
fn a_contract_may_need_arguments() {
    let catalogue = load(MANIFEST).unwrap();
    let command = |id: &str, contract: &str| catalogue.get(id).unwrap().command_for(contract, 8080).join(" ");
    assert_eq!(command("mux", "hello"), "./build/service");
    for id in ["mux", "mux:slow"] {
        assert_eq!(command(id, "rest"), "./build/service --rest");
    }
    let catalogue = load(&MANIFEST.replace("\"--rest\"", "\"--listen\", \"127.0.0.1:{port}\"")).unwrap();
    let command = catalogue.get("mux").unwrap().command_for("rest", 8081).join(" ");
    assert_eq!(command, "./build/service --listen 127.0.0.1:8081");
    let contracts = vec!["hello".to_owned()];
    let reference = built_in_raw_socket(
        Path::new("."),
        RawSocket {
            program: "tare".into(),
            contracts: contracts.into_iter().map(|name| (name.clone(), name)).collect(),
        },
    );
    assert_eq!(reference.command_for("hello", 8080).join(" "), "tare raw-socket --contract hello");
}

#[test]
fn mistakes_name_the_file_the_key_and_the_nearest_name() {
    let cases = [
        ("contracts = ", "contrats = ", "unknown key \"contrats\"; did you mean \"contracts\"?"),
        ("[\"hello\"", "[\"helo\"", "unknown contract \"helo\"; did you mean \"hello\"?"),
        ("\"mux\"", "\"max\"", "name \"max\" is not the folder's: \"mux\""),
        ("\"go\"", "\"golang\"", "language \"golang\" is not the parent folder's: \"go\""),
        ("\"framework\"\n", "\"framwork\"\n", "unknown value \"framwork\"; did you mean \"framework\"?"),
        ("\"10s\"", "\"soon\"", ":14: \"soon\" is not a duration: give a number with"),
        ("\"10s\"", "\"-10s\"", ":14: \"-10s\" is not a duration: give"),
        ("\"10s\"", "\"0s\"", ":14: a service needs some time until its first answer"),
        ("[\"./build/service\"]", "[]", ":13: a command needs at least the program"),
        ("[\"./build/service\", \"--version\"]", "[]", ":11: a command needs at least the program"),
        ("\"slower\"", "\"slower\"\ncommand = []", ":20: a command needs at least the program"),
        ("\"MIT\"", "\"MTI\"", ":7: licence \"MTI\" is no SPDX expression"),
        ("\"MIT\"", "\"MIT, Apache-2.0\"", ":7: licence \"MIT, Apache-2.0\" is no SPDX expression"),
        ("{ rest =", "{ rst =", "it does not declare, \"rst\"; did you mean \"rest\"?"),
        ("licence ", "package = \"mux\"\nlicence ", "\"mux\" is no package URL: "),
    ];
    for (right, wrong, expected) in cases {
        let error = load(&MANIFEST.replacen(right, wrong, 1)).unwrap_err();
        assert!(error.starts_with("ROOT/services/go/mux/service.toml:"), "{error}");
        assert!(error.contains(expected), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn only_failures_that_leave_answers_right_are_tolerated() {
    let with_failure = |check: &str| {
        let text = format!("[[excuse]]\ncheck = \"{check}\"\nwhy = \"so\"\n[[variant]]");
        load(&MANIFEST.replacen("[[variant]]", &text, 1))
    };
    let catalogue = with_failure("pipelined").unwrap();
    for id in ["mux", "mux:slow"] {
        assert_eq!(catalogue.get(id).unwrap().known_failures[0].check, ToleratedCheck::Pipelined, "{id}");
    }
    let refused = with_failure("response").unwrap_err();
    assert!(refused.contains("unknown variant `response`") || refused.contains("response"), "{refused}");
}

#[test]
fn words_select_rows() {
    let catalogue = load(MANIFEST).unwrap();
    let select = |words: &str| select(&catalogue, words.split(','));
    assert_eq!(labels(&select("raw-socket,mux,mux@2").unwrap()), ["raw-socket", "mux", "mux@2"]);
    assert_eq!(labels(&select("mux,group:go").unwrap()), ["mux", "mux:slow"]);
    assert_eq!(labels(&select("all").unwrap()).len(), 3);
    assert_eq!(select("mix").unwrap_err().to_string(), "unknown service \"mix\"; did you mean \"mux\"?");
    assert_eq!(select("group:goo").unwrap_err().to_string(), "unknown group \"goo\"; did you mean \"go\"?");
    assert_eq!(
        select("mux,mux").unwrap_err().to_string(),
        "\"mux\" stands twice; to measure one service twice write \"mux@2\""
    );
}

#[test]
fn a_row_is_chosen_in_a_protocol() {
    let catalogue = load(MANIFEST).unwrap();
    let rows = |words: &str| select(&catalogue, words.split(',')).unwrap();
    let found = rows("mux+tls,mux:slow+h2,mux+h2c@2,mux+h2c,raw-socket+h2");
    assert_eq!(labels(&found), ["mux+tls", "mux:slow+h2", "mux+h2c@2", "mux+h2c", "raw-socket+h2"]);
    let of = |row: &Row| (row.service.id.clone(), row.service.protocol, row.service.word());
    assert_eq!(of(&found[1]), ("mux:slow".to_owned(), Protocol::H2, "mux:slow+h2".to_owned()));
    assert_eq!(of(&found[2]), ("mux".to_owned(), Protocol::H2c, "mux+h2c".to_owned()));
    let differences: Vec<_> = found.iter().map(|row| row.service.difference().unwrap()).collect();
    assert_eq!(differences, ["http/1.1 over TLS", "slower, h2", "h2c", "h2c", "h2"]);
    assert_eq!(found[1].service.why_not_asked().unwrap(), "this service does not offer h2");
    assert_eq!(found[4].service.why_not_asked(), None);
    assert_eq!(labels(&rows("group:go+h2,mux+h2c")), ["mux+h2", "mux:slow+h2", "mux+h2c"]);
    let error = select(&catalogue, ["mux+h3"]).unwrap_err().to_string();
    assert!(error.starts_with("unknown service \"mux+h3\""), "{error}");
}

#[test]
fn each_row_in_each_protocol() {
    let catalogue = load(MANIFEST).unwrap();
    let rows = select(&catalogue, ["mux", "mux@2", "mux:slow+tls", "mux+h2"]).unwrap();
    let each = in_each(rows, &[Protocol::Http1, Protocol::H2]);
    assert_eq!(labels(&each), ["mux", "mux+h2", "mux@2", "mux+h2@2", "mux:slow+tls"]);
    for row in &each {
        assert_eq!(
            row.service.protocol,
            protocol::split(row.label.trim_end_matches("@2")).1.unwrap_or_default()
        );
    }
}

#[test]
fn every_row_of_the_project_has_an_id_of_its_own() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let contracts = tare_contract::Contract::load_all(&root.join("contracts")).unwrap();
    let names: Vec<&str> = contracts.keys().map(String::as_str).collect();
    let catalogue = Catalogue::load(&root, &names, RawSocket::default()).unwrap();
    let broken: Vec<String> = catalogue.broken.iter().map(|broken| broken.error.to_string()).collect();
    assert_eq!(broken, [] as [&str; 0]);
    let mut ids: Vec<&str> = catalogue.services.iter().map(|service| service.id.as_str()).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "an id is the name of one row");
    for service in &catalogue.services {
        assert!(service.folder.starts_with(&service.build_root), "{}", service.id);
    }
}

#[test]
fn one_wrong_manifest_leaves_the_others_usable() {
    let root = tempfile::tempdir().unwrap();
    for (folder, text) in [("go/mux", MANIFEST), ("go/wrong", "format = \"1.0\"\n"), ("go/empty", "")] {
        fs::create_dir_all(root.path().join("services").join(folder)).unwrap();
        fs::write(root.path().join("services").join(folder).join("service.toml"), text).unwrap();
    }
    fs::create_dir_all(root.path().join("services/go/without-manifest")).unwrap();
    let catalogue = Catalogue::load(root.path(), &["hello", "rest"], RawSocket::default()).unwrap();
    let broken: Vec<&str> = catalogue.broken.iter().map(|broken| broken.name.as_str()).collect();
    assert_eq!(broken, ["empty", "wrong"]);
    assert_eq!(catalogue.services.len(), 3);
    let error = select(&catalogue, ["wrong"]).unwrap_err();
    assert!(error.to_string().starts_with("\"wrong\" cannot be used: "), "{error}");
    assert_eq!(error.word(), "wrong");
}

#[test]
fn a_name_is_taken_once_in_all_languages() {
    let root = tempfile::tempdir().unwrap();
    for language in ["go", "rust"] {
        let folder = root.path().join("services").join(language).join("mux");
        fs::create_dir_all(&folder).unwrap();
        let text = MANIFEST.replacen("\"go\"", &format!("{language:?}"), 1);
        fs::write(folder.join("service.toml"), text).unwrap();
    }
    let catalogue = Catalogue::load(root.path(), &["hello", "rest"], RawSocket::default()).unwrap();
    let error = catalogue.broken[0].error.to_string();
    assert!(error.contains("name \"mux\" is taken by ") && error.ends_with("names are unique"), "{error}");
}

#[test]
fn a_manifest_says_in_which_protocols_it_may_be_asked() {
    let with = |keys: &str, end: &str| {
        let text = MANIFEST.replacen("style ", &format!("{keys}\nstyle "), 1);
        load(&text.replacen("[[variant]]", &format!("{end}\n[[variant]]"), 1))
    };
    let offers =
        |catalogue: &Catalogue, id: &str| Protocol::ALL.map(|p| catalogue.get(id).unwrap().offers(p));
    let catalogue = with("", "").unwrap();
    assert_eq!(offers(&catalogue, "raw-socket"), [true; 4]);
    assert_eq!(offers(&catalogue, "mux"), [true, false, false, false]);
    let mux = catalogue.get("mux").unwrap();
    assert_eq!(mux.why_not(Protocol::Http1), None);
    assert_eq!(mux.why_not(Protocol::H2).unwrap(), "this service does not offer h2");
    let own = "[[not-offered]]\nprotocol = \"h2c\"\nwhy = \"its author refuses\"";
    let catalogue = with("protocols = [\"http/1.1\", \"h2\"]\ntls = true", own).unwrap();
    for id in ["mux", "mux:slow"] {
        assert_eq!(offers(&catalogue, id), [true, true, true, false], "{id}");
        assert_eq!(catalogue.get(id).unwrap().why_not(Protocol::H2c).unwrap(), "its author refuses");
    }
    let catalogue = with("protocols = [\"h2\"]\ntls = true", "").unwrap();
    assert_eq!(offers(&catalogue, "mux"), [false, false, true, false]);
    assert!(
        command::service("x", vec![], Path::new(".")).offers(Protocol::Http1),
        "a command has no manifest"
    );
}

#[test]
fn mistakes_about_protocols_say_what_to_write() {
    let error = |keys: &str, end: &str| {
        let text = MANIFEST.replacen("style ", &format!("{keys}\nstyle "), 1) + end;
        load(&text).unwrap_err().replace("ROOT/services/go/mux/service.toml", "F")
    };
    let reason = |protocol: &str| format!("[[not-offered]]\nprotocol = \"{protocol}\"\nwhy = \"so\"\n");
    assert_eq!(error("protocols = []", ""), "F:9: at least one protocol is needed, such as \"http/1.1\"");
    assert_eq!(
        error("protocols = [\"h3\"]", ""),
        "F:9: unknown value \"h3\"; valid names are: http/1.1, h2, h2c"
    );
    assert_eq!(error("protocols = [\"h2c\", \"h2c\"]", ""), "F:9: \"h2c\" stands twice");
    assert_eq!(error("protocols = [\"h2\"]", ""), "F:9: \"h2\" runs over TLS: say tls = true");
    assert_eq!(
        error("protocols = [\"h2c\"]\ntls = true", ""),
        "F:10: \"h2c\" alone does not run over TLS: leave tls out"
    );
    let tls = "tls = true";
    assert_eq!(error(tls, &reason("tls")), "F:23: \"tls\" is offered: it needs no reason why not");
    assert_eq!(error(tls, &(reason("h2") + &reason("h2"))), "F:23: \"h2\" has two reasons: give one");
    assert_eq!(
        error(tls, &reason("ssl")),
        "F:24: unknown value \"ssl\"; valid names are: http/1.1, tls, h2, h2c"
    );
}

#[test]
fn a_build_root_is_a_folder_above_the_service() {
    let with = |root: &str| load(&MANIFEST.replacen("style ", &format!("build-root = {root:?}\nstyle "), 1));
    let catalogue = with("../..").unwrap();
    let mux = catalogue.get("mux").unwrap();
    assert!(mux.build_root.ends_with("services"));
    assert_eq!(mux.within_build_root(), Path::new("go/mux"));
    for wrong in ["/", "..x", "../build", "build", "./.."] {
        assert!(with(wrong).unwrap_err().contains("is no folder above the service's"), "{wrong}");
    }
}

#[test]
fn an_empty_command_is_refused() {
    for (right, key) in
        [("[\"./build/service\", \"--version\"]", "version"), ("[\"./build/service\"]\nready", "run")]
    {
        let wrong = if key == "run" { "[]\nready" } else { "[]" };
        let error = load(&MANIFEST.replacen(right, wrong, 1)).unwrap_err();
        assert!(error.ends_with("a command needs at least the program"), "{key}: {error}");
    }
}

proptest! {
    #[test]
    fn labels_become_names_of_files(label in "[ -~é]{1,20}") {
        let name = file_name(&label);
        prop_assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.+".contains(c)), "{}", name);
        prop_assert_eq!(name.chars().count(), label.chars().count());
    }

    #[test]
    fn no_word_makes_a_row_of_another_service(word in "(mux|slow|group|all|raw-socket|go|tls|h2c?|[+:@0-9,]){1,4}") {
        let catalogue = load(MANIFEST).unwrap();
        for row in select(&catalogue, [word.as_str()]).unwrap_or_default() {
            let (id, _) = row.label.split_once('@').unwrap_or((&row.label, ""));
            prop_assert_eq!(id, &row.service.word());
        }
    }

    #[test]
    fn no_change_of_one_character_makes_the_parser_panic(at in 0..MANIFEST.len(), with in "[\"=\\[\\]{}a-z0-9\n]") {
        let mut text = MANIFEST.to_owned();
        text.replace_range(at..=at, &with);
        if let Err(error) = load(&text) {
            prop_assert!(error.starts_with("ROOT/services/go/mux/service.toml:"), "{}", error);
        }
    }
}

#[test]
fn a_manifest_names_its_source_in_full() {
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let source = format!(
        "[[source]]\ngit = \"https://example.org/a\"\ncommit = \"{commit}\"\ntree = \"{commit}\"\ninto = \"vendor/a\"\n"
    );
    let build = "[[build]]\ncommand = [\"make\"]\n";
    let with = |text: &str| load(&MANIFEST.replacen("[run]", &format!("{text}[run]"), 1));
    let catalogue = with(&format!("{source}{build}")).unwrap();
    for id in ["mux", "mux:slow"] {
        let [found] = catalogue.get(id).unwrap().sources.as_slice() else { panic!("{id}") };
        assert_eq!((found.commit.as_str(), found.into.to_str()), (commit, Some("vendor/a")));
        assert_eq!(found.command(), ["git", "fetch", "https://example.org/a", commit]);
    }
    let within = source.replace("vendor/a", "vendor/a/b");
    assert!(with(&format!("{source}{within}{build}")).is_ok(), "as a submodule lies");
    let changed = |from: &str, to: &str| format!("{}{build}", source.replace(from, to));
    let patched = |patch: &str| format!("{source}patch = [\"{patch}\"]\n{build}");
    assert!(with(&patched("linux.patch")).is_ok());
    let wrong = [
        changed("https://example.org/a", "../a"),
        changed("https://example.org/a", "ext::sh -c id"),
        changed("https://example.org/a", "https://"),
        changed(commit, "v1.3"),
        changed(commit, &commit.to_uppercase()),
        changed("vendor/a", "../a"),
        changed("vendor/a", "/a"),
        changed("vendor/a", "."),
        changed("vendor/a", ""),
        patched("../a.patch"),
        changed("tree", "trees"),
        format!("{source}{source}{build}"),
        format!("{within}{source}{build}"),
        source.clone(),
    ];
    let errors: String = wrong.iter().map(|text| with(text).unwrap_err() + "\n").collect();
    insta::assert_snapshot!(errors, @r#"
    ROOT/services/go/mux/service.toml:13: "../a" is no URL of a git repository, such as "https://HOST/PATH"
    ROOT/services/go/mux/service.toml:13: "ext::sh -c id" is no URL of a git repository, such as "https://HOST/PATH"
    ROOT/services/go/mux/service.toml:13: "https://" is no URL of a git repository, such as "https://HOST/PATH"
    ROOT/services/go/mux/service.toml:14: commit "v1.3" is no full name: it has 40 digits of 0 to 9 and a to f
    ROOT/services/go/mux/service.toml:14: commit "0123456789ABCDEF0123456789ABCDEF01234567" is no full name: it has 40 digits of 0 to 9 and a to f
    ROOT/services/go/mux/service.toml:16: "../a" is no path within the service's folder
    ROOT/services/go/mux/service.toml:16: "/a" is no path within the service's folder
    ROOT/services/go/mux/service.toml:16: "." is no path within the service's folder
    ROOT/services/go/mux/service.toml:16: "" is no path within the service's folder
    ROOT/services/go/mux/service.toml:17: "../a.patch" is no path within the service's folder
    ROOT/services/go/mux/service.toml:15: unknown key "trees"; did you mean "tree"?
    ROOT/services/go/mux/service.toml:16: two sources go into "vendor/a"
    ROOT/services/go/mux/service.toml:21: the source into "vendor/a" must stand before that into "vendor/a/b"
    ROOT/services/go/mux/service.toml:12: a [[source]] is for a build, and there is no [[build]]
    "#);
}

#[test]
fn a_step_that_shares_is_one_of_cargo_and_leaves_its_folder_to_tare() {
    let with = |command: &str| {
        let step = format!("[[build]]\ncommand = [{command}]\nshares = \"cargo\"\n[run]");
        load(&MANIFEST.replacen("[run]", &step, 1))
    };
    let catalogue = with("\"cargo\", \"build\", \"--release\"").unwrap();
    assert_eq!(catalogue.get("mux").unwrap().build[0].shares, Some(StepShares::Cargo));
    assert!(with("\"make\"").unwrap_err().contains("for a step whose program is cargo"));
    let error = with("\"cargo\", \"build\", \"--target-dir\", \"target\"").unwrap_err();
    assert!(error.contains("has no --target-dir"), "{error}");
    assert!(
        load(&MANIFEST.replacen("[run]", "[[build]]\ncommand = [\"x\"]\nshares = \"go\"\n[run]", 1)).is_err()
    );
}

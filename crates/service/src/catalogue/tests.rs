use std::fs;

use super::*;

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
    assert_eq!(slow.env.keys().collect::<Vec<_>>(), ["A", "B"]);
    assert!(!slow.keeps_connections);
}

#[test]
fn a_contract_may_need_arguments() {
    let catalogue = load(MANIFEST).unwrap();
    let command = |id: &str, contract: &str| catalogue.get(id).unwrap().command_for(contract).join(" ");
    assert_eq!(command("mux", "hello"), "./build/service");
    for id in ["mux", "mux:slow"] {
        assert_eq!(command(id, "rest"), "./build/service --rest");
    }
    let contracts = vec!["hello".to_owned()];
    let reference = built_in_raw_socket(Path::new("."), RawSocket { program: "tare".into(), contracts });
    assert_eq!(reference.command_for("hello").join(" "), "tare raw-socket --contract hello");
}

#[test]
fn mistakes_name_the_file_the_key_and_the_nearest_name() {
    let cases = [
        ("contracts = ", "contrats = ", "unknown key \"contrats\"; did you mean \"contracts\"?"),
        ("[\"hello\"", "[\"helo\"", "unknown contract \"helo\"; did you mean \"hello\"?"),
        ("\"mux\"", "\"max\"", "name \"max\" is not the folder's: \"mux\""),
        ("\"go\"", "\"golang\"", "language \"golang\" is not the parent folder's: \"go\""),
        ("\"framework\"\n", "\"framwork\"\n", "unknown value \"framwork\"; did you mean \"framework\"?"),
        ("\"10s\"", "\"soon\"", "failed to parse"),
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

use std::os::unix::fs::symlink;

use super::*;

/// A work tree with a service in `shop/`, and the folder of all trees beside it.
fn site() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let root = tempfile::tempdir().unwrap();
    let top = root.path().canonicalize().unwrap();
    let (work_tree, trees) = (top.join("work"), top.join("home/builds"));
    fs::create_dir_all(work_tree.join(".git")).unwrap();
    fs::create_dir_all(work_tree.join("shop")).unwrap();
    fs::create_dir_all(&trees).unwrap();
    (root, work_tree, trees)
}

fn apart(work_tree: &Path, trees: &Path, variables: &[(&str, String)]) -> Apart {
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
    Apart::new(&work_tree.join("shop"), trees, variables)
}

#[test]
fn variables_that_lead_into_the_work_tree_or_to_packages_are_left_out() {
    let (_root, work, trees) = site();
    let inner = |path: &str| work.join(path).display().to_string();
    let path = format!("{}:/usr/bin:{}", inner(".venv/bin"), inner(".tare/tools/bin"));
    let own = apart(
        &work,
        &trees,
        &[
            ("PATH", path),
            ("VIRTUAL_ENV", inner(".venv")),
            ("PYTHONPATH", format!("src:{}:/srv/lib", inner("lib"))),
            ("NODE_PATH", "/srv/node".to_owned()),
            ("NODE_OPTIONS", format!("--require {}", inner("hook.js"))),
            ("CARGO_HOME", inner(".cargo")),
            ("CARGO_TARGET_DIR", "/tmp/target".to_owned()),
            ("PWD", inner("")),
            ("TARE_HOME", inner("home")),
            ("OTHER", format!("{}x", inner("").trim_end_matches('/'))),
        ],
    );
    assert_eq!((own.work_tree(), own.within(&work.join("shop"))), (work.as_path(), PathBuf::from("shop")));
    let (mut set, unset) = own.environment(&trees.join("1"), &trees.join("1"));
    set.sort();
    let pairs: Vec<String> = set.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let tools = inner(".tare/tools/bin");
    let place = trees.join("1").display().to_string();
    assert_eq!(
        pairs,
        [format!("PATH=/usr/bin:{tools}"), format!("PWD={place}"), "PYTHONPATH=src".to_owned()]
    );
    assert_eq!(unset, ["VIRTUAL_ENV", "NODE_PATH", "NODE_OPTIONS", "CARGO_TARGET_DIR", "PWD"]);
    let left_out = [
        format!("{} of PATH", inner(".venv/bin")),
        "VIRTUAL_ENV".to_owned(),
        format!("{} of PYTHONPATH", inner("lib")),
        "/srv/lib of PYTHONPATH".to_owned(),
        "/srv/node of NODE_PATH".to_owned(),
        "NODE_OPTIONS".to_owned(),
        "CARGO_TARGET_DIR".to_owned(),
    ];
    assert_eq!(own.left_out(), left_out);
}

#[test]
fn an_environment_elsewhere_is_not_that_of_each_revision_and_their_own_comes_first() {
    let (_root, work, trees) = site();
    let given = [("PATH", "/envs/a/bin:/usr/bin".to_owned()), ("VIRTUAL_ENV", "/envs/a".to_owned())];
    let own = apart(&work, &trees, &given);
    let tree = trees.join("1");
    fs::create_dir_all(tree.join("venv/bin")).unwrap();
    fs::write(tree.join("venv/bin/python"), "").unwrap();
    let (set, unset) = own.environment(&tree.join("shop"), &tree);
    let value = |name: &str| set.iter().find(|(key, _)| key == name).unwrap().1.clone();
    let venv = tree.join("venv").display().to_string();
    assert_eq!((value("PATH"), value("VIRTUAL_ENV")), (format!("{venv}/bin:/usr/bin"), venv));
    assert_eq!(unset, ["VIRTUAL_ENV"]);
}

#[test]
fn words_that_lead_into_the_work_tree_are_refused_with_those_that_do_not() {
    let (root, work, trees) = site();
    let own = apart(&work, &trees, &[]);
    let link = root.path().join("link");
    symlink(&work, &link).unwrap();
    let check = |words: &[&str]| {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        own.check_words(&words, Path::new("shop")).map_err(|error| error.to_string())
    };
    let venv = work.join("shop/.venv/bin/uvicorn").display().to_string();
    let refused = check(&[&venv, "a:app"]).unwrap_err();
    assert!(refused.starts_with(&format!("\"{venv}\" leads into your work tree")), "{refused}");
    assert!(refused.contains("as .venv/bin/uvicorn, and each has its own"), "{refused}");
    for word in [
        format!("--config={}", work.join("a.toml").display()),
        format!("cd {} && node a.js", work.display()),
        format!("PYTHONPATH=/x:{} python a.py", work.join("lib").display()),
        link.join("a.js").display().to_string(),
    ] {
        assert!(check(&["x", &word]).unwrap_err().contains("leads into your work tree"), "{word}");
    }
    // Such as the Python of a virtual environment.
    symlink("/usr/bin/env", work.join("python")).unwrap();
    let python = work.join("python").display().to_string();
    assert!(check(&[&python, "a.py"]).unwrap_err().contains("leads into your work tree"));
    assert!(check(&["node", "../../a.js"]).unwrap_err().contains("leads out of the repository"));
    let beside = format!("{}-other/a.js", work.display());
    assert_eq!(check(&["node", "../a.js", "/usr/lib/x.js", &beside, "http://127.0.0.1/x"]), Ok(()));
}

#[test]
fn what_processes_work_with_is_theirs_or_the_systems() {
    let (_root, work, trees) = site();
    let own = apart(&work, &trees, &[]);
    let tree = trees.join("1");
    let prove = |path: &Path| {
        let files = ["/usr/bin/node".into(), "/u/.nvm/v20/bin/node".into(), path.to_owned()].into();
        let in_use = InUse { files, ..InUse::default() };
        let of_service = [tree.clone(), work.join("out/logs"), work.join("out/table")];
        own.prove(&in_use, &of_service, &[]).map_err(|error| error.to_string())
    };
    for fine in [
        tree.join("node_modules/a/a.node"),
        work.join(".tare/runs/1/stdout"),
        work.join("out/logs/a.stdout"),
        work.join("out/table"),
        "/usr/lib/python3/dist-packages/a.so".into(),
        "/u/.nvm/v20/lib/node_modules/npm/a.node".into(),
        "/u/go/pkg/mod/a@v1/gems/a.so".into(),
        "/srv/data.db".into(),
    ] {
        assert_eq!(prove(&fine), Ok(()), "{fine:?}");
    }
    for (foreign, whose) in [
        (work.join("node_modules/a/a.node"), "is of your work tree"),
        (work.clone(), "is of your work tree"),
        (trees.join("2/node_modules/a/a.node"), "is of another revision"),
        ("/u/.local/lib/python3.11/site-packages/a.so".into(), "is a package outside of its tree"),
        ("/u/node_modules/a/a.node".into(), "is a package outside of its tree"),
    ] {
        let refused = prove(&foreign).unwrap_err();
        let wanted = format!("it works with {}, which {whose}: ", foreign.display());
        assert!(refused.starts_with(&wanted), "{refused}");
    }
}

#[test]
fn words_and_variables_of_processes_lead_nowhere_else() {
    let (_root, work, trees) = site();
    let own = apart(&work, &trees, &[]);
    let python = work.join(".venv/bin/python").display().to_string();
    let prove =
        |in_use: InUse| own.prove(&in_use, &[trees.join("1")], &[]).map_err(|error| error.to_string());
    let refused = prove(InUse { words: [python.clone()].into(), ..InUse::default() }).unwrap_err();
    assert!(refused.starts_with(&format!("it works with {python}, which is of your work tree")), "{refused}");
    let variable = format!("PYTHONPATH={}", work.join("lib").display());
    let refused = prove(InUse { variables: [variable.clone()].into(), ..InUse::default() }).unwrap_err();
    assert!(refused.starts_with(&format!("it runs with {variable}")), "{refused}");
    let given = [("A".to_owned(), work.display().to_string())];
    let in_use = InUse { variables: [format!("A={}", work.display())].into(), ..InUse::default() };
    own.prove(&in_use, &[], &given).unwrap();
    let kept = format!("CARGO_HOME={}", work.join(".cargo").display());
    assert_eq!(prove(InUse { variables: [kept, "A=b".to_owned()].into(), ..InUse::default() }), Ok(()));
}

#[test]
fn links_and_lists_of_paths_stay_in_the_tree() {
    let (_root, work, trees) = site();
    let own = apart(&work, &trees, &[]);
    let tree = trees.join("1");
    let packages = tree.join("node_modules");
    let site = tree.join(".venv/lib/python3/site-packages");
    fs::create_dir_all(&packages).unwrap();
    fs::create_dir_all(&site).unwrap();
    fs::create_dir_all(tree.join("lib")).unwrap();
    fs::write(site.join("own.pth"), format!("import x\n{}\n", tree.join("lib").display())).unwrap();
    symlink("../lib", packages.join("lib")).unwrap();
    symlink("/usr/bin/env", tree.join("python")).unwrap();
    own.check_links(&tree).unwrap();
    let refused = |link: &Path, to: &Path| {
        symlink(to, link).unwrap();
        let error = own.check_links(&tree).unwrap_err().to_string();
        fs::remove_file(link).unwrap();
        error
    };
    let of_work = refused(&tree.join("data"), &work.join("shop"));
    assert!(
        of_work.contains("/data leads to ") && of_work.contains("which is of your work tree"),
        "{of_work}"
    );
    let elsewhere = tempfile::tempdir().unwrap();
    let linked = refused(&packages.join("x"), elsewhere.path());
    assert!(linked.contains("which is a package outside of its tree"), "{linked}");
    fs::write(site.join("x.pth"), format!("{}\n", trees.join("2/lib").display())).unwrap();
    let listed = own.check_links(&tree).unwrap_err().to_string();
    assert!(
        listed.contains("x.pth leads to ") && listed.contains("which is of another revision"),
        "{listed}"
    );
}

#[test]
fn nothing_lies_above_a_tree_where_packages_are_looked_for() {
    let (_root, work, trees) = site();
    let own = apart(&work, &trees, &[]);
    let tree = trees.join("1");
    own.check_above(&tree).unwrap();
    let met = trees.parent().unwrap().join("node_modules");
    fs::create_dir(&met).unwrap();
    let refused = own.check_above(&tree).unwrap_err().to_string();
    assert!(
        refused.starts_with(&format!("{} lies above the folder of the revision", met.display())),
        "{refused}"
    );
}

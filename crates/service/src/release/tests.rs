use std::fs;

use super::*;

/// A service in a folder with these files and these build steps.
fn service(files: &[(&str, &str)], build: &[&str]) -> (tempfile::TempDir, Service) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let step =
        |line: &&str| Step { command: line.split(' ').map(str::to_owned).collect(), ..Step::default() };
    let service = Service {
        id: "shop".to_owned(),
        name: "shop".to_owned(),
        folder: folder.path().to_owned(),
        build: build.iter().map(step).collect(),
        ..Service::default()
    };
    (folder, service)
}

/// The build steps with `word`, or the error.
fn steps(service: &Service, word: &str) -> Vec<String> {
    match PinnedRelease::of_word(service, word).and_then(|release| set(service, &release)) {
        Ok(made) => made.build.iter().map(|step| step.command.join(" ")).collect(),
        Err(error) => vec![error.to_string().replace(&service.folder.display().to_string(), "FOLDER")],
    }
}

fn of_package(url: &str, service: Service) -> Service {
    Service { package: Some(url.parse().unwrap()), ..service }
}

#[test]
fn each_ecosystem_sets_a_release_by_its_own_tool() {
    let (_kept, npm) = service(&[("package.json", "{}")], &["npm ci"]);
    let set_exactly = "npm install --package-lock-only --save-exact --no-audit --no-fund";
    let scoped = format!("{set_exactly} @koa/router@15.6.0");
    assert_eq!(steps(&npm, "@koa/router@15.6.0"), [scoped.as_str(), "npm ci"]);
    let koa = of_package("pkg:npm/koa", npm);
    assert_eq!(steps(&koa, "2.16.0"), [&format!("{set_exactly} koa@2.16.0"), "npm ci"]);
    assert_eq!(steps(&koa, "@koa/router@15.6.0"), [scoped.as_str(), "npm ci"]);
    assert_eq!(steps(&koa, "pkg:npm/%40koa/router@15.6.0"), [scoped.as_str(), "npm ci"]);
    let bare = Service { build: Vec::new(), ..koa };
    assert_eq!(steps(&bare, "3.3.0"), ["npm install --save-exact --no-audit --no-fund koa@3.3.0"]);

    let manifest = "[dependencies]\naxum = \"0.8\"\n";
    let (_kept, cargo) = service(&[("Cargo.toml", manifest)], &["cargo build --locked"]);
    let asked_for = ["cargo add --quiet axum@=0.7.9", "cargo fetch", "cargo build --locked"];
    assert_eq!(steps(&cargo, "axum@0.7.9"), asked_for);
    assert_eq!(steps(&cargo, "hyper@1.4.1"), ["cargo update hyper --precise 1.4.1", "cargo build --locked"]);

    let (_kept, go) = service(&[("go.mod", "module x\n")], &["go build"]);
    let chi = of_package("pkg:golang/github.com/go-chi/chi/v5", go);
    for version in ["5.0.12", "v5.0.12"] {
        let expected = ["go get github.com/go-chi/chi/v5@v5.0.12", "go mod tidy", "go build"];
        assert_eq!(steps(&chi, version), expected);
    }

    assert_eq!(
        steps(&chi, "github.com/BurntSushi/toml@1.4.0")[0],
        "go get github.com/BurntSushi/toml@v1.4.0"
    );

    let build = ["python3 -m venv .venv", ".venv/bin/pip install -r requirements.txt", "make"];
    let (_kept, python) = service(&[], &build);
    let expected =
        [build[0], build[1], ".venv/bin/pip install flask==2.3.3", ".venv/bin/pip check", build[2]];
    assert_eq!(steps(&python, "flask@2.3.3"), expected);
    let (_kept, by_module) = service(&[], &["python3 -m pip install --user flask"]);
    assert_eq!(steps(&by_module, "flask@2.3.3")[1], "python3 -m pip install flask==2.3.3");
}

#[test]
fn what_cannot_be_set_is_refused_with_what_to_do() {
    let (_kept, npm) = service(&[("package.json", "{}")], &[]);
    let refused = |service: &Service, word: &str| steps(service, word).concat();
    let no_release = |word: &str| {
        format!(
            "\"{word}\" is not a release: write VERSION, PACKAGE@VERSION or a package URL, such as 2.16.0, koa@2.16.0 or pkg:npm/koa@2.16.0"
        )
    };
    for word in ["koa@^2.0.0", "koa@latest", "koa@", "@1.0.0", "-g@1.0.0", "pkg:npm/koa", "pkg:@1.0.0", ""] {
        assert_eq!(refused(&npm, word), no_release(word));
    }
    assert_eq!(
        refused(&npm, "2.16.0"),
        "\"2.16.0\": shop does not say which package it is of: write PACKAGE@VERSION, such as express@4.21.2"
    );
    assert_eq!(
        refused(&of_package("pkg:maven/io.netty/netty-codec-http", npm.clone()), "4.1.0"),
        "releases of \"maven\" packages cannot be set: only those of cargo, golang, npm and pypi"
    );
    assert_eq!(
        refused(&npm, "pkg:cargo/axum@0.8.4"),
        "FOLDER/Cargo.toml: not there: it is where cargo sets the release of a package"
    );
    let (_kept, two) = service(&[("package.json", "{}"), ("go.mod", "")], &[]);
    assert_eq!(
        refused(&two, "koa@2.16.0"),
        "FOLDER: it is not clear whose package koa is: write a package URL, such as pkg:npm/koa@1.0.0"
    );
    fs::write(two.folder.join("package.json"), "{\"dependencies\": {\"koa\": \"3\"}}").unwrap();
    assert!(refused(&two, "koa@2.16.0").starts_with("npm install "), "the file that names it tells");
    assert_eq!(
        refused(&two, "pkg:golang/example.org/x@1.0.0"),
        "shop has no build step: give it one as `build` in tare.toml, or in a service.toml"
    );
    assert_eq!(
        refused(&npm, "pkg:pypi/flask@2.3.3"),
        "shop has no build step that is a `pip install`: give it one as `build` in tare.toml, or in a service.toml"
    );
    let (_kept, yarn) = service(&[("package.json", "{}"), ("yarn.lock", "")], &[]);
    assert!(refused(&yarn, "koa@2.16.0").starts_with("FOLDER/yarn.lock: npm does not keep it"));
    let (_kept, broken) = service(&[("Cargo.toml", "[")], &["cargo build"]);
    assert!(refused(&broken, "axum@0.8.4").starts_with("FOLDER/Cargo.toml: TOML parse error"));
}

#[test]
fn the_id_is_taken_apart_again() {
    let (_kept, npm) = service(&[("package.json", "{}")], &["npm ci"]);
    let release = PinnedRelease::of_word(&npm, "@koa/router@15.6.0").unwrap();
    let made = set(&npm, &release).unwrap();
    assert_eq!(made.title.as_deref(), Some("release @koa/router 15.6.0"));
    assert_eq!(split(&made.id), ("shop", Some(release)));
    for plain in ["shop", "node a+b.js", "a+release:", "a+release:npm/koa", "node a.js --x+release:y"] {
        assert_eq!(split(plain), (plain, None));
    }
    let other = set(&npm, &PinnedRelease::of_word(&npm, "@koa/router@15.7.0").unwrap()).unwrap();
    assert!(made.id != other.id && made.name != other.name, "each is built for itself");
}

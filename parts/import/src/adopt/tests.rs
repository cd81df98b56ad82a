use std::{fs, path::PathBuf};

use super::*;

fn fixture(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/adopt/fixtures").join(path)
}

fn of(path: &str, test: Option<&str>) -> Adopted {
    adopt(&fixture(path), &AdoptWish { test, ..AdoptWish::default() }).unwrap()
}

#[test]
fn a_program_that_is_compiled_is_copied_out_of_the_stage_that_compiles_it() {
    insta::assert_snapshot!(of("arena/frameworks/pebble", None).manifest());
}

#[test]
fn packages_are_installed_into_an_environment_and_the_port_is_an_argument() {
    insta::assert_snapshot!(of("arena/frameworks/quill", None).manifest());
}

#[test]
fn files_of_the_repository_come_with_the_entry() {
    insta::assert_snapshot!(of("arena/frameworks/harbour", None).manifest());
}

#[test]
fn a_test_of_techempower_has_its_own_command() {
    let all = [None, Some("fork")].map(|test| of("techempower/frameworks/Go/cobble", test));
    insta::assert_snapshot!(all.map(|adopted| adopted.manifest()).join("\n\n"));
}

#[test]
fn a_reader_is_told_what_is_missing() {
    insta::assert_snapshot!(of("arena/frameworks/quill", None).readme());
}

#[test]
fn an_installation_into_the_system_needs_a_container() {
    let folder = fixture("techempower/frameworks/Go/cobble");
    let blocked =
        adopt(&folder, &AdoptWish { test: Some("library"), ..AdoptWish::default() }).unwrap_err().to_string();
    assert_eq!(
        blocked,
        "it cannot be built without a container engine: `make install`: it would install into this machine's own system. \
         With podman it can be tried in a container: --container podman"
    );
    let unknown =
        adopt(&folder, &AdoptWish { test: Some("frok"), ..AdoptWish::default() }).unwrap_err().to_string();
    assert!(unknown.ends_with("it has no test \"frok\", but default, fork, library"), "{unknown}");
    assert!(
        adopt(&fixture("arena"), &AdoptWish::default())
            .unwrap_err()
            .to_string()
            .contains("no entry of HttpArena")
    );
}

#[test]
fn in_a_container_the_image_is_the_entrys_own() {
    let entry = entry::read(&fixture("techempower/frameworks/Go/cobble"), Some("fork")).unwrap();
    let adopted = container::with_podman(&entry, &AdoptWish::default());
    let lines = adopted.build.iter().map(|step| &step.command).chain([&adopted.command]);
    insta::assert_snapshot!(lines.map(|words| words.join(" ")).collect::<Vec<_>>().join("\n"));
    assert_eq!(AdoptError::NoPodman.to_string().matches("apt-get install podman").count(), 1);
}

/// Tare can read the manifest that it writes, and the copied files equal the entry.
#[test]
fn what_is_written_is_a_service() {
    let contracts = ["httparena", "techempower"];
    for path in [
        "arena/frameworks/pebble",
        "arena/frameworks/quill",
        "arena/frameworks/harbour",
        "techempower/frameworks/Go/cobble",
    ] {
        let into = tempfile::tempdir().unwrap();
        let adopted = of(path, None);
        let folder = adopted.write(into.path()).unwrap();
        assert!(matches!(adopted.write(into.path()), Err(AdoptError::Taken { .. })));
        let services = into.path().join("root/services");
        fs::create_dir_all(services.parent().unwrap()).unwrap();
        fs::create_dir_all(services.join(&adopted.language)).unwrap();
        fs::rename(&folder, services.join(&adopted.language).join(&adopted.name)).unwrap();
        let raw_socket = tare_service::catalogue::RawSocket::default();
        let catalogue =
            tare_service::catalogue::Catalogue::load(&into.path().join("root"), &contracts, raw_socket)
                .unwrap();
        assert!(catalogue.broken.is_empty(), "{:?}", catalogue.broken);
        let service = catalogue.get(&adopted.name).unwrap();
        assert_eq!((&service.build, &service.run.command), (&adopted.build, &adopted.command));
        assert_eq!((&service.requires, service.run.port), (&adopted.requires, adopted.port));
        assert!(service.folder.join("entry").read_dir().unwrap().count() > 1, "{path}");
    }
    let into = tempfile::tempdir().unwrap();
    let folder = of("arena/frameworks/harbour", None).write(into.path()).unwrap();
    assert!(folder.join("repository/data/static/a.css").is_file());
}

/// A real shell runs the steps of fixtures; fake toolchains print their arguments.
#[test]
fn the_steps_of_a_build_fill_the_folders_of_its_stages() {
    use std::os::unix::fs::PermissionsExt;

    let into = tempfile::tempdir().unwrap();
    let adopted = of("techempower/frameworks/Go/cobble", None);
    let folder = adopted.write(into.path()).unwrap();
    let tools = into.path().join("tools");
    fs::create_dir(&tools).unwrap();
    let go = "#!/bin/sh\necho \"$GOAMD64 $*\" >> \"$LOG\"\ncase \"$1\" in\ninstall) mkdir -p \"$GOBIN\"; printf '#!/bin/sh\\necho gen >> \"$LOG\"\\n' > \
              \"$GOBIN/gen\"; chmod +x \"$GOBIN/gen\" ;;\nbuild) printf '#!/bin/sh\\necho \"$PWD $*\"\\n' > server; chmod +x server ;;\nesac\n";
    fs::write(tools.join("go"), go).unwrap();
    fs::set_permissions(tools.join("go"), fs::Permissions::from_mode(0o755)).unwrap();
    let run = |words: &[String]| {
        let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
        let mut command = std::process::Command::new(&words[0]);
        command.args(&words[1..]).current_dir(&folder).env("PATH", path).env("LOG", into.path().join("log"));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    adopted.build.iter().for_each(|step| drop(run(&step.command)));
    let words: Vec<String> = adopted.command.iter().map(|word| word.replace("{port}", "8123")).collect();
    assert_eq!(
        run(&words).trim(),
        format!("{}/stages/final -bind 127.0.0.1:8123", folder.canonicalize().unwrap().display())
    );
    let log = fs::read_to_string(into.path().join("log")).unwrap();
    assert_eq!(
        log,
        " mod download\n install example.org/gen@latest\ngen\nv3 build -ldflags=-s -w -o server .\n"
    );
    assert_eq!(run(&adopted.version).trim(), "1.2.3");
    assert!(
        folder.join("stages/final/usr/local/bin/gen").is_file(),
        "a tool that is copied lies where the image has it"
    );
}

#[test]
fn no_dockerfile_is_too_much() {
    for text in [
        "",
        "FROM",
        "FROM a\nCOPY --from=7 /x /y\nCMD [\"x\"]",
        "FROM final AS final\nFROM final\nCMD x",
        "FROM debian\nCMD ''",
    ] {
        let _ = interpreted(text);
    }
    let (steps, command) =
        interpreted("FROM debian\nWORKDIR /a b\nRUN echo $(cat /a b/c) '/a b'\nCMD [\"/x\", \"'\"]").unwrap();
    assert_eq!(steps.len(), 1);
    assert!(command[2].ends_with("exec \"$R\"/x \"'\""), "{}", command[2]);
}

//! Measures what a step compiles of a service's own: Cargo starts rustc by a script, which notes its CPU time.
//!
//! It changes no argument of rustc, and no hash of Cargo, so the products are the same as without it. A script of sh, not this
//! program: there are hundreds of starts, and for a crate of a registry the script becomes rustc.

use std::{collections::BTreeSet, env, fs, io, os::unix::fs::PermissionsExt, path::Path};

const SCRIPT: &str = "rustc";
const NOTES: &str = "compiled.txt";
/// Cargo's variable for the program that starts rustc. The user's own is started by the script.
const WRAPPER: &str = "RUSTC_WRAPPER";
const INNER: &str = "TARE_RUSTC_WRAPPER";

const TEXT: &str = r#"#!/bin/sh
# Started by Cargo in place of rustc. It notes the CPU time of a service's own crates, and the names of the others.
case " $TARE_OWN_PACKAGES " in
*" ${CARGO_PKG_NAME:-+} "*)
    ${TARE_RUSTC_WRAPPER:+"$TARE_RUSTC_WRAPPER"} "$@"
    status=$?
    { echo "own $CARGO_PKG_NAME"; times; } >>"$TARE_COMPILED"
    exit $status
    ;;
esac
[ -z "$CARGO_PKG_NAME" ] || echo "crate $CARGO_PKG_NAME $CARGO_PKG_VERSION" >>"$TARE_COMPILED"
exec ${TARE_RUSTC_WRAPPER:+"$TARE_RUSTC_WRAPPER"} "$@"
"#;

/// What a step has compiled.
#[derive(Debug, PartialEq)]
pub(super) struct Compiled {
    /// CPU time of rustc and its linker for the service's own packages; absent if none was compiled.
    pub(super) own_cpu_seconds: Option<f64>,
    /// Other packages.
    pub(super) crates: u32,
}

/// Writes the script and an empty file of notes. Returns the variables of the step.
pub(super) fn write(folder: &Path, own: &BTreeSet<String>) -> io::Result<Vec<(String, String)>> {
    let (script, notes) = (folder.join(SCRIPT), folder.join(NOTES));
    fs::write(&script, TEXT)?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
    fs::write(&notes, "")?;
    let own = own.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    let variables = [
        (WRAPPER, script.display().to_string()),
        ("TARE_COMPILED", notes.display().to_string()),
        ("TARE_OWN_PACKAGES", own),
        (INNER, env::var(WRAPPER).unwrap_or_default()),
        // If Cargo started this program, a question of Cargo to rustc would count as a crate.
        ("CARGO_PKG_NAME", String::new()),
    ];
    Ok(variables.map(|(name, value)| (name.to_owned(), value)).to_vec())
}

pub(super) fn read(folder: &Path) -> io::Result<Compiled> {
    Ok(parse(&fs::read_to_string(folder.join(NOTES))?))
}

/// Notes of an own package are `own NAME` and two lines of `times`: the shell itself, and what it started. Two scripts that end
/// at the same time may mix their lines, but a line stays whole.
fn parse(notes: &str) -> Compiled {
    let of_own = notes.lines().filter(|line| line.starts_with("own ")).count();
    let times = notes.lines().filter_map(|line| {
        let (user, system) = line.split_once(' ')?;
        Some(seconds(user)? + seconds(system)?)
    });
    let crates: BTreeSet<&str> = notes.lines().filter_map(|line| line.strip_prefix("crate ")).collect();
    Compiled {
        own_cpu_seconds: (of_own > 0).then(|| times.sum()),
        crates: u32::try_from(crates.len()).unwrap_or(u32::MAX),
    }
}

/// A time as a shell prints it: `1m2.50s`.
fn seconds(text: &str) -> Option<f64> {
    let (minutes, seconds) = text.trim().strip_suffix('s')?.split_once('m')?;
    Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.replace(',', ".").parse::<f64>().ok()?)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn notes_are_read() {
        let notes = "crate tokio 1.0.0\ncrate tokio 1.0.0\ncrate ring 0.17.0\nown mine\n0m0.010000s 0m0.000000s\n\
            1m2.500000s 0m0,250000s\nown mine\n0m0.000s 0m0.000s\n0m1.000s 0m0.000s\n";
        assert_eq!(parse(notes), Compiled { own_cpu_seconds: Some(63.76), crates: 2 });
        assert_eq!(parse("crate tokio 1.0.0\n"), Compiled { own_cpu_seconds: None, crates: 1 });
    }

    #[test]
    fn the_script_measures_own_packages_and_hands_on_arguments_and_status() {
        let folder = tempfile::tempdir().unwrap();
        let own = BTreeSet::from(["mine".to_owned(), "mine-too".to_owned()]);
        let variables = write(folder.path(), &own).unwrap();
        let busy =
            "i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done; [ \"$1\" = 'a b' ] || exit 9; exit 3";
        let run = |package: Option<&str>| {
            let mut command = Command::new(folder.path().join(SCRIPT));
            command
                .args(["sh", "-c", busy, "sh", "a b"])
                .envs(variables.clone())
                .env_remove("CARGO_PKG_NAME");
            command.env(INNER, "");
            command.envs(package.map(|name| ("CARGO_PKG_NAME", name))).env("CARGO_PKG_VERSION", "1.0.0");
            command.status().unwrap().code()
        };
        assert_eq!([run(None), run(Some("tokio")), run(Some("min"))], [Some(3); 3]);
        assert_eq!(read(folder.path()).unwrap(), Compiled { own_cpu_seconds: None, crates: 2 });
        assert_eq!([run(Some("mine")), run(Some("mine-too"))], [Some(3); 2]);
        let compiled = read(folder.path()).unwrap();
        assert!(compiled.own_cpu_seconds.is_some_and(|seconds| seconds >= 0.02), "{compiled:?}");
    }
}

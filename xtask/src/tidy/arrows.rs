//! Rule for crates: each uses only crates of lower layers.
//!
//! Works on lines: a name such as `tare_bench` in Rust code, or `tare-bench` as a key of a Cargo.toml. Cargo
//! itself accepts upward dependencies without circles, and any for tests.

use super::{File, Finding};

/// The crates, the lowest layer first. Crates of one layer are independent; those in `parts/` are below the command, and those in
/// `dev/` on top.
const LAYERS: [&[&str]; 12] = [
    &["base", "stats"],
    &["host", "load"],
    &["contract", "reference"],
    &["service"],
    &["bench"],
    &["analysis"],
    &["report"],
    &["agent", "audit", "import", "machines", "selftest", "site"],
    &["cluster"],
    &["cli"],
    &["crosscheck", "replay"],
    &["fuzz"],
];

/// One finding for each line that uses a crate of the same or a higher layer.
pub(super) fn check(file: &File) -> Vec<Finding> {
    let Some(own) = owner(&file.path) else { return Vec::new() };
    let named: fn(&str) -> Vec<&str> = match (file.extension(), file.name()) {
        ("rs", _) => named_in_rust,
        (_, "Cargo.toml") => named_in_manifest,
        _ => return Vec::new(),
    };
    let lines = file.text.lines().enumerate();
    let used = lines.flat_map(|(index, line)| named(line).into_iter().map(move |name| (index + 1, name)));
    used.filter(|(_, used)| *used != own && layer(used) >= layer(own))
        .map(|(line, used)| {
            let what = format!("{own} uses {used}, which is not below it");
            Finding::new(&file.path, line, what, "the layers are in ARCHITECTURE.md; move the code down")
        })
        .collect()
}

/// The crate that a file belongs to: the name of its folder.
fn owner(path: &str) -> Option<&str> {
    let below = ["crates/", "parts/", "dev/"].iter().find_map(|folder| path.strip_prefix(folder))?;
    below.split('/').next()
}

fn layer(name: &str) -> usize {
    LAYERS.iter().position(|layer| layer.contains(&name)).unwrap_or(LAYERS.len())
}

fn named_in_rust(line: &str) -> Vec<&str> {
    let code = line.split("//").next().unwrap_or_default();
    let after = code.match_indices("tare_").filter(|(at, _)| !code[..*at].ends_with(is_word));
    let names = after.map(|(at, prefix)| leading_word(&code[at + prefix.len()..]));
    names.filter(|name| is_crate(name)).collect()
}

fn named_in_manifest(line: &str) -> Vec<&str> {
    line.strip_prefix("tare-").map(leading_word).filter(|name| is_crate(name)).into_iter().collect()
}

fn is_crate(name: &str) -> bool {
    LAYERS.iter().any(|layer| layer.contains(&name))
}

fn leading_word(text: &str) -> &str {
    &text[..text.find(|c| !is_word(c)).unwrap_or(text.len())]
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let file = File { path: path.to_owned(), text: text.to_owned() };
        check(&file).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_crate_uses_what_is_below_it() {
        for (path, text) in [
            ("crates/bench/src/lib.rs", "use tare_service::Contract;\nuse tare_load::Settings;\n"),
            ("crates/bench/tests/a.rs", "let plan = tare_bench::Plan::new();\n"),
            ("crates/cli/src/main.rs", "use tare_selftest::Trial;\n"),
            ("dev/replay/src/lib.rs", "use tare_report::Document;\n"),
            ("crates/stats/Cargo.toml", "[dependencies]\nthiserror.workspace = true\n"),
            ("xtask/src/main.rs", "use tare_report::Document;\n"),
        ] {
            assert_eq!(found(path, text), [] as [&str; 0], "{path}");
        }
    }

    #[test]
    fn what_points_up_or_sideways_is_named_with_its_line() {
        for (path, text, own, used) in [
            ("crates/bench/src/run/plan.rs", "\nuse tare_analysis::Row;\n", "bench", "analysis"),
            ("crates/base/src/lib.rs", "\nlet n = tare_stats::mean(&[]);\n", "base", "stats"),
            ("crates/host/Cargo.toml", "[dependencies]\ntare-service.workspace = true\n", "host", "service"),
            ("crates/cli/src/main.rs", "\nuse tare_crosscheck::Shape;\n", "cli", "crosscheck"),
        ] {
            let found = found(path, text);
            assert_eq!(found.len(), 1, "{path}");
            assert!(
                found[0].starts_with(&format!("{path}:2: {own} uses {used}, which is not below it")),
                "{found:?}"
            );
        }
    }

    #[test]
    fn comments_and_other_names_are_no_use() {
        for line in
            ["//! [`tare_analysis::judge`]", "use x; // tare_report", "my_tare_report()", "tare_version"]
        {
            assert_eq!(found("crates/bench/src/lib.rs", line), [] as [&str; 0], "{line}");
        }
    }
}

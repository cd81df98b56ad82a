//! Rule for the modules of a crate: siblings form no circle.
//!
//! It reads paths that begin with `crate`, `super` or `self`, and follows names that a module imports from
//! its children. Tests are excluded, because they may use their users. A module and its own children may use
//! each other. Limits: a glob import counts for its module only, and paths from macros are not seen.

mod paths;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{File, Finding};
pub(super) use paths::code;
use paths::{Path, imports, mentions};

/// A module, as the names from the root of its crate.
type Module = Vec<String>;

/// One finding for each group of modules in a circle, with the lines that close it.
pub(super) fn check(files: &[File]) -> Vec<Finding> {
    let mut crates: BTreeMap<&str, Vec<Source>> = BTreeMap::new();
    for file in files {
        if let Some((name, source)) = Source::of(file) {
            crates.entry(name).or_default().push(source);
        }
    }
    crates.into_values().flat_map(|sources| circles(&sources)).collect()
}

/// The code of one module.
struct Source<'f> {
    file: &'f str,
    module: Module,
    code: String,
}

impl<'f> Source<'f> {
    /// The source and its crate; `None` for tests, and for files outside of a crate's modules.
    fn of(file: &'f File) -> Option<(&'f str, Source<'f>)> {
        let (name, inside) = file.path.split_once("/src/")?;
        let inside = inside.strip_suffix(".rs")?;
        let mut module: Module = inside.split('/').map(str::to_owned).collect();
        if module[0] == "bin" || module.iter().any(|part| part == "tests") {
            return None;
        }
        if module.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
            module.pop();
        }
        Some((name, Source { file: &file.path, module, code: paths::code(&file.text) }))
    }
}

/// The targets of a crate's paths.
struct Names {
    modules: BTreeSet<Module>,
    /// An imported name, and its original module.
    imported: BTreeMap<(Module, String), Module>,
}

impl Names {
    fn of(sources: &[Source]) -> Names {
        let modules = sources.iter().map(|source| source.module.clone()).collect();
        let mut names = Names { modules, imported: BTreeMap::new() };
        for source in sources {
            for path in imports(&source.code) {
                let Some(to) = names.target(&source.module, &path.parts) else { continue };
                let name = path.parts.last().cloned().unwrap_or_default();
                names.imported.insert((source.module.clone(), name), to);
            }
        }
        names
    }

    /// The module that a path in `from` refers to; `None` for a path of another crate.
    fn target(&self, from: &Module, parts: &[String]) -> Option<Module> {
        let mut at = match parts.first()?.as_str() {
            "crate" => Vec::new(),
            "self" | "super" => from.clone(),
            child => {
                let below = [from.clone(), vec![child.to_owned()]].concat();
                return self.modules.contains(&below).then(|| self.walk(below, &parts[1..]));
            }
        };
        let rest = parts.iter().position(|part| !["crate", "self", "super"].contains(&part.as_str()));
        let rest = rest.unwrap_or(parts.len());
        for _ in parts[..rest].iter().filter(|part| *part == "super") {
            at.pop()?;
        }
        Some(self.walk(at, &parts[rest..]))
    }

    fn walk(&self, mut at: Module, parts: &[String]) -> Module {
        for part in parts {
            at.push(part.clone());
            if !self.modules.contains(&at) {
                at.pop();
                return self.imported.get(&(at.clone(), part.clone())).cloned().unwrap_or(at);
            }
        }
        at
    }
}

/// The siblings that a module uses, each with the first place.
type Uses = BTreeMap<Module, BTreeMap<Module, (String, usize)>>;

fn circles(sources: &[Source]) -> Vec<Finding> {
    let names = Names::of(sources);
    let mut uses = Uses::new();
    for source in sources {
        for Path { parts, line } in mentions(&source.code) {
            let Some(to) = names.target(&source.module, &parts) else { continue };
            if let Some((user, used)) = siblings(&source.module, &to) {
                let place = (source.file.to_owned(), line);
                uses.entry(user).or_default().entry(used).or_insert(place);
            }
        }
    }
    let mut seen = BTreeSet::new();
    let mut findings = Vec::new();
    for start in uses.keys() {
        let Some(circle) = shortest_back(&uses, start) else { continue };
        if circle.iter().all(|module| seen.insert(module.clone())) {
            findings.push(finding(&uses, &circle));
        }
    }
    findings
}

/// The ancestors of `from` and `to` that are siblings; `None` if one contains the other.
fn siblings(from: &Module, to: &Module) -> Option<(Module, Module)> {
    let common = from.iter().zip(to).take_while(|(a, b)| a == b).count();
    let end = common + 1;
    (from.len() >= end && to.len() >= end).then(|| (from[..end].to_vec(), to[..end].to_vec()))
}

/// The shortest path from a module back to itself.
fn shortest_back(uses: &Uses, start: &Module) -> Option<Vec<Module>> {
    let mut ways = VecDeque::from([vec![start.clone()]]);
    let mut reached = BTreeSet::new();
    while let Some(way) = ways.pop_front() {
        for next in uses.get(way.last()?).into_iter().flat_map(BTreeMap::keys) {
            if next == start {
                return Some(way);
            }
            if reached.insert(next) {
                ways.push_back([way.clone(), vec![next.clone()]].concat());
            }
        }
    }
    None
}

fn finding(uses: &Uses, circle: &[Module]) -> Finding {
    let pairs = circle.iter().zip(circle.iter().cycle().skip(1));
    let places: Vec<(&Module, &(String, usize))> =
        pairs.map(|(user, used)| (used, &uses[user][used])).collect();
    let steps: Vec<String> = places
        .iter()
        .map(|(used, (file, line))| format!(" uses {} at {file}:{line}", used.join("::")))
        .collect();
    let what = format!("a circle of modules: {}{}", circle[0].join("::"), steps.join(", which"));
    let (file, line) = places[0].1;
    Finding::new(file, *line, what, "move what both need to a module of its own")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        check(&File::all(files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn siblings_that_use_each_other_are_named_with_both_lines() {
        let found = found(&[
            ("crates/x/src/a/mod.rs", "use crate::b::B;\n"),
            ("crates/x/src/b.rs", "\nfn f() { super::a::c::g() }\n"),
            ("crates/x/src/a/c.rs", "use super::D;\n"),
        ]);
        assert_eq!(found.len(), 1, "{found:?}");
        let expected = "crates/x/src/a/mod.rs:1: a circle of modules: a uses b at crates/x/src/a/mod.rs:1, \
                        which uses a at crates/x/src/b.rs:2 (";
        assert!(found[0].starts_with(expected), "{found:?}");
    }

    #[test]
    fn a_circle_within_a_module_and_through_its_names_is_found() {
        let found = found(&[
            ("crates/x/src/m/mod.rs", "mod a;\nmod b;\npub use b::{B, C as D};\n"),
            ("crates/x/src/m/a.rs", "use super::{\n    B,\n};\n"),
            ("crates/x/src/m/b.rs", "use super::a;\n"),
        ]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("m::a uses m::b at crates/x/src/m/a.rs:2, which uses m::a"), "{found:?}");
    }

    #[test]
    fn parents_tests_comments_and_other_crates_close_no_circle() {
        let files = [
            ("crates/x/src/lib.rs", "mod a;\nmod b;\npub use a::A;\n"),
            ("crates/x/src/a.rs", "use crate::b;\n#[cfg(test)]\nmod tests {\n    use crate::b;\n}\n"),
            ("crates/x/src/b.rs", "//! See [`crate::a`].\n#[cfg(test)]\nmod tests {\n    use crate::a;\n}\n"),
            ("crates/x/src/b/tests.rs", "use crate::a;\n"),
            ("crates/x/src/bin/y.rs", "use crate::a;\n"),
            ("crates/y/src/b.rs", "use crate::a;\n"),
        ];
        assert_eq!(found(&files), [] as [&str; 0]);
    }
}

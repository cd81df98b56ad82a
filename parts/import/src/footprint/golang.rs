//! Go: `go.mod` names the direct dependencies, the executable all linked ones. A module has its licence only
//! as text, so the manifest's licence counts.

use std::{fs, path::Path};

use super::{Package, ask::ask, executable, executable_bytes};
use tare_service::{catalogue::Service, footprint::Dependencies};

pub(super) fn read(service: &Service) -> Package {
    let direct = fs::read_to_string(service.folder.join("go.mod")).ok().map(|text| direct(&text));
    let linked = executable(service).and_then(|program| {
        let words = [Path::new("version"), Path::new("-m"), &program];
        linked(&ask(&service.folder, "go", words))
    });
    Package {
        licence: None,
        dependencies: Dependencies { direct, total: linked },
        artefact_bytes: executable_bytes(service),
    }
}

/// The number of modules in `require` that are not marked as indirect.
fn direct(text: &str) -> usize {
    let mut within = false;
    let mut count = 0;
    for line in text.lines().map(str::trim) {
        let named = line.starts_with("require ") || (within && !line.is_empty() && !line.starts_with("//"));
        match line {
            "require (" => within = true,
            ")" => within = false,
            line => count += usize::from(named && !line.ends_with("// indirect")),
        }
    }
    count
}

/// Counts lines `dep MODULE VERSION`; absent if the output does not name the program itself.
fn linked(text: &str) -> Option<usize> {
    let first = |line: &str| line.split_whitespace().next().map(str::to_owned);
    let words: Vec<String> = text.lines().filter_map(first).collect();
    words.iter().any(|word| word == "path").then(|| words.iter().filter(|word| *word == "dep").count())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_required_for_another_is_not_direct() {
        let text = "module x\n\ngo 1.25\n\nrequire a/b v1\n\nrequire (\n\t// why\n\tc v1 // indirect\n\td v2\n)\n\
            replace (\n\te => f v1\n)\n";
        assert_eq!(direct(text), 2);
        assert_eq!(direct("module x\n\ngo 1.25\n"), 0);
    }

    #[test]
    fn the_executable_lists_its_modules() {
        let text = "build/service: go1.26.8\n\tpath\ttare/gin\n\tmod\ttare/gin\t(devel)\n\tdep\ta/b\tv1\th1:x=\n\
            \tdep\tc\tv2\n\t=>\td\tv3\th1:y=\n\tbuild\t-compiler=gc\n";
        assert_eq!(linked(text), Some(2));
        assert_eq!(linked(""), None);
    }

    proptest! {
        #[test]
        fn requirements_count_in_and_outside_of_blocks(alone in 0_usize..4, within in 0_usize..4, indirect in 0_usize..4) {
            let alone_lines = "require a/b v1.2.3\n".repeat(alone);
            let block = format!("require (\n{}{})\n", "\tc/d v1\n".repeat(within), "\te/f v1 // indirect\n".repeat(indirect));
            prop_assert_eq!(direct(&format!("module x\n\n{alone_lines}\n{block}exclude y v1\n")), alone + within);
        }

        #[test]
        fn no_file_is_too_much(text in "(require |\\(|\\)|\n|\t|// indirect|dep|path|[a-zé/]{1,6}){0,30}") {
            prop_assert!(direct(&text) <= text.lines().count());
            let _any = linked(&text);
        }
    }
}

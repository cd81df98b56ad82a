//! Every input that is kept, without a fuzzer: seeds, and what was found once.

use std::{collections::BTreeSet, fs, path::PathBuf};

use proptest::prelude::*;
use tare_fuzz::{TARGETS, check};

fn corpus() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

fn inputs(target: &str) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(corpus().join(target)).unwrap_or_else(|error| panic!("corpus/{target}: {error}"));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

#[test]
fn what_must_hold_holds_of_every_input_that_is_kept() {
    for target in TARGETS {
        let paths = inputs(target.name);
        assert!(!paths.is_empty(), "corpus/{} is empty", target.name);
        for path in paths {
            eprintln!("{}", path.display());
            check(target.name, &fs::read(&path).unwrap());
        }
    }
}

#[test]
fn every_target_is_one_of_libfuzzer_and_has_a_folder() {
    let ours: BTreeSet<String> = TARGETS.iter().map(|target| target.name.to_owned()).collect();
    let wrapper = corpus().with_file_name("fuzz");
    let names = |folder: PathBuf, suffix: &str| -> BTreeSet<String> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        entries.map(|name| name.to_string_lossy().trim_end_matches(suffix).to_owned()).collect()
    };
    assert_eq!(names(wrapper.join("fuzz_targets"), ".rs"), ours);
    assert_eq!(names(corpus(), ""), ours);
}

/// A kept input with a piece replaced, which is nearer to what a reader takes than bytes of no kind.
fn mutant() -> impl Strategy<Value = (&'static str, Vec<u8>)> {
    let kept = prop::sample::select(TARGETS)
        .prop_flat_map(|target| (Just(target.name), prop::sample::select(inputs(target.name))));
    let piece = (any::<prop::sample::Index>(), 0..8_usize, prop::collection::vec(any::<u8>(), 0..8));
    (kept, prop::collection::vec(piece, 1..4)).prop_map(|((name, path), pieces)| {
        let mut input = fs::read(path).unwrap();
        for (at, length, bytes) in pieces {
            let at = at.index(input.len() + 1);
            let end = (at + length).min(input.len());
            input.splice(at..end, bytes);
        }
        (name, input)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn what_must_hold_holds_of_mutants((name, input) in mutant()) {
        check(name, &input);
    }
}

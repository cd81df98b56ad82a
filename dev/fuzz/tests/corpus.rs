//! Tests every stored input without a fuzzer: seeds, and former failures.

use std::{collections::BTreeSet, fs, path::Path};

use proptest::prelude::*;
use tare_fuzz::{TARGETS, check};

#[test]
fn what_must_hold_holds_of_every_input_that_is_kept() {
    for target in TARGETS {
        let inputs = target.inputs().unwrap();
        assert!(!inputs.is_empty(), "{} has no input", target.name);
        for path in inputs {
            eprintln!("{}", path.display());
            check(target.name, &fs::read(&path).unwrap());
        }
    }
}

#[test]
fn every_target_is_one_of_libfuzzer_and_no_folder_is_of_none() {
    let ours: BTreeSet<String> = TARGETS.iter().map(|target| target.name.to_owned()).collect();
    let names = |folder: &str, suffix: &str| -> BTreeSet<String> {
        let entries = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name());
        names.map(|name| name.to_string_lossy().trim_end_matches(suffix).to_owned()).collect()
    };
    assert_eq!(names("fuzz/fuzz_targets", ".rs"), ours);
    assert!(names("corpus", "").is_subset(&ours));
}

/// A stored input with a part replaced, which is closer to valid input than random bytes.
fn mutant() -> impl Strategy<Value = (&'static str, Vec<u8>)> {
    let kept = prop::sample::select(TARGETS)
        .prop_flat_map(|target| (Just(target.name), prop::sample::select(target.inputs().unwrap())));
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

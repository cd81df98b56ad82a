//! The licence of an entry's repository: the text in the entry's folder or above it.

use std::path::{Path, PathBuf};

use tare_host::foreign;

const NAMES: [&str; 6] = ["LICENSE", "LICENSE.md", "LICENSE.txt", "LICENCE", "COPYING", "UNLICENSE"];
const BYTES_MAX: u64 = 1 << 20;
/// Greatest depth of an entry in its repository.
const LEVELS: usize = 5;

/// A licence text and its identifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FoundLicence {
    pub path: PathBuf,
    /// SPDX identifier, if the text was recognised.
    pub spdx: Option<&'static str>,
}

pub(super) fn find(folder: &Path) -> Option<FoundLicence> {
    for above in folder.ancestors().take(LEVELS) {
        for path in NAMES.map(|name| above.join(name)) {
            if let Ok(bytes) = foreign::read(&path, BYTES_MAX) {
                let spdx = spdx(&String::from_utf8_lossy(&bytes));
                return Some(FoundLicence { path, spdx });
            }
        }
        // Folders above the repository do not belong to it.
        if above.join(".git").exists() {
            break;
        }
    }
    None
}

/// Recognises a licence by a phrase that only this licence contains.
fn spdx(text: &str) -> Option<&'static str> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let says = |words: &str| text.contains(words);
    match () {
        () if says("GNU AFFERO GENERAL PUBLIC LICENSE") => Some("AGPL-3.0-only"),
        () if says("GNU LESSER GENERAL PUBLIC LICENSE") => None,
        () if says("GNU GENERAL PUBLIC LICENSE Version 3") => Some("GPL-3.0-only"),
        () if says("GNU GENERAL PUBLIC LICENSE Version 2") => Some("GPL-2.0-only"),
        () if says("Mozilla Public License Version 2.0") || says("Mozilla Public License, version 2.0") => {
            Some("MPL-2.0")
        }
        () if says("Apache License Version 2.0") => Some("Apache-2.0"),
        () if says("Permission is hereby granted, free of charge, to any person obtaining a copy") => {
            Some("MIT")
        }
        () if says("Permission to use, copy, modify, and/or distribute this software") => Some("ISC"),
        () if says("Redistribution and use in source and binary forms")
            && says("endorse or promote products") =>
        {
            Some("BSD-3-Clause")
        }
        () if says("Redistribution and use in source and binary forms") => Some("BSD-2-Clause"),
        () if says("This is free and unencumbered software released into the public domain") => {
            Some("Unlicense")
        }
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_licence_of_the_repository_is_the_nearest_one_in_it() {
        let outside = tempfile::tempdir().unwrap();
        let repository = outside.path().join("repository");
        let entry = repository.join("frameworks/a");
        fs::create_dir_all(&entry).unwrap();
        fs::write(outside.path().join("LICENSE"), "Apache License\n Version 2.0").unwrap();
        fs::create_dir(repository.join(".git")).unwrap();
        assert_eq!(find(&entry), None);
        let text = "Redistribution and use in source and\nbinary forms ... to endorse or promote products";
        fs::write(repository.join("LICENSE"), text).unwrap();
        assert_eq!(find(&entry).unwrap().spdx, Some("BSD-3-Clause"));
        fs::write(entry.join("COPYING"), "all mine").unwrap();
        assert_eq!(find(&entry), Some(FoundLicence { path: entry.join("COPYING"), spdx: None }));
    }
}

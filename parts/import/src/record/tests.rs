//! Documents in commonly used shapes, each as its program writes it.

use std::{fmt::Write, fs, path::Path};

use super::*;
use tare_base::document::decoded;

/// Every document with its name.
fn corpus() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/record/corpus");
    let mut all = Vec::new();
    for kind in ["har", "openapi"] {
        for entry in fs::read_dir(folder.join(kind)).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{kind}/{}", entry.file_name().to_string_lossy());
            all.push((name, fs::read(entry.path()).unwrap()));
        }
    }
    all.sort();
    all
}

/// The recorded contract of a document, and the parts left out.
fn recorded(bytes: &[u8]) -> String {
    let wish = Wish { name: "corpus", writes: true, server: None };
    let text = decoded(bytes).unwrap();
    let recorded = match Material::read(&text).and_then(|material| record(material, &wish)) {
        Ok(recorded) => recorded,
        Err(error) => return format!("{error}\n"),
    };
    let mut said =
        format!("{} recorded, {} left out\n", recorded.learned.required.len(), recorded.left_out.len());
    for (asked, required) in &recorded.learned.required {
        let headers =
            asked.headers.iter().map(|(name, value)| format!(" [{name}: {value}]")).collect::<String>();
        let body = asked.body.iter().map(|body| format!(" {body:?}")).collect::<String>();
        writeln!(said, "  {asked}{headers}{body}\n    {required}").unwrap();
    }
    recorded.left_out.iter().for_each(|why| writeln!(said, "  - {why}").unwrap());
    said
}

#[test]
fn of_each_document_is_recorded_what_can_be_and_the_rest_is_told() {
    let all = corpus();
    assert!(all.len() >= 16, "{}", all.len());
    let told = all.iter().map(|(name, bytes)| format!("== {name}: {}", recorded(bytes)));
    insta::assert_snapshot!(told.collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_document_is_the_same_however_it_was_saved() {
    for (name, bytes) in corpus() {
        let text = decoded(&bytes).unwrap();
        let expected = recorded(&bytes);
        let windows = text.replace('\n', "\r\n");
        let utf16 = |unit: fn(u16) -> [u8; 2]| -> Vec<u8> {
            format!("\u{feff}{windows}").encode_utf16().flat_map(unit).collect()
        };
        for saved in [
            format!("\u{feff}{text}").into_bytes(),
            windows.clone().into_bytes(),
            utf16(u16::to_le_bytes),
            utf16(u16::to_be_bytes),
        ] {
            assert_eq!(recorded(&saved), expected, "{name}");
        }
    }
}

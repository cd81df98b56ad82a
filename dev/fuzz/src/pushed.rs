//! The network protocol between a job and the collector of its batch, and the files a job leaves there.

use std::path::{Component, Path};

use tare_agent::Token;
use tare_cluster::{
    AttemptRecord, BundleHead, StoredCertificate,
    push::{
        answer::answer_head,
        message::AssignedJob,
        proof::{Asked, PushKey},
        route::PushRoute,
        unpack::{BundlePiece, Unpack, UnpackError},
    },
};
use tare_selftest::Certificate;

const BYTES_MAX: u64 = 1 << 20;
pub(crate) const TOKEN: &str = "8f6ab1c09d3e2f7755aa01c4e8d9b360f2174c9bd85e33a6c0917f2be4d86a15";
const FILES_MAX: usize = 1_000;

/// A request line, the length and bytes of a bundle, a job description, or the head of an answer. Splits do
/// not change the result, parsed values round-trip, and no file of a bundle is outside of its folder.
pub(crate) fn push(input: &[u8]) {
    if let Ok(text) = std::str::from_utf8(input) {
        let (verb, path) = text.split_once(' ').unwrap_or(("PUT", text));
        if let Some(route) = PushRoute::parse(verb, path) {
            assert_eq!((route.verb().as_str(), route.to_string().as_str()), (verb, path));
            request(route, input);
        }
    }
    if let Ok(Some(head)) = answer_head(input) {
        assert!(head.bytes <= input.len());
        assert_eq!(answer_head(&input[..head.bytes]), Ok(Some(head.clone())));
        assert_eq!(answer_head(&input[..head.bytes - 1]), Ok(None));
    }
    if let Ok(given) = AssignedJob::parse(input) {
        assert!(!given.batch.contains('/') && !given.batch.starts_with('.'), "{:?}", given.batch);
        assert_eq!(given.list.jobs.len(), 1);
        let written = given.text().expect("texts and numbers");
        assert_eq!(AssignedJob::parse(written.as_bytes()), Ok(given));
    }
    // With the correct length, and unchanged.
    let framed = [&(input.len() as u64).to_le_bytes(), input, b"content of files"].concat();
    for bytes in [input, &framed] {
        let (one, other) = bytes.split_at(bytes.len() / 3);
        assert_eq!(unpacked(&[bytes]), unpacked(&[one, other]));
    }
}

fn request(route: PushRoute, body: &[u8]) {
    let key = PushKey::of(&Token::parse(TOKEN).expect("random digits"));
    let asked = Asked::new(route, "0".repeat(64), body);
    assert!(asked.is_proof(&key, &asked.proof(&key)));
    assert!(!asked.is_proof(&key, &String::from_utf8_lossy(body)));
}

type Unpacked = (Vec<String>, Vec<u8>, Result<bool, UnpackError>);

fn unpacked(pieces: &[&[u8]]) -> Unpacked {
    let (mut unpack, mut paths, mut content) = (Unpack::new(BYTES_MAX), Vec::new(), Vec::new());
    for piece in pieces {
        let pushed = unpack.push::<UnpackError>(piece, &mut |piece| {
            match piece {
                BundlePiece::Begin(file) => {
                    is_below(&file.path);
                    paths.push(file.path.clone());
                }
                BundlePiece::Data(bytes) => content.extend(bytes),
                BundlePiece::Head(..) | BundlePiece::End => {}
            }
            Ok(())
        });
        if let Err(error) = pushed {
            return (paths, content, Err(error));
        }
    }
    (paths, content, Ok(unpack.is_whole()))
}

fn is_below(path: &str) {
    assert!(!path.is_empty() && path != "bundle.json", "{path:?}");
    let parts = Path::new(path).components();
    assert!(parts.clone().all(|part| matches!(part, Component::Normal(_))), "{path:?}");
    assert_eq!(parts.count(), path.split('/').count(), "{path:?}");
}

/// `bundle.json`, an attempt's record, `certificate.json`, and a stored certificate: parsed values
/// round-trip, and can be shown.
pub(crate) fn bundle(input: &[u8]) {
    if let Ok(head) = BundleHead::parse(input) {
        let written = serde_json::to_vec(&head).expect("texts and numbers");
        if head.files().len() < FILES_MAX {
            assert_eq!(BundleHead::parse(&written).as_ref(), Ok(&head));
        }
        head.findings().iter().for_each(|finding| assert!(!finding.is_empty()));
    }
    if let Ok(record) = AttemptRecord::parse(input) {
        let written = serde_json::to_vec(&record).expect("texts and numbers");
        assert_eq!(AttemptRecord::parse(&written), Ok(record));
    }
    if let Ok(stored) = StoredCertificate::parse(input) {
        let written = serde_json::to_vec(&stored).expect("it was JSON");
        assert_eq!(StoredCertificate::parse(&written), Ok(stored));
    }
    if let Ok(certificate) = tare_host::foreign::json::<Certificate>(input) {
        let _ = certificate.outcome();
        let written = serde_json::to_vec(&certificate).expect("texts and numbers");
        assert!(serde_json::from_slice::<Certificate>(&written).is_ok());
    }
}

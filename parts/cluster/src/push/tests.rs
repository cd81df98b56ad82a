//! The protocol end to end without a socket, and the files in the folder of a batch.

use std::{fs, path::Path};

use proptest::prelude::*;
use tare_host::seal::DOCUMENT;

use super::{
    message::{AssignedJob, RefusalKind},
    proof::{self, Asked},
    route::PushRoute,
    unpack::{BundlePiece, Unpack, UnpackError, packed_bytes, preamble},
};
use crate::{
    AttemptOutcome, AttemptRecord, Batch, Bundle, Committed, PlannedJob,
    bundle::HEAD,
    collect,
    fixture::{batch, commit},
    push::{client::collector_address, desk::CollectorDesk},
};

const BYTES_MAX: u64 = 1 << 30;

/// A bundle on the job's own machine, and its form on the network.
struct Upload {
    _folder: tempfile::TempDir,
    bundle: Bundle,
    packed: Vec<u8>,
    asked: Asked,
}

/// A bundle of a job, in a copy of the batch elsewhere.
fn sent(of: &Batch, position: usize, attempt: &str) -> Upload {
    let folder = tempfile::tempdir().unwrap();
    let local = Batch { folder: folder.path().join(of.name()), ..of.clone() };
    local.make_folders().unwrap();
    let job = &of.list.jobs[position];
    assert_eq!(commit(&local, job, attempt), Committed::First);
    let bundle = Bundle::open(&local.bundle_folder(job)).unwrap();
    let packed = packed(&bundle);
    let head = fs::read(bundle.folder.join(HEAD)).unwrap();
    let route = PushRoute::Bundle { position, attempt: attempt.to_owned() };
    Upload { _folder: folder, asked: Asked::new(route, "0".repeat(64), &head), bundle, packed }
}

fn packed(bundle: &Bundle) -> Vec<u8> {
    let head = fs::read(bundle.folder.join(HEAD)).unwrap();
    let mut bytes = preamble(&head);
    for file in bundle.head.files() {
        bytes.extend(fs::read(bundle.folder.join(&file.path)).unwrap());
    }
    assert_eq!(bytes.len() as u64, packed_bytes(&bundle.head, head.len()));
    bytes
}

fn desk(store: &Path) -> CollectorDesk {
    let batch = batch(store, 1);
    batch.make_token().unwrap();
    CollectorDesk::new(batch, BYTES_MAX).unwrap()
}

fn receive(desk: &CollectorDesk, sent: &Upload) -> Result<Committed, RefusalKind> {
    desk.receive(&sent.asked, sent.packed.chunks(1000)).map_err(|refusal| refusal.kind)
}

fn incoming(batch: &Batch) -> usize {
    fs::read_dir(batch.incoming()).unwrap().count()
}

#[test]
fn a_bundle_arrives_as_it_was_and_counts_once() {
    let store = tempfile::tempdir().unwrap();
    let desk = desk(store.path());
    let job = &desk.batch.list.jobs[0];
    let (first, second) = (sent(&desk.batch, 0, "1-0.0"), sent(&desk.batch, 0, "1-0.1"));
    assert!(!desk.is_here(&first.asked, 1).unwrap());
    assert_eq!(receive(&desk, &first), Ok(Committed::First));
    let arrived = Bundle::open(&desk.batch.bundle_folder(job)).unwrap();
    arrived.check(job).unwrap();
    assert_eq!((&arrived.digest, packed(&arrived)), (&first.bundle.digest, first.packed.clone()));

    assert!(desk.is_here(&first.asked, 1).unwrap(), "it need not be sent again");
    assert_eq!(receive(&desk, &first), Ok(Committed::AlreadyHere), "an answer was lost");
    assert_eq!(receive(&desk, &second), Ok(Committed::Later));
    assert_eq!(receive(&desk, &second), Ok(Committed::AlreadyHere));
    assert!(desk.is_here(&second.asked, 1).unwrap());
    assert_eq!(receive(&desk, &first), Ok(Committed::AlreadyHere));

    let found = collect(&desk.batch, &|_| Ok(())).unwrap();
    assert_eq!((found.jobs.len(), found.missing.len(), found.rejected.len()), (1, 1, 0));
    assert_eq!((found.jobs[0].bundle.attempt.as_str(), found.jobs[0].later.len()), ("1-0.0", 1));
    assert_eq!(incoming(&desk.batch), 0);
    let outcomes: Vec<_> =
        desk.batch.attempts(job).all().into_iter().map(|record| (record.attempt, record.outcome)).collect();
    assert_eq!(
        outcomes,
        [
            ("1-0.0".to_owned(), Some(AttemptOutcome::Committed)),
            ("1-0.1".to_owned(), Some(AttemptOutcome::KeptAside))
        ]
    );
}

#[test]
fn what_is_cut_off_or_damaged_leaves_nothing_and_the_whole_one_is_taken_after_it() {
    let store = tempfile::tempdir().unwrap();
    let desk = desk(store.path());
    let mut whole = sent(&desk.batch, 0, "1-0.0");
    let length = whole.packed.len();
    for end in [0, 3, 8, 100, length / 2, length - 1] {
        let cut = desk.receive(&whole.asked, whole.packed[..end].chunks(77)).unwrap_err();
        assert_eq!(cut.kind, RefusalKind::Damaged, "{end}");
    }
    for at in [8, 300, length - 1] {
        whole.packed[at] ^= 1;
        assert_eq!(receive(&desk, &whole), Err(RefusalKind::Damaged), "{at}");
        whole.packed[at] ^= 1;
    }
    whole.packed.push(b'x');
    assert_eq!(receive(&desk, &whole), Err(RefusalKind::Damaged));
    whole.packed.pop();
    assert_eq!((incoming(&desk.batch), desk.batch.has_bundle(&desk.batch.list.jobs[0])), (0, false));
    assert_eq!(receive(&desk, &whole), Ok(Committed::First));
}

#[test]
fn a_bundle_of_something_else_is_refused() {
    let store = tempfile::tempdir().unwrap();
    let desk = desk(store.path());
    let sent = sent(&desk.batch, 0, "1-0.0");
    let of = |position: usize, attempt: &str| Asked {
        route: PushRoute::Bundle { position, attempt: attempt.to_owned() },
        ..sent.asked.clone()
    };
    for (asked, kind) in [
        (of(1, "1-0.0"), RefusalKind::Damaged),
        (of(0, "1-0.1"), RefusalKind::Damaged),
        (of(2, "1-0.0"), RefusalKind::NotFound),
        (Asked { digest: "0".repeat(64), ..sent.asked.clone() }, RefusalKind::Damaged),
    ] {
        let refusal = desk.receive(&asked, sent.packed.chunks(1000)).unwrap_err();
        assert_eq!(refusal.kind, kind, "{asked:?}: {refusal}");
    }
    assert_eq!(incoming(&desk.batch), 0);
}

#[test]
fn two_bundles_of_one_attempt_are_a_conflict_that_is_named() {
    let store = tempfile::tempdir().unwrap();
    let desk = desk(store.path());
    let with_node = |node: &str| {
        let mut sent = sent(&desk.batch, 0, "1-0.0");
        let path = sent.bundle.folder.join(HEAD);
        let text = DOCUMENT.unseal(&fs::read(&path).unwrap()).unwrap().into_owned();
        let text = String::from_utf8(text).unwrap().replace("\"n1\"", &format!("{node:?}"));
        let text = DOCUMENT.seal(text);
        fs::write(&path, &text).unwrap();
        sent.bundle = Bundle::open(&sent.bundle.folder).unwrap();
        sent.packed = packed(&sent.bundle);
        sent.asked = Asked::new(sent.asked.route, "0".repeat(64), &text);
        sent
    };
    assert_eq!(receive(&desk, &with_node("n1")), Ok(Committed::First));
    assert_eq!(receive(&desk, &with_node("n2")), Ok(Committed::Later));
    assert_eq!(receive(&desk, &with_node("n3")), Err(RefusalKind::Conflict));
    assert_eq!(receive(&desk, &with_node("n2")), Ok(Committed::AlreadyHere));
}

#[test]
fn a_bundle_that_is_too_large_is_refused_before_it_is_written() {
    let store = tempfile::tempdir().unwrap();
    let batch = batch(store.path(), 1);
    batch.make_token().unwrap();
    let desk = CollectorDesk::new(batch, 1000).unwrap();
    let sent = sent(&desk.batch, 0, "1-0.0");
    assert_eq!(receive(&desk, &sent), Err(RefusalKind::TooLarge));
    assert_eq!(desk.is_here(&sent.asked, 1001).unwrap_err().kind, RefusalKind::TooLarge);
    assert!(!desk.is_here(&sent.asked, 1000).unwrap());
}

/// Unpacks a bundle whose head has this list of files.
fn pushed(files: &serde_json::Value) -> Result<(), UnpackError> {
    let store = tempfile::tempdir().unwrap();
    let batch = batch(store.path(), 1);
    commit(&batch, &batch.list.jobs[0], "1-0.0");
    let path = batch.bundle_folder(&batch.list.jobs[0]).join(HEAD);
    let mut head: serde_json::Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    head["files"] = files.clone();
    let head = serde_json::to_vec(&head).unwrap();
    Unpack::new(BYTES_MAX).push::<UnpackError>(&preamble(&head), &mut |_| Ok(()))
}

#[test]
fn no_file_is_written_elsewhere_or_twice() {
    let file = |path: &str| serde_json::json!({ "path": path, "bytes": 0, "blake3": "" });
    let files =
        |paths: &[&str]| pushed(&serde_json::Value::Array(paths.iter().map(|path| file(path)).collect()));
    assert_eq!(files(&["run/run.json", "run/services/a", "environment.json"]), Ok(()));
    for path in
        ["", "/etc/passwd", "../x", "run/../../x", "run//x", "run/./x", "run/", ".", HEAD, &"a".repeat(300)]
    {
        let refused = files(&[path]);
        assert!(matches!(refused, Err(UnpackError::Path(_))), "{path:?}: {refused:?}");
    }
    assert!(matches!(files(&["a", "a"]), Err(UnpackError::Path(_))));
    assert!(matches!(files(&["a/b", "a"]), Err(UnpackError::Path(_))));
    let huge = serde_json::json!([{ "path": "a", "bytes": u64::MAX, "blake3": "" }, { "path": "b", "bytes": 9, "blake3": "" }]);
    assert!(matches!(pushed(&huge), Err(UnpackError::TooLarge { .. })));
}

#[test]
fn a_head_that_has_no_length_of_one_is_refused_before_it_is_kept() {
    for length in [0, u64::MAX, (64 << 20) + 1] {
        let refused = Unpack::new(BYTES_MAX).push::<UnpackError>(&length.to_le_bytes(), &mut |_| Ok(()));
        assert_eq!(refused, Err(UnpackError::HeadLength(length)));
    }
}

#[test]
fn a_job_is_given_what_it_would_read_in_the_folder() {
    let store = tempfile::tempdir().unwrap();
    let desk = desk(store.path());
    let asked = |position: usize| Asked::new(PushRoute::Job { position }, "0".repeat(64), b"");
    let body = desk.answer(&asked(1), b"").unwrap();
    let given = AssignedJob::parse(&body).unwrap();
    let batch = &desk.batch;
    assert_eq!((&given.batch, &given.head, given.has_bundle), (&batch.name(), &batch.head, false));
    assert_eq!((&given.list.head, &given.list.jobs[..]), (&batch.list.head, &batch.list.jobs[1..]));
    assert!(!String::from_utf8(body).unwrap().contains(batch.token().unwrap().reveal()));
    assert_eq!(desk.answer(&asked(2), b"").unwrap_err().kind, RefusalKind::NotFound);
    assert_eq!(desk.answer(&asked(1), b"x").unwrap_err().kind, RefusalKind::Damaged);
    let error = |text: &str| AssignedJob::parse(text.as_bytes()).unwrap_err();
    insta::assert_snapshot!(error("{}"), @"missing field `format` at line 1 column 2");
    insta::assert_snapshot!(error(r#"{"format":"2.0"}"#), @r#"it speaks format "2.0", and this tare reads "1.0""#);
    let text = given.text().unwrap().replace(&format!("\"{}\"", given.batch), "\"../x\"");
    insta::assert_snapshot!(error(&text), @r#""../x" is no name of a batch"#);
}

#[test]
fn an_attempt_shows_how_far_it_is_and_a_machine_its_certificate() {
    let store = tempfile::tempdir().unwrap();
    let desk = desk(store.path());
    let job: &PlannedJob = &desk.batch.list.jobs[0];
    let record: AttemptRecord = serde_json::from_value(serde_json::json!({
        "attempt": "1-0.0", "node": "n1", "began": "2026-01-02T03:04:05Z", "phase": "measuring", "since": "2026-01-02T03:04:06Z"
    }))
    .unwrap();
    let body = serde_json::to_vec(&record).unwrap();
    let asked = |attempt: &str| {
        let route = PushRoute::Attempt { position: 0, attempt: attempt.to_owned() };
        Asked::new(route, "0".repeat(64), &body)
    };
    desk.answer(&asked("1-0.0"), &body).unwrap();
    assert_eq!(desk.batch.attempts(job).all(), [record]);
    assert_eq!(desk.answer(&asked("1-0.1"), &body).unwrap_err().kind, RefusalKind::Unreadable);

    let machine: crate::MachineIdentity = serde_json::from_value(serde_json::json!({
        "node": "n1", "kernel": "Linux", "cpu": "a", "cpus": 2, "tare": "0.1.0"
    }))
    .unwrap();
    let name = machine.hash();
    let read = Asked::new(PushRoute::ReadCertificate { name: name.clone() }, "0".repeat(64), b"");
    assert_eq!(desk.answer(&read, b"").unwrap_err().kind, RefusalKind::NotFound);
    let body =
        serde_json::to_vec(&serde_json::json!({ "machine": machine, "certificate": { "quick": true } }))
            .unwrap();
    let put = |name: String| Asked::new(PushRoute::Certificate { name }, "0".repeat(64), &body);
    assert_eq!(desk.answer(&put("0".repeat(16)), &body).unwrap_err().kind, RefusalKind::Unreadable);
    desk.answer(&put(name), &body).unwrap();
    assert_eq!(desk.answer(&read, b"").unwrap(), body);
}

#[test]
fn a_batch_without_a_token_has_no_collector_and_with_one_at_a_time() {
    let store = tempfile::tempdir().unwrap();
    let batch = batch(store.path(), 1);
    let refused = CollectorDesk::new(batch.clone(), 1).unwrap_err().to_string();
    assert!(refused.ends_with("the batch has no token: submit it with --push"), "{refused}");
    batch.make_token().unwrap();
    fs::create_dir(batch.incoming().join("arriving-x.1-0.0.1.0")).unwrap();
    fs::create_dir(batch.incoming().join("x.1-0.0")).unwrap();
    let lock = batch.lock_for_listening().unwrap();
    assert_eq!(incoming(&batch), 1, "what a killed collector left is removed, and nothing else");
    let refused = batch.lock_for_listening().unwrap_err().to_string();
    assert!(refused.ends_with("another `tare cluster collect --listen` receives its bundles"), "{refused}");
    drop(lock);
    drop(batch.lock_for_listening().unwrap());
}

#[test]
fn an_address_is_a_host_and_a_port() {
    for (url, address) in [
        ("http://10.0.0.1:7070", Some("10.0.0.1:7070")),
        ("http://[::1]:7070/", Some("[::1]:7070")),
        ("http://collector.bench.svc:80", Some("collector.bench.svc:80")),
        ("https://10.0.0.1:7070", None),
        ("http://10.0.0.1", None),
        ("http://10.0.0.1:0", None),
        ("http://user@host:80", None),
        ("http://host:80/path", None),
        ("http://ho\r\nst:80", None),
        ("http://:80", None),
        ("", None),
    ] {
        assert_eq!(collector_address(url).ok().as_deref(), address, "{url}");
    }
}

#[derive(Debug, PartialEq)]
enum Taken {
    Head(Vec<u8>),
    Begin(String),
    Data(Vec<u8>),
    End,
}

fn taken(pieces: &[&[u8]]) -> (Vec<Taken>, Result<bool, UnpackError>) {
    let (mut unpack, mut all) = (Unpack::new(BYTES_MAX), Vec::new());
    for piece in pieces {
        let pushed = unpack.push::<UnpackError>(piece, &mut |piece| {
            match (piece, all.last_mut()) {
                (BundlePiece::Data(bytes), Some(Taken::Data(before))) => before.extend(bytes),
                (BundlePiece::Head(_, bytes), _) => all.push(Taken::Head(bytes.to_vec())),
                (BundlePiece::Begin(file), _) => all.push(Taken::Begin(file.path.clone())),
                (BundlePiece::Data(bytes), _) => all.push(Taken::Data(bytes.to_vec())),
                (BundlePiece::End, _) => all.push(Taken::End),
            }
            Ok(())
        });
        if let Err(error) = pushed {
            return (all, Err(error));
        }
    }
    (all, Ok(unpack.is_whole()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_split_gives_the_same_pieces(cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6), more in any::<bool>()) {
        let store = tempfile::tempdir().unwrap();
        let batch = batch(store.path(), 1);
        let mut packed = sent(&batch, 0, "1-0.0").packed;
        packed.extend(more.then_some(b'x'));
        let whole = taken(&[&packed]);
        prop_assert_eq!(&whole.1, &(if more { Err(UnpackError::TooLong) } else { Ok(true) }));
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(packed.len())).collect();
        cuts.sort_unstable();
        let mut pieces = Vec::new();
        let mut start = 0;
        for cut in cuts.into_iter().chain([packed.len()]) {
            pieces.push(&packed[start..cut]);
            start = cut;
        }
        prop_assert_eq!(taken(&pieces), whole);
    }

    #[test]
    fn a_bundle_of_which_any_byte_is_changed_does_not_count(at in any::<prop::sample::Index>(), bit in 0..8_u8) {
        let store = tempfile::tempdir().unwrap();
        let desk = desk(store.path());
        let mut sent = sent(&desk.batch, 0, "1-0.0");
        let at = at.index(sent.packed.len());
        sent.packed[at] ^= 1 << bit;
        prop_assert_eq!(receive(&desk, &sent), Err(RefusalKind::Damaged));
        prop_assert!(!desk.batch.has_bundle(&desk.batch.list.jobs[0]) && incoming(&desk.batch) == 0);
        prop_assert_eq!(proof::digest(&fs::read(sent.bundle.folder.join(HEAD)).unwrap()), sent.bundle.digest);
    }
}

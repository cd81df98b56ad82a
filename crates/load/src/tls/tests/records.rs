//! Records that no honest server sends, sealed with the correct keys: each is refused or handled, and none
//! takes much memory.

use super::record::{Content, HEADER_BYTES, Keys};
use super::*;
use rustls::ProtocolVersion;

/// A client after its handshake, and the keys of its server.
struct Forged {
    pair: Pair,
    keys: Keys,
}

fn forged() -> Forged {
    let mut pair = Pair::open(ordinary(), options());
    let server = std::mem::replace(&mut pair.server, server(&Arc::new(ordinary())));
    let keys = Keys::new(ProtocolVersion::TLSv1_3, server.dangerous_extract_secrets().unwrap().tx).unwrap();
    Forged { pair, keys }
}

impl Forged {
    fn give(&mut self, content: Content, text: &[u8]) {
        let mut sealed = Vec::new();
        self.keys.seal(content, text, &mut sealed);
        self.pair.give(&sealed);
    }

    fn failed_with(&self) -> Option<&TlsError> {
        let failed = Event::Failed { slot: 0, failure: Failure::Tls };
        (self.pair.events.last() == Some(&failed)).then(|| self.pair.error()).flatten()
    }
}

#[test]
fn a_message_may_come_in_several_records_and_several_in_one() {
    let mut forged = forged();
    // An invalid ticket, whose length announces ten bytes.
    forged.give(Content::Handshake, &[4, 0]);
    forged.give(Content::Handshake, &[0, 10, 1, 2]);
    assert_eq!(forged.failed_with(), None);
    forged.give(Content::Handshake, &[0; 8]);
    assert!(matches!(forged.failed_with(), Some(TlsError::Handshake(_))), "{:?}", forged.pair.error());
}

#[test]
fn what_has_no_place_after_a_handshake_is_refused() {
    let message = |kind| TlsError::Unexpected { what: "message", kind };
    let record = |kind| TlsError::Unexpected { what: "record", kind };
    for kind in [0, 1, 2, 11, 20, 255] {
        let mut forged = forged();
        forged.give(Content::Handshake, &[kind, 0, 0, 0]);
        assert_eq!(forged.failed_with(), Some(&message(kind)));
    }
    for kind in [20, 21, 22, 24, 0x48] {
        let mut forged = forged();
        forged.pair.give(&[kind, 3, 3, 0, 1, 1]);
        assert_eq!(forged.failed_with(), Some(&record(kind)));
    }
    let too_long = [23, 3, 3, 0x41, 1];
    let mut forged = self::forged();
    forged.pair.give(&too_long);
    assert_eq!(forged.failed_with(), Some(&TlsError::RecordTooLong { bytes: 0x4101 }));
    for body in [vec![], vec![0; 16], vec![0; 17]] {
        let mut forged = self::forged();
        forged.pair.give(&[&[23, 3, 3, 0, body.len() as u8][..], &body].concat());
        assert_eq!(forged.failed_with(), Some(&TlsError::Undecryptable), "{body:?}");
    }
    let mut forged = self::forged();
    forged.give(Content::Handshake, &[4, 0xff, 0xff, 0xff]);
    assert!(matches!(forged.failed_with(), Some(TlsError::HandshakeTooLong { .. })));
}

#[test]
fn alerts_are_read() {
    for (alert, expected) in [
        (vec![2, 40], TlsError::Alert(40)),
        (vec![2], TlsError::Undecryptable),
        (vec![1, 2, 3], TlsError::Undecryptable),
    ] {
        let mut forged = forged();
        forged.give(Content::Alert, &alert);
        assert_eq!(forged.failed_with(), Some(&expected), "{alert:?}");
    }
}

#[test]
fn a_warning_before_the_end_changes_nothing() {
    let mut forged = forged();
    forged.give(Content::Data, b"bye");
    forged.give(Content::Alert, &[1, 90]);
    assert_eq!((&forged.pair.text[..], forged.pair.error()), (&b"bye"[..], None));
    forged.give(Content::Alert, &[1, 0]);
    assert_eq!(forged.pair.events.last(), Some(&Event::Closed { slot: 0 }));
}

/// The reader of an answer must know that no other answer follows on this connection, as without TLS.
#[test]
fn the_end_behind_a_text_is_known_with_it() {
    for (last, expected) in [(Content::Alert, true), (Content::Data, false)] {
        let mut forged = forged();
        let mut sealed = Vec::new();
        forged.keys.seal(Content::Data, b"bye", &mut sealed);
        // A text of the same length as an alert is still a text.
        forged.keys.seal(last, &[1, 0], &mut sealed);
        forged.pair.give(&sealed);
        assert_eq!(forged.pair.hangups[0], expected, "{last:?}");
        let text = if expected { &b"bye"[..] } else { b"bye\x01\0" };
        assert_eq!((&forged.pair.text[..], forged.pair.error()), (text, None));
        assert_eq!(forged.pair.events.last() == Some(&Event::Closed { slot: 0 }), expected);
    }
}

#[test]
fn a_record_that_is_replayed_is_refused() {
    let mut forged = forged();
    let mut sealed = Vec::new();
    forged.keys.seal(Content::Data, b"once", &mut sealed);
    forged.pair.give(&sealed);
    assert_eq!(forged.pair.text, b"once");
    forged.pair.give(&sealed);
    assert_eq!(forged.failed_with(), Some(&TlsError::Undecryptable));
}

#[test]
fn an_update_of_keys_is_one_byte_and_nothing_else() {
    for body in [&[24, 0, 0, 1, 2][..], &[24, 0, 0, 0], &[24, 0, 0, 2, 0, 0], &[24, 0, 0, 1, 0, 24]] {
        let mut forged = forged();
        forged.give(Content::Handshake, body);
        assert!(forged.failed_with().is_some(), "{body:?}");
    }
}

#[test]
fn updates_of_keys_without_end_do_not_pile_up_answers() {
    let mut pair = Pair::open(ordinary(), options());
    // The server reads nothing.
    pair.client_wire().accepts = 0;
    let mut count = 0;
    while !pair.has_failed() {
        pair.server.refresh_traffic_keys().unwrap();
        let said = pair.server_goes_on(&[]);
        pair.give(&said);
        count += 1;
        assert!(count < 10_000, "{:?}", pair.events);
    }
    assert_eq!(pair.error(), Some(&TlsError::KeyUpdates));
}

#[test]
fn a_text_of_the_longest_record_is_read_and_one_byte_more_is_not() {
    let mut forged = forged();
    forged.give(Content::Data, &text(1 << 14));
    assert_eq!(forged.pair.text.len(), 1 << 14);
    let mut sealed = Vec::new();
    forged.keys.seal_one(Content::Data, &text((1 << 14) + 1), &mut sealed);
    assert!(sealed.len() > HEADER_BYTES + (1 << 14));
    forged.pair.give(&sealed);
    assert!(
        matches!(forged.failed_with(), Some(TlsError::RecordTooLong { .. })),
        "{:?}",
        forged.pair.error()
    );
}

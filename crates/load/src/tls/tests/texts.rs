//! Text in both directions: however records and pieces are split, it arrives complete and in order, and
//! changed text never arrives.

use proptest::prelude::*;
use rustls::SupportedCipherSuite;

use super::*;

/// TLS 1.2 suites: one with an explicit nonce for each key length, and one without.
static OF_1_2: [SupportedCipherSuite; 3] = [
    aws_lc_rs::cipher_suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
    aws_lc_rs::cipher_suite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
    aws_lc_rs::cipher_suite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
];

/// A server's action.
#[derive(Debug, Clone)]
enum Step {
    Says(usize),
    Refreshes,
    Settles,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => prop_oneof![0_usize..5, 0_usize..2_000, 16_000_usize..60_000].prop_map(Step::Says),
        1 => Just(Step::Refreshes),
        2 => Just(Step::Settles),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn text_comes_whole_in_any_pieces(
        steps in prop::collection::vec(step(), 0..12),
        cuts in prop::collection::vec(prop_oneof![1_usize..8, 1_usize..20_000], 0..200),
        record in prop::option::of(64_usize..5_000),
        tickets in 0_usize..4,
        early in prop::collection::vec(1_usize..300, 0..4),
        upload in prop_oneof![0_usize..100, 0_usize..600_000],
        accepts in prop_oneof![100_usize..100_000, Just(usize::MAX)],
        old in prop::option::of(prop::sample::select(&OF_1_2[..])),
    ) {
        let mut config = match old {
            None => ordinary(),
            Some(suite) => {
                let provider = CryptoProvider { cipher_suites: vec![suite], ..aws_lc_rs::default_provider() };
                server_config_of(provider, &rustls::version::TLS12)
            }
        };
        config.max_fragment_size = record;
        config.send_tls13_tickets = tickets;
        config.send_half_rtt_data = true;
        let version = if old.is_some() { TlsVersion::Tls12 } else { TlsVersion::Tls13 };
        let mut pair = Pair::new(config, TlsOptions { version, ..options() });
        pair.cuts = cuts.into();
        pair.client_wire().accepts = accepts;
        pair.upload = text(upload);
        let mut said = Vec::new();
        let say = |pair: &mut Pair, said: &mut Vec<u8>, bytes: usize| {
            let begin = said.len();
            said.extend((begin..begin + bytes).map(|index| (index % 253) as u8));
            pair.server_says(&said[begin..]);
        };
        // Text before the client's end of the handshake, sent with the server's end of it.
        early.iter().for_each(|bytes| say(&mut pair, &mut said, *bytes));
        pair.connect();
        prop_assert_eq!(pair.error(), None);
        for step in steps {
            match step {
                Step::Says(bytes) => say(&mut pair, &mut said, bytes),
                // TLS 1.2 has no key updates.
                Step::Refreshes if old.is_some() => {}
                Step::Refreshes => pair.server.refresh_traffic_keys().unwrap(),
                Step::Settles => pair.settle(),
            }
        }
        pair.settle();
        prop_assert_eq!(pair.error(), None);
        prop_assert!(!pair.has_failed() && !pair.server_failed, "{:?}", pair.events);
        prop_assert!(pair.text == said, "{} bytes of {}", pair.text.len(), said.len());
        prop_assert_eq!(pair.server_text.len(), upload);
        prop_assert!(pair.server_text == text(upload));
    }

    /// After a flipped bit, a prefix of the text arrives, followed by an error or by a wait for more bytes.
    #[test]
    fn a_flipped_bit_is_found(
        texts in prop::collection::vec(1_usize..3_000, 1..5),
        cuts in prop::collection::vec(1_usize..4_000, 0..8),
        at in any::<prop::sample::Index>(),
        bit in 0_u8..8,
    ) {
        let mut pair = Pair::open(ordinary(), options());
        let mut said = Vec::new();
        for bytes in texts {
            said.extend(text(bytes));
            pair.server_says(&text(bytes));
        }
        let mut bytes = pair.server_goes_on(&[]);
        // The two bytes of the version are checked only by the AEAD.
        *at.get_mut(&mut bytes) ^= 1 << bit;
        pair.cuts = cuts.into();
        pair.give(&bytes);
        prop_assert!(said.starts_with(&pair.text) && pair.text.len() < said.len());
        let failed = Event::Failed { slot: 0, failure: Failure::Tls };
        if pair.events.last() != Some(&failed) {
            // The record seems longer now, so it is incomplete.
            prop_assert_eq!(&pair.events[..], &[Event::Connected { slot: 0 }]);
            pair.give(&vec![0; 20_000]);
            prop_assert_eq!(pair.events.last(), Some(&failed));
        }
        prop_assert!(pair.error().is_some());
    }
}

#[test]
fn records_that_come_with_the_end_of_the_handshake_are_all_read() {
    let mut config = ordinary();
    config.send_half_rtt_data = true;
    config.max_fragment_size = Some(64);
    // No later record may bring in the rest.
    config.send_tls13_tickets = 0;
    let mut pair = Pair::new(config, options());
    pair.server_says(&text(1_000));
    pair.connect();
    assert_eq!(pair.error(), None);
    assert_eq!(pair.text.len(), 1_000, "of more than fifteen records");
}

#[test]
fn an_orderly_close_is_one_on_both_sides() {
    let mut pair = Pair::open(ordinary(), options());
    pair.server_says(b"bye");
    pair.server.send_close_notify();
    pair.settle();
    assert_eq!((&pair.text[..], pair.events.last()), (&b"bye"[..], Some(&Event::Closed { slot: 0 })));

    let mut pair = Pair::open(ordinary(), options());
    pair.client.close(0);
    let sent = std::mem::take(&mut pair.client_wire().sent);
    pair.server.read_tls(&mut &sent[..]).unwrap();
    assert!(pair.server.process_new_packets().unwrap().peer_has_closed());
}

#[test]
fn a_close_without_an_alert_may_have_cut_something_off() {
    let mut pair = Pair::open(ordinary(), options());
    pair.client_wire().events.push_back(Event::Closed { slot: 0 });
    pair.client_goes_on();
    let failure = Failure::ClosedBeforeResponse;
    assert_eq!((pair.events.last(), pair.error()), (Some(&Event::Failed { slot: 0, failure }), None));
}

#[test]
fn an_alert_of_the_server_is_named() {
    let mut pair = Pair::open(ordinary(), options());
    pair.upload = b"hello".to_vec();
    pair.client_goes_on();
    let mut sent = std::mem::take(&mut pair.client_wire().sent);
    *sent.last_mut().unwrap() ^= 1;
    let said = pair.server_goes_on(&sent);
    assert!(pair.server_failed);
    pair.give(&said);
    assert_eq!(pair.events.last(), Some(&Event::Failed { slot: 0, failure: Failure::Tls }));
    assert_eq!(pair.error(), Some(&TlsError::Alert(20)), "bad_record_mac");
}

#[test]
fn keys_are_updated_in_the_middle_of_an_upload_that_is_accepted_slowly() {
    let mut pair = Pair::open(ordinary(), options());
    pair.client_wire().accepts = 10_000;
    pair.upload = text(2_000_000);
    for round in 0..5 {
        pair.client_goes_on();
        pair.server.refresh_traffic_keys().unwrap();
        pair.server_says(&[round; 3]);
        let said = pair.server_goes_on(&[]);
        pair.give(&said);
    }
    pair.settle();
    assert!(!pair.server_failed && pair.error().is_none(), "{:?}", pair.error());
    assert!(pair.server_text == text(2_000_000));
    assert_eq!(pair.text, [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]);
}

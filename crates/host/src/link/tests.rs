use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    time::Duration,
};

use super::*;
use crate::fixture;

/// Sends one byte to 127.0.0.1 and another byte back.
fn talk(client: &Namespace, server: &Namespace) {
    let listener = server.within(|| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap()).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (mut stream, peer) = listener.accept().unwrap();
            assert_eq!(peer.ip(), CLIENT);
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            stream.write_all(&[byte[0] + 1]).unwrap();
        });
        let timeout = Duration::from_secs(5);
        let mut stream = client.within(|| TcpStream::connect_timeout(&address, timeout)).unwrap().unwrap();
        stream.set_read_timeout(Some(timeout)).unwrap();
        stream.write_all(&[41]).unwrap();
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        assert_eq!(byte, [42]);
    });
}

/// Whether this machine lets a test make links.
fn allowed(test: &str) -> bool {
    let made = Link::create_of(Choice::UserSpace, &"delay=0ms".parse().unwrap(), &[], 1);
    fixture::link(test, made).is_some()
}

#[test]
fn the_address_stays_over_ethernet_too() {
    if allowed("the_address_stays_over_ethernet_too") {
        let [client, server] = [Namespace::new().unwrap(), Namespace::new().unwrap()];
        join_by_ethernet(&client, &server).unwrap();
        talk(&client, &server);
    }
}

#[test]
fn a_panic_inside_reaches_the_caller_and_leaves_its_thread_where_it_was() {
    if allowed("a_panic_inside_reaches_the_caller_and_leaves_its_thread_where_it_was") {
        let here = || std::fs::read_link("/proc/thread-self/ns/net").unwrap();
        let before = here();
        let namespace = Namespace::new().unwrap();
        assert_ne!(namespace.within(here).unwrap(), before);
        let panic = std::panic::catch_unwind(|| namespace.within(|| std::panic::panic_any(7_u8)));
        assert_eq!(panic.unwrap_err().downcast_ref(), Some(&7_u8));
        assert_eq!(here(), before);
    }
}

#[test]
fn counters_show_the_packets_of_each_direction() {
    if allowed("counters_show_the_packets_of_each_direction") {
        let spec = "delay=1ms".parse().unwrap();
        let link = Link::create_of(Choice::UserSpace, &spec, &[], 1).unwrap();
        talk(link.client(), link.server());
        let counters = link.counters().unwrap();
        // The minimum: SYN, its acknowledgement and a byte one way; SYN-ACK and a byte the other way.
        assert!(counters.up.packets >= 3 && counters.down.packets >= 2, "{counters:?}");
        assert!(
            counters.up.bytes >= 40 * counters.up.packets && counters.up.late.count() == counters.up.packets
        );
        assert!(counters.cpu_ns.unwrap() > 0 && counters.unread == 0);
        assert_eq!(counters.up.lost + counters.up.dropped + counters.up.refused, 0);
    }
}

#[test]
fn a_link_ends_with_its_thread_and_its_files() {
    if allowed("a_link_ends_with_its_thread_and_its_files") {
        let spec = "delay=1ms".parse().unwrap();
        let link = Link::create_of(Choice::UserSpace, &spec, &[], 1).unwrap();
        let Means::UserSpace { pump, .. } = &link.means else { panic!("{:?}", link.kind()) };
        let (client, thread) = (link.client().fd(), pump.thread_id());
        drop(link);
        // A joined thread stays visible in the kernel for a moment.
        let is_gone = || crate::process::thread_cpu_ns(thread).is_err();
        let waits = (0..1000).map(|_| std::thread::sleep(std::time::Duration::from_millis(1)));
        assert!(is_gone() || waits.into_iter().any(|()| is_gone()), "the thread has ended");
        assert_eq!(std::sync::Arc::strong_count(&client), 1, "no other part of the link holds the namespace");
    }
}

#[test]
fn netem_is_taken_or_not_there_with_a_reason() {
    if allowed("netem_is_taken_or_not_there_with_a_reason") {
        let spec = "delay=1ms".parse().unwrap();
        match Link::create_of(Choice::Netem, &spec, &[], 1) {
            Ok(link) => {
                talk(link.client(), link.server());
                assert!(link.counters().unwrap().up.packets >= 3);
            }
            Err(LinkError::NoNetem(reason)) => {
                assert!(!reason.is_empty());
                let link = Link::create(&spec, &[], 1).unwrap();
                assert!(matches!(link.kind(), LinkKind::UserSpace { reason: told, .. } if told == reason));
            }
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn a_cpu_that_is_not_there_is_refused() {
    if allowed("a_cpu_that_is_not_there_is_refused") {
        let error =
            Link::create_of(Choice::UserSpace, &"delay=1ms".parse().unwrap(), &[9_999], 1).unwrap_err();
        assert!(matches!(error, LinkError::Pin { .. }), "{error}");
    }
}

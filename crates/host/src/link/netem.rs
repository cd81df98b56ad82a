//! The link made by the kernel: a pair of Ethernet interfaces with a `netem` queue on each. Adding such a
//! queue with `tc` shows whether the kernel has netem.
//!
//! No machine of this project has had netem so far. The pair of interfaces is tested, and the arguments of `tc` are tested as
//! text, but no packet has gone through such a queue.

use std::{io, process::Command, time::Duration};

use rustix::thread::{CapabilitySet, capabilities, configure_capability_in_ambient_set, set_capabilities};

use super::{
    error::LinkError,
    interface::NAME,
    namespace::Namespace,
    spec::{LinkDirection, LinkSpec, MTU, Queue},
};
use crate::process::Query;

/// Time limit for `tc`, which normally answers at once.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// Header bytes that netem counts in addition to the IP packet.
const ETHERNET_BYTES: u64 = 14;
/// Limit of packets in a queue without any other limit.
const LIMIT_MAX: u64 = 1 << 18;
/// Netem keeps packets in order only if it has a rate; this one is too high to have an effect.
const NO_RATE_BITS: u64 = 1_000_000_000_000;

/// Adds a netem queue to the interface of each namespace.
pub(super) fn arm(spec: &LinkSpec, client: &Namespace, server: &Namespace) -> Result<(), String> {
    for (namespace, way) in [(client, &spec.up), (server, &spec.down)] {
        let added =
            namespace.within(|| tc(&[words(&["qdisc", "add", "dev", NAME, "root"]), netem(way)].concat()));
        added.map_err(|error| error.to_string())??;
    }
    Ok(())
}

/// Packets, bytes, and lost or dropped packets of the interface in the calling thread's namespace.
pub(super) fn counted() -> Result<[u64; 3], LinkError> {
    let failed =
        |why: String| LinkError::Interface { name: NAME, step: "read", source: io::Error::other(why) };
    let json = tc(&words(&["-s", "-j", "qdisc", "show", "dev", NAME])).map_err(failed)?;
    counted_in(&json).ok_or_else(|| failed("tc lists no netem queue".to_owned()))
}

fn counted_in(json: &str) -> Option<[u64; 3]> {
    let queues: serde_json::Value = serde_json::from_str(json).ok()?;
    let netem = queues.as_array()?.iter().find(|queue| queue["kind"] == "netem")?;
    let [packets, bytes, drops] = ["packets", "bytes", "drops"].map(|key| netem[key].as_u64());
    let packets = packets?;
    // Netem counts Ethernet headers.
    Some([packets, bytes?.saturating_sub(packets.saturating_mul(ETHERNET_BYTES)), drops?])
}

/// Runs `tc`. Call it on a thread that ends soon: it makes a capability inheritable.
fn tc(arguments: &[String]) -> Result<String, String> {
    pass_on_rights().map_err(|error| format!("tc cannot be given the capability that it needs: {error}"))?;
    let output = Query::put(Command::new("tc").args(arguments), ANSWER_WITHIN).and_then(Query::answer);
    let output = output.map_err(|error| format!("tc: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => {
            let text = String::from_utf8_lossy(&output.stderr);
            Err(format!("tc: {}", text.lines().next().unwrap_or("it failed").trim_end_matches('.')))
        }
    }
}

/// A program executed in a user namespace keeps only the ambient capabilities.
fn pass_on_rights() -> rustix::io::Result<()> {
    let mut rights = capabilities(None)?;
    rights.inheritable |= CapabilitySet::NET_ADMIN;
    set_capabilities(None, rights)?;
    configure_capability_in_ambient_set(CapabilitySet::NET_ADMIN, true)
}

/// The arguments for netem. Times are in microseconds, the only unit that every version of `tc` reads with fractions.
fn netem(way: &LinkDirection) -> Vec<String> {
    let us = |ns: u64| format!("{}us", ns as f64 / 1_000.0);
    let mut arguments = words(&["netem", "limit"]);
    arguments.push(limit(way).to_string());
    if way.delay_ns > 0 {
        arguments.extend(["delay".to_owned(), us(way.delay_ns)]);
        if way.jitter_ns > 0 {
            arguments.push(us(way.jitter_ns));
        }
    }
    if way.loss_percent > 0.0 {
        arguments.extend(["loss".to_owned(), format!("{}%", way.loss_percent)]);
    }
    let keeps_order = way.jitter_ns > 0 && !way.reorder;
    if let Some(rate) = way.rate_bits_per_s.or(keeps_order.then_some(NO_RATE_BITS)) {
        arguments.extend(["rate".to_owned(), format!("{rate}bit"), format!("-{ETHERNET_BYTES}")]);
    }
    arguments
}

/// Netem's limit counts waiting and travelling packets together, so a long delay needs a high limit.
fn limit(way: &LinkDirection) -> u64 {
    let Some(rate) = way.rate_bits_per_s else { return LIMIT_MAX };
    let packet_bits = MTU as u128 * 8;
    let on_the_way =
        u128::from(rate) * u128::from(way.delay_ns + way.jitter_ns) / 1_000_000_000 / packet_bits;
    let waiting = match way.queue.unwrap_or(Queue::USUAL) {
        Queue::Packets(packets) => packets,
        Queue::Bytes(bytes) => bytes / MTU as u64,
    };
    (on_the_way as u64 + waiting).min(LIMIT_MAX)
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_way_becomes_the_arguments_of_netem() {
        let table = [
            ("delay=26ms", "netem limit 262144 delay 26000us"),
            ("delay=26ms,jitter=500ns", "netem limit 262144 delay 26000us 0.5us rate 1000000000000bit -14"),
            ("delay=26ms,jitter=1ms,reorder=yes", "netem limit 262144 delay 26000us 1000us"),
            ("loss=0.1%,rate=100mbit,queue=50", "netem limit 50 loss 0.1% rate 100000000bit -14"),
            // 216 packets of 1500 bytes are on their way in 26 ms.
            ("delay=26ms,rate=100mbit,queue=15kB", "netem limit 226 delay 26000us rate 100000000bit -14"),
        ];
        for (link, expected) in table {
            assert_eq!(netem(&link.parse::<LinkSpec>().unwrap().up).join(" "), expected);
        }
    }

    #[test]
    fn counters_are_read_from_json() {
        let json = r#"[{"kind":"netem","bytes":1514,"packets":1,"drops":3,"overlimits":0}]"#;
        assert_eq!(counted_in(json), Some([1, 1500, 3]));
        assert_eq!(counted_in("[]"), None);
        assert_eq!(counted_in("Error"), None);
    }

    fn way(text: &str) -> LinkDirection {
        text.parse::<LinkSpec>().unwrap().up
    }

    #[test]
    fn a_queue_of_netem_never_exceeds_its_limit() {
        assert_eq!(limit(&way("delay=10s,rate=100gbit,queue=4294967296")), LIMIT_MAX);
        assert_eq!(limit(&way("rate=1kbit,queue=1")), 1);
        assert_eq!(limit(&way("delay=26ms")), LIMIT_MAX, "no rate: only travelling packets");
    }

    proptest! {
        #[test]
        fn the_limit_has_room_for_the_queue_and_for_the_packets_on_the_way(
            delay_ms in 0_u64..10_000, rate_kbit in 1_u64..100_000_000, packets in 1_u64..100_000,
        ) {
            let limit = limit(&way(&format!("delay={delay_ms}ms,rate={rate_kbit}kbit,queue={packets}")));
            let on_the_way = rate_kbit * delay_ms / (MTU as u64 * 8);
            prop_assert_eq!(limit, (packets + on_the_way).min(LIMIT_MAX));
        }

        #[test]
        fn no_output_of_tc_is_too_much(text in "(\\[|\\]|\\{|\\}|\"kind\":\"netem\"|\"packets\":[0-9]{1,20}|,){0,20}") {
            let _any = counted_in(&text);
        }
    }

    #[test]
    fn fewer_bytes_than_headers_are_none() {
        let json = r#"[{"kind":"pfifo"},{"kind":"netem","bytes":5,"packets":18446744073,"drops":0}]"#;
        assert_eq!(counted_in(json), Some([18_446_744_073, 0, 0]));
        assert_eq!(counted_in(r#"[{"kind":"netem","bytes":5,"packets":-1,"drops":0}]"#), None);
    }
}

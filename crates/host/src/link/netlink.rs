//! rtnetlink requests that ioctl does not offer, or not in a user namespace: joining a pair of Ethernet
//! interfaces across namespaces, and setting the length of a device's queue.

use std::{
    io,
    os::fd::{AsRawFd, BorrowedFd},
};

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with};

use super::{error::LinkError, spec::MTU};

/// `VETH_INFO_PEER` of the kernel.
const PEER: u16 = 1;
/// Size of `struct nlmsghdr`.
const HEADER_BYTES: usize = 16;

/// One end of a pair.
#[derive(Debug, Clone, Copy)]
pub(super) struct End {
    pub name: &'static str,
    pub hardware: [u8; 6],
}

/// Makes a pair: `here` in the calling thread's namespace, `there` in the namespace of a descriptor.
pub(super) fn pair(here: End, there: End, namespace: BorrowedFd<'_>) -> Result<(), LinkError> {
    let body = pair_of(here, there, namespace.as_raw_fd());
    let flags = libc::NLM_F_CREATE | libc::NLM_F_EXCL;
    request(flags, &body).map_err(|source| LinkError::Interface { name: here.name, step: "made", source })
}

/// Sets the number of packets that an interface of the calling thread's namespace buffers for its reader.
pub(super) fn queue(name: &'static str, packets: u32) -> Result<(), LinkError> {
    let name_and_end = [name.as_bytes(), b"\0"].concat();
    let body = [
        interface_header(),
        attribute(libc::IFLA_IFNAME, &name_and_end),
        attribute(libc::IFLA_TXQLEN, &packets.to_ne_bytes()),
    ];
    request(0, &body.concat()).map_err(|source| LinkError::Interface {
        name,
        step: "given its queue",
        source,
    })
}

/// Sends one message about an interface and reads the answer, which the kernel sends at once.
fn request(flags: i32, body: &[u8]) -> io::Result<()> {
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    // A message without an address goes to the kernel.
    send(&socket, &message(flags, body), SendFlags::empty())?;
    let mut answer = [0; 4096];
    let (count, _) = recv(&socket, &mut answer[..], RecvFlags::empty())?;
    acknowledged(&answer[..count])
}

/// An answer is a header and an error number: 0, or negative.
fn acknowledged(answer: &[u8]) -> io::Result<()> {
    let code = answer.get(HEADER_BYTES..HEADER_BYTES + 4).and_then(|code| code.try_into().ok());
    match code.map(i32::from_ne_bytes) {
        Some(0) => Ok(()),
        Some(code) => Err(io::Error::from_raw_os_error(-code)),
        None => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

fn message(flags: i32, body: &[u8]) -> Vec<u8> {
    let flags = libc::NLM_F_REQUEST | libc::NLM_F_ACK | flags;
    let mut message = Vec::with_capacity(HEADER_BYTES + body.len());
    message.extend(((HEADER_BYTES + body.len()) as u32).to_ne_bytes());
    message.extend(libc::RTM_NEWLINK.to_ne_bytes());
    message.extend((flags as u16).to_ne_bytes());
    // Sequence number and sender: one message and one answer do not need them.
    message.extend([0; 8]);
    message.extend(body);
    message
}

fn pair_of(here: End, there: End, namespace: i32) -> Vec<u8> {
    let mut peer = interface_header();
    peer.extend(end(there));
    peer.extend(attribute(libc::IFLA_NET_NS_FD, &namespace.to_ne_bytes()));
    let data = attribute(libc::IFLA_INFO_DATA, &attribute(PEER, &peer));
    let kind = attribute(libc::IFLA_INFO_KIND, b"veth\0");
    let information = attribute(libc::IFLA_LINKINFO, &[kind, data].concat());
    [interface_header(), end(here), information].concat()
}

/// Limits a packet to one segment: with segmentation offload a queue would count several segments as one packet.
fn end(end: End) -> Vec<u8> {
    let name = [end.name.as_bytes(), b"\0"].concat();
    [
        attribute(libc::IFLA_IFNAME, &name),
        attribute(libc::IFLA_ADDRESS, &end.hardware),
        attribute(libc::IFLA_MTU, &(MTU as u32).to_ne_bytes()),
        attribute(libc::IFLA_GSO_MAX_SEGS, &1_u32.to_ne_bytes()),
    ]
    .concat()
}

/// An empty `struct ifinfomsg`.
fn interface_header() -> Vec<u8> {
    vec![0; 16]
}

/// Length, type and value, padded to a multiple of four bytes.
fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(4 + value.len().next_multiple_of(4));
    bytes.extend(((4 + value.len()) as u16).to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_attribute_is_padded_and_has_its_length() {
        assert_eq!(
            attribute(3, b"lo\0"),
            [&7_u16.to_ne_bytes()[..], &3_u16.to_ne_bytes(), b"lo\0\0"].concat()
        );
    }

    #[test]
    fn a_message_has_its_length() {
        let end = End { name: "link0", hardware: [2, 0, 0, 0, 0, 1] };
        let message = message(0, &pair_of(end, end, 7));
        assert_eq!(message[..4], (message.len() as u32).to_ne_bytes());
        assert_eq!(message.len() % 4, 0);
    }

    #[test]
    fn an_answer_is_an_error_or_none() {
        let answer = |code: i32| [&[0; HEADER_BYTES][..], &code.to_ne_bytes()].concat();
        assert!(acknowledged(&answer(0)).is_ok());
        assert_eq!(acknowledged(&answer(-1)).unwrap_err().raw_os_error(), Some(1));
        assert!(acknowledged(&[]).is_err());
    }

    proptest! {
        #[test]
        fn attributes_follow_one_another_at_multiples_of_four(
            values in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 1..6),
        ) {
            let bytes: Vec<u8> = values.iter().flat_map(|value| attribute(9, value)).collect();
            let mut at = 0;
            for value in &values {
                let length = u16::from_ne_bytes([bytes[at], bytes[at + 1]]) as usize;
                prop_assert_eq!(length, value.len() + 4, "the padding does not count");
                prop_assert_eq!(&bytes[at + 4..at + length], &value[..]);
                at += length.next_multiple_of(4);
            }
            prop_assert_eq!(at, bytes.len());
        }

        #[test]
        fn no_answer_is_too_much(answer in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _any = acknowledged(&answer);
        }
    }
}

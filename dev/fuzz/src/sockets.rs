//! The kernel's socket tables, which contain names of Unix sockets chosen by other programs.

use tare_host::process::{SocketPlace, SocketTable};

/// A table of any kind: each result has a row, and a Unix socket has its name from that row.
pub(crate) fn table(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    for table in [SocketTable::Tcp, SocketTable::Udp, SocketTable::Unix] {
        let found = table.listening(&text);
        assert!(found.len() <= text.lines().count().saturating_sub(1), "more sockets than rows");
        for listening in found {
            match (table, &listening.place) {
                (SocketTable::Tcp, SocketPlace::Tcp(_)) | (SocketTable::Udp, SocketPlace::Udp(_)) => {}
                (SocketTable::Unix, SocketPlace::Unix(path)) => {
                    assert!(text.contains(path.as_str()), "{path}")
                }
                (table, place) => panic!("{place} in a table of {table:?}"),
            }
        }
    }
}

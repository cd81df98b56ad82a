//! The kernel's tables of sockets, in which other programs choose the names of Unix sockets.

use tare_host::process::{Place, Table};

/// One table of any kind: what is found has a row, and a Unix socket its name out of that row.
pub(crate) fn table(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    for table in [Table::Tcp, Table::Udp, Table::Unix] {
        let found = table.listening(&text);
        assert!(found.len() <= text.lines().count().saturating_sub(1), "more sockets than rows");
        for listening in found {
            match (table, &listening.place) {
                (Table::Tcp, Place::Tcp(_)) | (Table::Udp, Place::Udp(_)) => {}
                (Table::Unix, Place::Unix(path)) => assert!(text.contains(path.as_str()), "{path}"),
                (table, place) => panic!("{place} in a table of {table:?}"),
            }
        }
    }
}

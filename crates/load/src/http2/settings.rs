//! The settings of the peer (RFC 9113, section 6.5).

use super::error::Http2Error;

pub(super) const HEADER_TABLE_SIZE: u16 = 1;
pub(super) const ENABLE_PUSH: u16 = 2;
pub(super) const MAX_CONCURRENT_STREAMS: u16 = 3;
pub(super) const INITIAL_WINDOW_SIZE: u16 = 4;
pub(super) const MAX_FRAME_SIZE: u16 = 5;
pub(super) const MAX_HEADER_LIST_SIZE: u16 = 6;

/// The largest window.
pub(super) const WINDOW_MAX: i64 = (1 << 31) - 1;

/// Settings of the peer, or their initial values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PeerSettings {
    pub(super) header_table_bytes: u32,
    pub(super) streams_max: u32,
    pub(super) window_bytes: i64,
    pub(super) frame_bytes_max: usize,
}

impl Default for PeerSettings {
    fn default() -> PeerSettings {
        PeerSettings {
            header_table_bytes: 4096,
            streams_max: u32::MAX,
            window_bytes: 65_535,
            frame_bytes_max: super::FRAME_BYTES_MAX,
        }
    }
}

impl PeerSettings {
    /// Applies one setting. Unknown ones are ignored.
    pub(super) fn set(&mut self, id: u16, value: u32) -> Result<(), Http2Error> {
        match (id, value) {
            (HEADER_TABLE_SIZE, _) => self.header_table_bytes = value,
            (ENABLE_PUSH, 0 | 1) => {}
            (MAX_CONCURRENT_STREAMS, _) => self.streams_max = value,
            (INITIAL_WINDOW_SIZE, _) if i64::from(value) <= WINDOW_MAX => self.window_bytes = value.into(),
            (INITIAL_WINDOW_SIZE, _) => return Err(Http2Error::WindowOverflow),
            (MAX_FRAME_SIZE, 0x4000..=0xff_ffff) => self.frame_bytes_max = value as usize,
            (ENABLE_PUSH | MAX_FRAME_SIZE, _) => return Err(Http2Error::Setting { id, value }),
            _ => {}
        }
        Ok(())
    }
}

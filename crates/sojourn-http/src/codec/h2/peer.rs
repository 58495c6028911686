//! What the other end has said of itself: its settings.

use super::Http2Error;
use super::frame::{PAYLOAD_BYTES_MAX, U31_MAX, read_u32, setting};

/// Streams that a peer is expected to take before its settings have come.
const STREAMS_BEFORE_SETTINGS: u32 = 100;

/// The window of a stream before the peer has said otherwise; also the connection's.
pub(super) const WINDOW_DEFAULT: i64 = 65_535;

/// The table of header fields before the peer has said otherwise.
const TABLE_DEFAULT: u32 = 4_096;

/// The other end's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PeerSettings {
    /// Its first settings have come.
    pub(super) have_come: bool,
    /// Most streams at a time.
    pub(super) streams_max: u32,
    /// Window of a new stream.
    pub(super) window: i64,
    /// Longest payload it reads.
    pub(super) payload_bytes_max: usize,
    /// It has made its header table smaller than the default, and must be told that ours is.
    pub(super) shrinks_table: bool,
}

impl PeerSettings {
    pub(super) fn new() -> Self {
        Self {
            have_come: false,
            streams_max: STREAMS_BEFORE_SETTINGS,
            window: WINDOW_DEFAULT,
            payload_bytes_max: PAYLOAD_BYTES_MAX,
            shrinks_table: false,
        }
    }

    /// Takes the payload of a SETTINGS frame in.
    pub(super) fn take(&mut self, payload: &[u8]) -> Result<(), Http2Error> {
        if !payload.len().is_multiple_of(6) {
            return Err(Http2Error::frame_size("a SETTINGS frame of a wrong length"));
        }
        if !self.have_come {
            self.have_come = true;
            self.streams_max = u32::MAX;
        }
        for pair in payload.chunks_exact(6) {
            let name = u16::from_be_bytes([pair[0], pair[1]]);
            let value = read_u32(&pair[2..]).unwrap_or(0);
            match name {
                setting::HEADER_TABLE_SIZE => self.shrinks_table |= value < TABLE_DEFAULT,
                setting::ENABLE_PUSH if value != 0 => {
                    return Err(Http2Error::protocol("a setting that only clients may have"));
                }
                setting::MAX_CONCURRENT_STREAMS => self.streams_max = value,
                setting::INITIAL_WINDOW_SIZE if value > U31_MAX => {
                    return Err(Http2Error::flow_control("a window of 2^31 bytes or more"));
                }
                setting::INITIAL_WINDOW_SIZE => self.window = i64::from(value),
                setting::MAX_FRAME_SIZE => {
                    let bytes = value as usize;
                    if !(PAYLOAD_BYTES_MAX..1 << 24).contains(&bytes) {
                        return Err(Http2Error::protocol("a frame size that is not allowed"));
                    }
                    self.payload_bytes_max = bytes;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::h2::frame::{HEADER_BYTES, write_settings};

    fn take(settings: &[(u16, u32)]) -> Result<PeerSettings, Http2Error> {
        let mut frame = Vec::new();
        write_settings(settings, &mut frame);
        let mut peer = PeerSettings::new();
        peer.take(&frame[HEADER_BYTES..]).map(|()| peer)
    }

    #[test]
    fn settings_are_taken_and_unknown_ones_passed_over() {
        assert_eq!(PeerSettings::new().streams_max, 100);
        assert_eq!(take(&[]).map(|peer| peer.streams_max), Ok(u32::MAX));
        let peer = take(&[(3, 7), (4, 1), (5, 1 << 14), (1, 0), (99, 1)]).expect("valid");
        let expected = PeerSettings {
            have_come: true,
            streams_max: 7,
            window: 1,
            payload_bytes_max: 1 << 14,
            shrinks_table: true,
        };
        assert_eq!(peer, expected);
    }

    #[test]
    fn wrong_settings_are_refused() {
        for setting in [(2, 1), (4, 1 << 31), (5, 16_383), (5, 1 << 24)] {
            assert!(take(&[setting]).is_err(), "{setting:?}");
        }
        assert!(PeerSettings::new().take(b"12345").is_err());
    }
}

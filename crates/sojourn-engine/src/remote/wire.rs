//! Messages on a socket: a length of four bytes, little end first, and the message as postcard has
//! it.

use std::io::{self, Read, Write};

use serde::{Serialize, de::DeserializeOwned};

/// Longest message, bytes: a second's figures of a thread come to some kilobytes each series.
const LENGTH_MAX: usize = 256 << 20;

/// Writes one message, in one call, so that several threads may take turns.
///
/// # Errors
/// The socket's, or a message that is too long.
pub fn write<M: Serialize>(to: &mut impl Write, message: &M) -> io::Result<()> {
    let bytes = postcard::to_extend(message, vec![0; 4]).map_err(io::Error::other)?;
    let length = bytes.len() - 4;
    if length > LENGTH_MAX {
        return Err(io::Error::other(format!("a message of {length} bytes is too long")));
    }
    let mut bytes = bytes;
    // At most LENGTH_MAX, which four bytes hold.
    bytes[..4].copy_from_slice(&(length as u32).to_le_bytes());
    to.write_all(&bytes)
}

/// Reads one message; `None` when the other side has said its last.
///
/// # Errors
/// The socket's, or what is no such message.
pub fn read<M: DeserializeOwned>(from: &mut impl Read) -> io::Result<Option<M>> {
    let mut length = [0; 4];
    if !fill_or_end(from, &mut length)? {
        return Ok(None);
    }
    let length = u32::from_le_bytes(length) as usize;
    if length > LENGTH_MAX {
        return Err(io::Error::other(format!("a message of {length} bytes is announced")));
    }
    let mut bytes = Vec::new();
    from.take(length as u64).read_to_end(&mut bytes)?;
    if bytes.len() < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    postcard::from_bytes(&bytes).map(Some).map_err(io::Error::other)
}

/// False where there is nothing to read any more; errs where it ends in the middle.
fn fill_or_end(from: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    let mut filled = 0;
    while filled < buffer.len() {
        match from.read(&mut buffer[filled..]) {
            Ok(0) if filled == 0 => return Ok(false),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn messages_come_out_as_they_went_in(messages in prop::collection::vec(".*", 0..5)) {
            let mut bytes = Vec::new();
            messages.iter().for_each(|message| write(&mut bytes, message).unwrap());
            let mut from = bytes.as_slice();
            for message in &messages {
                let came = read::<String>(&mut from).unwrap();
                prop_assert_eq!(came.as_ref(), Some(message));
            }
            prop_assert_eq!(read::<String>(&mut from).unwrap(), None);
        }

        #[test]
        fn a_message_that_breaks_off_is_an_error(message in ".+", kept in 1usize..4) {
            let mut bytes = Vec::new();
            write(&mut bytes, &message).unwrap();
            for length in [kept, bytes.len() - 1] {
                prop_assert!(read::<String>(&mut &bytes[..length]).is_err());
            }
        }

        #[test]
        fn nonsense_is_an_error_or_a_message_and_takes_little_memory(bytes: Vec<u8>) {
            let mut from = bytes.as_slice();
            while let Ok(Some(_)) = read::<Vec<String>>(&mut from) {}
        }
    }
}

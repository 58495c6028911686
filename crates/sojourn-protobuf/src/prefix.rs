//! What a schema registry's serialisers put before a message: a zero byte, the schema's id, and
//! which message of the schema's file it is.

use prost_reflect::{FileDescriptor, MessageDescriptor};

/// Most messages within each other that a prefix may name.
const DEPTH_MAX: u64 = 100;
const NOT_OURS: &str = "not written by way of a schema registry";

/// The path to the message's type, and its data. Errs in words.
pub fn split(payload: &[u8]) -> Result<(Vec<usize>, &[u8]), String> {
    let data = match payload.split_first_chunk() {
        Some(([0, _, _, _, _], data)) => data,
        Some(([other, ..], _)) => {
            return Err(format!("{NOT_OURS}: its first byte is {other}, not 0"));
        }
        None => return Err(format!("{NOT_OURS}: shorter than its prefix")),
    };
    path(data).ok_or_else(|| format!("{NOT_OURS}: its message indexes make no sense"))
}

/// A message's data behind the prefix of its schema and its type.
pub fn join(schema_id: u32, message: &MessageDescriptor, data: &[u8]) -> Vec<u8> {
    let path = path_of(message);
    let mut payload = Vec::with_capacity(data.len() + 6 + path.len());
    payload.push(0);
    payload.extend(schema_id.to_be_bytes());
    match path.as_slice() {
        // The first message is said shorter.
        [0] => payload.push(0),
        path => {
            write_number(&mut payload, path.len());
            path.iter().for_each(|index| write_number(&mut payload, *index));
        }
    }
    payload.extend(data);
    payload
}

/// The message at a path of indexes in a file: the second one within the first is `[0, 1]`. Errs in
/// words.
pub fn message_at(file: &FileDescriptor, path: &[usize]) -> Result<MessageDescriptor, String> {
    let missing = || format!("its prefix names message {path:?}, which the descriptor set lacks");
    let (first, inner) = path.split_first().ok_or_else(missing)?;
    let mut message = file.messages().nth(*first).ok_or_else(missing)?;
    for index in inner {
        // An index counts the messages that are declared, those of maps among them.
        let child = message.child_messages().nth(*index);
        message = child.ok_or_else(missing)?;
    }
    Ok(message)
}

/// Where a message is in its file.
fn path_of(message: &MessageDescriptor) -> Vec<usize> {
    let mut path = Vec::new();
    let mut message = message.clone();
    loop {
        let name = message.full_name().to_owned();
        let is_it = |other: MessageDescriptor| other.full_name() == name;
        let parent = message.parent_message();
        let place = match &parent {
            Some(parent) => parent.child_messages().position(is_it),
            None => message.parent_file().messages().position(is_it),
        };
        // Whoever has a parent is among its children.
        path.insert(0, place.unwrap_or_default());
        match parent {
            Some(parent) => message = parent,
            None => return path,
        }
    }
}

/// As [`number`] reads it.
fn write_number(out: &mut Vec<u8>, number: usize) {
    let mut zigzag = (number as u64) << 1;
    while zigzag >= 0x80 {
        // Seven bits.
        out.push(zigzag as u8 | 0x80);
        zigzag >>= 7;
    }
    out.push(zigzag as u8);
}

/// A count and as many indexes; a count of zero is the first message.
fn path(data: &[u8]) -> Option<(Vec<usize>, &[u8])> {
    let (count, mut data) = number(data)?;
    if count == 0 {
        return Some((vec![0], data));
    }
    let mut path = Vec::new();
    for _ in 0..Some(count).filter(|count| *count <= DEPTH_MAX)? {
        let (index, rest) = number(data)?;
        path.push(usize::try_from(index).ok()?);
        data = rest;
    }
    Some((path, data))
}

/// A zigzag number of variable length that is not negative.
fn number(data: &[u8]) -> Option<(u64, &[u8])> {
    let mut number = 0;
    for (place, byte) in data.iter().enumerate().take(5) {
        number |= u64::from(byte & 0x7f) << (7 * place);
        if *byte < 0x80 {
            // Zigzag: the lowest bit is the sign.
            return (number & 1 == 0).then_some((number >> 1, &data[place + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn indexes_are_zigzag_and_none_is_the_first() {
        let (path, data) = split(b"\0\0\0\0\x07\0data").unwrap();
        assert_eq!((path, data), (vec![0], &b"data"[..]));
        let (path, data) = split(b"\0\0\0\0\x07\x04\x02\0data").unwrap();
        assert_eq!((path, data), (vec![1, 0], &b"data"[..]));
        let (path, data) = split(b"\0\0\0\0\x07\x02\x80\x02").unwrap();
        assert_eq!((path, data), (vec![128], &b""[..]));
        for wrong in [&b""[..], b"\0\0\0\0", b"\x01\0\0\0\x07\0", b"\0\0\0\0\x07"] {
            assert!(split(wrong).is_err(), "{wrong:?}");
        }
        // A negative count, more indexes than there are, and a number without an end.
        for wrong in [&b"\x01"[..], b"\x04\0", b"\xff\xff\xff\xff\xff\xff", b"\xfe\xff\x03"] {
            assert!(split(&[b"\0\0\0\0\x07", wrong].concat()).is_err(), "{wrong:?}");
        }
    }
}

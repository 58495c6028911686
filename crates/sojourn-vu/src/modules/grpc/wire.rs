//! As much of Protobuf's encoding as health checks and reflection need
//! (<https://protobuf.dev/programming-guides/encoding/>).

/// A field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wire<'a> {
    Varint(u64),
    Bytes(&'a [u8]),
}

/// A field of text.
pub(super) fn text(number: u8, text: &str) -> Vec<u8> {
    let mut field = vec![number << 3 | 2];
    push_varint(&mut field, text.len() as u64);
    field.extend_from_slice(text.as_bytes());
    field
}

fn push_varint(to: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

/// The fields of a message, as far as they can be read.
pub(super) fn fields(mut bytes: &[u8]) -> Vec<(u64, Wire<'_>)> {
    let mut found = Vec::new();
    while let Some(field) = field(&mut bytes) {
        found.extend(field);
    }
    found
}

/// The next field; `Some(None)` for one of a kind that nobody wants.
fn field<'a>(bytes: &mut &'a [u8]) -> Option<Option<(u64, Wire<'a>)>> {
    let key = varint(bytes)?;
    let number = key >> 3;
    match key & 7 {
        0 => Some(Some((number, Wire::Varint(varint(bytes)?)))),
        1 => take(bytes, 8).map(|_| None),
        2 => {
            let size = usize::try_from(varint(bytes)?).ok()?;
            Some(Some((number, Wire::Bytes(take(bytes, size)?))))
        }
        5 => take(bytes, 4).map(|_| None),
        _ => None,
    }
}

fn take<'a>(bytes: &mut &'a [u8], size: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(size)?;
    *bytes = rest;
    Some(taken)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let long = "x".repeat(300);
        let mut message = text(7, &long);
        message.extend([8, 0xac, 0x02]);
        let read = fields(&message);
        assert_eq!(read, [(7, Wire::Bytes(long.as_bytes())), (1, Wire::Varint(300))]);
    }

    #[test]
    fn what_is_cut_off_is_left_out() {
        assert_eq!(fields(&[10, 5, 1]), []);
        assert_eq!(fields(&[0xff; 20]), []);
        assert_eq!(fields(&[13, 0, 0, 0, 0, 8, 1]), [(1, Wire::Varint(1))]);
    }
}

//! The properties of a message, under names that plans can use.

use super::Malformed;
use super::headers::Headers;
use super::reader::Reader;
use super::writer::Writer;

/// How a property is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Octet,
    Seconds,
    Table,
}

/// The fourteen properties in the order of their flags, from bit 15 down.
const PROPERTIES: [(&str, Kind); 14] = [
    ("content-type", Kind::Text),
    ("content-encoding", Kind::Text),
    ("headers", Kind::Table),
    ("delivery-mode", Kind::Octet),
    ("priority", Kind::Octet),
    ("correlation-id", Kind::Text),
    ("reply-to", Kind::Text),
    ("expiration", Kind::Text),
    ("message-id", Kind::Text),
    ("timestamp", Kind::Seconds),
    ("type", Kind::Text),
    ("user-id", Kind::Text),
    ("app-id", Kind::Text),
    ("cluster-id", Kind::Text),
];
const HEADERS_FLAG: u16 = 1 << 13;
/// Class `basic`, which a content header names.
const BASIC: u16 = 60;

/// Reads the payload of a content header frame into headers, the properties before the table's
/// fields; returns the body's length in bytes.
pub(crate) fn read(payload: &[u8], headers: &mut Headers) -> Result<u64, Malformed> {
    headers.clear();
    let mut reader = Reader::new(payload);
    if reader.u16()? != BASIC {
        return Err(Malformed("a message of a class that does not exist"));
    }
    let _weight = reader.u16()?;
    let length = reader.u64()?;
    let flags = reader.u16()?;
    if flags & 1 != 0 {
        return Err(Malformed("a message has properties that AMQP does not know"));
    }
    let mut table: &[u8] = &[];
    for (index, (name, kind)) in PROPERTIES.iter().enumerate() {
        if flags & (1 << (15 - index)) == 0 {
            continue;
        }
        match kind {
            Kind::Text => headers.push(name.as_bytes(), reader.short()?),
            Kind::Octet => headers.push(name.as_bytes(), reader.u8()?.to_string().as_bytes()),
            Kind::Seconds => headers.push(name.as_bytes(), reader.u64()?.to_string().as_bytes()),
            Kind::Table => table = reader.long()?,
        }
    }
    headers.read_table(table)?;
    Ok(length)
}

/// Writes the payload of a content header frame for a body of this length: persistent, headers that
/// are named like a property as that property, the others in the table. `correlation_id` is used
/// where no header says another.
pub(crate) fn write(
    out: &mut Writer,
    body_length: u64,
    correlation_id: Option<&[u8]>,
    headers: &[(&str, &[u8])],
) -> Result<(), Malformed> {
    let given = |property: &str| headers.iter().find(|(name, _)| *name == property);
    let value = |index: usize| match PROPERTIES[index] {
        (name @ "correlation-id", _) => given(name).map(|(_, value)| *value).or(correlation_id),
        ("delivery-mode", _) => Some(given("delivery-mode").map_or(&b"2"[..], |(_, value)| value)),
        (name, _) => given(name).map(|(_, value)| *value),
    };
    let is_property = |name: &str| {
        PROPERTIES.iter().any(|(property, kind)| *property == name && *kind != Kind::Table)
    };
    let has_table = headers.iter().any(|(name, _)| !is_property(name));
    let mut flags = if has_table { HEADERS_FLAG } else { 0 };
    for (index, (_, kind)) in PROPERTIES.iter().enumerate() {
        if *kind != Kind::Table && value(index).is_some() {
            flags |= 1 << (15 - index);
        }
    }
    out.u16(BASIC);
    out.u16(0);
    out.u64(body_length);
    out.u16(flags);
    for (index, (_, kind)) in PROPERTIES.iter().enumerate() {
        match (kind, value(index)) {
            (Kind::Table, _) if has_table => out.table(|out| {
                let others = headers.iter().filter(|(name, _)| !is_property(name));
                others.into_iter().try_for_each(|(name, value)| out.text_field(name, value))
            })?,
            (Kind::Text, Some(text)) => out.short(text)?,
            (Kind::Octet, Some(text)) => out.u8(number(text)?),
            (Kind::Seconds, Some(text)) => out.u64(number(text)?),
            _ => {}
        }
    }
    Ok(())
}

fn number<T: std::str::FromStr>(text: &[u8]) -> Result<T, Malformed> {
    let text = std::str::from_utf8(text).ok();
    text.and_then(|text| text.trim().parse().ok()).ok_or(Malformed(
        "delivery-mode and priority are numbers up to 255, timestamp is seconds since 1970",
    ))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(key: Option<&[u8]>, headers: &[(&str, &[u8])]) -> Vec<u8> {
        let mut out = Writer::default();
        write(&mut out, 77, key, headers).unwrap();
        out.bytes
    }

    #[test]
    fn properties_come_back_under_their_names() {
        let all: Vec<(&str, &[u8])> = vec![
            ("content-type", b"application/json"),
            ("content-encoding", b"gzip"),
            ("delivery-mode", b"1"),
            ("priority", b"9"),
            ("correlation-id", b"c"),
            ("reply-to", b"r"),
            ("expiration", b"60000"),
            ("message-id", b"m"),
            ("timestamp", b"1700000000"),
            ("type", b"Paid"),
            ("user-id", b"guest"),
            ("app-id", b"a"),
            ("cluster-id", b""),
            ("x-own", b"\x00\xff"),
            ("headers", b"a field of this name"),
        ];
        let mut headers = Headers::default();
        assert_eq!(read(&written(Some(b"key"), &all), &mut headers), Ok(77));
        let (last, read_back) = headers
            .with(("exchange", b"e"))
            .split_last()
            .map(|(last, all)| {
                (*last, all.iter().map(|(name, value)| (*name, *value)).collect::<Vec<_>>())
            })
            .unwrap();
        assert_eq!(read_back, all);
        assert_eq!(last, ("exchange", &b"e"[..]));
    }

    #[test]
    fn messages_are_persistent_and_the_key_is_their_correlation_id() {
        let mut headers = Headers::default();
        read(&written(Some(b"key"), &[]), &mut headers).unwrap();
        assert_eq!(headers.get("correlation-id"), Some(&b"key"[..]));
        assert_eq!(headers.get("delivery-mode"), Some(&b"2"[..]));
        assert_eq!(headers.with(("", b"")).len(), 3);
    }

    #[test]
    fn what_cannot_be_a_property_is_refused() {
        let long = [b'x'; 256];
        for (name, value) in
            [("type", &long[..]), ("priority", b"256"), ("timestamp", b"noon"), ("priority", b"")]
        {
            let mut out = Writer::default();
            assert!(write(&mut out, 1, None, &[(name, value)]).is_err(), "{name}");
        }
        assert!(write(&mut Writer::default(), 1, Some(&long), &[]).is_err());
        let name = "n".repeat(256);
        assert!(write(&mut Writer::default(), 1, None, &[(&name, b"")]).is_err());
    }

    #[test]
    fn a_header_cut_off_anywhere_is_malformed() {
        let whole = written(Some(b"k"), &[("type", b"t"), ("own", b"value")]);
        for end in 0..whole.len() {
            assert!(read(&whole[..end], &mut Headers::default()).is_err(), "{end}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_malformed(bytes: Vec<u8>, flags: u16) {
            let mut whole = b"\0\x3c\0\0\0\0\0\0\0\0\0\x01".to_vec();
            whole.extend_from_slice(&flags.to_be_bytes());
            whole.extend_from_slice(&bytes);
            let mut headers = Headers::default();
            if read(&whole, &mut headers).is_ok() {
                prop_assert_eq!(flags & 1, 0);
            }
        }
    }
}

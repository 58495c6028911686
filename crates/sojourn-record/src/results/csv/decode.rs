//! Reading a record: twelve fields, quoted or not, spaces in front of them trimmed.

use std::{ops::Range, str::FromStr};

use base64::{Engine, prelude::BASE64_STANDARD};

use crate::results::{Detail, Headers, Timestamp, fault::Fault, slots::Slots};

const FIELDS: usize = 12;

/// Decodes a record into the slots, whose places are of `text`.
pub(in crate::results) fn decode(
    record: &[u8],
    detail: Detail,
    slots: &mut Slots,
    text: &mut Vec<u8>,
) -> Result<(), Fault> {
    text.clear();
    let fields = split(record, text)?;
    let [
        unix_ns,
        code,
        latency,
        bytes_out,
        bytes_in,
        error,
        body,
        attack,
        seq,
        method,
        url,
        headers,
    ] = fields;
    slots.clear();
    slots.timestamp = Timestamp::utc(number(text, unix_ns, "1 (nanoseconds since 1970)")?);
    slots.code = number(text, code, "2 (status)")?;
    slots.latency_ns = number(text, latency, "3 (latency in nanoseconds)")?;
    slots.bytes_out = number(text, bytes_out, "4 (bytes out)")?;
    slots.bytes_in = number(text, bytes_in, "5 (bytes in)")?;
    slots.seq = number(text, seq, "9 (sequence number)")?;
    slots.error = error;
    slots.attack = attack;
    if detail == Detail::Figures {
        return Ok(());
    }
    slots.method = method;
    slots.url = url;
    slots.body = Some(decode_base64(text, body, "7 (body)")?);
    if !headers.is_empty() {
        let lines = decode_base64(text, headers, "12 (headers)")?;
        read_headers(&text[lines], &mut slots.headers)?;
        slots.has_headers = true;
    }
    Ok(())
}

/// Appends the fields' texts without their quotes; where each lies.
fn split(record: &[u8], text: &mut Vec<u8>) -> Result<[Range<usize>; FIELDS], Fault> {
    let mut fields: [Range<usize>; FIELDS] = Default::default();
    let mut rest = trim_line_end(record);
    for (index, field) in fields.iter_mut().enumerate() {
        let start = text.len();
        rest = take_field(trim_start(rest), text)
            .ok_or_else(|| Fault::new(format!("its field {} has a stray quote", index + 1)))?;
        *field = start..text.len();
        if index + 1 < FIELDS {
            rest = rest
                .strip_prefix(b",")
                .ok_or_else(|| Fault::new(format!("it has {} fields, not {FIELDS}", index + 1)))?;
        }
    }
    if rest.is_empty() {
        Ok(fields)
    } else {
        Err(Fault::new(format!("it has more than {FIELDS} fields")))
    }
}

/// Appends one field; what follows it, which is nothing or begins with a comma. `None` for a quote
/// where none may be.
fn take_field<'r>(record: &'r [u8], text: &mut Vec<u8>) -> Option<&'r [u8]> {
    let Some(mut rest) = record.strip_prefix(b"\"") else {
        let end = memchr::memchr2(b',', b'"', record).unwrap_or(record.len());
        let (field, rest) = record.split_at(end);
        text.extend_from_slice(field);
        return Some(rest).filter(|rest| !rest.starts_with(b"\""));
    };
    loop {
        let (part, after) = rest.split_at(memchr::memchr(b'"', rest)?);
        text.extend_from_slice(part);
        match after.get(1) {
            Some(b'"') => text.push(b'"'),
            None | Some(b',') => return Some(&after[1..]),
            Some(_) => return None,
        }
        rest = &after[2..];
    }
}

fn trim_line_end(record: &[u8]) -> &[u8] {
    let record = record.strip_suffix(b"\n").unwrap_or(record);
    record.strip_suffix(b"\r").unwrap_or(record)
}

fn trim_start(record: &[u8]) -> &[u8] {
    match record.first() {
        // Almost always: nothing to trim.
        Some(first) if first.is_ascii_graphic() => record,
        _ => {
            let head = record.utf8_chunks().next().map_or("", |chunk| chunk.valid());
            &record[head.len() - head.trim_start().len()..]
        }
    }
}

fn number<T: FromStr>(text: &[u8], field: Range<usize>, name: &str) -> Result<T, Fault> {
    let field = &text[field];
    str::from_utf8(field).ok().and_then(|field| field.parse().ok()).ok_or_else(|| {
        let shown = String::from_utf8_lossy(&field[..field.len().min(40)]).into_owned();
        Fault::new(format!("its field {name} is no such number: {shown:?}"))
    })
}

/// Appends what a field says in Base64; where it lies.
fn decode_base64(
    text: &mut Vec<u8>,
    field: Range<usize>,
    name: &str,
) -> Result<Range<usize>, Fault> {
    let (coded_end, room) = (text.len(), field.len().div_ceil(4) * 3);
    text.resize(coded_end + room, 0);
    let (coded, decoded) = text.split_at_mut(coded_end);
    let length = BASE64_STANDARD
        .decode_slice(&coded[field], decoded)
        .map_err(|error| Fault::new(format!("its field {name} is no Base64: {error}")))?;
    text.truncate(coded_end + length);
    Ok(coded_end..coded_end + length)
}

/// `Name: value` lines up to the first empty one.
fn read_headers(lines: &[u8], headers: &mut Headers) -> Result<(), Fault> {
    for line in lines.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            return Ok(());
        }
        let colon = memchr::memchr(b':', line)
            .filter(|colon| *colon > 0)
            .ok_or_else(|| Fault::new("a line of its field 12 (headers) is no header"))?;
        if !headers.push(&line[..colon], line[colon + 1..].trim_ascii()) {
            return Err(Fault::new("its field 12 (headers) has too many of them"));
        }
    }
    Ok(())
}

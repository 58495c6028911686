//! DNS messages (RFC 1035 §4): questions written, answers read. Answers are foreign input: every
//! length is checked, and nothing in them makes reading long or deep.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Most bytes of a name, length bytes included (RFC 1035 §2.3.4).
const NAME_BYTES_MAX: usize = 255;

/// Most aliases followed.
const ALIASES_MAX: usize = 16;

const CLASS_IN: u16 = 1;
const TYPE_CNAME: u16 = 5;

/// Which addresses to ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A records.
    V4,
    /// AAAA records (RFC 3596).
    V6,
}

impl Kind {
    fn record_type(self) -> u16 {
        match self {
            Self::V4 => 1,
            Self::V6 => 28,
        }
    }
}

/// A name as messages have it: labels with their lengths, in lower case, the root's last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name(Vec<u8>);

/// What a server says to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// The addresses, aliases followed; empty when the name has none of this kind.
    Addresses(Vec<IpAddr>),
    /// The name does not exist.
    NoSuchName,
    /// The server could not, or would not: its response code.
    Refused(u8),
    /// The message was too long for a datagram: ask again over TCP.
    Truncated,
}

/// Bytes that are no answer to the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoAnswer;

impl Name {
    /// `None` when it can't be a DNS name: an empty or a long label, or too long in all.
    pub(super) fn new(host: &str) -> Option<Self> {
        let mut bytes = Vec::new();
        for label in host.strip_suffix('.').unwrap_or(host).split('.') {
            let length =
                u8::try_from(label.len()).ok().filter(|length| (1..64).contains(length))?;
            bytes.push(length);
            bytes.extend(label.bytes().map(|byte| byte.to_ascii_lowercase()));
        }
        bytes.push(0);
        (bytes.len() <= NAME_BYTES_MAX).then_some(Self(bytes))
    }
}

/// A question, with recursion desired.
pub(super) fn question(id: u16, name: &Name, kind: Kind) -> Vec<u8> {
    let mut message = Vec::with_capacity(name.0.len() + 16);
    message.extend(id.to_be_bytes());
    // Recursion desired; one question, no records.
    message.extend([1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    message.extend(&name.0);
    message.extend(kind.record_type().to_be_bytes());
    message.extend(CLASS_IN.to_be_bytes());
    message
}

/// Reads the answer to a question.
pub(super) fn reply(message: &[u8], id: u16, name: &Name, kind: Kind) -> Result<Reply, NoAnswer> {
    let mut reader = Reader { message, position: 0 };
    if reader.number()? != id {
        return Err(NoAnswer);
    }
    let flags = reader.number()?;
    let (is_response, opcode) = (flags & 0x8000 != 0, flags >> 11 & 0xf);
    let (questions, records) = (reader.number()?, reader.number()?);
    reader.skip(4)?;
    if !is_response || opcode != 0 || questions != 1 {
        return Err(NoAnswer);
    }
    let asked = (reader.name()?, reader.number()?, reader.number()?);
    if asked != (name.clone(), kind.record_type(), CLASS_IN) {
        return Err(NoAnswer);
    }
    match flags & 0xf {
        0 if flags & 0x0200 != 0 => Ok(Reply::Truncated),
        0 => reader.addresses(records, name, kind).map(Reply::Addresses),
        3 => Ok(Reply::NoSuchName),
        code => Ok(Reply::Refused(code as u8)),
    }
}

/// A response code in words (RFC 1035 §4.1.1).
pub(super) fn refusal(code: u8) -> String {
    match code {
        1 => "it could not read the question".to_owned(),
        2 => "it failed (SERVFAIL)".to_owned(),
        4 => "it does not do this kind of question".to_owned(),
        5 => "it refused".to_owned(),
        code => format!("it answered with code {code}"),
    }
}

struct Reader<'a> {
    message: &'a [u8],
    position: usize,
}

impl<'a> Reader<'a> {
    /// The addresses among so many records, by way of the name's aliases.
    fn addresses(
        &mut self,
        records: u16,
        name: &Name,
        kind: Kind,
    ) -> Result<Vec<IpAddr>, NoAnswer> {
        let mut aliases: Vec<(Name, Name)> = Vec::new();
        let mut found: Vec<(Name, IpAddr)> = Vec::new();
        // A count that is a lie meets the end of the message.
        for _ in 0..records {
            let owner = self.name()?;
            let (record_type, class) = (self.number()?, self.number()?);
            self.skip(4)?;
            let length = usize::from(self.number()?);
            let began = self.position;
            let data = self.bytes(length)?;
            if class != CLASS_IN {
                continue;
            }
            if record_type == TYPE_CNAME {
                let mut alias = Reader { message: self.message, position: began };
                let target = alias.name()?;
                if alias.position != began + length {
                    return Err(NoAnswer);
                }
                aliases.push((owner, target));
            } else if record_type == kind.record_type() {
                found.push((owner, address(kind, data)?));
            }
        }
        let mut wanted = name;
        for _ in 0..ALIASES_MAX {
            match aliases.iter().find(|(owner, _)| owner == wanted) {
                Some((_, target)) => wanted = target,
                None => break,
            }
        }
        let of_wanted = found.iter().filter(|(owner, _)| owner == wanted);
        Ok(of_wanted.map(|(_, address)| *address).collect())
    }

    /// A name, which may end in a pointer to an earlier one (RFC 1035 §4.1.4). Pointers lead
    /// strictly backwards, so there is an end.
    fn name(&mut self) -> Result<Name, NoAnswer> {
        let mut bytes = Vec::new();
        let mut position = self.position;
        let mut lowest = self.position;
        let mut end = None;
        loop {
            let length = *self.message.get(position).ok_or(NoAnswer)?;
            let after = position + 1;
            match length >> 6 {
                0 => {
                    let next = after + usize::from(length);
                    let label = self.message.get(after..next).ok_or(NoAnswer)?;
                    bytes.push(length);
                    bytes.extend(label.iter().map(u8::to_ascii_lowercase));
                    if bytes.len() > NAME_BYTES_MAX {
                        return Err(NoAnswer);
                    }
                    position = next;
                    if length == 0 {
                        break;
                    }
                }
                3 => {
                    let low = *self.message.get(after).ok_or(NoAnswer)?;
                    let target = usize::from(length & 0x3f) << 8 | usize::from(low);
                    if target >= lowest {
                        return Err(NoAnswer);
                    }
                    end = end.or(Some(after + 1));
                    (position, lowest) = (target, target);
                }
                _ => return Err(NoAnswer),
            }
        }
        self.position = end.unwrap_or(position);
        Ok(Name(bytes))
    }

    fn number(&mut self) -> Result<u16, NoAnswer> {
        let bytes = self.bytes(2)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    fn skip(&mut self, length: usize) -> Result<(), NoAnswer> {
        self.bytes(length).map(|_| ())
    }

    fn bytes(&mut self, length: usize) -> Result<&'a [u8], NoAnswer> {
        let bytes = self.message.get(self.position..self.position + length).ok_or(NoAnswer)?;
        self.position += length;
        Ok(bytes)
    }
}

fn address(kind: Kind, data: &[u8]) -> Result<IpAddr, NoAnswer> {
    Ok(match kind {
        Kind::V4 => Ipv4Addr::from(<[u8; 4]>::try_from(data).map_err(|_| NoAnswer)?).into(),
        Kind::V6 => Ipv6Addr::from(<[u8; 16]>::try_from(data).map_err(|_| NoAnswer)?).into(),
    })
}

#[cfg(test)]
mod tests;

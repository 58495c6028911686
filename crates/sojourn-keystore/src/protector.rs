//! How a store guards a private key: by a stream of digests, each of the password and the one
//! before.

use crate::bytes::Bytes;
use crate::digest::{LENGTH, with_password};
use crate::store::Problem;

const SEQUENCE: u8 = 0x30;
const OBJECT: u8 = 0x06;
const OCTETS: u8 = 0x04;
/// 1.3.6.1.4.1.42.2.17.1.1, Sun's key protector.
const SUN: &[u8] = b"\x2B\x06\x01\x04\x01\x2A\x02\x11\x01\x01";

/// The key, PKCS#8 in DER.
pub(crate) fn open(guarded: &[u8], alias: &str, password: &str) -> Result<Vec<u8>, Problem> {
    let (salt, hidden, check) = parts(guarded).ok_or_else(|| Problem::Guard(alias.to_owned()))?;
    let mut stream = *salt;
    let mut key = Vec::with_capacity(hidden.len());
    for block in hidden.chunks(LENGTH) {
        stream = with_password(password, &[&stream]);
        key.extend(block.iter().zip(stream).map(|(byte, mask)| byte ^ mask));
    }
    match with_password(password, &[&key]) == *check {
        true => Ok(key),
        false => Err(Problem::KeyPassword(alias.to_owned())),
    }
}

type Parts<'a> = (&'a [u8; LENGTH], &'a [u8], &'a [u8; LENGTH]);

/// Salt, hidden key and check, where it is Sun's protector.
fn parts(guarded: &[u8]) -> Option<Parts<'_>> {
    let mut whole = Bytes(guarded).element(SEQUENCE)?;
    let mut algorithm = whole.element(SEQUENCE)?;
    if algorithm.element(OBJECT)?.0 != SUN {
        return None;
    }
    let content = whole.element(OCTETS)?;
    let (salt, rest) = content.0.split_first_chunk()?;
    let (hidden, check) = rest.split_last_chunk()?;
    Some((salt, hidden, check))
}

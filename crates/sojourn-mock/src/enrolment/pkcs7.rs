//! Certificates in PKCS #7: a `SignedData` without content and without signers (RFC 2315, section
//! 9.1; RFC 5652, section 5.1), which is how EST hands them out.

/// `pkcs7-signedData`, 1.2.840.113549.1.7.2, as DER.
const SIGNED_DATA: [u8; 11] = [6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7, 2];
/// `pkcs7-data`, 1.2.840.113549.1.7.1, as DER.
const DATA: [u8; 11] = [6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7, 1];
const VERSION_1: [u8; 3] = [2, 1, 1];
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
/// `[0]`, constructed.
const CONTEXT_0: u8 = 0xa0;

/// One certificate (DER) as PKCS #7 (DER).
pub(super) fn certs_only(certificate: &[u8]) -> Vec<u8> {
    let nothing = element(SET, &[]);
    let signed_data = [
        &VERSION_1,
        &*nothing, // no digest algorithms
        &element(SEQUENCE, &DATA),
        &element(CONTEXT_0, certificate),
        &*nothing, // no signers
    ];
    let signed_data = element(CONTEXT_0, &element(SEQUENCE, &signed_data.concat()));
    element(SEQUENCE, &[&SIGNED_DATA, &*signed_data].concat())
}

/// An element of DER: tag, length in as few bytes as it takes, contents.
fn element(tag: u8, contents: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag];
    match u8::try_from(contents.len()) {
        Ok(short @ 0..128) => bytes.push(short),
        _ => {
            let length = contents.len().to_be_bytes();
            let zeros = length.iter().take_while(|byte| **byte == 0).count();
            bytes.push(0x80 | (length.len() - zeros) as u8);
            bytes.extend_from_slice(&length[zeros..]);
        }
    }
    bytes.extend_from_slice(contents);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_take_as_few_bytes_as_they_can() {
        for (length, head) in [
            (0, &[4, 0][..]),
            (127, &[4, 127]),
            (128, &[4, 0x81, 128]),
            (255, &[4, 0x81, 255]),
            (256, &[4, 0x82, 1, 0]),
            (65_536, &[4, 0x83, 1, 0, 0]),
        ] {
            let bytes = element(4, &vec![7; length]);
            assert_eq!((&bytes[..head.len()], bytes.len()), (head, head.len() + length));
        }
    }
}

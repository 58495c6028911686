//! Digests and HMAC (RFC 2104) by their names in `k6/crypto`.

use md4::Md4;
use md5::Md5;
use ripemd::Ripemd160;
use sha1::Sha1;
use sha2::digest::DynDigest;
use sha2::{Sha256, Sha384, Sha512, Sha512_224, Sha512_256};

/// Algorithms, as scripts name them.
pub(crate) const NAMES: [&str; 9] = [
    "md4", "md5", "sha1", "sha256", "sha384", "sha512", "sha512_224", "sha512_256", "ripemd160",
];

/// A digest or an HMAC under way. The result can be asked for at any time, and it goes on.
#[derive(Clone)]
pub(crate) struct Hash {
    inner: Box<dyn DynDigest>,
    /// Of an HMAC: what hashes the inner digest, its key in already.
    outer: Option<Box<dyn DynDigest>>,
}

impl Hash {
    /// The digest of this name; `None` for another.
    pub(crate) fn new(name: &str) -> Option<Self> {
        Some(Self { inner: digest_of(name)?, outer: None })
    }

    /// The HMAC with this key.
    pub(crate) fn keyed(name: &str, key: &[u8]) -> Option<Self> {
        let (mut inner, mut outer) = (digest_of(name)?, digest_of(name)?);
        let block_bytes =
            if name.starts_with("sha384") || name.starts_with("sha512") { 128 } else { 64 };
        let mut padded = if key.len() > block_bytes {
            let mut short = digest_of(name)?;
            short.update(key);
            short.finalize().into_vec()
        } else {
            key.to_vec()
        };
        padded.resize(block_bytes, 0);
        inner.update(&padded.iter().map(|byte| byte ^ 0x36).collect::<Vec<u8>>());
        outer.update(&padded.iter().map(|byte| byte ^ 0x5c).collect::<Vec<u8>>());
        Some(Self { inner, outer: Some(outer) })
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.inner.update(bytes);
    }

    /// The digest of everything so far.
    pub(crate) fn result(&self) -> Vec<u8> {
        let inner = self.inner.box_clone().finalize();
        match &self.outer {
            None => inner.into_vec(),
            Some(outer) => {
                let mut outer = outer.box_clone();
                outer.update(&inner);
                outer.finalize().into_vec()
            }
        }
    }
}

/// The digest of the bytes.
pub(crate) fn digest(name: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    let mut hash = Hash::new(name)?;
    hash.update(bytes);
    Some(hash.result())
}

fn digest_of(name: &str) -> Option<Box<dyn DynDigest>> {
    Some(match name {
        "md4" => Box::new(Md4::default()),
        "md5" => Box::new(Md5::default()),
        "sha1" => Box::new(Sha1::default()),
        "sha256" => Box::new(Sha256::default()),
        "sha384" => Box::new(Sha384::default()),
        "sha512" => Box::new(Sha512::default()),
        "sha512_224" => Box::new(Sha512_224::default()),
        "sha512_256" => Box::new(Sha512_256::default()),
        "ripemd160" => Box::new(Ripemd160::default()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// RFC 1320, RFC 1321, FIPS 180-4 and the authors of RIPEMD-160.
    #[test]
    fn known_digests() {
        let known = [
            ("md4", "a448017aaf21d8525fc10ae87aa6729d"),
            ("md5", "900150983cd24fb0d6963f7d28e17f72"),
            ("sha1", "a9993e364706816aba3e25717850c26c9cd0d89d"),
            ("sha256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            ("sha512_224", "4634270f707b6a54daae7530460842e20e37ed265ceee9a43e8924aa"),
            ("sha512_256", "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"),
            ("ripemd160", "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc"),
        ];
        for (name, expected) in known {
            assert_eq!(hex(&digest(name, b"abc").expect("known")), expected, "{name}");
        }
        assert!(digest("sha3", b"").is_none());
        assert!(NAMES.iter().all(|name| Hash::new(name).is_some()));
    }

    /// RFC 4231, cases 2 and 6; RFC 2202, case 2.
    #[test]
    fn known_codes() {
        let code = |name, key: &[u8], data: &[u8]| {
            let mut hash = Hash::keyed(name, key).expect("known");
            hash.update(&data[..4]);
            hash.result();
            hash.update(&data[4..]);
            hex(&hash.result())
        };
        let data = b"what do ya want for nothing?";
        assert_eq!(code("md5", b"Jefe", data), "750c783e6ab0b503eaa86e310a5db738");
        assert_eq!(
            code("sha384", b"Jefe", data),
            "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e\
             8e2240ca5e69e2c78b3239ecfab21649"
        );
        let long = b"Test Using Larger Than Block-Size Key - Hash Key First";
        assert_eq!(
            code("sha256", &[0xaa; 131], long),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
    }
}

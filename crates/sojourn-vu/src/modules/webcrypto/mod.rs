//! WebCrypto: the global `crypto`.
//!
//! What keys may do and how algorithms are named is in `webcrypto.js`; here is what computes, on
//! bytes. It is made when a user's script first asks for it.

mod aes;
mod der;
mod elliptic;
mod evp;
mod rsa;

use std::num::NonZeroU32;

use aws_lc_rs::{hkdf, pbkdf2};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sojourn_script::js::{self, ArrayBuffer, Ctx, Exception, Function, Object, Value};

use self::elliptic::Pair;
use super::crypto::fill_random;
use super::crypto::hash::{self, Hash};
use super::{bytes, function};

/// What AES in CBC makes of a text; `None` where key, start or padding do not fit.
pub(crate) fn opened_by_aes_cbc(key: &[u8], iv: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
    aes::decrypt_cbc(key, iv, sealed).ok()
}

/// What can't be done: the name of a `DOMException`, and words.
#[derive(Debug)]
struct Problem {
    name: &'static str,
    words: String,
}

impl Problem {
    fn data(words: &str) -> Self {
        Self { name: "DataError", words: words.to_owned() }
    }

    fn operation(words: &str) -> Self {
        Self { name: "OperationError", words: words.to_owned() }
    }

    fn not_supported(words: &str) -> Self {
        Self { name: "NotSupportedError", words: words.to_owned() }
    }

    fn throw(self, ctx: &Ctx<'_>) -> js::Error {
        let thrown = Exception::from_message(ctx.clone(), &self.words).and_then(|error| {
            error.as_object().set("name", self.name)?;
            Ok(error)
        });
        match thrown {
            Ok(error) => error.throw(),
            Err(error) => error,
        }
    }
}

/// The global `crypto`.
pub(crate) fn make<'js>(ctx: &Ctx<'js>) -> js::Result<Object<'js>> {
    let native = Object::new(ctx.clone())?;
    digests(&native)?;
    ciphers(&native)?;
    curves(&native)?;
    of_rsa(&native)?;
    let make: Function<'js> = ctx.eval(include_str!("webcrypto.js"))?;
    make.call((native,))
}

type Made<'js> = js::Result<ArrayBuffer<'js>>;

/// A buffer of what was computed.
fn made<'js>(ctx: &Ctx<'js>, result: Result<Vec<u8>, Problem>) -> Made<'js> {
    ArrayBuffer::new(ctx.clone(), result.map_err(|problem| problem.throw(ctx))?)
}

/// Bytes that the script of this folder hands over.
struct Bytes(Vec<u8>);

impl<'js> js::FromJs<'js> for Bytes {
    fn from_js(ctx: &Ctx<'js>, value: Value<'js>) -> js::Result<Self> {
        bytes::required(ctx, &value, "the data").map(Bytes)
    }
}

/// The names of digests in `k6/crypto`.
fn digest_name(name: &str) -> Result<&'static str, Problem> {
    Ok(match name {
        "SHA-1" => "sha1",
        "SHA-256" => "sha256",
        "SHA-384" => "sha384",
        "SHA-512" => "sha512",
        _ => return Err(Problem::not_supported("there is no such hash")),
    })
}

fn digest(name: &str, data: &[u8]) -> Result<Vec<u8>, Problem> {
    hash::digest(digest_name(name)?, data).ok_or_else(|| Problem::operation("no digest"))
}

fn hmac(name: &str, key: &[u8], data: &[u8]) -> Result<Vec<u8>, Problem> {
    let hash = Hash::keyed(digest_name(name)?, key);
    let mut hash = hash.ok_or_else(|| Problem::operation("no digest"))?;
    hash.update(data);
    Ok(hash.result())
}

fn derive_pbkdf2(
    name: &str,
    password: &[u8],
    salt: &[u8],
    iterations: u32,
    length: usize,
) -> Result<Vec<u8>, Problem> {
    let algorithm = match name {
        "SHA-1" => pbkdf2::PBKDF2_HMAC_SHA1,
        "SHA-256" => pbkdf2::PBKDF2_HMAC_SHA256,
        "SHA-384" => pbkdf2::PBKDF2_HMAC_SHA384,
        "SHA-512" => pbkdf2::PBKDF2_HMAC_SHA512,
        _ => return Err(Problem::not_supported("there is no such hash")),
    };
    let none = || Problem::operation("PBKDF2 needs at least one iteration");
    let mut out = vec![0; length];
    pbkdf2::derive(
        algorithm,
        NonZeroU32::new(iterations).ok_or_else(none)?,
        salt,
        password,
        &mut out,
    );
    Ok(out)
}

/// How many bytes HKDF is to give.
struct Length(usize);

impl hkdf::KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

fn derive_hkdf(
    name: &str,
    key: &[u8],
    salt: &[u8],
    info: &[u8],
    length: usize,
) -> Result<Vec<u8>, Problem> {
    let algorithm = match name {
        "SHA-1" => hkdf::HKDF_SHA1_FOR_LEGACY_USE_ONLY,
        "SHA-256" => hkdf::HKDF_SHA256,
        "SHA-384" => hkdf::HKDF_SHA384,
        "SHA-512" => hkdf::HKDF_SHA512,
        _ => return Err(Problem::not_supported("there is no such hash")),
    };
    let failed = |_| Problem::operation("HKDF can't give so many bits");
    let mut out = vec![0; length];
    hkdf::Salt::new(algorithm, salt)
        .extract(key)
        .expand(&[info], Length(length))
        .and_then(|made| made.fill(&mut out))
        .map_err(failed)?;
    Ok(out)
}

fn digests<'js>(native: &Object<'js>) -> js::Result<()> {
    function(native, "random", |ctx: Ctx<'js>, length: usize| {
        let mut out = vec![0; length];
        fill_random(&ctx, &mut out)?;
        ArrayBuffer::new(ctx, out)
    })?;
    function(native, "encode", |data: Bytes| URL_SAFE_NO_PAD.encode(data.0))?;
    function(native, "decode", |ctx: Ctx<'js>, text: String| {
        let read = URL_SAFE_NO_PAD.decode(text);
        made(&ctx, read.map_err(|_| Problem::data("a part of the key is no Base64url")))
    })?;
    function(native, "digest", |ctx: Ctx<'js>, name: String, data: Bytes| {
        made(&ctx, digest(&name, &data.0))
    })?;
    function(native, "hmac", |ctx: Ctx<'js>, name: String, key: Bytes, data: Bytes| {
        made(&ctx, hmac(&name, &key.0, &data.0))
    })?;
    function(native, "equal", |one: Bytes, other: Bytes| {
        aws_lc_rs::constant_time::verify_slices_are_equal(&one.0, &other.0).is_ok()
    })?;
    function(
        native,
        "pbkdf2",
        |ctx: Ctx<'js>, name: String, key: Bytes, salt: Bytes, times: f64, length: usize| {
            made(&ctx, derive_pbkdf2(&name, &key.0, &salt.0, times as u32, length))
        },
    )?;
    function(
        native,
        "hkdf",
        |ctx: Ctx<'js>, name: String, key: Bytes, salt: Bytes, info: Bytes, length: usize| {
            made(&ctx, derive_hkdf(&name, &key.0, &salt.0, &info.0, length))
        },
    )
}

fn ciphers<'js>(native: &Object<'js>) -> js::Result<()> {
    function(
        native,
        "cbc",
        |ctx: Ctx<'js>, encrypts: bool, key: Bytes, iv: Bytes, data: Bytes| {
            let change = if encrypts { aes::encrypt_cbc } else { aes::decrypt_cbc };
            made(&ctx, change(&key.0, &iv.0, &data.0))
        },
    )?;
    function(
        native,
        "ctr",
        |ctx: Ctx<'js>, key: Bytes, counter: Bytes, length: f64, data: Bytes| {
            made(&ctx, aes::ctr(&key.0, &counter.0, length as u32, &data.0))
        },
    )?;
    function(
        native,
        "gcm",
        |ctx: Ctx<'js>,
         encrypts: bool,
         key: Bytes,
         iv: Bytes,
         more: Bytes,
         tag: f64,
         data: Bytes| {
            let change = if encrypts { aes::encrypt_gcm } else { aes::decrypt_gcm };
            made(&ctx, change(&key.0, &iv.0, &more.0, tag as u32, &data.0))
        },
    )
}

/// `{scalar, point}`.
fn parts<'js>(ctx: &Ctx<'js>, pair: Result<Pair, Problem>) -> js::Result<Object<'js>> {
    let pair = pair.map_err(|problem| problem.throw(ctx))?;
    let parts = Object::new(ctx.clone())?;
    parts.set("scalar", ArrayBuffer::new(ctx.clone(), pair.scalar)?)?;
    parts.set("point", ArrayBuffer::new(ctx.clone(), pair.point)?)?;
    Ok(parts)
}

fn curves<'js>(native: &Object<'js>) -> js::Result<()> {
    function(native, "ecGenerate", |ctx: Ctx<'js>, name: String| {
        parts(&ctx, elliptic::generate(&name))
    })?;
    function(native, "ecFromPkcs8", |ctx: Ctx<'js>, name: String, der: Bytes| {
        parts(&ctx, elliptic::from_pkcs8(&name, &der.0))
    })?;
    function(native, "ecToPkcs8", |ctx: Ctx<'js>, name: String, scalar: Bytes, point: Bytes| {
        made(&ctx, elliptic::to_pkcs8(&name, &scalar.0, &point.0))
    })?;
    function(native, "ecFromRaw", |ctx: Ctx<'js>, name: String, point: Bytes| {
        made(&ctx, elliptic::from_raw(&name, &point.0))
    })?;
    function(native, "ecFromSpki", |ctx: Ctx<'js>, name: String, key: Bytes| {
        made(&ctx, elliptic::from_spki(&name, &key.0))
    })?;
    function(native, "ecToSpki", |ctx: Ctx<'js>, name: String, point: Bytes| {
        made(&ctx, elliptic::to_spki(&name, &point.0))
    })?;
    function(
        native,
        "ecSign",
        |ctx: Ctx<'js>, name: String, hash: String, scalar: Bytes, data: Bytes| {
            made(&ctx, elliptic::sign(&name, &hash, &scalar.0, &data.0))
        },
    )?;
    function(
        native,
        "ecVerify",
        |ctx: Ctx<'js>, name: String, hash: String, point: Bytes, sign: Bytes, data: Bytes| {
            let held = elliptic::verify(&name, &hash, &point.0, &sign.0, &data.0);
            held.map_err(|problem| problem.throw(&ctx))
        },
    )?;
    function(native, "ecDerive", |ctx: Ctx<'js>, name: String, scalar: Bytes, point: Bytes| {
        made(&ctx, elliptic::derive(&name, &scalar.0, &point.0))
    })
}

fn of_rsa<'js>(native: &Object<'js>) -> js::Result<()> {
    // Numbers of scripts become the nearest that there are.
    function(native, "rsaGenerate", |ctx: Ctx<'js>, bits: f64| {
        made(&ctx, rsa::generate(bits as u32))
    })?;
    function(native, "rsaPublic", |ctx: Ctx<'js>, key: Bytes| made(&ctx, rsa::public(&key.0)))?;
    function(native, "rsaBits", |ctx: Ctx<'js>, key: Bytes| {
        rsa::bits(&key.0).map_err(|problem| problem.throw(&ctx))
    })?;
    function(native, "rsaNumbers", |ctx: Ctx<'js>, key: Bytes, is_private: bool| {
        let numbers = der::numbers(&key.0, is_private).map_err(|problem| problem.throw(&ctx))?;
        Ok::<_, js::Error>(
            numbers.iter().map(|number| URL_SAFE_NO_PAD.encode(number)).collect::<Vec<_>>(),
        )
    })?;
    function(native, "rsaKey", |ctx: Ctx<'js>, numbers: Vec<Bytes>| {
        let numbers: Vec<Vec<u8>> = numbers.into_iter().map(|number| number.0).collect();
        ArrayBuffer::new(ctx, der::key(&numbers))
    })?;
    function(
        native,
        "rsaSign",
        |ctx: Ctx<'js>, key: Bytes, salt: Option<f64>, hash: String, data: Bytes| {
            made(&ctx, rsa::sign(&key.0, salt.map(|salt| salt as u32), &hash, &data.0))
        },
    )?;
    function(
        native,
        "rsaVerify",
        |ctx: Ctx<'js>, key: Bytes, salt: Option<f64>, hash: String, sign: Bytes, data: Bytes| {
            let salt = salt.map(|salt| salt as u32);
            let held = rsa::verify(&key.0, salt, &hash, &sign.0, &data.0);
            held.map_err(|problem| problem.throw(&ctx))
        },
    )?;
    function(
        native,
        "rsaEncrypt",
        |ctx: Ctx<'js>, key: Bytes, hash: String, label: Bytes, data: Bytes| {
            made(&ctx, rsa::encrypt(&key.0, &hash, &label.0, &data.0))
        },
    )?;
    function(
        native,
        "rsaDecrypt",
        |ctx: Ctx<'js>, key: Bytes, hash: String, label: Bytes, data: Bytes| {
            made(&ctx, rsa::decrypt(&key.0, &hash, &label.0, &data.0))
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modules::crypto::hex;

    /// RFC 7914 §11, RFC 5869 A.1.
    #[test]
    fn known_derivations() {
        let made = derive_pbkdf2("SHA-256", b"passwd", b"salt", 1, 32).expect("derived");
        assert_eq!(hex(&made), "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc");
        let salt: Vec<u8> = (0..=0x0c).collect();
        let info: Vec<u8> = (0xf0..=0xf9).collect();
        let made = derive_hkdf("SHA-256", &[0x0b; 22], &salt, &info, 42).expect("derived");
        assert_eq!(
            hex(&made),
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
        );
        assert!(derive_pbkdf2("SHA-256", b"", b"", 0, 32).is_err());
        assert!(derive_hkdf("MD5", b"", b"", b"", 32).is_err());
    }
}

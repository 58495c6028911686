//! RSA, and signatures by ECDSA: what `aws-lc-rs` does not offer of the library beneath it.
//!
//! That crate signs by few pairs of curve and digest, with salts that are known when it is
//! compiled, and takes no keys of RSA below 2048 bits. Scripts may ask for all of it.

#![expect(unsafe_code, reason = "a library in C; each call has its proof")]

use std::ffi::c_int;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

use aws_lc_sys::{
    CBB, CBB_finish, CBB_init_fixed, CBS, CBS_init, CBS_len, EVP_MD, EVP_PKEY, EVP_PKEY_CTX,
    EVP_PKEY_CTX_free, EVP_PKEY_CTX_new, EVP_PKEY_CTX_new_id, EVP_PKEY_CTX_set_rsa_keygen_bits,
    EVP_PKEY_CTX_set_rsa_oaep_md, EVP_PKEY_CTX_set_rsa_padding, EVP_PKEY_CTX_set_rsa_pss_saltlen,
    EVP_PKEY_CTX_set_signature_md, EVP_PKEY_CTX_set0_rsa_oaep_label, EVP_PKEY_RSA, EVP_PKEY_bits,
    EVP_PKEY_decrypt, EVP_PKEY_decrypt_init, EVP_PKEY_encrypt, EVP_PKEY_encrypt_init,
    EVP_PKEY_free, EVP_PKEY_keygen, EVP_PKEY_keygen_init, EVP_PKEY_sign, EVP_PKEY_sign_init,
    EVP_PKEY_size, EVP_PKEY_verify, EVP_PKEY_verify_init, EVP_marshal_private_key,
    EVP_parse_private_key, EVP_parse_public_key, EVP_sha1, EVP_sha256, EVP_sha384, EVP_sha512,
    OPENSSL_free, OPENSSL_memdup, RSA_PKCS1_OAEP_PADDING, RSA_PKCS1_PADDING, RSA_PKCS1_PSS_PADDING,
};

type Parse = unsafe extern "C" fn(*mut CBS) -> *mut EVP_PKEY;
type Prepare = unsafe extern "C" fn(*mut EVP_PKEY_CTX) -> c_int;
type Run = unsafe extern "C" fn(*mut EVP_PKEY_CTX, *mut u8, *mut usize, *const u8, usize) -> c_int;

/// How a signature is made of a digest.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scheme {
    /// ECDSA: a sequence of r and s, in DER. A digest longer than the curve's order is cut.
    Ecdsa,
    /// RSASSA-PKCS1-v1_5.
    Pkcs1,
    /// RSA-PSS; the mask is made by the hash that made the digest.
    Pss { salt_bytes: u32 },
}

fn done(result: c_int) -> Option<()> {
    (result == 1).then_some(())
}

fn method(hash: &str) -> Option<*const EVP_MD> {
    // SAFETY: these take nothing and give what is there for ever.
    Some(unsafe {
        match hash {
            "SHA-1" => EVP_sha1(),
            "SHA-256" => EVP_sha256(),
            "SHA-384" => EVP_sha384(),
            "SHA-512" => EVP_sha512(),
            _ => return None,
        }
    })
}

/// A key; its memory is given back in the end.
pub(super) struct Key(NonNull<EVP_PKEY>);

impl Drop for Key {
    fn drop(&mut self) {
        // SAFETY: the pointer is a key's, whose one holder this is: contexts count as holders of
        // their own.
        unsafe { EVP_PKEY_free(self.0.as_ptr()) };
    }
}

impl Key {
    /// A private key in PKCS #8, with nothing behind it.
    pub(super) fn private(der: &[u8]) -> Option<Self> {
        Self::parsed(der, EVP_parse_private_key)
    }

    /// A public key as X.509 has it (SPKI), with nothing behind it.
    pub(super) fn public(der: &[u8]) -> Option<Self> {
        Self::parsed(der, EVP_parse_public_key)
    }

    fn parsed(der: &[u8], parse: Parse) -> Option<Self> {
        let mut reader = MaybeUninit::<CBS>::uninit();
        // SAFETY: `CBS_init` fills the reader, and what it reads outlives it. The function is one
        // of the two above; the key it gives, or null, belongs to whoever called.
        unsafe {
            CBS_init(reader.as_mut_ptr(), der.as_ptr(), der.len());
            let key = Self(NonNull::new(parse(reader.as_mut_ptr()))?);
            (CBS_len(reader.as_ptr()) == 0).then_some(key)
        }
    }

    /// A new key of RSA with the exponent 65537. What is above a multiple of 128 bits falls away.
    pub(super) fn generate_rsa(bits: u32) -> Option<Self> {
        let bits = c_int::try_from(bits).ok()?;
        let mut key = ptr::null_mut();
        // SAFETY: the context is null or a new one of no key; it lives until the end of the
        // block. The key is null, or belongs to whoever called.
        unsafe {
            let context = Context::of(EVP_PKEY_CTX_new_id(EVP_PKEY_RSA, ptr::null_mut()))?;
            done(EVP_PKEY_keygen_init(context.pointer()))?;
            done(EVP_PKEY_CTX_set_rsa_keygen_bits(context.pointer(), bits))?;
            done(EVP_PKEY_keygen(context.pointer(), &raw mut key))?;
        }
        NonNull::new(key).map(Self)
    }

    /// PKCS #8 of a private key.
    pub(super) fn to_pkcs8(&self) -> Option<Vec<u8>> {
        // The numbers of RSA take less than five times the key's size, what is around them little.
        let mut out = vec![0; 5 * self.size() + 256];
        let mut writer = MaybeUninit::<CBB>::uninit();
        let mut length = 0;
        // SAFETY: `CBB_init_fixed` fills the writer. It writes no further than the buffer goes and
        // owns no memory, so that nothing is left behind if it is not finished.
        unsafe {
            done(CBB_init_fixed(writer.as_mut_ptr(), out.as_mut_ptr(), out.len()))?;
            done(EVP_marshal_private_key(writer.as_mut_ptr(), self.0.as_ptr()))?;
            done(CBB_finish(writer.as_mut_ptr(), ptr::null_mut(), &raw mut length))?;
        }
        out.truncate(length);
        Some(out)
    }

    /// The bits of RSA's modulus.
    pub(super) fn bits(&self) -> usize {
        // SAFETY: the key lives, and is only looked at.
        let bits = unsafe { EVP_PKEY_bits(self.0.as_ptr()) };
        usize::try_from(bits).unwrap_or(0)
    }

    /// The most bytes that one operation gives.
    fn size(&self) -> usize {
        // SAFETY: the key lives, and is only looked at.
        let bytes = unsafe { EVP_PKEY_size(self.0.as_ptr()) };
        usize::try_from(bytes).unwrap_or(0)
    }

    /// Signs a digest of this hash by a private key.
    pub(super) fn sign(&self, scheme: Scheme, hash: &str, digest: &[u8]) -> Option<Vec<u8>> {
        let context = Context::new(self, EVP_PKEY_sign_init)?;
        context.set_scheme(scheme, hash)?;
        context.run(EVP_PKEY_sign, self.size(), digest)
    }

    /// Whether the signature is this key's; `false` also if it can't be one.
    pub(super) fn verify(
        &self,
        scheme: Scheme,
        hash: &str,
        digest: &[u8],
        signature: &[u8],
    ) -> bool {
        let Some(context) = Context::new(self, EVP_PKEY_verify_init) else { return false };
        if context.set_scheme(scheme, hash).is_none() {
            return false;
        }
        let (length, digest_length) = (signature.len(), digest.len());
        // SAFETY: the context lives; both slices are read as far as they go.
        let result = unsafe {
            let context = context.pointer();
            EVP_PKEY_verify(context, signature.as_ptr(), length, digest.as_ptr(), digest_length)
        };
        done(result).is_some()
    }

    /// RSA-OAEP by a public key.
    pub(super) fn encrypt(&self, hash: &str, label: &[u8], data: &[u8]) -> Option<Vec<u8>> {
        let context = Context::new(self, EVP_PKEY_encrypt_init)?;
        context.set_oaep(hash, label)?;
        context.run(EVP_PKEY_encrypt, self.size(), data)
    }

    /// RSA-OAEP by a private key.
    pub(super) fn decrypt(&self, hash: &str, label: &[u8], data: &[u8]) -> Option<Vec<u8>> {
        let context = Context::new(self, EVP_PKEY_decrypt_init)?;
        context.set_oaep(hash, label)?;
        context.run(EVP_PKEY_decrypt, self.size(), data)
    }
}

/// One operation with a key.
struct Context<'key> {
    pointer: NonNull<EVP_PKEY_CTX>,
    key: PhantomData<&'key Key>,
}

impl Drop for Context<'_> {
    fn drop(&mut self) {
        // SAFETY: the context is this one's own.
        unsafe { EVP_PKEY_CTX_free(self.pointer.as_ptr()) };
    }
}

impl<'key> Context<'key> {
    fn new(key: &'key Key, prepare: Prepare) -> Option<Self> {
        // SAFETY: the key lives, the context is null or new; the function is one of the library's
        // that say what a context is for.
        unsafe {
            let context = Self::of(EVP_PKEY_CTX_new(key.0.as_ptr(), ptr::null_mut()))?;
            done(prepare(context.pointer()))?;
            Some(context)
        }
    }

    /// # Safety
    /// The pointer is null, or a context that nobody else frees.
    unsafe fn of(pointer: *mut EVP_PKEY_CTX) -> Option<Self> {
        Some(Self { pointer: NonNull::new(pointer)?, key: PhantomData })
    }

    fn pointer(&self) -> *mut EVP_PKEY_CTX {
        self.pointer.as_ptr()
    }

    fn set_scheme(&self, scheme: Scheme, hash: &str) -> Option<()> {
        let (padding, salt_bytes) = match scheme {
            Scheme::Ecdsa => return Some(()),
            Scheme::Pkcs1 => (RSA_PKCS1_PADDING, None),
            Scheme::Pss { salt_bytes } => {
                (RSA_PKCS1_PSS_PADDING, Some(c_int::try_from(salt_bytes).ok()?))
            }
        };
        // SAFETY: the context lives, and so do methods, for ever.
        unsafe {
            done(EVP_PKEY_CTX_set_signature_md(self.pointer(), method(hash)?))?;
            done(EVP_PKEY_CTX_set_rsa_padding(self.pointer(), padding))?;
            if let Some(bytes) = salt_bytes {
                done(EVP_PKEY_CTX_set_rsa_pss_saltlen(self.pointer(), bytes))?;
            }
        }
        Some(())
    }

    fn set_oaep(&self, hash: &str, label: &[u8]) -> Option<()> {
        // SAFETY: the context lives, and so do methods, for ever. The label is a copy made by the
        // library; the context frees it, unless it has not taken it: then it is freed here.
        unsafe {
            done(EVP_PKEY_CTX_set_rsa_padding(self.pointer(), RSA_PKCS1_OAEP_PADDING))?;
            done(EVP_PKEY_CTX_set_rsa_oaep_md(self.pointer(), method(hash)?))?;
            if label.is_empty() {
                return Some(());
            }
            let copy = NonNull::new(OPENSSL_memdup(label.as_ptr().cast(), label.len()))?;
            let bytes = copy.as_ptr().cast();
            let taken = done(EVP_PKEY_CTX_set0_rsa_oaep_label(self.pointer(), bytes, label.len()));
            if taken.is_none() {
                OPENSSL_free(copy.as_ptr());
            }
            taken
        }
    }

    /// What comes of the input, at most so many bytes.
    fn run(&self, run: Run, size: usize, input: &[u8]) -> Option<Vec<u8>> {
        let mut out = vec![0; size];
        let mut length = out.len();
        // SAFETY: the context lives; the function is one of the library's that read the input as
        // far as it goes and write no more than `length` says, which they then set.
        done(unsafe {
            run(self.pointer(), out.as_mut_ptr(), &raw mut length, input.as_ptr(), input.len())
        })?;
        out.truncate(length);
        Some(out)
    }
}
